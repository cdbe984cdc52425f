// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.SceneImage;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.paint.TimeCursor;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.util.Accessibility;

/**
 * The whole trace in small, with the part that the large picture shows. Dragging the part moves it in time, a click or a drag
 * elsewhere chooses another one, the keys move it by half of its length.
 */
final class OverviewCanvas extends Canvas {
	private static final double FONT_PIXELS = 3;
	private static final int SLICES = 50;
	private static final int MIN_DRAG = 4;

	private final Models models;
	private final Rows rows;
	private final LatestResult<ShownPicture.Input, ShownPicture> drawing;
	private final LatestResult<Description.Input, Description> describing;
	/** The time at which somebody points in another view. */
	private final TimeCursor timeCursor = new TimeCursor(this, this::timeScale, false);
	private OpenTrace trace;
	private Description description;
	private Choice choice = Choice.DEFAULT;
	private ShownPicture picture;
	private SceneImage image;
	private Point dragFrom;
	private Point dragTo;
	/** Window when a drag of it began; null when another one is drawn. */
	private ViewState moved;

	/** Rows of the large picture, where not all are seen. */
	interface Rows {
		/** First leaf of its hierarchy that is seen and the one after the last; null when all are. */
		int[] seen();

		/** Shows a leaf in the middle. */
		void center(int leaf);
	}

