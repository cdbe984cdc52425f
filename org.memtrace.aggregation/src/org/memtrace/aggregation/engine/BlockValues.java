// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Values of blocks and rows in fixed point: a value is a multiple of 2^exponent, shifted left by some bits, in which the start of the last
 * block has room. For all threads.
 */
final class BlockValues {
	/** Bits of a value of the programme: its largest is below 2^50 units. */
	private static final int VALUE_BITS = 50;
	/** A block is surely better than its division when it is by this part of gain and loss of the root, and what rounding makes of a cell. */
	private static final double SURELY = 1e-10;

	final BlockTree tree;
	final Qualities qualities;
	final int slices;
	/** A value is a multiple of 2^exponent, shifted left by {@link #indexBits}; below it is the start of the last block. */
	final int exponent;
	final double perUnit;
	final int indexBits;
	final long mask;
	/** Values that differ by no more are equal, and equals go to the coarser partition. */
	final long tie;
	/** {@link #SURELY} in units. */
	final long surely;
	/** What deficits are divided by, and its unit in shifted values. */
	final double scale;
	final double perShiftedUnit;
	/** log2 of the length of slices i to j at [j][i]. */
	final double[][] logLengths;
	private final ArrayDeque<Scratch> scratches = new ArrayDeque<>();

	/** Work space of one thread. */
	static final class Scratch {
		/** Best value of (i, j) of the node at [j][i]. */
		final long[][] best;
		/** Values of the blocks that end in a column, then of block or children. */
		final long[] block;
		final long[] base;
		/** Best value and, below, the start of the last block. */
		final long[] column;
		/** What a division is worth at most. */
		final long[] bound;
		final double[] loss;
		final int[] cuts;

		Scratch(int slices) {
			best = new long[slices][];
			for (int j = 0; j < slices; j++) {
				best[j] = new long[j + 1];
			}
			block = new long[slices];
			base = new long[slices];
			column = new long[slices];
			bound = new long[slices];
			loss = new double[slices];
			cuts = new int[slices];
		}
	}

	BlockValues(BlockTree tree, Qualities qualities, int slices) {
		this.tree = tree;
		this.qualities = qualities;
		this.slices = slices;
		this.indexBits = 64 - Long.numberOfLeadingZeros(slices);
		this.mask = (1L << indexBits) - 1;
		int bits = Math.min(VALUE_BITS, 61 - indexBits);
		// gain + loss of the root is below 2^bits units; no value of a programme is further from 0, no sum of two leaves a long
		double most = Math.max(qualities.gain(0, 0, slices) + qualities.loss(0, 0, slices), qualities.leastScale());
		this.exponent = Math.max(Double.MIN_EXPONENT, Math.getExponent(Math.max(most, Double.MIN_NORMAL)) + 1 - bits);
		this.perUnit = Math.scalb(1.0, -exponent);
		this.tie = Math.max(1, Math.round(Aggregator.TOLERANCE * most * perUnit)) << indexBits;
		this.scale = Math.max(most, Double.MIN_NORMAL);
		this.perShiftedUnit = 1 / (scale * perUnit) / (1L << indexBits);
		this.surely = (long) ((SURELY + tree.weight(0) * slices * 0x1p-50) * scale * perUnit) + 1;
		this.logLengths = new double[slices][];
		for (int j = 0; j < slices; j++) {
			logLengths[j] = new double[j + 1];
			for (int i = 0; i <= j; i++) {
				logLengths[j][i] = qualities.lengths.log(i, j + 1);
			}
		}
	}

	/** What was kept to be faster is forgotten. */
	void forget() {
		synchronized (scratches) {
			scratches.clear();
		}
	}

	/** Whether no loss of the node is more than what counts as equal; then each interval is one block. */
	boolean calm(int n, double q) {
		return q * qualities.total(n, 0, slices) * perUnit <= tie >> indexBits;
	}

	/**
	 * Nodes whose best value is 0 for every interval: nothing below, or a row with one value per type. Several rows that are kept whole can
	 * have no gain either, when one of them has all values, but they lose something in every interval.
	 */
	boolean idle(int n) {
		return qualities.before[n] == null || qualities.gainless(n) && qualities.isRow(n);
	}

