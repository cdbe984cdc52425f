// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import java.util.ArrayDeque;
import java.util.Deque;

import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.memtrace.views.jobs.OnDisplay;

/**
 * Does something soon, once however often it is asked for before: after what is done now was painted, and one thing at a time, so
 * that the display thread hears what a person does in between. For views beside the one at which a person looks. Display thread.
 */
public final class Later {
	/** About two frames. */
	private static final int PAUSE_MS = 30;

	/** Data of a display: all that is wanted on it, in the order in which it was asked for. */
	private static final String WAITING = Later.class.getName();

	private final Control control;
	private final Runnable action;

	/** @param control nothing is done when it is disposed */
	public Later(Control control, Runnable action) {
		this.control = control;
		this.action = action;
	}

	/** Whether nothing waits for its time on a display. */
	public static boolean isIdle(Display display) {
		return waiting(display).isEmpty();
	}

	@SuppressWarnings("unchecked")
	private static Deque<Later> waiting(Display display) {
		Deque<Later> waiting = (Deque<Later>) display.getData(WAITING);
		if (waiting == null) {
			waiting = new ArrayDeque<>();
			display.setData(WAITING, waiting);
		}
		return waiting;
	}

	public void request() {
		if (control.isDisposed()) {
			return;
		}
		Deque<Later> waiting = waiting(control.getDisplay());
		if (!waiting.contains(this)) {
			waiting.add(this);
			if (waiting.size() == 1) {
				schedule(control.getDisplay(), waiting);
			}
		}
	}

	/** The pause begins when the display thread has heard all messages. */
	private static void schedule(Display display, Deque<Later> waiting) {
		OnDisplay.later(display, () -> display.timerExec(PAUSE_MS, () -> {
			Later next = waiting.remove();
			if (!waiting.isEmpty()) {
				schedule(display, waiting);
			}
			if (!next.control.isDisposed()) {
				next.action.run();
			}
		}));
	}
}
