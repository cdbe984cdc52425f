// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.export.FolderTable;
import org.memtrace.cli.Ran;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlDatabase;

/** Questions about a database that DuckDB reads where it lies: the answers of the Parquet folder, with nothing written. */
class SqlDatabaseTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	private static final List<String> TRACES = List.of("bucketsort-dynamic", "heap-reuse", "matmul-naive", "stencil-serial");
	/** Columns that need what memtrace finds in the whole trace. */
	private static final List<String> ELSEWHERE = List.of("phase", "pattern", "numa_distance");
	private static final int DAMAGED = 60;
	@TempDir
	static Path temporary;

	@BeforeAll
	static void load() throws Exception {
		DuckDb.use(temporary);
		DuckDb.useExtension();
		for (String trace : TRACES) {
			Ran.ok("import", "-o", db(trace), ROOT.resolve("testdata/traces/" + trace).toString());
		}
		Ran.ok("import", "-o", db("format-example"), ROOT.resolve("testdata/format-example").toString());
	}

	@AfterAll
	static void reset() {
		System.clearProperty(DuckDbLibrary.PROPERTY);
		System.clearProperty(SqlDatabase.PROPERTY);
		System.clearProperty("memtrace.cache");
	}

	private static String db(String trace) {
		return temporary.resolve(trace + ".db").toString();
	}

	private static String csv(String db, String sql) {
		return Ran.ok("sql", "--format", "csv", db, sql);
	}

	private static String byFolder(String db, String sql) {
		String extension = System.setProperty(SqlDatabase.PROPERTY, "off");
		try {
			return csv(db, sql);
		} finally {
			System.setProperty(SqlDatabase.PROPERTY, extension);
		}
	}

	private static List<String> folders() throws IOException {
		Path folders = temporary.resolve("cache/folders");
		if (!Files.isDirectory(folders)) {
			return List.of();
		}
		try (Stream<Path> list = Files.list(folders)) {
			return list.map(p -> p.getFileName().toString()).sorted().toList();
		}
	}

	@Test
	void allTablesAreThoseOfTheFolderAndNothingIsWritten() throws IOException {
		for (FolderTable table : FolderTable.documented()) {
			if (FolderTable.found().containsKey(table.name())) {
				continue;
			}
			String columns = table.columns().keySet().stream().filter(c -> !ELSEWHERE.contains(c)).map(c -> '"' + c + '"')
					.collect(Collectors.joining(","));
			String sql = "select " + columns + " from " + table.name();
			for (String trace : Stream.concat(TRACES.stream(), Stream.of("format-example")).toList()) {
				Path copy = temporary.resolve("copy-of-" + trace + ".db"); // a new path has no folder yet
				Files.copy(Path.of(db(trace)), copy);
				List<String> before = folders();
				String found = csv(copy.toString(), sql);
				assertEquals(before, folders(), "nothing is written");
				assertEquals(byFolder(db(trace), sql), found, () -> trace + ": " + sql);
				assertTrue(!table.name().equals("access") || found.lines().count() > 10, found);
				Files.delete(copy);
			}
		}
	}

	/** Texts are known to DuckDB before it asks; a statement must not notice. */
	@Test
	void theQueriesOfThePageHaveTheSameAnswers() throws IOException {
		String page = Files.readString(ROOT.resolve("docs/reference/sql-queries.md"));
		Matcher m = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL).matcher(page);
		int asked = 0;
		while (m.find()) {
			String sql = m.group(1).strip();
			if (sql.contains("duckdb_columns")) {
				continue; // tells what the views are made of
			}
			asked++;
			// where several rows are equal in the order that a query asks for, each of them is right
			boolean cut = sql.contains("limit");
			for (String trace : TRACES) {
				List<String> right = byFolder(db(trace), sql).lines().sorted().toList();
				List<String> got = csv(db(trace), sql).lines().sorted().toList();
				assertEquals(cut ? right.size() : right, cut ? got.size() : got, () -> trace + ": " + sql);
			}
		}
		assertTrue(asked >= 30, () -> page);
	}

	@Test
	void textsAreComparedSortedAndJoinedAsTexts() {
		for (String sql : List.of("select structure, thread, count(*) from access group by all order by structure, thread",
				"select min(structure), max(structure), min(thread) from access",
				"select structure from access where structure > 'm' group by all order by 1 desc",
				"select count(*) from access where structure = 'no such name'",
				"select coalesce(structure, 'nothing at all') as s, count(*) from access group by 1 order by 1",
				"select if(structure = 'table', 'x', structure) as s, count(*) from access group by 1 order by 1",
				"select structure || ' of ' || thread as s, length(structure) from access group by all order by all",
				"select structure from access union select 'other' order by 1",
				"select count(*) from access where structure in ('table', 'nothing at all')",
				"select case when structure is null then 'none' else structure end as s from access group by 1 order by 1")) {
			for (String trace : TRACES) {
				assertEquals(byFolder(db(trace), sql), csv(db(trace), sql), () -> trace + ": " + sql);
			}
		}
	}

	@Test
	void whatOnlyMemtraceKnowsIsMadeWhenItIsNamed() throws IOException {
		Path copy = temporary.resolve("named.db");
		Files.copy(Path.of(db("stencil-serial")), copy);
		int before = folders().size();
		String page = "select * from page order by producer";
		String pages = csv(copy.toString(), page);
		assertEquals(before + 1, folders().size());
		assertTrue(folders().stream().anyMatch(f -> f.endsWith("-pages")), () -> "only this table is made");
		assertEquals(pages, csv(copy.toString(), page));
		assertEquals(before + 1, folders().size(), "once");
		assertEquals(pages, byFolder(db("stencil-serial"), page));
		assertEquals(byFolder(db("stencil-serial"), "from finding order by id"), csv(copy.toString(), "from finding order by id"));
		assertEquals(before + 2, folders().size());
		assertEquals(byFolder(db("stencil-serial"), "from footprint"), csv(copy.toString(), "from footprint"));
		assertEquals(before + 3, folders().size());
		String phase = "select phase, pattern, numa_distance, count(*) from access group by all order by all";
		assertEquals(byFolder(db("stencil-serial"), phase), csv(copy.toString(), phase));
		assertEquals(before + 4, folders().size(), "all columns");
		assertTrue(csv(copy.toString(), "describe access").contains("phase"));
	}

	@Test
	void anotherTreeIsReadThroughTheFolder() throws IOException {
		Path copy = temporary.resolve("merged.db");
		Files.copy(Path.of(db("stencil-serial")), copy);
		Ran.ok("merge", "--add", "stack+size", copy.toString());
		String sql = "select structure, count(*), sum(writes) from access group by all order by all";
		assertEquals(byFolder(copy.toString(), sql), csv(copy.toString(), sql));
		assertEquals(byFolder(db("stencil-serial"), "from producer"), csv(db("stencil-serial"), "from producer"));
	}

	/** Where DuckDB does not take the file. */
	@Test
	void anExtensionThatIsNone() throws IOException {
		Path none = temporary.resolve(SqlDatabase.FILE);
		Files.write(none, new byte[5000]);
		String extension = System.setProperty(SqlDatabase.PROPERTY, none.toString());
		try {
			assertEquals("n\n14\n", csv(db("format-example"), "select count(*) as n from access"));
			System.setProperty(SqlDatabase.PROPERTY, none + ".gone");
			assertEquals(ExitCode.INPUT, Ran.of("sql", db("format-example"), "select 1").code());
		} finally {
			System.setProperty(SqlDatabase.PROPERTY, extension);
		}
	}

	/** The same answer, or one that says what is wrong. */
	@Test
	void damagedCopies() throws IOException {
		byte[] whole = Files.readAllBytes(Path.of(db("heap-reuse")));
		String sql = "select hash(list(a order by a.producer, a.start_ns, a.end_ns, a.thread_index, a.ip)) as h, count(*) as n from (select producer,"
				+ " start_ns, end_ns, thread_index, ip, page_start, address, reads, writes, flags, node, sharing, structure, site, cpu, source"
				+ " from access) a";
		String right = csv(db("heap-reuse"), sql);
		long seed = 20261128;
		Random random = new Random(seed);
		int told = 0;
		for (int i = 0; i < DAMAGED; i++) {
			byte[] copy = whole.clone();
			for (int bits = 1 << random.nextInt(7); bits > 0; bits--) {
				copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
			}
			Path file = temporary.resolve("damaged-" + i + ".db");
			Files.write(file, copy);
			Ran ran = Ran.of("sql", "--format", "csv", file.toString(), sql);
			if (ran.code() == ExitCode.OK) {
				if (!ran.out().equals(right)) {
					fail("copy " + i + " of seed " + seed + " has another answer: " + ran.out());
				}
			} else {
				told++;
				assertFalse(ran.err().isBlank());
				assertFalse(ran.err().contains("please report"), ran.err());
			}
			Files.delete(file);
		}
		assertTrue(told > DAMAGED / 10, "so many were told: " + told);
	}
}
