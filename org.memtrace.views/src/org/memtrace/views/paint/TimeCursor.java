// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import java.util.function.Supplier;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.views.preferences.Settings;

/**
 * The line at the time at which somebody points in another picture of the trace, and the way to tell others where the pointer is in this
 * one. Only the pixels of the line and of its text are painted again; the window system joins what it is asked for until the next frame.
 * Display thread.
 */
public final class TimeCursor {
	/** Around the line, so that it is seen on any colour. */
	private static final int HALO = 1;
	private static final int PADDING = 4;
	/** Between the plot and the text. */
	private static final int GAP = 3;

	/**
	 * Where times are in a picture.
	 *
	 * @param x left edge of the plot, in pixels of the canvas
	 * @param fromNs time there
	 * @param toNs time at the right edge
	 * @param originNs from which texts count
	 * @param inTicks whether times are counts of a logical clock
	 */
	public record Scale(double x, double y, double width, double height, long fromNs, long toNs, long originNs, boolean inTicks) {
		private double xOf(long ns) {
			return x + width * ((double) (ns - fromNs) / (toNs - fromNs));
		}

		/** The time at a point of the plot; {@link PointedTime#NONE} elsewhere. */
		private long timeAt(double px, double py) {
			boolean inside = px >= x && px < x + width && py >= y && py < y + height;
			return inside && toNs > fromNs ? fromNs + (long) ((px - x) / width * (toNs - fromNs)) : PointedTime.NONE;
		}
	}

	/** The line and its text, as they are painted. */
	private record Mark(int x, String text, Scale scale) {
	}

	private final Canvas canvas;
	private final Supplier<Scale> scale;
	private final boolean hasText;
	private final PointedTime.Listener listener = (by, timeNs) -> changed();
	private PointedTime pointed;
	/** What was asked to be painted last; null nothing. */
	private Mark mark;
	private int digit;

	/**
	 * Lets a canvas point, which has to call {@link #follow} and {@link #paint}.
	 *
	 * @param scale of what is painted now; null while there is nothing
	 * @param hasText whether there is room for a text below the plot
	 */
	public TimeCursor(Canvas canvas, Supplier<Scale> scale, boolean hasText) {
		this.canvas = canvas;
		this.scale = scale;
		this.hasText = hasText;
		// a mouse that jumps into the canvas and rests there only enters
		for (int type : new int[] {SWT.MouseEnter, SWT.MouseMove}) {
			canvas.addListener(type, e -> {
				Scale s = scale.get();
				point(s == null ? PointedTime.NONE : s.timeAt(e.x, e.y));
			});
		}
		canvas.addListener(SWT.MouseExit, e -> leave());
		canvas.addListener(SWT.FocusOut, e -> leave());
		canvas.addListener(SWT.Dispose, e -> follow(null));
	}

	/** The selection of what is shown; null for none. */
	public void follow(TraceSelection now) {
		PointedTime next = now == null ? null : now.pointed();
		if (next == pointed) {
			return;
		}
		if (pointed != null) {
			pointed.removeListener(listener);
			pointed.leave(this);
		}
		pointed = next;
		if (pointed != null) {
			pointed.addListener(listener);
		}
		if (!canvas.isDisposed()) {
			changed();
		}
	}

	/** Points at a time, as keys do that choose something in the picture; {@link PointedTime#NONE} at none. */
	public void point(long timeNs) {
		if (pointed == null) {
			return;
		}
		if (timeNs == PointedTime.NONE || !Settings.timeCursor()) {
			leave();
		} else {
			pointed.point(this, timeNs);
		}
	}

	private void leave() {
		if (pointed != null) {
			pointed.leave(this);
		}
	}

	private void changed() {
		Mark now = mark();
		if (now == null ? mark != null : !now.equals(mark)) {
			redraw(mark);
			mark = now;
			redraw(mark);
		}
	}

	/** What is to be painted; null nothing. */
	private Mark mark() {
		if (pointed == null || pointed.by() == null || pointed.by() == this) {
			return null;
		}
		Scale s = scale.get();
		long ns = pointed.timeNs();
		if (s == null || ns < s.fromNs() || ns > s.toNs() || s.toNs() <= s.fromNs()) {
			return null;
		}
		return new Mark((int) Math.round(s.xOf(ns)), TimeAxis.at(s.originNs(), s.fromNs(), s.toNs(), s.width(), ns, s.inTicks()), s);
	}

	private void redraw(Mark m) {
		if (m == null) {
			return;
		}
		canvas.redraw(m.x() - HALO - 1, (int) m.scale().y(), 2 * HALO + 3, (int) m.scale().height() + 1, false);
		if (hasText) {
			if (digit == 0) {
				GC gc = new GC(canvas);
				digit = gc.textExtent("0").x;
				gc.dispose();
			}
			// no letter of a unit is wider than two digits
			Rectangle r = box(m, new Point(digit * (m.text().length() + 4), canvas.getFont().getFontData()[0].getHeight() * 3));
			canvas.redraw(r.x, r.y, r.width, r.height, false);
		}
	}

	/** Below the plot, within it from the left to the right. */
	private Rectangle box(Mark m, Point text) {
		int width = text.x + 2 * PADDING;
		Scale s = m.scale();
		int right = Math.min(canvas.getSize().x, (int) (s.x() + s.width()) + width / 2);
		int x = Math.max(0, Math.min(right - width, m.x() - width / 2));
		int y = Math.min(canvas.getSize().y - text.y, (int) Math.round(s.y() + s.height()) + GAP);
		return new Rectangle(x, y, width, text.y);
	}

	/** Paints the line, if there is one, over everything else. */
	public void paint(GC gc) {
		mark = mark();
		if (mark == null) {
			return;
		}
		Palette palette = ScenePainter.palette(canvas);
		int top = (int) Math.round(mark.scale().y());
		int height = (int) Math.round(mark.scale().height());
		gc.setAlpha(150);
		gc.setBackground(ScenePainter.color(palette.background()));
		gc.fillRectangle(mark.x() - HALO, top, 1 + 2 * HALO, height);
		gc.setAlpha(255);
		gc.setBackground(ScenePainter.color(palette.text()));
		gc.fillRectangle(mark.x(), top, 1, height);
		if (hasText) {
			Rectangle r = box(mark, gc.textExtent(mark.text()));
			gc.fillRectangle(r);
			gc.setForeground(ScenePainter.color(palette.background()));
			gc.drawText(mark.text(), r.x + PADDING, r.y, true);
		}
	}

	/** The text at the line, null when there is no line. */
	public String text() {
		Mark m = mark();
		return m == null ? null : m.text();
	}

	/** Where the line is; -1 when there is none. */
	public int x() {
		Mark m = mark();
		return m == null ? -1 : m.x();
	}
}
