// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.widgets.Control;
import org.memtrace.views.jobs.OnDisplay;

/** Where the keys go. Display thread. */
public final class Focus {
	private Focus() {
	}

	/** The keys go on where they were when a window is closed, also without a window manager. */
	public static void again(Control control) {
		OnDisplay.later(control, () -> {
			if (control.getDisplay().getActiveShell() == null) {
				control.getShell().forceActive();
				control.forceFocus();
			}
		});
	}
}
