// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IProgressMonitor;
import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.widgets.Display;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.gantt.GanttFold;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.analysis.overview.CurvePicture;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
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
import org.memtrace.storage.Stores;
import org.memtrace.views.grid.ServiceLoading;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.traces.TraceDetails;

/**
 * Once after the start, while a person chooses a trace: draws pictures of a small made-up trace that nobody sees, so that the
 * classes are loaded and the code is compiled when the first turns of the wheel need them. Some seconds of a processor in the
 * background; whatever a person waits for goes first.
 */
public final class WarmUp extends Job {
	private static final int START_AFTER_MS = 1000;
	/** Pictures; not all of them on a slow machine. */
	private static final int TIMES = 60;
	private static final long MOST_NS = 5_000_000_000L;
	private static final int PAGES = 1024;
	private static final int INTERVALS = 50;
	private static final long INTERVAL_NS = 10_000_000;
	private static final int THREADS = 4;
	private static final int WIDTH = 1000;
	private static final int HEIGHT = 700;
	private static final double FONT_PIXELS = 12;
	private static final int PAUSE_MS = 5;

	private WarmUp() {
		super("Warm up");
		setSystem(true);
		setPriority(Job.DECORATE);
	}

	/** Starts it in the background, some time after the display answers: not while the window is being made. Display thread. */
	public static void start(Display display) {
		display.timerExec(START_AFTER_MS, () -> new WarmUp().schedule());
	}

	@Override
	protected IStatus run(IProgressMonitor monitor) {
		ServiceLoading.start();
		try {
			draw(TIMES, MOST_NS, Progress.cancelledWhen(monitor::isCanceled));
		} catch (CancelledException e) {
			// the workbench ends
		} catch (MemtraceException e) {
			ILog.of(WarmUp.class).error("Warm up: " + e.getMessage(), e);
		}
		return Status.OK_STATUS;
	}

