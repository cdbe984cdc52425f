// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The accesses of a trace as columns in memory, grouped by page and ordered by time within a page. Read once from the store;
 * after that models of any window, subtree, viewpoint and metric are made without the store. 7 to 12 bytes per record, more where counts need more than 32 bits. Immutable
 * and safe for all threads.
 */
public final class AccessTable implements ModelSource {
	/** Records that are taken into memory at most; more than that is an error that says how to see a part. */
	static final long MAX_RECORDS = 200_000_000L;
	private static final int CHUNK = 1 << 18;
	/** Types of the columns that are saved. */
	private static final Object[] KINDS = {PackedColumn.EMPTY, PackedColumn.EMPTY, PackedColumn.EMPTY, PackedColumn.EMPTY, PackedColumn.EMPTY,
		PackedColumn.EMPTY, PackedColumn.EMPTY, PackedColumn.EMPTY, new long[0], new long[0]};

	private final TraceInfo info;
	private final ProducerTree producers;
	private final List<ThreadInfo> threads;
	private final int[][] cpuSets;
	private final Columns rows;
	/** Rows of producer id are [rowFrom[id], rowFrom[id + 1]). */
	private final int[] rowFrom;
	private final BitSet innerProducers;
	private final long[] intervalStart;
	private final long[] intervalEnd;

	/** The records, in final order. */
	private static final class Columns {
		PackedColumn interval;
		PackedColumn thread;
		PackedColumn cpuSet;
		PackedColumn reads;
		PackedColumn writes;
		PackedColumn sharing;
		PackedColumn node;

		long memoryBytes() {
			return interval.memoryBytes() + thread.memoryBytes() + cpuSet.memoryBytes() + reads.memoryBytes()
					+ writes.memoryBytes() + sharing.memoryBytes() + node.memoryBytes();
		}
	}

	/** The records while they are put in order. */
	private static final class WideColumns {
		final int[] interval;
		final int[] thread;
		final int[] cpuSet;
		final long[] reads;
		final long[] writes;
		final int[] sharing;
		final int[] node;

		WideColumns(int n) {
			interval = new int[n];
			thread = new int[n];
			cpuSet = new int[n];
			reads = new long[n];
			writes = new long[n];
			sharing = new int[n];
			node = new int[n];
		}

		/** The first {@code n} records. */
		Columns columns(int n) {
			Columns t = new Columns();
			t.interval = PackedColumn.of(interval, n);
			t.thread = PackedColumn.of(thread, n);
			t.cpuSet = PackedColumn.of(cpuSet, n);
			t.reads = PackedColumn.of(reads, n);
			t.writes = PackedColumn.of(writes, n);
			t.sharing = PackedColumn.of(sharing, n);
			t.node = PackedColumn.of(node, n);
			return t;
		}
	}

	private AccessTable(TraceInfo info, ProducerTree producers, List<ThreadInfo> threads, int[][] cpuSets, Columns rows,
			int[] rowFrom, BitSet innerProducers, long[] intervalStart, long[] intervalEnd) {
		this.info = info;
		this.producers = producers;
		this.threads = threads;
		this.cpuSets = cpuSets;
		this.rows = rows;
		this.rowFrom = rowFrom;
		this.innerProducers = innerProducers;
		this.intervalStart = intervalStart;
		this.intervalEnd = intervalEnd;
	}

	/**
	 * Reads all accesses of a trace: from what an earlier call saved in the database, if it belongs to the trace as it is, else from
	 * its events, and then saves them for the next time.
	 */
	public static AccessTable load(TraceStore store, Progress progress) throws MemtraceException {
		return load(store, AccessCache.configuredLimit(), AccessCache.LEAST_RECORDS, progress);
	}

