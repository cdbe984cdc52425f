// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleControlAdapter;
import org.eclipse.swt.accessibility.AccessibleControlEvent;
import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Cursor;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.aggregation.Hierarchy;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.state.SpaceZoom;
import org.memtrace.views.state.TraceSelection;
import org.memtrace.views.state.ViewState;

/**
 * Shows a {@link ShownPicture} and turns mouse and keys into changes of the {@link TraceSelection}. It paints what it has at
 * once: until the picture of a new state is ready, the old one is shown where it belongs in the new window.
 */
final class PictureCanvas extends Canvas {
	/** Steps of p are asked from the view, which knows the significant values. */
	interface Levels {
		/** @param finer next finer level, else next coarser */
		void step(boolean finer);

		void automatic();
	}

	private record Hovered(ShownPicture picture, ShownPicture.Hit hit) {
	}

	/** Shorter drags are clicks. */
	private static final int MIN_DRAG = 6;
	private static final double WHEEL_FACTOR = 0.8;
	private static final int WHEEL_GESTURE_MS = 600;

	private final Levels levels;
	private final SpaceZoom space = new SpaceZoom();
	private final LatestResult<Hovered, String> describing;
	private final Cursor cross;
	private final Cursor hand;
	private TraceSelection selection;
	private ShownPicture picture;
	private Image image;
	private Point dragFrom;
	private Point dragTo;
	private boolean panning;
	private ShownPicture.Hit hover;
	private Runnable endWheel;

