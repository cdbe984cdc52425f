// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.layout.FillLayout;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;

/**
 * A tooltip beside what it is about: right of the pointer, never below the plot, where it would hide the axis, and never over the
 * block itself when there is room beside it.
 */
final class HoverTip {
	private static final int DISTANCE = 16;
	private static final int MAX_WIDTH = 460;

	private final Control owner;
	private Shell shell;

	HoverTip(Control owner) {
		this.owner = owner;
		owner.addListener(SWT.Dispose, e -> hide());
	}

	/**
	 * Shows a text.
	 *
	 * @param at pointer, in the coordinates of the owner
	 * @param plot what is below it is not covered
	 */
	void show(String text, Point at, Rectangle plot) {
		hide();
		Shell parent = owner.getShell();
		shell = new Shell(parent, SWT.TOOL | SWT.NO_TRIM | SWT.NO_FOCUS | SWT.ON_TOP);
		FillLayout layout = new FillLayout();
		layout.marginWidth = 7;
		layout.marginHeight = 5;
		shell.setLayout(layout);
		shell.setBackground(owner.getDisplay().getSystemColor(SWT.COLOR_INFO_BACKGROUND));
		Label label = new Label(shell, SWT.WRAP);
		label.setForeground(owner.getDisplay().getSystemColor(SWT.COLOR_INFO_FOREGROUND));
		label.setBackground(owner.getDisplay().getSystemColor(SWT.COLOR_INFO_BACKGROUND));
		label.setText(text.replace("&", "&&"));
		Point size = shell.computeSize(SWT.DEFAULT, SWT.DEFAULT);
		if (size.x > MAX_WIDTH) {
			size = shell.computeSize(MAX_WIDTH, SWT.DEFAULT);
		}
		Rectangle screen = owner.getMonitor().getClientArea();
		Point pointer = owner.toDisplay(at);
		Point corner = owner.toDisplay(plot.x, plot.y);
		int x = pointer.x + DISTANCE;
		if (x + size.x > screen.x + screen.width) {
			x = pointer.x - DISTANCE - size.x;
		}
		int lowest = Math.min(corner.y + plot.height, screen.y + screen.height);
		int y = Math.min(pointer.y + DISTANCE, lowest - size.y);
		shell.setBounds(Math.max(screen.x, x), Math.max(screen.y, y), size.x, size.y);
		shell.setVisible(true);
	}

	void hide() {
		if (shell != null) {
			shell.dispose();
			shell = null;
		}
	}

	/** Pixels of the screen, null when it is not shown. */
	Rectangle bounds() {
		return shell == null ? null : shell.getBounds();
	}
}
