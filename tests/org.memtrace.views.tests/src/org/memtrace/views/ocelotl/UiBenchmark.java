// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Listener;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.views.UiTest;
import org.memtrace.views.Watchdog;
import org.memtrace.views.session.ViewIds;

/**
 * How smooth the workbench is: not a test, nothing is judged. Run by bench/ui/run.sh, which passes the database of a trace of
 * 1e7 accesses in the environment variable MEMTRACE_BENCH_DB. Prints rows of a table.
 */
class UiBenchmark extends UiTest {
	private static final int PAGES = 4096;
	private static final int SLICES = 50;
	private static final long SLICE_NS = 10_000_000;
	private static final int INPUT_MS = 8;

	private OcelotlView view;

	private void settle() {
		bot.waitFor("picture of the current state", () -> session.trace() != null && session.opening() == null && view.isSettled());
	}

	private void showView() {
		view = bot.ui(() -> show(ViewIds.OCELOTL));
	}

	@Test
	void measure() throws Exception {
		showView();
		TraceInfo generated = write(session.catalogue());
		bot.run(session::catalogueChanged);
		try (Watchdog watchdog = new Watchdog(bot.display)) {
			bot.run(() -> session.opener().open(generated));
			settle();
			for (int round = 0; round < 3; round++) {
				List<Double> frames = dragP(round == 2 ? 3000 : 1500);
				double stall = watchdog.longestMs();
				if (round == 2) {
					Watchdog.row("dragging p, 4,096 rows x 50 slices: time between two pictures", "%s", Watchdog.figures(frames));
					Watchdog.row("… longest time without an answer of the display thread", "%.0f ms", stall);
				}
			}
			wheel(10);
			watchdog.longestMs();
			Watchdog.row("wheel zoom until the final picture is painted, 4,096 rows", "%s", Watchdog.figures(wheel(30)));
			Watchdog.row("… longest time without an answer", "%.0f ms", watchdog.longestMs());
			String big = System.getenv("MEMTRACE_BENCH_DB");
			if (big != null && Files.exists(Path.of(big))) {
				big(Path.of(big), watchdog);
			}
		}
	}

	private void big(Path file, Watchdog watchdog) {
		for (int round = 0; round < 3; round++) {
			bot.run(() -> session.forget(t -> true));
			watchdog.longestMs();
			long t0 = System.nanoTime();
			bot.run(() -> session.opener().open(file.toString()));
			waitForPaint(file);
			double ms = (System.nanoTime() - t0) / 1e6;
			Watchdog.row("opening a trace of 1e7 accesses until its first picture" + (round == 0 ? "" : ", again"), "%.0f ms", ms);
			Watchdog.row("… longest time without an answer", "%.0f ms", watchdog.longestMs());
			settle();
		}
		List<Double> views = new ArrayList<>();
		for (int round = 0; round < 3; round++) {
			for (Dimension v : new Dimension[] {BasicDimensions.THREAD, BasicDimensions.CPU, BasicDimensions.READ_WRITE, BasicDimensions.TYPE}) {
				waitForLevels();
				long t0 = System.nanoTime();
				bot.run(() -> session.trace().selection().viewpoint(v));
				settlePicture();
				views.add((System.nanoTime() - t0) / 1e6);
			}
		}
		Watchdog.row("1e7: another viewpoint until its picture, the first time each (models prepared)", "%s", Watchdog.figures(new ArrayList<>(views.subList(0, 4))));
		Watchdog.row("1e7: another viewpoint until its picture, later", "%s", Watchdog.figures(new ArrayList<>(views.subList(4, 12))));
		watchdog.longestMs();
		Watchdog.row("1e7: wheel zoom until the final picture", "%s", Watchdog.figures(wheel(20)));
		Watchdog.row("… longest time without an answer", "%.0f ms", watchdog.longestMs());
		waitForLevels();
		Watchdog.row("1e7: dragging p: time between two pictures", "%s", Watchdog.figures(dragP(3000)));
		Watchdog.row("… longest time without an answer", "%.0f ms", watchdog.longestMs());
		System.gc();
		System.gc();
		Watchdog.row("1e7: heap in use", "%.0f MB", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6);
	}

	private void waitForLevels() {
		settle();
		bot.waitFor("all levels", () -> view.hasAllLevels());
	}

	private void waitForPaint(Path file) {
		bot.waitFor("picture", () -> session.trace() != null && session.trace().file() != null
				&& session.trace().file().path().equals(file.toAbsolutePath().normalize()) && view.canvas().picture() != null);
		bot.run(() -> view.canvas().update());
	}

