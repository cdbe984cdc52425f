// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleControlAdapter;
import org.eclipse.swt.accessibility.AccessibleControlEvent;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.views.paint.ScenePainter;

/** One filter: its text, struck through when it is off, and a cross that removes it. */
final class Chip extends Canvas {
	/** What a person does to a chip. */
	interface Listener {
		void remove(TraceFilter f);

		void edit(TraceFilter f);

		void toggle(TraceFilter f);

		/** Asks for another filter: one of both is enough then. */
		void or(TraceFilter f);

		/** Focus to the chip before (-1) or after (1). */
		void move(Chip from, int step);
	}

	private static final int PAD = 8;
	private static final int CROSS = 16;
	private static final int MAX_TEXT = 40;
	private static final int ARC = 10;

	private final TraceFilter filter;
	private final String text;
	private final Listener listener;
	private boolean overCross;

	Chip(Composite parent, TraceFilter filter, String fullText, Listener listener) {
		super(parent, SWT.DOUBLE_BUFFERED);
		this.filter = filter;
		this.text = fullText.length() <= MAX_TEXT ? fullText : fullText.substring(0, MAX_TEXT - 1) + "…";
		this.listener = listener;
		setBackground(parent.getBackground());
		setToolTipText((filter.enabled() ? "" : "Switched off: ") + fullText.replace("&", "&&")
				+ "\nDouble click or Enter changes it, O adds an alternative, Space switches it off and on, Del removes it");
		addListener(SWT.Paint, this::paint);
		addListener(SWT.MouseDown, e -> {
			setFocus();
			if (e.button == 1 && cross().contains(e.x, e.y)) {
				listener.remove(filter);
			}
		});
		addListener(SWT.MouseDoubleClick, e -> {
			if (e.button == 1) {
				listener.edit(filter);
			}
		});
		addListener(SWT.MouseMove, e -> hover(cross().contains(e.x, e.y)));
		addListener(SWT.MouseExit, e -> hover(false));
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> redraw());
		addListener(SWT.Traverse, e -> e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS);
		addListener(SWT.KeyDown, this::key);
		getAccessible().addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = "Filter " + fullText + (filter.enabled() ? "" : ", off");
			}
		});
		getAccessible().addAccessibleControlListener(new AccessibleControlAdapter() {
			@Override
			public void getRole(AccessibleControlEvent e) {
				e.detail = ACC.ROLE_CHECKBUTTON;
			}
		});
	}

	TraceFilter filter() {
		return filter;
	}

	private void hover(boolean now) {
		if (now != overCross) {
			overCross = now;
			redraw();
		}
	}

	private void key(Event e) {
		switch (e.keyCode) {
		case SWT.DEL, SWT.BS -> listener.remove(filter);
		case SWT.CR, SWT.KEYPAD_CR -> listener.edit(filter);
		case ' ' -> listener.toggle(filter);
		case 'o' -> listener.or(filter);
		case SWT.ARROW_LEFT -> listener.move(this, -1);
		case SWT.ARROW_RIGHT -> listener.move(this, 1);
		default -> {
		}
		}
	}

	/** Where the cross is. */
	Rectangle cross() {
		Point size = getSize();
		return new Rectangle(size.x - CROSS - 3, 0, CROSS + 3, size.y);
	}

	@Override
	public Point computeSize(int wHint, int hHint, boolean changed) {
		GC gc = new GC(this);
		Point extent = gc.textExtent(text);
		gc.dispose();
		return new Point(extent.x + 2 * PAD + CROSS, extent.y + 6);
	}

	private void paint(Event e) {
		Palette palette = ScenePainter.palette(this);
		boolean dark = palette == Palette.DARK;
		Point size = getSize();
		GC gc = e.gc;
		gc.setAntialias(SWT.ON);
		Color fore = getDisplay().getSystemColor(SWT.COLOR_LIST_FOREGROUND);
		Color fill = ScenePainter.color(!filter.enabled() ? dark ? 0xff3a3d42 : 0xffececec
				: filter.excludes() ? dark ? 0xff5a3a2c : 0xfffbe3d3 : dark ? 0xff2c4660 : 0xffd9e8f6);
		gc.setBackground(fill);
		gc.fillRoundRectangle(1, 1, size.x - 2, size.y - 2, ARC, ARC);
		gc.setForeground(fore);
		if (isFocusControl()) {
			gc.setLineWidth(2);
			gc.setForeground(getDisplay().getSystemColor(SWT.COLOR_LIST_SELECTION));
			gc.drawRoundRectangle(1, 1, size.x - 3, size.y - 3, ARC, ARC);
			gc.setLineWidth(1);
			gc.setForeground(fore);
		}
		gc.setAlpha(filter.enabled() ? 255 : 140);
		Point extent = gc.textExtent(text);
		int y = (size.y - extent.y) / 2;
		gc.drawText(text, PAD, y, true);
		if (!filter.enabled()) {
			gc.drawLine(PAD, size.y / 2, PAD + extent.x, size.y / 2);
		}
		gc.setAlpha(overCross ? 255 : 130);
		gc.setLineWidth(overCross ? 2 : 1);
		int cx = size.x - CROSS / 2 - 4;
		int cy = size.y / 2;
		gc.drawLine(cx - 3, cy - 3, cx + 3, cy + 3);
		gc.drawLine(cx - 3, cy + 3, cx + 3, cy - 3);
	}
}
