// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

/**
 * Where the programme of one p has to look: what a partition through an interval is worth at p is, as a convex function, at most what
 * lies on the straight line between two known p.
 */
final class Scope {
	/**
	 * What is left out is also worse than the best known partition by this many times the gap between bounds, so that the bounds of a
	 * programme are of use for the next.
	 */
	private static final double WIDER = 3;

	private final BlockValues values;
	private final NodeBounds bounds;
	private final BlockTree tree;
	private final int slices;
	final double p;
	final Deficits below;
	final Deficits above;
	final float partBelow;
	final float partAbove;
	final float most;
	/** p, rounded down. */
	final char here;
	/** Least deficit of what is left out. */
	final double line;
	final double allowed;
	/** For each node whose children are needed the first slice of the intervals that are, by last slice; beyond it: none. */
	final int[][] childFrom;
	/** Nodes whose children are solved; of others that need theirs a bound is used. null: all. */
	boolean[] opened;
	/** Best values of all intervals of all nodes, at j (j + 1) / 2 + i, where deficits are found from them; nothing is left out then. */
	long[][] all;

	/**
	 * @param low the known p below, of those with deficits; null for none
	 * @param known value of the best partition at p that is known, divided by the scale
	 */
	Scope(NodeBounds bounds, BlockValues values, double p, KnownPartition low, KnownPartition high, double known) {
		this.values = values;
		this.bounds = bounds;
		this.tree = values.tree;
		this.slices = values.slices;
		this.childFrom = new int[tree.size()][];
		this.p = p;
		double pLow = low == null ? 0 : low.p;
		double pHigh = high == null ? 1 : high.p;
		double valueLow = low == null ? 0 : low.value;
		double valueHigh = high == null ? values.qualities.gain(0, 0, slices) / values.scale : high.value;
		double part = (p - pLow) / (pHigh - pLow);
		below = low == null ? null : low.deficits;
		above = high == null ? null : high.deficits;
		line = (1 - part) * valueLow + part * valueHigh;
		double gap = Math.max(0, line - known);
		allowed = gap * (1 + WIDER) + KnownPartitions.MARGIN;
		partBelow = (float) (1 - part);
		partAbove = (float) part;
		most = (float) (allowed * (1 + 1e-5));
		here = Deficits.down(p);
	}

	/** Fills in {@link #childFrom} of a node whose parent's is known. */
	void look(int n, int[] from) {
		childFrom[n] = null;
		if (all != null) {
			childFrom[n] = bounds.busy[n] ? bounds.everything : null;
			return;
		}
		if (from == null || !bounds.busy[n] || opened != null && !opened[n]) {
			return;
		}
		char[] a = above == null ? null : above.lower[n];
		char[] b = below == null ? null : below.lower[n];
		char[] upTo = bounds.dividedUpTo[n];
		float known = (above != null && a == null ? partAbove * above.elsewhere(n) : 0)
				+ (below != null && b == null ? partBelow * below.elsewhere(n) : 0);
		int[] to = new int[slices];
		int first = slices;
		boolean some = false;
		for (int j = slices - 1; j >= 0; j--) {
			int end = Math.min(first, j + 1);
			int i = from[j];
			int at = j * (j + 1) / 2;
			while (i < end && (upTo[at + i] < here || known + (a == null ? 0 : partAbove * Deficits.value(a[at + i]))
					+ (b == null ? 0 : partBelow * Deficits.value(b[at + i])) > most)) {
				i++;
			}
			first = i < end ? i : first;
			to[j] = first;
			some |= first <= j;
		}
		childFrom[n] = some ? to : null;
	}

	/** Where the best values of a node are to be kept; null when they are not. */
	long[] keep(int n) {
		if (all != null) {
			all[n] = new long[slices * (slices + 1) / 2];
		}
		return all == null ? null : all[n];
	}

	int count() {
		int count = 0;
		for (int n = 0; opened != null && n < opened.length; n++) {
			count += opened[n] ? 1 : 0;
		}
		return count;
	}

	/** Whether the best values of all intervals of a node are 0. */
	boolean isZero(int n) {
		return values.idle(n) || all == null && p < bounds.cellsUpTo[n];
	}

	/** Whether a node with values is needed, and then for which intervals: by last slice the first slice. */
	int[] from(int n) {
		int parent = tree.parent(n);
		return parent < 0 ? bounds.everything : childFrom[parent];
	}
}
