// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.ScrollBar;
import org.memtrace.analysis.gantt.GanttPicture.Area;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttPresenter.Span;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.paint.HoverTip;
import org.memtrace.views.paint.SceneImage;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.paint.TimeCursor;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.HistoryKeys;
import org.memtrace.views.util.WheelGesture;

/**
 * Shows a {@link ShownGantt} and turns mouse and keys into changes of the {@link TraceSelection} and of the rows. It paints what
 * it has at once: until the picture of a new state is ready, the old one is shown where it belongs in the new window.
 */
final class GanttCanvas extends Canvas {
	/** What the view does for the canvas. */
	interface Listener {
		/** Another row shall be the first. */
		void scrollTo(int row);

		void toggle(int row);

		/** A row was clicked; {@code hit} is what is there, null when keys chose the row. */
		void select(int row, GanttPicture.Hit hit);

		/** Zoom to what is at a place. */
		void zoomTo(GanttPicture.Hit hit);

		void toggleType(int type);

		void jump(GanttPicture.Hit flag);

		/** The next record of the selected row. */
		void step(boolean forward);

		void labelWidth(double width);

		void rowHeight(int steps);

		/** What the mouse is over; null nothing. */
		void hover(GanttPicture.Hit hit);

		/** A key that is not for the canvas. */
		void key(Event e);
	}

	private enum Drag {
		NONE, INTERVAL, MARKED, PAN, MINIMAP, LABELS
	}

	/** Shorter drags are clicks. */
	private static final int MIN_DRAG = 5;
	private static final double WHEEL_FACTOR = 0.8;
	private static final int WHEEL_ROWS = 3;

	private final Listener listener;
	private TraceSelection selection;
	private GanttRows rows;
	private ShownGantt shown;
	private SceneImage image;
	private int firstRow;
	private int selectedRow = -1;
	private Span selected;
	private Span marked;
	private Drag drag = Drag.NONE;
	private Point dragFrom;
	private Point dragTo;
	private int dragFirstRow;
	private GanttPicture.Hit hover;
	/** Painted, because a tooltip of the window system leaves the screen where the window ends with it. */
	private final HoverTip tip = new HoverTip(this);
	/** The time at which somebody points in another view. */
	private final TimeCursor timeCursor = new TimeCursor(this, this::timeScale, true);
	/** What the tip says about {@link #hover}, null when that is not known yet. */
	private String tipText;
	private Point pointer;
	private boolean resting;
	private int moves;
	private final WheelGesture wheelGesture = new WheelGesture();
	private String empty = "";
	/** Keys that came before the rows. */
	private final List<Event> early = new ArrayList<>();

