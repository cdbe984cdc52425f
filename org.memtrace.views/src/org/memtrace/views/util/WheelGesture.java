// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.selection.TraceSelection;

/** Makes turns of the wheel in quick succession one step of the history. Display thread. */
public final class WheelGesture {
	private static final int PAUSE_MS = 600;

	/** Ends the gesture after the last turn; null: none. */
	private Runnable end;
	private TraceSelection turned;

	/** A turn, before it changes the selection. */
	public void turn(TraceSelection selection, Display display) {
		if (end != null && turned != selection) {
			turned.endGesture();
		}
		turned = selection;
		selection.beginGesture();
		Runnable next = new Runnable() {
			@Override
			public void run() {
				if (end == this) {
					end = null;
					selection.endGesture();
				}
			}
		};
		end = next;
		display.timerExec(PAUSE_MS, next);
	}
}
