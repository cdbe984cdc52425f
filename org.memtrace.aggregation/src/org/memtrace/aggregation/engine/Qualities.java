// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.SharingGaps;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Gain and loss of every candidate (node, interval): per node a triangle of gains and prefix sums of the values; the loss is
 * S log2 c - gain, where slices may be cells of different lengths ({@link SliceLengths}). Formulas: docs/how/aggregation.md, "Quality of a
 * block".
 */
final class Qualities {
	final MicroscopicModel model;
	final BlockTree tree;
	final Chunks chunks;
	final int slices;
	/** Gains of node n; null when all are 0. */
	private final Gains[] gain;
	/** Sum of all types over slices before t; null when all are 0. */
	final double[][] before;
	final double[] logRows;
	final SliceLengths lengths;
	/** Of unequal slices the sum of S_t log2 w_t over slices before t, for each node that has values; else null. */
	final double[][] weighted;
	final boolean equalTypes;
	private final double[] scale;
	private final int types;

	private Qualities(MicroscopicModel model, BlockTree tree, AggregationOptions options) {
		this.model = model;
		this.tree = tree;
		this.chunks = Chunks.of(tree);
		this.slices = model.sliceCount();
		this.gain = new Gains[tree.size()];
		this.before = new double[tree.size()][];
		this.logRows = new double[tree.size()];
		for (int n = 0; n < tree.size(); n++) {
			logRows[n] = Entropy.log2(tree.weight(n));
		}
		this.lengths = SliceLengths.of(model);
		this.weighted = lengths.isUniform() ? null : new double[tree.size()][];
		this.scale = AggregationOptions.typeScales(model, options.equalTypes());
		this.equalTypes = options.equalTypes();
		// negative parts of values are dimensions of their own
		this.types = model.typeCount() * (model.hasNegativeValues() ? 2 : 1);
	}

	/** Computes the qualities of all nodes; needs about 4 T^2 bytes for each node that has values, 3 T^2 for a row. */
	static Qualities compute(MicroscopicModel model, BlockTree tree, AggregationOptions options, Progress progress)
			throws CancelledException {
		Qualities q = new Qualities(SharingGaps.closed(model), tree, options);
		progress.begin("Computing gains", tree.size());
		double[][] partial = new double[q.chunks.count()][];
		double[][] sums = new double[tree.size()][];
		Parallel.run(q.chunks.count(), progress, c -> {
			int parent = q.chunks.parent[c];
			for (int n = q.chunks.to[c] - 1; n >= q.chunks.from[c]; n--) {
				progress.check();
				double[] s = q.computeNode(n, sums);
				int p = tree.parent(n);
				if (s != null && p >= 0) {
					if (p == parent) {
						partial[c] = add(partial[c], s);
					} else {
						sums[p] = add(sums[p], s);
					}
				}
			}
			progress.worked(q.chunks.to[c] - q.chunks.from[c]);
		});
		int chunk = q.chunks.count() - 1;
		for (int t = q.chunks.top.length - 1; t >= 0; t--) {
			progress.check();
			int n = q.chunks.top[t];
			for (; chunk >= 0 && q.chunks.from[chunk] > n; chunk--) {
				int p = q.chunks.parent[chunk];
				if (partial[chunk] != null) {
					sums[p] = add(sums[p], partial[chunk]);
					partial[chunk] = null;
				}
			}
			double[] s = q.computeNode(n, sums);
			if (s != null && tree.parent(n) >= 0) {
				sums[tree.parent(n)] = add(sums[tree.parent(n)], s);
			}
			progress.worked(1);
		}
		return q;
	}

	/** Adds; the first summand may be kept as the sum. */
	private static double[] add(double[] sum, double[] s) {
		if (sum == null) {
			return s;
		}
		for (int i = 0; i < sum.length; i++) {
			sum[i] += s[i];
		}
		return sum;
	}

