// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.CTabFolder;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Device;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Listener;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.Tree;

/** Light and dark while the workbench runs: what the toolkit and the platform do not colour again by themselves. Display thread. */
public final class Appearance {
	private static final double USUAL_DPI = 96;
	private static final int DARK_SUM = 3 * 110;

	/** Background of lists in the theme before. */
	private static RGB before;

	private Appearance() {
	}

	/** How much larger than usual the desktop makes texts, at least 1; not the zoom of a sharp display. */
	public static double textScale(Device device) {
		return Math.max(1, device.getDPI().y / USUAL_DPI);
	}

	/** Whether lists are dark. */
	public static boolean isDark(Display display) {
		RGB c = display.getSystemColor(SWT.COLOR_LIST_BACKGROUND).getRGB();
		return c.red + c.green + c.blue < DARK_SUM;
	}

	/** Gives a control the background of lists, also after the theme has changed. */
	public static void asList(Control control) {
		onChange(control, () -> control.setBackground(control.getDisplay().getSystemColor(SWT.COLOR_LIST_BACKGROUND)));
	}

	/** Does something now and each time that the theme has changed, as long as a control exists. */
	public static void onChange(Control control, Runnable colour) {
		colour.run();
		Display display = control.getDisplay();
		Listener again = e -> {
			if (!control.isDisposed()) {
				colour.run();
			}
		};
		display.addListener(SWT.Settings, again);
		control.addListener(SWT.Dispose, e -> display.removeListener(SWT.Settings, again));
	}

	/** The theme is another one: colours that were taken from the one before are those of the new one. */
	public static void refresh(Display display) {
		Color list = display.getSystemColor(SWT.COLOR_LIST_BACKGROUND);
		for (Shell shell : display.getShells()) {
			refresh(shell, list);
		}
		before = list.getRGB();
	}

	/** Looks at the theme of now, so that {@link #refresh} knows which colours were taken from it. */
	public static void remember(Display display) {
		before = display.getSystemColor(SWT.COLOR_LIST_BACKGROUND).getRGB();
	}

	private static void refresh(Control control, Color list) {
		if (control instanceof Composite && !list.getRGB().equals(before) && control.getBackground().getRGB().equals(before)) {
			control.setBackground(list); // around the pages of the preferences
		}
		if (control instanceof CTabFolder tabs) {
			tabs.setBackground(null);
			tabs.setForeground(null);
			tabs.setSelectionBackground((Color) null);
			tabs.setSelectionForeground(null);
		} else if (control instanceof ToolBar bar) {
			bar.setBackground(null);
		} else if (control instanceof Tree tree) {
			tree.setForeground(null);
		} else if (control instanceof Table table) {
			table.setForeground(null); // texts keep the colour of the theme before
			table.redraw();
		}
		if (control instanceof Composite composite) {
			for (Control child : composite.getChildren()) {
				refresh(child, list);
			}
		}
	}
}
