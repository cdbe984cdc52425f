// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.storage.dbms.NumberInsert;
import org.memtrace.storage.dbms.Schema;

/** Writes accesses, which come in order of their start, as the rows behind FrameSoc's EVENT and EVENT_PARAM. */
public final class EventWriter implements AutoCloseable {
	/** Events in a run at most. */
	private static final int RUN_EVENTS = 512;

	private final Connection db;
	private final NumberInsert insertEvent;
	private final NumberInsert insertRun;
	private final ContextTable contexts = new ContextTable();
	private long events;
	private int runs;
	private long runStartNs;
	private long runEndNs;
	private long runFirst;
	private int runMinCell;
	private int runMaxCell;
	private boolean runOpen;

	public EventWriter(Connection db) throws SQLException {
		this.db = db;
		insertEvent = new NumberInsert(db, "MT_EVENT", 4);
		insertRun = new NumberInsert(db, "MT_RUN", 7);
	}

	public void add(AccessBatch batch) throws SQLException, StoreException {
		for (int i = 0; i < batch.count; i++) {
			access(batch, i);
		}
	}

	/** Adds one row. */
	void access(AccessBatch batch, int i) throws SQLException, StoreException {
		long start = batch.startNs[i];
		long end = batch.endNs[i];
		int cell = batch.producer[i];
		if (!runOpen || start != runStartNs || end != runEndNs || events - runFirst >= RUN_EVENTS - 1) {
			endRun();
			runOpen = true;
			runStartNs = start;
			runEndNs = end;
			runFirst = events;
			runMinCell = cell;
			runMaxCell = cell;
		}
		runMinCell = Math.min(runMinCell, cell);
		runMaxCell = Math.max(runMaxCell, cell);
		int direction = 0;
		if (batch.reads[i] > 0) {
			event(cell, batch.reads[i], context(batch, i, 0));
			direction = ContextTable.CONTINUES;
		}
		if (batch.writes[i] > 0) {
			event(cell, batch.writes[i], context(batch, i, direction | ContextTable.WRITE));
		}
	}

	private int context(AccessBatch batch, int i, int direction) {
		return contexts.number(batch.thread[i], batch.cpuSet[i], batch.sharing[i], batch.node[i], batch.flags[i], direction);
	}

	private void event(int cell, long count, int context) throws SQLException, StoreException {
		if (events > Integer.MAX_VALUE / 2 - 1) {
			throw new StoreException("a trace database holds at most " + Integer.MAX_VALUE / 2
					+ " events of FrameSoc; import without them (--events no)");
		}
		events++;
		insertEvent.add(cell, count, context, runs);
	}

	private void endRun() throws SQLException {
		if (!runOpen) {
			return;
		}
		runOpen = false;
		insertRun.add(new long[] { runFirst, events, runStartNs, runEndNs, runFirst / Schema.EVENTS_PER_PAGE, runMinCell, runMaxCell });
		runs++;
	}

	/** Writes what is left; returns the number of events. */
	public long finish(String[] cpuMasks, int[] firstCpus, List<ThreadInfo> threads, boolean typesByThread) throws SQLException {
		endRun();
		insertEvent.flush();
		insertRun.flush();
		contexts.write(db, cpuMasks, firstCpus, threads.stream().mapToLong(ThreadInfo::taskId).toArray(), typesByThread);
		return events;
	}

	/** Checksums of the tables, after the end. */
	public Map<String, Long> checksums() {
		return Map.of("MT_EVENT", insertEvent.checksum(), "MT_RUN", insertRun.checksum());
	}

	@Override
	public void close() throws SQLException {
		insertEvent.close();
		insertRun.close();
	}
}
