// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.events;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.ui.PartInitException;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.EventColumn;
import org.memtrace.views.UiTest;
import org.memtrace.views.ViewIds;
import org.memtrace.views.Watchdog;

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
		view = bot.ui(() -> {
			try {
				return (EventsView) page().showView(ViewIds.EVENTS);
			} catch (PartInitException e) {
				throw new IllegalStateException(e);
			}
		});
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
				places.add(until(() -> bot.run(() -> view.grid().select(row, true)), () -> seen(row)));
			}
			told("events: to a random row of " + rows, Watchdog.figures(places));
			step("events: to the last row", () -> bot.run(() -> view.grid().select(rows - 1, true)), () -> seen(rows - 1));
			Rectangle writes = bot.ui(() -> view.grid().headBounds(EventColumn.OF_ACCESSES.indexOf(EventColumn.WRITES), false));
			bot.run(() -> view.grid().select(0, true));
			step("events: sorted by writes, most first", () -> bot.click(view.grid().control(), writes), () -> view.isSettled() && seen(0));
			Rectangle thread = bot.ui(() -> view.grid().headBounds(EventColumn.OF_ACCESSES.indexOf(EventColumn.THREAD), true));
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

	/** Time until something is so, asked for every millisecond. */
	private double until(Runnable what, BooleanSupplier done) throws InterruptedException {
		long t0 = System.nanoTime();
		what.run();
		while (!bot.ui(done::getAsBoolean)) {
			Thread.sleep(1);
		}
		return (System.nanoTime() - t0) / 1e6;
	}

	private void step(String name, Runnable what, BooleanSupplier done) throws InterruptedException {
		watchdog.longestMs();
		told(name, String.format("%.0f ms", until(what, done)));
	}

	private void told(String name, String result) {
		Watchdog.row(name, "%s; display thread away %.0f ms", result, watchdog.longestMs());
	}
}
