// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Control;
import org.memtrace.views.jobs.OnDisplay;

/**
 * Does something when a control is seen: at once when it is, else when its tab comes to the front. A view that nobody looks at
 * computes nothing. Display thread.
 */
public final class WhenSeen {
	private final Control control;
	private final Runnable action;
	private boolean wanted;
	/** The action was seen to be wanted, and comes next. */
	private boolean starting;

	public WhenSeen(Control control, Runnable action) {
		this.control = control;
		this.action = action;
		control.addListener(SWT.Paint, e -> {
			if (wanted && !starting) {
				starting = true;
				// not within painting: the action may change what is painted; until then it is still waited for
				OnDisplay.later(control, () -> {
					starting = false;
					if (wanted) {
						wanted = false;
						action.run();
					}
				});
			}
		});
	}

	/** The action is to be done; however often it is asked for before, once. */
	public void request() {
		if (control.isDisposed()) {
			return;
		}
		if (control.isVisible() && control.getSize().x > 0) {
			wanted = false;
			action.run();
		} else {
			wanted = true;
			control.redraw();
		}
	}

	/** Whether it waits for the control to be seen. */
	public boolean isWaiting() {
		return wanted;
	}
}