	PictureCanvas(Composite parent, Levels levels) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND);
		this.levels = levels;
		cross = getDisplay().getSystemCursor(SWT.CURSOR_CROSS);
		hand = getDisplay().getSystemCursor(SWT.CURSOR_HAND);
		describing = new LatestResult<>("Describe block", this, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected String compute(Hovered input, Progress progress) throws MemtraceException {
				return HitText.of(input.picture(), input.hit());
			}

			@Override
			protected void show(Hovered input, String text) {
				setToolTipText(text.replace("&", "&&"));
			}
		};
		addListener(SWT.Paint, this::paint);
		addListener(SWT.MouseDown, this::mouseDown);
		addListener(SWT.MouseMove, this::mouseMove);
		addListener(SWT.MouseUp, this::mouseUp);
		addListener(SWT.MouseDoubleClick, this::doubleClick);
		addListener(SWT.MouseExit, e -> hover(null));
		addListener(SWT.MouseVerticalWheel, this::wheel);
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.Traverse, e -> {
			// arrows and escape are ours, Tab is for leaving
			e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS;
		});
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> redraw());
		addListener(SWT.Dispose, e -> dropImage());
		describe();
	}

	/** The selection that gestures change; null none. */
	void setSelection(TraceSelection s) {
		selection = s;
		setPicture(null);
	}

	/** What is shown; null nothing. */
	void setPicture(ShownPicture p) {
		if (picture == null || p == null || p.state().producer() != picture.state().producer()) {
			space.reset();
		}
		picture = p;
		dropImage();
		hover(null);
		if (p != null && getDisplay().getCursorControl() == this) {
			Point at = toControl(getDisplay().getCursorLocation());
			hover(p.hit(at.x, at.y));
		}
		redraw();
	}

	ShownPicture picture() {
		return picture;
	}

	private void dropImage() {
		if (image != null) {
			image.dispose();
			image = null;
		}
	}

	// ---- painting

	private void paint(Event e) {
		Rectangle area = getClientArea();
		GC gc = e.gc;
		gc.setBackground(getBackground());
		gc.fillRectangle(area);
		if (picture == null) {
			return;
		}
		if (image == null) {
			image = ScenePainter.image(getDisplay(), picture.picture().scene());
		}
		Rectangle plot = picture.plot();
		ViewState now = selection == null ? picture.state() : selection.state();
		if (panning && dragFrom != null && dragTo != null) {
			gc.drawImage(image, 0, 0);
			paintMoved(gc, plot, dragTo.x - dragFrom.x);
		} else if (now.producer() == picture.state().producer() && now.fromNs() == picture.state().fromNs()
				&& now.toNs() == picture.state().toNs()) {
			gc.drawImage(image, 0, 0);
			paintMarks(gc, plot);
		} else {
			gc.drawImage(image, 0, 0);
			paintMapped(gc, plot, picture.mapped(now));
		}
		if (isFocusControl()) {
			gc.setForeground(getDisplay().getSystemColor(SWT.COLOR_LIST_SELECTION));
			gc.setLineWidth(1);
			gc.drawRectangle(plot.x - 2, plot.y - 2, plot.width + 3, plot.height + 3);
		}
	}

	/** The old picture shifted in time, while the hand pans. */
	private void paintMoved(GC gc, Rectangle plot, int dx) {
		gc.setClipping(plot);
		gc.fillRectangle(plot);
		gc.drawImage(image, plot.x, plot.y, plot.width, plot.height, plot.x + dx, plot.y, plot.width, plot.height);
		gc.setClipping((Rectangle) null);
	}

	/** The old picture where it belongs in the new window, until the new picture is there. */
	private void paintMapped(GC gc, Rectangle plot, ShownPicture.Mapping m) {
		gc.setClipping(plot);
		gc.fillRectangle(plot);
		if (m != null) {
			gc.setInterpolation(SWT.NONE);
			gc.drawImage(image, m.source().x, m.source().y, m.source().width, m.source().height, m.target().x,
					m.target().y, m.target().width, m.target().height);
		}
		gc.setClipping((Rectangle) null);
	}

	private void paintMarks(GC gc, Rectangle plot) {
		gc.setAntialias(SWT.ON);
		Color mark = getForeground();
		if (selection != null && selection.mark() != TraceSelection.NO_MARK) {
			Rectangle r = picture.area(selection.mark());
			if (r != null) {
				gc.setLineWidth(2);
				gc.setForeground(getDisplay().getSystemColor(SWT.COLOR_LIST_SELECTION));
				gc.drawRectangle(r.x, r.y, r.width - 1, r.height - 1);
			}
		}
		gc.setForeground(mark);
		if (dragFrom != null && dragTo != null && !panning) {
			Target t = target();
			if (t != null) {
				gc.setAlpha(70);
				gc.setBackground(getBackground());
				Rectangle s = t.area;
				// everything outside fades: one sees what will be shown
				gc.fillRectangle(plot.x, plot.y, plot.width, s.y - plot.y);
				gc.fillRectangle(plot.x, s.y + s.height, plot.width, plot.y + plot.height - s.y - s.height);
				gc.fillRectangle(plot.x, s.y, s.x - plot.x, s.height);
				gc.fillRectangle(s.x + s.width, s.y, plot.x + plot.width - s.x - s.width, s.height);
				gc.setAlpha(255);
				gc.setLineWidth(1);
				gc.drawRectangle(s.x, s.y, s.width - 1, s.height - 1);
			}
			gc.setLineStyle(SWT.LINE_DASH);
			gc.drawRectangle(Math.min(dragFrom.x, dragTo.x), Math.min(dragFrom.y, dragTo.y),
					Math.abs(dragTo.x - dragFrom.x), Math.abs(dragTo.y - dragFrom.y));
			gc.setLineStyle(SWT.LINE_SOLID);
		} else if (hover != null) {
			Rectangle r = hover.area();
			gc.setLineWidth(1);
			gc.drawRectangle(r.x, r.y, r.width - 1, r.height - 1);
		}
	}

	// ---- mouse

	/** What a drag asks for: snapped to slices and to the smallest producer that holds all touched rows. */
	private record Target(long fromNs, long toNs, int producer, Rectangle area) {
	}

	private Target target() {
		int dx = Math.abs(dragTo.x - dragFrom.x);
		int dy = Math.abs(dragTo.y - dragFrom.y);
		if (dx < MIN_DRAG && dy < MIN_DRAG) {
			return null;
		}
		Rectangle plot = picture.plot();
		Hierarchy h = picture.model().hierarchy();
		int first = 0;
		int end = picture.model().sliceCount();
		if (dx >= MIN_DRAG) {
			first = picture.sliceAt(Math.min(dragFrom.x, dragTo.x));
			end = picture.sliceAt(Math.max(dragFrom.x, dragTo.x)) + 1;
		}
		int node = 0;
		if (dy >= MIN_DRAG) {
			node = h.smallestContaining(picture.leafAt(Math.min(dragFrom.y, dragTo.y)),
					picture.leafAt(Math.max(dragFrom.y, dragTo.y)) + 1);
		}
		int producer = h.producer(node) == Hierarchy.NO_PRODUCER ? picture.state().producer() : h.producer(node);
		int x0 = picture.xOfSlice(first);
		int y0 = picture.yOfLeaf(h.leafFrom(node));
		Rectangle area = new Rectangle(x0, y0, picture.xOfSlice(end) - x0, picture.yOfLeaf(h.leafTo(node)) - y0);
		area.intersect(plot);
		return new Target(picture.model().slices().boundNs(first), picture.model().slices().boundNs(end), producer, area);
	}

	private void mouseDown(Event e) {
		setFocus();
		if (picture == null || selection == null) {
			return;
		}
		if (dragFrom != null) {
			endDrag();
			return;
		}
		if ((e.button == 1 || e.button == 2) && picture.plot().contains(e.x, e.y)) {
			dragFrom = new Point(e.x, e.y);
			dragTo = dragFrom;
			panning = e.button == 2;
			setCursor(panning ? hand : null);
		} else if (e.button == 1) {
			picture.stripProducer(e.x, e.y).ifPresent(id -> {
				selection.mark(picture.trace().memberOf(id));
			});
		}
	}

	private void mouseMove(Event e) {
		if (picture == null) {
			return;
		}
		if (dragFrom != null) {
			dragTo = new Point(e.x, e.y);
			redraw();
			return;
		}
		setCursor(picture.plot().contains(e.x, e.y) ? cross : null);
		hover(picture.hit(e.x, e.y));
	}

	private void mouseUp(Event e) {
		if (dragFrom == null || picture == null || selection == null) {
			endDrag();
			return;
		}
		dragTo = new Point(e.x, e.y);
		boolean pan = panning;
		int dx = dragTo.x - dragFrom.x;
		Target target = pan ? null : target();
		endDrag();
		if (pan) {
			ViewState s = selection.state();
			long shift = Math.round((double) -dx * s.durationNs() / picture.plot().width);
			if (shift != 0) {
				selection.window(s.fromNs() + shift, s.toNs() + shift);
			}
		} else if (target != null) {
			selection.zoom(target.fromNs(), target.toNs(), target.producer());
		} else {
			ShownPicture.Hit hit = picture.hit(e.x, e.y);
			if (hit != null) {
				selection.mark(picture.trace().memberOf(hit.producer()));
			}
		}
	}

	private void endDrag() {
		dragFrom = null;
		dragTo = null;
		panning = false;
		setCursor(null);
		redraw();
	}

	private void doubleClick(Event e) {
		endDrag();
		if (picture == null || selection == null || e.button != 1) {
			return;
		}
		ShownPicture.Hit hit = picture.hit(e.x, e.y);
		if (hit != null) {
			selection.zoom(hit.fromNs(), hit.toNs(), hit.producer());
		} else {
			picture.stripProducer(e.x, e.y).ifPresent(
					id -> selection.zoom(selection.state().fromNs(), selection.state().toNs(), id));
		}
	}

	private void wheel(Event e) {
		if (picture == null || selection == null || e.count == 0) {
			return;
		}
		e.doit = false;
		int notches = Math.max(-3, Math.min(3, e.count));
		ViewState s = selection.state();
		beginWheel();
		if ((e.stateMask & SWT.SHIFT) != 0) {
			long shift = -notches * s.durationNs() / 10;
			selection.window(s.fromNs() + shift, s.toNs() + shift);
			return;
		}
		Rectangle plot = picture.plot();
		double factor = Math.pow(WHEEL_FACTOR, notches);
		double x = Math.max(0, Math.min(1, (double) (e.x - plot.x) / plot.width));
		double y = Math.max(0, Math.min(1, (double) (e.y - plot.y) / plot.height));
		int producer = (e.stateMask & SWT.MOD1) != 0 ? s.producer() : producerAfterTurn(y, factor);
		zoomTime(x, factor, producer);
	}

	/** Keeps the instant at fraction {@code x} of the window where it is. */
	private void zoomTime(double x, double factor, int producer) {
		ViewState s = selection.state();
		double at = s.fromNs() + x * s.durationNs();
		long from = Math.round(at - x * s.durationNs() * factor);
		long to = Math.round(at + (1 - x) * s.durationNs() * factor);
		selection.zoom(from, to, producer);
	}

	private int producerAfterTurn(double y, double factor) {
		ViewState s = selection.state();
		if (s.producer() != picture.state().producer()) {
			// the picture of the new producer is not there yet: rows are unknown
			return s.producer();
		}
		Hierarchy h = picture.model().hierarchy();
		space.turn(y, factor);
		if (space.wantsParent()) {
			space.reset();
			return picture.parentProducer();
		}
		int leaves = h.leafCount();
		int first = (int) Math.max(0, Math.min(leaves - 1, Math.floor(space.top() * leaves)));
		int end = (int) Math.max(first + 1, Math.min(leaves, Math.ceil(space.bottom() * leaves)));
		int node = h.smallestContaining(first, end);
		if (node != 0 && h.producer(node) != Hierarchy.NO_PRODUCER && h.producer(node) != s.producer()) {
			space.reset();
			return h.producer(node);
		}
		return s.producer();
	}

	/** Turns in quick succession are one step of the history. */
	private void beginWheel() {
		selection.beginGesture();
		TraceSelection s = selection;
		Runnable end = new Runnable() {
			@Override
			public void run() {
				if (endWheel == this) {
					endWheel = null;
					s.endGesture();
				}
			}
		};
		endWheel = end;
		getDisplay().timerExec(WHEEL_GESTURE_MS, end);
	}

	private void hover(ShownPicture.Hit hit) {
		if (hit == null ? hover == null : hit.equals(hover)) {
			return;
		}
		hover = hit;
		setToolTipText(null);
		if (hit == null) {
			describing.cancel();
		} else {
			describing.submit(new Hovered(picture, hit));
		}
		redraw();
	}

	// ---- keys

	private void key(Event e) {
		if (selection == null) {
			return;
		}
		if (e.keyCode == SWT.ESC && dragFrom != null) {
			endDrag();
			return;
		}
		boolean control = (e.stateMask & SWT.MOD1) != 0;
		if ((e.stateMask & SWT.ALT) != 0) {
			if (e.keyCode == SWT.ARROW_LEFT) {
				selection.back();
			} else if (e.keyCode == SWT.ARROW_RIGHT) {
				selection.forward();
			}
			return;
		}
		ViewState s = selection.state();
		switch (e.keyCode) {
		case SWT.ESC, SWT.BS -> selection.back();
		case SWT.HOME -> levels.automatic();
		case SWT.ARROW_LEFT, SWT.ARROW_UP -> {
			if (control) {
				selection.window(s.fromNs() - s.durationNs() / 10, s.toNs() - s.durationNs() / 10);
			} else {
				levels.step(true);
			}
		}
		case SWT.ARROW_RIGHT, SWT.ARROW_DOWN -> {
			if (control) {
				selection.window(s.fromNs() + s.durationNs() / 10, s.toNs() + s.durationNs() / 10);
			} else {
				levels.step(false);
			}
		}
		case '+', '=', SWT.KEYPAD_ADD -> zoomTime(0.5, WHEEL_FACTOR, s.producer());
		case '-', SWT.KEYPAD_SUBTRACT -> zoomTime(0.5, 1 / WHEEL_FACTOR, s.producer());
		case 'u' -> selection.up();
		case 'w' -> selection.reset();
		default -> {
		}
		}
	}

	// ---- for those who do not see it

	private void describe() {
		getAccessible().addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = "Memory accesses over time and memory";
			}

			@Override
			public void getDescription(AccessibleEvent e) {
				e.result = picture == null ? "No picture" : picture.summary();
			}
		});
		getAccessible().addAccessibleControlListener(new AccessibleControlAdapter() {
			@Override
			public void getRole(AccessibleControlEvent e) {
				e.detail = ACC.ROLE_GRAPHIC;
			}
		});
	}
}
