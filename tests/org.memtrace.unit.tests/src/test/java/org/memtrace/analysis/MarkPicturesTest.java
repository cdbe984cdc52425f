// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.Progress;
import org.memtrace.storage.Stores;

/**
 * The pictures that explain the marks, docs/images/mark-*.svg: they are what {@code render} draws today from the traces in testdata, each
 * has its mark, and each stands in the documentation. {@code docs/images/marks.sh} draws them again.
 */
class MarkPicturesTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root", "../..")).toAbsolutePath().normalize();
	private static final Path IMAGES = ROOT.resolve("docs/images");

	@TempDir
	static Path temp;

	private record Mark(String name, String trace, String title, String[] options) {
	}

	/** What must be in a picture that explains something; a leading ! what must not. */
	private static final Map<String, List<String>> SHOWN = Map.ofEntries(
			Map.entry("one-type", List.of(">matmul #1<", ">matmul #4<")),
			Map.entry("mixture", List.of("url\\(#m\\d+\\)", ">mixture: areas are shares<")),
			Map.entry("density", List.of(">≥ [\\d.]+<", "have more, up to [\\d.]+<")),
			Map.entry("block-loss", List.of("<polygon", ">22.1 %<", ">23.6 %<", ">share lost inside of a block<")),
			Map.entry("structure-loss", List.of("information loss 26.7 %", "loss 37 %<", "loss 65 %<", "loss 38 %<")),
			Map.entry("kept-whole", List.of(">loss 50 % \\(49 % kept whole\\)<", "6 rows of several pages, kept whole")),
			Map.entry("not-to-scale", List.of(">rows higher than to scale<")),
			Map.entry("to-scale", List.of("!>rows higher than to scale<")),
			Map.entry("first-touch-serial", List.of(">first touch of pages; left of the picture: by whom<", ">stencil #0<")),
			Map.entry("first-touch-parallel", List.of(">first touch of pages; left of the picture: by whom<", ">stencil #3<")),
			Map.entry("first-touch-late", List.of(">first touch of pages; left of the picture: by whom<")),
			Map.entry("small-parts", List.of("url\\(#space\\)", ">small parts<")),
			Map.entry("small-parts-in-time", List.of("(?s)url\\(#time\\).*url\\(#time\\)", ">small parts, also cut in time<")),
			Map.entry("more-types", List.of(">\\+ \\d+ more<")),
			Map.entry("parts", List.of("!>matmul #1<")),
			Map.entry("profile", List.of(">page faults per ms<")),
			Map.entry("mode", List.of(">share of the strongest type<")),
			Map.entry("time-parts", List.of(">9<")),
			Map.entry("across", List.of(">CPU 0<", ">CPU 1<", ">page faults per page and CPU", ">0.2 % of the page faults have no CPU here<")),
			Map.entry("machine-time", List.of(">CPU 0<", ">20 ms<", ">page faults per CPU and ms")),
			Map.entry("curves", List.of(">complexity reduction<", ">information loss<")));

	private static List<Mark> marks() throws Exception {
		List<Mark> marks = new ArrayList<>();
		for (String line : Files.readAllLines(IMAGES.resolve("marks.list"))) {
			if (!line.isBlank() && !line.startsWith("#")) {
				String[] part = line.split("\\|");
				assertEquals(4, part.length, line);
				marks.add(new Mark(part[0].strip(), part[1].strip(), part[2].strip(), part[3].strip().split(" +")));
			}
		}
		return marks;
	}

	@TestFactory
	List<DynamicTest> areDrawnByTheProduct() throws Exception {
		Map<String, Path> databases = new HashMap<>();
		List<DynamicTest> tests = new ArrayList<>();
		for (Mark mark : marks()) {
			Path database = databases.computeIfAbsent(mark.trace, t -> temp.resolve(Path.of(t).getFileName() + ".db"));
			if (Files.notExists(database)) {
				new ImportOperation(ROOT.resolve("testdata").resolve(mark.trace), name -> Stores.createFile(database, notice -> {
				})).call(Progress.NONE);
			}
			tests.add(DynamicTest.dynamicTest(mark.name, () -> check(mark, database)));
		}
		return tests;
	}

	private static void check(Mark mark, Path database) throws Exception {
		Path drawn = temp.resolve(mark.name + ".svg");
		List<String> arguments = new ArrayList<>(List.of("render", "-q", "--width", "760", "--height", "300", "--title", mark.title));
		arguments.addAll(List.of(mark.options));
		arguments.addAll(List.of("-o", drawn.toString(), database.toString()));
		Ran.ok(arguments.toArray(String[]::new));
		String svg = Files.readString(drawn);
		assertTrue(SHOWN.containsKey(mark.name), "nothing is asked of mark-" + mark.name + ".svg");
		for (String text : SHOWN.get(mark.name)) {
			boolean wanted = !text.startsWith("!");
			String regex = wanted ? text : text.substring(1);
			assertEquals(wanted, Pattern.compile(regex).matcher(svg).find(), "mark-" + mark.name + ".svg and " + regex);
		}
		assertFalse(svg.contains(ROOT.toString()) || svg.contains(temp.toString()), "a path of this machine");
		assertEquals(Files.readString(IMAGES.resolve("mark-" + mark.name + ".svg")), svg,
				"mark-" + mark.name + ".svg is not what is drawn today; look at it after: docs/images/marks.sh " + mark.name);
	}

	/** No picture is left over, none is missing in the documentation. */
	@Test
	void standInTheDocumentation() throws Exception {
		String docs = Files.readString(ROOT.resolve("docs/start/pictures.md")) + Files.readString(ROOT.resolve("docs/how/aggregation.md"));
		TreeSet<String> listed = new TreeSet<>();
		for (Mark mark : marks()) {
			listed.add("mark-" + mark.name + ".svg");
			assertTrue(docs.contains("](../images/mark-" + mark.name + ".svg)"), "mark-" + mark.name + ".svg stands nowhere");
		}
		try (Stream<Path> files = Files.list(IMAGES)) {
			TreeSet<String> found = new TreeSet<>(files.map(f -> f.getFileName().toString()).filter(f -> f.startsWith("mark-")).toList());
			assertEquals(listed, found);
		}
	}
}
