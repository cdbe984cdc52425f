// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import org.eclipse.swt.widgets.Shell;

/** The About dialog for tests of other packages. Display thread. */
public final class AboutTexts {
	private static AboutDialog dialog;

	private AboutTexts() {
	}

	/** What it says about extensions. */
	public static String extensions() {
		return AboutDialog.extensions();
	}

	/** Opens it, without waiting for a user. */
	public static void open(Shell parent) {
		dialog = new AboutDialog(parent);
		dialog.setBlockOnOpen(false);
		dialog.open();
	}

	/** Closes it again. */
	public static void close() {
		dialog.close();
	}
}