	OverviewCanvas(Composite parent, Models models, Rows rows) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND);
		this.models = models;
		this.rows = rows;
		describing = new LatestResult<>("Overview", this, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Description compute(Description.Input input, Progress progress) throws MemtraceException {
				return Description.compute(input, progress);
			}

			@Override
			protected void show(Description.Input input, Description result) {
				description = result;
				draw();
			}
		};
		drawing = new LatestResult<>("Draw overview", this, LatestResult.Policy.KEEP_UP) {
			@Override
			protected ShownPicture compute(ShownPicture.Input input, Progress progress) throws MemtraceException {
				return ShownPicture.small(input);
			}

			@Override
			protected void show(ShownPicture.Input input, ShownPicture result) {
				picture = result;
				dropImage();
				redraw();
			}
		};
		setToolTipText("The whole trace; the frame is what the picture shows. Drag it, or drag beside it to choose another part");
		addListener(SWT.Paint, this::paint);
		addListener(SWT.Resize, e -> draw());
		addListener(SWT.Dispose, e -> dropImage());
		addListener(SWT.MouseDown, this::mouseDown);
		addListener(SWT.MouseMove, this::mouseMove);
		addListener(SWT.MouseUp, this::mouseUp);
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> redraw());
		addListener(SWT.Traverse, e -> e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS);
		Accessibility.graphic(this, () -> "Overview of the whole trace", null, null);
	}

	/** The trace that is shown; null none. */
	void setTrace(OpenTrace now) {
		trace = now;
		timeCursor.follow(now == null ? null : now.selection());
		description = null;
		picture = null;
		describing.cancel();
		drawing.cancel();
		dropImage();
		redraw();
	}

	/**
	 * Dimension, filters or choice may be others, or only the part that is shown.
	 *
	 * @param shown the large picture, whose model is used when it is that of the whole trace; null for none
	 */
	void update(Choice now, Description shown) {
		if (trace == null) {
			return;
		}
		ViewState whole = whole(trace.selection());
		Choice small = Choice.DEFAULT.withSlices(SLICES).withSlicing(now.slicing()).withMetric(now.metric())
				.withEqualTypes(now.equalTypes()).withHeights(now.heights()).withScale(now.scale())
				.withFirstTouch(FirstTouchLayer.Shown.NO).withHidden(now.hidden());
		boolean same = description != null && whole.sameModel(description.input().state()) && small.sameDescription(choice);
		boolean redrawn = !small.hidden().equals(choice.hidden());
		choice = small;
		if (!same) {
			describing.submit(new Description.Input(trace, whole, small, models, 2 * Math.max(40, getSize().y)));
		} else if (redrawn) {
			draw();
		}
		redraw();
	}

	private static ViewState whole(TraceSelection selection) {
		ViewState all = selection.initial();
		return selection.state().withWindow(all.fromNs(), all.toNs()).withProducer(all.producer()).withP(ViewState.AUTOMATIC_P);
	}

	/** Colours or size changed. */
	void draw() {
		Point size = getSize();
		if (description != null && trace != null && size.x > 20 && size.y > 20) {
			drawing.submit(new ShownPicture.Input(description, description.input().state(), choice, size.x, size.y, FONT_PIXELS,
					ScenePainter.palette(this)));
		}
	}

	boolean isSettled() {
		return !describing.isBusy() && !drawing.isBusy();
	}

	void cancel() {
		describing.cancel();
		drawing.cancel();
	}

	private void dropImage() {
		if (image != null) {
			image.dispose();
			image = null;
		}
	}

	// ---- painting

	private void paint(Event e) {
		GC gc = e.gc;
		Point size = getSize();
		gc.setBackground(ScenePainter.color(ScenePainter.palette(this).background()));
		gc.fillRectangle(0, 0, size.x, size.y);
		if (picture == null || trace == null) {
			return;
		}
		if (image == null) {
			image = new SceneImage(this, picture.picture().scene());
		}
		image.draw(gc);
		Rectangle plot = picture.plot();
		Rectangle r = frame();
		gc.setBackground(ScenePainter.color(ScenePainter.palette(this).background()));
		gc.setAlpha(150);
		gc.fillRectangle(plot.x, plot.y, plot.width, r.y - plot.y);
		gc.fillRectangle(plot.x, r.y + r.height, plot.width, plot.y + plot.height - r.y - r.height);
		gc.fillRectangle(plot.x, r.y, r.x - plot.x, r.height);
		gc.fillRectangle(r.x + r.width, r.y, plot.x + plot.width - r.x - r.width, r.height);
		gc.setAlpha(255);
		gc.setForeground(ScenePainter.color(ScenePainter.palette(this).highlight()));
		gc.setLineWidth(isFocusControl() ? 3 : 2);
		gc.drawRectangle(r.x, r.y, Math.max(1, r.width - 1), Math.max(1, r.height - 1));
		if (dragFrom != null && dragTo != null && moved == null) {
			gc.setLineWidth(1);
			gc.setLineStyle(SWT.LINE_DASH);
			gc.drawRectangle(Math.min(dragFrom.x, dragTo.x), plot.y, Math.abs(dragTo.x - dragFrom.x), plot.height - 1);
			gc.setLineStyle(SWT.LINE_SOLID);
		}
		timeCursor.paint(gc);
	}

	private TimeCursor.Scale timeScale() {
		if (picture == null || trace == null) {
			return null;
		}
		Rectangle plot = picture.plot();
		ViewState all = trace.selection().initial();
		return new TimeCursor.Scale(plot.x, plot.y, plot.width, plot.height, all.fromNs(), all.toNs(), trace.info().startNs(),
				trace.info().isInTicks());
	}

	/** Pixels of what the large picture shows. */
	Rectangle frame() {
		Rectangle plot = picture.plot();
		ViewState s = trace.selection().state();
		int x0 = xOf(s.fromNs());
		int x1 = xOf(s.toNs());
		Hierarchy h = picture.model().hierarchy();
		int node = s.producer() < 0 ? 0 : Math.max(0, h.nodeOf(s.producer()));
		int[] seen = rows.seen();
		boolean part = seen != null && seen[1] <= h.leafTo(node) - h.leafFrom(node);
		int y0 = picture.yOfLeaf(h.leafFrom(node) + (part ? seen[0] : 0));
		int y1 = picture.yOfLeaf(part ? h.leafFrom(node) + seen[1] : h.leafTo(node));
		Rectangle r = new Rectangle(x0, y0, Math.max(3, x1 - x0), Math.max(3, y1 - y0));
		r.intersect(plot);
		return r;
	}

	private int xOf(long timeNs) {
		return (int) Math.round(picture.picture().xOf(timeNs));
	}

	// ---- mouse and keys

	private void mouseDown(Event e) {
		setFocus();
		if (picture == null || trace == null || e.button != 1) {
			return;
		}
		dragFrom = new Point(e.x, e.y);
		dragTo = dragFrom;
		ViewState s = trace.selection().state();
		ViewState all = trace.selection().initial();
		boolean zoomed = s.fromNs() != all.fromNs() || s.toNs() != all.toNs();
		boolean part = rows.seen() != null;
		boolean inFrame = frame().contains(e.x, e.y);
		moved = (zoomed || part) && inFrame ? s : null;
		if (part && !inFrame) {
			scroll(e.y);
		}
		if (moved != null) {
			trace.selection().beginGesture();
		}
	}

	private void mouseMove(Event e) {
		if (picture == null || trace == null) {
			return;
		}
		ViewState s = trace.selection().state();
		setCursor(getDisplay().getSystemCursor(frame().contains(e.x, e.y)
				&& s.durationNs() < trace.selection().initial().durationNs() ? SWT.CURSOR_SIZEWE : SWT.CURSOR_CROSS));
		if (dragFrom == null) {
			return;
		}
		dragTo = new Point(e.x, e.y);
		if (moved != null) {
			move(e.x);
		}
		redraw();
	}

	private void move(int x) {
		ViewState all = trace.selection().initial();
		long shift = Math.round((double) (x - dragFrom.x) * all.durationNs() / picture.plot().width);
		trace.selection().window(moved.fromNs() + shift, moved.toNs() + shift);
		if (rows.seen() != null && dragTo.y != dragFrom.y) {
			scroll(dragTo.y);
		}
	}

	/** The rows at a place become the middle of those that are seen. */
	private void scroll(int y) {
		Hierarchy h = picture.model().hierarchy();
		ViewState s = trace.selection().state();
		int node = s.producer() < 0 ? 0 : Math.max(0, h.nodeOf(s.producer()));
		int leaf = Math.max(h.leafFrom(node), Math.min(h.leafTo(node) - 1, picture.leafAt(y)));
		rows.center(leaf - h.leafFrom(node));
	}

	private void mouseUp(Event e) {
		if (dragFrom == null || picture == null || trace == null) {
			return;
		}
		TraceSelection selection = trace.selection();
		if (moved != null) {
			move(e.x);
			selection.endGesture();
		} else if (Math.abs(e.x - dragFrom.x) >= MIN_DRAG) {
			selection.window(picture.picture().timeAt(Math.min(e.x, dragFrom.x)), picture.picture().timeAt(Math.max(e.x, dragFrom.x)));
		} else {
			ViewState s = selection.state();
			long middle = picture.picture().timeAt(e.x);
			selection.window(middle - s.durationNs() / 2, middle + s.durationNs() - s.durationNs() / 2);
		}
		dragFrom = null;
		dragTo = null;
		moved = null;
		redraw();
	}

	private void key(Event e) {
		if (trace == null) {
			return;
		}
		ViewState s = trace.selection().state();
		long half = s.durationNs() / 2;
		switch (e.keyCode) {
		case SWT.ARROW_LEFT -> trace.selection().window(s.fromNs() - half, s.toNs() - half);
		case SWT.ARROW_RIGHT -> trace.selection().window(s.fromNs() + half, s.toNs() + half);
		case SWT.HOME -> trace.selection().reset();
		default -> {
		}
		}
	}
}
