// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import org.eclipse.swt.SWT;
import org.eclipse.swt.SWTException;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Widget;

/**
 * Hands something to the thread of the display. The workbench may be left while other threads run: a display or a widget can go between the
 * question isDisposed() and the call that needs it, which then throws. Here, what comes too late is dropped.
 */
public final class OnDisplay {
	private OnDisplay() {
	}

	/** On the thread of the display, later. Any thread. Whether it was handed over; not when the display is gone. */
	public static boolean later(Display display, Runnable action) {
		return handedOver(() -> display.asyncExec(action));
	}

	/** As the other, and dropped, too, when the widget is gone, now or when it would be done. */
	public static boolean later(Widget widget, Runnable action) {
		return handedOver(() -> widget.getDisplay().asyncExec(() -> {
			if (!widget.isDisposed()) {
				action.run();
			}
		}));
	}

	/** Whether a call of SWT had what it needs. */
	static boolean handedOver(Runnable call) {
		try {
			call.run();
			return true;
		} catch (SWTException e) {
			if (e.code == SWT.ERROR_DEVICE_DISPOSED || e.code == SWT.ERROR_WIDGET_DISPOSED) {
				return false;
			}
			throw e;
		}
	}
}
