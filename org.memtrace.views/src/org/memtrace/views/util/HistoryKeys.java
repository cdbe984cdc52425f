// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Event;
import org.memtrace.analysis.selection.TraceSelection;

/** Alt with an arrow goes back and forward in what was shown, on every canvas. Display thread. */
public final class HistoryKeys {
	private HistoryKeys() {
	}

	/** Whether a key was pressed together with Alt: no canvas has another meaning for it. */
	public static boolean taken(Event e, TraceSelection selection) {
		if ((e.stateMask & SWT.ALT) == 0) {
			return false;
		}
		if (e.keyCode == SWT.ARROW_LEFT) {
			selection.back();
		} else if (e.keyCode == SWT.ARROW_RIGHT) {
			selection.forward();
		}
		return true;
	}
}
