// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.RowsChecksum;
import org.memtrace.storage.dbms.Sqlite;

/**
 * Streams events other than accesses from {@link OtherEventTables}. Spans (512 events that follow each other, with the window and the
 * producers that they are about) tell which rows are looked at; these are read in ranges of ids. A span is always read whole the first
 * time, and compared with its checksum.
 */
public final class OtherEventReader {
	private static final int BATCH = 8192;
	private static final String SELECT = "SELECT ID, CONTEXT, OFFSET_NS, LENGTH_NS, VALUE FROM " + OtherEventTables.EVENT
			+ " WHERE ID >= ? AND ID < ? ORDER BY ID";

	/**
	 * The contexts, by id, and the spans.
	 *
	 * @param check checksums by span
	 * @param checked spans that were compared with them; its monitor guards it
	 */
	public record Lookup(Database file, int[] type, int[] producer, int[] cpu, int[] value, boolean[] hasOwnValue, long[] spanFirst,
			long[] spanEnd,
			long[] spanStart, long[] spanLatest, int[] minProducer, int[] maxProducer, long[] check, BitSet checked) {

		/** @param producers of the tree */
		public static Lookup read(Database file, Connection db, int producers) throws SQLException, MemtraceException {
			int n = (int) Sqlite.number(db, -1, "SELECT MAX(ID) FROM MT_OTHER_CONTEXT") + 1;
			int[][] columns = new int[4][n];
			boolean[] own = new boolean[n];
			try (Statement statement = db.createStatement(); ResultSet rows = statement
					.executeQuery("SELECT ID, EVENT_TYPE_ID, EVENT_PRODUCER_ID, CPU, VALUE, CATEGORY FROM MT_OTHER_CONTEXT")) {
				while (rows.next()) {
					int id = rows.getInt(1);
					for (int i = 0; i < columns.length; i++) {
						columns[i][id] = rows.getInt(i + 2);
					}
					own[id] = rows.getInt(6) != EventCategory.LINK.ordinal();
					if (columns[1][id] < 0 || columns[1][id] >= producers) {
						throw new StoreException(file + " is damaged: its events belong to event producer " + columns[1][id] + " of "
								+ producers);
					}
				}
			}
			int spans = (int) Sqlite.number(db, 0, "SELECT COUNT(*) FROM MT_OTHER_SPAN");
			long[][] span = new long[4][spans];
			int[][] range = new int[2][spans];
			try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(
					"SELECT ID, END_EVENT, START_NS, END_NS, MIN_PRODUCER, MAX_PRODUCER FROM MT_OTHER_SPAN ORDER BY ID")) {
				for (int i = 0; i < spans && rows.next(); i++) {
					for (int column = 0; column < span.length; column++) {
						span[column][i] = rows.getLong(column + 1);
					}
					range[0][i] = rows.getInt(5);
					range[1][i] = rows.getInt(6);
				}
			}
			long[] check = new long[spans];
			try (Statement statement = db.createStatement();
					ResultSet rows = statement.executeQuery("SELECT CRC32C FROM " + OtherEventTables.CHECK + " ORDER BY ID")) {
				for (int i = 0; i < spans && rows.next(); i++) {
					check[i] = rows.getLong(1);
				}
			}
			return new Lookup(file, columns[0], columns[1], columns[2], columns[3], own, span[0], span[1], span[2], span[3], range[0], range[1],
					check, new BitSet(spans));
		}

		private boolean selects(int span, AccessQuery query) {
			return spanStart[span] < query.toNs() && spanLatest[span] >= query.fromNs() && maxProducer[span] >= query.producerFrom()
					&& minProducer[span] < query.producerTo();
		}

