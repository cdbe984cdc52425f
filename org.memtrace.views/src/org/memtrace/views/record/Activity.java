// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.util.List;
import java.util.Locale;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.importer.record.LiveCounters;
import org.memtrace.views.util.Accessibility;

/** Page accesses of the last intervals as bars, the newest at the right. */
final class Activity extends Canvas {
	/** Bars that are as wide as the canvas, until there are more. */
	private static final int SHOWN_AT_FIRST = 50;

	private List<Long> history = List.of();

	Activity(Composite parent) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.BORDER);
		setBackground(getDisplay().getSystemColor(SWT.COLOR_LIST_BACKGROUND));
		Accessibility.name(this, "Page accesses of the last intervals");
		addPaintListener(e -> paint(e.gc));
	}

	void show(List<Long> now) {
		if (!now.equals(history)) {
			history = now;
			redraw();
		}
	}

	private void paint(GC gc) {
		Rectangle r = getClientArea();
		gc.setForeground(getDisplay().getSystemColor(SWT.COLOR_WIDGET_DISABLED_FOREGROUND));
		if (history.isEmpty()) {
			String text = "page accesses in each interval";
			gc.drawText(text, (r.width - gc.textExtent(text).x) / 2, (r.height - gc.textExtent(text).y) / 2, true);
			return;
		}
		long max = Math.max(1, history.stream().mapToLong(Long::longValue).max().orElse(1));
		gc.setBackground(getDisplay().getSystemColor(SWT.COLOR_LIST_SELECTION));
		int n = Math.max(SHOWN_AT_FIRST, history.size() > SHOWN_AT_FIRST ? LiveCounters.HISTORY : 0);
		for (int i = 0; i < history.size(); i++) {
			int at = n - history.size() + i;
			int x0 = at * r.width / n;
			int x1 = Math.max(x0 + 1, (at + 1) * r.width / n);
			int height = (int) Math.ceil((double) history.get(i) * (r.height - 2) / max);
			gc.fillRectangle(x0, r.height - height, x1 - x0, height);
		}
		String text = String.format(Locale.ROOT, "at most %,d in an interval", max);
		gc.drawText(text, 5, 2, true);
	}
}
