// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Counts and sums of accesses, grouped by any of time, memory, type, thread, CPU, NUMA node and sharing. One pass over the
 * accesses; memory for the groups only. An access counts once: in the window of time in which it begins, or in the first one when it
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

	private final List<Key> keys;
	private final long windowNs;
	private final Map<Numbers, long[]> sums = new HashMap<>();

	/** Group as numbers. */
	private record Numbers(long[] values) {
		@Override
		public boolean equals(Object other) {
			return other instanceof Numbers n && Arrays.equals(values, n.values);
		}

		@Override
		public int hashCode() {
			return Arrays.hashCode(values);
		}
	}

	private AccessGroups(List<Key> keys, long windowNs) {
		this.keys = keys;
		this.windowNs = windowNs;
	}

	/**
	 * Groups accesses.
	 *
	 * @param windowNs length of the windows of {@link Key#TIME}; the first begins with the trace, or with the filter's window
	 * @return groups in the order of their keys
	 */
	public static List<Group> of(TraceStore store, AccessFilter filter, List<Key> keys, long windowNs, Progress progress)
			throws MemtraceException {
		if (keys.contains(Key.TIME) && windowNs <= 0) {
			throw new IllegalArgumentException("windows of " + windowNs + " ns");
		}
		AccessGroups groups = new AccessGroups(List.copyOf(keys), windowNs);
		return groups.run(store, filter, progress);
	}

	private List<Group> run(TraceStore store, AccessFilter filter, Progress progress) throws MemtraceException {
		ProducerTree tree = store.producers();
		int root = filter.query().producerFrom();
		long origin = Math.max(filter.query().fromNs(), store.info().startNs());
		int[] part = keys.contains(Key.MEMORY) ? parts(tree, root) : null;
		Parts structures = keys.contains(Key.STRUCTURE) ? new Parts(tree, store.structures()) : null;
		boolean byType = keys.contains(Key.TYPE);
		long[] values = new long[keys.size()];
		filter.visit(store, b -> {
			for (int i = 0; i < b.count; i++) {
				for (int k = 0; k < values.length; k++) {
					values[k] = value(keys.get(k), b, i, origin, part, structures);
				}
				if (!byType) {
					add(values, b.reads[i], b.writes[i]);
					continue;
				}
				int at = keys.indexOf(Key.TYPE);
				if (b.reads[i] > 0) {
					values[at] = AccessFilter.type(b.sharing[i], false);
					add(values, b.reads[i], 0);
				}
				if (b.writes[i] > 0) {
					values[at] = AccessFilter.type(b.sharing[i], true);
					add(values, 0, b.writes[i]);
				}
			}
		}, progress);
		List<Numbers> order = new ArrayList<>(sums.keySet());
		order.sort((a, b) -> Arrays.compare(a.values, b.values));
		List<ThreadInfo> threads = store.threads();
		List<BitSet> cpuSets = store.cpuSets();
		List<Group> result = new ArrayList<>(order.size());
		for (Numbers numbers : order) {
			List<Object> labels = new ArrayList<>();
			for (int k = 0; k < keys.size(); k++) {
				labels.add(label(keys.get(k), numbers.values[k], origin, tree, threads, cpuSets));
			}
			long[] sum = sums.get(numbers);
			result.add(new Group(labels, sum[0], sum[1], sum[2]));
		}
		return result;
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

	private void add(long[] values, long reads, long writes) throws MemtraceException {
		long[] sum = sums.get(new Numbers(values));
		if (sum == null) {
			if (sums.size() == MOST_GROUPS) {
				throw new MemtraceException(String.format(Locale.ROOT,
						"there are more than %,d groups; take longer windows, fewer keys or a part of the memory", MOST_GROUPS));
			}
			sum = new long[3];
			sums.put(new Numbers(values.clone()), sum);
		}
		sum[0]++;
		sum[1] += reads;
		sum[2] += writes;
	}

	private long value(Key key, AccessBatch b, int i, long origin, int[] part, Parts structures) {
		return switch (key) {
		case TIME -> (Math.max(b.startNs[i], origin) - origin) / windowNs;
		case MEMORY -> part[b.producer[i]];
		case STRUCTURE -> structure(structures, b.producer[i]);
		case PAGE -> b.producer[i];
		case TYPE -> 0;
		case THREAD -> b.thread[i];
		case CPU -> b.cpuSet[i];
		case NODE -> b.node[i];
		case SHARING -> b.sharing[i];
		};
	}

	/** Producer of the structure, or of what there is instead. */
	private static int structure(Parts structures, int producer) {
		int part = structures.of(producer);
		return part < 0 ? producer : structures.producer(part);
	}

	private Object label(Key key, long value, long origin, ProducerTree tree, List<ThreadInfo> threads,
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