		/** Index of the span that has an event, or that would. */
		private int spanOf(long id) {
			int at = Arrays.binarySearch(spanFirst, id);
			return at >= 0 ? at : Math.max(0, -at - 2);
		}
	}

	private final Connection db;
	private final Lookup lookup;

	public OtherEventReader(Connection db, Lookup lookup) {
		this.db = db;
		this.lookup = lookup;
	}

	/** Events that are looked at for a query: the work that is told to a progress. */
	public static long toRead(Lookup lookup, AccessQuery query) {
		long sum = 0;
		for (int s = 0; s < lookup.spanFirst.length; s++) {
			sum += lookup.selects(s, query) ? lookup.spanEnd[s] - lookup.spanFirst[s] : 0;
		}
		return sum;
	}

	private boolean isWhole(int span, long fromId, long toId) {
		return lookup.spanFirst[span] >= fromId && lookup.spanEnd[span] <= toId;
	}

	/** Compares the events of a span with its checksum, once. */
	private void check(int span) throws SQLException, StoreException {
		synchronized (lookup.checked) {
			if (lookup.checked.get(span)) {
				return;
			}
		}
		RowsChecksum sum = new RowsChecksum();
		try (PreparedStatement read = db.prepareStatement(SELECT)) {
			read.setLong(1, lookup.spanFirst[span]);
			read.setLong(2, lookup.spanEnd[span]);
			try (ResultSet rows = read.executeQuery()) {
				while (rows.next()) {
					OtherEventTables.add(sum, rows.getLong(1), rows.getLong(2), rows.getLong(3), rows.getLong(4), rows.getDouble(5));
				}
			}
		}
		check(span, sum);
	}

	private void check(int span, RowsChecksum sum) throws StoreException {
		if (sum.get() != lookup.check[span]) {
			throw new StoreException(lookup.file + " is damaged: its events " + lookup.spanFirst[span] + " to " + (lookup.spanEnd[span] - 1)
					+ " are not what was written");
		}
		synchronized (lookup.checked) {
			lookup.checked.set(span);
		}
	}

	/** Compares all events with their checksums. */
	public void verify(Consumer<String> problems, Progress progress) throws SQLException, MemtraceException {
		for (int s = 0; s < lookup.spanFirst.length; s++) {
			progress.check();
			try {
				check(s);
			} catch (StoreException e) {
				problems.accept(e.getMessage());
			}
			progress.worked(lookup.spanEnd[s] - lookup.spanFirst[s]);
		}
	}

	/** Events with ids in {@code [fromId, toId)}; ids are in order of start. */
	public void events(AccessQuery query, long fromId, long toId, EventVisitor visitor, Progress progress)
			throws SQLException, MemtraceException {
		if (query.fromNs() >= query.toNs() || query.producerFrom() >= query.producerTo() || fromId >= toId) {
			return;
		}
		EventBatch out = new EventBatch(BATCH);
		int spans = lookup.spanFirst.length;
		try (PreparedStatement read = db.prepareStatement(SELECT)) {
			for (int s = lookup.spanOf(fromId); s < spans && lookup.spanFirst[s] < toId;) {
				if (!lookup.selects(s, query)) {
					s++;
					continue;
				}
				int first = s;
				while (s < spans && s - first < 128 && isWhole(s, fromId, toId) && lookup.selects(s, query)) {
					s++;
				}
				if (s == first) {
					check(s++); // the others while they are read
				}
				progress.check();
				range(read, first, s, Math.max(fromId, lookup.spanFirst[first]), Math.min(toId, lookup.spanEnd[s - 1]), query, out, visitor);
				progress.worked(lookup.spanEnd[s - 1] - lookup.spanFirst[first]);
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	private void range(PreparedStatement read, int firstSpan, int endSpan, long from, long to, AccessQuery query, EventBatch out,
			EventVisitor visitor) throws SQLException, MemtraceException {
		read.setLong(1, from);
		read.setLong(2, to);
		int span = firstSpan;
		RowsChecksum sum = lookup.spanFirst[firstSpan] == from && lookup.spanEnd[endSpan - 1] == to ? new RowsChecksum()
				: null;
		try (ResultSet rows = read.executeQuery()) {
			while (rows.next()) {
				long id = rows.getLong(1);
				int context = rows.getInt(2);
				while (id >= lookup.spanEnd[span]) {
					if (span + 1 == endSpan) {
						throw new StoreException(lookup.file + " is damaged: its event " + id + " is in no span");
					}
					end(span++, sum);
				}
				long offset = rows.getLong(3);
				long length = rows.getLong(4);
				double own = rows.getDouble(5);
				if (sum != null) {
					OtherEventTables.add(sum, id, context, offset, length, own);
				}
				if (context < 0 || context >= lookup.type.length) {
					throw new StoreException(lookup.file + " is damaged: its event " + id + " has the context " + context + " of "
							+ lookup.type.length);
				}
				long start = lookup.spanStart[span] + offset;
				long end = start + length;
				int producer = lookup.producer[context];
				if (producer < query.producerFrom() || producer >= query.producerTo() || start >= query.toNs()
						|| start < query.fromNs() && end <= query.fromNs()) {
					continue;
				}
				if (out.isFull()) {
					visitor.visit(out);
					out.count = 0;
				}
				double value = lookup.value[context] + (lookup.hasOwnValue[context] ? own : 0);
				out.add(id, lookup.type[context], producer, start, end, value, lookup.cpu[context]);
			}
		}
		for (; span < endSpan; span++) {
			end(span, sum);
		}
	}

	/** @param sum of the span that was read whole, null when spans are not */
	private void end(int span, RowsChecksum sum) throws StoreException {
		if (sum != null) {
			check(span, sum);
			sum.reset();
		}
	}

	/** Events by id, in this order. */
	public void events(long[] ids, EventVisitor visitor) throws SQLException, MemtraceException {
		EventBatch out = new EventBatch(Math.max(1, ids.length));
		try (PreparedStatement read = db.prepareStatement(SELECT)) {
			for (long id : ids) {
				if (lookup.spanFirst.length > 0) {
					int span = lookup.spanOf(id);
					check(span);
					range(read, span, span + 1, id, id + 1, AccessQuery.ALL, out, visitor);
				}
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}
}