	/**
	 * Fills in the tables of one node.
	 *
	 * @param sums prefix sums of the children of inner nodes; the entry is taken
	 * @return prefix sums of values, then of information, for each type; null when everything is 0
	 */
	private double[] computeNode(int n, double[][] sums) {
		double[] s = sums[n];
		sums[n] = null;
		boolean sparse = false;
		if (tree.isLeaf(n)) {
			s = new double[2 * types * (slices + 1)];
			int values = fillLeaf(n, s);
			if (values == 0) {
				return null;
			}
			// one value per type and one row: nothing is ever gained
			sparse = values == 1 && tree.weight(n) == 1;
		} else if (s == null) {
			return null;
		}
		int width = slices + 1;
		double[] total = new double[width];
		for (int k = 0; k < types; k++) {
			for (int t = 0; t < width; t++) {
				total[t] += s[k * width + t];
			}
		}
		before[n] = total;
		if (weighted != null) {
			weighted[n] = lengths.weighted(total);
		}
		if (!sparse) {
			double[] g = gains(n, s);
			gain[n] = g == null ? null : isRow(n) ? new RowGains(g) : new NodeGains(g);
		}
		return s;
	}

	/**
	 * Goes through the values of a leaf of a tree that are not 0, by leaf, slice and type.
	 */
	static final class Cells {
		private final MicroscopicModel model;
		private final double[] scale;
		private final int types;
		private final int leafTo;
		private int leaf;
		private int cell;
		private int cellTo;
		private double weight;
		private int nextSlice;
		/** A type of the model; negative values are those of a type that is the number of types further. */
		int type;
		int slice;
		/** Above 0. */
		double value;
		/** v log2 v of the cell, or the sum over the cells that it stands for. */
		double information;

		/**
		 * @param scale what values are multiplied by, for each type
		 */
		Cells(MicroscopicModel model, BlockTree tree, int n, double[] scale) {
			this.model = model;
			this.scale = scale;
			this.types = model.typeCount();
			this.leaf = tree.leafFrom(n) - 1;
			this.leafTo = tree.leafTo(n);
		}

		/** Goes to the next value; false when there is none. */
		boolean next() {
			while (true) {
				while (cell == cellTo) {
					if (++leaf >= leafTo) {
						return false;
					}
					cell = model.cellFrom(leaf);
					cellTo = model.cellTo(leaf);
					weight = model.hierarchy().leafWeight(leaf);
					slice = 0;
					nextSlice = types;
				}
				int c = cell++;
				int key = model.key(c);
				int k = model.type(c);
				while (key >= nextSlice) {
					slice++;
					nextSlice += types;
				}
				double v = model.value(c) * scale[k];
				if (v != 0) {
					type = v < 0 ? k + types : k;
					value = Math.abs(v);
					information = model.isGrouped() ? model.information(c, scale[k])
							: weight == 1 ? Entropy.f(value) : weight * Entropy.f(value / weight);
					return true;
				}
			}
		}
	}

	/** Prefix sums of a leaf; returns the largest number of values of one type. */
	private int fillLeaf(int n, double[] s) {
		int width = slices + 1;
		int information = types * width;
		int[] count = new int[types];
		Cells cells = new Cells(model, tree, n, scale);
		while (cells.next()) {
			int at = cells.type * width + cells.slice + 1;
			count[cells.type]++;
			s[at] += cells.value;
			s[information + at] += cells.information;
		}
		int most = 0;
		for (int type = 0; type < types; type++) {
			most = Math.max(most, count[type]);
			for (int row = type * width; row <= information + type * width; row += information) {
				for (int t = 1; t < width; t++) {
					s[row + t] += s[row + t - 1];
				}
			}
		}
		return most;
	}

	private double[] gains(int n, double[] s) {
		int width = slices + 1;
		int information = types * width;
		boolean cells = isRow(n);
		double[] g = new double[cells ? slices * (slices - 1) / 2 : slices * (slices + 1) / 2];
		boolean some = false;
		for (int k = 0; k < types; k++) {
			int o = k * width;
			if (s[o + slices] == 0) {
				continue;
			}
			for (int j = 0; j < slices; j++) {
				double end = s[o + j + 1];
				if (end == 0) {
					continue;
				}
				double informationEnd = s[information + o + j + 1];
				double last = 0;
				double previous = 0;
				int at = index(n, j);
				int i = j;
				if (cells) {
					i = j - 1;
					previous = end - s[o + j];
				}
				for (; i >= 0; i--) {
					double sum = end - s[o + i];
					if (sum != previous) {
						last = Entropy.gain(sum, informationEnd - s[information + o + i]);
						previous = sum;
						some |= last > 0;
					}
					g[at + i] += last;
				}
			}
		}
		return some ? g : null;
	}

