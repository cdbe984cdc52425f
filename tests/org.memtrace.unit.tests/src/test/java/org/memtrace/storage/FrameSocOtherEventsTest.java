// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.TraceWriter;

/** What FrameSoc reads of events that we write, on the SQLite that it ships (see {@link FrameSocCompatibilityTest}). */
class FrameSocOtherEventsTest {
	@TempDir
	Path directory;

	@BeforeEach
	void needsTheDriver() {
		OldSqlite.assume();
	}

	private record Row(int type, int producer, long start, long end, double value, int cpu) {
	}

	private interface Check {
		void check(Connection db) throws Exception;
	}

	private static void old(Path file, Check check) throws Exception {
		try (Connection db = OldSqlite.open(file)) {
			check.check(db);
		}
	}

	private static List<Row> rows(Connection db, String where) throws SQLException {
		List<Row> read = new ArrayList<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT * FROM EVENT " + where + " ORDER BY TIMESTAMP, ID")) {
			while (rows.next()) {
				read.add(new Row(rows.getInt(2), rows.getInt(3), rows.getLong(4), rows.getLong(8), rows.getDouble(9), rows.getInt(5)));
			}
		}
		return read;
	}

	private static long number(Connection db, String sql) throws SQLException {
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			assertTrue(rows.next());
			return rows.getLong(1);
		}
	}

	@Test
	void everyCategoryWindowsPagesAndParameters() throws Exception {
		List<OtherEventsContract.Event> events = OtherEventsContract.random(8, 45_000);
		Path file = directory.resolve("t.db");
		TraceInfo info;
		try (TraceWriter writer = Stores.createFile(file, n -> {
		})) {
			fill(writer, events);
			info = writer.commit(OtherEventsContract.INFO, null, Progress.NONE);
		}
		List<Row> all = events.stream().sorted(Comparator.comparingLong(OtherEventsContract.Event::start))
				.map(e -> new Row(e.type(), e.producer(), e.start(), e.end(), e.value(), e.cpu())).toList();
		old(file, db -> {
			OtherEventsContract.same(all, rows(db, ""), "all");
			long from = all.get(20_000).start;
			long to = all.get(21_000).start;
			OtherEventsContract.same(all.stream().filter(e -> e.start >= from && e.start < to).toList(),
					rows(db, "WHERE TIMESTAMP >= '" + from + "' AND TIMESTAMP < '" + to + "'"), "quoted as FrameSoc does");
			OtherEventsContract.same(all.stream().filter(e -> e.start < from && e.end >= from && (e.type < 2 || e.type == 4)).toList(),
					rows(db, "WHERE CATEGORY IN (1,2) AND TIMESTAMP < " + from + " AND LPAR >= " + from), "open at the start");
			Map<Integer, Long> pages = new TreeMap<>();
			for (int page = 0; page <= number(db, "SELECT MAX(PAGE) FROM EVENT"); page++) {
				pages.put(page, number(db, "SELECT COUNT(*) FROM EVENT WHERE PAGE = '" + page + "'"));
			}
			assertEquals(3, pages.size(), "none is empty: " + pages);
			assertEquals(all.size(), pages.values().stream().mapToLong(n -> n).sum());
			assertTrue(pages.values().stream().allMatch(n -> n > 0 && n < 21_000), pages.toString());
			long parameters = events.stream().mapToLong(e -> e.parameters().size()).sum();
			assertEquals(parameters, number(db, "SELECT COUNT(DISTINCT ID) FROM EVENT_PARAM"));
			assertEquals(0, number(db, "SELECT COUNT(*) FROM EVENT e, EVENT_PARAM p, EVENT_PARAM_TYPE t WHERE p.EVENT_ID = e.ID"
					+ " AND t.ID = p.EVENT_PARAM_TYPE_ID AND t.EVENT_TYPE_ID <> e.EVENT_TYPE_ID"));
			assertEquals(0, number(db, "SELECT COUNT(*) FROM EVENT e, EVENT_TYPE t WHERE t.ID = e.EVENT_TYPE_ID AND t.CATEGORY"
					+ " <> e.CATEGORY"));
			assertEquals(1, number(db, "SELECT COUNT(*) FROM EVENT_PARAM_TYPE WHERE NAME = 'size' AND TYPE = 'BIGINT'"));
			assertEquals(1, number(db, "SELECT COUNT(*) FROM EVENT_PARAM_TYPE WHERE NAME = 'tag' AND TYPE = 'STRING'"));
			for (String sql : List.of("INSERT INTO EVENT VALUES(?,?,?,?,?,?,?,?,?)", "DELETE FROM EVENT_PARAM WHERE ID=?")) {
				db.prepareStatement(sql).close(); // FrameSoc prepares all of them before it saves anything
			}
			assertEquals("ok", text(db, "PRAGMA integrity_check"));
			assertEquals(all.size(), info.events());
		});
	}

	private static String text(Connection db, String sql) throws SQLException {
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
			return rows.next() ? rows.getString(1) : null;
		}
	}

	private static void fill(TraceWriter writer, List<OtherEventsContract.Event> events) throws Exception {
		writer.eventTypes(OtherEventsContract.TYPES);
		writer.producers(OtherEventsContract.tree());
		add(writer, events);
	}

	private static void add(TraceWriter writer, List<OtherEventsContract.Event> events) throws Exception {
		EventBatch batch = new EventBatch(events.size());
		for (OtherEventsContract.Event e : events) {
			batch.add(0, e.type(), e.producer(), e.start(), e.end(), e.value(), e.cpu());
			batch.setParameters(writer.parameters(e.type(), e.parameters()));
		}
		writer.events(batch);
	}

	/** One view has both; ids, types and parameters do not meet. */
	@Test
	void accessesAndEventsTogether() throws Exception {
		Path file = directory.resolve("both.db");
		try (TraceWriter writer = Stores.createFile(file, n -> {
		})) {
			writer.threads(StoreContract.THREADS);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.producers(StoreContract.tree(8));
			writer.eventTypes(OtherEventsContract.TYPES);
			writer.accesses(StoreContract.batch(StoreContract.SMALL));
			add(writer, OtherEventsContract.SMALL);
			writer.commit(StoreContract.INFO, null, Progress.NONE);
		}
		int both = 7 + OtherEventsContract.SMALL.size();
		old(file, db -> {
			assertEquals(both, number(db, "SELECT COUNT(DISTINCT ID) FROM EVENT"));
			assertEquals(OtherEventsContract.SMALL.size(), number(db, "SELECT COUNT(*) FROM EVENT e, EVENT_TYPE t WHERE"
					+ " t.ID = e.EVENT_TYPE_ID AND t.CATEGORY = e.CATEGORY AND t.NAME IN ('compute','message','mark','load','wait')"));
			assertEquals(7 * 2 + 3, number(db, "SELECT COUNT(DISTINCT ID) FROM EVENT_PARAM"));
			assertEquals(7 * 2 + 3, number(db, "SELECT COUNT(*) FROM EVENT e, EVENT_PARAM p, EVENT_PARAM_TYPE t WHERE p.EVENT_ID = e.ID"
					+ " AND t.ID = p.EVENT_PARAM_TYPE_ID AND t.EVENT_TYPE_ID = e.EVENT_TYPE_ID"));
			assertEquals(4096, number(db, "SELECT p.VALUE FROM EVENT_PARAM p, EVENT_PARAM_TYPE t WHERE t.ID = p.EVENT_PARAM_TYPE_ID"
					+ " AND t.NAME = 'size' ORDER BY p.EVENT_ID"));
		});
	}
}