	/**
	 * @param cacheLimitBytes largest size of what is saved, 0 to save nothing
	 * @param leastRecords smallest number of accesses for which it is worth it
	 */
	static AccessTable load(TraceStore store, long cacheLimitBytes, int leastRecords, Progress progress)
			throws MemtraceException {
		if (store.accessCount() < leastRecords) {
			return load(store, AccessQuery.ALL, progress);
		}
		AccessCache cache = new AccessCache(store, cacheLimitBytes);
		Optional<Object[]> saved = cache.read(KINDS, progress);
		if (saved.isPresent()) {
			AccessTable table = ofColumns(store, saved.get());
			if (table != null) {
				return table;
			}
		}
		AccessTable table = load(store, AccessQuery.ALL, progress);
		cache.write(table.columns(), progress);
		return table;
	}

	/** Everything that is not in the small tables of the store. */
	private Object[] columns() {
		int[] perProducer = new int[rowFrom.length - 1];
		for (int p = 0; p < perProducer.length; p++) {
			perProducer[p] = rowFrom[p + 1] - rowFrom[p];
		}
		return new Object[] {rows.interval, rows.thread, rows.cpuSet, rows.reads, rows.writes, rows.sharing, rows.node,
			PackedColumn.of(perProducer), intervalStart, intervalEnd};
	}

	/** The table of {@link #columns}; null when they do not fit together. */
	private static AccessTable ofColumns(TraceStore store, Object[] columns) throws MemtraceException {
		Columns t = new Columns();
		t.interval = (PackedColumn) columns[0];
		t.thread = (PackedColumn) columns[1];
		t.cpuSet = (PackedColumn) columns[2];
		t.reads = (PackedColumn) columns[3];
		t.writes = (PackedColumn) columns[4];
		t.sharing = (PackedColumn) columns[5];
		t.node = (PackedColumn) columns[6];
		PackedColumn perProducer = (PackedColumn) columns[7];
		int n = t.interval.size();
		int producers = perProducer.size();
		int[] from = new int[producers + 1];
		for (int p = 0; p < producers; p++) {
			from[p + 1] = from[p] + perProducer.get(p);
		}
		if (n != store.accessCount() || from[producers] != n || producers != store.producers().size()) {
			return null;
		}
		return of(store, t, from, (long[]) columns[8], (long[]) columns[9]);
	}

	private static AccessTable of(TraceStore store, Columns rows, int[] from, long[] starts, long[] ends)
			throws MemtraceException {
		ProducerTree tree = store.producers();
		BitSet inner = new BitSet();
		for (int p = 0; p < tree.size(); p++) {
			if (from[p + 1] > from[p] && !tree.isLeaf(p)) {
				inner.set(p);
			}
		}
		List<BitSet> sets = store.cpuSets();
		int[][] cpus = new int[sets.size()][];
		for (int i = 0; i < cpus.length; i++) {
			cpus[i] = sets.get(i).stream().toArray();
		}
		return new AccessTable(store.info(), tree, List.copyOf(store.threads()), cpus, rows, from, inner, starts, ends);
	}

	/** Reads the accesses that a query selects. */
	public static AccessTable load(TraceStore store, AccessQuery query, Progress progress) throws MemtraceException {
		Loader loader = new Loader(store.producers().size());
		store.visitAccesses(query, loader::take, progress);
		return loader.finish(store, progress);
	}

	/** Collects batches, then sorts them by producer (they arrive by time, which is kept within a producer). */
	private static final class Loader {
		private static final int COLUMNS = 8;
		private final int producerCount;
		/** Producer, interval, thread, CPU set, reads, writes, sharing and node of some records: ten bytes for each of them. */
		private final List<PackedColumn[]> chunks = new ArrayList<>();
		/** The same of the records that come next. */
		private final long[][] open = new long[COLUMNS][CHUNK];
		private final long[] least = new long[COLUMNS];
		private final long[] most = new long[COLUMNS];
		private int inChunk;
		private long count;
		private final Map<Long, Map<Long, Integer>> known = new HashMap<>();
		private long[] starts = new long[256];
		private long[] ends = new long[256];
		private int intervals;
		private int last = -1;

