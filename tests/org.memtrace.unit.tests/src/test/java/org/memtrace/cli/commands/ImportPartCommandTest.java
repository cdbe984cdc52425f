// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;
import org.memtrace.importer.TraceDirectoryBuilder;

/** An import in parts by the command line: report, accesses and pictures are those of one import. */
class ImportPartCommandTest {
	private static final long SEED = 1127;
	@TempDir
	static Path temporary;
	private static String trace;
	private static String db;

	@BeforeAll
	static void write() throws Exception {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		TraceDirectoryBuilder to = new TraceDirectoryBuilder(temporary.resolve("app.memtrace")).sampleContext();
		for (int f = 0; f < 3; f++) {
			List<String> lines = new ArrayList<>(List.of(TraceDirectoryBuilder.HEADER));
			for (int i = 0; i < 500; i++) {
				lines.add("%x,0,1,%d,1,%d,%d,%d,401000,0,0".formatted(0x10000 + random.nextInt(0x9000), random.nextInt(2),
						1000 + f * 900 + i,
						1100 + f * 900 + i, 100 + random.nextInt(3)));
			}
			to.file("p0000/accesses-%06d.csv".formatted(f), lines.toArray(String[]::new));
		}
		trace = to.write().toString();
		db = temporary.resolve("one/app.db").toString();
		Files.createDirectories(Path.of(db).getParent());
		Ran.ok("import", "-o", db, trace);
	}

	private static String[] join(List<String> last, String... first) {
		return Stream.concat(Stream.of(first), last.stream()).toArray(String[]::new);
	}

	/** The files of both steps. */
	private static List<String> step(String ending, int count, List<String> input, String... options) {
		List<String> files = new ArrayList<>();
		for (int k = 1; k <= count; k++) {
			String file = temporary.resolve(k + ending).toString();
			List<String> all = new ArrayList<>(List.of(options));
			all.addAll(input);
			Ran.ok(join(all, "import-part", "--range", k + "/" + count, "-o", file));
			files.add(file);
		}
		return files;
	}

	@Test
	void partsMakeTheDatabaseOfOneImport() throws Exception {
		List<String> rows = step("a.rows", 2, List.of(trace));
		List<String> parts = step("a.part", 3, rows.reversed());
		String other = temporary.resolve("two/app.db").toString();
		Files.createDirectories(Path.of(other).getParent());
		Files.delete(Path.of(rows.get(0))); // the last step does not need them
		String again = temporary.resolve("three/app.db").toString();
		Files.createDirectories(Path.of(again).getParent());
		assertEquals(Ran.ok("import", "--format", "json", "-o", again, trace), Ran.ok(join(parts.reversed(), "import",
				"--format", "json", "-o",
				other)));
		for (String what : List.of("accesses", "producers", "threads", "structures", "sums")) {
			assertEquals(Ran.ok("query", "--what", what, db), Ran.ok("query", "--what", what, other), what);
		}
		assertEquals(Ran.ok("aggregate", "--format", "json", db), Ran.ok("aggregate", "--format", "json", other));
		String catalogue = temporary.resolve("catalogue").toString();
		Ran.ok(join(parts, "import", "--catalogue", catalogue, "--name", "joined"));
		assertTrue(Ran.ok("list", "--catalogue", catalogue).contains("joined"));
	}

	@Test
	void optionsOfTheTreeAreKnownToTheParts() {
		List<String> rows = step("b.rows", 1, List.of(trace));
		List<String> parts = step("b.part", 2, rows, "--fanout", "4", "--merge", "kind");
		String one = temporary.resolve("b1.db").toString();
		String other = temporary.resolve("b2.db").toString();
		Ran.ok("import", "-o", one, "--fanout", "4", "--merge", "kind", trace);
		Ran.ok(join(parts, "import", "-o", other));
		assertEquals(Ran.ok("query", "--what", "producers", one), Ran.ok("query", "--what", "producers", other));
		refused(2, "--fanout is said to 'memtrace import-part'", join(parts, "import", "--fanout", "4", "-o",
				temporary.resolve("b3.db").toString()));
		refused(2, "--moca-framesoc is not for parts", join(parts, "import", "--moca-framesoc", "x.csv", "-o",
				temporary.resolve("b3.db").toString()));
		refused(2, "--merge is for the second step", "import-part", "--merge", "kind", "--range", "1/2", "-o", parts.get(0), trace);
		refused(2, "--trace is for parts of an import", "import", "--trace", trace, "-o", temporary.resolve("b3.db").toString(), trace);
	}

	private static void refused(int code, String reason, String... args) {
		Ran ran = Ran.of(args);
		assertTrue(ran.err().contains(reason), ran.err());
		assertEquals(code, ran.code(), ran.err());
		assertEquals("", ran.out());
		assertEquals(1, ran.err().lines().count(), ran.err());
	}

	@Test
	void whatDoesNotFitIsToldInOneSentence() throws Exception {
		List<String> rows = step("c.rows", 2, List.of(trace));
		List<String> parts = step("c.part", 2, rows);
		String out = temporary.resolve("c.db").toString();
		String part = temporary.resolve("cx.part").toString();
		refused(3, "files of rows are missing: of the 2 of " + trace + " there is no 2", "import-part", "--range", "1/2", "-o",
				part, rows.get(0));
		refused(3, "have the same rows: 1/2", "import-part", "--range", "1/2", "-o", part, rows.get(0), rows.get(0), rows.get(1));
		refused(3, "parts are missing", "import", "-o", out, parts.get(1));
		refused(2, "has rows of the first step", join(rows, "import", "-o", out));
		refused(3, "is a part of an import, version 1, not a file of rows", "import-part", "--range", "1/2", "-o", part,
				rows.get(0), parts.get(0));
		refused(3, "no such file", "import-part", "--range", "1/2", "-o", part, temporary.resolve("none").toString());
		refused(3, "no such file", "import", "-o", out, parts.get(0), temporary.resolve("none").toString());
		refused(2, "--range is missing", "import-part", "-o", part, trace);
		refused(2, "it needs a number and how many parts there are", "import-part", "--range", "3/2", "-o", part, trace);
		refused(2, "-o is missing", "import-part", "--range", "1/2", trace);
		String csv = trace + "/p0000/accesses-000000.csv";
		refused(3, "is for trace directories, and " + csv + " is none", "import-part", "--range", "1/2", "-o", part, csv);
		byte[] bytes = Files.readAllBytes(Path.of(parts.get(0)));
		bytes[20] ^= 4;
		Path damaged = temporary.resolve("damaged.part");
		Files.write(damaged, bytes);
		refused(3, damaged + " is a damaged part of an import", "import", "-o", out, damaged.toString(), parts.get(1));
		assertFalse(Files.exists(Path.of(out)));
		assertFalse(Files.exists(Path.of(part)));
		try (Stream<Path> left = Files.list(temporary)) {
			assertTrue(left.noneMatch(p -> p.getFileName().toString().startsWith(".memtrace")), "temporary files");
		}
	}
}
