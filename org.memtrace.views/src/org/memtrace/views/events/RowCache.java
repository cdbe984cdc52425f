// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.table.EventRows;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenTrace;

/**
 * The rows near those that are seen, fetched in the background by blocks; the ones asked for last come first, and those that
 * have scrolled by meanwhile are not fetched. Display thread, except the job.
 */
final class RowCache {
	private static final int MOST_BLOCKS = 64;
	/** Blocks that can be waited for: more are not seen at once. */
	private static final int MOST_WAITING = 4;

	private final OpenTrace trace;
	private final EventRows rows;
	private final Display display;
	private final Runnable arrived;
	private final Map<Long, List<EventRows.Row>> blocks = new LinkedHashMap<>(16, 0.75f, true) {
		@Override
		protected boolean removeEldestEntry(Map.Entry<Long, List<EventRows.Row>> eldest) {
			return size() > MOST_BLOCKS;
		}
	};
	private final Deque<Long> waiting = new ArrayDeque<>();
	private long fetching = -1;
	private boolean closed;
	private String error = "";

	/** @param arrived called after rows have come, or an error */
	RowCache(OpenTrace trace, EventRows rows, Display display, Runnable arrived) {
		this.trace = trace;
		this.rows = rows;
		this.display = display;
		this.arrived = arrived;
	}

	EventRows rows() {
		return rows;
	}

	/** A row, or null until it has been fetched. */
	EventRows.Row row(long index) {
		long block = index / EventRows.BLOCK;
		List<EventRows.Row> found = blocks.get(block);
		int in = (int) (index % EventRows.BLOCK);
		if (found != null && in < found.size()) {
			return found.get(in);
		}
		if (block != fetching && !waiting.contains(block) && !closed && error.isEmpty()) {
			waiting.addFirst(block);
			if (waiting.size() > MOST_WAITING) {
				waiting.removeLast();
			}
			fetchNext();
		}
		return null;
	}

	/** One sentence when rows could not be fetched, else empty. */
	String error() {
		return error;
	}

	boolean isBusy() {
		return fetching >= 0;
	}

	/** Nothing is wanted any more. */
	void close() {
		closed = true;
		waiting.clear();
	}

	private void fetchNext() {
		if (fetching >= 0 || waiting.isEmpty() || closed) {
			return;
		}
		fetching = waiting.removeFirst();
		new Fetch(fetching).schedule();
	}

	private final class Fetch extends Job {
		private final long block;

		Fetch(long block) {
			super("Rows");
			this.block = block;
			setSystem(true);
			setPriority(INTERACTIVE);
		}

		@Override
		protected IStatus run(IProgressMonitor monitor) {
			List<EventRows.Row> result = null;
			String problem = "";
			try (OpenTrace.Lease lease = trace.lease()) {
				result = rows.block(block);
			} catch (CancelledException e) {
				// the trace was closed
			} catch (MemtraceException e) {
				problem = e.getMessage();
				ILog.of(RowCache.class).warn(problem, e);
			} catch (RuntimeException e) {
				problem = "Reading rows failed: " + e;
				ILog.of(RowCache.class).error(problem, e);
			}
			List<EventRows.Row> found = result;
			String failed = problem;
			OnDisplay.later(display, () -> ended(found, failed));
			return Status.OK_STATUS;
		}

		private void ended(List<EventRows.Row> found, String failed) {
			fetching = -1;
			if (closed) {
				return;
			}
			error = failed;
			if (found != null) {
				blocks.put(block, found);
			}
			arrived.run();
			fetchNext();
		}

		@Override
		public boolean belongsTo(Object family) {
			return family == LatestResult.class;
		}
	}
}
