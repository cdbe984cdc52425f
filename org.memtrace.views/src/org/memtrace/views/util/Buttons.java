// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;

/** Push buttons. Display thread. */
public final class Buttons {
	private Buttons() {
	}

	/**
	 * Makes one.
	 *
	 * @param tip null: the text says it
	 */
	public static Button push(Composite parent, String text, String tip, Runnable action) {
		Button button = new Button(parent, SWT.PUSH);
		button.setText(text);
		button.setToolTipText(tip);
		button.addListener(SWT.Selection, e -> action.run());
		return button;
	}
}