		Loader(int producerCount) {
			this.producerCount = producerCount;
			Arrays.fill(least, Long.MAX_VALUE);
			Arrays.fill(most, Long.MIN_VALUE);
		}

		void take(AccessBatch b) throws MemtraceException {
			for (int i = 0; i < b.count; i++) {
				if (inChunk == CHUNK) {
					closeChunk();
				}
				int at = inChunk++;
				open[0][at] = b.producer[i];
				open[1][at] = interval(b.startNs[i], b.endNs[i]);
				open[2][at] = b.thread[i];
				open[3][at] = b.cpuSet[i];
				open[4][at] = b.reads[i];
				open[5][at] = b.writes[i];
				open[6][at] = b.sharing[i];
				open[7][at] = Math.max(-1, b.node[i]);
				if (b.producer[i] < 0 || b.producer[i] >= producerCount) {
					throw new MemtraceException("an access refers to event producer " + b.producer[i] + ", but there are "
							+ producerCount);
				}
			}
			count += b.count;
			if (count > MAX_RECORDS) {
				throw new MemtraceException("the selection has more than " + MAX_RECORDS
						+ " access records, which do not fit into memory; select a shorter time or a subtree");
			}
		}

		private int interval(long start, long end) {
			if (last >= 0 && starts[last] == start && ends[last] == end) {
				return last;
			}
			Map<Long, Integer> byEnd = known.computeIfAbsent(start, s -> new HashMap<>(2));
			Integer found = byEnd.get(end);
			if (found == null) {
				if (intervals == starts.length) {
					starts = Arrays.copyOf(starts, 2 * intervals);
					ends = Arrays.copyOf(ends, 2 * intervals);
				}
				found = intervals++;
				starts[found] = start;
				ends[found] = end;
				byEnd.put(end, found);
			}
			last = found;
			return last;
		}

		private void closeChunk() {
			PackedColumn[] chunk = new PackedColumn[COLUMNS];
			for (int c = 0; c < COLUMNS; c++) {
				chunk[c] = PackedColumn.of(open[c], inChunk);
				for (int i = 0; i < inChunk; i++) {
					least[c] = Math.min(least[c], open[c][i]);
					most[c] = Math.max(most[c], open[c][i]);
				}
			}
			chunks.add(chunk);
			inChunk = 0;
		}

		AccessTable finish(TraceStore store, Progress progress) throws MemtraceException {
			closeChunk();
			progress.begin("Sorting accesses", chunks.size());
			int n = (int) count;
			int[] from = new int[producerCount + 1];
			for (PackedColumn[] chunk : chunks) {
				for (int i = 0; i < chunk[0].size(); i++) {
					from[chunk[0].get(i) + 1]++;
				}
			}
			for (int p = 0; p < producerCount; p++) {
				from[p + 1] += from[p];
			}
			PackedColumn[] sorted = new PackedColumn[COLUMNS];
			for (int c = 1; c < COLUMNS; c++) {
				sorted[c] = PackedColumn.between(n, least[c], most[c]);
			}
			int[] next = from.clone();
			int[] places = new int[CHUNK];
			for (int k = 0; k < chunks.size(); k++) {
				progress.check();
				PackedColumn[] chunk = chunks.set(k, null);
				for (int i = 0; i < chunk[0].size(); i++) {
					places[i] = next[chunk[0].get(i)]++;
				}
				for (int c = 1; c < COLUMNS; c++) {
					sorted[c].put(places, chunk[c]);
				}
				progress.worked(1);
			}
			Columns t = new Columns();
			t.interval = sorted[1];
			t.thread = sorted[2];
			t.cpuSet = sorted[3];
			t.reads = sorted[4];
			t.writes = sorted[5];
			t.sharing = sorted[6];
			t.node = sorted[7];
			return of(store, t, from, Arrays.copyOf(starts, intervals), Arrays.copyOf(ends, intervals));
		}
	}

