// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.Arrays;
import java.util.BitSet;

import org.memtrace.model.CancelledException;

/**
 * The records of one row of a Gantt chart as cells: what happened in [start, end) in one slot, ordered by start. Exact: a cell
 * has the records of one interval (or is one event); binned: of one of many small equal times, in proportion to the overlap.
 * Sums over cells are sums of the records in both cases. Immutable.
 */
final class GanttSeries {
	/** Cells of a series that is kept exactly. */
	static final int MAX_EXACT = 1 << 17;
	/** Bins of a series that is not. */
	static final int BINS = 8192;
	/** Below this many records one thread is enough. */
	static final int SMALL = 1 << 20;

	final long[] start;
	final long[] end;
	final short[] slot;
	final double[] amount;
	/** Records that are in a cell, wholly or in part. */
	final int[] records;
	/** Greatest end among the cells up to this. */
	private final long[] reach;
	/** Width of a bin, 0 for exact cells. */
	final long binNs;
	/** Greatest amount per nanosecond of cells that are at the same time. */
	final double peak;
	/** Slots that occur, and the range of their amounts per nanosecond. */
	final BitSet used = new BitSet();
	final double[] least;
	final double[] most;

	GanttSeries(long[] start, long[] end, short[] slot, double[] amount, int[] records, long binNs) {
		this.start = start;
		this.end = end;
		this.slot = slot;
		this.amount = amount;
		this.records = records;
		this.binNs = binNs;
		this.reach = new long[start.length];
		long last = Long.MIN_VALUE;
		double top = 0;
		double together = 0;
		for (short s : slot) {
			used.set(s);
		}
		this.least = new double[used.length()];
		this.most = new double[used.length()];
		Arrays.fill(least, Double.POSITIVE_INFINITY);
		Arrays.fill(most, Double.NEGATIVE_INFINITY);
		for (int i = 0; i < start.length; i++) {
			last = Math.max(last, end[i]);
			reach[i] = last;
			double perNs = amount[i] / Math.max(1, end[i] - start[i]);
			least[slot[i]] = Math.min(least[slot[i]], perNs);
			most[slot[i]] = Math.max(most[slot[i]], perNs);
			together = i > 0 && start[i] == start[i - 1] && end[i] == end[i - 1] ? together + Math.abs(perNs) : Math.abs(perNs);
			top = Math.max(top, together);
		}
		this.peak = top;
	}

	int size() {
		return start.length;
	}

	boolean isExact() {
		return binNs == 0;
	}

	/** First cell that may overlap what begins at an instant. */
	int first(long fromNs) {
		int low = 0;
		int high = reach.length;
		while (low < high) {
			int mid = (low + high) >>> 1;
			if (reach[mid] >= fromNs) {
				high = mid;
			} else {
				low = mid + 1;
			}
		}
		return low;
	}

	/** Amounts by slot in a window: a cell counts with its part inside, an instant where it is. */
	double[] sums(int slots, long fromNs, long toNs) {
		double[] sums = new double[slots];
		for (int i = first(fromNs); i < start.length && start[i] < toNs; i++) {
			sums[slot[i]] += amount[i] * part(i, fromNs, toNs);
		}
		return sums;
	}

	/** Share of a cell that is inside of a window. */
	double part(int i, long fromNs, long toNs) {
		if (end[i] == start[i]) {
			return start[i] >= fromNs && start[i] < toNs ? 1 : 0;
		}
		long overlap = Math.min(end[i], toNs) - Math.max(start[i], fromNs);
		return overlap <= 0 ? 0 : (double) overlap / (end[i] - start[i]);
	}

	/** Gives the events of a series to a sink, for the builders here. */
	@FunctionalInterface
	interface Events {
		void visit(GanttSink sink) throws CancelledException;
	}

	/** Every event a cell, in order of start; for at most {@link #MAX_EXACT}, else null. */
	static GanttSeries exact(int expected, Events events) throws CancelledException {
		Collector c = new Collector(Math.max(16, Math.min(expected, MAX_EXACT)));
		events.visit(c);
		return c.count > MAX_EXACT ? null : c.series();
	}

	/** Bins over a window. */
	static GanttSeries binned(int slots, long fromNs, long toNs, int bins, Events events) throws CancelledException {
		Bins b = new Bins(slots, fromNs, toNs, bins);
		events.visit(b);
		return b.series();
	}

	/** Number of bins that keep a series of some slots small. */
	static int bins(int slots) {
		return Math.max(1024, Math.min(BINS, MAX_EXACT / Math.max(1, slots)));
	}

	private static final class Collector implements GanttSink {
		private long[] start;
		private long[] end;
		private short[] slot;
		private double[] amount;
		private int count;
		private boolean sorted = true;

		Collector(int capacity) {
			start = new long[capacity];
			end = new long[capacity];
			slot = new short[capacity];
			amount = new double[capacity];
		}

