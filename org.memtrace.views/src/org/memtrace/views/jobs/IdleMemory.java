// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Display;

/**
 * Gives memory back while nobody uses the workbench: when there was no key and no mouse for a while and nothing is computed, the heap is
 * collected as a whole, and the JVM returns what is free then. Only when enough was used since the last time. Display thread.
 */
public final class IdleMemory {
	private static final int LOOK_MS = 5000;
	private static final long IDLE_NS = 15_000_000_000L;
	/** Less is not worth a collection. */
	private static final long LEAST_BYTES = 24L << 20;
	private static final int[] INPUT = { SWT.KeyDown, SWT.MouseDown, SWT.MouseMove, SWT.MouseWheel, SWT.MouseVerticalWheel };

	private final Display display;
	private final Runnable collect;
	private long inputNs = System.nanoTime();
	/** Of the heap after the last collection. */
	private volatile long usedBytes;

	IdleMemory(Display display, Runnable collect) {
		this.display = display;
		this.collect = collect;
		for (int type : INPUT) {
			display.addFilter(type, e -> inputNs = System.nanoTime());
		}
	}

	/** Looks from now on until the display is disposed. */
	public static void install(Display display) {
		IdleMemory memory = new IdleMemory(display, System::gc);
		display.timerExec(LOOK_MS, memory::tick);
	}

	private void tick() {
		look(System.nanoTime());
		display.timerExec(LOOK_MS, this::tick);
	}

	/** Collects if it is time to. */
	boolean look(long nowNs) {
		if (nowNs - inputNs < IDLE_NS || LatestResult.isAnyUrgent() || !Job.getJobManager().isIdle() || used() < usedBytes + LEAST_BYTES) {
			return false;
		}
		usedBytes = used(); // until it is known
		Thread thread = new Thread(() -> {
			collect.run();
			usedBytes = used();
		}, "give memory back");
		thread.setDaemon(true);
		thread.start();
		return true;
	}

	private static long used() {
		Runtime r = Runtime.getRuntime();
		return r.totalMemory() - r.freeMemory();
	}
}