	/** Whether the node is one row of weight 1, whose single slices are not stored. */
	boolean isRow(int n) {
		return tree.isLeaf(n) && tree.weight(n) == 1;
	}

	/** Index of (0, j) in the gains of a node; (i, j) is i further. A row has none for (j, j). */
	private int index(int n, int j) {
		return isRow(n) ? j * (j - 1) / 2 : j * (j + 1) / 2;
	}

	/** Whether all gains of a node are 0. */
	boolean gainless(int n) {
		return gain[n] == null;
	}

	/**
	 * Gains of the intervals (n, i, j) for from <= i <= j in units of 2^exponent, rounded to the nearest, into {@code to[i]}.
	 */
	void copyGains(int n, int j, int from, int exponent, long[] to) {
		Gains g = gain[n];
		if (g == null) {
			Arrays.fill(to, from, j + 1, 0);
			return;
		}
		int count = j + 1 - from;
		if (isRow(n)) {
			to[j] = 0;
			count--;
		}
		g.copy(index(n, j) + from, to, from, count);
		int down = exponent - g.exponent;
		if (down > 62) {
			Arrays.fill(to, from, from + count, 0);
		} else if (down > 0) {
			shiftDown(to, from, from + count, down);
		} else if (down < 0) {
			shiftUp(to, from, from + count, -down);
		}
	}

	/**
	 * Values of the blocks (n, i, j) for from <= i <= j: gain less what is in {@code loss[i] + whole}, in units of 2^exponent, shifted
	 * left by {@code shift}.
	 *
	 * @param loss whole numbers in the low bits of doubles between {@code whole} and twice that, a power of two
	 */
	void blocks(int n, int j, int from, int exponent, double[] loss, double whole, int shift, long[] to) {
		Gains g = gain[n];
		long wholeBits = Double.doubleToRawLongBits(whole);
		int down = g == null ? 0 : exponent - g.exponent;
		if (down <= 0 || down > 62) {
			copyGains(n, j, from, exponent, to);
			subtract(to, loss, wholeBits, shift, from, j + 1);
			return;
		}
		int end = j + 1;
		if (isRow(n)) {
			end = j;
			to[j] = wholeBits - Double.doubleToRawLongBits(loss[j]) << shift;
		}
		g.blocks(index(n, j), down, loss, wholeBits, shift, to, from, end);
	}

	/** One of {@link #blocks}, with its {@code loss}. */
	long block(int n, int i, int j, int exponent, double loss, double whole, int shift) {
		Gains g = gain[n];
		long units = g == null || isRow(n) && i == j ? 0 : g.units(index(n, j) + i, exponent);
		return units - (Double.doubleToRawLongBits(loss) - Double.doubleToRawLongBits(whole)) << shift;
	}

	private static void subtract(long[] block, double[] loss, long wholeBits, int shift, int from, int to) {
		for (int i = from; i < to; i++) {
			block[i] = block[i] - (Double.doubleToRawLongBits(loss[i]) - wholeBits) << shift;
		}
	}

	private static void shiftDown(long[] to, int from, int end, int bits) {
		long half = 1L << bits - 1;
		for (int i = from; i < end; i++) {
			to[i] = to[i] + half >> bits;
		}
	}

	private static void shiftUp(long[] to, int from, int end, int bits) {
		for (int i = from; i < end; i++) {
			to[i] <<= bits;
		}
	}

	double gain(int n, int first, int end) {
		return gain[n] == null || isRow(n) && first == end - 1 ? 0 : gain[n].at(index(n, end - 1) + first);
	}

	/**
	 * Gains of one node as whole multiples of 2^exponent, the smallest power of two of which the largest gain is at most 2^bits:
	 * rounding up cannot make it more, so that no sum of two leaves a long. Nodes with equal values have equal gains, and 0 is 0.
	 */
	abstract static class Gains {
		final int exponent;
		private final double unit;
		private final double perUnit;

		Gains(double[] gains, int bits) {
			double max = 0;
			for (double g : gains) {
				max = Math.max(max, g);
			}
			this.exponent = Math.max(Double.MIN_EXPONENT, Math.getExponent(max) + 1 - bits);
			this.unit = Math.scalb(1.0, exponent);
			this.perUnit = Math.scalb(1.0, -exponent);
		}

		/** The multiple of the unit, at most 2^bits; multiplying by a power of two is exact. */
		final long units(double gain) {
			return (long) Math.rint(gain * perUnit);
		}

