// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Text;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.SampleEvents;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.events.EventsView;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.ViewIds;

/** The Gantt chart with real mouse and keys. */
class GanttViewTest extends UiTest {
	private static final long MS = 1_000_000;

	private GanttView view;
	private GanttCanvas canvas;

	@BeforeEach
	void show() {
		view = bot.ui(() -> showAlone(ViewIds.GANTT));
		canvas = bot.ui(view::canvas);
	}

	private void open() throws Exception {
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("trace", () -> session.trace() != null && session.trace().name().equals("small matmul"));
		settle();
	}

	private void settle() {
		bot.waitFor("chart", () -> view.isSettled() && canvas.picture() != null);
	}

	private GanttPicture picture() {
		return bot.ui(canvas::picture);
	}

	private ViewState state() {
		return bot.ui(() -> session.trace().selection().state());
	}

	private Point at(long ns, int row) {
		GanttPicture p = picture();
		return new Point((int) Math.round(p.xOf(ns)), (int) Math.round(p.yOf(row) + p.rowHeight() / 2));
	}

	private List<String> rows() {
		return bot.ui(() -> {
			List<String> names = new ArrayList<>();
			for (int i = 0; i < view.rows().count(); i++) {
				names.add(view.rows().name(i));
			}
			return names;
		});
	}

	@Test
	void dragWheelAndKeysZoomInTime() throws Exception {
		open();
		assertEquals(List.of("All memory", "A", "B", "C"), rows());
		bot.shot("gantt");
		Point from = at(10 * MS, 1);
		Point to = at(30 * MS, 2);
		bot.drag(canvas, 1, from, to);
		settle();
		ViewState zoomed = state();
		long pixel = 50 * MS / (long) picture().plotWidth();
		assertEquals(10 * MS, zoomed.fromNs(), 2 * pixel);
		assertEquals(30 * MS, zoomed.toNs(), 2 * pixel);
		assertEquals(session.trace().selection().initial().producer(), zoomed.producer());
		// about the pointer
		Point middle = at(20 * MS, 1);
		bot.hold("ctrl", () -> bot.wheel(canvas, middle.x, middle.y, 2));
		bot.waitFor("wheel zoom", () -> state().durationNs() < zoomed.durationNs() * 0.7);
		settle();
		assertEquals(20 * MS, state().fromNs() + state().durationNs() / 2, MS);
		long duration = state().durationNs();
		bot.drag(canvas, 2, middle, new Point(middle.x - 100, middle.y));
		bot.waitFor("panned", () -> state().fromNs() > 14 * MS && Math.abs(state().durationNs() - duration) <= 2);
		bot.key("w");
		bot.waitFor("whole", () -> state().equals(session.trace().selection().initial()));
		bot.key("alt+Left");
		bot.waitFor("back", () -> state().fromNs() > 0);
		settle();
	}

	/** Where the window ends with the screen a tip stays on it, beside the pointer. */
	@Test
	void tipsStayOnTheScreen() throws Exception {
		open();
		bot.run(() -> canvas.getShell().setBounds(canvas.getDisplay().getBounds()));
		settle();
		Rectangle screen = bot.ui(() -> canvas.getDisplay().getBounds());
		GanttPicture p = picture();
		int right = (int) (p.plotX() + p.plotWidth()) - 3;
		for (Point at : List.of(at(30 * MS, 3), new Point(right, at(0, 3).y), new Point(right, at(0, 1).y), at(20 * MS, 1))) {
			bot.move(canvas, at.x, at.y);
			bot.waitFor("tip", () -> canvas.tip().bounds() != null);
			Rectangle tip = bot.ui(() -> canvas.getDisplay().map(canvas, null, canvas.tip().bounds()));
			assertEquals(tip, tip.intersection(screen), "on the screen");
			assertFalse(bot.ui(() -> canvas.tip().bounds()).contains(at.x, at.y), "beside the pointer");
			bot.shot("gantt-tip");
			bot.move(canvas, 2, 2);
			bot.waitFor("no tip", () -> !canvas.tip().isShown());
		}
	}

