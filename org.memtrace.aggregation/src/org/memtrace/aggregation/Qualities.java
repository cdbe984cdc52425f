// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Gain and loss of every candidate (node, interval): per node a triangle of gains and prefix sums of the values; the loss is
 * S log2 c - gain. Formulas: docs/aggregation.md, "Quality of a block".
 */
final class Qualities {
	final MicroscopicModel model;
	final BlockTree tree;
	final Chunks chunks;
	final int slices;
	/** Gains of node n at {@link #index}; null when all are 0, or for a row. */
	private final double[][] gain;
	/** Gains of leaves that are one row, without single slices, which are 0; null when all are 0. */
	private final RowGains[] rowGain;
	/** Sum of all types over slices before t; null when all are 0. */
	final double[][] before;
	final double[] logRows;
	final double[] logLength;
	private final double[] scale;
	private final int types;

	private Qualities(MicroscopicModel model, BlockTree tree, AggregationOptions options) {
		this.model = model;
		this.tree = tree;
		this.chunks = Chunks.of(tree);
		this.slices = model.sliceCount();
		this.gain = new double[tree.size()][];
		this.rowGain = new RowGains[tree.size()];
		this.before = new double[tree.size()][];
		this.logRows = new double[tree.size()];
		for (int n = 0; n < tree.size(); n++) {
			logRows[n] = Entropy.log2(tree.weight(n));
		}
		this.logLength = Entropy.logTable(slices);
		this.scale = new double[model.typeCount()];
		double[] totals = options.equalTypes() ? absoluteTotals(model) : null;
		for (int k = 0; k < scale.length; k++) {
			scale[k] = totals == null ? 1 : totals[k] > 0 ? 1 / totals[k] : 0;
		}
		// negative parts of values are dimensions of their own
		this.types = model.typeCount() * (model.hasNegativeValues() ? 2 : 1);
	}

	private static double[] absoluteTotals(MicroscopicModel model) {
		double[] totals = new double[model.typeCount()];
		for (int c = 0; c < model.valueCount(); c++) {
			totals[model.type(c)] += Math.abs(model.value(c));
		}
		return totals;
	}

	/** Computes the qualities of all nodes; needs about 4 T^2 bytes for each node that has values, 3 T^2 for a row. */
	static Qualities compute(MicroscopicModel model, BlockTree tree, AggregationOptions options, Progress progress)
			throws CancelledException {
		Qualities q = new Qualities(model, tree, options);
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
		if (!sparse && isRow(n)) {
			double[] g = gains(n, s);
			rowGain[n] = g == null ? null : RowGains.of(g);
		} else if (!sparse) {
			gain[n] = gains(n, s);
		}
		return s;
	}

