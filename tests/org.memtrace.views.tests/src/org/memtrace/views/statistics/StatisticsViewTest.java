// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.statistics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;

import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.statistics.PieModel.Slice;
import org.memtrace.analysis.statistics.PieRules;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** The pie and its table. */
class StatisticsViewTest extends UiTest {
	private StatisticsView open() {
		StatisticsView view = bot.ui(() -> show(ViewIds.STATISTICS));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("pie", () -> session.trace() != null && view.isSettled() && view.pie().picture() != null
				&& view.model() != null);
		waitForPicture("small matmul");
		return view;
	}

	private static List<String> names(StatisticsView view) {
		return view.model().slices().stream().map(Slice::name).toList();
	}

	@Test
	void slicesSelectFilterMergeAndComeBack() {
		StatisticsView view = open();
		assertEquals(List.of("A", "B", "C"), bot.ui(() -> names(view)));
		Point size = bot.ui(() -> view.pie().getSize());
		// the first third of the turn is A
		bot.waitFor("painted", () -> view.pie().picture().sliceAt(size.x / 2 + 0.35 * Math.min(size.x, size.y), size.y / 2) != null);
		bot.click(view.pie(), size.x / 2 + (int) (0.35 * Math.min(size.x, size.y)), size.y / 2);
		bot.waitFor("A marked", () -> session.trace().selection().mark() == SampleTrace.A && view.selected().size() == 1);
		bot.shot("statistics");

		// leave A out, which is kept with the trace
		bot.run(() -> view.change(view.rules().exclude(view.selected())));
		assertEquals(List.of("B", "C"), bot.ui(() -> names(view)));
		assertEquals(1, bot.ui(() -> view.model().excludedCount()));
		bot.run(() -> view.change(view.rules().restore().merge("in and out", 0xff336699, Set.of("P" + SampleTrace.A, "P" + SampleTrace.C))));
		assertEquals(Set.of("B", "in and out"), Set.copyOf(bot.ui(() -> names(view))));
		PieRules kept = bot.ui(view::rules);
		bot.shot("statistics-merged");
		bot.run(() -> session.show(null));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("rules of the trace", () -> session.trace() != null && view.isSettled() && kept.equals(view.rules()));
		bot.run(() -> view.change(PieRules.NONE));

		// a double click on a row of a thread filters all views
		bot.run(() -> view.choose(Sum.ACCESSES, BasicDimensions.THREAD));
		bot.waitFor("threads", () -> view.isSettled() && view.model().by() == BasicDimensions.THREAD && view.model().slices().size() == 5);
		bot.shot("statistics-threads");
		String first = bot.ui(() -> view.model().slices().get(0).name());
		Point row = bot.ui(() -> new Point(view.grid().cellBounds(0, 0).x + 40, view.grid().cellBounds(0, 0).y + 8));
		bot.doubleClick(view.grid().control(), row.x, row.y);
		bot.waitFor("filter", () -> session.trace().selection().state().filters().isActive());
		bot.waitFor("only " + first, () -> view.isSettled() && names(view).equals(List.of(first)));
	}

	/** The column of names takes what is left over, whatever the size of the view is; all columns are seen. */
	@Test
	void columnsFillTheWidth() {
		StatisticsView view = open();
		for (int i = 0; i < 3; i++) {
			bot.waitFor("columns fill the width, time " + i, () -> {
				Rectangle last = view.grid().headBounds(2, false);
				int width = view.grid().control().getClientArea().width;
				return view.grid().control().getColumnCount() == 3 && last != null && Math.abs(last.x + last.width - width) <= 3;
			});
			bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.STATISTICS))); // larger, and back
		}
		bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.STATISTICS)));
	}

	@Test
	void followsTheWindowAndTheKeys() {
		StatisticsView view = open();
		bot.run(() -> view.choose(Sum.WRITES, BasicDimensions.THREAD));
		bot.run(() -> session.trace().selection().window(0, SampleTrace.INITIALISATION * SampleTrace.STEP_NS));
		bot.waitFor("initialisation", () -> view.isSettled() && names(view).equals(List.of("main #0")));
		assertEquals(2.0 * 4 * SampleTrace.PAGES * SampleTrace.INITIALISATION, bot.ui(() -> view.model().total()));
		bot.run(() -> view.choose(Sum.ACCESSES, org.memtrace.analysis.statistics.Statistics.structures()));
		bot.waitFor("A and B", () -> view.isSettled() && view.model().by() == org.memtrace.analysis.statistics.Statistics.structures()
				&& view.model().slices().size() == 2);
		bot.click(view.grid().control(), bot.ui(() -> view.grid().cellBounds(0, 0)));
		bot.waitFor("selected", () -> view.selected().size() == 1);
		bot.key("Down");
		bot.waitFor("next", () -> session.trace().selection().mark() == SampleTrace.B);
		bot.key("Return");
		bot.waitFor("parts of B", () -> view.isSettled() && session.trace().selection().state().producer() == SampleTrace.B
				&& view.model().slices().size() == 4);
		assertTrue(bot.ui(() -> names(view)).stream().allMatch(n -> n.startsWith("B [pages")));
	}
}
