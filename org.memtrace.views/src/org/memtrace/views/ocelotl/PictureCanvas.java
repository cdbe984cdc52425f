// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Cursor;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Menu;
import org.eclipse.swt.widgets.MenuItem;
import org.eclipse.swt.widgets.ScrollBar;
import org.eclipse.swt.widgets.Shell;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.analysis.machine.MachineFilters;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.machine.Sides;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.SpaceZoom;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.HoverTip;
import org.memtrace.views.paint.SceneImage;
import org.memtrace.views.paint.TimeCursor;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.HistoryKeys;
import org.memtrace.views.util.WheelGesture;

/**
 * Shows a {@link ShownPicture} and turns mouse and keys into changes of the {@link TraceSelection}. It paints what it has at
 * once: until the picture of a new state is ready, the old one is shown where it belongs in the new window.
 */
final class PictureCanvas extends Canvas {
	/** What gestures ask from the view. */
	interface Host {
		/** @param finer next finer significant p, else next coarser */
		void step(boolean finer);

		/** The level that the picture chooses. */
		void automatic();

		/** Hides a type in the drawing, or shows it again. */
		void toggle(String type);

		/** Shows all types again. */
		void showAll();

		/** Another block is looked at; null none. */
		void looked(ShownPicture.Hit hit);

		/** Other rows are to be shown. */
		void scrolled();

		/** Rows are to be higher by this factor. */
		void stretch(double factor);
	}

	private record Hovered(ShownPicture picture, ShownPicture.Hit hit) {
	}

	/** Shorter drags are clicks. */
	private static final int MIN_DRAG = 6;
	private static final double WHEEL_FACTOR = 0.8;
	/** Marked rows lower than this get a wedge in the margin, of this size. */
	private static final int LEAST_MARK = 8;
	private static final int WEDGE = 7;
	/** Pixels of a line, and lines of a notch of the wheel. */
	private static final int LINE = 20;
	private static final int WHEEL_LINES = 3;

	private final Host host;
	private final Models models;
	private final HoverTip tip = new HoverTip(this);
	/** The time at which somebody points in another view. */
	private final TimeCursor timeCursor = new TimeCursor(this, this::timeScale, true);
	private final SpaceZoom space = new SpaceZoom();
	private final LatestResult<Hovered, String> describing;
	private final Cursor cross;
	private final Cursor hand;
	private TraceSelection selection;
	private ShownPicture picture;
	private SceneImage image;
	private Point dragFrom;
	private Point dragTo;
	private boolean panning;
	/** Pixels of rows above those that shall be shown. */
	private int rowsTop;
	private ShownPicture.Hit hover;
	private String hoverText;
	private Point pointer;
	private long pointerMovedMs;
	/** The block that was clicked or that the keys went to; null none. */
	private ShownPicture.Hit cursor;
	private final WheelGesture wheelGesture = new WheelGesture();

