// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.IJobChangeEvent;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.core.runtime.jobs.JobChangeAdapter;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Widget;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.NoAnswerException;
import org.memtrace.model.Progress;

/**
 * The five steps by which every view computes: (1) a new input makes the running computation stale, (2) the result is
 * computed by a job, (3) handed to the display thread, (4) where it is dropped if the input is no longer current or
 * the widget is gone, (5) and shown. Subclasses give {@link #compute} and {@link #show}; nothing else in the views
 * starts a job for a result that is shown.
 *
 * @param <I> input, immutable
 * @param <R> result, immutable
 */
public abstract class LatestResult<I, R> {
	/** What happens to a running computation when a newer input comes. */
	public enum Policy {
		/** It is cancelled, only the result for the newest input is shown: for long computations. */
		ONLY_NEWEST,
		/**
		 * It may end, and its result is shown unless a newer one already is; inputs in between are skipped: for short
		 * computations that follow the mouse, which would otherwise show nothing until the mouse rests.
		 */
		KEEP_UP
	}

	/** What goes first; the computations of all views share the processors. */
	public enum Priority {
		/** A person looks at the result and waits for it. */
		URGENT,
		/** Begins at once. */
		NORMAL,
		/** Begins when nothing urgent is running or being shown. */
		CAN_WAIT
	}

	/** Urgent computations that run or whose result is being shown, and what waits for their end. Written by the display thread only. */
	private static volatile int urgent;
	private static final List<LatestResult<?, ?>.Run> held = new ArrayList<>();

	private final String name;
	private final BooleanSupplier alive;
	private final Display display;
	private final Policy policy;
	private final Priority priority;
	/** All below: display thread only. */
	private long submitted;
	private long shown;
	private Run running;
	private I waiting;
	private boolean hasWaiting;

	/**
	 * @param name what is done, for a person
	 * @param widget results are dropped when it is disposed
	 */
	protected LatestResult(String name, Widget widget, Policy policy) {
		this(name, widget, policy, Priority.NORMAL);
	}

	/** As the constructor above, with a priority of its jobs. */
	protected LatestResult(String name, Widget widget, Policy policy, Priority priority) {
		this(name, widget.getDisplay(), () -> !widget.isDisposed(), policy, priority);
	}

	/** @param alive whether results are still wanted; asked on the display thread */
	protected LatestResult(String name, Display display, BooleanSupplier alive, Policy policy) {
		this(name, display, alive, policy, Priority.NORMAL);
	}

	/** As the constructor above, with a priority of its jobs. */
	protected LatestResult(String name, Display display, BooleanSupplier alive, Policy policy, Priority priority) {
		this.name = name;
		this.display = display;
		this.alive = alive;
		this.policy = policy;
		this.priority = priority;
	}

	/** Computes the result; on a job thread. {@code progress} is cancelled when the result is no longer wanted. */
	protected abstract R compute(I input, Progress progress) throws MemtraceException;

	/** Shows a result; on the display thread, the widget is alive, the input is current. */
	protected abstract void show(I input, R result);

	/** The computation failed; {@code message} is one sentence. On the display thread. */
	protected void failed(I input, String message) {
	}

	/** A step of the running computation; {@code fraction} is -1 when not known. On the display thread, at most 10/s. */
	protected void progress(String step, double fraction) {
	}

	/** The state of {@link #isBusy} changed. On the display thread. */
	protected void busy(boolean busy) {
	}

	/** A result that will not be shown, for example to close it. On the display thread. */
	protected void dropped(R result) {
	}

	/** Whether a person waits for a result in any view. On any thread. */
	public static boolean isAnyUrgent() {
		return urgent > 0;
	}

	/** Step 1. On the display thread. */
	public final void submit(I input) {
		submitted++;
		if (running == null) {
			start(input);
			return;
		}
		waiting = input;
		hasWaiting = true;
		if (policy == Policy.ONLY_NEWEST) {
			running.cancelled.set(true);
		}
	}

	/** Whatever is running or waiting is no longer wanted. On the display thread. */
	public final void cancel() {
		submitted++;
		shown = submitted;
		waiting = null;
		hasWaiting = false;
		if (running != null) {
			running.cancelled.set(true);
		}
	}

	/** Whether something is computed or waits for it. On the display thread. */
	public final boolean isBusy() {
		return running != null;
	}

	private void start(I input) {
		boolean wasIdle = running == null;
		schedule(input);
		if (wasIdle) {
			busy(true);
		}
	}