	GanttCanvas(Composite parent, Listener listener) {
		super(parent, SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND | SWT.V_SCROLL);
		this.listener = listener;
		addListener(SWT.Paint, this::paint);
		addListener(SWT.MouseDown, this::mouseDown);
		addListener(SWT.MouseMove, this::mouseMove);
		addListener(SWT.MouseUp, this::mouseUp);
		addListener(SWT.MouseDoubleClick, this::doubleClick);
		addListener(SWT.MouseExit, e -> hover(null));
		addListener(SWT.MouseVerticalWheel, this::wheel);
		addListener(SWT.MouseHorizontalWheel, this::wheelSideways);
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.Traverse, e -> {
			// arrows and escape are ours, Tab is for leaving
			e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS;
		});
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> redraw());
		addListener(SWT.Dispose, e -> dropImage());
		getVerticalBar().addListener(SWT.Selection, e -> listener.scrollTo(getVerticalBar().getSelection()));
		scrollBar();
		describe();
	}

	/** The selection that gestures change; null none. */
	void setSelection(TraceSelection s) {
		selection = s;
		timeCursor.follow(s);
		selected = null;
		marked = null;
		selectedRow = -1;
		setPicture(null);
	}

	/** The rows that can be scrolled to. */
	void setRows(GanttRows now, int first, int row) {
		rows = now;
		firstRow = first;
		selectedRow = row;
		scrollBar();
		redraw();
		if (now == null) {
			early.clear();
		} else if (!early.isEmpty()) {
			List<Event> keys = List.copyOf(early);
			early.clear();
			OnDisplay.later(this, () -> keys.forEach(this::key));
		}
	}

	/** What is shown; null nothing. */
	void setPicture(ShownGantt now) {
		dropImage();
		shown = now;
		if (now != null) {
			scrollBar();
		}
		hover(null);
		redraw();
	}

	/** What stands there when there is no picture. */
	void setEmpty(String text) {
		empty = text;
		redraw();
	}

	ShownGantt shown() {
		return shown;
	}

	GanttPicture picture() {
		return shown == null ? null : shown.picture();
	}

	int firstRow() {
		return firstRow;
	}

	void setFirstRow(int row) {
		firstRow = row;
		getVerticalBar().setSelection(row);
		redraw();
	}

	int selectedRow() {
		return selectedRow;
	}

	/** The record that is selected; null none. */
	Span selected() {
		return selected;
	}

	void setSelected(int row, Span span) {
		selectedRow = row;
		selected = span;
		if (isFocusControl()) {
			timeCursor.point(span == null ? PointedTime.NONE : span.fromNs());
		}
		redraw();
	}

	/** The interval that was chosen with Shift and the mouse; null none. */
	Span marked() {
		return marked;
	}

	void setMarked(Span span) {
		marked = span;
		redraw();
	}

	GanttPicture.Hit hover() {
		return hover;
	}

	private void scrollBar() {
		ScrollBar bar = getVerticalBar();
		int count = rows == null ? 0 : rows.count();
		int whole = shown == null ? 1 : shown.picture().wholeRows();
		boolean needed = count > whole;
		bar.setEnabled(needed);
		bar.setValues(needed ? firstRow : 0, 0, Math.max(1, count), Math.max(1, Math.min(whole, count)), 1, Math.max(1, whole - 1));
	}

	private void dropImage() {
		if (shown != null) {
			shown.dispose();
		}
		if (image != null) {
			image.dispose();
			image = null;
		}
	}

	// ---- painting

	private Rectangle plot() {
		GanttPicture p = shown.picture();
		return new Rectangle((int) Math.round(p.plotX()), (int) Math.round(p.plotY()), (int) Math.round(p.plotWidth()),
				(int) Math.round(p.plotHeight()));
	}

	/** That of the window as it is now: until it is drawn, what was drawn before stands where it belongs. */
	private TimeCursor.Scale timeScale() {
		if (shown == null || selection == null || rows == null || rows.count() == 0) {
			return null;
		}
		GanttPicture p = shown.picture();
		ViewState s = selection.state();
		return new TimeCursor.Scale(p.plotX(), p.plotY(), p.plotWidth(), p.plotHeight(), s.fromNs(), s.toNs(),
				shown.input().trace().info().startNs(), shown.input().trace().info().isInTicks());
	}

	/** For tests. */
	TimeCursor timeCursor() {
		return timeCursor;
	}

	private void paint(Event e) {
		Rectangle area = getClientArea();
		GC gc = e.gc;
		gc.setBackground(ScenePainter.color(ScenePainter.palette(this).background()));
		gc.fillRectangle(area);
		if (shown == null || rows == null || rows.count() == 0) {
			gc.setForeground(ScenePainter.color(ScenePainter.palette(this).mutedText()));
			Point size = gc.textExtent(empty);
			gc.drawText(empty, Math.max(4, (area.width - size.x) / 2), Math.max(4, (area.height - size.y) / 2), true);
			return;
		}
		if (image == null) {
			image = new SceneImage(this, shown.picture().scene(), shown.runs());
			shown.dispose();
		}
		image.draw(gc);
		ViewState was = shown.input().state();
		ViewState now = selection == null ? was : selection.state();
		boolean sameTime = now.fromNs() == was.fromNs() && now.toNs() == was.toNs();
		boolean current = sameTime && shown.input().rows() == rows && shown.input().firstRow() == firstRow && drag != Drag.PAN;
		if (!current) {
			paintMapped(gc, was, now);
		}
		if (current || drag == Drag.NONE) {
			paintMarks(gc, sameTime);
		}
		paintDrag(gc);
		if (isFocusControl()) {
			Rectangle plot = plot();
			gc.setForeground(ScenePainter.color(ScenePainter.palette(this).highlight()));
			gc.setLineWidth(1);
			gc.drawRectangle(plot.x - 1, plot.y - 1, plot.width + 1, plot.height + 1);
		}
		timeCursor.paint(gc);
		tip.paint(gc);
	}

	/** The old picture where it belongs, until the new one is there. */
	private void paintMapped(GC gc, ViewState was, ViewState now) {
		Rectangle plot = plot();
		GanttPicture p = shown.picture();
		boolean sameRows = shown.input().rows() == rows;
		int dy = sameRows ? (int) Math.round((shown.input().firstRow() - firstRow) * p.rowHeight()) : 0;
		int dx = drag == Drag.PAN && dragTo != null ? dragTo.x - dragFrom.x : 0;
		gc.setClipping(0, plot.y, plot.x + plot.width, plot.height);
		if (dy != 0) {
			gc.fillRectangle(0, plot.y, plot.x, plot.height);
			image.draw(gc, 0, plot.y, plot.x, plot.height, 0, plot.y + dy, plot.x, plot.height);
		}
		long from = Math.max(was.fromNs(), now.fromNs());
		long to = Math.min(was.toNs(), now.toNs());
		gc.setClipping(plot);
		gc.setBackground(ScenePainter.color(ScenePainter.palette(this).plotBackground()));
		gc.fillRectangle(plot);
		if (from < to) {
			int x0 = x(was, from, plot);
			int x1 = x(was, to, plot);
			int t0 = x(now, from, plot);
			int t1 = x(now, to, plot);
			if (x1 > x0 && t1 > t0) {
				gc.setInterpolation(SWT.NONE);
				image.draw(gc, x0, plot.y, x1 - x0, plot.height, t0 + dx, plot.y + dy, t1 - t0, plot.height);
			}
		}
		gc.setClipping((Rectangle) null);
	}

	private static int x(ViewState s, long ns, Rectangle plot) {
		return plot.x + (int) Math.round(plot.width * ((double) (ns - s.fromNs()) / s.durationNs()));
	}

	private int y(int row) {
		GanttPicture p = shown.picture();
		return (int) Math.round(p.plotY() + (row - firstRow) * p.rowHeight());
	}

	private void paintMarks(GC gc, boolean sameTime) {
		GanttPicture p = shown.picture();
		Rectangle plot = plot();
		int height = (int) Math.round(p.rowHeight());
		gc.setClipping(0, plot.y, plot.x + plot.width, plot.height);
		gc.setForeground(ScenePainter.color(ScenePainter.palette(this).highlight()));
		if (selectedRow >= firstRow && y(selectedRow) < plot.y + plot.height) {
			gc.setAlpha(45);
			gc.setBackground(ScenePainter.color(ScenePainter.palette(this).highlight()));
			gc.fillRectangle(0, y(selectedRow), plot.x, height);
			gc.setAlpha(255);
			gc.setLineWidth(1);
			gc.drawLine(0, y(selectedRow), plot.x + plot.width, y(selectedRow));
			gc.drawLine(0, y(selectedRow) + height, plot.x + plot.width, y(selectedRow) + height);
		}
		gc.setClipping(plot);
		if (selected != null && sameTime && selectedRow >= 0) {
			int x0 = (int) Math.round(p.xOf(selected.fromNs()));
			int x1 = (int) Math.round(p.xOf(selected.toNs()));
			// seen on bars of any colour
			int width = Math.max(3, x1 - x0 + 1);
			gc.setLineWidth(1);
			gc.setForeground(ScenePainter.color(ScenePainter.palette(this).background()));
			gc.drawRectangle(x0, y(selectedRow) + 2, Math.max(1, width - 2), height - 4);
			gc.setLineWidth(2);
			gc.setForeground(ScenePainter.color(ScenePainter.palette(this).text()));
			gc.drawRectangle(x0 - 1, y(selectedRow) + 1, width, height - 2);
		}
		if (hover != null && hover.area() == Area.PLOT && hover.row() >= 0 && drag == Drag.NONE) {
			gc.setAlpha(90);
			gc.setLineWidth(1);
			int x = (int) Math.round(p.xOf(hover.fromNs()));
			gc.drawLine(x, plot.y, x, plot.y + plot.height);
			gc.setAlpha(255);
		}
		if (marked != null && sameTime && drag == Drag.NONE) {
			band(gc, (int) Math.round(p.xOf(marked.fromNs())), (int) Math.round(p.xOf(marked.toNs())), plot);
		}
		gc.setClipping((Rectangle) null);
	}

	private void band(GC gc, int x0, int x1, Rectangle plot) {
		gc.setForeground(ScenePainter.color(ScenePainter.palette(this).highlight()));
		gc.setBackground(ScenePainter.color(ScenePainter.palette(this).highlight()));
		gc.setAlpha(40);
		gc.fillRectangle(x0, plot.y, x1 - x0, plot.height);
		gc.setAlpha(255);
		gc.setLineWidth(1);
		gc.drawLine(x0, plot.y, x0, plot.y + plot.height);
		gc.drawLine(x1, plot.y, x1, plot.y + plot.height);
	}

	private void paintDrag(GC gc) {
		if (dragTo == null || drag != Drag.INTERVAL && drag != Drag.MARKED || Math.abs(dragTo.x - dragFrom.x) < MIN_DRAG) {
			return;
		}
		Rectangle plot = plot();
		int x0 = clamp(Math.min(dragFrom.x, dragTo.x), plot);
		int x1 = clamp(Math.max(dragFrom.x, dragTo.x), plot);
		gc.setClipping(plot);
		if (drag == Drag.INTERVAL) {
			// everything outside fades: one sees what will be shown
			gc.setBackground(ScenePainter.color(ScenePainter.palette(this).background()));
			gc.setAlpha(150);
			gc.fillRectangle(plot.x, plot.y, x0 - plot.x, plot.height);
			gc.fillRectangle(x1, plot.y, plot.x + plot.width - x1, plot.height);
			gc.setAlpha(255);
		}
		band(gc, x0, x1, plot);
		gc.setClipping((Rectangle) null);
		GanttPicture p = shown.picture();
		String text = org.memtrace.analysis.text.Units.duration(shown.input().trace().info(), p.timeAt(x1) - p.timeAt(x0));
		Point size = gc.textExtent(text);
		int x = Math.max(plot.x, Math.min(plot.x + plot.width - size.x - 8, (x0 + x1 - size.x) / 2 - 4));
		gc.setBackground(ScenePainter.color(ScenePainter.palette(this).background()));
		gc.fillRoundRectangle(x, plot.y + 4, size.x + 8, size.y + 4, 6, 6);
		gc.setForeground(ScenePainter.color(ScenePainter.palette(this).text()));
		gc.drawText(text, x + 4, plot.y + 6, true);
	}

	private static int clamp(int x, Rectangle plot) {
		return Math.max(plot.x, Math.min(plot.x + plot.width, x));
	}

	// ---- mouse

	private boolean isCurrent() {
		return shown != null && selection != null && rows != null && shown.input().rows() == rows
				&& shown.input().firstRow() == firstRow;
	}

	private void mouseDown(Event e) {
		setFocus();
		if (!isCurrent()) {
			return;
		}
		if (drag != Drag.NONE) {
			endDrag();
			return;
		}
		GanttPicture p = shown.picture();
		GanttPicture.Hit hit = p.hit(e.x, e.y);
		if (e.button == 3) {
			if (hit.row() >= 0) {
				listener.select(hit.row(), hit);
			}
			return;
		}
		boolean inPlot = plot().contains(e.x, e.y);
		if (e.button == 2 && inPlot) {
			begin(Drag.PAN, e);
			setCursor(getDisplay().getSystemCursor(SWT.CURSOR_HAND));
		} else if (e.button == 1) {
			if (onLabelBorder(e)) {
				begin(Drag.LABELS, e);
			} else if (hit.area() == Area.PLOT) {
				begin((e.stateMask & SWT.SHIFT) != 0 ? Drag.MARKED : Drag.INTERVAL, e);
			} else if (hit.area() == Area.MINIMAP) {
				begin(Drag.MINIMAP, e);
				selection.beginGesture();
				moveWindow(e.x);
			} else {
				press(hit);
			}
		}
	}

	private void press(GanttPicture.Hit hit) {
		switch (hit.area()) {
		case FOLD -> listener.toggle(hit.row());
		case LABEL -> listener.select(hit.row(), null);
		case FLAG -> listener.jump(hit);
		case LEGEND -> listener.toggleType(hit.type());
		default -> {
		}
		}
	}

	private void begin(Drag what, Event e) {
		drag = what;
		dragFrom = new Point(e.x, e.y);
		dragTo = dragFrom;
		dragFirstRow = firstRow;
		hover(null);
	}

	private boolean onLabelBorder(Event e) {
		Rectangle plot = plot();
		return Math.abs(e.x - plot.x + 2) <= 3 && e.y >= plot.y && e.y < plot.y + plot.height;
	}

	private void moveWindow(int x) {
		ViewState s = selection.state();
		long at = shown.picture().mapTime(x);
		selection.window(at - s.durationNs() / 2, at + s.durationNs() - s.durationNs() / 2);
	}

	private void mouseMove(Event e) {
		if (shown == null) {
			return;
		}
		moved(e);
		if (drag == Drag.NONE) {
			if (tip.bounds() != null && tip.bounds().contains(e.x, e.y)) {
				tip.hide(); // within the same record it would stay where it covers what is pointed at
			}
			GanttPicture.Hit hit = isCurrent() ? shown.picture().hit(e.x, e.y) : null;
			int cursor = onLabelBorder(e) ? SWT.CURSOR_SIZEWE
					: hit == null ? SWT.CURSOR_ARROW : switch (hit.area()) {
					case PLOT -> SWT.CURSOR_CROSS;
					case FOLD, FLAG, LEGEND, MINIMAP -> SWT.CURSOR_HAND;
					default -> SWT.CURSOR_ARROW;
					};
			setCursor(cursor == SWT.CURSOR_ARROW ? null : getDisplay().getSystemCursor(cursor));
			hover(hit);
			return;
		}
		dragTo = new Point(e.x, e.y);
		switch (drag) {
		case MINIMAP -> moveWindow(e.x);
		case LABELS -> listener.labelWidth(Math.max(30, e.x - 2 - 14));
		case PAN -> {
			int moved = (int) Math.round((dragFrom.y - e.y) / shown.picture().rowHeight());
			listener.scrollTo(dragFirstRow + moved);
		}
		default -> {
		}
		}
		redraw();
	}

	private void mouseUp(Event e) {
		if (drag == Drag.NONE || shown == null || selection == null) {
			endDrag();
			return;
		}
		Drag what = drag;
		Point from = dragFrom;
		endDrag();
		GanttPicture p = shown.picture();
		int dx = e.x - from.x;
		switch (what) {
		case PAN -> {
			ViewState s = selection.state();
			long shift = Math.round((double) -dx * s.durationNs() / p.plotWidth());
			if (shift != 0) {
				selection.window(s.fromNs() + shift, s.toNs() + shift);
			}
		}
		case MINIMAP -> selection.endGesture();
		case INTERVAL, MARKED -> {
			if (Math.abs(dx) < MIN_DRAG) {
				GanttPicture.Hit hit = p.hit(e.x, e.y);
				marked = null;
				if (hit.row() >= 0 || hit.link() >= 0) {
					listener.select(hit.row(), hit);
				}
			} else if (what == Drag.INTERVAL) {
				marked = null;
				selection.window(p.timeAt(Math.min(from.x, e.x)), p.timeAt(Math.max(from.x, e.x)));
			} else {
				marked = new Span(0, -1, p.timeAt(Math.min(from.x, e.x)), p.timeAt(Math.max(from.x, e.x)));
			}
		}
		default -> {
		}
		}
		redraw();
	}

	private void endDrag() {
		if (drag == Drag.MINIMAP && selection != null) {
			selection.endGesture();
		}
		drag = Drag.NONE;
		dragFrom = null;
		dragTo = null;
		setCursor(null);
		redraw();
	}

	private void doubleClick(Event e) {
		endDrag();
		if (!isCurrent() || e.button != 1) {
			return;
		}
		GanttPicture.Hit hit = shown.picture().hit(e.x, e.y);
		if (hit.area() == Area.LABEL) {
			listener.toggle(hit.row());
		} else if (hit.area() == Area.PLOT && (hit.type() >= 0 || hit.link() >= 0)) {
			listener.zoomTo(hit);
		} else if (hit.area() == Area.MINIMAP) {
			ViewState whole = selection.initial();
			selection.window(whole.fromNs(), whole.toNs());
		}
	}

	private void wheel(Event e) {
		if (shown == null || selection == null || e.count == 0) {
			return;
		}
		e.doit = false;
		int notches = Math.max(-3, Math.min(3, e.count));
		boolean control = (e.stateMask & SWT.MOD1) != 0;
		boolean shift = (e.stateMask & SWT.SHIFT) != 0;
		if (control && shift) {
			listener.rowHeight(notches > 0 ? 1 : -1);
		} else if (control) {
			wheelGesture.turn(selection, getDisplay());
			Rectangle plot = plot();
			zoomTime(Math.max(0, Math.min(1, (double) (e.x - plot.x) / plot.width)), Math.pow(WHEEL_FACTOR, notches));
		} else if (shift) {
			pan(-notches);
		} else {
			listener.scrollTo(firstRow - notches * WHEEL_ROWS);
		}
	}

	private void wheelSideways(Event e) {
		if (shown != null && selection != null && e.count != 0) {
			e.doit = false;
			pan(-Math.max(-3, Math.min(3, e.count)));
		}
	}

	/** By tenths of the window. */
	private void pan(int tenths) {
		wheelGesture.turn(selection, getDisplay());
		ViewState s = selection.state();
		long shift = tenths * Math.max(1, s.durationNs() / 10);
		selection.window(s.fromNs() + shift, s.toNs() + shift);
	}

	/** Keeps the instant at fraction {@code x} of the window where it is. */
	private void zoomTime(double x, double factor) {
		ViewState s = selection.state();
		double at = s.fromNs() + x * s.durationNs();
		selection.window(Math.round(at - x * s.durationNs() * factor), Math.round(at + (1 - x) * s.durationNs() * factor));
	}

	private void hover(GanttPicture.Hit hit) {
		if (hit == null ? hover == null : hit.equals(hover)) {
			return;
		}
		hover = hit;
		tipText = null;
		tip.hide();
		listener.hover(hit);
		redraw();
	}

	/** Says something about what is below the pointer, when it rests and until it is on something else. */
	void tip(String text) {
		tipText = text;
		showTip();
	}

	private void moved(Event e) {
		pointer = new Point(e.x, e.y);
		resting = false;
		int move = ++moves;
		getDisplay().timerExec(HoverTip.AFTER_MS, () -> {
			if (!isDisposed() && move == moves) {
				resting = true;
				showTip();
			}
		});
	}

	private void showTip() {
		boolean menu = getMenu() != null && getMenu().isVisible(); // the tip would lie over it
		if (resting && hover != null && tipText != null && drag == Drag.NONE && !menu) {
			tip.show(tipText, pointer, getClientArea());
		}
	}

	HoverTip tip() {
		return tip;
	}

	// ---- keys

	private void key(Event e) {
		if (selection == null) {
			return;
		}
		if (rows == null) {
			early.add(e); // its time comes with the rows
			return;
		}
		if (e.keyCode == SWT.ESC && drag != Drag.NONE) {
			endDrag();
			return;
		}
		if (e.keyCode == SWT.ESC && marked != null) {
			setMarked(null);
			return;
		}
		boolean control = (e.stateMask & SWT.MOD1) != 0;
		if (HistoryKeys.taken(e, selection)) {
			return;
		}
		int page = shown == null ? 1 : Math.max(1, shown.picture().wholeRows() - 1);
		switch (e.keyCode) {
		case SWT.ESC, SWT.BS -> selection.back();
		case SWT.ARROW_UP -> row(selectedRow - 1, control);
		case SWT.ARROW_DOWN -> row(selectedRow + 1, control);
		case SWT.PAGE_UP -> row(Math.max(0, selectedRow - page), false);
		case SWT.PAGE_DOWN -> row(Math.min(rows.count() - 1, selectedRow + page), false);
		case SWT.HOME -> row(0, false);
		case SWT.END -> row(rows.count() - 1, false);
		case SWT.ARROW_LEFT, SWT.ARROW_RIGHT -> {
			boolean right = e.keyCode == SWT.ARROW_RIGHT;
			if (control) {
				pan(right ? 1 : -1);
			} else {
				listener.step(right);
			}
		}
		case SWT.CR, SWT.KEYPAD_CR, ' ' -> {
			if (selectedRow >= 0) {
				listener.toggle(selectedRow);
			}
		}
		case '+', '=', SWT.KEYPAD_ADD -> zoomTime(0.5, WHEEL_FACTOR);
		case '-', SWT.KEYPAD_SUBTRACT -> zoomTime(0.5, 1 / WHEEL_FACTOR);
		case 'u', 'w' -> {
			if (control) {
				listener.key(e);
			} else if (e.keyCode == 'u') {
				selection.up();
			} else {
				selection.reset();
			}
		}
		default -> listener.key(e);
		}
	}

	/** Selects a row by a key; with Ctrl the rows move below the selection. */
	private void row(int row, boolean scroll) {
		if (scroll) {
			listener.scrollTo(firstRow + (row > selectedRow ? 1 : -1));
		} else if (row >= 0 && row < rows.count()) {
			listener.select(row, null);
		}
	}

	// ---- for those who do not see it

	private void describe() {
		Accessibility.graphic(this, () -> "Gantt chart",
				() -> rows == null ? empty
						: rows.count() + " rows" + (selectedRow < 0 || selectedRow >= rows.count() ? ""
								: ", selected: " + rows.name(selectedRow)),
				null);
	}
}
