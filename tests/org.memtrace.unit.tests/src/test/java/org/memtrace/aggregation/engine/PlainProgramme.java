// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

import org.memtrace.aggregation.model.MicroscopicModel;

/**
 * The mathematics of docs/how/aggregation.md once more, without any short cut and without the code of the engine: gains and losses of all
 * blocks from the cells of a model, the dynamic programme over all nodes, intervals and cuts in doubles, the list of levels by halving.
 * Of the code under test it takes the model, the tree of blocks and the weights of unequal slices. For one thread.
 */
final class PlainProgramme {
	/** p is moved so far from 0 and 1. */
	private static final double MARGIN = 1e-9;
	/** What counts as equal, as a part of gain and loss of the root. */
	private static final double TOLERANCE = 1e-12;
	private static final double STEP = 1 / 1024.0;

	final MicroscopicModel model;
	final BlockTree tree;
	final int slices;
	/** [node][i][j]: of slices i to j, both included. */
	final double[][][] gain;
	final double[][][] loss;
	/** Gain and loss of the root. */
	final double scale;
	/** What sums of doubles can be wrong by. */
	final double rounding;

	/**
	 * A partition: blocks as {node, first slice, last slice}.
	 *
	 * @param robust whether the same is found when ten times more or less counts as equal, and with the latest of equal cuts
	 */
	record Best(double p, List<int[]> blocks, double gain, double loss, boolean robust) {
		double value() {
			return p * gain - (1 - p) * loss;
		}

		/** One text for each block, in one order. */
		List<String> texts() {
			return blocks.stream().map(Arrays::toString).sorted().toList();
		}
	}

	private final TreeMap<Double, Best> known = new TreeMap<>();

