// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.aggregation.time.TimeDensity;
import org.memtrace.aggregation.time.TimeSet;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.HeapAccessSource;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The accesses of a trace, all of them or those that a mask wants, with what they refer to. They are read chunk by chunk by
 * {@link #scan} whenever they are looked at, so a table takes no memory for them, whatever their number; {@link #keep} makes one whose
 * chunks stay in memory as far as there is room. The store must be open as long as the table is used. Safe for all threads.
 */
public final class AccessTable {
	private static final int[] NO_CPUS = {};
	/** More different times than these are not told apart where only their number matters. */
	private static final int MOST_TIMES = 1 << 22;

	private final Trace trace;
	private final AccessScan scan;
	private final Object lock = new Object();
	/** Made when they are asked for. */
	private RowIndex index;
	private final Map<AccessColumn, Integer> largest = new EnumMap<>(AccessColumn.class);
	private AccessTimes times;
	private long timesLimit = -1;
	private TimeDensity density;
	/** The table of all accesses; this one when there is no mask. */
	private final AccessTable unmasked;
	private FirstTouches touches;
	/** Only of the table of all accesses. */
	private final TableSums sums;

	/** What accesses refer to. */
	private record Trace(TraceStore store, TraceInfo info, ProducerTree producers, List<ThreadInfo> threads, int[][] cpuSets,
			List<Structure> structures) {
	}

	/** Number of rows before each producer, and before each chunk. */
	private record RowIndex(long[] rowFrom, long[] chunkFrom, BitSet inner) {
	}

	private AccessTable(Trace trace, AccessScan scan, AccessTable unmasked) {
		this.trace = trace;
		this.scan = scan;
		this.unmasked = unmasked == null ? this : unmasked;
		this.sums = new TableSums(trace.store, trace.producers, trace.threads, scan);
	}

	private AccessTable(Trace trace, AccessScan scan) {
		this(trace, scan, null);
	}

	/** All accesses of a trace, to be looked at once or twice: chunks are read whenever they are. */
	public static AccessTable load(TraceStore store, Progress progress) throws MemtraceException {
		return new AccessTable(trace(store), AccessScan.of(new Opened(store, source -> source, progress)));
	}

	/** Opens the chunks when they are looked at first: what is saved with a trace answers much without. */
	private static final class Opened implements AccessScan.Opener {
		private final TraceStore store;
		private final UnaryOperator<AccessSource> wrapper;
		private final Progress progress;
		private AccessSource source;

		Opened(TraceStore store, UnaryOperator<AccessSource> wrapper, Progress progress) {
			this.store = store;
			this.wrapper = wrapper;
			this.progress = progress;
		}

		@Override
		public synchronized AccessSource source() throws MemtraceException {
			if (source == null) {
				source = wrapper.apply(store.accessSource(progress));
			}
			return source;
		}

		@Override
		public synchronized Losses lost() {
			return source == null ? Losses.NONE : source.losses();
		}

		@Override
		public synchronized boolean isOpen() {
			return source != null;
		}
	}

	/** All accesses of a trace, to be looked at again and again: columns that have been read stay in memory as far as there is room. */
	public static AccessTable keep(TraceStore store, Progress progress) throws MemtraceException {
		return keep(store, source -> source, progress);
	}

	/**
	 * All accesses of a trace, to be looked at again and again, with something around what reads the store.
	 *
	 * @param guard puts something around what reads the store
	 */
	public static AccessTable keep(TraceStore store, UnaryOperator<AccessSource> guard, Progress progress) throws MemtraceException {
		return new AccessTable(trace(store), AccessScan.of(new Opened(store,
				source -> source instanceof HeapAccessSource ? source : new PackedSource(guard.apply(source)), progress)));
	}

	/** The accesses of a source that is not that of the store, and nothing that is saved with it; for tests. */
	public static AccessTable of(TraceStore store, AccessSource source) throws MemtraceException {
		AccessTable table = new AccessTable(trace(store), AccessScan.of(source));
		table.sums.none();
		return table;
	}

	/** The accesses of a source, and what is saved with the store; for tests and benchmarks. */
	public static AccessTable ofSaved(TraceStore store, AccessSource source) throws MemtraceException {
		return new AccessTable(trace(store), AccessScan.of(source));
	}

	/** Who is told, in a sentence, when something that is saved with the trace is damaged; before the table is used. */
	public AccessTable telling(Consumer<String> listener) {
		sums.tell(listener);
		return this;
	}

	/**
	 * The sums of all accesses that are saved with the trace: computed now where a large trace has none. Null when there are none, or when
	 * this table has a mask.
	 */
	public SavedSums savedSums(Progress progress) throws MemtraceException {
		if (unmasked != this) {
			return null;
		}
		synchronized (lock) {
			return sums.get(progress);
		}
	}

	/**
	 * Computes the sums that {@link #rows} and others are answered from and saves them with the trace, unless they are there. Reads all
	 * accesses twice. While it works, others that ask this table wait.
	 *
	 * @param mostCells of the sums by time
	 * @param addition what else is computed of all accesses and saved with them
	 * @return whether they are there now; they are not when the store cannot save them or accesses are damaged
	 */
	public boolean prepareSums(int mostCells, SavedSums.Addition addition, Progress progress) throws MemtraceException {
		if (unmasked != this || trace.store.accessCount() == 0) {
			return false;
		}
		synchronized (lock) {
			return sums.prepare(mostCells, addition, progress);
		}
	}

	/**
	 * Sums that answer a question as all accesses would that it is about. They are there for traces with which they were saved, for tables
	 * without a mask.
	 *
	 * @param query what is asked
	 * @param inProportion whether an access that the window cuts counts in part; else it counts when it overlaps the window
	 * @param byTime whether the time of the accesses matters beyond the window
	 * @return null when the accesses have to be read
	 */
	public AccessCube.Rows rows(AccessQuery query, boolean inProportion, boolean byTime, Progress progress) throws MemtraceException {
		if (scan.isMasked()) {
			return null;
		}
		synchronized (lock) {
			for (boolean whole = !byTime;; whole = false) {
				SavedSums pre = savedSums(progress);
				AccessCube cube = pre == null ? null : whole ? pre.totals() : pre.cube();
				if (pre != null && pre.isDamaged()) {
					pre = savedSums(progress);
					cube = pre == null ? null : whole ? pre.totals() : pre.cube();
				}
				AccessCube.Rows rows = cube == null ? null : cube.rows(query, inProportion);
				if (rows != null || !whole) {
					return rows;
				}
			}
		}
	}

	/** Whether a cube tells ranges of producers apart. */
	public boolean tellsApart(int[] producerFrom, int[] producerTo, Progress progress) throws MemtraceException {
		synchronized (lock) {
			SavedSums pre = savedSums(progress);
			AccessCube cube = pre == null ? null : pre.totals();
			return cube != null && cube.fits(producerFrom, producerTo);
		}
	}

	private static Trace trace(TraceStore store) throws MemtraceException {
		List<BitSet> sets = store.cpuSets();
		int[][] cpus = new int[sets.size()][];
		for (int i = 0; i < cpus.length; i++) {
			cpus[i] = sets.get(i).stream().toArray();
		}
		return new Trace(store, store.info(), store.producers(), List.copyOf(store.threads()), cpus, store.structures());
	}

	public TraceInfo info() {
		return trace.info;
	}

	public ProducerTree producers() {
		return trace.producers;
	}

	/** Threads by index. */
	public List<ThreadInfo> threads() {
		return trace.threads;
	}

	/** Structures by index. */
	public List<Structure> structures() {
		return trace.structures;
	}

	/** The trace as it is kept. */
	public TraceStore store() {
		return trace.store;
	}

	/** How to look at many of them. */
	public AccessScan scan() {
		return scan;
	}

	/** The chunks, as all that look at this table read them. */
	public AccessSource source() throws MemtraceException {
		return scan.source();
	}

	/** What could not be read so far; an answer that was made before it was asked is without it. */
	public Losses lost() {
		return scan.lost();
	}

	/** The range of a subtree, negative for everything, in a window. */
	public AccessQuery query(int producer, long fromNs, long toNs) {
		return AccessScan.query(trace.producers, producer, fromNs, toNs);
	}

	/** CPUs of a set, empty when it is not known; not to be changed. */
	public int[] cpus(int cpuSet) {
		return cpuSet < 0 || cpuSet >= trace.cpuSets.length ? NO_CPUS : trace.cpuSets[cpuSet];
	}

	/** Sets of CPUs, not to be changed. */
	public int[][] cpuNumbers() {
		return trace.cpuSets;
	}

	/** CPUs of each of the sets that records refer to. */
	public List<BitSet> cpuSets() {
		List<BitSet> sets = new ArrayList<>(trace.cpuSets.length);
		for (int[] cpus : trace.cpuSets) {
			BitSet set = new BitSet();
			for (int cpu : cpus) {
				set.set(cpu);
			}
			sets.add(set);
		}
		return sets;
	}

	/** Largest CPU number of the trace, -1 if none. */
	public int maxCpu() {
		int max = -1;
		for (int[] set : trace.cpuSets) {
			for (int cpu : set) {
				max = Math.max(max, cpu);
			}
		}
		return max;
	}

	/** A table of this trace with only some of the records, or with only their reads or writes. This takes no time. */
	public AccessTable filtered(AccessMask mask) {
		return mask.selectsAll() ? this : new AccessTable(trace, scan.with(mask), unmasked);
	}

	/** A table of this trace with all of its records. */
	public AccessTable unfiltered() {
		return unmasked;
	}

	private RowIndex index(Progress progress) throws MemtraceException {
		synchronized (lock) {
			if (index == null) {
				int chunks = scan.source().chunks();
				int[][] leaf = new int[chunks][0];
				int[][] rows = new int[chunks][0];
				progress.begin("Pages with accesses", chunks);
				ThreadLocal<AccessChunk> into = ThreadLocal.withInitial(AccessChunk::new);
				Parallel.read(chunks, progress, c -> {
					AccessChunk chunk = into.get();
					if (scan.read(c, scan.with(EnumSet.noneOf(AccessColumn.class)), chunk)) {
						leaf[c] = Arrays.copyOf(chunk.leaf, chunk.leaves);
						rows[c] = new int[chunk.leaves];
						Arrays.setAll(rows[c], l -> chunk.leafFrom[l + 1] - chunk.leafFrom[l]);
					}
					progress.worked(1);
				});
				int n = trace.producers.size();
				long[] from = new long[n + 1];
				long[] chunkFrom = new long[chunks + 1];
				for (int c = 0; c < chunks; c++) {
					long inChunk = 0;
					for (int l = 0; l < leaf[c].length; l++) {
						from[leaf[c][l] + 1] += rows[c][l];
						inChunk += rows[c][l];
					}
					chunkFrom[c + 1] = chunkFrom[c] + inChunk;
				}
				BitSet inner = new BitSet();
				for (int p = 0; p < n; p++) {
					if (from[p + 1] > 0 && !trace.producers.isLeaf(p)) {
						inner.set(p);
					}
					from[p + 1] += from[p];
				}
				index = new RowIndex(from, chunkFrom, inner);
			}
			return index;
		}
	}

	/** Number of records. */
	public long records() throws MemtraceException {
		return scan.isMasked() ? index(Progress.NONE).rowFrom[trace.producers.size()] : scan.rows(trace.store);
	}

	/** Number of records of the producers before one. */
	public long rowsBefore(int producer, Progress progress) throws MemtraceException {
		return index(progress).rowFrom[producer];
	}

	/** Number of records of the producers before each one, and of all; not to be changed. */
	public long[] rowsBefore(Progress progress) throws MemtraceException {
		return index(progress).rowFrom;
	}

	/**
	 * Any row by its number.
	 *
	 * @param columns what is looked at
	 * @param values of a dimension that is asked for each row
	 */
	public AccessCursor cursor(Set<AccessColumn> columns, DimensionValues values, Progress progress) throws MemtraceException {
		return new AccessCursor(scan, index(progress).chunkFrom, scan.with(columns), values);
	}

	/** Whether a producer has records of its own. */
	public boolean hasRecords(int producer, Progress progress) throws MemtraceException {
		long[] from = index(progress).rowFrom;
		return from[producer + 1] > from[producer];
	}

	/** Producers with accesses of their own that have others below them; not to be changed. */
	public BitSet innerProducers(Progress progress) throws MemtraceException {
		SavedSums pre = savedSums(progress);
		return pre == null ? index(progress).inner : pre.facts().inner();
	}

	/** When and by whom each page was touched first, whatever a mask hides. Takes 24 bytes for each page with accesses. */
	public FirstTouches firstTouches(Progress progress) throws MemtraceException {
		if (unmasked != this) {
			return unmasked.firstTouches(progress);
		}
		synchronized (lock) {
			SavedSums pre = touches != null ? null : savedSums(progress);
			touches = pre == null ? touches : pre.touches();
			if (touches == null) {
				touches = FirstTouches.of(scan, query(-1, Long.MIN_VALUE, Long.MAX_VALUE), progress);
			}
			return touches;
		}
	}

	/** How many accesses happened when, and when the pages that have some were touched first. */
	public TimeDensity timeDensity(Progress progress) throws MemtraceException {
		synchronized (lock) {
			SavedSums pre = density != null ? null : savedSums(progress);
			if (pre != null) {
				density = pre.facts().density();
			}
			if (density != null) {
				return density;
			}
		}
		FirstTouches first = firstTouches(progress);
		AccessTimes known = unmasked.times(TimeDensity.GRID, progress);
		synchronized (lock) {
			if (density == null) {
				TimeDensity.Times numbered = TimeDensity.Times.of(known, trace.info.startNs(), trace.info.endNs());
				AtomicLongArray accesses = new AtomicLongArray(numbered.count());
				AtomicLongArray touched = new AtomicLongArray(numbered.count());
				scan.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES),
						"Accesses over time", progress, (a, b) -> new Passes.Density(numbered, first, accesses, touched));
				density = numbered.density(accesses::get, touched::get);
			}
			return density;
		}
	}

	private int max(AccessColumn column, Function<AccessChunk, int[]> values, Progress progress) throws MemtraceException {
		synchronized (lock) {
			Integer known = largest.get(column);
			if (known == null) {
				known = -1;
				for (Passes.Max part : scan.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(column), "Largest number", progress,
						(a, b) -> new Passes.Max(values))) {
					known = Math.max(known, part.max());
				}
				largest.put(column, known);
			}
			return known;
		}
	}

	/** Largest NUMA node, -1 if none. */
	public int maxNode(Progress progress) throws MemtraceException {
		SavedSums pre = savedSums(progress);
		if (pre != null) {
			return pre.facts().maxNode();
		}
		return max(AccessColumn.NODE, c -> c.node, progress);
	}

	/** Largest number of threads that used a page at the same time, -1 if there are no records. */
	public int maxSharing(Progress progress) throws MemtraceException {
		SavedSums pre = savedSums(progress);
		if (pre != null) {
			return pre.facts().maxSharing();
		}
		return max(AccessColumn.SHARING, c -> c.sharing, progress);
	}

	/**
	 * The different times of the accesses, those of all accesses of the trace even if a mask wants only some of them.
	 *
	 * @param most more than these are not collected
	 * @return null when there are more
	 */
	public AccessTimes times(int most, Progress progress) throws MemtraceException {
		SavedSums pre = unmasked.savedSums(progress); // before the lock: it has one of its own
		synchronized (lock) {
			if (pre != null && pre.facts().times() != null) {
				times = pre.facts().times();
				timesLimit = TimeDensity.GRID;
			} else if (pre != null && most <= TimeDensity.GRID) {
				timesLimit = TimeDensity.GRID;
			}
			if (times == null && timesLimit < most) {
				TimeSet all = new TimeSet();
				AccessScan unmasked = AccessScan.of(scan.source());
				for (Passes.Times part : unmasked.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.TIME), "Times",
						progress, (a, b) -> new Passes.Times(most))) {
					if (all.size() <= most) {
						all.addAll(part.set());
					}
				}
				if (all.size() <= most) {
					long[][] sorted = all.sorted();
					times = new AccessTimes(sorted[0], sorted[1]);
				}
				timesLimit = most;
			}
			return times == null || times.count() > most ? null : times;
		}
	}

	/**
	 * Number of different times of the trace, which are monitoring intervals where the recorder has such; where each access has a time
	 * of its own, and there are more than some million, the number of accesses.
	 */
	public long intervals(Progress progress) throws MemtraceException {
		AccessTimes known = times(MOST_TIMES, progress);
		return known == null ? scan.rows(trace.store) : known.count();
	}

	/** Sums of producers. */
	private static final class Sums implements AccessScan.Part {
		final int from;
		private double[] sum = new double[16];

		Sums(int from) {
			this.from = from;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			int most = c.leaf[leafTo - 1] - from + 1;
			if (most > sum.length) {
				sum = Arrays.copyOf(sum, Math.max(most, 2 * sum.length));
			}
			for (int l = leafFrom; l < leafTo; l++) {
				double s = 0;
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					s += c.reads[row] + (double) c.writes[row];
				}
				sum[c.leaf[l] - from] += s;
			}
		}
	}

	/** Accesses of each producer itself, without what is below it. */
	public double[] counts(Progress progress) throws MemtraceException {
		double[] counts = new double[trace.producers.size()];
		for (Sums part : scan.run(query(-1, Long.MIN_VALUE, Long.MAX_VALUE), EnumSet.of(AccessColumn.READS, AccessColumn.WRITES),
				"Accesses of pages", progress, (a, b) -> new Sums(a))) {
			System.arraycopy(part.sum, 0, counts, part.from, Math.min(part.sum.length, counts.length - part.from));
		}
		return counts;
	}

	private static final Set<AccessColumn> DETAILS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.READS,
			AccessColumn.WRITES, AccessColumn.SHARING, AccessColumn.FIRST);

	/** Facts about a subtree over the whole trace. */
	public AccessDetails details(int producer) throws MemtraceException {
		return details(producer, trace.producers.subtreeEnd(producer), Long.MIN_VALUE, Long.MAX_VALUE);
	}

	/** Facts about a range of producers in a window, without progress. */
	public AccessDetails details(int producerFrom, int producerTo, long fromNs, long toNs) throws MemtraceException {
		return details(producerFrom, producerTo, fromNs, toNs, Progress.NONE);
	}

	/**
	 * Facts about a range of producers in a window. Takes time proportional to the number of their records.
	 *
	 * @param producerFrom first producer id
	 * @param producerTo producer id after the last
	 * @param fromNs start of the window
	 * @param toNs end of the window
	 */
	public AccessDetails details(int producerFrom, int producerTo, long fromNs, long toNs, Progress progress)
			throws MemtraceException {
		return details(new int[] {producerFrom}, new int[] {producerTo}, fromNs, toNs, progress).getFirst();
	}

	/** Sums of several ranges, of which a part sees some. */
	private static final class RangeSums implements AccessScan.Part {
		private final int[] from;
		private final int[] to;
		private final Supplier<DetailsSum> maker;
		private final TreeMap<Integer, DetailsSum> sums = new TreeMap<>();
		private int range;

		RangeSums(int[] from, int[] to, Supplier<DetailsSum> maker) {
			this.from = from;
			this.to = to;
			this.maker = maker;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			DetailsSum sum = null;
			for (int l = leafFrom; l < leafTo; l++) {
				int producer = c.leaf[l];
				while (range < from.length && to[range] <= producer) {
					range++;
					sum = null;
				}
				if (range == from.length) {
					return;
				}
				if (producer >= from[range]) {
					if (sum == null) {
						sum = sums.computeIfAbsent(range, r -> maker.get());
					}
					sum.add(c, l);
				}
			}
		}
	}

	/**
	 * Facts about each of several ranges of producers in a window, in one pass.
	 *
	 * @param producerFrom first producers of the ranges, which ascend and do not overlap
	 * @param producerTo producers after the last ones
	 */
	public List<AccessDetails> details(int[] producerFrom, int[] producerTo, long fromNs, long toNs, Progress progress)
			throws MemtraceException {
		int n = producerFrom.length;
		DetailsSum[] all = new DetailsSum[n];
		Supplier<DetailsSum> maker = () -> new DetailsSum(trace.threads.size(), fromNs, toNs);
		if (n > 0) {
			AccessQuery query = new AccessQuery(fromNs, toNs, producerFrom[0], producerTo[n - 1]);
			for (RangeSums part : scan.run(query, DETAILS, "Sums of structures", progress,
					(a, b) -> new RangeSums(producerFrom, producerTo, maker))) {
				part.sums.forEach((range, sum) -> {
					if (all[range] == null) {
						all[range] = sum;
					} else {
						all[range].add(sum);
					}
				});
			}
		}
		List<AccessDetails> list = new ArrayList<>(n);
		for (DetailsSum sum : all) {
			list.add((sum == null ? maker.get() : sum).details());
		}
		return list;
	}
}
