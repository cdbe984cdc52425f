// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.storage.dbms.BulkInsert;
import org.memtrace.storage.dbms.CopyRows;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.RowsChecksum;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.trace.SqlTraceWriter;

/** Writes events other than accesses into {@link OtherEventTables}: sets of parameters at once, events in order of time at the end. */
public final class OtherEventWriter implements AutoCloseable {
	private static final int MANY = 64;
	private static final int COLUMNS = 4;

	/** An SQL error on its way through interfaces that know none; {@link SqlTraceWriter} explains it. */
	public static final class Failure extends MemtraceException {
		private static final long serialVersionUID = 1;
		public final transient SQLException sql;

		Failure(SQLException e) {
			super(e.getMessage(), e);
			sql = e;
		}
	}

	private final Connection db;
	private final Dbms dbms;
	private final EventCollector collector;
	private final BulkInsert values;
	private final Map<String, Long> checksums = new TreeMap<>();
	/** First row of each set of parameters, from set 1; the one after the last is the next free row. */
	private int[] firstValue = { 0, 0 };

	public OtherEventWriter(Connection db, Dbms dbms, Path directory) throws SQLException {
		this.db = db;
		this.dbms = dbms;
		Sqlite.execute(db, dbms.schema(OtherEventTables.TABLES));
		values = BulkInsert.summed(db, "MT_OTHER_VALUE", 3);
		collector = new EventCollector(directory, this::parameterSet);
	}

	public void types(List<EventType> types) throws MemtraceException {
		collector.types(types);
	}

	public int parameters(int eventType, Map<String, String> texts) throws MemtraceException {
		return collector.parameters(eventType, texts);
	}

	private void parameterSet(int number, int[] types, String[] texts) throws MemtraceException {
		if (number + 1 == firstValue.length) {
			firstValue = Arrays.copyOf(firstValue, 2 * firstValue.length);
		}
		int row = firstValue[number];
		try {
			for (int i = 0; i < types.length; i++) {
				values.add(row++, types[i], texts[i]);
			}
		} catch (SQLException e) {
			throw new Failure(e);
		}
		firstValue[number + 1] = row;
	}

	public void events(EventBatch batch) throws MemtraceException {
		collector.events(batch);
	}

	public long count() {
		return collector.count();
	}

	public long firstNs() {
		return collector.firstNs();
	}

	public long lastNs() {
		return collector.lastNs();
	}

	/** Parameters that an event has at most. */
	public int mostParameters() {
		return collector.mostParameters();
	}

	/**
	 * Writes everything but the views.
	 *
	 * @param idOf producer by the number that events have for it, null when it is the same
	 * @param producers number of producers of the tree
	 * @param firstId id of the first event
	 * @param firstType id of the first event type
	 * @param firstParameterType id of the first parameter type
	 */
	public void write(int[] idOf, int producers, long firstId, int firstType, int firstParameterType, Progress progress)
			throws SQLException, MemtraceException {
		values.finish();
		checksums.put("MT_OTHER_VALUE", values.checksum());
		int[] producer = writeContexts(idOf, producers, firstType);
		progress.begin("Writing events", collector.count());
		try (Rows rows = new Rows(producer)) {
			collector.finish(firstId, rows, progress);
			rows.finish();
		} catch (Failure e) {
			throw e.sql;
		}
		writeTypes(firstType, firstParameterType);
		Sqlite.execute(db, dbms.schema(OtherEventTables.PAGE_INDEX));
	}

	/** Checksums of the tables, after {@link #write}. Those of the events themselves are in one of them. */
	public Map<String, Long> checksums() {
		return checksums;
	}

	/** @return producers by context */
	private int[] writeContexts(int[] idOf, int producers, int firstType) throws SQLException, MemtraceException {
		int[] producer = new int[collector.contextCount()];
		try (BulkInsert insert = BulkInsert.summed(db, OtherEventTables.CONTEXT, 6)) {
			for (int i = 0; i < producer.length; i++) {
				EventCollector.Context c = collector.context(i, idOf, producers);
				producer[i] = c.producer();
				insert.add(i, firstType + c.type(), c.category().ordinal(), c.producer(), c.cpu(), c.value());
			}
			insert.finish();
			checksums.put(OtherEventTables.CONTEXT, insert.checksum());
		}
		return producer;
	}

	private void writeTypes(int firstType, int firstParameterType) throws SQLException {
		try (BulkInsert types = new BulkInsert(db, "EVENT_TYPE", 3);
				BulkInsert parameterTypes = new BulkInsert(db, "EVENT_PARAM_TYPE", 4)) {
			for (EventType type : collector.types()) {
				types.add(firstType + type.id(), type.category().ordinal(), type.name());
			}
			types.finish();
			int number = firstParameterType;
			for (EventCollector.ParameterType type : collector.parameterTypes()) {
				parameterTypes.add(number++, firstType + type.eventType(), type.name(), type.whole() ? "BIGINT" : "STRING");
			}
			parameterTypes.finish();
		}
	}

