// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.cli.Ran;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;

/** Parts of a model by the command line: what is printed and drawn of them is what is of the trace, byte by byte. */
class ModelPartCommandTest {
	private static final long SEED = 1126;
	@TempDir
	static Path temporary;
	private static String db;

	/** With some hundred thousand accesses in several chunks, and so many pages that pictures show groups of them. */
	@BeforeAll
	static void write() throws Exception {
		System.out.println("seed " + SEED);
		Path file = temporary.resolve("matmul.db");
		try (TraceWriter writer = Stores.createFile(file, System.err::println)) {
			SyntheticTrace.matrixMultiplication(writer, 6000, 16);
		}
		db = file.toString();
	}

	private static String[] join(Stream<String> first, String... rest) {
		return Stream.concat(first, Arrays.stream(rest)).toArray(String[]::new);
	}

	/** The files of all parts, in some order. */
	private static List<String> parts(String name, int count, String... options) {
		List<String> files = new ArrayList<>();
		for (int k = 1; k <= count; k++) {
			String file = temporary.resolve(name + k + ".part").toString();
			Ran.ok(join(Stream.of("model-part", "--range", k + "/" + count, "-o", file, db), options));
			files.add(file);
		}
		Collections.shuffle(files, new Random(SEED));
		return files;
	}

	private static void assertSame(List<String> parts, String[] ofParts, String... ofTrace) throws Exception {
		assertEquals(Ran.ok(join(Stream.of("aggregate", "--format", "json", db), ofTrace)),
				Ran.ok(join(Stream.concat(Stream.of("aggregate", "--format", "json"), parts.stream()), ofParts)));
		Path one = temporary.resolve("one.svg");
		Path other = temporary.resolve("other.svg");
		Ran.ok(join(Stream.of("render", "-o", one.toString(), db), ofTrace));
		Ran.ok(join(Stream.concat(Stream.of("render", "-o", other.toString()), parts.stream()), ofParts));
		assertEquals(-1, Files.mismatch(one, other));
	}

	@Test
	void partsGiveWhatTheTraceGives() throws Exception {
		String[] none = {};
		List<String> parts = parts("a", 3);
		assertTrue(Stream.of(1, 2, 3).map(k -> temporary.resolve("a" + k + ".part")).allMatch(p -> p.toFile().length() > 2000),
				"all have values");
		assertSame(parts, none);
		assertEquals(Ran.ok("aggregate", "--list", "--format", "csv", db),
				Ran.ok(join(Stream.concat(Stream.of("aggregate", "--list", "--format", "csv"), parts.stream()))));
		assertEquals(Ran.ok("aggregate", "-p", "0.3", "--rows", "40", db),
				Ran.ok(join(Stream.concat(Stream.of("aggregate", "-p", "0.3", "--rows", "40"), parts.stream()))));
		assertSame(parts("b", 9, "--view", "thread", "--slices", "20", "--from", "40ms"), new String[] {"-p", "0.4"}, "--view", "thread",
				"--slices", "20", "--from", "40ms", "-p", "0.4");
		String filter = "{\"by\":\"thread\",\"numbers\":[1,2]}";
		assertSame(parts("c", 4, "--filter", filter, "--metric", "reads"), none, "--filter", filter, "--metric", "reads");
		assertSame(parts("d", 2, "--subtree", "B", "--slicing", "uniform", "--types", "Shared"), none, "--subtree", "B", "--slicing", "uniform",
				"--types", "Shared");
	}

	@Test
	void picturesOfTimeNeedTheValuesOfPages() throws Exception {
		List<String> parts = parts("e", 3, "--rows", "0");
		String one = temporary.resolve("p1.svg").toString();
		String other = temporary.resolve("p2.svg").toString();
		Ran.ok("render", "--kind", "profile", "-o", one, db);
		Ran.ok(join(Stream.concat(Stream.of("render", "--kind", "profile", "-o", other), parts.stream())));
		assertEquals(-1, Files.mismatch(Path.of(one), Path.of(other)));
		refused(3, "the parts have values of single pages", join(Stream.concat(Stream.of("aggregate"), parts.stream())));
		refused(3, "the parts have values of groups of pages", join(Stream.concat(Stream.of("render", "--kind", "profile", "-o", one),
				parts("f", 1).stream())));
		refused(2, "--kind pie needs the accesses themselves", join(Stream.concat(Stream.of("render", "--kind", "pie", "-o", one),
				parts.stream())));
	}

