// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.util.function.Consumer;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.ISchedulingRule;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Display;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;
import org.memtrace.views.jobs.OnDisplay;

/**
 * Keeps with a trace what the user attached to it, in the background. Changes are stored in the order in which they were made, also
 * when the trace is closed at once; whoever reads such things waits for them with {@link #await}.
 */
public final class NoteJob extends Job {
	/** Stores a change. */
	public interface Change {
		void store(TraceStore store) throws MemtraceException;
	}

	private static final ISchedulingRule IN_ORDER = new ISchedulingRule() {
		@Override
		public boolean contains(ISchedulingRule rule) {
			return rule == this;
		}

		@Override
		public boolean isConflicting(ISchedulingRule rule) {
			return rule == this;
		}
	};

	private final Leased.StoreLease lease;
	private final Change change;
	private final Consumer<String> failed;
	private final Display display;

	private NoteJob(String name, Leased.StoreLease lease, Change change, Consumer<String> failed) {
		super(name);
		this.lease = lease;
		this.change = change;
		this.failed = failed;
		display = Display.getCurrent();
		setSystem(true);
		setRule(IN_ORDER);
	}

	/**
	 * Stores a change of a trace; does nothing when the trace is closed already. Display thread.
	 *
	 * @param failed gets on the display thread a sentence that says why it was not stored
	 */
	public static void keep(String name, Leased trace, Change change, Consumer<String> failed) {
		Leased.StoreLease lease;
		try {
			lease = trace.lease(); // now: the trace may be closed before the job begins
		} catch (CancelledException e) {
			return;
		}
		new NoteJob(name, lease, change, failed).schedule();
	}

	/** Waits until all changes that were made before are stored. */
	public static void await() throws CancelledException {
		try {
			Job.getJobManager().join(NoteJob.class, null);
		} catch (InterruptedException e) {
			throw new CancelledException();
		}
	}

	@Override
	public boolean belongsTo(Object family) {
		return family == NoteJob.class;
	}

	@Override
	protected IStatus run(IProgressMonitor monitor) {
		try (lease) {
			change.store(lease.store());
		} catch (MemtraceException e) {
			ILog.of(NoteJob.class).warn(e.getMessage(), e);
			OnDisplay.later(display, () -> failed.accept(e.getMessage()));
		}
		return Status.OK_STATUS;
	}
}