	/** What dividing (n, i, j) is worth at most: the gains of the children without loss, and what rounding makes of it. */
	void bounds(int n, double p, int j, int from, Scratch scratch) {
		long[] bound = scratch.bound;
		Arrays.fill(bound, from, j + 1, 0);
		for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
			if (!qualities.gainless(m)) {
				qualities.copyGains(m, j, from, exponent, scratch.column);
				Columns.add(bound, scratch.column, from, j + 1);
			}
		}
		for (int i = from; i <= j; i++) {
			bound[i] = (long) (p * bound[i]) + surely << indexBits;
		}
	}

	/** Value of the block (n, i, j), as {@link #blocks} has it. */
	long blockValue(int n, int i, int j, double q) {
		double loss = (qualities.before[n][j + 1] - qualities.before[n][i]) * (logLengths[j][i] + qualities.logRows[n]);
		loss = qualities.weighted == null ? q * perUnit * loss + Columns.WHOLE
				: Math.max(0, q * perUnit * (loss - (qualities.weighted[n][j + 1] - qualities.weighted[n][i]))) + Columns.WHOLE;
		return qualities.block(n, i, j, exponent, loss, Columns.WHOLE, indexBits);
	}

	/** Adds the blocks of a row without gains: its values one by one, where each of them is far more than what counts as equal. */
	void readRow(int n, double q, int first, int end, Chunks.IntList nodes, Chunks.IntList intervals) {
		double[] before = qualities.before[n];
		boolean plain = qualities.weighted == null;
		for (int t = first; t < end && plain; t++) {
			double v = before[t + 1] - before[t];
			plain = v == 0 || q * v * perUnit > 8 * (tie >> indexBits);
		}
		Scratch scratch = plain ? null : takeScratch();
		if (!plain) {
			leafCuts(n, q, first, end, scratch);
		}
		while (end > first) {
			int c = plain ? end - 1 : scratch.cuts[end - 1];
			while (plain && c > first && before[c + 1] == before[c] && before[c] == before[c - 1]) {
				c--;
			}
			nodes.add(n);
			intervals.add(c << 16 | end);
			end = c;
		}
		if (!plain) {
			giveScratch(scratch);
		}
	}

	/** Values of the blocks (n, i, j) for from <= i <= j: gain - q * S * log2 c. */
	void blocks(int n, double q, int j, int from, Scratch scratch) {
		losses(n, q, j, from, scratch);
		qualities.blocks(n, j, from, exponent, scratch.loss, Columns.WHOLE, indexBits, scratch.block);
	}

	/** q * S * log2 c in units, and {@link Columns#WHOLE}. */
	void losses(int n, double q, int j, int from, Scratch scratch) {
		double[] before = qualities.before[n];
		if (qualities.weighted == null) {
			Columns.losses(scratch.loss, before, logLengths[j], before[j + 1], qualities.logRows[n], q * perUnit, from, j + 1);
		} else {
			Columns.unequal(scratch.loss, before, logLengths[j], before[j + 1], qualities.logRows[n], qualities.weighted[n], q * perUnit, from,
					j + 1);
		}
	}

	/**
	 * best(i, j) for from <= i <= j: base(i, j), or best(i, c - 1) + base(c, j) where that is more. A start c of which the block (c, j) is
	 * better divided again is never needed. Up to four starts wait until they are applied together, along i: all arrays have the same
	 * index, so that the compiler uses vector instructions. What c itself needs of those that wait is done at once.
	 */
	void column(int j, int from, long[] base, Scratch scratch) {
		long[] column = scratch.column;
		long[][] best = scratch.best;
		long m = mask;
		long[] b1 = null;
		long[] b2 = null;
		long[] b3 = null;
		long x1 = 0;
		long x2 = 0;
		long x3 = 0;
		int waiting = 0;
		int gap = 0;
		for (int c = j; c > from; c--) {
			long value = column[c];
			if (waiting > 0) {
				value = Math.max(value, x1 + b1[c]);
				if (waiting > 1) {
					value = Math.max(value, x2 + b2[c]);
					if (waiting > 2) {
						value = Math.max(value, x3 + b3[c]);
					}
				}
				column[c] = value;
			}
			if ((value & m) == m) {
				long x = base[c] + (m - c);
				long[] b = best[c - 1];
				gap = 0;
				switch (waiting++) {
				case 0 -> {
					x1 = x;
					b1 = b;
				}
				case 1 -> {
					x2 = x;
					b2 = b;
				}
				case 2 -> {
					x3 = x;
					b3 = b;
				}
				default -> {
					Columns.max4(column, b1, x1, b2, x2, b3, x3, b, x, from, c);
					waiting = 0;
				}
				}
			} else if (waiting > 0 && ++gap == 3) {
				Columns.apply(column, waiting, b1, x1, b2, x2, b3, x3, from, c);
				waiting = 0;
			}
		}
		if (waiting > 0) {
			Columns.apply(column, waiting, b1, x1, b2, x2, b3, x3, from, from + 1);
		}
	}

	/** cuts[j] for j in [first, end): start of the last block of (n, first, j) of a leaf. */
	void leafCuts(int n, double q, int first, int end, Scratch scratch) {
		boolean calm = calm(n, q);
		for (int j = first; j < end; j++) {
			blocks(n, q, j, first, scratch);
			Columns.orMask(scratch.column, scratch.block, mask, first, j + 1);
			if (!calm) {
				column(j, first, scratch.block, scratch);
			}
			Columns.finish(scratch.best[j], scratch.column, mask, first, j + 1);
			scratch.cuts[j] = Columns.start(scratch.column[first], scratch.block[first], mask, tie, first);
		}
	}

	Scratch takeScratch() {
		synchronized (scratches) {
			Scratch s = scratches.poll();
			return s != null ? s : new Scratch(slices);
		}
	}

	void giveScratch(Scratch s) {
		synchronized (scratches) {
			scratches.push(s);
		}
	}
}
