// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Question;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.DimensionValues.Kind;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.tree.ProducerTree;

/**
 * Sums of accesses and numbers of different pages, threads and cache lines, grouped by any dimensions that can group. One pass over the
 * chunks, in parallel. Memory is for the groups only, and a bit for each group and thread: the rows of a page come together, so pages and
 * lines are counted without being kept. A record counts in the window of time in which it begins.
 */
public final class GroupCounts {
	private static final int LINE_BYTES = 64;
	/** Bits of threads of all groups of a part, in words of 64: more are refused. */
	private static final int MOST_WORDS = 1 << 26;
	private static final int RECORDS = 0;
	private static final int READS = 1;
	private static final int WRITES = 2;
	private static final int PAGES = 3;
	private static final int BYTES = 4;
	private static final int LINES = 5;
	private static final int LAST = 6;
	private static final List<AccessCount> THREADS = List.of(AccessCount.THREADS, AccessCount.READERS, AccessCount.WRITERS);

	/**
	 * A group.
	 *
	 * @param keys one value for each key: texts or numbers, null for not known
	 * @param counts those that were asked for
	 */
	public record Group(List<Object> keys, Map<AccessCount, Long> counts) {
	}

	/**
	 * What was found.
	 *
	 * @param groups in the order of their keys
	 * @param records records of all groups
	 * @param noThread those that belong to no known thread: numbers of threads are lower bounds; 0 when threads were not asked for
	 * @param notKnown those of which it is not known whether other threads used the page, too; 0 when threads were not asked for
	 */
	public record Found(List<Group> groups, long records, long noThread, long notKnown) {
	}

	private final AccessTable table;
	private final AccessQuery query;
	private final List<DimensionValues> values = new ArrayList<>();
	private final EnumSet<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
	private final Set<AccessCount> counts;
	/** Of {@link #THREADS}, those that are counted. */
	private final List<AccessCount> ofThreads;
	private final boolean window;

	private GroupCounts(AccessTable table, AccessQuery query, List<Dimension> keys, long windowNs, Set<AccessCount> counts, Progress progress)
			throws MemtraceException {
		this.table = table;
		this.query = query;
		this.counts = counts;
		this.ofThreads = THREADS.stream().filter(counts::contains).toList();
		this.window = query.fromNs() > table.info().startNs() || query.toNs() < table.info().endNs();
		Question question = new Question(0, table.info().startNs(), windowNs, false);
		for (Dimension key : keys) {
			Dimension asked = key.of(question);
			values.add(asked.values(table, progress));
			columns.addAll(asked.columns());
		}
		counts.forEach(c -> columns.addAll(c.columns()));
		if (window) {
			columns.add(AccessColumn.TIME);
		}
		if (!ofThreads.isEmpty()) {
			columns.add(AccessColumn.SHARING);
		}
	}

	/**
	 * Groups accesses.
	 *
	 * @param table with what filters leave
	 * @param query a record counts when it overlaps its window
	 * @param windowNs length of the windows of time, from the start of the trace, for a key that has such
	 * @param counts what is counted
	 */
	public static Found of(AccessTable table, AccessQuery query, List<Dimension> keys, long windowNs, Set<AccessCount> counts,
			Progress progress) throws MemtraceException {
		return new GroupCounts(table, query, keys, windowNs, counts, progress).run(progress);
	}

	private Found run(Progress progress) throws MemtraceException {
		Part all = new Part();
		for (Part part : table.scan().run(query, columns, "Counts", progress, (from, to) -> new Part())) {
			all.add(part);
		}
		List<Group> groups = new ArrayList<>();
		long records = 0;
		for (int g : all.sums.sorted()) {
			List<Object> keys = new ArrayList<>();
			for (int k = 0; k < values.size(); k++) {
				keys.add(values.get(k).cell(all.sums.key(g, k)));
			}
			Map<AccessCount, Long> found = new EnumMap<>(AccessCount.class);
			for (AccessCount c : counts) {
				found.put(c, all.count(g, c));
			}
			records += all.sums.records(g);
			groups.add(new Group(keys, found));
		}
		return new Found(groups, records, all.noThread, all.notKnown);
	}

