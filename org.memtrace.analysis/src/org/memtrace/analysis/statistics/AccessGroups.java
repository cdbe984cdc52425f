// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.tree.ProducerTree;

/**
 * Counts and sums of accesses, grouped by any of time, memory, type, thread, CPU, NUMA node and sharing. One pass over the
 * chunks, in parallel; memory for the groups only. An access counts once: in the window of time in which it begins, or in the first one when it
 * has begun earlier.
 */
public final class AccessGroups {
	/** What to group by. */
	public enum Key {
		/** Windows of equal length, by their start. */
		TIME,
		/** The part of memory directly below the selected event producer. */
		MEMORY,
		/** Structures, stacks and ranges outside of them. */
		STRUCTURE,
		/** Single pages: leaves of the tree. */
		PAGE,
		/** Event type; the reads and the writes of an access are of different types. */
		TYPE, THREAD,
		/** The set of CPUs on which the access happened. */
		CPU,
		/** NUMA node. */
		NODE,
		/** Number of threads that used the page at the same time. */
		SHARING
	}

	/**
	 * A group.
	 *
	 * @param keys one value for each key: numbers for times, nodes and sharing, texts for the others, null for not known
	 * @param records access records with reads or writes in this group
	 */
	public record Group(List<Object> keys, long records, long reads, long writes) {
	}

	/** More groups than these are refused. */
	public static final int MOST_GROUPS = 1_000_000;

	private final AccessTable table;
	private final List<Key> keys;
	private final long windowNs;
	private final AccessQuery query;
	private final long origin;
	/** For each producer the part directly below the selected one; null when nobody asks. */
	private final int[] part;
	private final Parts structures;

	private AccessGroups(AccessTable table, AccessQuery query, List<Key> keys, long windowNs) {
		this.table = table;
		this.keys = keys;
		this.windowNs = windowNs;
		this.query = query;
		origin = Math.max(query.fromNs(), table.info().startNs());
		part = keys.contains(Key.MEMORY) ? parts(table.producers(), query.producerFrom()) : null;
		structures = keys.contains(Key.STRUCTURE) ? new Parts(table.producers(), table.structures()) : null;
	}

	/**
	 * Groups accesses.
	 *
	 * @param windowNs length of the windows of {@link Key#TIME}; the first begins with the trace, or with the filter's window
	 * @return groups in the order of their keys
	 */
	public static List<Group> of(AccessTable table, AccessFilter filter, List<Key> keys, long windowNs, Progress progress)
			throws MemtraceException {
		if (keys.contains(Key.TIME) && windowNs <= 0) {
			throw new IllegalArgumentException("windows of " + windowNs + " ns");
		}
		return new AccessGroups(filter.select(table), filter.query(), List.copyOf(keys), windowNs).run(progress);
	}

	private Set<AccessColumn> columns() {
		EnumSet<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		if (isWindow() || keys.contains(Key.TIME)) {
			columns.add(AccessColumn.TIME);
		}
		for (Key key : keys) {
			switch (key) {
			case THREAD -> columns.add(AccessColumn.THREAD);
			case CPU -> columns.add(AccessColumn.CPU_SET);
			case NODE -> columns.add(AccessColumn.NODE);
			case TYPE, SHARING -> columns.add(AccessColumn.SHARING);
			case TIME, MEMORY, STRUCTURE, PAGE -> {
			}
			}
		}
		return columns;
	}

	private boolean isWindow() {
		return query.fromNs() > table.info().startNs() || query.toNs() < table.info().endNs();
	}

	private List<Group> run(Progress progress) throws MemtraceException {
		GroupSums all = null;
		for (Sums part : table.scan().run(query, columns(), "Groups", progress, (from, to) -> new Sums())) {
			if (all == null) {
				all = part.sums;
			} else {
				all.addAll(part.sums);
			}
		}
		ProducerTree tree = table.producers();
		List<ThreadInfo> threads = table.threads();
		List<BitSet> cpuSets = table.cpuSets();
		List<Group> result = new ArrayList<>();
		GroupSums sums = all;
		for (int group : sums.sorted()) {
			List<Object> labels = new ArrayList<>();
			for (int k = 0; k < keys.size(); k++) {
				labels.add(label(keys.get(k), sums.key(group, k), tree, threads, cpuSets));
			}
			result.add(new Group(labels, sums.records(group), sums.reads(group), sums.writes(group)));
		}
		return result;
	}

