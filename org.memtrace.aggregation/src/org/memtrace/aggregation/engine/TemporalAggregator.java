// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.SharingGaps;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Best partition of time alone: every row stays a dimension of its own, like a type, and blocks are intervals of the root.
 * Cost: gains once, O(values per row squared) for each row and type, then O(T^2) for each p.
 */
public final class TemporalAggregator implements Aggregator {
	private static final double P_MARGIN = 1e-9;

	private final MicroscopicModel model;
	private final BlockTree tree;
	private final int slices;
	/** gain[i][j], slices i..j. */
	private final double[][] gain;
	private final double[] before;
	private final SliceLengths lengths;
	/** Of unequal slices the sum of S_t log2 w_t over slices before t; else null. */
	private final double[] weighted;
	private final double tolerance;
	private final boolean finerTies;

	private TemporalAggregator(MicroscopicModel model, double[][] gain, double[] before, boolean finerTies) {
		this.model = model;
		this.tree = BlockTree.rootOnly(model.hierarchy());
		this.slices = model.sliceCount();
		this.gain = gain;
		this.before = before;
		this.finerTies = finerTies;
		this.lengths = SliceLengths.of(model);
		this.weighted = lengths.isUniform() ? null : lengths.weighted(before);
		this.tolerance = TOLERANCE * Math.max(rootGain() + rootLoss(), weighted == null ? 0 : 1e-3 * before[slices] * Entropy.log2(slices));
	}

	/** Computes the qualities of all intervals. */
	public static TemporalAggregator prepare(MicroscopicModel model, Progress progress) throws CancelledException {
		model.requirePages();
		MicroscopicModel values = SharingGaps.closed(model);
		int slices = model.sliceCount();
		int leaves = model.hierarchy().leafCount();
		int parts = Math.min(16, leaves);
		double[][][] partial = new double[parts][][];
		double[][] sums = new double[parts][];
		progress.begin("Computing gains", parts);
		Parallel.run(parts, progress, part -> {
			int from = (int) ((long) leaves * part / parts);
			int to = (int) ((long) leaves * (part + 1) / parts);
			partial[part] = new double[slices][slices];
			sums[part] = new double[slices + 1];
			addRows(values, from, to, partial[part], sums[part], progress);
			progress.worked(1);
		});
		double[][] gain = partial[0];
		double[] before = sums[0];
		for (int part = 1; part < parts; part++) {
			for (int i = 0; i < slices; i++) {
				for (int j = i; j < slices; j++) {
					gain[i][j] += partial[part][i][j];
				}
				before[i + 1] += sums[part][i + 1];
			}
		}
		for (int t = 0; t < slices; t++) {
			before[t + 1] += before[t];
		}
		return new TemporalAggregator(model, gain, before, false);
	}

	/** {@link #prepare(MicroscopicModel, Progress)} without progress. */
	public static TemporalAggregator prepare(MicroscopicModel model) {
		try {
			return prepare(model, Progress.NONE);
		} catch (CancelledException e) {
			throw new IllegalStateException(e);
		}
	}

	/** An aggregator whose ties go to the finer partition. The reference does so in its temporal variant. */
	public TemporalAggregator withFinerTies() {
		return new TemporalAggregator(model, gain, before, true);
	}

	private static void addRows(MicroscopicModel model, int from, int to, double[][] gain, double[] sums, Progress progress)
			throws CancelledException {
		int slices = model.sliceCount();
		int k = model.typeCount();
		int[] at = new int[slices];
		double[] value = new double[slices];
		for (int leaf = from; leaf < to; leaf++) {
			progress.check();
			int begin = model.cellFrom(leaf);
			int end = model.cellTo(leaf);
			for (int type = 0; type < k; type++) {
				for (int sign = 1; sign >= (model.hasNegativeValues() ? -1 : 1); sign -= 2) {
					int n = 0;
					for (int c = begin; c < end; c++) {
						if (model.key(c) % k == type && model.value(c) * sign > 0) {
							at[n] = model.key(c) / k;
							value[n] = model.value(c) * sign;
							sums[at[n] + 1] += value[n];
							n++;
						}
					}
					addDimension(at, value, n, slices, gain);
				}
			}
		}
	}

	/** Adds the gains of one row and type with n values above 0. */
	private static void addDimension(int[] at, double[] value, int n, int slices, double[][] gain) {
		for (int a = 0; a < n; a++) {
			double sum = value[a];
			double information = Entropy.f(value[a]);
			int iFrom = a == 0 ? 0 : at[a - 1] + 1;
			for (int b = a + 1; b < n; b++) {
				sum += value[b];
				information += Entropy.f(value[b]);
				double g = Entropy.gain(sum, information);
				int jTo = b + 1 < n ? at[b + 1] : slices;
				for (int i = iFrom; i <= at[a]; i++) {
					double[] row = gain[i];
					for (int j = at[b]; j < jTo; j++) {
						row[j] += g;
					}
				}
			}
		}
	}

	@Override
	public MicroscopicModel model() {
		return model;
	}

	@Override
	public BlockTree tree() {
		return tree;
	}

	@Override
	public double rootGain() {
		return gain(0, 0, slices);
	}

	@Override
	public double rootLoss() {
		return loss(0, 0, slices);
	}

	@Override
	public double gain(int i, int firstSlice, int endSlice) {
		return gain[firstSlice][endSlice - 1];
	}

	@Override
	public double loss(int i, int firstSlice, int endSlice) {
		double g = gain[firstSlice][endSlice - 1];
		return Math.max(0, total(firstSlice, endSlice) - g);
	}

	/** Gain and loss together: S log2 c. */
	private double total(int first, int end) {
		double total = (before[end] - before[first]) * lengths.log(first, end);
		return weighted == null ? total : Math.max(0, total - (weighted[end] - weighted[first]));
	}

	@Override
	public Partition partition(double p, Progress progress) throws CancelledException {
		if (!(p >= 0 && p <= 1)) {
			throw new IllegalArgumentException("p is " + p + ", not in 0..1");
		}
		// the reference decides ties at 0 and 1 for the finer side too
		double margin = finerTies ? 0 : P_MARGIN;
		double clamped = Math.min(1 - margin, Math.max(margin, p));
		double q = 1 - clamped;
		double[] best = new double[slices];
		int[] cut = new int[slices];
		for (int j = 0; j < slices; j++) {
			progress.check();
			double max = Double.NEGATIVE_INFINITY;
			for (int c = 0; c <= j; c++) {
				max = Math.max(max, candidate(best, c, j, q));
			}
			best[j] = max;
			int c = finerTies ? j : 0;
			while (candidate(best, c, j, q) < max - tolerance) {
				c += finerTies ? -1 : 1;
			}
			cut[j] = c;
		}
		int count = 0;
		int[] interval = new int[slices];
		for (int end = slices; end > 0; end = cut[end - 1]) {
			interval[count++] = cut[end - 1] << 16 | end;
		}
		return new Partition(this, p, new int[count], interval, count);
	}

	private double candidate(double[] best, int c, int j, double q) {
		double block = gain[c][j] - q * total(c, j + 1);
		return c == 0 ? block : best[c - 1] + block;
	}
}