	@Override
	public TraceInfo info() {
		return info;
	}

	@Override
	public ProducerTree producers() {
		return producers;
	}

	/** Threads by index. */
	public List<ThreadInfo> threads() {
		return threads;
	}

	/** Number of records. */
	@Override
	public int size() {
		return rows.interval.size();
	}

	/** Bytes of the columns. */
	public long memoryBytes() {
		return rows.memoryBytes() + 4L * rowFrom.length + 16L * intervalStart.length;
	}

	/** The request for the whole trace. */
	public ModelRequest wholeRequest() {
		return ModelRequest.whole(info.startNs(), info.endNs());
	}

	@Override
	public Hierarchy hierarchy(int producer) {
		if (producer < 0) {
			return Hierarchy.of(producers, 0, producers.size(), innerProducers);
		}
		return Hierarchy.of(producers, producer, producers.subtreeEnd(producer), innerProducers);
	}

	@Override
	public MicroscopicModel model(ModelRequest request, Hierarchy hierarchy, Progress progress)
			throws CancelledException {
		return new ModelBuilder(this, request).build(hierarchy, progress);
	}

	/** Rows of a leaf: [rowFrom(producer), rowTo(producer)). */
	public int rowFrom(int producer) {
		return rowFrom[producer];
	}

	/** First row after those of a leaf. */
	public int rowTo(int producer) {
		return rowFrom[producer + 1];
	}

	/** Index of the time of a row, for {@link #intervalStart}. */
	public int interval(int row) {
		return rows.interval.get(row);
	}

	/** Index of the thread of a row, negative when not known. */
	public int thread(int row) {
		return rows.thread.get(row);
	}

	/** CPUs of a row, empty when not known; not to be changed. */
	public int[] cpus(int row) {
		int set = rows.cpuSet.get(row);
		return set < 0 || set >= cpuSets.length ? NO_CPUS : cpuSets[set];
	}

	/** Index of the set of CPUs of a row, -1 when not known. */
	int cpuSet(int row) {
		int set = rows.cpuSet.get(row);
		return set < cpuSets.length ? set : -1;
	}

	/** Sets of CPUs, not to be changed. */
	int[][] cpuNumbers() {
		return cpuSets;
	}

	private static final int[] NO_CPUS = {};

	/** Reads of a row. */
	public long reads(int row) {
		return rows.reads.getLong(row);
	}

	/** Writes of a row. */
	public long writes(int row) {
		return rows.writes.getLong(row);
	}

	/** Whether several threads used the page at the time of a row. */
	public boolean shared(int row) {
		return rows.sharing.get(row) > 1;
	}

	/** NUMA node of a row, negative when not known. */
	public int node(int row) {
		return rows.node.get(row);
	}

	/** Number of threads that used the page at the time of a row. */
	public int sharing(int row) {
		return rows.sharing.get(row);
	}

	/** Number of distinct times. */
	public int intervalCount() {
		return intervalStart.length;
	}

	/** Start of a time. */
	public long intervalStart(int interval) {
		return intervalStart[interval];
	}

	/** End of a time. */
	public long intervalEnd(int interval) {
		return intervalEnd[interval];
	}

	/** Largest CPU number in the table, -1 if none. */
	public int maxCpu() {
		int max = -1;
		for (int[] set : cpuSets) {
			for (int cpu : set) {
				max = Math.max(max, cpu);
			}
		}
		return max;
	}

	/** Largest NUMA node, -1 if none. */
	public int maxNode() {
		int max = -1;
		for (int row = 0; row < rows.node.size(); row++) {
			max = Math.max(max, rows.node.get(row));
		}
		return max;
	}

	/** Largest number of threads that used a page at the same time, 0 if there are no records. */
	public int maxSharing() {
		int max = 0;
		for (int row = 0; row < rows.sharing.size(); row++) {
			max = Math.max(max, rows.sharing.get(row));
		}
		return max;
	}

