// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.density.DensityView;
import org.memtrace.views.gantt.GanttView;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.view.TraceView;

/** Plots above each other have the same edges: a time is at the same x of the screen in all of them. */
class AlignedPlotsTest extends UiTest {
	private OcelotlView ocelotl;
	private DensityView density;

	private void open() {
		ocelotl = bot.ui(() -> show(ViewIds.OCELOTL));
		density = bot.ui(() -> show(ViewIds.DENSITY));
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		settle();
	}

	private void settle() {
		waitForViews();
		bot.waitFor("painted", () -> density.canvas().picture() != null && ocelotl.canvas().picture() != null);
		waitForViews();
	}

	private int screenX(Canvas canvas) {
		return bot.ui(() -> canvas.toDisplay(0, 0).x);
	}

	private int inPicture(OcelotlView view, long ns) {
		return screenX(view.canvas()) + (int) Math.round(bot.ui(() -> view.canvas().picture().picture().xOf(ns)));
	}

	private int inDensity(long ns) {
		return screenX(density.canvas()) + (int) Math.round(bot.ui(() -> density.canvas().picture().xOf(ns)));
	}

	private ViewState state() {
		return bot.ui(() -> ocelotl.canvas().picture().state());
	}

	/** Start, end and a time between are at the same place of the screen. */
	private void assertAligned(String what) {
		ViewState s = state();
		for (long ns : new long[] {s.fromNs(), s.fromNs() + s.durationNs() / 3, s.toNs()}) {
			assertEquals(inPicture(ocelotl, ns), inDensity(ns), 1, what + ", at " + (ns - s.fromNs()) + " ns");
		}
	}

	@Test
	void aTimeIsAtOnePlaceInPictureAndDensity() throws Exception {
		open();
		assertAligned("the whole trace");
		bot.run(() -> ocelotl.canvas().timeCursor().point(state().fromNs() + state().durationNs() / 2));
		bot.waitFor("the line", () -> density.canvas().timeCursor().x() >= 0);
		bot.shot("aligned-density");
		bot.run(() -> ocelotl.canvas().timeCursor().point(PointedTime.NONE));

		// other names are wider or narrower; another part of the time
		bot.run(() -> session.trace().selection().zoom(SampleTrace.STEP_NS, SampleTrace.STEP_NS * 12, SampleTrace.A));
		settle();
		assertAligned("a part");

		// without the panel there is more room, for both
		int before = bot.ui(() -> density.canvas().picture().plotWidth()).intValue();
		bot.run(() -> ocelotl.showSide(false));
		settle();
		assertAligned("without the side panel");
		assertTrue(bot.ui(() -> density.canvas().picture().plotWidth()) > before + 100);
		bot.shot("aligned-no-panel");
		bot.run(() -> ocelotl.showSide(true));
		settle();
		assertAligned("with it again");

		// another size of the window, and a view that is locked
		bot.run(((TraceView) density)::toggleLock);
		bot.run(() -> page().getWorkbenchWindow().getShell().setSize(1180, 900));
		settle();
		assertAligned("in a lower window, locked");
		bot.run(((TraceView) density)::toggleLock);
		settle();

		// behind another view it has no say
		bot.run(() -> page().bringToTop(page().findView(ViewIds.FINDINGS)));
		settle();
		int alone = bot.ui(() -> ocelotl.canvas().picture().plot().x);
		assertEquals(bot.ui(() -> ocelotl.canvas().picture().margins().left()), alone);
	}

	@Test
	void aTimeIsAtOnePlaceInPictureAndChart() throws Exception {
		open();
		GanttView gantt = bot.ui(() -> show(ViewIds.GANTT));
		waitForViews();
		bot.run(() -> session.trace().selection().zoom(SampleTrace.STEP_NS, SampleTrace.STEP_NS * 20, SampleTrace.B));
		waitForViews();
		ViewState s = state();
		for (long ns : new long[] {s.fromNs(), s.fromNs() + s.durationNs() / 3, s.toNs()}) {
			assertEquals(inPicture(ocelotl, ns), bot.ui(() -> gantt.screenX(ns)), 1, "at " + (ns - s.fromNs()) + " ns");
		}
		bot.run(() -> session.trace().selection().pointed().point(this, s.fromNs() + s.durationNs() / 4));
		bot.shot("aligned-gantt");
		bot.run(() -> session.trace().selection().pointed().leave(this));
	}

	@Test
	void whoDoesNotWantItHasAsMuchRoomAsThereIs() {
		open();
		int aligned = bot.ui(() -> density.canvas().picture().plotWidth()).intValue();
		bot.run(() -> Settings.store().setValue(Settings.ALIGN, false));
		settle();
		bot.waitFor("the whole width", () -> density.canvas().picture().plotWidth() > aligned + 100);
		settle();
		assertNotEquals(inPicture(ocelotl, state().toNs()), inDensity(state().toNs()));
		bot.run(() -> Settings.store().setToDefault(Settings.ALIGN));
		settle();
		bot.waitFor("as before", () -> density.canvas().picture().plotWidth() == aligned);
		settle();
		assertAligned("again");
	}

	/** What is compared stands beside each other: both pictures keep their own edges, and the view below both, too. */
	@Test
	void comparedPicturesBesideEachOtherKeepTheirOwn() throws Exception {
		TraceInfo fixed = SampleTrace.write(session.catalogue(), "fixed matmul");
		open();
		bot.run(() -> Comparison.show(page(), fixed, SelectionLink.Time.SCALED));
		bot.waitFor("second trace", () -> session.groups().size() == 2 && session.group(2).trace() != null);
		bot.run(() -> page().bringToTop(ocelotl));
		waitForViews();
		OcelotlView second = bot.ui(() -> (OcelotlView) views().stream().filter(v -> v instanceof OcelotlView && v != ocelotl).findFirst()
				.orElseThrow());
		bot.waitFor("painted", () -> second.canvas().picture() != null && ocelotl.canvas().picture() != null);
		waitForViews();
		for (OcelotlView v : new OcelotlView[] {ocelotl, second}) {
			Rectangle plot = bot.ui(() -> v.canvas().picture().plot());
			int width = bot.ui(() -> v.canvas().getSize().x);
			assertEquals(bot.ui(() -> v.canvas().picture().margins().left()), plot.x);
			assertEquals(bot.ui(() -> v.canvas().picture().margins().right()), width - plot.x - plot.width);
		}
		bot.shot("aligned-compare");
	}
}