		abstract long units(int i);

		/** In units of 2^otherExponent, rounded to the nearest. */
		final long units(int i, int otherExponent) {
			int down = otherExponent - exponent;
			return down > 62 ? 0 : down > 0 ? units(i) + (1L << down - 1) >> down : units(i) << -down;
		}

		abstract void copy(int from, long[] to, int first, int count);

		/** See {@link Qualities#blocks}: gains from index {@code at} on, divided by 2^down. */
		abstract void blocks(int at, int down, double[] loss, long wholeBits, int shift, long[] to, int from, int end);

		abstract long bytes();

		final double at(int i) {
			return units(i) * unit;
		}
	}

	/** Gains of groups: 8 bytes, 52 bits, the precision of a double. */
	static final class NodeGains extends Gains {
		private final long[] value;

		NodeGains(double[] gains) {
			super(gains, 52);
			value = new long[gains.length];
			for (int i = 0; i < gains.length; i++) {
				value[i] = units(gains[i]);
			}
		}

		@Override
		long units(int i) {
			return value[i];
		}

		@Override
		void copy(int from, long[] to, int first, int count) {
			System.arraycopy(value, from, to, first, count);
		}

		@Override
		void blocks(int at, int down, double[] loss, long wholeBits, int shift, long[] to, int from, int end) {
			long half = 1L << down - 1;
			long[] v = value;
			for (int i = from; i < end; i++) {
				to[i] = (v[at + i] + half >> down) - (Double.doubleToRawLongBits(loss[i]) - wholeBits) << shift;
			}
		}

		@Override
		long bytes() {
			return 40 + 8L * value.length;
		}
	}

	/** Gains of rows, which are half of the nodes: 6 bytes, 46 bits: the error of a gain is below 1.5e-14 of the largest of its row. */
	private static final class RowGains extends Gains {
		private final int[] high;
		private final char[] low;

		RowGains(double[] gains) {
			super(gains, 46);
			high = new int[gains.length];
			low = new char[gains.length];
			for (int i = 0; i < gains.length; i++) {
				long v = units(gains[i]);
				high[i] = (int) (v >>> 16);
				low[i] = (char) v;
			}
		}

		@Override
		long units(int i) {
			return (long) high[i] << 16 | low[i];
		}

		@Override
		void copy(int from, long[] to, int first, int count) {
			for (int x = 0; x < count; x++) {
				to[first + x] = ((long) high[from + x] << 16) + low[from + x];
			}
		}

		@Override
		void blocks(int at, int down, double[] loss, long wholeBits, int shift, long[] to, int from, int end) {
			long half = 1L << down - 1;
			int[] h = high;
			char[] l = low;
			for (int i = from; i < end; i++) {
				long v = ((long) h[at + i] << 16) + l[at + i];
				to[i] = (v + half >> down) - (Double.doubleToRawLongBits(loss[i]) - wholeBits) << shift;
			}
		}

		@Override
		long bytes() {
			return 64 + 6L * high.length;
		}
	}

	double sum(int n, int first, int end) {
		double[] b = before[n];
		return b == null ? 0 : b[end] - b[first];
	}

	/** Gain and loss together: S log2 c. */
	double total(int n, int first, int end) {
		double total = sum(n, first, end) * (logRows[n] + lengths.log(first, end));
		return weighted == null || weighted[n] == null ? total : Math.max(0, total - (weighted[n][end] - weighted[n][first]));
	}

	/**
	 * A value that is small for this model although nearly all lies in one slice: sums over unequal slices are differences of numbers
	 * that are up to a thousand times this. 0 for equal slices.
	 */
	double leastScale() {
		return weighted == null ? 0 : 1e-3 * sum(0, 0, slices) * (logRows[0] + Entropy.log2(slices));
	}

	double loss(int n, int first, int end) {
		return Math.max(0, total(n, first, end) - gain(n, first, end));
	}

	/** Bytes of the tables. */
	long memoryBytes() {
		long bytes = 0;
		for (int n = 0; n < gain.length; n++) {
			bytes += gain[n] == null ? 0 : gain[n].bytes();
			bytes += before[n] == null ? 0 : (weighted == null ? 1 : 2) * (16 + 8L * before[n].length);
		}
		return bytes + 28L * gain.length;
	}
}