	/** Sets p every few milliseconds, as a hand does that drags the slider to and fro; intervals between pictures. */
	private List<Double> dragP(int durationMs) {
		List<Double> frames = new ArrayList<>();
		ShownPicture[] last = new ShownPicture[1];
		long[] lastNs = {0};
		Listener painted = e -> {
			ShownPicture now = view.canvas().picture();
			if (now != last[0]) {
				long t = System.nanoTime();
				if (last[0] != null) {
					frames.add((t - lastNs[0]) / 1e6);
				}
				last[0] = now;
				lastNs[0] = t;
			}
		};
		bot.run(() -> {
			view.canvas().addListener(SWT.Paint, painted);
			session.trace().selection().beginGesture();
		});
		long begin = System.nanoTime();
		AtomicBoolean running = new AtomicBoolean(true);
		Runnable[] step = new Runnable[1];
		step[0] = () -> {
			double t = (System.nanoTime() - begin) / 1e6;
			if (t > durationMs) {
				running.set(false);
				return;
			}
			double x = 0.5 + 0.45 * Math.sin(t / 400);
			session.trace().selection().p(x * x);
			bot.display.timerExec(INPUT_MS, step[0]);
		};
		bot.run(() -> step[0].run());
		bot.waitFor("end of the drag", () -> !running.get());
		bot.run(() -> {
			session.trace().selection().endGesture();
			view.canvas().removeListener(SWT.Paint, painted);
			session.trace().selection().p(Double.NaN);
		});
		settle();
		return frames;
	}

	/** One notch in and out in turn, at different places; time until the picture of the new state is painted. */
	private List<Double> wheel(int times) {
		List<Double> ms = new ArrayList<>();
		for (int i = 0; i < times; i++) {
			settle();
			int n = i;
			long t0 = System.nanoTime();
			bot.run(() -> {
				Rectangle plot = view.canvas().picture().plot();
				Event e = new Event();
				e.type = SWT.MouseVerticalWheel;
				e.x = plot.x + plot.width / 4 + n * 7 % (plot.width / 2);
				e.y = plot.y + plot.height / 2;
				e.count = n % 2 == 0 ? 1 : -1;
				e.stateMask = SWT.MOD1;
				view.canvas().notifyListeners(SWT.MouseVerticalWheel, e);
			});
			settlePicture();
			ms.add((System.nanoTime() - t0) / 1e6);
		}
		bot.run(() -> session.trace().selection().reset());
		settle();
		return ms;
	}

	/** Asks every millisecond: the bot's 20 would be a part of the result. */
	private void settlePicture() {
		boolean[] done = new boolean[1];
		while (!done[0]) {
			bot.display.syncExec(() -> {
				done[0] = view.canvas().picture() != null && view.canvas().picture().state().equals(session.trace().selection().state());
				if (done[0]) {
					view.canvas().update();
				}
			});
			try {
				Thread.sleep(1);
			} catch (InterruptedException e) {
				throw new AssertionError(e);
			}
		}
	}

	/** 4,096 pages in a binary tree, 50 slices, eight groups of rows in four phases with noise. */
	private static TraceInfo write(TraceCatalogue catalogue) throws Exception {
		try (TraceWriter w = catalogue.create("bench")) {
			w.threads(List.of(new ThreadInfo(0, 0, 1, "t", 0, Long.MAX_VALUE, "", true)));
			long start = 0x100000000L;
			w.structures(List.of(new Structure(0, 0, StructureKind.HEAP, "S", start, start + PAGES * 4096L, 0, Long.MAX_VALUE, 1, -1,
					"")));
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			int[] leaf = new int[PAGES];
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			tree.begin(ProducerKind.STRUCTURE, "S", start, start + PAGES * 4096L, 0);
			divide(tree, start, 0, PAGES, leaf);
			tree.end();
			tree.end();
			ProducerTree producers = tree.build();
			w.producers(producers);
			BitSet cpu = new BitSet();
			cpu.set(0);
			w.cpuSets(List.of(cpu));
			long x = 88172645463325252L;
			AccessBatch b = new AccessBatch(1 << 16);
			for (int slice = 0; slice < SLICES; slice++) {
				for (int page = 0; page < PAGES; page++) {
					x ^= x << 13;
					x ^= x >>> 7;
					x ^= x << 17;
					int phase = (slice * 4 / SLICES + page * 8 / PAGES) % 4;
					int noise = (int) (x >>> 40 & 7);
					b.add(slice * SLICE_NS, (slice + 1) * SLICE_NS, leaf[page], 0, 0, phase == 0 ? 60 + noise : 8 + noise,
							phase == 1 ? 60 + noise : 1 + noise, phase < 2 ? 1 : 2, 0, 0, 0);
					if (b.isFull()) {
						w.accesses(b);
						b.count = 0;
					}
				}
			}
			w.accesses(b);
			return w.commit(new TraceInfo(-1, "bench", "bench", TraceInfo.TYPE_MEMTRACE, "bench", "host", "Linux", 1, 0, producers.size(),
					0, SLICES * SLICE_NS, Instant.EPOCH, 4096, "", Map.of()), "{}", Progress.NONE);
		}
	}

	private static void divide(ProducerTreeBuilder tree, long start, int from, int to, int[] leaf) {
		if (to - from == 1) {
			leaf[from] = tree.leaf(ProducerKind.PAGE, null, start + from * 4096L, start + to * 4096L, 0);
			return;
		}
		boolean part = to - from < PAGES;
		if (part) {
			tree.begin(ProducerKind.PART, null, start + from * 4096L, start + to * 4096L, 0);
		}
		int middle = (from + to) / 2;
		divide(tree, start, from, middle, leaf);
		divide(tree, start, middle, to, leaf);
		if (part) {
			tree.end();
		}
	}
}
