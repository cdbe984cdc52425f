// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
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
 * A made-up trace of a naive parallel matrix multiplication, in memory: the main thread initialises A, B and C one after
 * the other, then four threads read their rows of A, write their rows of C and read all of B all the time.
 */
public final class SyntheticTrace {
	private static final int PAGE = 4096;
	private static final long INTERVAL_NS = 10_000_000;
	private static final long START_NS = 1_000_000_000_000L;

	private final int pages;
	private final int intervals;
	private final ProducerTreeBuilder tree = new ProducerTreeBuilder(PAGE);
	private final List<Structure> structures = new ArrayList<>();
	private final List<int[]> pagesOf = new ArrayList<>();
	private final AccessBatch batch;

	private SyntheticTrace(int pages, int intervals) {
		this.pages = pages;
		this.intervals = intervals;
		this.batch = new AccessBatch(1 << 22);
	}

	/**
	 * Makes the trace.
	 *
	 * @param pages pages of each matrix
	 * @param intervals monitoring intervals of 10 ms; a sixth is initialisation
	 */
	public static TraceStore matrixMultiplication(int pages, int intervals) throws MemtraceException {
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("matmul")) {
			return catalogue.open(new SyntheticTrace(pages, intervals).write(w).id());
		}
	}

	/** Writes such a trace. */
	public static void matrixMultiplication(TraceWriter writer, int pages, int intervals) throws MemtraceException {
		new SyntheticTrace(pages, intervals).write(writer);
	}

	/** Writes the same trace into a database. */
	public static void write(TraceWriter writer, int pages, int intervals) throws MemtraceException {
		new SyntheticTrace(pages, intervals).write(writer);
	}

	private TraceInfo write(TraceWriter w) throws MemtraceException {
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		structure(StructureKind.STATIC, "pids", 0x404000, 1, "matmul.c:12");
		structure(StructureKind.HEAP, "A", 0x7f0000000000L, pages, "matmul.c:48");
		structure(StructureKind.HEAP, "B", 0x7f0010000000L, pages, "matmul.c:49");
		structure(StructureKind.HEAP, "C", 0x7f0020000000L, pages, "matmul.c:50");
		structure(StructureKind.STACK, "stack of main", 0x7ffc00000000L, 4, "");
		for (int t = 1; t <= 4; t++) {
			structure(StructureKind.STACK, "stack of worker " + t, 0x7fee00000000L + t * 0x1000000L, 2, "");
		}
		tree.end();
		int init = intervals / 6;
		for (int i = 0; i < intervals; i++) {
			interval(i, init);
		}
		List<ThreadInfo> threads = new ArrayList<>();
		long end = START_NS + intervals * INTERVAL_NS;
		threads.add(new ThreadInfo(0, 0, 4000, "main", START_NS, end, "", true));
		for (int t = 1; t <= 4; t++) {
			threads.add(new ThreadInfo(t, 0, 4000 + t, "worker", START_NS + init * INTERVAL_NS, end, "multiply", false));
		}
		w.threads(threads);
		w.structures(structures);
		List<BitSet> sets = new ArrayList<>();
		for (int c = 0; c < 4; c++) {
			sets.add(BitSet.valueOf(new long[] {1L << c}));
		}
		w.cpuSets(sets);
		w.producers(tree.build());
		w.accesses(batch);
		List<Interval> list = new ArrayList<>();
		for (int i = 0; i < intervals; i++) {
			list.add(new Interval(0, START_NS + i * INTERVAL_NS, START_NS + (i + 1) * INTERVAL_NS, INTERVAL_NS, 0, 0, 0, ""));
		}
		w.intervals(list);
		Map<String, String> properties = new TreeMap<>();
		properties.put("command", "./matmul 1024");
		TraceInfo info = new TraceInfo(-1, "matmul", "matmul", TraceInfo.TYPE_MEMTRACE, "matmul", "host", "Linux", 4, batch.count,
				0, START_NS, end, Instant.EPOCH, PAGE, "", properties);
		return w.commit(info, "{}", Progress.NONE);
	}

	private void structure(StructureKind kind, String name, long address, int count, String site) {
		int id = structures.size();
		long end = address + (long) count * PAGE;
		structures.add(new Structure(id, 0, kind, name, address, end, START_NS, Long.MAX_VALUE, 4000, -1, site));
		int[] leaves = new int[count];
		tree.begin(kind == StructureKind.STACK ? ProducerKind.STACK : ProducerKind.STRUCTURE, name, address, end, id);
		divide(id, address, 0, count, leaves);
		tree.end();
		pagesOf.add(leaves);
	}

	private void divide(int id, long address, int from, int to, int[] leaves) {
		if (to - from == 1) {
			leaves[from] = tree.leaf(ProducerKind.PAGE, null, address + (long) from * PAGE, address + (from + 1L) * PAGE, id);
			return;
		}
		int middle = (from + to) / 2;
		for (int part = 0; part < 2; part++) {
			int a = part == 0 ? from : middle;
			int b = part == 0 ? middle : to;
			if (b - a > 1) {
				tree.begin(ProducerKind.PART, null, address + (long) a * PAGE, address + (long) b * PAGE, id);
				divide(id, address, a, b, leaves);
				tree.end();
			} else {
				divide(id, address, a, b, leaves);
			}
		}
	}

	private void interval(int i, int init) {
		access(i, 4, i % 4, 0, 3, 2, 1);
		if (i < init) {
			for (int m = 1; m <= 3; m++) {
				// A, B, C in turn
				double from = (i * 3.0 / init - (m - 1)) * pages;
				double to = ((i + 1) * 3.0 / init - (m - 1)) * pages;
				for (int p = (int) Math.max(0, Math.floor(from)); p < Math.min(pages, Math.ceil(to)); p++) {
					access(i, m, p, 0, 0, 1, 1);
				}
			}
			return;
		}
		access(i, 0, 0, 0, 1, 0, 1);
		double progress = (double) (i - init) / (intervals - init);
		double next = (double) (i + 1 - init) / (intervals - init);
		for (int t = 1; t <= 4; t++) {
			double base = (t - 1) * pages / 4.0;
			int from = (int) (base + progress * pages / 4);
			int to = (int) Math.min(pages, Math.ceil(base + next * pages / 4));
			for (int p = from; p < to; p++) {
				access(i, 1, p, t, 4, 0, 1);
				access(i, 3, p, t, 1, 3, 1);
			}
			for (int p = 0; p < pages; p++) {
				// a regular, slightly uneven coverage of B
				if ((p * 7 + i * 3 + t) % 5 != 0) {
					access(i, 2, p, t, 1 + (p + t) % 2, 0, 4);
				}
			}
			access(i, 4 + t, 0, t, 2, 2, 1);
			access(i, 4 + t, 1, t, 1, 0, 1);
		}
	}

	private void access(int interval, int structure, int page, int thread, int reads, int writes, int sharing) {
		long start = START_NS + interval * INTERVAL_NS;
		batch.add(start, start + INTERVAL_NS, pagesOf.get(structure)[page], thread, thread % 4, reads, writes, sharing,
				thread % 2, 0, 0);
	}
}
