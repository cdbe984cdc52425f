// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.analysis.column.TraceTable;
import org.memtrace.analysis.export.FolderTable;
import org.memtrace.cli.Ran;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Completion;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlCompletion;
import org.memtrace.sql.SqlRows;
import org.memtrace.sql.SqlSession;
import org.memtrace.sql.SqlView;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpServer;

/**
 * Questions in SQL: the queries of docs/reference/sql-queries.md, the same numbers as the other commands, limits, errors, installing the
 * engine.
 */
class SqlCommandTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	private static final List<String> TRACES = List.of("bucketsort-dynamic", "heap-reuse", "matmul-naive", "stencil-serial");
	private static final String SHARING = "case when sharing is null then 'NotKnown' when sharing > 1 then 'Shared' else 'Private' end";
	@TempDir
	static Path temporary;
	private static Path jar;

	@BeforeAll
	static void load() throws Exception {
		jar = DuckDb.use(temporary);
		for (String trace : TRACES) {
			Ran.ok("import", "-o", db(trace), ROOT.resolve("testdata/traces/" + trace).toString());
		}
	}

	@AfterAll
	static void reset() {
		System.clearProperty(DuckDbLibrary.PROPERTY);
		System.clearProperty("memtrace.cache");
	}

	private static String db(String trace) {
		return temporary.resolve(trace + ".db").toString();
	}

	private static List<String> csv(String trace, String sql) {
		return Ran.ok("sql", "--format", "csv", db(trace), sql).lines().skip(1).toList();
	}

	private static List<String> query(String trace, String... args) {
		List<String> command = new ArrayList<>(List.of("query", "--format", "csv"));
		command.addAll(List.of(args));
		command.add(db(trace));
		return Ran.ok(command.toArray(String[]::new)).lines().skip(1).toList();
	}

	/** Every query of the page runs on every trace, and finds something in one of them; those that must be empty nowhere are so nowhere. */
	@Test
	void theQueriesOfThePage() throws IOException {
		String page = Files.readString(ROOT.resolve("docs/reference/sql-queries.md"));
		Matcher m = Pattern.compile("(?m)^(\\d+)\\. ([^\\n]*)(?:\\n[^`]*)?\\n```sql\\n(.*?)```", Pattern.DOTALL).matcher(page);
		TreeMap<Integer, Integer> rows = new TreeMap<>();
		while (m.find()) {
			int number = Integer.parseInt(m.group(1));
			rows.put(number, 0);
			for (String trace : TRACES) {
				JsonArray found = JsonParser.parseString(Ran.ok("sql", "--format", "json", db(trace),
						m.group(3))).getAsJsonObject().getAsJsonArray("rows");
				rows.merge(number, found.size(), Integer::sum);
			}
		}
		assertTrue(rows.size() >= 30, rows::toString);
		assertEquals(page.split("```sql").length - 1, rows.size(), "each query has a number");
		assertEquals(Set.of(), new TreeSet<>(rows.keySet().stream().filter(n -> rows.get(n) == 0).toList()), "queries that find nothing");
	}

	@Test
	void theNumbersAreThoseOfOtherCommands() {
		for (String trace : TRACES) {
			for (String by : List.of("thread", "structure", "site", "phase", "cpu")) {
				assertEquals(query(trace, "--what", "groups", "--by", by).stream().sorted().toList(),
						csv(trace, "select " + by + ", count(*) as records, sum(reads) as reads, sum(writes) as writes from access group by 1").stream()
								.sorted().toList(), trace + " " + by);
			}
			assertEquals(query(trace, "--what", "groups", "--by", "type").stream().filter(s -> !s.endsWith(",0,0,0")).sorted().toList(),
					csv(trace, "select * from (select " + SHARING + " || '_Read', count(*), sum(reads), 0 from access where reads > 0 group by 1 union all"
							+ " select " + SHARING + " || '_Write', count(*), 0, sum(writes) from access where writes > 0 group by 1)").stream()
							.sorted().toList(), trace);
			assertEquals(query(trace, "--what", "pages"), csv(trace, "select * from page order by producer"), trace);
			for (TraceTable t : List.of(TraceTable.STRUCTURES, TraceTable.THREADS, TraceTable.INTERVALS, TraceTable.FINDINGS,
					TraceTable.PRODUCERS)) {
				String view = t.name().replaceFirst("s$", "");
				assertEquals(new HashSet<>(query(trace, "--what", t.name())), new HashSet<>(csv(trace, "select * from " + view)), trace + " " + view);
			}
			assertEquals(query(trace, "--what", "stacks").size(), csv(trace, "select * from stack").size());
		}
	}

	/** The page names every table, and each has the columns of docs/reference/columns.md with their meaning. */
	@Test
	void tablesAndColumns() throws IOException {
		String page = Files.readString(ROOT.resolve("docs/reference/sql.md"));
		List<FolderTable> documented = FolderTable.documented();
		assertEquals(documented.stream().map(FolderTable::name).sorted().toList(), csv("matmul-naive", "show tables"));
		for (FolderTable table : documented) {
			String view = table.name();
			assertTrue(page.contains("| `" + view + "` |"), view);
			assertEquals(table.columns().entrySet().stream().map(c -> c.getKey() + "," + c.getValue().replace("\"", "")).toList(),
					csv("matmul-naive", "select column_name, comment from duckdb_columns() where table_name = '" + view + "' order by column_index").stream()
							.map(s -> s.replace("\"", "")).toList());
			assertEquals(table.addresses(), csv("matmul-naive", "select column_name from duckdb_columns() where table_name = '" + view
					+ "' and data_type = 'UBIGINT' order by column_index"));
		}
	}

	/** Every column that is proposed can be written where it is proposed; keywords and functions are those of the engine. */
	@Test
	void whatIsProposedIsUnderstood() {
		List<SqlView> views = FolderTable.documented().stream().map(t -> new SqlView(t.name(), t.files(), t.meaning(), t.columns())).toList();
		StringBuilder all = new StringBuilder();
		for (SqlView view : views) {
			for (String statement : List.of("select  from " + view.name(), "select x. from " + view.name() + " x")) {
				int caret = statement.indexOf(" from");
				for (Completion.Proposal p : SqlCompletion.at(statement, caret, views).proposals()) {
					if (view.columns().containsValue(p.note())) {
						all.append(statement, 0, caret).append(p.text()).append(statement.substring(caret)).append(" limit 0;\n");
					}
				}
			}
		}
		assertTrue(all.toString().lines().count() >= 2 * views.stream().mapToInt(v -> v.columns().size()).sum(), "all columns, in two ways");
		Ran.ok("sql", db("matmul-naive"), all.toString());
		Set<String> words = new HashSet<>(csv("matmul-naive", "select keyword_name from duckdb_keywords() union select distinct function_name from duckdb_functions()"));
		List<String> proposed = SqlCompletion.at("", 0, List.of()).proposals().stream().map(Completion.Proposal::text).toList();
		assertTrue(proposed.size() > 60, proposed::toString);
		// the parser or the planner knows them
		Set<String> others = Set.of("if", "coalesce", "row_number", "rank", "lag", "lead");
		assertEquals(List.of("1,2,1,1,,"), csv("matmul-naive",
				"select if(true, 1, 2), coalesce(null, 2), row_number() over (), rank() over (order by 1), lag(1) over (), lead(1) over ()"));
		assertEquals(List.of(), proposed.stream().filter(p -> !words.contains(p) && !others.contains(p)).toList());
	}

	@Test
	void whatIsPrinted() {
		String db = db("matmul-naive");
		String text = Ran.ok("sql", db, "select page_start, page_start + 0 as n, 1/3.0 as third, 1e9::double as big, null as x, id, id from access a join structure s"
				+ " on s.id = a.structure_id order by page_start limit 1");
		assertTrue(text.lines().findFirst().orElse("").matches("page_start +n +third +big +x +id +id_2"), text);
		String[] cells = text.lines().toList().get(1).strip().split(" +");
		assertEquals(Long.parseLong(cells[1]), Long.parseUnsignedLong(cells[0], 16), "an address is hexadecimal, what is computed is not");
		assertEquals("0.333333", cells[2]);
		assertEquals("1000000000", cells[3]);
		assertEquals("[{\"h\":170141183460469231731687303715884105727,\"d\":0.1,\"n\":null,\"b\":true,\"l\":\"[1, 2]\",\"t\":\"2020-01-02\",\"u\":18446744073709551615,\"q\":\"a\\\"b\"}]",
				JsonParser.parseString(Ran.ok("sql", "--format", "json", db, "select 170141183460469231731687303715884105727::hugeint as h, 0.1::double as d, 'nan'::double as n,"
						+ " true as b, [1, 2] as l, date '2020-01-02' as t, 18446744073709551615::ubigint as u, 'a\"b' as q")).getAsJsonObject().get("rows").toString());
		Ran limited = Ran.of("sql", "--limit", "3", "--format", "csv", db, "select * from range(10)");
		assertEquals("range\n0\n1\n2\n", limited.out());
		assertTrue(limited.err().contains("the first 3 rows"), limited.err());
		assertFalse(Ran.of("sql", "--limit", "10", db, "select * from range(10)").err().contains("first"), "nothing was cut off");
		assertEquals("2\n", Ran.ok("sql", "--format", "csv", db, "create table t as select 2 as two; select two from t").replaceFirst("two\n",
				""));
		assertEquals(ExitCode.OK, Ran.of("sql", db, "select * from access where false").code());
	}

	@Test
	void whatIsWrongIsOneSentence() {
		String db = db("matmul-naive");
		for (String[] wrong : new String[][] {{"select * from structur", "Table with name structur does not exist"},
				{"select nme from structure", "\"nme\" not found"}, {"selct 1", "syntax error at or near"}, {" ", "the statement is empty"}}) {
			Ran ran = Ran.of("sql", db, wrong[0]);
			assertEquals(ExitCode.USAGE, ran.code(), wrong[0]);
			assertTrue(ran.err().contains(wrong[1]), ran.err());
			assertEquals(1, ran.err().lines().count(), ran.err());
		}
		assertEquals(ExitCode.USAGE, Ran.of("sql", db).code());
		assertEquals(ExitCode.USAGE, Ran.of("sql", "--file", "x", db, "select 1").code());
		assertEquals(ExitCode.INPUT, Ran.of("sql", "--file", temporary.resolve("none.sql").toString(), db).code());
		assertEquals(ExitCode.INPUT, Ran.of("sql", temporary.resolve("none.db").toString(), "select 1").code());
		Ran memory = Ran.of("sql", "--memory", "20M", "--threads", "1", db, "select count(distinct x) from (select hash(range)::varchar || range as x from range(2000000))");
		assertEquals(ExitCode.INPUT, memory.code());
		assertTrue(memory.err().contains("--memory") && memory.err().lines().count() == 1, memory.err());
	}

	@Test
	void aTraceOfEventsHasNoAccesses() throws IOException {
		Path csv = Files.writeString(temporary.resolve("events.csv"), "type,category,producer,start_us,end_us,value\ncompute,state,node/rank 0,1.5,20,0\n");
		Ran.ok("import", "-o", db("events"), csv.toString());
		Ran ran = Ran.of("sql", db("events"), "select 1");
		assertEquals(ExitCode.INPUT, ran.code());
		assertTrue(ran.err().contains("no memory trace"), ran.err());
	}

	@Test
	void aParquetFolder() throws IOException {
		Path folder = temporary.resolve("it's a folder");
		Ran.ok("export", "--format", "parquet", "-o", folder.toString(), db("stencil-serial"));
		String sql = "select structure, sum(writes) as w from access group by all order by all";
		assertEquals(csv("stencil-serial", sql), Ran.ok("sql", "--format", "csv", folder.toString(), sql).lines().skip(1).toList());
		Path meta = folder.resolve("meta.json");
		String text = Files.readString(meta);
		Files.writeString(meta, text.replaceFirst("\"schema_version\": \\d+", "\"schema_version\": 1"));
		Ran old = Ran.of("sql", folder.toString(), sql);
		assertEquals(ExitCode.INPUT, old.code());
		assertTrue(old.err().contains("export the trace again"), old.err());
		Files.writeString(meta, text.substring(0, text.length() / 2));
		assertTrue(Ran.of("sql", folder.toString(), sql).err().contains("meta.json cannot be read"));
		Files.writeString(meta, text);
		Files.write(folder.resolve("structures.parquet"), new byte[100]);
		assertEquals(ExitCode.INPUT, Ran.of("sql", folder.toString(), sql).code());
	}

	private static Set<String> folders() throws IOException {
		try (Stream<Path> list = Files.list(temporary.resolve("cache/folders"))) {
			return new TreeSet<>(list.map(p -> p.getFileName().toString()).toList());
		}
	}

	@Test
	void theFolderIsMadeOnceForEachState() throws IOException {
		Path copy = temporary.resolve("state.db");
		Files.copy(Path.of(db("heap-reuse")), copy);
		Set<String> before = folders();
		String sql = "select count(*) from producer";
		String first = Ran.ok("sql", copy.toString(), sql);
		Set<String> once = folders();
		assertEquals(before.size() + 1, once.size());
		assertEquals(first, Ran.ok("sql", copy.toString(), sql));
		assertEquals(once, folders());
		Path folder = Path.of(Ran.ok("export", "--format", "parquet", "--cached", copy.toString()).strip());
		assertEquals(temporary.resolve("cache/folders").toRealPath(), folder.getParent().toRealPath(), "one folder for all who read it");
		assertEquals(once, folders());
		assertEquals(ExitCode.USAGE, Ran.of("export", "--format", "parquet", "--cached", "--thread", "1", copy.toString()).code());
		assertEquals(ExitCode.USAGE, Ran.of("export", "--cached", copy.toString()).code());
		Ran.ok("merge", "--add", "stack+size", copy.toString());
		String merged = Ran.ok("sql", copy.toString(), sql);
		assertEquals(once.size() + 1, folders().size(), "the earlier one was used today and stays");
		assertNotEquals(first, merged, "another tree");
		assertTrue(folders().stream().noneMatch(f -> f.startsWith(".")), "nothing temporary");
	}

	/** Soon, however long the statement would run. */
	@Test
	void cancelling() throws MemtraceException {
		AtomicInteger asked = new AtomicInteger();
		try (SqlSession session = new SqlSession(jar, List.of(), 1L << 28, 1, temporary.resolve("cache"))) {
			Rows rows = new Rows();
			assertThrows(CancelledException.class, () -> session.query("select count(*) from range(100000000) a, range(1000000) b where a.range * b.range % 7 = 3", rows,
					Progress.cancelledWhen(() -> asked.incrementAndGet() > 5)));
			session.query("select 1 as x union all select 2 order by x", rows, Progress.NONE);
			assertEquals(List.of("1", "2"), rows.rows, "the session goes on");
			assertThrows(CancelledException.class, () -> session.query("select * from range(100000000)", rows,
					Progress.cancelledWhen(() -> rows.rows.size() > 1000)));
			assertTrue(rows.rows.size() < 100_000, "rows are given while they are made");
		}
	}

	private static final class Rows implements SqlRows {
		final List<String> rows = new ArrayList<>();

		@Override
		public void columns(List<Column> columns) {
			rows.clear();
		}

		@Override
		public boolean row(Object[] values) {
			rows.add(String.valueOf(values[0]));
			return true;
		}
	}

	@Test
	void installing() throws Exception {
		Path home = temporary.resolve("home");
		assertTrue(Files.notExists(home.resolve("lib")));
		Path damaged = temporary.resolve("damaged.jar");
		byte[] bytes = Files.readAllBytes(jar);
		bytes[bytes.length / 2] ^= 1;
		Files.write(damaged, bytes);
		MemtraceException refused = assertThrows(MemtraceException.class, () -> DuckDbLibrary.install(damaged.toString(), home, Progress.NONE));
		assertTrue(refused.getMessage().contains("SHA-256"), refused.getMessage());
		assertEquals(0, files(home.resolve("lib")));
		assertThrows(MemtraceException.class, () -> DuckDbLibrary.install(temporary.resolve("none.jar").toString(), home, Progress.NONE));
		assertThrows(CancelledException.class, () -> DuckDbLibrary.install(jar.toString(), home, Progress.cancelledWhen(() -> true)));
		assertEquals(0, files(home.resolve("lib")));
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		String path = String.format(Locale.ROOT, "/maven/org/duckdb/duckdb_jdbc/%s/%s", DuckDbLibrary.VERSION, DuckDbLibrary.fileName());
		server.createContext("/maven", exchange -> {
			boolean there = exchange.getRequestURI().getPath().equals(path);
			exchange.sendResponseHeaders(there ? 200 : 404, there ? Files.size(jar) : -1);
			if (there) {
				Files.copy(jar, exchange.getResponseBody());
			}
			exchange.close();
		});
		server.start();
		try {
			String address = "http://localhost:" + server.getAddress().getPort();
			MemtraceException missing = assertThrows(MemtraceException.class,
					() -> DuckDbLibrary.install(address + "/maven/other", home, Progress.NONE));
			assertTrue(missing.getMessage().contains("there is no such file"), missing.getMessage());
			Path installed = DuckDbLibrary.install(address + "/maven/", home, Progress.NONE);
			assertEquals(home.resolve("lib").resolve(DuckDbLibrary.fileName()), installed);
			assertEquals(-1, Files.mismatch(jar, installed));
		} finally {
			server.stop(0);
		}
		assertEquals(1, files(home.resolve("lib")));
	}

	private static long files(Path folder) throws IOException {
		try (Stream<Path> list = Files.list(folder)) {
			return list.count();
		}
	}

	@Test
	void withoutTheEngine() throws Exception {
		System.clearProperty(DuckDbLibrary.PROPERTY);
		try {
			assertTrue(DuckDbLibrary.find(temporary.resolve("empty")).isEmpty());
			System.setProperty(DuckDbLibrary.PROPERTY, temporary.resolve("no.jar").toString());
			assertThrows(MemtraceException.class, () -> DuckDbLibrary.find(temporary));
			Path other = Files.writeString(temporary.resolve("other.jar"), "no archive");
			System.setProperty(DuckDbLibrary.PROPERTY, other.toString());
			Ran ran = Ran.of("sql", db("matmul-naive"), "select 1");
			assertEquals(ExitCode.INPUT, ran.code());
			assertTrue(ran.err().contains("is no DuckDB that runs here"), ran.err());
		} finally {
			System.setProperty(DuckDbLibrary.PROPERTY, jar.toString());
		}
	}
}
