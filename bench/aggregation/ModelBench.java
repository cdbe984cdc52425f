// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.MicroscopicModel;
import org.memtrace.aggregation.ModelRequest;
import org.memtrace.aggregation.SignificantLevels;
import org.memtrace.aggregation.SpatiotemporalAggregator;
import org.memtrace.aggregation.Viewpoint;
import org.memtrace.analysis.NodeNames;
import org.memtrace.analysis.PictureBuilder;
import org.memtrace.analysis.PictureOptions;
import org.memtrace.analysis.RowLayout;
import org.memtrace.model.AccessBatch;
import org.memtrace.model.ProducerKind;
import org.memtrace.model.ProducerTreeBuilder;
import org.memtrace.model.Progress;
import org.memtrace.model.Structure;
import org.memtrace.model.StructureKind;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.TraceStore;
import org.memtrace.model.TraceWriter;
import org.memtrace.storage.Stores;

/**
 * What a person waits for: table of accesses, model of each viewpoint, zoom, change of p, picture, on a generated trace of four
 * structures. Arguments: records, pages, and the file of a database: the trace is written there, or read from there if it exists, each round
 * opens it again. Run: {@code bench/aggregation/run.sh model [RECORDS PAGES [FILE]]}.
 */
public final class ModelBench {
	private static final int THREADS = 8;
	private static final int INTERVALS = 400;

