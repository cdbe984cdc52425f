// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.importer.record.LiveCounters;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;

/** Page accesses of the last intervals as bars, the newest at the right. */
final class Activity extends Canvas {
	/** Bars that are as wide as the canvas, until there are more. */
	private static final int SHOWN_AT_FIRST = 50;

	private static final int FONT = 12;

	private List<Long> history = List.of();
	/** What was painted last. */
	private Scene scene;

	Activity(Composite parent) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.BORDER);
		Accessibility.name(this, "Records of the last intervals");
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
		scene = scene(r.width, r.height, ScenePainter.palette(this));
		ScenePainter.paint(scene, gc);
	}

	private Scene scene(int width, int height, Palette palette) {
		List<Shape> shapes = new ArrayList<>();
		if (history.isEmpty()) {
			shapes.add(new Shape.Text(width / 2.0, height / 2.0 + FONT / 3.0, "records in each interval", FONT, false,
					palette.mutedText(), Shape.Anchor.MIDDLE, false));
			return new Scene(width, height, palette.background(), shapes);
		}
		long max = Math.max(1, history.stream().mapToLong(Long::longValue).max().orElse(1));
		int n = history.size() > SHOWN_AT_FIRST ? LiveCounters.HISTORY : SHOWN_AT_FIRST;
		for (int i = 0; i < history.size(); i++) {
			int at = n - history.size() + i;
			int x0 = at * width / n;
			int x1 = Math.max(x0 + 1, (at + 1) * width / n);
			double bar = Math.ceil((double) history.get(i) * (height - 2) / max);
			shapes.add(new Shape.Rect(x0, height - bar, x1 - x0, bar, palette.highlight(), 0));
		}
		shapes.add(new Shape.Text(5, FONT + 3.0, String.format(Locale.ROOT, "at most %,d in an interval", max), FONT, false,
				palette.mutedText(), Shape.Anchor.START, false));
		return new Scene(width, height, palette.background(), shapes);
	}
}