	/** Prefix sums of a leaf; returns the largest number of values of one type. */
	private int fillLeaf(int n, double[] s) {
		int k = model.typeCount();
		int width = slices + 1;
		int information = types * width;
		int[] count = new int[types];
		for (int leaf = tree.leafFrom(n); leaf < tree.leafTo(n); leaf++) {
			double w = model.hierarchy().leafWeight(leaf);
			int slice = 0;
			int nextSlice = k;
			for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
				int key = model.key(c);
				int type = model.type(c);
				while (key >= nextSlice) {
					slice++;
					nextSlice += k;
				}
				double v = model.value(c) * scale[type];
				if (v < 0) {
					v = -v;
					type += k;
				}
				if (v == 0) {
					continue;
				}
				count[type]++;
				s[type * width + slice + 1] += v;
				s[information + type * width + slice + 1] += w == 1 ? Entropy.f(v) : w * Entropy.f(v / w);
			}
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
			double end = s[o + slices];
			if (end == 0) {
				continue;
			}
			int at = 0;
			for (int i = 0; i < slices && s[o + i] < end; i++) {
				double s0 = s[o + i];
				double i0 = s[information + o + i];
				double lastSum = 0;
				double last = 0;
				int j = i;
				if (cells) {
					j = i + 1;
					lastSum = s[o + j] - s0;
					last = 0;
				}
				double previous = lastSum;
				for (; j < slices; j++) {
					double sum = s[o + j + 1] - s0;
					if (sum != previous) {
						last = Math.max(0, Entropy.f(sum) - (s[information + o + j + 1] - i0));
						previous = sum;
						some |= last > 0;
					}
					g[at++] += last;
				}
			}
		}
		return some ? g : null;
	}

	/** Whether the node is one row of weight 1, whose single slices are not stored. */
	boolean isRow(int n) {
		return tree.isLeaf(n) && tree.weight(n) == 1;
	}

	/** Index of (i, i) in the gains of a node; (i, j) is j - i further. For a row the index of (i, i + 1), minus 1. */
	int index(int n, int i) {
		return isRow(n) ? i * (slices - 1) - i * (i - 1) / 2 - 1 : i * slices - i * (i - 1) / 2;
	}

	/** Whether all gains of a node are 0. */
	boolean gainless(int n) {
		return gain[n] == null && rowGain[n] == null;
	}

	/** Gains of the intervals (n, first, j) for first <= j < end, into {@code to[j]}. */
	void copyGains(int n, int first, int end, double[] to) {
		if (gain[n] != null) {
			System.arraycopy(gain[n], index(n, first), to, first, end - first);
		} else if (rowGain[n] != null) {
			to[first] = 0;
			rowGain[n].copy(index(n, first) + 1, to, first + 1, end - first - 1);
		} else {
			Arrays.fill(to, first, end, 0);
		}
	}

	double gain(int n, int first, int end) {
		int at = index(n, first) + end - 1 - first;
		if (gain[n] != null) {
			return gain[n][at];
		}
		return rowGain[n] == null || first == end - 1 ? 0 : rowGain[n].at(at);
	}

	/**
	 * Gains in 6 bytes instead of 8: multiples of a power of two that is between 2^-46 and 2^-45 of the largest. The error of a
	 * gain is below 1.5e-14 of the largest of its row, rows with equal values have equal gains, and 0 is 0.
	 */
	private static final class RowGains {
		private final int[] high;
		private final char[] low;
		private final double unit;

		private RowGains(int n, double unit) {
			this.high = new int[n];
			this.low = new char[n];
			this.unit = unit;
		}

		static RowGains of(double[] gains) {
			double max = 0;
			for (double g : gains) {
				max = Math.max(max, g);
			}
			// the largest is at most 2^46 units, so that rounding up does not reach the sign
			RowGains r = new RowGains(gains.length, Math.scalb(1.0, Math.max(Double.MIN_EXPONENT, Math.getExponent(max) - 45)));
			for (int i = 0; i < gains.length; i++) {
				long v = Math.round(gains[i] / r.unit);
				r.high[i] = (int) (v >>> 16);
				r.low[i] = (char) v;
			}
			return r;
		}

		double at(int i) {
			return (high[i] * 65536.0 + low[i]) * unit;
		}

		void copy(int from, double[] to, int first, int count) {
			double big = 65536 * unit;
			double u = unit;
			for (int x = 0; x < count; x++) {
				to[first + x] = high[from + x] * big + low[from + x] * u;
			}
		}

		long bytes() {
			return 64 + 6L * high.length;
		}
	}

	double sum(int n, int first, int end) {
		double[] b = before[n];
		return b == null ? 0 : b[end] - b[first];
	}

	double loss(int n, int first, int end) {
		double cells = logRows[n] + logLength[end - first];
		return Math.max(0, sum(n, first, end) * cells - gain(n, first, end));
	}

	/** Bytes of the tables. */
	long memoryBytes() {
		long bytes = 0;
		for (int n = 0; n < gain.length; n++) {
			bytes += gain[n] == null ? 0 : 16 + 8L * gain[n].length;
			bytes += rowGain[n] == null ? 0 : rowGain[n].bytes();
			bytes += before[n] == null ? 0 : 16 + 8L * before[n].length;
		}
		return bytes + 28L * gain.length;
	}
}
