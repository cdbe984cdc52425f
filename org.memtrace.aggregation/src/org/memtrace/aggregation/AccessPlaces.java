// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * On which CPUs accesses happened, and on which NUMA nodes the pages were: sums for each set of CPUs and each node, from which all
 * questions about places are answered without the accesses. An access whose interval overlaps the window counts with the share
 * of the overlap, as in the models. Immutable.
 */
public final class AccessPlaces {
	private final int[][] cpuSets;
	private final int nodes;
	/** [(set + 1) * (nodes + 1) + node + 1]; set -1 and node -1 are not known. */
	private final double[] sums;
	private final long[] pagesByNode;
	private final long pages;
	private final long movedPages;

	private AccessPlaces(int[][] cpuSets, int nodes, double[] sums, long[] pagesByNode, long pages, long movedPages) {
		this.cpuSets = cpuSets;
		this.nodes = nodes;
		this.sums = sums;
		this.pagesByNode = pagesByNode;
		this.pages = pages;
		this.movedPages = movedPages;
	}

	/**
	 * Sums up a part of a trace. Takes time proportional to its records.
	 *
	 * @param producer event producer whose subtree is meant, or {@link ModelRequest#WHOLE_TREE}
	 * @param fromNs start of the window
	 * @param toNs end of the window
	 */
	public static AccessPlaces of(AccessTable table, int producer, long fromNs, long toNs, Progress progress)
			throws CancelledException {
		int first = Math.max(0, producer);
		int end = producer < 0 ? table.producers().size() : table.producers().subtreeEnd(producer);
		int nodes = table.maxNode() + 1;
		int[][] sets = table.cpuNumbers();
		double[] sums = new double[(sets.length + 1) * (nodes + 1)];
		long[] pagesByNode = new long[nodes + 1];
		long pages = 0;
		long moved = 0;
		progress.begin("Accesses by place", end - first);
		for (int id = first; id < end; id++) {
			if ((id & 0x3ff) == 0) {
				progress.check();
				progress.worked(0x400);
			}
			boolean any = false;
			int at = -1;
			boolean severalNodes = false;
			int to = table.rowTo(id);
			for (int row = table.rowFrom(id); row < to; row++) {
				int interval = table.interval(row);
				long start = table.intervalStart(interval);
				long stop = table.intervalEnd(interval);
				if (start >= toNs) {
					break; // rows of a producer are ordered by their start
				}
				if (stop <= fromNs) {
					continue;
				}
				double part = start >= fromNs && stop <= toNs ? 1
						: (double) (Math.min(stop, toNs) - Math.max(start, fromNs)) / (stop - start);
				int set = table.cpuSet(row);
				int node = table.node(row);
				sums[(set + 1) * (nodes + 1) + node + 1] += part * ((double) table.reads(row) + table.writes(row));
				any = true;
				if (node >= 0) {
					severalNodes |= at >= 0 && at != node;
					at = node;
				}
			}
			if (any) {
				pages++;
				pagesByNode[at + 1]++;
				moved += severalNodes ? 1 : 0;
			}
		}
		return new AccessPlaces(sets, nodes, sums, pagesByNode, pages, moved);
	}

	/** Receives sums. */
	@FunctionalInterface
	public interface Visitor {
		/**
		 * @param cpus CPUs on which the accesses happened, each on one of them; empty when not known. Not to be changed
		 * @param node NUMA node of the pages, -1 when not known
		 * @param accesses how many, more than 0
		 */
		void visit(int[] cpus, int node, double accesses);
	}

	private static final int[] NO_CPUS = {};

	/** Gives every sum that is not 0. */
	public void visit(Visitor visitor) {
		for (int i = 0; i < sums.length; i++) {
			if (sums[i] > 0) {
				int set = i / (nodes + 1) - 1;
				visitor.visit(set < 0 ? NO_CPUS : cpuSets[set], i % (nodes + 1) - 1, sums[i]);
			}
		}
	}

	/** Pages that were accessed. */
	public long pages() {
		return pages;
	}

	/** Pages that were on a node when they were accessed last; -1 for pages of which that is not known. */
	public long pages(int node) {
		return node >= -1 && node < nodes ? pagesByNode[node + 1] : 0;
	}

	/** Pages that were seen on more than one node. */
	public long movedPages() {
		return movedPages;
	}

	/** Largest number of a node plus 1. */
	public int nodeCount() {
		return nodes;
	}
}