	private static void refused(int code, String reason, String... args) {
		Ran ran = Ran.of(args);
		assertTrue(ran.err().contains(reason), ran.err());
		assertEquals(code, ran.code(), ran.err());
		assertEquals("", ran.out());
		assertEquals(1, ran.err().lines().count(), ran.err());
	}

	/** A folder that needs no database, by its files: the runs of a scan of it are those of the database. */
	@Test
	void aParquetFolderGivesWhatTheTraceGives() throws Exception {
		DuckDb.use(temporary);
		String folder = temporary.resolve("folder").toString();
		Ran.ok("export", "--format", "parquet", "-o", folder, db);
		assertEquals(Ran.ok("aggregate", "--format", "json", "--view", "cpu", db),
				Ran.ok("aggregate", "--format", "json", "--view", "cpu", folder));
		List<String> files = new ArrayList<>();
		for (int k = 1; k <= 2; k++) {
			files.add(temporary.resolve("folder" + k + ".part").toString());
			Ran.ok("model-part", "--range", k + "/2", "--from", "40ms", "-o", files.getLast(), folder);
		}
		assertSame(files, new String[0], "--from", "40ms");
		// as earlier versions wrote them: accesses and tables only
		Files.delete(Path.of(folder, ParquetFolder.REST));
		assertEquals(Ran.ok("aggregate", "--format", "json", "--view", "cpu", db),
				Ran.ok("aggregate", "--format", "json", "--view", "cpu", folder));
		refused(3, "has one tree", "aggregate", "--tree", "physical", folder);
		refused(3, "cannot stand for a trace", "summary", folder);
		Path small = temporary.resolve("few.db");
		try (TraceWriter writer = Stores.createFile(small, System.err::println)) {
			SyntheticTrace.matrixMultiplication(writer, 60, 16);
		}
		String byTime = temporary.resolve("by-time").toString();
		Ran.ok("export", "--format", "parquet", "--partition", "time", "--window", "40ms", "-o", byTime, small.toString());
		refused(3, "export the trace again", "aggregate", byTime);
	}

	@Test
	void whatDoesNotFitIsToldInOneSentence() throws Exception {
		List<String> parts = parts("g", 2);
		String a = temporary.resolve("g1.part").toString();
		String b = temporary.resolve("g2.part").toString();
		refused(3, "parts are missing: of the ", "aggregate", a);
		refused(3, a + " and " + a + " have the same pages", "aggregate", a, b, a);
		refused(2, "--view is 'thread', but the parts were made with --view=auto", "aggregate", "--view", "thread", a, b);
		refused(2, "--across machine needs the trace", "aggregate", "--across", "machine", a, b);
		refused(2, "unexpected argument '" + a + "'", "aggregate", db, a);
		refused(2, "--trace is for parts", "aggregate", "--trace", db, db);
		refused(3, db + " is no part of a model", "aggregate", a, db);
		refused(3, "no such file", "aggregate", a, temporary.resolve("none.part").toString());
		String other = temporary.resolve("other.part").toString();
		Ran.ok("model-part", "--slices", "9", "--range", "2/2", "-o", other, db);
		refused(3, other + " was made with --slices=9, " + a + " with --slices=50", "aggregate", a, other);
		byte[] bytes = Files.readAllBytes(Path.of(b));
		bytes[bytes.length / 2] ^= 4;
		String damaged = temporary.resolve("damaged.part").toString();
		Files.write(Path.of(damaged), bytes);
		refused(3, damaged + " is a damaged part of a model: their checksum does not fit", "aggregate", a, damaged);
		refused(2, "it needs a number and how many parts there are", "model-part", "--range", "3/2", "-o", other, db);
		refused(2, "--range is missing", "model-part", "-o", other, db);
		refused(2, "-o is missing", "model-part", "--range", "1/2", db);
		refused(2, "parts are made of accesses", "model-part", "--view", "event_type", "--range", "1/2", "-o", other, db);

		// another trace in its place, and the right one elsewhere
		Path moved = temporary.resolve("moved.db");
		Files.copy(Path.of(db), moved);
		assertEquals(Ran.ok("aggregate", a, b), Ran.ok("aggregate", "--trace", moved.toString(), a, b));
		Path small = temporary.resolve("small.db");
		try (TraceWriter writer = Stores.createFile(small, System.err::println)) {
			SyntheticTrace.matrixMultiplication(writer, 60, 16);
		}
		refused(3, "the parts are of another trace than matmul", join(Stream.concat(Stream.of("aggregate", "--trace",
				small.toString()), parts.stream())));
	}
}
