// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Event;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.views.UiTest;
import org.memtrace.views.Watchdog;
import org.memtrace.views.session.ViewIds;

/** The Gantt chart on the trace of MEMTRACE_BENCH_DB, see bench/ui/run.sh: not a test, nothing is judged. */
class GanttUiBenchmark extends UiTest {
	private static final int TIMES = 30;

	private GanttView view;
	private GanttCanvas canvas;
	private Watchdog watchdog;

	@Test
	void measure() throws Exception {
		String big = System.getenv("MEMTRACE_BENCH_DB");
		if (big == null) {
			return;
		}
		view = bot.ui(() -> showAlone(ViewIds.GANTT));
		canvas = bot.ui(view::canvas);
		try (Watchdog w = new Watchdog(bot.display)) {
			watchdog = w;
			watchdog.told("Gantt chart: opening the trace until its first picture",
					String.format("%.0f ms", until(() -> bot.run(() -> session.opener().open(big)))));
			List<Double> wheel = new ArrayList<>();
			for (int i = 0; i < TIMES; i++) {
				int n = i;
				wheel.add(until(() -> bot.run(() -> wheel(n, n % 8 < 6 ? 1 : -1, SWT.MOD1))));
			}
			watchdog.told("Gantt chart: wheel zoom until the picture", Watchdog.figures(wheel));
			bot.run(() -> session.trace().selection().reset());
			until(() -> {
			});
			watchdog.longestMs();
			watchdog.told("Gantt chart: all rows unfolded", String.format("%.0f ms", until(() -> {
				bot.run(() -> {
					canvas.setFocus();
					canvas.setSelected(0, null);
					Event e = new Event();
					e.character = '*';
					e.keyCode = '*';
					canvas.notifyListeners(SWT.KeyDown, e);
				});
				bot.waitFor("unfolded", () -> view.rows() != null && view.rows().count() > 1000);
			})));
			int rows = bot.ui(() -> view.rows().count());
			List<Double> scroll = new ArrayList<>();
			Random random = new Random(12);
			for (int i = 0; i < TIMES; i++) {
				int row = random.nextInt(rows);
				scroll.add(until(() -> bot.run(() -> {
					canvas.setFirstRow(row);
					Event e = new Event();
					e.type = SWT.MouseVerticalWheel;
					e.count = 1;
					e.x = canvas.getSize().x / 2;
					e.y = canvas.getSize().y / 2;
					canvas.notifyListeners(SWT.MouseVerticalWheel, e);
				})));
			}
			watchdog.told("Gantt chart: to a random one of " + rows + " rows", Watchdog.figures(scroll));
		}
	}

	private void wheel(int n, int count, int mask) {
		GanttPicture p = canvas.picture();
		Event e = new Event();
		e.type = SWT.MouseVerticalWheel;
		e.x = (int) (p.plotX() + p.plotWidth() / 4 + n * 7 % (p.plotWidth() / 2));
		e.y = canvas.getSize().y / 2;
		e.count = count;
		e.stateMask = mask;
		canvas.notifyListeners(SWT.MouseVerticalWheel, e);
	}

	/** Time until the picture of what is then wanted is painted. */
	private double until(Runnable what) throws InterruptedException {
		return Watchdog.until(bot, what, () -> {
			boolean done = session.trace() != null && view.isSettled() && canvas.picture() != null;
			if (done) {
				canvas.update();
			}
			return done;
		});
	}
}
