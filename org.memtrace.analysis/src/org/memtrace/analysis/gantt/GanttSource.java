// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.tree.ProducerTree;

/**
 * The records of a trace as a Gantt chart needs them: by row of the chart, in a window, each with its type and amount. A row
 * of the chart is a producer with everything below it, of all threads and CPUs or of one ("group"). Safe for all threads.
 */
public abstract class GanttSource {
	/** What the rows at the top are. */
	public enum Grouping {
		PRODUCER, THREAD, CPU
	}

	/** The only group of {@link Grouping#PRODUCER}. */
	public static final int ALL = 0;

	/** Rows of the table whose times are known together, so that a window need not look at each. */
	private static final int BLOCK = 64;

	private final TraceInfo info;
	private final ProducerTree producers;
	private final List<GanttType> types;
	private final int rows;
	private volatile long[] blockStart;
	private long[] blockEnd;
	private final BitSet[][] present = new BitSet[Grouping.values().length][];

	GanttSource(TraceInfo info, ProducerTree producers, List<GanttType> types, int rows) {
		this.info = info;
		this.producers = producers;
		this.types = List.copyOf(types);
		this.rows = rows;
	}

	public final TraceInfo info() {
		return info;
	}

	public final ProducerTree producers() {
		return producers;
	}

	/** Types, in the order in which they are stacked. */
	public final List<GanttType> types() {
		return types;
	}

	/** Number of records. */
	public final int size() {
		return rows;
	}

	/** Number of slots: a type and the layer on which it is drawn. */
	abstract int slots();

	/** Type of a slot. */
	public abstract int slotType(int slot);

	/** Layer of a slot: deeper nested states are painted above others. */
	abstract int slotLayer(int slot);

	/** Names of the groups, whether they have records or not. */
	public abstract List<String> groups(Grouping grouping);

	/** Whether there is any record with a thread, or with a CPU. */
	public abstract boolean knows(Grouping grouping);

	abstract int firstRow(int producer);

	abstract long start(int row);

	abstract long end(int row);

	/** Gives what a record is in a group; nothing when it does not belong to it. */
	abstract void event(int row, Grouping grouping, int group, GanttSink sink);

	/** Sets the bits of the groups to which a record belongs. */
	abstract void groupsOf(int row, Grouping grouping, BitSet groups);

	/** All records below a producer and of a group over the whole trace, as exact cells or in small bins. */
	abstract GanttSeries series(int producer, Grouping grouping, int group, Progress progress) throws MemtraceException;

	/** Links in order of their start: rows of the table. */
	abstract int[] linkRows();

	/** Producer at which a link ends, -1 when it is not in the trace. */
	abstract int linkEnd(int row);

	/** Index of the type of a link. */
	abstract int linkType(int row);

	/** Whether a producer has records of its own. */
	final boolean hasOwn(int producer) {
		return firstRow(producer) < firstRow(producer + 1);
	}

	/** First record of a producer and everything below it; a negative producer stands for all. */
	final int from(int producer) {
		return producer < 0 ? 0 : firstRow(producer);
	}

	/** Record after the last of a producer and everything below it. */
	final int to(int producer) {
		return producer < 0 ? rows : firstRow(producers.subtreeEnd(producer));
	}

	/** Number of records of a producer and everything below it; a negative producer stands for all. */
	public final int records(int producer) {
		return to(producer) - from(producer);
	}

	/** Producer to which a record belongs. */
	final int producerOf(int row) {
		int low = 0;
		int high = producers.size() - 1;
		while (low < high) {
			int mid = (low + high + 1) >>> 1;
			if (firstRow(mid) <= row) {
				low = mid;
			} else {
				high = mid - 1;
			}
		}
		return low;
	}

	/** For each group the producers that have records of it. */
	private BitSet[] present(Grouping grouping) {
		synchronized (present) {
			BitSet[] known = present[grouping.ordinal()];
			if (known == null) {
				known = new BitSet[groups(grouping).size()];
				Arrays.setAll(known, g -> new BitSet());
				BitSet of = new BitSet();
				for (int p = 0; p < producers.size(); p++) {
					int end = firstRow(p + 1);
					of.clear();
					for (int row = firstRow(p); row < end; row++) {
						groupsOf(row, grouping, of);
					}
					for (int g = of.nextSetBit(0); g >= 0; g = of.nextSetBit(g + 1)) {
						known[g].set(p);
					}
				}
				present[grouping.ordinal()] = known;
			}
			return known;
		}
	}