	@Test
	void rowsFoldHideAndFollowTheMark() throws Exception {
		open();
		Rectangle fold = bot.ui(() -> new Rectangle((int) canvas.picture().plotX() - 1, 0, 0, 0));
		GanttPicture p = picture();
		// the triangle is where the picture says
		int x = 0;
		while (x < fold.x && bot.ui(() -> 0) == 0 && p.hit(x, at(0, 2).y).area() != GanttPicture.Area.FOLD) {
			x++;
		}
		bot.click(canvas, x + 5, at(0, 2).y);
		bot.waitFor("B unfolded", () -> view.rows().count() == 8);
		settle();
		assertEquals("B [pages 0-7]", rows().get(3));
		bot.shot("gantt-unfolded");
		bot.click(canvas, (int) picture().plotX() - 12, at(0, 4).y);
		bot.waitFor("row selected", () -> canvas.selectedRow() == 4);
		assertEquals(SampleTrace.B, bot.ui(() -> session.trace().selection().mark()));
		bot.key("h");
		bot.waitFor("hidden", () -> view.rows().count() == 7);
		bot.run(() -> session.trace().selection().mark(SampleTrace.C));
		bot.waitFor("C selected", () -> canvas.selectedRow() == 6);
		bot.key("shift+h");
		bot.waitFor("C gone", () -> view.rows().count() == 6);
		settle();
	}

	/** Signs that need Shift on most keyboards. */
	@Test
	void signsUnfoldAndFoldAllBelow() throws Exception {
		open();
		bot.click(canvas, (int) picture().plotX() - 12, at(0, 2).y);
		bot.waitFor("B selected", () -> canvas.selectedRow() == 2);
		bot.key("asterisk");
		bot.waitFor("parts and pages of B", () -> view.rows().count() == 4 + 4 + SampleTrace.PAGES);
		settle();
		bot.key("slash");
		bot.waitFor("folded", () -> view.rows().count() == 4);
		settle();
	}

	@Test
	void searchFindsAFoldedPageAndKeysFindItsRecords() throws Exception {
		open();
		bot.key("ctrl+f");
		Text search = bot.ui(() -> view.bar().search());
		bot.waitFor("focus", search::isFocusControl);
		bot.type("^C \\[page 9\\]$");
		bot.key("Return");
		bot.waitFor("found", () -> canvas.selectedRow() > 0 && view.rows().name(canvas.selectedRow()).equals("C [page 9]"));
		settle();
		int row = bot.ui(canvas::selectedRow);
		assertTrue(row >= picture().firstRow() && row < picture().firstRow() + picture().wholeRows(), "visible");
		assertEquals(SampleTrace.C, bot.ui(() -> session.trace().selection().mark()));
		bot.run(() -> canvas.setFocus());
		for (int i = 0; i < 2; i++) {
			int step = i;
			bot.key("Right");
			bot.waitFor("record " + i, () -> view.isSettled() && canvas.selected() != null
					&& canvas.selected().fromNs() == (SampleTrace.INITIALISATION + step) * SampleTrace.STEP_NS);
		}
		bot.key("Left");
		bot.waitFor("back", () -> view.isSettled() && canvas.selected().fromNs() == 10 * MS);
		bot.shot("gantt-search");
		// as the table of events does it
		bot.run(() -> view.showRecord(session.trace(), SampleTrace.A + 2, 3 * MS, 4 * MS));
		bot.waitFor("record of A", () -> view.isSettled() && canvas.selected() != null && canvas.selected().fromNs() == 3 * MS
				&& view.rows().name(canvas.selectedRow()).equals("A [page 0]"));
		// and back, in whatever order the table has been left
		bot.run(() -> UiTest.<EventsView>show(ViewIds.EVENTS).sortBy(EventColumn.WRITES));
		bot.run(view::showInEvents);
		bot.waitFor("row of the record", () -> page().findView(ViewIds.EVENTS) instanceof EventsView events
				&& events.grid().selectedRow() >= 0
				&& events.text(EventColumn.PRODUCER, events.grid().selectedRow()).equals("A [page 0]")
				&& events.text(EventColumn.START, events.grid().selectedRow()).equals("3.000000"));
	}

