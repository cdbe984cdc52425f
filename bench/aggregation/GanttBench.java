// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.gantt.GanttFold;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/**
 * How long a frame of the Gantt chart takes, with its CPU time: scrolling through all pages and zooming with everything folded, on a
 * generated trace. Arguments: records, pages, intervals (many: each record has nearly its own). Run:
 * {@code bench/aggregation/run.sh gantt [RECORDS PAGES INTERVALS]}.
 */
public final class GanttBench {
	private static final int THREADS = 8;
	private static final int STRUCTURES = 40;
	private static final int FRAMES = 300;

	private GanttBench() {
	}

	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		int records = args.length > 0 ? Integer.parseInt(args[0]) : 10_000_000;
		int pages = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
		int intervals = args.length > 2 ? Integer.parseInt(args[2]) : 400;
		long[] t0 = now();
		AccessTable table = AccessTable.load(store(records, pages, intervals), Progress.NONE);
		System.out.printf("| trace in memory and table of %d records, %d producers, %d intervals | %s ms |%n", table.records(), table.producers().size(),
				intervals, ms(t0));
		GanttSource source = GanttSources.of(table, BasicDimensions.TYPE, Progress.NONE);
		GanttModel model = new GanttModel(source);
		ProducerTree tree = source.producers();
		t0 = now();
		GanttRows folded = rows(source, Grouping.PRODUCER, GanttFold.initial(tree));
		System.out.printf("| %d rows, folded | %s ms |%n", folded.count(), ms(t0));
		t0 = now();
		GanttPicture.build(model, folded, options(source), Progress.NONE);
		System.out.printf("| first frame, folded: all records are read | %s ms |%n", ms(t0));
		zoom(model, folded, "zoom, folded");
		t0 = now();
		GanttRows all = rows(source, Grouping.PRODUCER, GanttFold.initial(tree).withSubtree(tree, 0, 0, true));
		System.out.printf("| %d rows, all unfolded | %s ms |%n", all.count(), ms(t0));
		scroll(model, all, "scroll to a random place");
		GanttOptions o = options(source);
		long[] frames = new long[FRAMES];
		long cpu = cpu();
		for (int i = 0; i < FRAMES; i++) {
			o.firstRow = all.count() / 2 + 3 * i;
			frames[i] = frame(model, all, o);
		}
		report("scroll by three rows", frames, cpu);
		zoom(model, all, "zoom among pages");
		t0 = now();
		GanttRows threads = rows(source, Grouping.THREAD, GanttFold.folded());
		System.out.printf("| %d rows of threads | %s ms |%n", threads.count(), ms(t0));
		t0 = now();
		GanttPicture.build(model, threads, options(source), Progress.NONE);
		System.out.printf("| first frame of threads | %s ms |%n", ms(t0));
		zoom(model, threads, "zoom, threads");
		Runtime r = Runtime.getRuntime();
		System.gc();
		System.out.printf("| heap in use, with the table | %d MB |%n", (r.totalMemory() - r.freeMemory()) >> 20);
	}

	private static String ms(long[] begin) {
		return (cpu() - begin[1]) / 1_000_000 + "; " + (System.nanoTime() - begin[0]) / 1_000_000;
	}

	private static long[] now() {
		return new long[] {System.nanoTime(), cpu()};
	}

	private static GanttRows rows(GanttSource source, Grouping grouping, GanttFold fold) throws Exception {
		return GanttRows.of(new GanttRows.Request(source, grouping, 0, fold, GanttRows.Order.ADDRESS, true), Progress.NONE);
	}

	private static GanttOptions options(GanttSource source) {
		GanttOptions o = new GanttOptions();
		o.width = 1400;
		o.height = 900;
		o.fromNs = source.info().startNs();
		o.toNs = source.info().endNs();
		return o;
	}

	private static long frame(GanttModel model, GanttRows rows, GanttOptions o) throws Exception {
		long t0 = System.nanoTime();
		GanttPicture.build(model, rows, o, Progress.NONE);
		return System.nanoTime() - t0;
	}

	private static void scroll(GanttModel model, GanttRows rows, String what) throws Exception {
		GanttOptions o = options(model.source());
		Random random = new Random(1);
		long[] frames = new long[FRAMES];
		long cpu = cpu();
		for (int i = 0; i < FRAMES; i++) {
			o.firstRow = random.nextInt(rows.count() - 100);
			frames[i] = frame(model, rows, o);
		}
		report(what, frames, cpu);
	}

	/** Wheel turns from the whole trace to a hundredthousandth and back, at several places. */
	private static void zoom(GanttModel model, GanttRows rows, String what) throws Exception {
		GanttOptions o = options(model.source());
		o.firstRow = rows.count() > 1000 ? rows.count() / 3 : 0;
		Random random = new Random(2);
		long[] frames = new long[FRAMES];
		long cpu = cpu();
		long duration = model.source().info().durationNs();
		for (int i = 0; i < FRAMES; i++) {
			double factor = Math.pow(0.8, 50 - Math.abs(i % 100 - 50));
			long length = Math.max(1_000, (long) (duration * factor));
			long from = model.source().info().startNs() + (long) ((duration - length) * (i % 100 == 0 ? 0 : random.nextDouble()));
			o.fromNs = from;
			o.toNs = from + length;
			frames[i] = frame(model, rows, o);
		}
		report(what, frames, cpu);
	}

	/** CPU time of the process: other programs do not count. */
	private static long cpu() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	private static void report(String what, long[] ns, long cpuFrom) {
		double cpu = (cpu() - cpuFrom) / 1e6 / ns.length;
		Arrays.sort(ns);
		System.out.printf("| %s, %d frames: CPU time of one; median, 95th percentile, greatest | %.1f; %.1f, %.1f, %.1f ms |%n", what,
				ns.length, cpu, ns[ns.length / 2] / 1e6, ns[ns.length * 95 / 100] / 1e6, ns[ns.length - 1] / 1e6);
	}

	private static TraceStore store(int records, int pages, int intervals) throws Exception {
		ProducerTreeBuilder builder = new ProducerTreeBuilder(4096);
		int[] leaf = new int[pages];
		builder.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		int next = 0;
		for (int s = 0; s < STRUCTURES; s++) {
			builder.begin(ProducerKind.STRUCTURE, "S" + s, 0, 0, -1);
			int end = (int) ((long) pages * (s + 1) / STRUCTURES);
			while (next < end) {
				builder.begin(ProducerKind.PART, "S" + s + " [from " + next + "]", 0, 0, -1);
				for (int i = 0; i < 64 && next < end; i++, next++) {
					leaf[next] = builder.leaf(ProducerKind.PAGE, "S" + s + " [page " + next + "]", 0, 0, -1);
				}
				builder.end();
			}
			builder.end();
		}
		builder.end();
		ProducerTree tree = builder.build();
		long step = 400_000_000L / intervals;
		List<ThreadInfo> threads = IntStream.range(0, THREADS)
				.mapToObj(t -> new ThreadInfo(t, 0, t, "t", 0, Long.MAX_VALUE, "", t == 0)).toList();
		TraceInfo info = new TraceInfo(-1, "bench", "bench", TraceInfo.TYPE_MEMTRACE, "", "", "", THREADS, records, tree.size(), 0,
				step * intervals, Instant.EPOCH, 4096, "", Map.of());
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("bench")) {
			w.threads(threads);
			w.structures(IntStream.range(0, STRUCTURES).mapToObj(s -> new Structure(s, 0, StructureKind.HEAP, "S" + s, 0, 0, 0,
					Long.MAX_VALUE, 1, -1, "")).toList());
			w.cpuSets(IntStream.range(0, THREADS).mapToObj(c -> BitSet.valueOf(new long[] {1L << c})).toList());
			w.producers(tree);
			AccessBatch b = new AccessBatch(1 << 16);
			long x = 88172645463325252L;
			for (long r = 0; r < records; r++) {
				x ^= x << 13;
				x ^= x >>> 7;
				x ^= x << 17;
				int i = (int) (r * intervals / records);
				int page = (int) ((x >>> 33) % (pages / 8)) + (int) ((long) i * (pages - pages / 8) / intervals);
				int thread = (int) (x >>> 20 & THREADS - 1);
				b.add(i * step, (i + 1) * step, leaf[page], thread, thread, 1 + (int) (x & 3), (int) (x >>> 3 & 1),
						1 + (int) (x >>> 5 & 1), thread & 1, 0, 0);
				if (b.isFull()) {
					w.accesses(b);
					b.count = 0;
				}
			}
			w.accesses(b);
			w.intervals(List.of());
			return catalogue.open(w.commit(info, "{}", Progress.NONE).id());
		}
	}
}
