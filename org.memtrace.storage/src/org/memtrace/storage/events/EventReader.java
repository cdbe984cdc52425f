// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.rows.CellMap;

/**
 * Streams the compact event rows. First the runs that the query selects are found (there is one for up to 512 rows with one
 * interval), then their rows are read in ranges of ids, which are contiguous on disk.
 */
public final class EventReader {
	private static final int BATCH = 8192;
	/** Rows that are read by one statement. */
	private static final int RANGE = 65_536;

	/** Small tables that rows refer to. */
	public record Lookup(int[] type, int[] cpu, int[] thread, int[] cpuSet, int[] sharing, int[] node, int[] flags,
			boolean[] write, boolean[] continues, long[] address) {

		public static Lookup read(Connection db) throws SQLException {
			int n = (int) Sqlite.number(db, -1, "SELECT MAX(ID) FROM MT_CONTEXT") + 1;
			int[][] columns = new int[7][n];
			boolean[] write = new boolean[n];
			boolean[] continues = new boolean[n];
			try (Statement statement = db.createStatement();
					ResultSet rows = statement.executeQuery("SELECT ID, EVENT_TYPE_ID, CPU, THREAD, CPU_SET, SHARING,"
							+ " NODE, FLAGS, IS_WRITE, CONTINUES FROM MT_CONTEXT")) {
				while (rows.next()) {
					int id = rows.getInt(1);
					for (int i = 0; i < columns.length; i++) {
						columns[i][id] = rows.getInt(i + 2);
					}
					write[id] = rows.getInt(9) != 0;
					continues[id] = rows.getInt(10) != 0;
				}
			}
			long[] address = new long[(int) Sqlite.number(db, 0, "SELECT MAX(ID) FROM MT_IP") + 1];
			try (Statement statement = db.createStatement();
					ResultSet rows = statement.executeQuery("SELECT ID, ADDRESS FROM MT_IP")) {
				while (rows.next()) {
					address[rows.getInt(1)] = rows.getLong(2);
				}
			}
			return new Lookup(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], columns[6], write,
					continues, address);
		}
	}

	private final Connection db;
	private final Lookup lookup;
	private final CellMap cells;
	private final long longestNs;
	private final double accessesPerEvent;

	public EventReader(Connection db, Lookup lookup, CellMap cells, long longestNs, long events, long accesses) {
		this.db = db;
		this.lookup = lookup;
		this.cells = cells;
		this.longestNs = longestNs;
		this.accessesPerEvent = events == 0 ? 0 : (double) accesses / events;
	}

	/** Gets each selected event row, and is asked whether to go on. */
	private interface RowVisitor {
		void row(int id, int producer, long count, int context, int ip, long startNs, long endNs)
				throws MemtraceException;
	}

	/** @param fromId first event id; the range must not begin with the second event of an access */
	public void accesses(AccessQuery query, int fromId, int toId, AccessVisitor visitor, Progress progress)
			throws SQLException, MemtraceException {
		Accesses out = new Accesses(visitor, progress);
		rows(query, fromId, toId, out, progress);
		out.end();
	}

	/** Accesses by the ids of their first events, in the order of the ids. */
	public void accesses(int[] ids, AccessVisitor visitor) throws SQLException, MemtraceException {
		Accesses out = new Accesses(visitor, Progress.NONE);
		try (PreparedStatement read = db.prepareStatement(BY_ID)) {
			for (int id : ids) {
				read.setInt(1, id);
				read.setLong(2, id + 2L); // the second event of an access, if it has one, follows at once
				try (ResultSet rows = read.executeQuery()) {
					while (rows.next()) {
						int context = rows.getInt(4);
						if (rows.getInt(1) == id || lookup.continues[context]) {
							out.row(rows.getInt(1), cells.producer(rows.getInt(2)), rows.getLong(3), context, rows.getInt(5), rows.getLong(6),
									rows.getLong(7));
						}
					}
				}
			}
		}
		out.end();
	}

	/** Joins the two events of an access that reads and writes. */
	private final class Accesses implements RowVisitor {
		private final AccessBatch out = new AccessBatch(BATCH);
		private final AccessVisitor visitor;
		private final Progress progress;

		Accesses(AccessVisitor visitor, Progress progress) {
			this.visitor = visitor;
			this.progress = progress;
		}

		@Override
		public void row(int id, int producer, long count, int context, int ip, long startNs, long endNs)
				throws MemtraceException {
			if (lookup.continues[context] && out.count > 0) {
				out.writes[out.count - 1] = count;
				return;
			}
			if (out.isFull()) {
				visitor.visit(out);
				out.count = 0;
				progress.check();
			}
			boolean write = lookup.write[context];
			out.add(startNs, endNs, producer, lookup.thread[context], lookup.cpuSet[context], write ? 0 : count,
					write ? count : 0, lookup.sharing[context], lookup.node[context], lookup.flags[context],
					lookup.address[ip]);
			out.id[out.count - 1] = id;
		}

		void end() throws MemtraceException {
			if (out.count > 0) {
				visitor.visit(out);
			}
		}
	}

	public void events(AccessQuery query, int fromId, int toId, EventVisitor visitor, Progress progress)
			throws SQLException, MemtraceException {
		EventBatch out = new EventBatch(BATCH);
		rows(query, fromId, toId, (id, producer, count, context, ip, startNs, endNs) -> {
			if (out.isFull()) {
				visitor.visit(out);
				out.count = 0;
				progress.check();
			}
			out.add(id, lookup.type[context], producer, startNs, endNs, count, lookup.cpu[context]);
		}, progress);
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	public void events(long[] ids, EventVisitor visitor) throws SQLException, MemtraceException {
		EventBatch out = new EventBatch(Math.max(1, ids.length));
		try (PreparedStatement read = db.prepareStatement(BY_ID)) {
			for (long id : ids) {
				read.setLong(1, id);
				read.setLong(2, id + 1);
				try (ResultSet rows = read.executeQuery()) {
					while (rows.next()) {
						int context = rows.getInt(4);
						out.add(id, lookup.type[context], cells.producer(rows.getInt(2)), rows.getLong(6), rows.getLong(7), rows.getLong(3),
								lookup.cpu[context]);
					}
				}
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	private static final String BY_ID = "SELECT e.ID, e.CELL, e.COUNT, e.CONTEXT, e.IP, r.START_NS, r.END_NS FROM MT_EVENT e"
			+ " JOIN MT_RUN r ON r.ID = e.RUN WHERE e.ID >= ? AND e.ID < ? ORDER BY e.ID";

	/** Run of the event with the smallest id from {@code id} on, -1 if there is none. */
	private long runOf(int id) throws SQLException {
		try (PreparedStatement select = db.prepareStatement("SELECT RUN FROM MT_EVENT WHERE ID >= ? ORDER BY ID LIMIT 1")) {
			select.setInt(1, id);
			try (ResultSet row = select.executeQuery()) {
				return row.next() ? row.getLong(1) : -1;
			}
		}
	}

	private static final String FROM_RUNS = " FROM MT_RUN"
			+ " WHERE START_NS < ? AND START_NS >= ? AND END_NS > ? AND MAX_CELL >= ? AND MIN_CELL < ?";

	private void bind(PreparedStatement runs, AccessQuery query, CellMap.Range wantedCells) throws SQLException {
		runs.setLong(1, query.toNs());
		// no interval that begins earlier can reach into the window
		long earliest = query.fromNs() - longestNs;
		runs.setLong(2, earliest > query.fromNs() ? Long.MIN_VALUE : earliest);
		runs.setLong(3, query.fromNs());
		runs.setInt(4, wantedCells.from());
		runs.setInt(5, wantedCells.to());
	}

	/** About how many accesses are looked at for a query: the work that is told to a progress. */
	public long accessesToRead(AccessQuery query) throws SQLException, MemtraceException {
		CellMap.Range wantedCells = cells.range(query);
		try (PreparedStatement sum = db.prepareStatement("SELECT SUM(END_EVENT - FIRST_EVENT)" + FROM_RUNS)) {
			bind(sum, query, wantedCells);
			try (ResultSet row = sum.executeQuery()) {
				return row.next() ? Math.round(row.getLong(1) * accessesPerEvent) : 0;
			}
		}
	}

	private void rows(AccessQuery query, int fromId, int toId, RowVisitor visitor, Progress progress)
			throws SQLException, MemtraceException {
		if (query.fromNs() >= query.toNs() || query.producerFrom() >= query.producerTo() || fromId >= toId) {
			return;
		}
		CellMap.Range wantedCells = cells.range(query);
		if (wantedCells.from() >= wantedCells.to()) {
			return;
		}
		Runs runs = new Runs();
		double worked = 0;
		String wanted = "SELECT FIRST_EVENT, END_EVENT, START_NS, END_NS" + FROM_RUNS;
		boolean range = fromId > 0 || toId < Integer.MAX_VALUE;
		long firstRun = 0;
		long lastRun = Long.MAX_VALUE;
		if (range) {
			// runs are numbered as their events are; '+' keeps the database from taking its index of times
			wanted = wanted.replace("WHERE START_NS < ? AND START_NS >=", "WHERE +START_NS < ? AND +START_NS >=")
					+ " AND ID >= ? AND ID <= ?";
			firstRun = runOf(fromId);
			if (firstRun < 0) {
				return;
			}
			lastRun = runOf(toId);
			lastRun = lastRun < 0 ? Long.MAX_VALUE : lastRun;
		}
		try (PreparedStatement select = db.prepareStatement(wanted + " ORDER BY ID");
				PreparedStatement read = db.prepareStatement("SELECT ID, CELL, COUNT, CONTEXT, IP FROM MT_EVENT"
						+ " WHERE ID >= ? AND ID < ? AND CELL >= ? AND CELL < ? ORDER BY ID")) {
			bind(select, query, wantedCells);
			if (range) {
				select.setLong(6, firstRun);
				select.setLong(7, lastRun);
			}
			try (ResultSet found = select.executeQuery()) {
				boolean more = found.next();
				while (more) {
					runs.clear();
					do {
						runs.add(found.getLong(1), found.getLong(2), found.getLong(3), found.getLong(4));
						more = found.next();
					} while (more && runs.follows(found.getLong(1)));
					progress.check();
					read(read, query, wantedCells, runs, fromId, toId, visitor);
					double now = worked + (runs.end() - runs.first[0]) * accessesPerEvent;
					progress.worked((long) now - (long) worked);
					worked = now;
				}
			}
		}
	}

	private void read(PreparedStatement read, AccessQuery query, CellMap.Range range, Runs runs, int fromId, int toId,
			RowVisitor visitor) throws SQLException, MemtraceException {
		read.setLong(1, Math.max(fromId, runs.first[0]));
		read.setLong(2, Math.min(toId, runs.end()));
		read.setInt(3, range.from());
		read.setInt(4, range.to());
		int run = 0;
		try (ResultSet rows = read.executeQuery()) {
			while (rows.next()) {
				int producer = cells.producer(rows.getInt(2));
				if (!range.exact() && (producer < query.producerFrom() || producer >= query.producerTo())) {
					continue;
				}
				int id = rows.getInt(1);
				while (id >= runs.last[run]) {
					run++;
				}
				visitor.row(id, producer, rows.getLong(3), rows.getInt(4), rows.getInt(5), runs.startNs[run],
						runs.endNs[run]);
			}
		}
	}

	/** Consecutive runs. */
	private static final class Runs {
		private int count;
		private long[] first = new long[256];
		private long[] last = new long[256];
		private long[] startNs = new long[256];
		private long[] endNs = new long[256];

		void clear() {
			count = 0;
		}

		void add(long firstEvent, long endEvent, long start, long end) {
			if (count == first.length) {
				first = Arrays.copyOf(first, count * 2);
				last = Arrays.copyOf(last, count * 2);
				startNs = Arrays.copyOf(startNs, count * 2);
				endNs = Arrays.copyOf(endNs, count * 2);
			}
			first[count] = firstEvent;
			last[count] = endEvent;
			startNs[count] = start;
			endNs[count++] = end;
		}

		long end() {
			return last[count - 1];
		}

		boolean follows(long firstEvent) {
			return firstEvent == end() && end() - first[0] < RANGE;
		}
	}
}