	private void schedule(I input) {
		running = new Run(input, submitted);
		if (priority == Priority.CAN_WAIT) {
			held.add(running);
			// not at once: the same event may start something urgent in a view that is told of it later
			OnDisplay.later(display, LatestResult::release);
		} else {
			urgent += priority == Priority.URGENT ? 1 : 0;
			running.schedule();
		}
	}

	/** Starts what waits unless something urgent is there. */
	private static void release() {
		if (urgent == 0) {
			List<LatestResult<?, ?>.Run> ready = List.copyOf(held);
			held.clear();
			ready.forEach(Job::schedule);
		}
	}

	/** Steps 3 to 5. */
	private void ended(Run run, R result, String error) {
		OnDisplay.later(display, () -> {
			try {
				finish(run, result, error);
			} finally {
				if (priority == Priority.URGENT) {
					urgent--;
					release();
				}
			}
		});
	}

	private void finish(Run run, R result, String error) {
		running = null;
		boolean wanted = alive.getAsBoolean();
		boolean current = policy == Policy.ONLY_NEWEST ? run.number == submitted : run.number > shown;
		if (wanted && hasWaiting) {
			I next = waiting;
			waiting = null;
			hasWaiting = false;
			schedule(next);
		}
		if (!wanted || !current || run.cancelled.get()) {
			if (result != null) {
				dropped(result);
			}
		} else if (error != null) {
			shown = run.number;
			failed(run.input, error);
		} else if (result != null) {
			shown = run.number;
			show(run.input, result);
		}
		if (wanted && running == null) {
			busy(false);
		}
	}

	/** Step 2. */
	private final class Run extends Job implements Progress {
		private static final long REPORT_EVERY_NS = 100_000_000L;

		private final I input;
		private final long number;
		private final AtomicBoolean cancelled = new AtomicBoolean();
		private IProgressMonitor monitor;
		private volatile String step = "";
		private volatile long total;
		private final AtomicLong done = new AtomicLong();
		private volatile long reportedNs;
		private volatile boolean begun;

		Run(I input, long number) {
			super(LatestResult.this.name);
			this.input = input;
			this.number = number;
			setSystem(policy == Policy.KEEP_UP);
			setPriority(policy == Policy.KEEP_UP ? Job.INTERACTIVE : Job.SHORT);
			addJobChangeListener(new JobChangeAdapter() {
				@Override
				public void done(IJobChangeEvent event) {
					if (!begun) {
						ended(Run.this, null, null); // somebody cancelled the job before it ran
					}
				}
			});
		}

		@Override
		protected IStatus run(IProgressMonitor m) {
			begun = true;
			monitor = m;
			R result = null;
			String error = null;
			try {
				check();
				result = compute(input, this);
			} catch (CancelledException e) {
				// not an error: somebody asked for it
			} catch (NoAnswerException e) {
				error = e.getMessage();
			} catch (MemtraceException e) {
				error = e.getMessage();
				ILog.of(LatestResult.class).warn(name + ": " + error, e);
			} catch (RuntimeException | OutOfMemoryError e) {
				error = e instanceof OutOfMemoryError ? name + ": not enough memory (raise -Xmx in MEMTRACE_VMARGS)"
						: name + " failed: " + e;
				ILog.of(LatestResult.class).error(error, e);
			} finally {
				ended(this, result, error);
			}
			return Status.OK_STATUS;
		}

		@Override
		public boolean belongsTo(Object family) {
			return family == LatestResult.class || family == LatestResult.this;
		}

		@Override
		protected void canceling() {
			cancelled.set(true);
		}

		@Override
		public void begin(String stepName, long units) {
			step = stepName;
			total = units;
			done.set(0);
			monitor.subTask(stepName);
			report();
		}

		@Override
		public void worked(long units) {
			done.addAndGet(units);
			report();
		}

		@Override
		public boolean isCancelled() {
			return cancelled.get() || monitor.isCanceled();
		}

		private void report() {
			long now = System.nanoTime();
			if (now - reportedNs < REPORT_EVERY_NS) {
				return;
			}
			reportedNs = now;
			String text = step;
			double fraction = total > 0 ? Math.min(1, (double) done.get() / total) : -1;
			OnDisplay.later(display, () -> {
				if (running == this && alive.getAsBoolean()) {
					LatestResult.this.progress(text, fraction);
				}
			});
		}
	}
}
