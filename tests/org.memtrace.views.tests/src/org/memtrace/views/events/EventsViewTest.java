// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.graphics.Rectangle;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** The table of accesses, with real clicks and keys. */
class EventsViewTest extends UiTest {
	/** Two arrays of 32 pages in the first 10 intervals; then A, C and four threads on B for each page. */
	private static final int ROWS = SampleTrace.PAGES * (2 * SampleTrace.INITIALISATION
			+ 6 * (SampleTrace.STEPS - SampleTrace.INITIALISATION));

	private EventsView open() {
		EventsView view = bot.ui(() -> show(ViewIds.EVENTS));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("rows", () -> session.trace() != null && view.isSettled() && view.rowCount() == ROWS
				&& !view.text(EventColumn.START, 0).isEmpty());
		waitForPicture("small matmul");
		return view;
	}

	private void settle(EventsView view, String what, int rows) {
		bot.waitFor(what, () -> view.isSettled() && view.rowCount() == rows);
	}

	@Test
	void filterSortAndJump() throws Exception {
		EventsView view = open();
		assertEquals("0.000000", bot.ui(() -> view.text(EventColumn.START, 0)));
		assertEquals("main #0", bot.ui(() -> view.text(EventColumn.THREAD, 0)));
		bot.shot("events");

		Rectangle cell = bot.ui(() -> view.grid().headBounds(EventColumn.ofAccesses().indexOf(EventColumn.THREAD), true));
		bot.click(view.grid().control(), cell);
		bot.type("worker.*2");
		bot.key("Return");
		// a page of A, one of C and all of B in each later interval
		int perStep = 2 * SampleTrace.PAGES / 4 + SampleTrace.PAGES;
		settle(view, "rows of worker 2", perStep * (SampleTrace.STEPS - SampleTrace.INITIALISATION));
		bot.waitFor("fetched", () -> view.text(EventColumn.THREAD, 0).equals("worker 2 #2"));
		assertTrue(bot.ui(view::message).endsWith("filtered by column"), bot.ui(view::message));

		// writes are to C only, more in odd steps: largest first
		int writes = EventColumn.ofAccesses().indexOf(EventColumn.WRITES);
		bot.click(view.grid().control(), bot.ui(() -> view.grid().headBounds(writes, false)));
		bot.waitFor("largest first", () -> view.isSettled() && view.text(EventColumn.WRITES, 0).equals("9"));
		assertEquals("C", bot.ui(() -> view.text(EventColumn.STRUCTURE, 0)));
		bot.shot("events-filtered");

		bot.click(view.grid().control(), bot.ui(() -> view.grid().cellBounds(0, 0)));
		bot.waitFor("marked", () -> session.trace().selection().mark() == SampleTrace.C);
		bot.doubleClick(view.grid().control(), 30, bot.ui(() -> view.grid().cellBounds(0, 0).y + 5));
		bot.waitFor("zoomed about the row",
				() -> session.trace().selection().state().durationNs() == 11 * SampleTrace.STEP_NS);
		bot.run(() -> page().activate(view));
		// five intervals before and after that of the row, of which the first four are initialisation
		int inWindow = perStep * 7;
		settle(view, "rows of the window", inWindow);

		Path csv = Files.writeString(directory.resolve("rows.csv"), "what was there before");
		bot.run(() -> view.grid().showColumns(List.of(0, 4, writes)));
		Job export = bot.ui(() -> view.export(csv));
		bot.waitFor("exported", () -> export.getState() == Job.NONE);
		List<String> lines = Files.readAllLines(csv);
		assertEquals("start_ns,thread,writes", lines.get(0));
		assertEquals(inWindow + 1, lines.size());
		assertTrue(lines.get(1).endsWith(",worker 2 #2,9"), lines.get(1));
	}

	@Test
	void wrongFiltersAreToldAndSelectionIsFollowed() {
		EventsView view = open();
		bot.click(view.grid().control(), bot.ui(() -> view.grid().headBounds(EventColumn.ofAccesses().indexOf(EventColumn.READS), true)));
		bot.type("many");
		bot.key("Return");
		bot.waitFor("told", () -> view.message().contains("no comparison"));
		assertEquals(ROWS, bot.ui(view::rowCount), "rows stay");
		bot.run(() -> view.grid().clearFilters());
		bot.waitFor("no more", () -> !view.message().contains("no comparison"));
		bot.run(() -> session.trace().selection().zoom(0, SampleTrace.INITIALISATION * SampleTrace.STEP_NS, SampleTrace.A));
		settle(view, "initialisation of A", SampleTrace.INITIALISATION * SampleTrace.PAGES);
		bot.click(view.grid().control(), bot.ui(() -> view.grid().cellBounds(2, 0)));
		bot.key("ctrl+End");
		bot.waitFor("last row", () -> view.grid().visibleRows().end == view.rowCount());
		bot.key("ctrl+f");
		bot.type(">=5");
		bot.key("Return");
		settle(view, "from 5 ms on, typed without the mouse", (SampleTrace.INITIALISATION - 5) * SampleTrace.PAGES);
		bot.run(() -> view.grid().clearFilters());
		settle(view, "all again", SampleTrace.INITIALISATION * SampleTrace.PAGES);
	}
}
