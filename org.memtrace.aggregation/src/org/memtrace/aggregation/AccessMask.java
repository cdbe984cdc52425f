// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * Which records of an {@link AccessTable} are wanted: those that have a wanted producer, thread, set of CPUs and NUMA node, and
 * of these the reads and writes that are of a wanted type. Everything is wanted until something is taken away. Not safe for
 * several threads while it is being changed.
 */
public final class AccessMask {
	/** Bits of {@link #kept}. */
	public static final int READS = 1;
	public static final int WRITES = 2;

	/** What one of several masks wants, or what none of them wants. */
	private record Either(List<AccessMask> masks, boolean not) {
	}

	/** Producers that are not wanted; null: none. */
	private BitSet producers;
	/** What is not wanted, by number + 1, so that the first is what is not known; null: nothing. */
	private BitSet threads;
	private BitSet cpuSets;
	private BitSet nodes;
	/** Types that are not wanted: bit 0 write, bit 1 shared. */
	private final BitSet types = new BitSet();
	private final List<Either> either = new ArrayList<>();

	/** Whether nothing has been taken away. */
	public boolean selectsAll() {
		return !hasProducers() && threads == null && cpuSets == null && nodes == null && types.isEmpty() && either.isEmpty();
	}

	private boolean hasProducers() {
		return producers != null;
	}

	/** Takes producers away; what is below them stays. */
	public void removeProducers(BitSet unwanted) {
		if (!unwanted.isEmpty()) {
			producers = union(producers, unwanted);
		}
	}

	/** Takes the threads of {@code [-1, count)} away that are not wanted; -1 is what belongs to no thread. */
	public void keepThreads(int count, IntPredicate wanted) {
		threads = union(threads, unwanted(count, wanted));
	}

	/** The same for the sets of CPUs. */
	public void keepCpuSets(int count, IntPredicate wanted) {
		cpuSets = union(cpuSets, unwanted(count, wanted));
	}

	/** The same for NUMA nodes. */
	public void keepNodes(int count, IntPredicate wanted) {
		nodes = union(nodes, unwanted(count, wanted));
	}

	/** Takes the accesses of one type away. */
	public void removeType(boolean shared, boolean write) {
		types.set(index(shared, write));
	}

	/**
	 * Takes away what none of these masks wants.
	 *
	 * @param not instead what at least one of them wants
	 */
	public void keepAny(List<AccessMask> masks, boolean not) {
		either.add(new Either(List.copyOf(masks), not));
	}

	/** What both of two masks want. */
	static AccessMask both(AccessMask a, AccessMask b) {
		AccessMask both = new AccessMask();
		both.keepAny(List.of(a), false);
		both.keepAny(List.of(b), false);
		return both;
	}

	private static BitSet unwanted(int count, IntPredicate wanted) {
		BitSet set = new BitSet(count + 1);
		for (int i = -1; i < count; i++) {
			set.set(i + 1, !wanted.test(i));
		}
		return set;
	}

	private static BitSet union(BitSet a, BitSet b) {
		if (a == null) {
			return (BitSet) b.clone();
		}
		a.or(b);
		return a;
	}

	private static int index(boolean shared, boolean write) {
		return (shared ? 2 : 0) + (write ? 1 : 0);
	}

	/** Whether records of a producer can be wanted at all. */
	public boolean producer(int id) {
		return producers == null || !producers.get(id);
	}

	/**
	 * What is wanted of a record: {@link #READS}, {@link #WRITES}, both, or 0. -1 is what is not known.
	 *
	 * @param shared whether the record is shared
	 */
	public int kept(int producer, int thread, int cpuSet, int node, boolean shared) {
		if (producers != null && producers.get(producer) || threads != null && threads.get(thread + 1)
				|| cpuSets != null && cpuSets.get(cpuSet + 1) || nodes != null && nodes.get(node + 1)) {
			return 0;
		}
		int kept = (types.get(index(shared, false)) ? 0 : READS) | (types.get(index(shared, true)) ? 0 : WRITES);
		for (int i = 0; i < either.size() && kept != 0; i++) {
			Either e = either.get(i);
			int some = 0;
			for (int k = 0; k < e.masks.size() && some != kept; k++) {
				some |= e.masks.get(k).kept(producer, thread, cpuSet, node, shared) & kept;
			}
			kept = e.not ? kept & ~some : some;
		}
		return kept;
	}

