// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.IntStream;

import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * Sums of all accesses of a trace that have the same memory segment, cell of time, thread and kind of sharing (one thread, several, not
 * known). A segment is what has one name and one structure: the pages of a structure, a stack, a range. Whatever is asked of these
 * properties only is answered from here as from the accesses themselves: counts are whole numbers, so their sums are the same. A cell of
 * time holds one monitoring interval, or several where they are too many; a question whose window cuts such a cell gets no answer here.
 * Immutable.
 */
public final class AccessCube {
	/** Cells of time at most. */
	static final int MOST_TIMES = 4096;
	/** Cells of the cube at most; before there would be more, neighbours in time are put together. */
	public static final int MOST_CELLS = 1 << 20;

	/** A number of threads for each kind of sharing: one, several, not known. */
	private static final int[] KINDS = {1, 2, AccessBatch.SHARING_NOT_KNOWN};

	/** Columns of accesses that the sums are made from. */
	static final Set<AccessColumn> COLUMNS = Set.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.SHARING, AccessColumn.READS,
			AccessColumn.WRITES);

	/** First and last event producer with accesses of each segment that has some. */
	private final int[] first;
	private final int[] last;
	/** Smallest and largest start and end of the accesses of each cell of time. */
	private final long[] startMin;
	private final long[] startMax;
	private final long[] endMin;
	private final long[] endMax;
	/** A row for each cell; its leaf is the first producer of its segment, its time a cell of time, its sharing one of {@link #KINDS}. */
	private final AccessChunk cells;
	private final Counts counts;

	/**
	 * How many access records a row stands for.
	 *
	 * @param all records
	 * @param withReads those with reads
	 * @param withWrites those with writes
	 */
	public record Counts(long[] all, long[] withReads, long[] withWrites) {
	}

	/**
	 * Sums that answer a question.
	 *
	 * @param chunk a row for each sum, all of them wanted; times, threads, sharing, reads and writes are filled in. Its times begin with the
	 * first
	 *     of the accesses in them
	 * @param latestStartNs of each time of the chunk the start of its last access
	 * @param records how many access records each row stands for
	 */
	public record Rows(AccessChunk chunk, long[] latestStartNs, Counts records) {
	}

	private AccessCube(int[] first, int[] last, long[][] times, AccessChunk cells, Counts counts) {
		this.first = first;
		this.last = last;
		startMin = times[0];
		startMax = times[1];
		endMin = times[2];
		endMax = times[3];
		this.cells = cells;
		this.counts = counts;
		cells.times = startMin.length;
		cells.timeStartNs = startMin;
		cells.timeEndNs = endMax;
	}

	/** Number of cells. */
	public int size() {
		return cells.rows;
	}

	/** Number of cells of time. */
	public int times() {
		return startMin.length;
	}

	/**
	 * The sums of the accesses of a query.
	 *
	 * @param inProportion whether an access that the window cuts counts in part; else it counts when it overlaps the window
	 * @return null when they are not known: some accesses of a cell are in the query and others are not, or not as a whole
	 */
	Rows rows(AccessQuery query, boolean inProportion) {
		boolean[] time = new boolean[startMin.length];
		for (int t = 0; t < time.length; t++) {
			boolean out = startMin[t] >= query.toNs() || endMax[t] <= query.fromNs();
			boolean in = inProportion ? startMin[t] >= query.fromNs() && endMax[t] <= query.toNs()
					: startMax[t] < query.toNs() && endMin[t] > query.fromNs();
			if (in == out) {
				return null;
			}
			time[t] = in;
		}
		AccessChunk some = new AccessChunk();
		some.reserve(cells.rows, first.length, 0);
		Counts n = new Counts(new long[cells.rows], new long[cells.rows], new long[cells.rows]);
		some.times = cells.times;
		some.timeStartNs = cells.timeStartNs;
		some.timeEndNs = cells.timeEndNs;
		for (int l = 0; l < first.length; l++) {
			boolean out = last[l] < query.producerFrom() || first[l] >= query.producerTo();
			boolean in = first[l] >= query.producerFrom() && last[l] < query.producerTo();
			if (in == out) {
				return null;
			}
			int before = some.rows;
			for (int r = cells.leafFrom[l]; in && r < cells.leafFrom[l + 1]; r++) {
				if (time[cells.time[r]]) {
					int to = some.rows++;
					some.time[to] = cells.time[r];
					some.thread[to] = cells.thread[r];
					some.sharing[to] = cells.sharing[r];
					some.reads[to] = cells.reads[r];
					some.writes[to] = cells.writes[r];
					n.all[to] = counts.all[r];
					n.withReads[to] = counts.withReads[r];
					n.withWrites[to] = counts.withWrites[r];
				}
			}
			if (some.rows > before) {
				some.leaf[some.leaves] = first[l];
				some.leafFrom[some.leaves++] = before;
			}
		}
		some.leafFrom[some.leaves] = some.rows;
		return new Rows(some, startMax, n);
	}

	/** Number of access records, sum of the reads, sum of the writes. */
	public long[] sums() {
		return new long[] {Arrays.stream(counts.all).sum(), Arrays.stream(cells.reads).sum(), Arrays.stream(cells.writes).sum()};
	}

	/** Whether each of some ranges of producers holds a segment as a whole or has nothing of it. */
	boolean fits(int[] producerFrom, int[] producerTo) {
		int range = 0;
		for (int l = 0; l < first.length; l++) {
			while (range < producerFrom.length && producerTo[range] <= first[l]) {
				range++;
			}
			if (range < producerFrom.length && last[l] >= producerFrom[range]
					&& (first[l] < producerFrom[range] || last[l] >= producerTo[range])) {
				return false;
			}
		}
		return true;
	}

	/** These sums with one cell of time: the whole trace. */
	AccessCube totals() {
		Table all = new Table(64);
		long threads = threads(cells);
		for (int l = 0; l < first.length; l++) {
			for (int r = cells.leafFrom[l]; r < cells.leafFrom[l + 1]; r++) {
				all.add(key(l, 0, cells.thread[r], cells.sharing[r], threads), counts.all[r], counts.withReads[r], counts.withWrites[r],
						cells.reads[r], cells.writes[r]);
			}
		}
		long[][] one = {{min(startMin)}, {max(startMax)}, {min(endMin)}, {max(endMax)}};
		return of(first, last, one, all, threads);
	}

	private static long min(long[] v) {
		return Arrays.stream(v).min().orElse(0);
	}

	private static long max(long[] v) {
		return Arrays.stream(v).max().orElse(0);
	}

	/** Number of threads that are named, and the unknown one. */
	private static int threads(AccessChunk c) {
		return IntStream.range(0, c.rows).map(r -> c.thread[r]).max().orElse(-1) + 2;
	}

	private static long key(long segment, int time, int thread, int sharing, long threads) {
		int kind = sharing > 1 ? 1 : sharing == AccessBatch.SHARING_NOT_KNOWN ? 2 : 0;
		return ((segment * MOST_TIMES + time) * threads + thread + 1) * KINDS.length + kind;
	}

	/** From a table whose segments and times are all in use. */
	private static AccessCube of(int[] first, int[] last, long[][] times, Table table, long threads) {
		long[] keys = table.sortedKeys();
		AccessChunk c = new AccessChunk();
		c.reserve(keys.length, first.length, 0);
		c.rows = keys.length;
		c.leaves = first.length;
		System.arraycopy(first, 0, c.leaf, 0, first.length);
		Counts n = new Counts(new long[keys.length], new long[keys.length], new long[keys.length]);
		for (int r = 0; r < keys.length; r++) {
			long key = keys[r];
			c.sharing[r] = KINDS[(int) (key % KINDS.length)];
			c.thread[r] = (int) (key / KINDS.length % threads) - 1;
			long place = key / KINDS.length / threads;
			c.time[r] = (int) (place % MOST_TIMES);
			c.leafFrom[(int) (place / MOST_TIMES) + 1] = r + 1;
			int at = Table.SUMS * table.find(key);
			n.all[r] = table.sum[at];
			n.withReads[r] = table.sum[at + 1];
			n.withWrites[r] = table.sum[at + 2];
			c.reads[r] = table.sum[at + 3];
			c.writes[r] = table.sum[at + 4];
		}
		return new AccessCube(first, last, times, c, n);
	}

	/** Sums by key, without an object for each. Not safe for several threads. */
	private static final class Table {
		static final int SUMS = 5;
		/** Key plus 1, 0 is free. */
		private long[] key;
		private long[] sum;
		private int size;

		Table(int capacity) {
			key = new long[capacity];
			sum = new long[SUMS * capacity];
		}

		int find(long k) {
			int mask = key.length - 1;
			long hash = k * 0x9e3779b97f4a7c15L;
			int at = (int) (hash >>> 32) & mask;
			while (key[at] != 0 && key[at] != k + 1) {
				at = at + 1 & mask;
			}
			return at;
		}

		void add(long k, long all, long withReads, long withWrites, long reads, long writes) {
			add(k, all, withReads, withWrites, reads, writes, find(k));
		}

		private void add(long k, long all, long withReads, long withWrites, long reads, long writes, int place) {
			int at = place;
			if (key[at] == 0) {
				if (2 * (size + 1) > key.length) {
					grow();
					at = find(k);
				}
				key[at] = k + 1;
				size++;
			}
			at *= SUMS;
			sum[at] += all;
			sum[at + 1] += withReads;
			sum[at + 2] += withWrites;
			sum[at + 3] += reads;
			sum[at + 4] += writes;
		}

		void addAll(Table other) {
			for (int i = 0; i < other.key.length; i++) {
				if (other.key[i] != 0) {
					int at = SUMS * i;
					add(other.key[i] - 1, other.sum[at], other.sum[at + 1], other.sum[at + 2], other.sum[at + 3], other.sum[at + 4]);
				}
			}
		}

		private void grow() {
			Table larger = new Table(2 * key.length);
			larger.addAll(this);
			key = larger.key;
			sum = larger.sum;
		}

		/** Puts pairs of neighbours in time together. */
		Table coarser(long threads) {
			Table half = new Table(Math.max(64, key.length / 2));
			for (int i = 0; i < key.length; i++) {
				if (key[i] != 0) {
					long rest = (key[i] - 1) % (KINDS.length * threads);
					long place = (key[i] - 1) / (KINDS.length * threads);
					long time = place % MOST_TIMES >> 1;
					int at = SUMS * i;
					half.add((place / MOST_TIMES * MOST_TIMES + time) * KINDS.length * threads + rest, sum[at], sum[at + 1], sum[at + 2],
							sum[at + 3], sum[at + 4]);
				}
			}
			return half;
		}

		long[] sortedKeys() {
			long[] keys = new long[size];
			int n = 0;
			for (long k : key) {
				if (k != 0) {
					keys[n++] = k - 1;
				}
			}
			Arrays.sort(keys);
			return keys;
		}
	}

	/** Adds up all accesses of a trace. Sums are of whole numbers, so it does not matter in which order parts end. */
	static final class Builder {
		private final int most;
		private final long threads;
		/** First producer of each segment, ascending. */
		private final int[] segment;
		/** Null: a grid over the trace. */
		private final AccessTimes times;
		private final long fromNs;
		private final double cellNs;
		private Table table = new Table(64);
		/** Neighbours in time are together, 2^shift of them. */
		private int shift;
		private final int[] first;
		private final int[] last;
		private final long[][] bounds = emptyBounds();

		/**
		 * @param threads number of threads of the trace
		 * @param times all times of the trace, null when they are more than are numbered
		 * @param most cells at most
		 */
		Builder(ProducerTree tree, int threads, AccessTimes times, long fromNs, long toNs, int most) {
			this.most = most;
			this.threads = threads + 1;
			this.times = times != null && times.count() <= MOST_TIMES ? times : null;
			this.fromNs = fromNs;
			this.cellNs = Math.max(1, (double) (toNs - fromNs)) / MOST_TIMES;
			this.segment = segments(tree);
			first = new int[segment.length];
			last = new int[segment.length];
			Arrays.fill(first, -1);
		}

		/** What has another name or another structure than the producer before begins a segment. */
		private static int[] segments(ProducerTree tree) {
			int n = tree.size();
			int[] named = new int[n];
			int[] starts = new int[16];
			int count = 0;
			for (int p = 0; p < n; p++) {
				ProducerKind kind = tree.kind(p);
				int parent = tree.parent(p);
				named[p] = parent >= 0 && (kind == ProducerKind.PART || kind == ProducerKind.PAGE) ? named[parent] : p;
				if (p == 0 || named[p] != named[p - 1] || tree.structure(p) != tree.structure(p - 1)) {
					if (count == starts.length) {
						starts = Arrays.copyOf(starts, 2 * count);
					}
					starts[count++] = p;
				}
			}
			return Arrays.copyOf(starts, count);
		}

		private static long[][] emptyBounds() {
			long[][] b = new long[4][MOST_TIMES];
			Arrays.fill(b[0], Long.MAX_VALUE);
			Arrays.fill(b[1], Long.MIN_VALUE);
			Arrays.fill(b[2], Long.MAX_VALUE);
			Arrays.fill(b[3], Long.MIN_VALUE);
			return b;
		}

		AccessScan.Part part() {
			return new Part();
		}

		private final class Part implements AccessScan.Part {
			private Table mine = new Table(1024);
			private int myShift;
			private final long[][] myBounds = emptyBounds();
			private int[] number = new int[0];
			private int at = -1;
			private int[] firstHere = {};
			private int[] lastHere = {};
			private int from = -1;

			@Override
			public void chunk(AccessChunk c, int leafFrom, int leafTo) {
				number(c);
				for (int l = leafFrom; l < leafTo; l++) {
					int producer = c.leaf[l];
					if (at < 0) {
						int found = Arrays.binarySearch(segment, producer);
						at = found >= 0 ? found : -found - 2;
						from = at;
					}
					while (at + 1 < segment.length && segment[at + 1] <= producer) {
						at++;
					}
					touch(at - from, producer);
					int end = c.leafFrom[l + 1];
					for (int row = c.leafFrom[l]; row < end; row++) {
						int thread = c.thread[row] < 0 || c.thread[row] >= threads - 1 ? -1 : c.thread[row];
						mine.add(key(at, number[c.time[row]] >> myShift, thread, c.sharing[row], threads), 1, c.reads[row] > 0 ? 1 : 0,
								c.writes[row] > 0 ? 1 : 0, c.reads[row], c.writes[row]);
					}
				}
				while (mine.size > most && myShift < 12) {
					mine = mine.coarser(threads);
					myShift++;
				}
			}

			private void number(AccessChunk c) {
				if (number.length < c.times) {
					number = new int[c.timeStartNs.length];
				}
				int[] exact = times == null ? null : times.of(c);
				for (int t = 0; t < c.times; t++) {
					int cell = exact != null ? exact[t]
							: (int) Math.clamp((c.timeStartNs[t] - (double) fromNs) / cellNs, 0, MOST_TIMES - 1);
					number[t] = cell;
					myBounds[0][cell] = Math.min(myBounds[0][cell], c.timeStartNs[t]);
					myBounds[1][cell] = Math.max(myBounds[1][cell], c.timeStartNs[t]);
					myBounds[2][cell] = Math.min(myBounds[2][cell], c.timeEndNs[t]);
					myBounds[3][cell] = Math.max(myBounds[3][cell], c.timeEndNs[t]);
				}
			}

			private void touch(int place, int producer) {
				if (place >= firstHere.length) {
					int old = firstHere.length;
					firstHere = Arrays.copyOf(firstHere, Math.max(16, 2 * place));
					lastHere = Arrays.copyOf(lastHere, firstHere.length);
					Arrays.fill(firstHere, old, firstHere.length, -1);
				}
				if (firstHere[place] < 0) {
					firstHere[place] = producer;
				}
				lastHere[place] = producer;
			}

			@Override
			public void end() {
				synchronized (Builder.this) {
					for (int i = 0; i < firstHere.length; i++) {
						if (firstHere[i] >= 0) {
							int s = from + i;
							first[s] = first[s] < 0 ? firstHere[i] : Math.min(first[s], firstHere[i]);
							last[s] = Math.max(last[s], lastHere[i]);
						}
					}
					for (int t = 0; t < MOST_TIMES; t++) {
						bounds[0][t] = Math.min(bounds[0][t], myBounds[0][t]);
						bounds[1][t] = Math.max(bounds[1][t], myBounds[1][t]);
						bounds[2][t] = Math.min(bounds[2][t], myBounds[2][t]);
						bounds[3][t] = Math.max(bounds[3][t], myBounds[3][t]);
					}
					for (; shift < myShift; shift++) {
						table = table.coarser(threads);
					}
					for (; myShift < shift; myShift++) {
						mine = mine.coarser(threads);
					}
					table.addAll(mine);
					while (table.size > most && shift < 12) {
						table = table.coarser(threads);
						shift++;
					}
				}
				mine = null;
				number = null;
			}
		}

		/** The cube; null when there are too many cells even with one cell of time. */
		AccessCube build() {
			if (table.size > most) {
				return null;
			}
			// only what is in use
			int[] segmentPlace = new int[segment.length];
			int segments = 0;
			int[] usedFirst = new int[segment.length];
			int[] usedLast = new int[segment.length];
			for (int s = 0; s < segment.length; s++) {
				segmentPlace[s] = segments;
				if (first[s] >= 0) {
					usedFirst[segments] = first[s];
					usedLast[segments++] = last[s];
				}
			}
			int width = 1 << shift;
			int[] timePlace = new int[MOST_TIMES];
			long[][] usedBounds = new long[4][MOST_TIMES];
			int used = 0;
			for (int t = 0; t * width < MOST_TIMES; t++) {
				long[] b = {Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE};
				for (int i = t * width; i < (t + 1) * width; i++) {
					b[0] = Math.min(b[0], bounds[0][i]);
					b[1] = Math.max(b[1], bounds[1][i]);
					b[2] = Math.min(b[2], bounds[2][i]);
					b[3] = Math.max(b[3], bounds[3][i]);
				}
				timePlace[t] = used;
				if (b[0] != Long.MAX_VALUE) {
					for (int i = 0; i < 4; i++) {
						usedBounds[i][used] = b[i];
					}
					used++;
				}
			}
			for (int i = 0; i < 4; i++) {
				usedBounds[i] = Arrays.copyOf(usedBounds[i], used);
			}
			Table renumbered = new Table(Math.max(64, table.key.length));
			for (int i = 0; i < table.key.length; i++) {
				if (table.key[i] != 0) {
					long rest = (table.key[i] - 1) % (KINDS.length * threads);
					long place = (table.key[i] - 1) / (KINDS.length * threads);
					long moved = (long) segmentPlace[(int) (place / MOST_TIMES)] * MOST_TIMES + timePlace[(int) (place % MOST_TIMES)];
					int at = Table.SUMS * i;
					renumbered.add(moved * KINDS.length * threads + rest, table.sum[at], table.sum[at + 1], table.sum[at + 2], table.sum[at + 3],
							table.sum[at + 4]);
				}
			}
			return of(Arrays.copyOf(usedFirst, segments), Arrays.copyOf(usedLast, segments), usedBounds, renumbered, threads);
		}
	}

	void write(SavedNumbers.Out out) {
		out.deltas(first, first.length).deltas(last, last.length);
		for (long[] bounds : new long[][] {startMin, startMax, endMin, endMax}) {
			out.deltas(bounds, bounds.length);
		}
		out.deltas(cells.leafFrom, first.length + 1).deltas(cells.time, cells.rows).deltas(cells.thread, cells.rows).deltas(cells.sharing,
				cells.rows);
		for (long[] sums : new long[][] {counts.all, counts.withReads, counts.withWrites, cells.reads, cells.writes}) {
			out.unsigned(sums, cells.rows);
		}
	}

	static AccessCube read(SavedNumbers.In in) throws SavedNumbers.Damaged {
		int[] first = in.deltaInts();
		int[] last = in.deltaInts();
		long[][] times = {in.deltaLongs(), in.deltaLongs(), in.deltaLongs(), in.deltaLongs()};
		AccessChunk c = new AccessChunk();
		c.leaves = first.length;
		c.leaf = first;
		c.leafFrom = in.deltaInts();
		c.time = in.deltaInts();
		c.rows = c.time.length;
		c.thread = in.deltaInts();
		c.sharing = in.deltaInts();
		Counts counts = new Counts(in.unsignedLongs(), in.unsignedLongs(), in.unsignedLongs());
		c.reads = in.unsignedLongs();
		c.writes = in.unsignedLongs();
		for (int length : new int[] {c.thread.length, c.sharing.length, counts.all.length, counts.withReads.length, counts.withWrites.length,
			c.reads.length, c.writes.length}) {
			if (length != c.rows) {
				throw new SavedNumbers.Damaged("columns are of different lengths");
			}
		}
		if (last.length != first.length || c.leafFrom.length != first.length + 1
				|| Arrays.stream(times).anyMatch(t -> t.length != times[0].length)
				|| Arrays.stream(c.time).anyMatch(t -> t < 0 || t >= times[0].length)
				|| c.leafFrom[0] != 0 || c.leafFrom[first.length] != c.rows) {
			throw new SavedNumbers.Damaged("columns do not fit together");
		}
		return new AccessCube(first, last, times, c, counts);
	}
}