	PictureCanvas(Composite parent, Host host, Models models) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND | SWT.V_SCROLL);
		this.host = host;
		this.models = models;
		cross = getDisplay().getSystemCursor(SWT.CURSOR_CROSS);
		hand = getDisplay().getSystemCursor(SWT.CURSOR_HAND);
		describing = new LatestResult<>("Describe block", this, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected String compute(Hovered input, Progress progress) throws MemtraceException {
				return HitText.of(input.picture(), input.hit(), progress);
			}

			@Override
			protected void show(Hovered input, String text) {
				hoverText = text;
				showTip();
			}
		};
		addListener(SWT.Paint, this::paint);
		addListener(SWT.MouseDown, this::mouseDown);
		addListener(SWT.MouseMove, this::mouseMove);
		addListener(SWT.MouseUp, this::mouseUp);
		addListener(SWT.MouseDoubleClick, this::doubleClick);
		addListener(SWT.MouseExit, e -> hover(null));
		addListener(SWT.MenuDetect, this::menu);
		addListener(SWT.MouseVerticalWheel, this::wheel);
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.Traverse, e -> {
			// arrows and escape are ours, Tab is for leaving
			e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS;
		});
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> {
			tip.hide();
			redraw();
		});
		addListener(SWT.Dispose, e -> dropImage());
		getVerticalBar().setVisible(false);
		getVerticalBar().addListener(SWT.Selection, e -> scrollTo(getVerticalBar().getSelection()));
		describe();
	}

	/** The selection that gestures change; null none. */
	void setSelection(TraceSelection s) {
		selection = s;
		timeCursor.follow(s);
		setPicture(null);
	}

	/** What is shown; null nothing. */
	void setPicture(ShownPicture p) {
		if (picture == null || p == null || p.state().producer() != picture.state().producer()) {
			space.reset();
		}
		ShownPicture before = picture;
		picture = p;
		int wanted = placeRows(before);
		dropImage();
		hover(null);
		if (cursor != null) {
			// the block that is now where the old one was, while the rows and slices are the same
			boolean same = p != null && before != null && p.state().sameModel(before.state()) && p.choice().sameDescription(before.choice());
			place(same ? p.hitCell(cursor.what().leafFrom(), cursor.what().firstSlice()) : null);
		}
		if (p != null && getDisplay().getCursorControl() == this) {
			Point at = toControl(getDisplay().getCursorLocation());
			pointer = at;
			hover(p.hit(at.x, at.y));
		}
		redraw();
		if (wanted != rowsTop) {
			scrollTo(wanted);
		}
	}

	// ---- rows that do not fit in

	/** Whether there are more rows than are shown. */
	private boolean isScrolled() {
		return picture != null && picture.isPart();
	}

	/** Pixels of rows above those that shall be shown. */
	int rowsTop() {
		return rowsTop;
	}

	/** Rows to be shown after a new picture has come: those of before, if it has them. */
	private int placeRows(ShownPicture before) {
		boolean part = isScrolled();
		if (!part) {
			rowsTop = 0;
		} else if (before == null || before.state().producer() != picture.state().producer()) {
			rowsTop = picture.rowsTop();
		} else {
			rowsTop = Math.min(rowsTop, picture.rowsHeight() - picture.plot().height);
		}
		bar();
		boolean others = part && before != null && before.isPart() && before.rowsHeight() != picture.rowsHeight()
				&& before.model().hierarchy().leafCount() == picture.model().hierarchy().leafCount();
		return others ? mostRows(picture.rowsTo(before.leafAt(before.plot().y))) : rowsTop;
	}

	private int mostRows(int top) {
		return Math.max(0, Math.min(top, picture.rowsHeight() - picture.plot().height));
	}

	private void bar() {
		ScrollBar bar = getVerticalBar();
		boolean part = isScrolled();
		if (bar.getVisible() != part) {
			bar.setVisible(part);
		}
		if (part) {
			int page = picture.plot().height;
			bar.setValues(rowsTop, 0, picture.rowsHeight(), page, LINE, Math.max(LINE, page - LINE));
		}
	}

	/** Shows other rows; nothing while all are seen. */
	void scrollTo(int top) {
		if (!isScrolled()) {
			return;
		}
		int now = mostRows(top);
		if (now != rowsTop) {
			rowsTop = now;
			tip.hide();
			bar();
			redraw();
			host.scrolled();
		}
	}

	/** Scrolls so that a leaf is in the middle. */
	void center(int leaf) {
		if (isScrolled()) {
			scrollTo(picture.rowsTo(leaf) - picture.plot().height / 2);
		}
	}

	/** Scrolls to some leaves if nothing of them is seen. */
	private void reveal(int leafFrom, int leafTo) {
		if (isScrolled() && (picture.rowsTo(leafTo) <= rowsTop || picture.rowsTo(leafFrom) >= rowsTop + picture.plot().height)) {
			scrollTo(picture.rowsTo(leafFrom) - picture.plot().height / 3);
		}
	}

	/** Scrolls to the first of what is marked if nothing of that is seen. */
	void revealMarks() {
		if (!isScrolled() || selection == null || !picture.rowsAreMemory()) {
			return;
		}
		Hierarchy h = picture.model().hierarchy();
		int first = -1;
		for (int id : selection.marks()) {
			int node = h.nodeOf(id);
			if (picture.area(id) != null) {
				return;
			}
			if (node >= 0 && (first < 0 || h.leafFrom(node) < h.leafFrom(first))) {
				first = node;
			}
		}
		if (first >= 0) {
			reveal(h.leafFrom(first), h.leafTo(first));
		}
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

	/** That of the window as it is now: until it is drawn, what was drawn before stands where it belongs. */
	private TimeCursor.Scale timeScale() {
		if (picture == null || selection == null || !picture.columnsAreTime()) {
			return null;
		}
		Rectangle plot = picture.plot();
		ViewState s = selection.state();
		return new TimeCursor.Scale(plot.x, plot.y, plot.width, plot.height, s.fromNs(), s.toNs(), picture.trace().info().startNs(),
				picture.trace().info().isInTicks());
	}

	/** For tests. */
	TimeCursor timeCursor() {
		return timeCursor;
	}

	private void paint(Event e) {
		Rectangle area = getClientArea();
		GC gc = e.gc;
		gc.setBackground(getBackground());
		gc.fillRectangle(area);
		if (picture == null) {
			return;
		}
		if (image == null) {
			image = new SceneImage(this, picture.picture().scene());
		}
		Rectangle plot = picture.plot();
		ViewState now = selection == null ? picture.state() : selection.state();
		int dy = picture.rowsTop() - rowsTop;
		if (panning && dragFrom != null && dragTo != null) {
			image.draw(gc);
			paintMoved(gc, plot, dragTo.x - dragFrom.x, isScrolled() ? dragTo.y - dragFrom.y : 0);
		} else if (dy != 0 && now.producer() == picture.state().producer()) {
			image.draw(gc);
			paintMoved(gc, plot, 0, dy);
		} else if (now.producer() == picture.state().producer() && now.fromNs() == picture.state().fromNs()
				&& now.toNs() == picture.state().toNs()) {
			image.draw(gc);
			paintMarks(gc, plot);
		} else {
			image.draw(gc);
			paintMapped(gc, plot, picture.mapped(now));
		}
		if (isFocusControl()) {
			gc.setForeground(getDisplay().getSystemColor(SWT.COLOR_LIST_SELECTION));
			gc.setLineWidth(1);
			gc.drawRectangle(plot.x - 2, plot.y - 2, plot.width + 3, plot.height + 3);
		}
		timeCursor.paint(gc);
		tip.paint(gc);
	}

	/** The old picture shifted, while the hand pans, or until other rows are drawn. */
	private void paintMoved(GC gc, Rectangle plot, int dx, int dy) {
		if (dy != 0) {
			gc.setClipping(0, plot.y, plot.x, plot.height); // the names
			gc.fillRectangle(0, plot.y, plot.x, plot.height);
			image.draw(gc, 0, plot.y, plot.x, plot.height, 0, plot.y + dy, plot.x, plot.height);
		}
		gc.setClipping(plot);
		gc.fillRectangle(plot);
		image.draw(gc, plot.x, plot.y, plot.width, plot.height, plot.x + dx, plot.y + dy, plot.width, plot.height);
		gc.setClipping((Rectangle) null);
	}

	/** The old picture where it belongs in the new window, until the new picture is there. */
	private void paintMapped(GC gc, Rectangle plot, ShownPicture.Mapping m) {
		gc.setClipping(plot);
		gc.fillRectangle(plot);
		if (m != null) {
			gc.setInterpolation(SWT.NONE);
			image.draw(gc, m.source().x, m.source().y, m.source().width, m.source().height, m.target().x,
					m.target().y, m.target().width, m.target().height);
		}
		gc.setClipping((Rectangle) null);
	}

	/** Rows of what is marked; what is too low to be seen gets a wedge in the margin at each side. */
	private void paintMarked(GC gc, Rectangle plot, int[] marks) {
		Color selected = getDisplay().getSystemColor(SWT.COLOR_LIST_SELECTION);
		gc.setLineWidth(2);
		gc.setForeground(selected);
		gc.setBackground(selected);
		for (int id : marks) {
			Rectangle r = picture.area(id);
			if (r == null) {
				continue;
			}
			if (r.height < LEAST_MARK) {
				int y = r.y + r.height / 2;
				gc.fillPolygon(new int[] {plot.x - WEDGE, y - WEDGE / 2, plot.x, y, plot.x - WEDGE, y + WEDGE / 2});
				gc.fillPolygon(new int[] {plot.x + plot.width + WEDGE, y - WEDGE / 2, plot.x + plot.width, y, plot.x + plot.width + WEDGE, y
						+ WEDGE / 2});
			}
			gc.drawRectangle(r.x, r.y, r.width - 1, Math.max(2, r.height - 1));
		}
		gc.setBackground(getBackground());
	}

	private void paintMarks(GC gc, Rectangle plot) {
		gc.setAntialias(SWT.ON);
		Color mark = getForeground();
		if (selection != null) {
			paintMarked(gc, plot, selection.marks());
		}
		if (cursor != null && !cursor.area().isEmpty()) {
			Rectangle r = cursor.area();
			gc.setLineWidth(3);
			gc.setForeground(getBackground());
			gc.drawRectangle(r.x, r.y, r.width - 1, r.height - 1);
			gc.setLineWidth(1);
			gc.setForeground(mark);
			gc.drawRectangle(r.x, r.y, r.width - 1, r.height - 1);
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
	private record Target(ShownPicture.Hit hit, Rectangle area) {
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
		if (dy >= MIN_DRAG && picture.hasRows()) {
			node = h.smallestContaining(picture.leafAt(Math.min(dragFrom.y, dragTo.y)),
					picture.leafAt(Math.max(dragFrom.y, dragTo.y)) + 1);
		}
		if (dx < MIN_DRAG && !picture.hasRows()) {
			return null;
		}
		MachineObject part = picture.rowsAreMemory() ? picture.part(first, end) : picture.part(h.leafFrom(node), h.leafTo(node));
		boolean time = picture.columnsAreTime();
		if (!time && part != null) {
			Hierarchy columns = picture.picture().columns().hierarchy();
			int smallest = columns.smallestContaining(first, end);
			first = columns.leafFrom(smallest);
			end = columns.leafTo(smallest);
		} else if (!time) {
			first = 0;
			end = picture.model().sliceCount();
		}
		int producer = !picture.rowsAreMemory() || h.producer(node) == Hierarchy.NO_PRODUCER ? picture.state().producer() : h.producer(node);
		int x0 = picture.xOfSlice(first);
		int y0 = picture.yOfLeaf(h.leafFrom(node));
		Rectangle area = new Rectangle(x0, y0, picture.xOfSlice(end) - x0, picture.yOfLeaf(h.leafTo(node)) - y0);
		area.intersect(plot);
		ViewState s = picture.state();
		return new Target(new ShownPicture.Hit(producer, time ? picture.model().slices().boundNs(first) : s.fromNs(),
				time ? picture.model().slices().boundNs(end) : s.toNs(), area, null, part), area);
	}

	private void mouseDown(Event e) {
		setFocus();
		tip.hide();
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
			ModelType type = picture.legendAt(e.x, e.y);
			if (type != null) {
				host.toggle(type.name());
				return;
			}
			MachineObject part = picture.partAt(e.x, e.y);
			if (part != null) {
				selection.filters(MachineFilters.clicked(selection.state().filters(), part, (e.stateMask & SWT.MOD1) != 0));
				return;
			}
			picture.stripProducer(e.x, e.y).ifPresent(id -> {
				selection.mark(picture.trace().memberOf(id));
			});
		}
	}

	private void mouseMove(Event e) {
		if (picture == null) {
			return;
		}
		pointer = new Point(e.x, e.y);
		pointerMovedMs = System.currentTimeMillis();
		getDisplay().timerExec(HoverTip.AFTER_MS, () -> {
			if (!isDisposed()) {
				showTip();
			}
		});
		if (dragFrom != null) {
			dragTo = new Point(e.x, e.y);
			redraw();
			return;
		}
		setCursor(picture.plot().contains(e.x, e.y) ? cross
				: picture.legendAt(e.x, e.y) != null || picture.partAt(e.x, e.y) != null ? hand : null);
		if (tip.bounds() != null && tip.bounds().contains(e.x, e.y)) {
			tip.hide(); // within the same block it would stay where it covers what is pointed at
		}
		hover(picture.hit(e.x, e.y));
	}

	/** Shows the text of the block when it is there and the pointer rests. */
	private void showTip() {
		if (pointer == null || hover == null || hoverText == null || dragFrom != null || tip.isShown()
				|| getMenu() != null && getMenu().isVisible() || isBehind()
				|| System.currentTimeMillis() - pointerMovedMs < HoverTip.AFTER_MS - 20) {
			return;
		}
		tip.show(hoverText, pointer, picture.plot());
	}

	/** Whether another window of the program is in front; without a window manager none may be active. */
	private boolean isBehind() {
		Shell active = getDisplay().getActiveShell();
		return active != null && active != getShell();
	}

	HoverTip tip() {
		return tip;
	}

	/** Puts the cursor of the keys on a block; null: on none. */
	private void look(ShownPicture.Hit hit) {
		if (isFocusControl()) {
			timeCursor.point(hit == null || !picture.columnsAreTime() ? PointedTime.NONE : hit.fromNs());
		}
		place(hit);
	}

	private void place(ShownPicture.Hit hit) {
		cursor = hit;
		host.looked(hit);
		redraw();
	}

	ShownPicture.Hit looked() {
		return cursor;
	}

	private void mouseUp(Event e) {
		if (dragFrom == null || picture == null || selection == null) {
			endDrag();
			return;
		}
		dragTo = new Point(e.x, e.y);
		boolean pan = panning;
		int dx = dragTo.x - dragFrom.x;
		int dy = dragTo.y - dragFrom.y;
		Target target = pan ? null : target();
		endDrag();
		if (pan) {
			ViewState s = selection.state();
			long shift = picture.columnsAreTime() ? Math.round((double) -dx * s.durationNs() / picture.plot().width) : 0;
			if (shift != 0) {
				selection.window(s.fromNs() + shift, s.toNs() + shift);
			}
			scrollTo(rowsTop - dy);
		} else if (target != null) {
			zoomTo(target.hit(), true, true);
		} else {
			ShownPicture.Hit hit = picture.hit(e.x, e.y);
			if (hit != null) {
				look(hit);
				selection.mark(picture.rowsAreMemory() ? picture.trace().memberOf(hit.producer()) : selection.mark());
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
			zoomTo(hit, true, true);
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
		boolean heights = (e.stateMask & SWT.SHIFT) != 0 && (e.stateMask & SWT.MOD1) != 0;
		if (heights && picture.choice().heights() == RowHeights.LINES) {
			host.stretch(Math.pow(1 / WHEEL_FACTOR, notches));
			return;
		}
		if (isScrolled() && (e.stateMask & (SWT.SHIFT | SWT.MOD1)) == 0) {
			scrollTo(rowsTop - notches * WHEEL_LINES * LINE);
			return;
		}
		ViewState s = selection.state();
		wheelGesture.turn(selection, getDisplay());
		if ((e.stateMask & SWT.SHIFT) != 0) {
			long shift = -notches * s.durationNs() / 10;
			selection.window(s.fromNs() + shift, s.toNs() + shift);
			return;
		}
		Rectangle plot = picture.plot();
		double factor = Math.pow(WHEEL_FACTOR, notches);
		double x = Math.max(0, Math.min(1, (double) (e.x - plot.x) / plot.width));
		double y = Math.max(0, Math.min(1, (double) (e.y - plot.y) / plot.height));
		int producer = (e.stateMask & SWT.MOD1) != 0 || !picture.rowsAreMemory() ? s.producer() : producerAfterTurn(y, factor);
		zoomTime(x, factor, producer);
	}

	/** Keeps the instant at fraction {@code x} of the window where it is. */
	private void zoomTime(double x, double factor, int producer) {
		ViewState s = selection.state();
		if (picture != null && !picture.columnsAreTime()) {
			selection.go(s.withProducer(producer)); // nobody sees the time here
			return;
		}
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

	private void hover(ShownPicture.Hit hit) {
		if (hit == null ? hover == null : hit.equals(hover)) {
			return;
		}
		hover = hit;
		hoverText = null;
		tip.hide();
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
		tip.hide();
		boolean control = (e.stateMask & SWT.MOD1) != 0;
		if ((e.stateMask & SWT.SHIFT) != 0 && moveCursor(e.keyCode)) {
			return;
		}
		if (HistoryKeys.taken(e, selection)) {
			return;
		}
		if (isScrolled() && scrollKey(e.keyCode, control)) {
			return;
		}
		ViewState s = selection.state();
		switch (e.keyCode) {
		case SWT.ESC -> {
			if (cursor != null) {
				look(null);
			} else {
				selection.back();
			}
		}
		case SWT.BS -> selection.back();
		case SWT.CR, SWT.KEYPAD_CR -> content(cursor);
		case 'z' -> zoomTo(cursor, true, true);
		case 'm' -> {
			if (cursor != null && picture != null && picture.rowsAreMemory()) {
				selection.mark(picture.trace().memberOf(cursor.producer()));
			}
		}
		case 'h' -> hierarchy(cursor);
		case SWT.HOME -> host.automatic();
		case SWT.ARROW_LEFT, SWT.ARROW_UP, SWT.ARROW_RIGHT, SWT.ARROW_DOWN -> {
			boolean before = e.keyCode == SWT.ARROW_LEFT || e.keyCode == SWT.ARROW_UP;
			if (control) {
				long by = before ? -(s.durationNs() / 10) : s.durationNs() / 10;
				selection.window(s.fromNs() + by, s.toNs() + by);
			} else {
				host.step(before);
			}
		}
		case '+', '=', SWT.KEYPAD_ADD -> zoomTime(0.5, WHEEL_FACTOR, s.producer());
		case '-', SWT.KEYPAD_SUBTRACT -> zoomTime(0.5, 1 / WHEEL_FACTOR, s.producer());
		case 'u' -> selection.up();
		case 'w' -> selection.reset();
		case '0' -> host.showAll();
		default -> {
			int type = e.character - '1';
			if (picture != null && type >= 0 && type < 9 && type < picture.model().typeCount()) {
				host.toggle(picture.model().types().get(type).name());
			}
		}
		}
	}

	/** The keys for rows that do not fit in; returns whether it was one of them. */
	private boolean scrollKey(int key, boolean control) {
		int page = picture.plot().height - LINE;
		switch (key) {
		case SWT.PAGE_UP -> scrollTo(rowsTop - page);
		case SWT.PAGE_DOWN -> scrollTo(rowsTop + page);
		default -> {
			if (!control) {
				return false;
			}
			switch (key) {
			case SWT.ARROW_UP -> scrollTo(rowsTop - LINE);
			case SWT.ARROW_DOWN -> scrollTo(rowsTop + LINE);
			case SWT.HOME -> scrollTo(0);
			case SWT.END -> scrollTo(picture.rowsHeight());
			default -> {
				return false;
			}
			}
		}
		}
		return true;
	}

	/** From block to block with the arrows; returns whether it was one of them. */
	private boolean moveCursor(int key) {
		if (picture == null || key != SWT.ARROW_LEFT && key != SWT.ARROW_RIGHT && key != SWT.ARROW_UP && key != SWT.ARROW_DOWN) {
			return false;
		}
		int leaves = picture.model().hierarchy().leafCount();
		int slices = picture.model().sliceCount();
		if (cursor == null) {
			look(picture.hitCell(isScrolled() ? picture.leafAt(picture.plot().y) : 0, 0));
			return true;
		}
		Picture.Hit at = cursor.what();
		int leaf = at.leafFrom();
		int slice = at.firstSlice();
		switch (key) {
		case SWT.ARROW_LEFT -> slice = at.firstSlice() - 1;
		case SWT.ARROW_RIGHT -> slice = at.endSlice();
		case SWT.ARROW_UP -> leaf = at.leafFrom() - 1;
		default -> leaf = at.leafTo();
		}
		if (leaf >= 0 && leaf < leaves && slice >= 0 && slice < slices) {
			ShownPicture.Hit next = picture.hitCell(leaf, slice);
			if (next != null) {
				look(next);
				reveal(next.what().leafFrom(), next.what().leafTo());
			}
		}
		return true;
	}

	/** A part of the machine is a filter; it stays as it is when only memory or only time is zoomed. */
	private void zoomTo(ShownPicture.Hit hit, boolean inTime, boolean inMemory) {
		if (hit != null && selection != null) {
			ViewState s = selection.state();
			ViewState clipped = selection.clip(inTime ? hit.fromNs() : s.fromNs(), inTime ? hit.toNs() : s.toNs())
					.withProducer(inMemory ? hit.producer() : s.producer());
			selection.go(inTime && inMemory ? clipped.withFilters(hit.zoomed(s).filters()) : clipped);
		}
	}

	/** Only the CPUs of a block, everywhere in the group. */
	private void filterTo(ShownPicture.Hit hit) {
		if (hit != null && hit.part() != null && selection != null) {
			selection.filters(MachineFilters.only(selection.state().filters(), hit.part()));
		}
	}

	private void content(ShownPicture.Hit hit) {
		if (hit != null && picture != null && selection != null) {
			BlockContent.open(this, picture, hit, selection, models);
		}
	}

	private void hierarchy(ShownPicture.Hit hit) {
		if (picture != null && selection != null) {
			ProducerPopup.open(this, picture, selection, hit != null && picture.rowsAreMemory() ? hit.producer() : picture.state().producer());
		}
	}

	// ---- context menu

	private void menu(Event e) {
		tip.hide();
		Menu old = getMenu();
		if (old != null) {
			old.dispose();
		}
		if (picture == null || selection == null) {
			return;
		}
		ShownPicture.Hit hit = cursor;
		if (e.detail == SWT.MENU_MOUSE) {
			Point at = toControl(e.x, e.y);
			hit = picture.hit(at.x, at.y);
			look(hit);
		}
		ShownPicture.Hit block = hit;
		Menu menu = new Menu(this);
		setMenu(menu);
		boolean memory = picture.rowsAreMemory();
		boolean time = picture.columnsAreTime();
		boolean part = block != null && block.part() != null;
		item(menu, "Content of the block…\tEnter", block != null, () -> content(block));
		item(menu, "Zoom to the block\tZ", block != null, () -> zoomTo(block, true, true));
		item(menu, "Zoom to its time", block != null && time && (memory || part), () -> zoomTo(block, true, false));
		boolean accesses = picture.trace().hasAccesses();
		item(menu, accesses ? "Zoom to its memory" : "Zoom to its producers", block != null && memory, () -> zoomTo(block, false, true));
		item(menu, (accesses ? "Mark its structure in all views" : "Mark its producer in all views") + "\tM", block != null && memory,
				() -> selection.mark(picture.trace().memberOf(block.producer())));
		if (picture.choice().kind().sides().hasMachine()) {
			item(menu, part ? "Only " + block.part().shortLabel() + " in all views" : "Only its CPUs in all views", part, () -> filterTo(block));
		}
		item(menu, "Hierarchy…\tH", true, () -> hierarchy(block));
		new MenuItem(menu, SWT.SEPARATOR);
		ModelType main = block == null ? null : strongest(block);
		item(menu, main == null ? "Hide the type" : "Hide " + ModelText.type(main).replace("&", "&&"), main != null,
				() -> host.toggle(main.name()));
		item(menu, "Show all types\t0", !picture.choice().hidden().isEmpty(), host::showAll);
		new MenuItem(menu, SWT.SEPARATOR);
		item(menu, "Back\tBackspace", selection.canGoBack(), selection::back);
		item(menu, "Parent\tU", selection.state().producer() != selection.initial().producer(), selection::up);
		item(menu, "Whole trace\tW", true, selection::reset);
	}

	private static void item(Menu menu, String text, boolean enabled, Runnable action) {
		MenuItem item = new MenuItem(menu, SWT.PUSH);
		item.setText(text);
		item.setEnabled(enabled);
		item.addListener(SWT.Selection, e -> action.run());
	}

	/** The type whose colour a block has. */
	private ModelType strongest(ShownPicture.Hit hit) {
		Picture.Hit h = hit.what();
		double[] values = picture.model().values(h.leafFrom(), h.leafTo(), h.firstSlice(), h.endSlice());
		int main = -1;
		for (int k = 0; k < values.length; k++) {
			boolean hidden = picture.choice().hidden().contains(picture.model().types().get(k).name());
			if (!hidden && values[k] > 0 && (main < 0 || values[k] > values[main])) {
				main = k;
			}
		}
		return main < 0 ? null : picture.model().types().get(main);
	}

	// ---- for those who do not see it

	/** The block that the keys went to, in words. */
	private String blockText() {
		ModelType main = strongest(cursor);
		String name = cursor.producer() < 0 ? "all" : picture.trace().producers().name(cursor.producer());
		TraceInfo info = picture.trace().info();
		String where = (cursor.part() == null ? "" : ", " + cursor.part().shortLabel()) + (!picture.columnsAreTime() ? ""
				: ", " + Units.duration(info, cursor.fromNs() - info.startNs()) + " to " + Units.duration(info, cursor.toNs() - info.startNs()));
		return name + where + ", " + (main == null ? "nothing" : ModelText.type(main));
	}

	private void describe() {
		Accessibility.graphic(this,
				() -> picture == null || picture.trace().hasAccesses() ? picture == null || picture.choice().kind().sides() == Sides.MEMORY_TIME
						? "Memory use over time and memory" : "Memory use: " + picture.choice().kind().title(true) : "Events over time and producers",
				() -> picture == null ? "No picture"
						: cursor == null ? picture.summary() : picture.summary() + "; block: " + blockText(),
				null);
	}
}
