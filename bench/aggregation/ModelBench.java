// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.analysis.text.NodeNames;
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
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/**
 * What a person waits for: table of accesses, model of each viewpoint, zoom, change of p, picture, on a generated trace of four
 * structures. Arguments: records, pages, and the file of a database: the trace is written there, or read from there if it exists, each
 * round opens it again. The first round is that of a JVM that has just started. Run:
 * {@code bench/aggregation/run.sh model [RECORDS PAGES [FILE]]}.
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
		// driver and classes are loaded by other parts of a workbench; here they are a part of the first round
		for (int round = 0; round < ROUNDS; round++) {
			long t0 = System.nanoTime();
			TraceStore store = file == null ? inMemory : Stores.openFile(file);
			AccessTable table = AccessTable.load(store, Progress.NONE);
			AccessModels source = new AccessModels(table);
			store.producers();
			step("open: columns of accesses and tree of producers", t0);
			Map<Dimension, MicroscopicModel> models = new LinkedHashMap<>();
			Hierarchy hierarchy = source.hierarchy(ModelRequest.WHOLE_TREE, Progress.NONE);
			for (Dimension v : List.of(BasicDimensions.TYPE, BasicDimensions.THREAD, BasicDimensions.READ_WRITE, BasicDimensions.CPU,
					BasicDimensions.NODE)) {
				t0 = System.nanoTime();
				models.put(v, source.model(source.wholeRequest().withViewpoint(v), hierarchy, Progress.NONE));
				step("model by " + v.id(), t0);
			}
			for (Dimension v : models.keySet()) {
				t0 = System.nanoTime();
				picture(store, table, models.get(v));
				step("from the model to the first picture, by " + v.id(), t0);
			}
			long start = store.info().startNs();
			long d = store.info().durationNs();
			ModelRequest zoom = source.wholeRequest().withWindow(start + d / 3, start + d / 2);
			t0 = System.nanoTime();
			picture(store, table, source.model(zoom, hierarchy, Progress.NONE));
			step("zoom to a sixth of the time: model and picture", t0);
			t0 = System.nanoTime();
			picture(store, table, source.model(zoom.withProducer(1), Progress.NONE));
			step("zoom into one structure: model and picture", t0);
			MicroscopicModel m = models.get(BasicDimensions.TYPE);
			NodeNames names = new NodeNames(hierarchy, table.producers(), store.structures());
			RowLayout layout = RowLayout.of(m, names);
			SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, layout.aggregation(m.sliceCount(), 700, 2),
					Progress.NONE);
			t0 = System.nanoTime();
			PictureBuilder.build(a.partition(0.3), names, layout, new PictureOptions());
			step("change of p: partition and picture", t0);
			t0 = System.nanoTime();
			SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
			step("list of " + levels.levels().size() + " levels, " + levels.programmes() + " programmes", t0);
			if (file != null) {
				store.close();
			}
		}
		System.out.printf("| | first | later: median of %d (least) |%n|---|---|---|%n", ROUNDS - 1);
		STEPS.forEach((what, ms) -> {
			List<Double> later = new ArrayList<>(ms.subList(1, ms.size()));
			later.sort(null);
			System.out.printf("| %s | %.0f ms | %.0f ms (%.0f) |%n", what, ms.get(0), later.get(later.size() / 2), later.get(0));
		});
	}

	private static final int ROUNDS = 6;
	private static final Map<String, List<Double>> STEPS = new LinkedHashMap<>();

	/** What a person waits for after the model: gains, the automatic level, the drawing. */
	private static void picture(TraceStore store, AccessTable table, MicroscopicModel m) throws Exception {
		NodeNames names = new NodeNames(m.hierarchy(), table.producers(), store.structures());
		RowLayout layout = RowLayout.of(m, names);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, layout.aggregation(m.sliceCount(), 1000, 2),
				Progress.NONE);
		PictureBuilder.build(SignificantLevels.balanced(a, Progress.NONE).partition(), names, layout, new PictureOptions());
	}

	private static void step(String what, long t0) {
		STEPS.computeIfAbsent(what, w -> new ArrayList<>()).add((System.nanoTime() - t0) / 1e6);
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
