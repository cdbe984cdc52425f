// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;

/** Commands print and draw of a Parquet folder what they print and draw of the database that it was exported from, byte by byte. */
class FolderTraceTest {
	private static final Path TRACES = Path.of(System.getProperty("memtrace.root"), "testdata", "traces");
	private static final String[][] PRINTED = { {"summary", "--format", "json"},
			{"query", "--what", "accesses", "--columns", "all", "--format", "csv"},
			{"query", "--what", "accesses", "--limit", "7", "--from", "50%"}, {"query", "--what", "events", "--format", "csv"},
			{"query", "--what", "structures", "--format", "json"}, {"query", "--what", "stacks", "--format", "csv"},
			{"query", "--what", "intervals", "--format", "csv"}, {"query", "--what", "pages", "--format", "csv"},
			{"advise", "--format", "json"}, {"verify"}, {"machine"}, {"place"}, {"bind"}, {"export"},
			{"aggregate", "--view", "thread", "--format", "json"}, {"aggregate", "--view", "cpu", "--format", "json"} };
	private static final String[][] DRAWN = { {"render"}, {"render", "--kind", "gantt"}, {"render", "--kind", "pie"},
			{"render", "--kind", "density"} };

	@TempDir
	Path temporary;

	private static String[] with(String[] first, String... rest) {
		return Stream.concat(Stream.of(first), Stream.of(rest)).toArray(String[]::new);
	}

	private static String all(Ran ran) {
		return ran.code() + "\n" + ran.out() + ran.err();
	}

	@Test
	void aFolderStandsForItsTrace() throws Exception {
		DuckDb.use(temporary);
		for (String name : new String[] {"bucketsort-dynamic", "matmul-naive", "stencil-parallel"}) {
			String db = temporary.resolve(name + ".db").toString();
			String folder = temporary.resolve(name).toString();
			Ran.ok("import", "-o", db, TRACES.resolve(name).toString());
			Ran.ok("export", "--format", "parquet", "-o", folder, db);
			for (String[] command : PRINTED) {
				assertEquals(all(Ran.of(with(command, db))).replace(db, folder), all(Ran.of(with(command, folder))), String.join(" ", command));
			}
			for (String[] command : DRAWN) {
				Path one = temporary.resolve("one.svg");
				Path other = temporary.resolve("other.svg");
				Ran.ok(with(command, "-o", one.toString(), db));
				Ran.ok(with(command, "-o", other.toString(), folder));
				assertTrue(Files.size(one) > 500);
				assertEquals(-1, Files.mismatch(one, other), String.join(" ", command));
			}
			assertTrue(Ran.ok("info", folder).contains(folder), "where it is");
		}
		String a = temporary.resolve("matmul-naive").toString();
		String b = temporary.resolve("stencil-parallel").toString();
		Ran wanted = Ran.of("diff", "--force", a + ".db", b + ".db");
		Ran found = Ran.of("diff", "--force", a, b);
		assertTrue(wanted.out().length() > 500, wanted.err());
		// lines are broken by the lengths of names
		assertEquals(all(wanted).replace(".db", "").replaceAll("\\s+", " "), all(found).replaceAll("\\s+", " "));
	}
}
