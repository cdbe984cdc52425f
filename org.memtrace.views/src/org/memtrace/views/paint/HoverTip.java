// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.graphics.TextLayout;
import org.eclipse.swt.widgets.Canvas;
import org.memtrace.analysis.colour.Palette;

/**
 * What a tooltip says, painted into the canvas beside the pointer and never below the plot, where it would hide the axis. (A
 * window of its own takes the focus away from the canvas where no window manager gives it back.)
 */
public final class HoverTip {
	/** How long the pointer must rest before a tip is shown. */
	public static final int AFTER_MS = 400;
	private static final int DISTANCE = 16;
	private static final int MAX_WIDTH = 460;
	private static final int MARGIN = 7;

	private final Canvas owner;
	private String text;
	private Point at;
	private Rectangle plot;
	private Rectangle bounds;

	public HoverTip(Canvas owner) {
		this.owner = owner;
	}

	/**
	 * Shows a text.
	 *
	 * @param pointer in the coordinates of the owner
	 * @param area what is below it is not covered
	 */
	public void show(String now, Point pointer, Rectangle area) {
		text = now;
		at = pointer;
		plot = area;
		bounds = null;
		owner.redraw();
	}

	public void hide() {
		if (text != null) {
			text = null;
			owner.redraw();
		}
	}

	public boolean isShown() {
		return text != null;
	}

	/** Pixels of the canvas that it took when it was painted last, null when it is not shown. */
	public Rectangle bounds() {
		return text == null ? null : bounds;
	}

	/** Paints it over everything else. */
	public void paint(GC gc) {
		if (text == null) {
			return;
		}
		TextLayout layout = new TextLayout(owner.getDisplay());
		layout.setFont(owner.getFont());
		layout.setText(text);
		Point size = owner.getSize();
		int most = Math.max(80, Math.min(MAX_WIDTH, size.x - 2 * MARGIN));
		if (layout.getBounds().width > most) {
			layout.setWidth(most);
		}
		int width = layout.getBounds().width + 2 * MARGIN;
		int height = layout.getBounds().height + 2 * MARGIN;
		int x = at.x + DISTANCE + width <= size.x ? at.x + DISTANCE : Math.max(0, at.x - DISTANCE - width);
		int y = Math.max(0, Math.min(at.y + DISTANCE, plot.y + plot.height - height));
		bounds = new Rectangle(x, y, width, height);
		Palette palette = ScenePainter.palette(owner);
		gc.setAlpha(255);
		gc.setBackground(ScenePainter.color(palette.background()));
		gc.fillRectangle(x, y, width, height);
		gc.setForeground(ScenePainter.color(palette.axis()));
		gc.setLineWidth(1);
		gc.setLineStyle(SWT.LINE_SOLID);
		gc.drawRectangle(x, y, width - 1, height - 1);
		gc.setForeground(ScenePainter.color(palette.text()));
		layout.draw(gc, x + MARGIN, y + MARGIN);
		layout.dispose();
	}
}
