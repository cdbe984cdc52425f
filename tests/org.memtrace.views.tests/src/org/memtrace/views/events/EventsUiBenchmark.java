// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.eclipse.swt.graphics.Rectangle;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.views.UiTest;
import org.memtrace.views.Watchdog;
import org.memtrace.views.session.ViewIds;

/** The table of events on the trace of MEMTRACE_BENCH_DB, see bench/ui/run.sh: not a test, nothing is judged. */
class EventsUiBenchmark extends UiTest {
	private static final int PLACES = 40;

	private EventsView view;
	private Watchdog watchdog;

	@Test
	void measure() throws Exception {
		String big = System.getenv("MEMTRACE_BENCH_DB");
		if (big == null) {
			return;
		}
		view = bot.ui(() -> show(ViewIds.EVENTS));
		try (Watchdog w = new Watchdog(bot.display)) {
			watchdog = w;
			step("events: opening the trace until the first rows are seen", () -> bot.run(() -> session.opener().open(big)), () -> seen(0));
			step("events: until all rows are counted", () -> {
			}, () -> view.isSettled());
			int rows = bot.ui(view::rowCount);
			Random random = new Random(11);
			List<Double> places = new ArrayList<>();
			for (int i = 0; i < PLACES; i++) {
				int row = random.nextInt(rows);
				places.add(Watchdog.until(bot, () -> bot.run(() -> view.grid().select(row, true)), () -> seen(row)));
			}
			watchdog.told("events: to a random row of " + rows, Watchdog.figures(places));
			step("events: to the last row", () -> bot.run(() -> view.grid().select(rows - 1, true)), () -> seen(rows - 1));
			Rectangle writes = bot.ui(() -> view.grid().headBounds(EventColumn.ofAccesses().indexOf(EventColumn.WRITES), false));
			bot.run(() -> view.grid().select(0, true));
			step("events: sorted by writes, most first", () -> bot.click(view.grid().control(), writes), () -> view.isSettled() && seen(0));
			Rectangle thread = bot.ui(() -> view.grid().headBounds(EventColumn.ofAccesses().indexOf(EventColumn.THREAD), true));
			bot.click(view.grid().control(), thread);
			bot.type("#3");
			step("events: of one thread of eight, still sorted", () -> bot.key("Return"),
					() -> view.isSettled() && view.rowCount() < rows && seen(0));
			Watchdog.row("events: rows of that thread", "%d", bot.ui(view::rowCount));
		}
	}

	private boolean seen(int row) {
		return session.trace() != null && row < view.rowCount() && !view.text(EventColumn.START, row).isEmpty();
	}

	private void step(String name, Runnable what, BooleanSupplier done) throws InterruptedException {
		watchdog.longestMs();
		watchdog.told(name, String.format("%.0f ms", Watchdog.until(bot, what, done)));
	}
}
