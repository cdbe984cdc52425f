// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.density;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;

import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.RGB;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.ViewIds;

/** The histogram over time. */
class DensityViewTest extends UiTest {
	@Test
	void dragAndWheelZoomAllViews() {
		DensityView view = bot.ui(() -> show(ViewIds.DENSITY));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("density", () -> session.trace() != null && view.isSettled() && view.canvas().picture() != null);
		waitForPicture("small matmul");
		bot.shot("density");
		DensityPicture p = bot.ui(() -> view.canvas().picture());
		ModelType shared = p.model().series().get(p.model().series().size() - 1);
		assertEquals("Shared_Read", shared.name());
		int argb = bot.ui(() -> ScenePainter.palette(view.canvas()).color(shared));
		Map<RGB, Integer> colours = bot.colours(view.canvas());
		double area = p.plotWidth() * p.plotHeight();
		int painted = colours.getOrDefault(new RGB(argb >> 16 & 0xff, argb >> 8 & 0xff, argb & 0xff), 0);
		assertTrue(painted > 0.1 * area && painted < 0.6 * area, "a third of the accesses in four fifths of the time: " + painted
				+ " of " + area);

		// the second half, by a drag from right to left
		long middle = SampleTrace.STEPS / 2 * SampleTrace.STEP_NS;
		int y = (int) (p.plotY() + p.plotHeight() / 2);
		bot.drag(view.canvas(), 1, new Point((int) (p.plotX() + p.plotWidth()) - 1, y), new Point((int) p.xOf(middle), y));
		bot.waitFor("zoomed", () -> view.isSettled() && Math.abs(state().fromNs() - middle) < SampleTrace.STEP_NS
				&& state().toNs() > 2 * middle - SampleTrace.STEP_NS);
		assertEquals(state().fromNs(), bot.ui(() -> view.canvas().picture().model().fromNs()));
		long before = state().durationNs();
		// one notch more than needed: under load one was lost once, by whom is not known
		bot.wheel(view.canvas(), (int) p.plotX() + 200, y, 3);
		bot.waitFor("zoomed in", () -> view.isSettled() && state().durationNs() < 0.7 * before);
		bot.key("w");
		bot.waitFor("whole", () -> view.isSettled() && state().durationNs() == SampleTrace.STEPS * SampleTrace.STEP_NS);
		bot.run(() -> view.choose(Sum.WRITES, BasicDimensions.THREAD));
		bot.waitFor("threads", () -> view.isSettled() && view.canvas().picture() != null
				&& view.canvas().picture().model().series().size() == 5);
		bot.shot("density-threads");
		bot.run(() -> view.choose(Sum.MEMORY, BasicDimensions.THREAD));
		bot.waitFor("memory is divided by where it is", () -> view.isSettled() && view.model().sum() == Sum.MEMORY
				&& view.model().stack() == BasicDimensions.NODE && view.model().max() == 4096.0 * 3 * SampleTrace.PAGES);
		bot.shot("density-memory");
		bot.run(() -> view.choose(Sum.READS, BasicDimensions.NODE));
		bot.key("Escape");
		bot.waitFor("back", () -> state().durationNs() < before);
	}

	private ViewState state() {
		return session.trace().selection().state();
	}
}
