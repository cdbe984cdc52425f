// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

/** Steps of the programme along a column: what is done for all starts of intervals that end in one slice. Loops that can be vectors. */
final class Columns {
	/** 2^52: a double between this and twice this has a whole number in its low bits. */
	static final double WHOLE = 0x1p52;

	private Columns() {
	}

	/** The least p at which a block could be as good as its cells. */
	static float cellsUpTo(double[] totals, long[] gain, long more, int end) {
		double least = 1;
		for (int i = 0; i < end; i++) {
			if (totals[i] != WHOLE) {
				double loss = totals[i] - WHOLE - gain[i] - more;
				least = loss > 0 ? Math.min(least, loss / (loss + gain[i])) : 0;
			}
		}
		return (float) least * (1 - 0x1p-22f);
	}

	static void upTo(char[] to, int at, double[] totals, long[] gain, long[] bound, int bits, long surely, int end) {
		for (int i = 0; i < end; i++) {
			if (totals[i] == WHOLE && gain[i] == 0) {
				to[at + i] = 0; // nothing happens: one block is as good as any division, exactly
				continue;
			}
			double loss = Math.max(0, totals[i] - WHOLE - gain[i]) + surely;
			double p = loss / (loss + Math.max(0, gain[i] - (bound[i] >> bits)));
			to[at + i] = (char) (Deficits.down(p) + 2);
		}
	}

	/**
	 * The block, or what its division is worth at most where that may be more. A division is worth less than the bound by far more than what
	 * counts as equal, so where the bound is hardly above the block the block is the best; else the bound is seen to be chosen.
	 */
	static void optimistic(long[] base, long[] block, long[] bound, long tie, char[] upTo, int at, char here, int from, int end) {
		for (int i = from; i < end; i++) {
			base[i] = upTo[at + i] < here || bound[i] <= block[i] + tie ? block[i] : bound[i];
		}
	}

	static void differences(char[] to, int at, long[] best, long[] children, double unit, int from, int end) {
		for (int i = from; i < end; i++) {
			to[at + i] = Deficits.down((best[i] - children[i]) * unit);
		}
	}

	static void losses(double[] loss, double[] before, double[] logLength, double end, double logRows, double q, int from,
			int to) {
		for (int i = from; i < to; i++) {
			loss[i] = q * ((end - before[i]) * (logLength[i] + logRows)) + WHOLE;
		}
	}

	/** The loss when slices have different lengths. What rounding makes negative becomes 0. */
	static void unequal(double[] loss, double[] before, double[] logLength, double end, double logRows, double[] weighted,
			double q, int from, int to) {
		double weightedEnd = weighted[to];
		for (int i = from; i < to; i++) {
			loss[i] = Math.max(0, q * ((end - before[i]) * (logLength[i] + logRows) - (weightedEnd - weighted[i]))) + WHOLE;
		}
	}

	static void max(long[] to, long[] a, long[] b, int from, int end) {
		for (int i = from; i < end; i++) {
			to[i] = Math.max(a[i], b[i]);
		}
	}

	static void choices(byte[] to, int at, long[] column, long[] base, long[] block, long mask, long tie, int from, int end) {
		for (int i = from; i < end; i++) {
			to[at + i] = (byte) (start(column[i], base[i], mask, tie, i) | (int) (block[i] - (base[i] - tie) >> 63) & 0x80);
		}
	}

	static void choices(short[] to, int at, long[] column, long[] base, long[] block, long mask, long tie, int from, int end) {
		for (int i = from; i < end; i++) {
			to[at + i] = (short) (start(column[i], base[i], mask, tie, i) | (int) (block[i] - (base[i] - tie) >> 63) & 0x8000);
		}
	}

	/** Start of the last block of the best of (i, j): no cut before a cut; of exact equals the earliest. */
	static int start(long value, long base, long mask, long tie, int i) {
		return base >= (value & ~mask) - tie ? i : (int) (mask - (value & mask));
	}

	static void orMask(long[] column, long[] base, long mask, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = base[i] | mask;
		}
	}

	static void apply(long[] column, int count, long[] b1, long x1, long[] b2, long x2, long[] b3, long x3, int from, int end) {
		switch (count) {
		case 1 -> max1(column, b1, x1, from, end);
		case 2 -> max2(column, b1, x1, b2, x2, from, end);
		default -> max3(column, b1, x1, b2, x2, b3, x3, from, end);
		}
	}

	static void max1(long[] column, long[] b1, long x1, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(column[i], x1 + b1[i]);
		}
	}

	static void max2(long[] column, long[] b1, long x1, long[] b2, long x2, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(Math.max(column[i], x1 + b1[i]), x2 + b2[i]);
		}
	}

	static void max3(long[] column, long[] b1, long x1, long[] b2, long x2, long[] b3, long x3, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(Math.max(Math.max(column[i], x1 + b1[i]), x2 + b2[i]), x3 + b3[i]);
		}
	}

	static void max4(long[] column, long[] b1, long x1, long[] b2, long x2, long[] b3, long x3, long[] b4, long x4, int from,
			int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(Math.max(Math.max(column[i], x1 + b1[i]), x2 + b2[i]), Math.max(x3 + b3[i], x4 + b4[i]));
		}
	}

	/** The best values without what is below them. */
	static void finish(long[] best, long[] column, long mask, int from, int end) {
		for (int i = from; i < end; i++) {
			best[i] = column[i] & ~mask;
		}
	}

	static void add(long[] sum, long[] x, int from, int end) {
		for (int i = from; i < end; i++) {
			sum[i] += x[i];
		}
	}

	static void finishAndAdd(long[] best, long[] column, long mask, long[] sum, int from, int end) {
		for (int i = from; i < end; i++) {
			long v = column[i] & ~mask;
			best[i] = v;
			sum[i] += v;
		}
	}

	static void finishAndCopy(long[] best, long[] column, long mask, long[] sum, int from, int end) {
		for (int i = from; i < end; i++) {
			long v = column[i] & ~mask;
			best[i] = v;
			sum[i] = v;
		}
	}
}