		@Override
		public void event(int row, long startNs, long endNs, int s, double a) {
			if (count >= MAX_EXACT) {
				count = MAX_EXACT + 1;
				return;
			}
			if (count == start.length) {
				int n = 2 * count;
				start = Arrays.copyOf(start, n);
				end = Arrays.copyOf(end, n);
				slot = Arrays.copyOf(slot, n);
				amount = Arrays.copyOf(amount, n);
			}
			sorted &= count == 0 || start[count - 1] <= startNs;
			start[count] = startNs;
			end[count] = endNs;
			slot[count] = (short) s;
			amount[count++] = a;
		}

		GanttSeries series() {
			int[] ones = new int[count];
			Arrays.fill(ones, 1);
			start = Arrays.copyOf(start, count);
			if (sorted) {
				return new GanttSeries(start, Arrays.copyOf(end, count), Arrays.copyOf(slot, count),
						Arrays.copyOf(amount, count), ones, 0);
			}
			int[] order = order(start);
			long[] s = new long[count];
			long[] e = new long[count];
			short[] t = new short[count];
			double[] a = new double[count];
			for (int i = 0; i < count; i++) {
				s[i] = start[order[i]];
				e[i] = end[order[i]];
				t[i] = slot[order[i]];
				a[i] = amount[order[i]];
			}
			return new GanttSeries(s, e, t, a, ones, 0);
		}
	}

	/** Indexes in order of a key, equal ones in their order. */
	static int[] order(long[] key) {
		int n = key.length;
		int[] a = new int[n];
		for (int i = 0; i < n; i++) {
			a[i] = i;
		}
		int[] b = new int[n];
		for (int width = 1; width < n; width *= 2) {
			for (int from = 0; from < n; from += 2 * width) {
				int middle = Math.min(from + width, n);
				int to = Math.min(from + 2 * width, n);
				int l = from;
				int r = middle;
				for (int i = from; i < to; i++) {
					b[i] = l < middle && (r >= to || key[a[l]] <= key[a[r]]) ? a[l++] : a[r++];
				}
			}
			int[] swap = a;
			a = b;
			b = swap;
		}
		return a;
	}

	/** Dense sums by bin and slot. */
	static final class Bins implements GanttSink {
		private final int slots;
		private final long from;
		private final long to;
		private final int bins;
		private final double perNs;
		private final double[] amount;
		private final int[] records;

		Bins(int slots, long from, long to, int wanted) {
			this.slots = slots;
			this.from = from;
			this.to = to;
			this.bins = (int) Math.max(1, Math.min(wanted, to - from));
			this.perNs = (double) bins / (to - from);
			this.amount = new double[bins * slots];
			this.records = new int[bins * slots];
		}

		/** First instant of a bin. */
		private long bound(int bin) {
			return from + Math.round(bin / perNs);
		}

		private int bin(long ns) {
			int b = (int) Math.max(0, Math.min(bins - 1, (ns - from) * perNs));
			while (b > 0 && bound(b) > ns) {
				b--;
			}
			while (b < bins - 1 && bound(b + 1) <= ns) {
				b++;
			}
			return b;
		}

		@Override
		public void event(int row, long startNs, long endNs, int s, double a) {
			if (endNs <= startNs) {
				if (startNs >= from && startNs < to) {
					int at = bin(startNs) * slots + s;
					amount[at] += a;
					records[at]++;
				}
				return;
			}
			long first = Math.max(startNs, from);
			long last = Math.min(endNs, to);
			if (first >= last) {
				return;
			}
			int b = bin(first);
			int e = bin(last - 1);
			if (b == e) {
				amount[b * slots + s] += first == startNs && last == endNs ? a : a * ((double) (last - first) / (endNs - startNs));
				records[b * slots + s]++;
				return;
			}
			double rate = a / (endNs - startNs);
			for (; b <= e; b++) {
				amount[b * slots + s] += rate * (Math.min(last, bound(b + 1)) - Math.max(first, bound(b)));
				records[b * slots + s]++;
			}
		}

		void add(Bins o) {
			for (int i = 0; i < amount.length; i++) {
				amount[i] += o.amount[i];
				records[i] += o.records[i];
			}
		}

		GanttSeries series() {
			int n = 0;
			for (int r : records) {
				n += r > 0 ? 1 : 0;
			}
			long[] start = new long[n];
			long[] end = new long[n];
			short[] slot = new short[n];
			double[] sums = new double[n];
			int[] counts = new int[n];
			int at = 0;
			for (int i = 0; i < records.length; i++) {
				if (records[i] > 0) {
					int b = i / slots;
					start[at] = bound(b);
					end[at] = b == bins - 1 ? to : bound(b + 1);
					slot[at] = (short) (i % slots);
					sums[at] = amount[i];
					counts[at++] = records[i];
				}
			}
			return new GanttSeries(start, end, slot, sums, counts, Math.max(1, (to - from) / bins));
		}
	}
}
