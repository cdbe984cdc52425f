// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

/** What is outside of the intervals of nodes, at best; from it deficits. Work space of one thread. */
final class OutsideDeficits {
	private final BlockValues values;
	private final boolean[] busy;
	private final int slices;
	private final double p;
	private final long[][] all;
	private final long best;
	private final long least;
	private final char cap;
	private final char[] far;
	private final char[][] blocks;
	private final char[][] divisions;
	/** What is outside of (i, j) at [i][j], and of intervals that are used from slice i to an end j. */
	private final long[][] interval;
	private final long[] row;
	/** The latter at [j][i]. */
	private final long[][] ending;
	private final boolean[] some;
	private final long[] column;
	private final BlockValues.Scratch scratch;

	OutsideDeficits(BlockValues values, boolean[] busy, double p, long[][] all, long best, long least, char cap,
			char[][] blocks, char[][] divisions) {
		this.values = values;
		this.busy = busy;
		this.slices = values.slices;
		this.interval = new long[slices][slices];
		this.row = new long[slices];
		this.ending = new long[slices][slices];
		this.some = new boolean[slices];
		this.column = new long[slices];
		this.scratch = new BlockValues.Scratch(slices);
		this.p = p;
		this.all = all;
		this.best = best;
		this.least = least;
		this.cap = cap;
		this.blocks = blocks;
		this.divisions = divisions;
		this.far = new char[slices * (slices + 1) / 2];
		Arrays.fill(far, cap);
	}

	/**
	 * Finds the deficits of one node.
	 *
	 * @param around values of the best partitions that divide (parent, i, j), at j (j + 1) / 2 + i; null for none
	 * @return the same for this node; null for none
	 */
	long[] node(int n, long[] around, boolean root) {
		long[] mine = all[n];
		boolean any = root;
		for (int i = 0; i < slices; i++) {
			long[] to = interval[i];
			boolean here = root && i == 0;
			for (int j = i; j < slices; j++) {
				int at = j * (j + 1) / 2 + i;
				long v = around == null ? Survivors.NONE : around[at];
				boolean follow = v > Survivors.NONE / 2 && v >= least;
				to[j] = follow ? v - mine[at] : Survivors.NONE;
				here |= follow;
			}
			some[i] = here;
			any |= here;
		}
		if (!any) {
			blocks[n] = far;
			divisions[n] = far;
			return null;
		}
		if (root) {
			interval[0][slices - 1] = 0;
		}
		begin(mine);
		return end(n, mine);
	}

	/** An interval may begin before what is used of it: the best of the node is before it. */
	private void begin(long[] mine) {
		long[][] b = new long[4][];
		long[] x = new long[4];
		for (int i = 0; i < slices; i++) {
			System.arraycopy(interval[i], i, row, i, slices - i);
			int waiting = 0;
			int at = i * (i - 1) / 2; // (., i - 1)
			for (int before = 0; before < i; before++) {
				if (some[before]) {
					b[waiting] = interval[before];
					x[waiting++] = mine[at + before];
					if (waiting == 4) {
						Columns.max4(row, b[0], x[0], b[1], x[1], b[2], x[2], b[3], x[3], i, slices);
						waiting = 0;
					}
				}
			}
			if (waiting > 0) {
				Columns.apply(row, waiting, b[0], x[0], b[1], x[1], b[2], x[2], i, slices);
			}
			for (int j = i; j < slices; j++) {
				ending[j][i] = row[j];
			}
		}
	}

	/** It may end behind it as well. */
	private long[] end(int n, long[] mine) {
		long[][] b = new long[4][];
		long[] x = new long[4];
		int size = slices * (slices + 1) / 2;
		char[] ofBlocks = new char[size];
		char[] ofDivisions = values.tree.isLeaf(n) ? null : new char[size];
		long[] with = busy[n] ? new long[size] : null;
		for (int j = 0; j < slices; j++) {
			System.arraycopy(ending[j], 0, column, 0, j + 1);
			int waiting = 0;
			for (int last = j + 1; last < slices; last++) {
				b[waiting] = ending[last];
				x[waiting++] = mine[last * (last + 1) / 2 + j + 1];
				if (waiting == 4) {
					Columns.max4(column, b[0], x[0], b[1], x[1], b[2], x[2], b[3], x[3], 0, j + 1);
					waiting = 0;
				}
			}
			if (waiting > 0) {
				Columns.apply(column, waiting, b[0], x[0], b[1], x[1], b[2], x[2], 0, j + 1);
			}
			int at = j * (j + 1) / 2;
			values.blocks(n, 1 - p, j, 0, scratch);
			tell(ofBlocks, at, scratch.block, j);
			if (ofDivisions != null) {
				long[] sum = scratch.base;
				Arrays.fill(sum, 0, j + 1, 0);
				for (int m = n + 1; m < values.tree.end(n); m = values.tree.end(m)) {
					if (all[m] != null) {
						for (int i = 0; i <= j; i++) {
							sum[i] += all[m][at + i];
						}
					}
				}
				tell(ofDivisions, at, sum, j);
				for (int i = 0; with != null && i <= j; i++) {
					with[at + i] = column[i] > Survivors.NONE / 2 ? column[i] + sum[i] : Survivors.NONE;
				}
			}
		}
		blocks[n] = ofBlocks;
		divisions[n] = ofDivisions;
		return with;
	}

	private void tell(char[] to, int at, long[] value, int j) {
		for (int i = 0; i <= j; i++) {
			to[at + i] = column[i] > Survivors.NONE / 2
					? (char) Math.min(cap, Deficits.down((best - column[i] - value[i]) * values.perShiftedUnit)) : cap;
		}
	}
}
