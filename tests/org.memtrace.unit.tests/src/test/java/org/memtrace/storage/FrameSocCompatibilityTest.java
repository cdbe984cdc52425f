// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerTree;

/**
 * What FrameSoc does with our files, on the SQLite that it ships (3.7.2 of 2010), loaded beside our own. The build puts the
 * driver into build/test-lib; without it these tests are skipped.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FrameSocCompatibilityTest {
	private static final int PAGES = 64;
	private static final int ROWS = 60_000;

	@TempDir
	static Path directory;

	private Connection trace;
	private Connection system;
	private TraceInfo info;
	private List<StoreContract.Event> events;

	@BeforeAll
	void open() throws Exception {
		OldSqlite.assume();
		List<StoreContract.Row> rows = StoreContract.random(11, ROWS);
		try (TraceCatalogue catalogue = Stores.openCatalogue(directory, n -> {
		})) {
			try (TraceWriter writer = catalogue.create("my trace")) {
				writer.threads(StoreContract.THREADS);
				writer.structures(StoreContract.STRUCTURES);
				writer.cpuSets(StoreContract.CPU_SETS);
				writer.producers(StoreContract.tree(PAGES));
				for (int i = 0; i < rows.size(); i += 5000) {
					writer.accesses(StoreContract.batch(rows.subList(i, i + 5000)));
				}
				info = writer.commit(StoreContract.INFO, "{}", Progress.NONE);
			}
			try (TraceStore store = catalogue.open(info.id())) {
				events = StoreContract.events(store, AccessQuery.ALL);
				store.writeNote("filters", new byte[] { 1 }); // a table more than FrameSoc knows
			}
		}
		trace = OldSqlite.open(directory.resolve(info.databaseName()));
		system = OldSqlite.open(directory.resolve("SOCTRACE_SYSTEM_DB"));
		trace.setAutoCommit(false);
		system.setAutoCommit(false);
	}

	@AfterAll
	void close() throws Exception {
		if (trace != null) {
			trace.close();
			system.close();
		}
	}

	private static String text(Connection db, String sql) throws SQLException {
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			return rows.next() ? rows.getString(1) : null;
		}
	}

	private static long number(Connection db, String sql) throws SQLException {
		return Long.parseLong(text(db, sql));
	}

	private static List<String> columns(Connection db, String table) throws SQLException {
		List<String> columns = new ArrayList<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("PRAGMA table_info(" + table + ")")) {
			while (rows.next()) {
				columns.add(rows.getString(2));
			}
		}
		return columns;
	}

	@Test
	void tablesHaveFrameSocsColumns() throws Exception {
		Map<String, Integer> counts = new TreeMap<>(Map.of("EVENT_TYPE", 3, "EVENT_PARAM", 4, "EVENT_PARAM_TYPE", 4,
				"EVENT_PRODUCER", 5, "FILE", 3, "ANALYSIS_RESULT", 5, "ANNOTATION", 4, "ANNOTATION_TYPE", 3));
		counts.putAll(Map.of("ANNOTATION_PARAM", 5, "ANNOTATION_PARAM_TYPE", 5, "ENTITY_GROUP", 8, "GROUP_MAPPING", 5,
				"SEARCH", 3, "SEARCH_MAPPING", 2, "PROCESSED_TRACE", 2));
		for (Map.Entry<String, Integer> table : counts.entrySet()) {
			assertEquals(table.getValue(), columns(trace, table.getKey()).size(), table.getKey());
		}
		assertEquals(List.of("ID", "EVENT_TYPE_ID", "EVENT_PRODUCER_ID", "TIMESTAMP", "CPU", "PAGE", "CATEGORY", "LPAR",
				"DPAR"), columns(trace, "EVENT"));
		assertEquals(17, columns(system, "TRACE").size());
		assertEquals(7, columns(system, "TOOL").size());
		assertEquals(1, number(system, "PRAGMA user_version"));
	}

	@Test
	void eventsAreThose() throws Exception {
		assertEquals(info.events(), number(trace, "SELECT COUNT(*) FROM EVENT"));
		List<StoreContract.Event> read = new ArrayList<>();
		try (Statement statement = trace.createStatement();
				ResultSet rows = statement.executeQuery("SELECT * FROM EVENT ORDER BY TIMESTAMP, ID")) {
			for (long id = 0; rows.next(); id++) {
				assertEquals(id, rows.getInt(1));
				assertEquals(3, rows.getInt(7));
				read.add(new StoreContract.Event(rows.getInt(2), rows.getInt(3), rows.getLong(4), rows.getLong(8),
						rows.getDouble(9), rows.getInt(5)));
			}
		}
		assertEquals(events, read);
	}

	@Test
	void windowsUseTheTimeIndex() throws Exception {
		long from = info.startNs() + info.durationNs() / 2;
		long to = from + info.durationNs() / 50;
		String where = " FROM EVENT WHERE TIMESTAMP >= '" + from + "' AND TIMESTAMP < '" + to + "'";
		long expected = events.stream().filter(e -> e.start() >= from && e.start() < to).count();
		assertTrue(expected > 100);
		assertEquals(expected, number(trace, "SELECT COUNT(*)" + where));
		assertEquals(events.stream().mapToLong(StoreContract.Event::start).filter(s -> s >= from).min().orElseThrow(),
				number(trace, "SELECT MIN(TIMESTAMP) FROM EVENT WHERE TIMESTAMP >= " + from));
		assertEquals(expected, number(trace, "SELECT COUNT(*)" + where + " AND CATEGORY = '3'"));
		assertEquals(0, number(trace,
				"SELECT COUNT(*) FROM EVENT WHERE CATEGORY IN (1,2) AND TIMESTAMP < " + from + " AND LPAR >= " + from));
		for (String query : List.of("SELECT *" + where, "SELECT *" + where + " ORDER BY TIMESTAMP",
				"SELECT EVENT_TYPE_ID, COUNT(*)" + where + " GROUP BY EVENT_TYPE_ID")) {
			String plan = plan(query);
			assertTrue(plan.contains("ts_index"), query + ": " + plan);
			assertTrue(plan.contains("MT_EVENT AS e USING PRIMARY KEY") || plan.contains("TABLE MT_EVENT AS e USING PRIMARY KEY"),
					query + ": " + plan);
		}
	}

	/** In 3.7.2: order, from, detail. */
	private String plan(String query) throws SQLException {
		StringBuilder plan = new StringBuilder();
		try (Statement statement = trace.createStatement();
				ResultSet rows = statement.executeQuery("EXPLAIN QUERY PLAN " + query)) {
			while (rows.next()) {
				plan.append(rows.getString(3)).append("; ");
			}
		}
		return plan.toString();
	}

	@Test
	void piesCountByTypeAndProducer() throws Exception {
		for (String column : List.of("EVENT_TYPE_ID", "EVENT_PRODUCER_ID")) {
			Map<Integer, Integer> expected = new TreeMap<>();
			events.forEach(e -> expected.merge(column.equals("EVENT_TYPE_ID") ? e.type() : e.producer(), 1, Integer::sum));
			Map<Integer, Integer> read = new TreeMap<>();
			try (Statement statement = trace.createStatement(); ResultSet rows = statement.executeQuery(
					"SELECT " + column + ", COUNT(*) AS NUMBER FROM EVENT WHERE TIMESTAMP >= 0 GROUP BY " + column)) {
				while (rows.next()) {
					read.put(rows.getInt(1), rows.getInt(2));
				}
			}
			assertEquals(expected, read);
		}
	}

	@Test
	void pagesFollowEachOtherWithoutGap() throws Exception {
		long last = number(trace, "SELECT MAX(PAGE) FROM EVENT");
		assertEquals(0, number(trace, "SELECT MIN(PAGE) FROM EVENT"));
		assertTrue(last >= 3);
		long sum = 0;
		for (long page = 0; page <= last; page++) {
			long count = number(trace, "SELECT COUNT(*) FROM EVENT WHERE PAGE = '" + page + "'");
			assertTrue(count > 0 && count < 21_000, "page " + page + " has " + count);
			sum += count;
		}
		assertEquals(info.events(), sum);
		assertTrue(plan("SELECT * FROM EVENT WHERE PAGE = '1'").contains("MT_RUN_PAGE"));
	}

	@Test
	void parametersOfEvents() throws Exception {
		assertEquals(2 * info.events(), number(trace, "SELECT COUNT(*) FROM EVENT_PARAM"));
		assertEquals(2 * info.events(), number(trace, "SELECT COUNT(DISTINCT ID) FROM EVENT_PARAM"));
		String query = "SELECT * FROM EVENT_PARAM WHERE EVENT_ID IN (5,6,40000)";
		int rows = 0;
		try (Statement statement = trace.createStatement(); ResultSet params = statement.executeQuery(query)) {
			while (params.next()) {
				rows++;
				int type = (int) number(trace, "SELECT EVENT_TYPE_ID FROM EVENT WHERE ID = " + params.getInt(2));
				try (Statement other = trace.createStatement(); ResultSet paramType = other.executeQuery(
						"SELECT EVENT_TYPE_ID, NAME FROM EVENT_PARAM_TYPE WHERE ID = " + params.getInt(3))) {
					assertTrue(paramType.next());
					assertEquals(type, paramType.getInt(1));
					String value = params.getString(4);
					if (paramType.getString(2).equals("Tid")) {
						assertTrue(List.of("-1", "4711", "4712").contains(value), value);
					} else {
						assertTrue(List.of("0", "8", "20000000000000001").contains(value), value);
					}
				}
			}
		}
		assertEquals(6, rows);
		assertTrue(plan(query).contains("MT_EVENT AS e USING PRIMARY KEY"), plan(query));
	}

	@Test
	void producersAreATreeWithUniqueKeys() throws Exception {
		ProducerTree tree = StoreContract.tree(PAGES);
		try (Statement statement = trace.createStatement();
				ResultSet rows = statement.executeQuery("SELECT * FROM EVENT_PRODUCER ORDER BY ID")) {
			for (int id = 0; id < tree.size(); id++) {
				assertTrue(rows.next());
				assertEquals(id, rows.getInt(1));
				assertEquals(tree.name(id), rows.getString(4));
				assertEquals(tree.parent(id), rows.getInt(5));
			}
		}
		assertEquals(0, number(trace, "SELECT COUNT(*) FROM EVENT_PRODUCER WHERE TYPE IS NULL OR LOCAL_ID IS NULL"));
	}

	/** Its visitors prepare all statements for all tables before they save anything. */
	@Test
	void analysisResultsCanBeSaved() throws Exception {
		for (String sql : List.of("INSERT INTO EVENT VALUES(?,?,?,?,?,?,?,?,?)", "UPDATE EVENT SET CPU=? WHERE ID=?",
				"DELETE FROM EVENT WHERE ID=?", "INSERT INTO EVENT_PARAM VALUES(?,?,?,?)",
				"UPDATE EVENT_PARAM SET VALUE=? WHERE ID=?", "DELETE FROM EVENT_PARAM WHERE ID=?")) {
			trace.prepareStatement(sql).close();
		}
		assertThrows(SQLException.class, () -> {
			try (Statement statement = trace.createStatement()) {
				statement.executeUpdate("DELETE FROM EVENT WHERE ID = 3");
			}
		});
		try (PreparedStatement result = trace.prepareStatement("INSERT INTO ANALYSIS_RESULT VALUES(?,?,?,?,?)");
				PreparedStatement search = trace.prepareStatement("INSERT INTO SEARCH VALUES(?,?,?)");
				PreparedStatement mapping = trace.prepareStatement("INSERT INTO SEARCH_MAPPING VALUES(?,?)");
				PreparedStatement annotation = trace.prepareStatement("INSERT INTO ANNOTATION VALUES(?,?,?,?)")) {
			Object[][] values = { { 1, 0, "SEARCH", "2024-06-07 08:09:10.0", "found" }, { 1, "what", "EVENT" }, { 1, 5 },
					{ 1, 0, 0, "note" } };
			PreparedStatement[] statements = { result, search, mapping, annotation };
			for (int i = 0; i < statements.length; i++) {
				for (int k = 0; k < values[i].length; k++) {
					statements[i].setObject(k + 1, values[i][k]);
				}
				statements[i].executeUpdate();
			}
		}
		trace.commit();
		assertEquals("found", text(trace, "SELECT DESCRIPTION FROM ANALYSIS_RESULT WHERE ID = 1"));
		assertEquals("ok", text(trace, "PRAGMA integrity_check"));
		try (TraceStore store = Stores.openFile(directory.resolve(info.databaseName()))) {
			assertEquals(events, StoreContract.events(store, AccessQuery.ALL));
		}
	}

	@Test
	void theSystemDbFollowsItsRules() throws Exception {
		assertEquals("ok", text(system, "PRAGMA integrity_check"));
		try (Statement statement = system.createStatement(); ResultSet row = statement.executeQuery("SELECT * FROM TRACE")) {
			assertTrue(row.next());
			for (int column = 1; column <= 17; column++) {
				assertTrue(row.getObject(column) != null, "column " + column + " is NULL");
			}
			assertTrue(row.getString(3).matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.0"), row.getString(3));
			assertTrue(row.getLong(8) == info.events() && row.getLong(14) < row.getLong(15));
			assertEquals(-9, row.getInt(16));
			assertEquals("my_trace", row.getString(12));
		}
		assertTrue(number(trace, "SELECT MIN(TIMESTAMP) FROM EVENT") >= info.startNs());
		assertTrue(number(trace, "SELECT MAX(LPAR) FROM EVENT") <= info.endNs());
		assertEquals(0, number(system, "SELECT COUNT(*) FROM TOOL WHERE IS_PLUGIN <> 0"));
		assertEquals(0, number(system, "SELECT COUNT(*) FROM TRACE WHERE TRACE_TYPE_ID NOT IN (SELECT ID FROM TRACE_TYPE)"));
		assertEquals(0, number(system, "SELECT COUNT(*) FROM TRACE_PARAM WHERE TRACE_PARAM_TYPE_ID NOT IN"
				+ " (SELECT ID FROM TRACE_PARAM_TYPE) OR VALUE IS NULL OR ID < 1"));
		// an alias edited in FrameSoc, and a tool that it registers
		try (Statement statement = system.createStatement()) {
			statement.executeUpdate("UPDATE TRACE SET ALIAS = 'edited' WHERE ID = " + info.id());
			statement.executeUpdate("INSERT INTO TOOL VALUES(1,'x','ANALYSIS','plugin:x',1,'','x')");
		}
		system.commit();
		try (TraceCatalogue catalogue = Stores.openCatalogue(directory, n -> {
		})) {
			assertEquals("edited", catalogue.list().get(0).alias());
		}
	}

	/** Cells, trees, rules, notes, caches, merged structures, and event types by thread change nothing of that. */
	@Test
	void mergedTracesAndProjections() throws Exception {
		Path other = Files.createDirectory(directory.resolve("other"));
		List<StoreContract.Event> ours = new ArrayList<>();
		TraceInfo merged;
		TraceInfo byThread;
		try (TraceCatalogue catalogue = Stores.openCatalogue(other, n -> {
		})) {
			try (TraceWriter writer = catalogue.create("merged")) {
				fill(writer);
				merged = writer.commit(StoreContract.INFO, "{}", Progress.NONE);
			}
			try (TraceStore store = catalogue.open(merged.id())) {
				org.memtrace.model.tree.ProducerTreeBuilder b = new org.memtrace.model.tree.ProducerTreeBuilder(StoreContract.PAGE);
				b.begin(org.memtrace.model.tree.ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
				b.leaf(org.memtrace.model.tree.ProducerKind.GROUP, "odd", 0, 0, -1);
				b.leaf(org.memtrace.model.tree.ProducerKind.GROUP, "even", 0, 0, -1);
				b.end();
				store.replaceTrees(new org.memtrace.model.tree.MemoryTrees(b.build(), new int[] { 1, 2, 1, 2, 1 }, null, null),
						List.of("name:(a)"), Progress.NONE);
				store.writeNote("note", new byte[] { 1, 2 });
				store.writeCache("cache", new byte[] { 3 });
			}
			try (TraceStore store = catalogue.open(merged.id())) {
				ours.addAll(StoreContract.events(store, AccessQuery.ALL));
			}
			try (TraceWriter writer = catalogue.create("by thread")) {
				writer.eventTypesByThread();
				fill(writer);
				byThread = writer.commit(StoreContract.INFO, "{}", Progress.NONE);
			}
		}
		try (Connection db = OldSqlite.open(other.resolve(merged.databaseName()));
				Connection catalogueDb = OldSqlite.open(other.resolve("SOCTRACE_SYSTEM_DB"));
				Connection threads = OldSqlite.open(other.resolve(byThread.databaseName()))) {
			List<StoreContract.Event> read = new ArrayList<>();
			try (Statement statement = db.createStatement();
					ResultSet rows = statement.executeQuery("SELECT * FROM EVENT WHERE TIMESTAMP >= '0' ORDER BY TIMESTAMP, ID")) {
				while (rows.next()) {
					read.add(new StoreContract.Event(rows.getInt(2), rows.getInt(3), rows.getLong(4), rows.getLong(8),
							rows.getDouble(9), rows.getInt(5)));
				}
			}
			assertEquals(ours, read);
			assertEquals(3, number(catalogueDb, "SELECT NUMBER_OF_PRODUCERS FROM TRACE WHERE ID = " + merged.id()));
			assertEquals(3, number(db, "SELECT COUNT(*) FROM EVENT_PRODUCER"));
			for (Connection each : List.of(db, threads)) {
				assertEquals("ok", text(each, "PRAGMA integrity_check"));
				assertEquals(0, number(each, "SELECT COUNT(*) FROM EVENT WHERE EVENT_PRODUCER_ID NOT IN (SELECT ID FROM EVENT_PRODUCER)"));
				assertEquals(0, number(each, "SELECT COUNT(*) FROM EVENT_PRODUCER WHERE PARENT_ID <> -1 AND PARENT_ID NOT IN"
						+ " (SELECT ID FROM EVENT_PRODUCER)"));
				assertEquals(0, number(each, "SELECT COUNT(*) FROM EVENT e, EVENT_TYPE t WHERE t.ID = e.EVENT_TYPE_ID AND t.CATEGORY"
						+ " <> e.CATEGORY"));
				assertEquals(0, number(each, "SELECT COUNT(*) FROM EVENT e, EVENT_PARAM p, EVENT_PARAM_TYPE t WHERE p.EVENT_ID = e.ID"
						+ " AND t.ID = p.EVENT_PARAM_TYPE_ID AND t.EVENT_TYPE_ID <> e.EVENT_TYPE_ID"));
			}
			assertEquals("Private_Read_T4711", text(threads,
					"SELECT t.NAME FROM EVENT e, EVENT_TYPE t WHERE t.ID = e.EVENT_TYPE_ID ORDER BY e.ID LIMIT 1"));
		}
	}

	private static void fill(TraceWriter writer) throws Exception {
		writer.threads(StoreContract.THREADS);
		writer.structures(StoreContract.STRUCTURES);
		writer.cpuSets(StoreContract.CPU_SETS);
		writer.trees(StoreContract.LAYOUT, StoreContract.trees());
		List<StoreContract.Row> rows = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			rows.add(new StoreContract.Row(100 + i, 150 + i, i % 5, i % 3, 1, 1, i % 2, 1 + i % 2, 0, 0, 0));
		}
		writer.accesses(StoreContract.batch(rows));
	}

	/** Independent of the driver: no text of the schema may use what came after 3.7.2. */
	@Test
	void schemaUsesNothingNewer() throws Exception {
		Pattern newer = Pattern.compile("WITHOUT\\s+ROWID|STRICT|GENERATED|\\bWITH\\b|\\bOVER\\b|FTS5|ON\\s+CONFLICT|RETURNING"
				+ "|CREATE\\s+(UNIQUE\\s+)?INDEX[^;]*\\bWHERE\\b|->|json\\w*\\(|UNION", Pattern.CASE_INSENSITIVE);
		List<String> schema = new ArrayList<>();
		for (Connection db : List.of(trace, system)) {
			try (Statement statement = db.createStatement();
					ResultSet rows = statement.executeQuery("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")) {
				while (rows.next()) {
					schema.add(rows.getString(1));
				}
			}
		}
		assertTrue(schema.size() > 35, schema.size() + " objects");
		for (String sql : schema) {
			assertTrue(!newer.matcher(sql).find(), sql);
		}
		assertTrue(newer.matcher("CREATE TABLE x(a) WITHOUT ROWID").find(), "the check can fail");
		assertTrue(newer.matcher("CREATE INDEX i ON t(a) WHERE a > 0").find(), "the check can fail");
	}
}
