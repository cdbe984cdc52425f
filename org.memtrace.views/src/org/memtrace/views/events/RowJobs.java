// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.swt.widgets.Control;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.analysis.table.EventRows;
import org.memtrace.analysis.table.EventsPresenter;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.FileJob;
import org.memtrace.views.jobs.MonitorProgress;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Clip;

/** What is done with rows of a trace in the background: found, copied, written. Called by the display thread. */
final class RowJobs {
	/** Rows of a snapshot; all are exported by another action, which needs no memory for them. */
	static final int MOST_IN_SNAPSHOT = 1_000_000;

	private RowJobs() {
	}

	/** Where a row is. */
	interface Search {
		long find(EventRows rows, Progress progress) throws MemtraceException;
	}

	/**
	 * Looks for a row in the background.
	 *
	 * @param found gets its place, negative when there is none; called by the display thread
	 */
	static void find(String name, OpenTrace t, EventRows rows, Search search, Control area, LongConsumer found) {
		Job job = Job.create(name, monitor -> {
			long at = -1;
			try (OpenTrace.Lease lease = t.lease()) {
				at = search.find(rows, new MonitorProgress(monitor));
			} catch (CancelledException e) {
				return Status.CANCEL_STATUS;
			} catch (MemtraceException e) {
				ILog.of(RowJobs.class).warn(e.getMessage(), e);
			}
			long place = at;
			OnDisplay.later(area, () -> found.accept(place));
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	/** Copies rows as text, with the columns that are shown. */
	static void copy(OpenTrace t, EventRows rows, List<Long> numbers, List<EventColumn> shown, boolean ticks, Control area) {
		Job job = Job.create("Copy rows", monitor -> {
			String text;
			try (OpenTrace.Lease lease = t.lease()) {
				text = EventsPresenter.text(rows, numbers, shown, ticks);
			} catch (CancelledException e) {
				return Status.CANCEL_STATUS;
			} catch (MemtraceException e) {
				ILog.of(RowJobs.class).warn(e.getMessage(), e);
				return Status.OK_STATUS;
			}
			OnDisplay.later(area, () -> Clip.copy(area.getDisplay(), text));
			return Status.OK_STATUS;
		});
		job.schedule();
	}

	/** Writes all rows to a file; errors are told. */
	static Job write(OpenTrace t, EventRows rows, List<EventColumn> shown, Path file, Control area) {
		return FileJob.start("Rows of " + t.name(), file, (temporary, progress) -> {
			try (OpenTrace.Lease lease = t.lease(); BufferedWriter out = Files.newBufferedWriter(temporary)) {
				rows.toCsv(shown, out, progress);
			}
		}, error -> {
			if (error != null && !area.isDisposed()) {
				MessageDialog.openError(area.getShell(), "Export rows", error);
			}
		});
	}

	/** The first rows. */
	static String csv(OpenTrace t, EventRows rows, List<EventColumn> shown) {
		StringBuilder b = new StringBuilder();
		try (OpenTrace.Lease lease = t.lease()) {
			rows.toCsv(shown, b, MOST_IN_SNAPSHOT, Progress.NONE);
		} catch (MemtraceException | IOException e) {
			throw new java.io.UncheckedIOException(e instanceof IOException io ? io : new IOException(e.getMessage(), e));
		}
		return b.toString();
	}
}
