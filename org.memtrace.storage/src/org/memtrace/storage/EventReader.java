// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;

import org.memtrace.model.AccessBatch;
import org.memtrace.model.AccessQuery;
import org.memtrace.model.AccessVisitor;
import org.memtrace.model.EventBatch;
import org.memtrace.model.EventVisitor;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Streams the compact event rows. First the runs that the query selects are found (there is one for up to 512 rows with one
 * interval), then their rows are read in ranges of ids, which are contiguous on disk.
 */
final class EventReader {
	private static final int BATCH = 8192;
	/** Rows that are read by one statement. */
	private static final int RANGE = 65_536;

	/** Small tables that rows refer to. */
	record Lookup(int[] type, int[] cpu, int[] thread, int[] cpuSet, int[] sharing, int[] node, int[] flags,
			boolean[] write, boolean[] continues, long[] address) {

		static Lookup read(Connection db) throws SQLException {
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
	private final long longestNs;
	private final double accessesPerEvent;

	EventReader(Connection db, Lookup lookup, long longestNs, long events, long accesses) {
		this.db = db;
		this.lookup = lookup;
		this.longestNs = longestNs;
		this.accessesPerEvent = events == 0 ? 0 : (double) accesses / events;
	}

	/** Gets each selected event row, and is asked whether to go on. */
	private interface RowVisitor {
		void row(int id, int producer, long count, int context, int ip, long startNs, long endNs)
				throws MemtraceException;
	}

	void accesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws SQLException, MemtraceException {
		AccessBatch out = new AccessBatch(BATCH);
		rows(query, (id, producer, count, context, ip, startNs, endNs) -> {
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
		}, progress);
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	void events(AccessQuery query, EventVisitor visitor, Progress progress) throws SQLException, MemtraceException {
		EventBatch out = new EventBatch(BATCH);
		rows(query, (id, producer, count, context, ip, startNs, endNs) -> {
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

	private void rows(AccessQuery query, RowVisitor visitor, Progress progress) throws SQLException, MemtraceException {
		if (query.fromNs() >= query.toNs() || query.producerFrom() >= query.producerTo()) {
			return;
		}
		Runs runs = new Runs();
		double worked = 0;
		try (PreparedStatement select = db.prepareStatement("SELECT FIRST_EVENT, END_EVENT, START_NS, END_NS FROM MT_RUN"
				+ " WHERE START_NS < ? AND START_NS >= ? AND END_NS > ? AND MAX_PRODUCER >= ? AND MIN_PRODUCER < ?"
				+ " ORDER BY ID");
				PreparedStatement read = db.prepareStatement("SELECT ID, PRODUCER, COUNT, CONTEXT, IP FROM MT_EVENT"
						+ " WHERE ID >= ? AND ID < ? AND PRODUCER >= ? AND PRODUCER < ? ORDER BY ID")) {
			select.setLong(1, query.toNs());
			// no interval that begins earlier can reach into the window
			long earliest = query.fromNs() - longestNs;
			select.setLong(2, earliest > query.fromNs() ? Long.MIN_VALUE : earliest);
			select.setLong(3, query.fromNs());
			select.setInt(4, query.producerFrom());
			select.setInt(5, query.producerTo());
			try (ResultSet found = select.executeQuery()) {
				boolean more = found.next();
				while (more) {
					runs.clear();
					do {
						runs.add(found.getLong(1), found.getLong(2), found.getLong(3), found.getLong(4));
						more = found.next();
					} while (more && runs.follows(found.getLong(1)));
					progress.check();
					read(read, query, runs, visitor);
					double now = worked + (runs.end() - runs.first[0]) * accessesPerEvent;
					progress.worked((long) now - (long) worked);
					worked = now;
				}
			}
		}
	}

	private static void read(PreparedStatement read, AccessQuery query, Runs runs, RowVisitor visitor)
			throws SQLException, MemtraceException {
		read.setLong(1, runs.first[0]);
		read.setLong(2, runs.end());
		read.setInt(3, query.producerFrom());
		read.setInt(4, query.producerTo());
		int run = 0;
		try (ResultSet rows = read.executeQuery()) {
			while (rows.next()) {
				int id = rows.getInt(1);
				while (id >= runs.last[run]) {
					run++;
				}
				visitor.row(id, rows.getInt(2), rows.getLong(3), rows.getInt(4), rows.getInt(5), runs.startNs[run],
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
