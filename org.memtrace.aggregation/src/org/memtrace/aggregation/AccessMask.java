// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Which records of an {@link AccessTable} are wanted: those that have a wanted producer, thread, set of CPUs and NUMA node, and
 * of these the reads and writes that are of a wanted type. Everything is wanted until something is taken away. Not safe for
 * several threads while it is being changed.
 */
public final class AccessMask {
	private static final int TYPES = 4;

	/** Producers that are not wanted; null: none. */
	private BitSet producers;
	/** What is not wanted, by number + 1, so that the first is what is not known; null: nothing. */
	private BitSet threads;
	private BitSet cpuSets;
	private BitSet nodes;
	/** Types that are not wanted: bit 0 write, bit 1 shared. */
	private final BitSet types = new BitSet();

	/** Whether nothing has been taken away. */
	public boolean selectsAll() {
		return !hasProducers() && threads == null && cpuSets == null && nodes == null && types.isEmpty();
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

	/** Whether records of a producer are wanted. */
	public boolean producer(int id) {
		return producers == null || !producers.get(id);
	}

	/** Whether reads or writes of a type are wanted. */
	public boolean type(boolean shared, boolean write) {
		return !types.get(index(shared, write));
	}

	/** Whether no type is wanted. */
	public boolean isEmpty() {
		return types.cardinality() == TYPES;
	}

	/** Whether a record with these numbers is wanted; -1 is what is not known. */
	public boolean row(int thread, int cpuSet, int node) {
		return (threads == null || !threads.get(thread + 1)) && (cpuSets == null || !cpuSets.get(cpuSet + 1))
				&& (nodes == null || !nodes.get(node + 1));
	}
}
