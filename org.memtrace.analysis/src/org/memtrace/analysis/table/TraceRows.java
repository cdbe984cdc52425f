// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.filter.FilterMask;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Makes the rows of a trace: accesses, or events of another tool. */
public final class TraceRows {
	private TraceRows() {
	}

	/**
	 * Rows of a trace, before any is read.
	 *
	 * @param accesses all accesses of the trace, which thresholds of filters are about; may be null without filters
	 * @param events the same for a trace without accesses
	 * @throws MemtraceException also when a text above a column is no filter
	 */
	public static EventRows of(TraceStore store, AccessTable accesses, EventTable events, EventRows.Query query, Progress progress)
			throws MemtraceException {
		return of(store, accesses, events, query, EventRows.MOST_SORTED, progress);
	}

	static EventRows of(TraceStore store, AccessTable accesses, EventTable events, EventRows.Query query, int mostSorted, Progress progress)
			throws MemtraceException {
		if (store.accessCount() == 0) {
			return new OtherRows(store, query, events, mostSorted, progress);
		}
		AccessMask mask = query.filters().isActive() ? FilterMask.of(query.filters(), accesses, store.structures(), progress)
				: null;
		return new AccessRows(store, accesses == null ? AccessTable.load(store, progress) : accesses, query, mask, mostSorted, progress);
	}
}