	@Test
	void markersAreStoredWithTheTraceAndShownAsFlags() throws Exception {
		open();
		Point from = at(20 * MS, 1);
		Point to = at(25 * MS, 1);
		bot.hold("shift", () -> bot.drag(canvas, 1, from, to));
		bot.waitFor("interval", () -> canvas.marked() != null);
		assertEquals(session.trace().selection().initial(), state(), "Shift does not zoom");
		bot.key("m");
		Button ok = bot.find(Button.class, b -> b.getText().equals("OK"));
		bot.type("hot phase");
		bot.close(ok);
		bot.waitFor("marker", () -> session.trace().markers().all().size() == 1);
		settle();
		Marker marker = bot.ui(() -> session.trace().markers().all().get(0));
		assertEquals("hot phase", marker.name());
		assertEquals(20 * MS, marker.fromNs(), MS / 10);
		assertEquals(25 * MS, marker.toNs(), MS / 10);
		assertEquals("hot phase", bot.ui(() -> view.markers().table().getItem(0).getText()));
		GanttPicture.Hit flag = picture().hit(picture().xOf(marker.fromNs()) + 5, picture().plotY() - 8);
		assertEquals(marker, flag.marker());
		bot.shot("gantt-marker");
		bot.run(() -> session.show((OpenTrace) null));
		open();
		assertEquals(List.of(marker), bot.ui(() -> session.trace().markers().all()));
		// the list jumps there
		bot.run(() -> {
			view.markers().table().select(0);
			view.markers().table().notifyListeners(org.eclipse.swt.SWT.DefaultSelection, new org.eclipse.swt.widgets.Event());
		});
		bot.waitFor("jumped", () -> state().fromNs() > 15 * MS && state().toNs() < 30 * MS);
		settle();
	}

	@Test
	void threadsAsRowsAndTypesThatAreHidden() throws Exception {
		open();
		bot.run(() -> view.setGrouping(org.memtrace.analysis.gantt.GanttSource.Grouping.THREAD));
		bot.waitFor("threads", () -> view.isSettled() && view.rows().count() == 5);
		assertEquals(List.of("main #0", "worker 1 #1", "worker 2 #2", "worker 3 #3", "worker 4 #4"), rows());
		// main wrote in the first fifth only
		assertEquals(1, picture().hit(at(5 * MS, 0).x, at(5 * MS, 0).y).type());
		assertEquals(-1, picture().hit(at(30 * MS, 0).x, at(30 * MS, 0).y).type());
		bot.shot("gantt-threads");
		Point legend = bot.ui(() -> {
			GanttPicture p = canvas.picture();
			for (int x = 0; x < p.scene().width(); x++) {
				GanttPicture.Hit h = p.hit(x, p.scene().height() - 12);
				if (h.area() == GanttPicture.Area.LEGEND && h.type() == 1) {
					return new Point(x + 5, p.scene().height() - 12);
				}
			}
			throw new AssertionError("no legend");
		});
		bot.click(canvas, legend.x, legend.y);
		bot.waitFor("writes hidden", () -> view.isSettled() && canvas.shown().input().style().hiddenTypes().contains("Private_Write"));
		assertEquals(-1, picture().hit(at(5 * MS, 0).x, at(5 * MS, 0).y).type());
	}

	/** A key that is pressed while the rows are still being made. */
	@Test
	void keysBeforeTheRowsAreNotLost() {
		bot.run(() -> {
			try {
				session.show(new OpenTrace(SampleEvents.store(), Progress.NONE));
			} catch (MemtraceException e) {
				throw new AssertionError(e);
			}
			assertNull(view.rows());
			for (int i = 0; i < 3; i++) {
				org.eclipse.swt.widgets.Event down = new org.eclipse.swt.widgets.Event();
				down.keyCode = org.eclipse.swt.SWT.ARROW_DOWN;
				canvas.notifyListeners(org.eclipse.swt.SWT.KeyDown, down);
			}
		});
		bot.waitFor("third row", () -> canvas.selectedRow() == 2);
		settle();
	}

	/** A trace that FrameSoc wrote: states, links, instants and variables. */
	@Test
	void eventsOfOtherTools() throws Exception {
		bot.run(() -> {
			try {
				session.show(new OpenTrace(SampleEvents.store(), Progress.NONE));
			} catch (MemtraceException e) {
				throw new AssertionError(e);
			}
		});
		settle();
		assertEquals(List.of("cluster", "node 0", "rank 0", "rank 1", "node 1", "rank 2", "rank 3", "power"), rows());
		assertTrue(picture().linksThere() > 10);
		bot.shot("gantt-events");
		TraceSelection selection = bot.ui(() -> session.trace().selection());
		bot.run(() -> selection.window(0, 100 * MS));
		settle();
		GanttPicture.Hit hit = picture().hit(at(10 * MS, 2).x, at(10 * MS, 2).y);
		assertEquals("Compute", view.rows().request().source().types().get(hit.type()).name());
		bot.shot("gantt-events-near");
	}
}