	PlainProgramme(MicroscopicModel model, BlockTree tree, boolean equalTypes) {
		this.model = model;
		this.tree = tree;
		this.slices = model.sliceCount();
		this.gain = new double[tree.size()][slices][slices];
		this.loss = new double[tree.size()][slices][slices];
		int types = model.typeCount();
		double[] total = new double[types];
		for (int c = 0; c < model.valueCount(); c++) {
			total[model.key(c) % types] += Math.abs(model.value(c));
		}
		double[] weight = model.sliceWeights();
		double[] length = new double[slices];
		for (int t = 0; t < slices; t++) {
			length[t] = weight == null ? 1 : weight[t];
		}
		double all = 0;
		// negative parts are types of their own
		for (int n = 0; n < tree.size(); n++) {
			double[][] sum = new double[slices][2 * types];
			double[] information = new double[slices];
			long rows = 0;
			for (int leaf = tree.leafFrom(n); leaf < tree.leafTo(n); leaf++) {
				double w = model.hierarchy().leafWeight(leaf);
				rows += (long) w;
				for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
					int k = model.key(c) % types;
					double by = !equalTypes ? 1 : total[k] > 0 ? 1 / total[k] : 0;
					double v = Math.abs(model.value(c)) * by;
					int t = model.key(c) / types;
					sum[t][model.value(c) < 0 ? types + k : k] += v;
					// of a group of pages the sum of v log2 v is in the model
					information[t] += model.isGrouped() ? model.information(c, by) : w * f(v / w);
				}
			}
			for (int i = 0; i < slices; i++) {
				double[] s = new double[2 * types];
				double inside = 0;
				double cells = 0;
				double correction = 0;
				for (int j = i; j < slices; j++) {
					inside += information[j];
					cells += rows * length[j];
					double g = -inside;
					double both = 0;
					for (int k = 0; k < s.length; k++) {
						s[k] += sum[j][k];
						g += f(s[k]);
						both += s[k];
						correction += sum[j][k] * log2(length[j]);
					}
					gain[n][i][j] = Math.max(0, g);
					loss[n][i][j] = Math.max(0, both * log2(cells) - correction - g);
					if (n == 0 && i == 0 && j == slices - 1) {
						all = Math.abs(inside) + both * (Math.abs(log2(cells)) + Math.abs(log2(Math.max(1, both)))) + Math.abs(correction);
					}
				}
			}
		}
		this.scale = gain[0][0][slices - 1] + loss[0][0][slices - 1];
		this.rounding = 4e-14 * (all + scale);
	}

	private static double log2(double x) {
		return Math.log(x) / Math.log(2);
	}

	private static double f(double x) {
		return x > 0 ? x * log2(x) : 0;
	}

	/** The best partition at one p. */
	Best best(double p) {
		return known.computeIfAbsent(p, this::solve);
	}

	/** How much the value of a partition may miss the best: each decision can give away what counts as equal. */
	double allowed(double p) {
		long cells = (long) tree.leafTo(0) * slices;
		return (4 + 2.0 * cells) * TOLERANCE * scale + (p == 0 || p == 1 ? MARGIN * scale : 0) + rounding;
	}

	private Best solve(double p) {
		double inside = Math.min(1 - MARGIN, Math.max(MARGIN, p));
		double[][][] best = new double[tree.size()][slices][slices];
		double[][][] base = new double[tree.size()][slices][slices];
		for (int n = tree.size() - 1; n >= 0; n--) {
			for (int i = 0; i < slices; i++) {
				for (int j = i; j < slices; j++) {
					double block = block(n, i, j, inside);
					base[n][i][j] = tree.isLeaf(n) ? block : Math.max(block, children(best, n, i, j));
				}
			}
			for (int i = 0; i < slices; i++) {
				for (int j = i; j < slices; j++) {
					double most = base[n][i][j];
					for (int c = i + 1; c <= j; c++) {
						most = Math.max(most, best[n][i][c - 1] + base[n][c][j]);
					}
					best[n][i][j] = most;
				}
			}
		}
		Best found = read(p, best, base, TOLERANCE, true);
		List<String> texts = found.texts();
		boolean robust = true;
		for (double tolerance = TOLERANCE / 10; robust && tolerance < TOLERANCE * 20; tolerance *= 10) {
			robust = read(p, best, base, tolerance, true).texts().equals(texts) && read(p, best, base, tolerance, false).texts().equals(texts);
		}
		return new Best(p, found.blocks, found.gain, found.loss, robust);
	}

	private double block(int n, int i, int j, double p) {
		return p * gain[n][i][j] - (1 - p) * loss[n][i][j];
	}

	private double children(double[][][] best, int n, int i, int j) {
		double sum = 0;
		for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
			sum += best[m][i][j];
		}
		return sum;
	}

	/**
	 * The partition: no cut in time before a cut, block before children, where the values differ by no more than a tolerance.
	 *
	 * @param earliest whether the earliest of cuts is taken that differ by no more, or the latest
	 */
	private Best read(double p, double[][][] best, double[][][] base, double tolerance, boolean earliest) {
		double inside = Math.min(1 - MARGIN, Math.max(MARGIN, p));
		double tie = tolerance * scale;
		List<int[]> blocks = new ArrayList<>();
		List<int[]> open = new ArrayList<>(List.of(new int[] {0, 0, slices - 1}));
		double g = 0;
		double l = 0;
		while (!open.isEmpty()) {
			int[] x = open.remove(open.size() - 1);
			int n = x[0];
			int i = x[1];
			for (int end = x[2]; end >= i;) {
				int c = i;
				for (int start = i + 1; start <= end && best[n][i][end] > base[n][i][end] + tie && (c == i || !earliest); start++) {
					if (best[n][i][start - 1] + base[n][start][end] >= best[n][i][end] - tie) {
						c = start;
					}
				}
				if (!tree.isLeaf(n) && children(best, n, c, end) > block(n, c, end, inside) + tie) {
					for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
						open.add(new int[] {m, c, end});
					}
				} else {
					blocks.add(new int[] {n, c, end});
					g += gain[n][c][end];
					l += loss[n][c][end];
				}
				end = c - 1;
			}
		}
		return new Best(p, blocks, g, l, false);
	}

	/** The blocks of a partition of the engine, with gain and loss as they are here. */
	Best of(Partition e) {
		List<int[]> blocks = new ArrayList<>();
		double g = 0;
		double l = 0;
		for (int b = 0; b < e.blockCount(); b++) {
			blocks.add(new int[] {e.treeNode(b), e.firstSlice(b), e.endSlice(b) - 1});
			g += gain[e.treeNode(b)][e.firstSlice(b)][e.endSlice(b) - 1];
			l += loss[e.treeNode(b)][e.firstSlice(b)][e.endSlice(b) - 1];
		}
		return new Best(e.p(), blocks, g, l, false);
	}

	boolean same(Best a, Best b) {
		double little = 1e-11 * scale + rounding;
		return Math.abs(a.gain - b.gain) <= little && Math.abs(a.loss - b.loss) <= little;
	}

	/** The levels: halving down to steps of 1/1024, each with the smallest p of the grid at which it was met. */
	List<Best> levels() {
		List<Best> list = new ArrayList<>(List.of(best(0)));
		halve(0, 1, list);
		append(list, best(1));
		return list;
	}

	private void halve(double a, double b, List<Best> list) {
		if (same(best(a), best(b)) || b - a <= STEP) {
			return;
		}
		double m = (a + b) / 2;
		halve(a, m, list);
		append(list, best(m));
		halve(m, b, list);
	}

	private void append(List<Best> list, Best next) {
		if (!same(list.get(list.size() - 1), next)) {
			list.add(next);
		}
	}
}