	private ModelBench() {
	}

	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		int records = args.length > 0 ? Integer.parseInt(args[0]) : 10_000_000;
		int pages = args.length > 1 ? Integer.parseInt(args[1]) : 250_000;
		Path file = args.length > 2 ? Path.of(args[2]) : null;
		if (file != null && !Files.exists(file)) {
			long t0 = System.nanoTime();
			trace(records, pages, Stores.createFile(file, n -> {
			}));
			System.out.printf("| writing %d MB | %d ms |%n", Files.size(file) >> 20, (System.nanoTime() - t0) / 1_000_000);
			return;
		}
		TraceCatalogue catalogue = Stores.inMemory();
		TraceStore inMemory = file != null ? null : catalogue.open(trace(records, pages, catalogue.create("bench")).id());
		int rounds = file == null ? 3 : 1;
		for (int round = 3 - rounds; round < 3; round++) {
			long t0 = System.nanoTime();
			TraceStore store = file == null ? inMemory : Stores.openFile(file);
			store.producers();
			step(round, "opening", t0);
			t0 = System.nanoTime();
			AccessTable table = AccessTable.load(store, Progress.NONE);
			step(round, "table (" + table.size() + " records, " + table.memoryBytes() / 1_000_000 + " MB)", t0);
			for (Viewpoint v : Viewpoint.values()) {
				if (v == Viewpoint.TYPE) {
					continue;
				}
				t0 = System.nanoTime();
				MicroscopicModel m = table.model(table.wholeRequest().withViewpoint(v), Progress.NONE);
				step(round, "model by " + v.id() + " (" + m.memoryBytes() / 1_000_000 + " MB)", t0);
			}
			long start = store.info().startNs();
			long d = store.info().durationNs();
			ModelRequest zoom = table.wholeRequest().withWindow(start + d / 3, start + d / 2);
			t0 = System.nanoTime();
			table.model(zoom, Progress.NONE);
			step(round, "zoom to a sixth of the time", t0);
			t0 = System.nanoTime();
			table.model(zoom.withProducer(1), Progress.NONE);
			step(round, "zoom into one structure", t0);
			MicroscopicModel m = table.model(table.wholeRequest(), Progress.NONE);
			NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
			RowLayout layout = RowLayout.of(m, names);
			t0 = System.nanoTime();
			SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, layout.aggregation(m.sliceCount(), 700, 2),
					Progress.NONE);
			step(round, "gains of " + a.tree().size() + " nodes (" + a.memoryBytes() / 1_000_000 + " MB)", t0);
			t0 = System.nanoTime();
			a.partition(0.3);
			step(round, "one p", t0);
			t0 = System.nanoTime();
			SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
			step(round, "list of " + levels.levels().size() + " levels, " + levels.programmes() + " programmes", t0);
			t0 = System.nanoTime();
			int shapes = PictureBuilder.build(levels.at(0.3).partition(), names, layout, new PictureOptions()).scene().shapes()
					.size();
			step(round, "picture (" + shapes + " shapes)", t0);
		}
	}

	private static void step(int round, String what, long t0) {
		if (round == 2) {
			System.out.printf("| %s | %d ms |%n", what, (System.nanoTime() - t0) / 1_000_000);
		}
	}

	private static TraceInfo trace(int records, int pages, TraceWriter writer) throws Exception {
		ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
		int[] leaf = new int[pages];
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		List<Structure> structures = IntStream.range(0, 4).mapToObj(s -> new Structure(s, 0, StructureKind.HEAP, "S" + s,
				address(s, 0, pages), address(s, pages / 4, pages), 0, Long.MAX_VALUE, 1, -1, "")).toList();
		for (int s = 0; s < 4; s++) {
			tree.begin(ProducerKind.STRUCTURE, "S" + s, structures.get(s).startAddress(), structures.get(s).endAddress(), s);
			divide(tree, s, 0, pages / 4, leaf, pages);
			tree.end();
		}
		tree.end();
		try (TraceWriter w = writer) {
			w.threads(IntStream.range(0, THREADS).mapToObj(t -> new ThreadInfo(t, 0, t, "t", 0, Long.MAX_VALUE, "", t == 0)).toList());
			w.structures(structures);
			w.cpuSets(IntStream.range(0, THREADS).mapToObj(c -> BitSet.valueOf(new long[] {1L << c})).toList());
			w.producers(tree.build());
			AccessBatch b = new AccessBatch(1 << 16);
			long x = 88172645463325252L;
			int perInterval = records / INTERVALS;
			for (int i = 0; i < INTERVALS; i++) {
				for (int r = 0; r < perInterval; r++) {
					x ^= x << 13;
					x ^= x >>> 7;
					x ^= x << 17;
					int page = (int) ((x >>> 33) % (pages / 8)) + i * (pages - pages / 8) / INTERVALS;
					int thread = (int) (x >>> 20 & THREADS - 1);
					b.add(i * 1_000_000L, (i + 1) * 1_000_000L, leaf[page], thread, thread, 1 + (int) (x & 3), (int) (x >>> 3 & 1),
							1 + (int) (x >>> 5 & 1), thread & 1, 0, 0);
					if (b.isFull()) {
						w.accesses(b);
						b.count = 0;
					}
				}
			}
			w.accesses(b);
			w.intervals(List.of());
			return w.commit(new TraceInfo(-1, "bench", "bench", TraceInfo.TYPE_MEMTRACE, "bench", "host", "Linux", THREADS,
					records, 1, 0, INTERVALS * 1_000_000L, Instant.EPOCH, 4096, "", Map.of()), "{}", Progress.NONE);
		}
	}

	private static long address(int structure, int page, int pages) {
		return 0x100000000L + structure * (pages / 4 + 16L) * 4096 + page * 4096L;
	}

	private static void divide(ProducerTreeBuilder tree, int s, int from, int to, int[] leaf, int pages) {
		if (to - from == 1) {
			leaf[s * (pages / 4) + from] = tree.leaf(ProducerKind.PAGE, null, address(s, from, pages), address(s, to, pages), s);
			return;
		}
		int middle = (from + to) / 2;
		for (int part = 0; part < 2; part++) {
			int a = part == 0 ? from : middle;
			int b = part == 0 ? middle : to;
			if (b - a > 1) {
				tree.begin(ProducerKind.PART, null, address(s, a, pages), address(s, b, pages), s);
			}
			divide(tree, s, a, b, leaf, pages);
			if (b - a > 1) {
				tree.end();
			}
		}
	}
}