	/** The groups of some pages. */
	private final class Part implements AccessScan.Part {
		private final GroupSums sums = new GroupSums(values.size(), LAST - PAGES + 1, AccessGroups.MOST_GROUPS);
		/** Keys for which reads and writes are of different values. */
		private final int[] byDirection = IntStream.range(0, values.size()).filter(k -> values.get(k).kind() == Kind.BY_DIRECTION).toArray();
		private final ProducerTree tree = table.producers();
		private final int threads = table.threads().size();
		/** Words of bits of threads, of one count of one group. */
		private final int width = (threads + 63) / 64;
		private final long[][] value = new long[values.size()][0];
		private final long[] keys = new long[values.size()];
		private int leaf = -1;
		/** Leaf + 1 in which each group was seen last. */
		private int[] seen = new int[16];
		/** For each group, for each count of threads, a bit for each thread. */
		private long[] bits = {};
		/** Groups and lines of this leaf. */
		private final Set<Long> lines = new HashSet<>();
		private long noThread;
		private long notKnown;

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) throws MemtraceException {
			for (int k = 0; k < value.length; k++) {
				if (value[k].length < c.rows) {
					value[k] = new long[Math.max(c.rows, 2 * value[k].length)];
				}
				values.get(k).read(c, leafFrom, leafTo, value[k]);
			}
			for (int l = leafFrom; l < leafTo; l++) {
				if (c.leaf[l] != leaf) {
					leaf = c.leaf[l];
					lines.clear();
				}
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					if (!window || c.startNs(row) < query.toNs() && c.endNs(row) > query.fromNs()) {
						row(c, row);
					}
				}
			}
		}

		private void row(AccessChunk c, int row) throws MemtraceException {
			for (int k = 0; k < keys.length; k++) {
				keys[k] = value[k][row];
			}
			if (!ofThreads.isEmpty()) {
				noThread += c.thread[row] < 0 || c.thread[row] >= threads ? 1 : 0;
				notKnown += c.sharing[row] == AccessBatch.SHARING_NOT_KNOWN ? 1 : 0;
			}
			if (byDirection.length == 0) {
				add(c, row, c.reads[row], c.writes[row]);
				return;
			}
			if (c.reads[row] > 0) {
				add(c, row, c.reads[row], 0);
			}
			if (c.writes[row] > 0) {
				for (int k : byDirection) {
					keys[k]++; // the value of writes follows that of reads
				}
				add(c, row, 0, c.writes[row]);
			}
		}

		private void add(AccessChunk c, int row, long reads, long writes) throws MemtraceException {
			int g = sums.group(keys, 0);
			plus(g, RECORDS, 1);
			plus(g, READS, reads);
			plus(g, WRITES, writes);
			if (g >= seen.length) {
				seen = Arrays.copyOf(seen, 2 * g);
			}
			if (seen[g] != leaf + 1) {
				seen[g] = leaf + 1;
				plus(g, PAGES, 1);
				plus(g, BYTES, tree.endAddress(leaf) - tree.startAddress(leaf));
			}
			if (columns.contains(AccessColumn.TIME)) {
				long end = c.endNs(row);
				sums.set(g, LAST, sums.records(g) == 1 ? end : Math.max(sums.sum(g, LAST), end));
			}
			if (counts.contains(AccessCount.LINES)) {
				line(g, reads > 0 ? c.readOffset[row] : -1);
				line(g, writes > 0 ? c.writeOffset[row] : -1);
			}
			int thread = ofThreads.isEmpty() ? -1 : c.thread[row];
			if (thread >= 0 && thread < threads) {
				for (int i = 0; i < ofThreads.size(); i++) {
					AccessCount count = ofThreads.get(i);
					if (count == AccessCount.THREADS || (count == AccessCount.READERS ? reads : writes) > 0) {
						int at = bitsOf(g, i) + thread / 64; // may make a larger array
						bits[at] |= 1L << thread;
					}
				}
			}
		}

		private void plus(int g, int sum, long value) {
			sums.set(g, sum, sums.sum(g, sum) + value);
		}

		private void line(int g, int offset) {
			if (offset >= 0 && lines.add((long) g << 32 | offset / LINE_BYTES)) {
				plus(g, LINES, 1);
			}
		}

		/** Place of the bits of a group and a count; there is room for them. */
		private int bitsOf(int g, int count) throws MemtraceException {
			long end = (g + 1L) * ofThreads.size() * width;
			if (end > bits.length) {
				if (end > MOST_WORDS) {
					throw new MemtraceException("there are too many groups to count the threads of each; take longer windows, fewer keys or a part of the"
							+ " memory, or show other counts");
				}
				bits = Arrays.copyOf(bits, (int) Math.min(MOST_WORDS, Math.max(end, 2L * bits.length)));
			}
			return (g * ofThreads.size() + count) * width;
		}

		/** Adds another part, of other pages. */
		void add(Part other) throws MemtraceException {
			noThread += other.noThread;
			notKnown += other.notKnown;
			for (int o = 0; o < other.sums.size(); o++) {
				int g = sums.groupOf(other.sums, o);
				boolean fresh = sums.records(g) == 0;
				for (int sum = RECORDS; sum < LAST; sum++) {
					plus(g, sum, other.sums.sum(o, sum));
				}
				sums.set(g, LAST, fresh ? other.sums.sum(o, LAST) : Math.max(sums.sum(g, LAST), other.sums.sum(o, LAST)));
				for (int i = 0; i < ofThreads.size(); i++) {
					int to = bitsOf(g, i);
					int from = (o * ofThreads.size() + i) * width;
					for (int w = 0; w < width && from + w < other.bits.length; w++) {
						bits[to + w] |= other.bits[from + w];
					}
				}
			}
		}

		/** A count of a group, after all. */
		long count(int g, AccessCount count) throws MemtraceException {
			return switch (count) {
			case RECORDS -> sums.records(g);
			case READS -> sums.reads(g);
			case WRITES -> sums.writes(g);
			case ACCESSES -> sums.reads(g) + sums.writes(g);
			case PAGES -> sums.sum(g, PAGES);
			case BYTES -> sums.sum(g, BYTES);
			case LINES -> sums.sum(g, LINES);
			case LAST -> sums.sum(g, LAST);
			case THREADS, READERS, WRITERS -> {
				int at = bitsOf(g, ofThreads.indexOf(count));
				long n = 0;
				for (int w = 0; w < width; w++) {
					n += Long.bitCount(bits[at + w]);
				}
				yield n;
			}
			};
		}
	}
}
