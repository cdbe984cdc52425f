// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
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

/** A trace in memory of what a test says: heap structures in the order of their making, accesses by interval, page and thread. */
public final class MadeTrace {
	private static final int PAGE = 4096;
	/** Start of every made trace. */
	public static final long START_NS = 1_000_000_000L;

	private final int threads;
	private final long[] bound;
	private final ProducerTreeBuilder tree = new ProducerTreeBuilder(PAGE);
	private final List<Structure> structures = new ArrayList<>();
	private final List<int[]> pagesOf = new ArrayList<>();
	/** interval, leaf, thread, reads, writes, flags. */
	private final List<int[]> rows = new ArrayList<>();

	/** CPUs of each thread that has others than CPU 0. */
	private final Map<Integer, BitSet> cpusOf = new TreeMap<>();

	private final Map<String, String> properties = new TreeMap<>(Map.of("command", "made"));

	/** Intervals of one length. */
	public MadeTrace(int threads, int intervals, long intervalNs) {
		this(threads, bounds(intervals, intervalNs));
	}

	/**
	 * Intervals of any lengths.
	 *
	 * @param bound start of each and end of the last, from the start of the trace
	 */
	public MadeTrace(int threads, long[] bound) {
		this.threads = threads;
		this.bound = bound;
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
	}

	private static long[] bounds(int intervals, long ns) {
		long[] b = new long[intervals + 1];
		Arrays.setAll(b, i -> i * ns);
		return b;
	}

	/** A new structure; returns its number. */
	public int structure(String name, int pages) {
		int id = structures.size();
		long address = 0x7f0000000000L + id * 0x10000000L;
		long end = address + (long) pages * PAGE;
		structures.add(new Structure(id, 0, StructureKind.HEAP, name, address, end, START_NS, Long.MAX_VALUE, 4000, -1, "made.c:" + (id + 1)));
		int[] leaves = new int[pages];
		tree.begin(ProducerKind.STRUCTURE, name, address, end, id);
		divide(id, address, 0, pages, leaves);
		tree.end();
		pagesOf.add(leaves);
		return id;
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

	/** Accesses of a thread, -1 not known, to a page in an interval. */
	public void access(int interval, int structure, int page, int thread, int reads, int writes) {
		rows.add(new int[] {interval, pagesOf.get(structure)[page], thread, reads, writes, 0, -1, 1});
	}

	/** For {@link #flags}: it is not known whether others used the page at the time of the access that was added last. */
	public static final int SHARING_NOT_KNOWN = -1;

	/** Flags of the access that was added last. */
	public void flags(int value) {
		rows.get(rows.size() - 1)[5] = value;
	}

	/** The access that was added last is of another process, whose interval is so many long; its first one was so many ns after its start. */
	public void first(int firstNs, int intervals) {
		rows.get(rows.size() - 1)[6] = firstNs;
		rows.get(rows.size() - 1)[7] = intervals;
	}

	/** The CPUs on which a thread is in all of its records; none: not known. */
	public void on(int thread, int... cpus) {
		BitSet set = new BitSet();
		Arrays.stream(cpus).forEach(set::set);
		cpusOf.put(thread, set);
	}

	/** Says something about the trace, such as what its recorder guarantees. */
	public void property(String key, String value) {
		properties.put(key, value);
	}

	/** The trace; nothing can be added to it any more. */
	public TraceStore open() throws MemtraceException {
		tree.end();
		Map<Long, BitSet> users = new TreeMap<>();
		for (int[] r : rows) {
			BitSet those = users.computeIfAbsent((long) r[0] << 32 | r[1], k -> new BitSet());
			those.set(Math.max(0, r[2]), those.get(Math.max(0, r[2])) || r[2] >= 0);
		}
		rows.sort(Comparator.comparingInt(r -> r[0])); // stable: who is added first is first
		List<BitSet> sets = new ArrayList<>(List.of(BitSet.valueOf(new long[] {1})));
		cpusOf.values().stream().filter(set -> !set.isEmpty() && !sets.contains(set)).forEach(sets::add);
		AccessBatch batch = new AccessBatch(Math.max(1, rows.size()));
		for (int[] r : rows) {
			batch.add(START_NS + bound[r[0]], START_NS + bound[r[0] + r[7]], r[1], r[2],
					sets.indexOf(cpusOf.getOrDefault(r[2], sets.get(0))), r[3], r[4],
					r[5] == SHARING_NOT_KNOWN ? AccessBatch.SHARING_NOT_KNOWN : users.get((long) r[0] << 32 | r[1]).cardinality(), 0,
					Math.max(0, r[5]), 0, AccessBatch.NO_OFFSET, AccessBatch.NO_OFFSET,
					r[6]);
		}
		long end = START_NS + bound[bound.length - 1];
		TraceCatalogue catalogue = Stores.inMemory();
		try (TraceWriter w = catalogue.create("made")) {
			List<ThreadInfo> list = new ArrayList<>();
			for (int t = 0; t < threads; t++) {
				list.add(new ThreadInfo(t, 0, 4000 + t, t == 0 ? "main" : "worker", START_NS, end, "", t == 0));
			}
			w.threads(list);
			w.structures(structures);
			w.cpuSets(sets);
			w.producers(tree.build());
			w.accesses(batch);
			List<Interval> intervals = new ArrayList<>();
			for (int i = 0; i + 1 < bound.length; i++) {
				intervals.add(new Interval(0, START_NS + bound[i], START_NS + bound[i + 1], bound[i + 1] - bound[i], 0, 0, 0, ""));
			}
			w.intervals(intervals);
			TraceInfo info = new TraceInfo(-1, "made", "made", TraceInfo.TYPE_MEMTRACE, "made", "host", "Linux", 4, batch.count, 0, START_NS,
					end, Instant.EPOCH, PAGE, "", properties);
			return catalogue.open(w.commit(info, "{}", Progress.NONE).id());
		}
	}
}