	/** Inserts events, their spans and which parameters they have; starting a statement costs as much as inserting a row. */
	private final class Rows implements EventCollector.Receiver, AutoCloseable {
		private final int[] producer;
		/** Null where rows are inserted. */
		private final CopyRows copy = CopyRows.of(db, OtherEventTables.EVENT);
		private final PreparedStatement one = copy != null ? null : db.prepareStatement(sql(1));
		private final PreparedStatement many = copy != null ? null : db.prepareStatement(sql(MANY));
		private final BulkInsert spans = BulkInsert.summed(db, OtherEventTables.SPAN, 7);
		private final BulkInsert checks = BulkInsert.summed(db, OtherEventTables.CHECK, 2);
		private final RowsChecksum span = new RowsChecksum();
		private final BulkInsert parameters = BulkInsert.summed(db, "MT_OTHER_PARAM", 3);
		private final long[] pending = new long[MANY * (COLUMNS - 1)];
		private final double[] pendingValue = new double[MANY];
		private int rows;
		private long firstPending;
		private long spanFirst;
		private long spanEnd;
		private long spanStart;
		private long spanLatest;
		private int minProducer;
		private int maxProducer;
		private boolean open;

		Rows(int[] producer) throws SQLException {
			this.producer = producer;
		}

		/** Parameter 1 is the first id. */
		private static String sql(int rows) {
			StringBuilder sql = new StringBuilder("INSERT INTO " + OtherEventTables.EVENT + " VALUES");
			for (int row = 0; row < rows; row++) {
				sql.append(row == 0 ? "(?1" : ",(?1+" + row);
				for (int column = 0; column < COLUMNS; column++) {
					sql.append(",?").append(2 + row * COLUMNS + column);
				}
				sql.append(')');
			}
			return sql.toString();
		}

		@Override
		public void event(long id, long start, long end, int context, int set, double value) throws MemtraceException {
			try {
				if (!open || id - spanFirst >= OtherEventTables.SPAN_EVENTS) {
					endSpan();
					open = true;
					spanFirst = id;
					spanStart = start;
					spanLatest = end;
					minProducer = producer[context];
					maxProducer = minProducer;
				}
				spanEnd = id + 1;
				spanLatest = Math.max(spanLatest, end);
				minProducer = Math.min(minProducer, producer[context]);
				maxProducer = Math.max(maxProducer, producer[context]);
				if (rows == 0) {
					firstPending = id;
				}
				int at = rows * (COLUMNS - 1);
				pending[at] = context;
				pending[at + 1] = start - spanStart;
				pending[at + 2] = end - start;
				pendingValue[rows] = value;
				OtherEventTables.add(span, id, context, start - spanStart, end - start, value);
				if (copy != null) {
					copy.add(id);
					copy.add(context);
					copy.add(start - spanStart);
					copy.add(end - start);
					copy.add(value);
					copy.end();
				} else if (++rows == MANY) {
					insert(many, 0, MANY);
					rows = 0;
				}
				if (set > 0) {
					parameters.add(id, firstValue[set], firstValue[set + 1]);
				}
			} catch (SQLException e) {
				throw new Failure(e);
			}
		}

		private void insert(PreparedStatement to, int from, int count) throws SQLException {
			to.setLong(1, firstPending + from);
			int parameter = 2;
			for (int row = from; row < from + count; row++) {
				for (int column = 0; column < COLUMNS - 1; column++) {
					long v = pending[row * (COLUMNS - 1) + column];
					if (v == (int) v) {
						to.setInt(parameter++, (int) v);
					} else {
						to.setLong(parameter++, v);
					}
				}
				double v = pendingValue[row];
				if (v == (int) v) {
					to.setInt(parameter++, (int) v);
				} else {
					to.setDouble(parameter++, v);
				}
			}
			to.executeUpdate();
		}

		private void endSpan() throws SQLException {
			if (open) {
				spans.add(spanFirst, spanEnd, spanStart, spanLatest, spanFirst / Schema.EVENTS_PER_PAGE, minProducer, maxProducer);
				checks.add(spanFirst, span.get());
				span.reset();
			}
		}

		void finish() throws SQLException {
			if (copy != null) {
				copy.flush();
			}
			for (int row = 0; row < rows; row++) {
				insert(one, row, 1);
			}
			endSpan();
			spans.finish();
			checks.finish();
			parameters.finish();
			checksums.put(OtherEventTables.SPAN, spans.checksum());
			checksums.put(OtherEventTables.CHECK, checks.checksum());
			checksums.put("MT_OTHER_PARAM", parameters.checksum());
		}

		@Override
		public void close() throws SQLException {
			if (copy == null) {
				one.close();
				many.close();
			}
			spans.close();
			checks.close();
			parameters.close();
		}
	}

	@Override
	public void close() {
		collector.close();
	}
}
