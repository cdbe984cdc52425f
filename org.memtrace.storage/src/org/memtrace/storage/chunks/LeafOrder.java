// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Arrays;

import org.memtrace.model.store.AccessBatch;

/**
 * Puts rows in the order of a chunk: by leaf, start, end, first access; rows that are equal in this keep the order in which they came. So
 * the order tells who was first. Keeps its memory from call to call; used by one thread.
 */
public final class LeafOrder {
	/** So many rows are compared, more are counted by leaf. */
	private static final int FEW_ROWS = 128;

	private final int[] leafOfCell;
	private final int leafCount;
	private int[] order = new int[0];
	private int[] other = new int[0];

	/**
	 * @param leafOfCell leaf of each cell
	 * @param leafCount number after the largest leaf
	 */
	public LeafOrder(int[] leafOfCell, int leafCount) {
		this.leafOfCell = leafOfCell;
		this.leafCount = leafCount;
	}

	/**
	 * The order of all rows.
	 *
	 * @param rows of which {@link AccessBatch#producer} is the cell
	 * @return numbers of rows, at least as many as there are rows; valid until the next call
	 */
	public int[] of(AccessBatch rows) {
		int n = rows.count;
		if (order.length < n) {
			order = new int[n];
		}
		for (int i = 0; i < n; i++) {
			order[i] = i;
		}
		if (n <= FEW_ROWS) {
			IntSort.sort(order, 0, n, (x, y) -> {
				int c = Integer.compare(leafOfCell[rows.producer[x]], leafOfCell[rows.producer[y]]);
				return c != 0 ? c : AccessBatch.compareTimes(rows, x, rows, y);
			});
		} else {
			byLeaf(rows, n);
			sortLeaves(rows, order, n, leafOfCell);
		}
		return order;
	}

	/** A stable radix sort. */
	private void byLeaf(AccessBatch rows, int n) {
		if (other.length < n) {
			other = new int[n];
		}
		int bits = 32 - Integer.numberOfLeadingZeros(Math.max(1, leafCount - 1));
		int digits = (bits + 10) / 11;
		int width = (bits + digits - 1) / digits;
		int[] counts = new int[(1 << width) + 1];
		for (int d = 0; d < digits; d++) {
			int shift = d * width;
			Arrays.fill(counts, 0);
			for (int i = 0; i < n; i++) {
				counts[(leafOfCell[rows.producer[i]] >>> shift & (1 << width) - 1) + 1]++;
			}
			for (int k = 1; k < counts.length; k++) {
				counts[k] += counts[k - 1];
			}
			for (int i = 0; i < n; i++) {
				int row = order[i];
				other[counts[leafOfCell[rows.producer[row]] >>> shift & (1 << width) - 1]++] = row;
			}
			int[] swap = order;
			order = other;
			other = swap;
		}
	}

	/** Sorts the rows of each leaf; those of a leaf are together. */
	static void sortLeaves(AccessBatch rows, int[] order, int n, int[] leafOfCell) {
		int from = 0;
		while (from < n) {
			int leaf = leafOfCell[rows.producer[order[from]]];
			int to = from + 1;
			while (to < n && leafOfCell[rows.producer[order[to]]] == leaf) {
				to++;
			}
			IntSort.sort(order, from, to, (x, y) -> AccessBatch.compareTimes(rows, x, rows, y));
			from = to;
		}
	}
}