	/** Columns that {@link #apply} looks at. */
	Set<AccessColumn> columns() {
		EnumSet<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		add(columns);
		return columns;
	}

	private void add(Set<AccessColumn> columns) {
		if (threads != null) {
			columns.add(AccessColumn.THREAD);
		}
		if (cpuSets != null) {
			columns.add(AccessColumn.CPU_SET);
		}
		if (nodes != null) {
			columns.add(AccessColumn.NODE);
		}
		if (!types.isEmpty()) {
			columns.add(AccessColumn.SHARING);
		}
		either.forEach(e -> e.masks.forEach(m -> m.add(columns)));
	}

	/**
	 * Takes the rows out of a chunk that are not wanted, and the reads or writes that are not; rows without any count are not wanted
	 * either. Times that no row has any more stay in the table of times.
	 *
	 * @param columns those that the chunk has, among them {@link #columns}
	 */
	void apply(AccessChunk chunk, Set<AccessColumn> columns) {
		boolean thread = columns.contains(AccessColumn.THREAD);
		boolean cpuSet = columns.contains(AccessColumn.CPU_SET);
		boolean sharing = columns.contains(AccessColumn.SHARING);
		boolean node = columns.contains(AccessColumn.NODE);
		boolean time = columns.contains(AccessColumn.TIME);
		boolean rest = columns.contains(AccessColumn.FLAGS) || columns.contains(AccessColumn.IP)
				|| columns.contains(AccessColumn.READ_OFFSET) || columns.contains(AccessColumn.WRITE_OFFSET);
		int n = 0;
		int leaves = 0;
		for (int l = 0; l < chunk.leaves; l++) {
			int producer = chunk.leaf[l];
			int from = chunk.leafFrom[l];
			int to = chunk.leafFrom[l + 1];
			int first = n;
			if (!producer(producer)) {
				continue;
			}
			for (int r = from; r < to; r++) {
				int kept = kept(producer, thread ? chunk.thread[r] : -1, cpuSet ? chunk.cpuSet[r] : -1, node ? chunk.node[r] : -1,
						sharing && chunk.sharing[r] > 1);
				long reads = (kept & READS) != 0 ? chunk.reads[r] : 0;
				long writes = (kept & WRITES) != 0 ? chunk.writes[r] : 0;
				if ((reads | writes) == 0) {
					continue;
				}
				chunk.reads[n] = reads;
				chunk.writes[n] = writes;
				if (time) {
					chunk.time[n] = chunk.time[r];
				}
				if (thread) {
					chunk.thread[n] = chunk.thread[r];
				}
				if (cpuSet) {
					chunk.cpuSet[n] = chunk.cpuSet[r];
				}
				if (sharing) {
					chunk.sharing[n] = chunk.sharing[r];
				}
				if (node) {
					chunk.node[n] = chunk.node[r];
				}
				if (rest) {
					chunk.flags[n] = chunk.flags[r];
					chunk.ip[n] = chunk.ip[r];
					chunk.readOffset[n] = chunk.readOffset[r];
					chunk.writeOffset[n] = chunk.writeOffset[r];
				}
				n++;
			}
			if (n > first) {
				chunk.leaf[leaves] = producer;
				chunk.leafFrom[leaves++] = first; // not after the place of the leaf that was read
			}
		}
		chunk.leafFrom[leaves] = n;
		chunk.leaves = leaves;
		chunk.rows = n;
	}
}
