// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.ui.IMemento;
import org.eclipse.ui.XMLMemento;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** Rows that are at least as high as a line: wheel, keys, bar and overview scroll them. */
class ScrolledRowsTest extends UiTest {
	private OcelotlView view;
	private PictureCanvas canvas;

	private void open() {
		view = bot.ui(() -> show(ViewIds.OCELOTL));
		canvas = view.canvas();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> view.choose(view.choice().withHeights(RowHeights.LINES).withScale(2)));
		waitForViews();
		assertTrue(bot.ui(() -> canvas.picture().isPart()));
	}

	private int top() {
		return bot.ui(canvas::rowsTop);
	}

	private void assertShown(String what, int top) {
		bot.waitFor(what, () -> canvas.rowsTop() == top);
		waitForViews();
		assertEquals(top, bot.ui(() -> canvas.picture().rowsTop()), what);
		assertEquals(top, bot.ui(() -> canvas.getVerticalBar().getSelection()), what);
	}

	@Test
	void wheelKeysAndBarScroll() throws Exception {
		open();
		Rectangle plot = bot.ui(() -> canvas.picture().plot());
		int last = bot.ui(() -> canvas.picture().rowsHeight()) - plot.height;
		assertTrue(bot.ui(() -> canvas.getVerticalBar().getVisible()));
		Rectangle frame = bot.ui(() -> view.overview().frame());
		bot.wheel(canvas, plot.x + 50, plot.y + 50, -2);
		bot.waitFor("lower rows", () -> canvas.rowsTop() > 0);
		waitForViews();
		Rectangle lower = bot.ui(() -> view.overview().frame());
		assertTrue(lower.y > frame.y && Math.abs(lower.height - frame.height) < 3, frame + " " + lower);
		assertTrue(bot.ui(() -> session.trace().selection().state().equals(session.trace().selection().initial())), "nothing is zoomed");
		bot.run(canvas::setFocus);
		bot.hold("ctrl", () -> bot.key("End"));
		assertShown("the last rows", last);
		bot.shot("rows-scrolled");
		ShownPicture.Hit hit = bot.ui(() -> canvas.picture().hit(plot.x + plot.width / 2, plot.y + plot.height - 5));
		assertEquals(SampleTrace.C, bot.ui(() -> session.trace().memberOf(hit.producer())));
		bot.key("Page_Up");
		assertShown("a page before", last - (plot.height - 20));
		bot.hold("ctrl", () -> bot.key("Home"));
		assertShown("the first rows", 0);
		bot.run(() -> {
			canvas.getVerticalBar().setSelection(100);
			canvas.getVerticalBar().notifyListeners(org.eclipse.swt.SWT.Selection, new org.eclipse.swt.widgets.Event());
		});
		assertShown("the bar", 100);

		// a place of the overview comes into sight
		Rectangle small = bot.ui(() -> view.overview().getBounds());
		bot.click(view.overview(), small.width / 2, small.height - 6);
		assertShown("the lower end", last);
	}

	@Test
	void whatIsMarkedOrChosenByKeysComesIntoSight() {
		open();
		assertNull(bot.ui(() -> canvas.picture().area(SampleTrace.C)));
		bot.run(() -> session.trace().selection().mark(SampleTrace.C));
		bot.waitFor("scrolled", () -> canvas.rowsTop() > 0);
		waitForViews();
		assertNotNull(bot.ui(() -> canvas.picture().area(SampleTrace.C)));
		int top = top();
		bot.run(() -> session.trace().selection().mark(SampleTrace.B));
		waitForViews();
		assertEquals(top, top(), "it is seen already");
		bot.run(() -> canvas.scrollTo(0));
		waitForViews();
		bot.run(canvas::setFocus);
		for (int i = 0; i < 12 && top() == 0; i++) {
			bot.hold("shift", () -> bot.key("Down"));
			waitForViews();
		}
		assertTrue(top() > 0, "the block that the keys went to is seen");
		assertFalse(bot.ui(() -> canvas.looked().area().isEmpty()));
	}

	@Test
	void rowsBecomeHigherAndTheSameOnesStay() {
		open();
		bot.run(() -> canvas.scrollTo(200));
		waitForViews();
		int leaf = bot.ui(() -> canvas.picture().leafAt(canvas.picture().plot().y + 1));
		int before = bot.ui(() -> canvas.picture().rowsHeight());
		Rectangle plot = bot.ui(() -> canvas.picture().plot());
		bot.hold("ctrl", () -> bot.hold("shift", () -> bot.wheel(canvas, plot.x + 50, plot.y + 50, 1)));
		bot.waitFor("higher", () -> canvas.picture().rowsHeight() > before * 1.1);
		waitForViews();
		assertEquals(leaf, bot.ui(() -> canvas.picture().leafAt(canvas.picture().plot().y + 1)), 1);
		bot.run(() -> view.choose(view.choice().withHeights(RowHeights.READABLE)));
		waitForViews();
		assertFalse(bot.ui(() -> canvas.picture().isPart()));
		assertFalse(bot.ui(() -> canvas.getVerticalBar().getVisible()));
		assertEquals(0, top());
	}

	/** A file has all rows; the state of the view and parameters have the heights. */
	@Test
	void filesHaveAllRowsAndTheNextStartHasTheHeights() {
		open();
		Point seen = bot.ui(canvas::getSize);
		Scene scene = bot.ui(view::snapshot).picture().scene(Palette.LIGHT, seen.x, seen.y);
		assertTrue(scene.height() >= bot.ui(() -> canvas.picture().rowsHeight()), scene.height() + " of " + seen.y);
		assertEquals("lines", bot.ui(view::snapshot).parameters().get("heights"));
		IMemento kept = XMLMemento.createWriteRoot("view");
		bot.run(() -> view.saveState(kept));
		assertEquals(view.choice(), bot.ui(() -> OcelotlView.withKept(Choice.DEFAULT, kept)));
		assertEquals(Choice.DEFAULT, OcelotlView.withKept(Choice.DEFAULT, null));
	}
}
