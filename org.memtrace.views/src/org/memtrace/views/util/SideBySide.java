// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.graphics.Rectangle;

/** Two parts of a view: what is wide has them side by side, what is high one below the other. Display thread. */
public final class SideBySide {
	private SideBySide() {
	}

	/** @param wider width through height above which the parts stand side by side */
	public static void when(SashForm sash, double wider) {
		sash.addListener(SWT.Resize, e -> {
			Rectangle r = sash.getClientArea();
			int wanted = r.width > wider * r.height ? SWT.HORIZONTAL : SWT.VERTICAL;
			if (wanted != sash.getOrientation()) {
				sash.setOrientation(wanted);
			}
		});
	}
}