	/** Number of monitoring intervals that have records. */
	public int intervals() {
		return intervalStart.length;
	}

	/**
	 * The table of only some of the records, or of only their reads or writes. Threads, producers and intervals keep their
	 * numbers. Takes time proportional to the number of records; the result shares nothing that changes.
	 */
	public AccessTable filtered(AccessMask mask, Progress progress) throws CancelledException {
		if (mask.selectsAll()) {
			return this;
		}
		progress.begin("Filtering accesses", producers.size());
		long[] counts = new long[2 * size()];
		int[] from = new int[rowFrom.length];
		int[] kept = new int[size()];
		int n = 0;
		for (int p = 0; p < rowFrom.length - 1; p++) {
			if ((p & 0xfff) == 0) {
				progress.check();
				progress.worked(Math.min(0x1000, rowFrom.length - 1 - p));
			}
			from[p] = n;
			if (!mask.producer(p)) {
				continue;
			}
			for (int row = rowFrom[p]; row < rowFrom[p + 1]; row++) {
				int k = mask.kept(p, rows.thread.get(row), rows.cpuSet.get(row), rows.node.get(row), rows.sharing.get(row) > 1);
				long r = (k & AccessMask.READS) != 0 ? rows.reads.getLong(row) : 0;
				long w = (k & AccessMask.WRITES) != 0 ? rows.writes.getLong(row) : 0;
				if ((r | w) != 0) {
					kept[n] = row;
					counts[2 * n] = r;
					counts[2 * n + 1] = w;
					n++;
				}
			}
		}
		from[rowFrom.length - 1] = n;
		WideColumns t = new WideColumns(n);
		for (int i = 0; i < n; i++) {
			int row = kept[i];
			t.interval[i] = rows.interval.get(row);
			t.thread[i] = rows.thread.get(row);
			t.cpuSet[i] = rows.cpuSet.get(row);
			t.reads[i] = counts[2 * i];
			t.writes[i] = counts[2 * i + 1];
			t.sharing[i] = rows.sharing.get(row);
			t.node[i] = rows.node.get(row);
		}
		BitSet inner = new BitSet();
		for (int p = innerProducers.nextSetBit(0); p >= 0; p = innerProducers.nextSetBit(p + 1)) {
			inner.set(p, from[p + 1] > from[p]);
		}
		return new AccessTable(info, producers, threads, cpuSets, t.columns(n), from, inner, intervalStart, intervalEnd);
	}

	/**
	 * Accesses of each producer itself, without what is below it.
	 *
	 * @param mask only these are counted
	 */
	public double[] counts(AccessMask mask, Progress progress) throws CancelledException {
		double[] counts = new double[rowFrom.length - 1];
		for (int p = 0; p < counts.length; p++) {
			if ((p & 0xfff) == 0) {
				progress.check();
			}
			if (!mask.producer(p)) {
				continue;
			}
			for (int row = rowFrom[p]; row < rowFrom[p + 1]; row++) {
				int k = mask.kept(p, rows.thread.get(row), rows.cpuSet.get(row), rows.node.get(row), rows.sharing.get(row) > 1);
				counts[p] += ((k & AccessMask.READS) != 0 ? rows.reads.getLong(row) : 0)
						+ ((k & AccessMask.WRITES) != 0 ? (double) rows.writes.getLong(row) : 0);
			}
		}
		return counts;
	}

	/** Whether a producer has records of its own. */
	public boolean hasRecords(int producer) {
		return rowFrom[producer + 1] > rowFrom[producer];
	}

	/** CPUs of each of the sets that records refer to. */
	public List<BitSet> cpuSets() {
		List<BitSet> sets = new ArrayList<>(cpuSets.length);
		for (int[] cpus : cpuSets) {
			BitSet set = new BitSet();
			for (int cpu : cpus) {
				set.set(cpu);
			}
			sets.add(set);
		}
		return sets;
	}