	/** The groups of some pages. */
	private final class Sums implements AccessScan.Part {
		private final GroupSums sums = new GroupSums(keys.size(), MOST_GROUPS);
		private final int byType = keys.indexOf(Key.TYPE);
		private final long[][] values = new long[keys.size()][0];
		private final long[] group = new long[keys.size()];

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) throws MemtraceException {
			for (int k = 0; k < values.length; k++) {
				if (values[k].length < c.rows) {
					values[k] = new long[Math.max(c.rows, 2 * values[k].length)];
				}
				read(keys.get(k), c, leafFrom, leafTo, values[k]);
			}
			boolean window = isWindow();
			int to = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < to; row++) {
				if (window && (c.startNs(row) >= query.toNs() || c.endNs(row) <= query.fromNs())) {
					continue;
				}
				for (int k = 0; k < group.length; k++) {
					group[k] = values[k][row];
				}
				if (byType < 0) {
					sums.add(group, c.reads[row], c.writes[row]);
					continue;
				}
				if (c.reads[row] > 0) {
					sums.add(group, c.reads[row], 0);
				}
				if (c.writes[row] > 0) {
					group[byType]++; // the type of writes follows that of reads
					sums.add(group, 0, c.writes[row]);
				}
			}
		}
	}

	/** Values of a key for the rows of some leaves. */
	private void read(Key key, AccessChunk c, int leafFrom, int leafTo, long[] out) {
		int from = c.leafFrom[leafFrom];
		int to = c.leafFrom[leafTo];
		switch (key) {
		case TIME -> {
			long[] window = new long[c.times];
			for (int t = 0; t < c.times; t++) {
				window[t] = (Math.max(c.timeStartNs[t], origin) - origin) / windowNs;
			}
			for (int row = from; row < to; row++) {
				out[row] = window[c.time[row]];
			}
		}
		case MEMORY, STRUCTURE, PAGE -> {
			for (int l = leafFrom; l < leafTo; l++) {
				int producer = c.leaf[l];
				Arrays.fill(out, c.leafFrom[l], c.leafFrom[l + 1], key == Key.PAGE ? producer
						: key == Key.MEMORY ? part[producer] : structure(structures, producer));
			}
		}
		case TYPE -> {
			for (int row = from; row < to; row++) {
				out[row] = AccessFilter.type(c.sharing[row], false);
			}
		}
		case THREAD -> copy(c.thread, from, to, out);
		case CPU -> copy(c.cpuSet, from, to, out);
		case NODE -> copy(c.node, from, to, out);
		case SHARING -> copy(c.sharing, from, to, out);
		}
	}

	private static void copy(int[] in, int from, int to, long[] out) {
		for (int row = from; row < to; row++) {
			out[row] = in[row];
		}
	}

	/** For each producer below {@code root} the child of {@code root} that it belongs to. */
	private static int[] parts(ProducerTree tree, int root) {
		int[] part = new int[tree.size()];
		Arrays.fill(part, root);
		for (int child = tree.firstChild(root); child >= 0 && child < tree.subtreeEnd(root); child = tree.nextSibling(child)) {
			Arrays.fill(part, child, tree.subtreeEnd(child), child);
		}
		return part;
	}

	/** Producer of the structure, or of what there is instead. */
	private static int structure(Parts structures, int producer) {
		int part = structures.of(producer);
		return part < 0 ? producer : structures.producer(part);
	}

	private Object label(Key key, long value, ProducerTree tree, List<ThreadInfo> threads,
			List<BitSet> cpuSets) {
		return switch (key) {
		case TIME -> origin + value * windowNs;
		case MEMORY, STRUCTURE, PAGE -> tree.name((int) value);
		case TYPE -> AccessFilter.TYPES[(int) value];
		case THREAD -> value < 0 ? null : threads.get((int) value).taskId() + " " + threads.get((int) value).name();
		case CPU -> value < 0 ? null : cpuSets.get((int) value).toString().replaceAll("[{} ]", "");
		case NODE -> value < 0 ? null : value;
		case SHARING -> value;
		};
	}
}
