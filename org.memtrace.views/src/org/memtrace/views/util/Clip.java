// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Display;

/** The clipboard. */
public final class Clip {
	private Clip() {
	}

	/** Puts a text there; an empty one is not possible. */
	public static void copy(Display display, String text) {
		if (!text.isEmpty()) {
			Clipboard clipboard = new Clipboard(display);
			clipboard.setContents(new Object[] { text }, new Transfer[] { TextTransfer.getInstance() });
			clipboard.dispose();
		}
	}
}