	/** Returns how many pictures were drawn; none begins after so much work. */
	static int draw(int times, long mostNs, Progress progress) throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.inMemory()) {
			TraceInfo info = write(catalogue.create("warm up"));
			TraceDetails.of(info, null, "{\"rows\":{\"read\":1,\"skipped\":0},\"duration_ns\":1}");
			return draw(new OpenTrace(catalogue.open(info.id()), progress), times, mostNs, progress);
		}
	}

	private static int draw(OpenTrace trace, int times, long mostNs, Progress progress) throws MemtraceException {
		ViewState whole = trace.selection().initial();
		long workedNs = 0;
		int i = 0;
		for (; i < times && workedNs < mostNs; i++) {
			// in and out, at different places
			long cut = whole.durationNs() / 10 * (i % 5);
			ViewState state = whole.withWindow(whole.fromNs() + cut * (i % 3) / 2, whole.toNs() - cut * (3 - i % 3) / 4)
					.withViewpoint(i % 4 == 3 ? BasicDimensions.THREAD : BasicDimensions.TYPE);
			letOthersGoFirst(progress);
			long begin = System.nanoTime();
			Description d = Description.compute(new Description.Input(trace, state, Choice.DEFAULT, new Models()), progress);
			begin += letOthersGoFirst(progress);
			ShownPicture.compute(new ShownPicture.Input(d, state, Choice.DEFAULT, WIDTH, HEIGHT, FONT_PIXELS, Palette.LIGHT));
			d.partition((i + 1.0) / (TIMES + 1));
			CurvePicture.build(d.levels(), d.effectiveP(state), CurvePicture.Direction.RISING, 250, 150, Palette.LIGHT,
					TextMeter.DEFAULT, FONT_PIXELS);
			if (i % 4 == 0) {
				begin += letOthersGoFirst(progress);
				chart(trace, state, progress);
			}
			workedNs += System.nanoTime() - begin;
		}
		return i;
	}

	private static void chart(OpenTrace trace, ViewState state, Progress progress) throws MemtraceException {
		GanttSource source = GanttSources.of(trace.accesses(), state.viewpoint(), progress);
		GanttRows rows = GanttRows.of(new GanttRows.Request(source, GanttSource.Grouping.PRODUCER, state.producer(),
				GanttFold.initial(trace.producers()), GanttRows.Order.ADDRESS, false), progress);
		GanttOptions o = new GanttOptions();
		o.width = WIDTH;
		o.height = HEIGHT;
		o.fromNs = state.fromNs();
		o.toNs = state.toNs();
		GanttPicture.build(new GanttModel(source), rows, o, progress);
	}

	/** Waits while a person waits for something; returns for how long, in nanoseconds. */
	private static long letOthersGoFirst(Progress progress) throws CancelledException {
		long from = System.nanoTime();
		progress.check();
		while (LatestResult.isAnyUrgent()) {
			try {
				Thread.sleep(PAUSE_MS);
			} catch (InterruptedException e) {
				throw new CancelledException();
			}
			progress.check();
		}
		return System.nanoTime() - from;
	}

	/** A structure in a binary tree, of which threads use parts in phases. */
	private static TraceInfo write(TraceWriter writer) throws MemtraceException {
		try (writer) {
			long address = 0x100000000L;
			List<ThreadInfo> threads = new ArrayList<>();
			for (int t = 0; t < THREADS; t++) {
				threads.add(new ThreadInfo(t, 0, t + 1, "t" + t, 0, Long.MAX_VALUE, "", t == 0));
			}
			writer.threads(threads);
			writer.structures(List.of(new Structure(0, 0, StructureKind.HEAP, "S", address, address + PAGES * 4096L, 0, Long.MAX_VALUE, 1,
					-1, "")));
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			int[] leaf = new int[PAGES];
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			tree.begin(ProducerKind.STRUCTURE, "S", address, address + PAGES * 4096L, 0);
			divide(tree, address, 0, PAGES, leaf);
			tree.end();
			tree.end();
			ProducerTree producers = tree.build();
			writer.producers(producers);
			BitSet cpu = new BitSet();
			cpu.set(0);
			writer.cpuSets(List.of(cpu));
			AccessBatch batch = new AccessBatch(PAGES);
			long random = 88172645463325252L;
			for (int k = 0; k < INTERVALS; k++) {
				for (int page = 0; page < PAGES; page++) {
					random ^= random << 13;
					random ^= random >>> 7;
					random ^= random << 17;
					int phase = (k * 4 / INTERVALS + page * 8 / PAGES) % 4;
					int noise = (int) (random >>> 40 & 7);
					batch.add(k * INTERVAL_NS, (k + 1) * INTERVAL_NS, leaf[page], page * THREADS / PAGES, 0, phase == 0 ? 60 + noise : 1 + noise,
							phase == 1 ? 40 + noise : 0, 1 + (phase == 2 ? 1 : 0), 0, 0, 0);
				}
				writer.accesses(batch);
				batch.count = 0;
			}
			return writer.commit(new TraceInfo(-1, "warm up", "warm up", TraceInfo.TYPE_MEMTRACE, "", "", "", THREADS, 0, producers.size(),
					0, INTERVALS * INTERVAL_NS, Instant.EPOCH, 4096, "", Map.of("command", "none")), "{}", Progress.NONE);
		}
	}

	private static void divide(ProducerTreeBuilder tree, long address, int from, int to, int[] leaf) {
		if (to - from == 1) {
			leaf[from] = tree.leaf(ProducerKind.PAGE, "S [page " + from + "]", address + from * 4096L, address + to * 4096L, 0);
			return;
		}
		tree.begin(ProducerKind.PART, "S [pages " + from + "-" + (to - 1) + "]", address + from * 4096L, address + to * 4096L, 0);
		int middle = (from + to) / 2;
		divide(tree, address, from, middle, leaf);
		divide(tree, address, middle, to, leaf);
		tree.end();
	}
}
