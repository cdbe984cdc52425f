// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import org.eclipse.swt.SWTException;
import org.eclipse.swt.widgets.Display;

/**
 * Wakes the thread of a display again and again until it is closed. Who waits in {@link Display#sleep} for another thread and is woken once
 * may wait for ever: sleep() forgets a wake() that comes between the question whether there is something to do and the sleep itself. Any
 * event ends such a wait, but before the first window is there no event comes.
 */
public final class Waking implements AutoCloseable {
	private static final long EVERY_MS = 100;

	private final Thread thread;

	/** @param display the one of the thread that will sleep */
	public Waking(Display display) {
		thread = new Thread(() -> run(display), "memtrace wakes the display");
		thread.setDaemon(true);
		thread.start();
	}

	private static void run(Display display) {
		try {
			while (true) {
				Thread.sleep(EVERY_MS);
				display.wake();
			}
		} catch (InterruptedException e) {
			// closed
		} catch (SWTException e) {
			// the display is gone, and nobody sleeps in it any more
		}
	}

	/** The display is woken no more, from this thread on. */
	@Override
	public void close() {
		thread.interrupt();
	}
}
