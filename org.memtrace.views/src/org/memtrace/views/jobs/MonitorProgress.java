// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import org.eclipse.core.runtime.IProgressMonitor;
import org.memtrace.model.Progress;

/** Progress of an operation shown by a progress monitor of Eclipse, for dialogs; each step fills the bar once. */
public final class MonitorProgress implements Progress {
	private static final int TICKS = 1000;

	private final IProgressMonitor monitor;
	private long total;
	private long done;
	private int ticks;

	public MonitorProgress(IProgressMonitor monitor) {
		this.monitor = monitor;
	}

	@Override
	public synchronized void begin(String step, long units) {
		total = units;
		done = 0;
		ticks = 0;
		monitor.beginTask(step, units > 0 ? TICKS : IProgressMonitor.UNKNOWN);
	}

	@Override
	public synchronized void worked(long units) {
		done += units;
		if (total > 0) {
			int now = (int) Math.min(TICKS, done * (double) TICKS / total);
			if (now > ticks) {
				monitor.worked(now - ticks);
				ticks = now;
			}
		}
	}

	@Override
	public boolean isCancelled() {
		return monitor.isCanceled();
	}
}