	/** Facts about a subtree over the whole trace. */
	public AccessDetails details(int producer) {
		return details(producer, producers.subtreeEnd(producer), Long.MIN_VALUE, Long.MAX_VALUE);
	}

	/**
	 * Facts about a range of producers in a window. Takes time proportional to the number of their records.
	 *
	 * @param producerFrom first producer id
	 * @param producerTo producer id after the last
	 * @param fromNs start of the window
	 * @param toNs end of the window
	 */
	public AccessDetails details(int producerFrom, int producerTo, long fromNs, long toNs) {
		try {
			return details(producerFrom, producerTo, fromNs, toNs, Progress.NONE);
		} catch (CancelledException e) {
			throw new IllegalStateException(e); // nobody can cancel it
		}
	}

	/** The same, which can be cancelled. */
	public AccessDetails details(int producerFrom, int producerTo, long fromNs, long toNs, Progress progress)
			throws CancelledException {
		long records = 0;
		double[] sums = new double[4];
		double unattributed = 0;
		BitSet all = new BitSet();
		BitSet here = new BitSet();
		int pages = 0;
		int sharedPages = 0;
		int writeSharedPages = 0;
		BitSet writeSharedIntervals = new BitSet();
		double[] byThread = new double[threads.size()];
		int multi = 0;
		int handedOn = 0;
		long first = Long.MAX_VALUE;
		long last = Long.MIN_VALUE;
		int firstThread = -1;
		long firstThreadAt = Long.MAX_VALUE;
		int[] firstTouch = new int[threads.size()];
		for (int id = producerFrom; id < producerTo; id++) {
			if ((id & 0xff) == 0) {
				progress.check();
			}
			here.clear();
			boolean any = false;
			boolean sharedPage = false;
			boolean writeShared = false;
			int toucher = -1;
			for (int row = rowFrom[id]; row < rowFrom[id + 1]; row++) {
				int interval = rows.interval.get(row);
				long start = intervalStart[interval];
				long end = intervalEnd[interval];
				if (start >= toNs) {
					break;
				}
				if (end <= fromNs) {
					continue;
				}
				double part = 1;
				if (start < fromNs || end > toNs) {
					part = (double) (Math.min(end, toNs) - Math.max(start, fromNs)) / (end - start);
				}
				any = true;
				records++;
				boolean shared = rows.sharing.get(row) > 1;
				sharedPage |= shared;
				if (shared && rows.writes.getLong(row) > 0) {
					writeShared = true;
					writeSharedIntervals.set(interval);
				}
				sums[shared ? 2 : 0] += part * rows.reads.getLong(row);
				sums[shared ? 3 : 1] += part * rows.writes.getLong(row);
				int thread = rows.thread.get(row);
				if (thread >= 0) {
					here.set(thread);
					if (thread < byThread.length) {
						byThread[thread] += part * (rows.reads.getLong(row) + (double) rows.writes.getLong(row));
					}
					if (toucher < 0) {
						toucher = thread;
					}
					if (start < firstThreadAt) {
						firstThreadAt = start;
						firstThread = thread;
					}
				} else {
					unattributed += part * (rows.reads.getLong(row) + (double) rows.writes.getLong(row));
				}
				first = Math.min(first, start);
				last = Math.max(last, end);
			}
			if (any) {
				pages++;
				sharedPages += sharedPage ? 1 : 0;
				writeSharedPages += writeShared ? 1 : 0;
				multi += here.cardinality() > 1 ? 1 : 0;
				handedOn += here.cardinality() > 2 ? 1 : 0;
				all.or(here);
				if (toucher >= 0 && toucher < firstTouch.length) {
					firstTouch[toucher]++;
				}
			}
		}
		return new AccessDetails(records, sums[0] + sums[2], sums[1] + sums[3], sums[2], sums[3], all, byThread, unattributed,
				pages, sharedPages, writeSharedPages, writeSharedIntervals.cardinality(), multi, handedOn, first, last, firstThread, firstTouch);
	}
}
