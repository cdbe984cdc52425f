// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.place;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

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
	private final CountUnit unit;

	private AccessPlaces(int[][] cpuSets, int nodes, double[] sums, long[] pagesByNode, long pages, long movedPages, CountUnit unit) {
		this.unit = unit;
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
			throws MemtraceException {
		int nodes = table.maxNode(progress) + 1;
		int[][] sets = table.cpuNumbers();
		double[] sums = new double[(sets.length + 1) * (nodes + 1)];
		long[] pagesByNode = new long[nodes + 1];
		long pages = 0;
		long moved = 0;
		for (Sums part : table.scan().run(table.query(producer, fromNs, toNs), COLUMNS, "Accesses by place", progress,
				(from, to) -> new Sums(sets.length, nodes, fromNs, toNs))) {
			for (int i = 0; i < sums.length; i++) {
				sums[i] += part.sums[i];
			}
			for (int i = 0; i <= nodes; i++) {
				pagesByNode[i] += part.pagesByNode[i];
			}
			pages += part.pages;
			moved += part.moved;
		}
		return new AccessPlaces(sets, nodes, sums, pagesByNode, pages, moved, table.info().counts());
	}

	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.CPU_SET, AccessColumn.NODE,
			AccessColumn.READS, AccessColumn.WRITES);

	/** The sums of some pages. */
	private static final class Sums implements AccessScan.Part {
		private final int sets;
		private final int nodes;
		private final long fromNs;
		private final long toNs;
		private final double[] sums;
		private final long[] pagesByNode;
		private long pages;
		private long moved;
		private double[] share = new double[0];
		// of the page that rows come of
		private int page = -1;
		private boolean any;
		private int at = -1;
		private boolean severalNodes;

		Sums(int sets, int nodes, long fromNs, long toNs) {
			this.sets = sets;
			this.nodes = nodes;
			this.fromNs = fromNs;
			this.toNs = toNs;
			sums = new double[(sets + 1) * (nodes + 1)];
			pagesByNode = new long[nodes + 1];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			share = AccessScan.shares(c, fromNs, toNs, share);
			for (int l = leafFrom; l < leafTo; l++) {
				if (c.leaf[l] != page) {
					end();
					page = c.leaf[l];
				}
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					double part = share[c.time[row]];
					if (part == 0) {
						continue;
					}
					int set = c.cpuSet[row] < sets ? c.cpuSet[row] : -1;
					int node = c.node[row];
					sums[(set + 1) * (nodes + 1) + node + 1] += part * ((double) c.reads[row] + c.writes[row]);
					any = true;
					if (node >= 0) {
						severalNodes |= at >= 0 && at != node;
						at = node;
					}
				}
			}
		}

		/** The page is done. */
		@Override
		public void end() {
			if (any) {
				pages++;
				pagesByNode[at + 1]++;
				moved += severalNodes ? 1 : 0;
			}
			any = false;
			at = -1;
			severalNodes = false;
		}
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

	/** What is summed up. */
	public CountUnit unit() {
		return unit;
	}

	/** Largest number of a node plus 1. */
	public int nodeCount() {
		return nodes;
	}
}