	/** Whether a producer or anything below it has records of a group. */
	final boolean has(int producer, Grouping grouping, int group) {
		if (grouping == Grouping.PRODUCER) {
			return records(producer) > 0;
		}
		int next = present(grouping)[group].nextSetBit(Math.max(0, producer));
		return next >= 0 && (producer < 0 || next < producers.subtreeEnd(producer));
	}

	/** Groups that have records. */
	final List<Integer> groupsWithRecords(Grouping grouping) {
		List<Integer> list = new ArrayList<>();
		if (grouping == Grouping.PRODUCER) {
			list.add(ALL);
			return list;
		}
		BitSet[] known = present(grouping);
		for (int g = 0; g < known.length; g++) {
			if (!known[g].isEmpty()) {
				list.add(g);
			}
		}
		return list;
	}

	/**
	 * Visits the records below a producer (negative: all) and of a group that overlap a window; an instant overlaps where it is. In
	 * order of producers, and of their start within each.
	 */
	public final void visit(int producer, Grouping grouping, int group, long fromNs, long toNs, GanttSink sink, Progress progress)
			throws CancelledException {
		blocks();
		int end = to(producer);
		int checkAt = 0;
		for (int row = from(producer); row < end;) {
			int block = row / BLOCK;
			int blockTo = Math.min(end, (block + 1) * BLOCK);
			if (blockStart[block] >= toNs || blockEnd[block] < fromNs) {
				row = blockTo;
				continue;
			}
			for (; row < blockTo; row++) {
				long s = start(row);
				long e = end(row);
				if (s < toNs && (e > fromNs || e == s && s >= fromNs)) {
					event(row, grouping, group, sink);
				}
			}
			if (++checkAt == 256) {
				checkAt = 0;
				progress.check();
			}
		}
	}

	private void blocks() {
		if (blockStart != null) {
			return;
		}
		synchronized (this) {
			if (blockStart == null) {
				int n = (rows + BLOCK - 1) / BLOCK;
				long[] starts = new long[n];
				long[] ends = new long[n];
				for (int b = 0; b < n; b++) {
					long least = Long.MAX_VALUE;
					long most = Long.MIN_VALUE;
					for (int row = b * BLOCK; row < Math.min(rows, (b + 1) * BLOCK); row++) {
						least = Math.min(least, start(row));
						most = Math.max(most, end(row));
					}
					starts[b] = least;
					ends[b] = most;
				}
				blockEnd = ends;
				blockStart = starts;
			}
		}
	}

	/** GanttSeries.Bins over a window of many records: rows of a table in parallel. */
	final GanttSeries binned(int producer, Grouping grouping, int group, long fromNs,
			long toNs, int bins, Progress progress) throws CancelledException {
		int slots = slots();
		int count = records(producer);
		if (count < GanttSeries.SMALL || Parallel.threads() == 1) {
			return GanttSeries.binned(slots, fromNs, toNs, bins, sink -> visit(producer, grouping, group, fromNs, toNs, sink, progress));
		}
		int parts = Math.min(8, Parallel.threads());
		GanttSeries.Bins[] all = new GanttSeries.Bins[parts];
		int from = from(producer);
		Parallel.run(parts, progress, part -> {
			GanttSeries.Bins b = new GanttSeries.Bins(slots, fromNs, toNs, bins);
			int to = from + (int) ((long) count * (part + 1) / parts);
			for (int row = from + (int) ((long) count * part / parts); row < to; row++) {
				if (start(row) < toNs && end(row) >= fromNs) {
					event(row, grouping, group, b);
				}
				if ((row & 0xffff) == 0) {
					progress.check();
				}
			}
			all[part] = b;
		});
		for (int i = 1; i < parts; i++) {
			all[0].add(all[i]);
		}
		return all[0].series();
	}
}
