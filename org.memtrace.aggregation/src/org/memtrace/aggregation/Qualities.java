// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

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
	/** Gains of node n at {@link #index}; null when all are 0. Leaves that are one row store no single slices: they are 0. */
	final double[][] gain;
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
			totals[model.key(c) % totals.length] += Math.abs(model.value(c));
		}
		return totals;
	}

	/** Computes the qualities of all nodes; needs about 4 T^2 bytes for each node that has values. */
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
		if (!sparse) {
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
			for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
				int type = model.key(c) % k;
				int slice = model.key(c) / k;
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

	double gain(int n, int first, int end) {
		double[] g = gain[n];
		int i = first;
		int j = end - 1;
		if (g == null || i == j && isRow(n)) {
			return 0;
		}
		return g[index(n, i) + j - i];
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
			bytes += before[n] == null ? 0 : 16 + 8L * before[n].length;
		}
		return bytes + 24L * gain.length;
	}
}
