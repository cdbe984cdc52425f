// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.model.MicroscopicModel;

/**
 * How long slices are, for the qualities. With slices of lengths w_t (1 on average) a value v counts as w_t cells of v / w_t, as merged
 * rows do: gain + loss of slices i..j is S log2 (w_i + ... + w_j) - sum of S_t log2 w_t, and for equal slices S log2 of their number.
 * Immutable.
 */
final class SliceLengths {
	/** log2 of 1..T; null when slices differ. */
	private final double[] logOfCount;
	/** Sum of the lengths before a slice, and log2 of each length; null when slices are equal. */
	private final double[] before;
	private final double[] log;

	private SliceLengths(double[] logOfCount, double[] before, double[] log) {
		this.logOfCount = logOfCount;
		this.before = before;
		this.log = log;
	}

	static SliceLengths of(MicroscopicModel model) {
		double[] w = model.sliceWeights();
		if (w == null) {
			return new SliceLengths(Entropy.logTable(model.sliceCount()), null, null);
		}
		double[] before = new double[w.length + 1];
		double[] log = new double[w.length];
		for (int t = 0; t < w.length; t++) {
			before[t + 1] = before[t] + w[t];
			log[t] = Entropy.log2(w[t]);
		}
		return new SliceLengths(null, before, log);
	}

	boolean isUniform() {
		return logOfCount != null;
	}

	/** log2 of the length of slices [first, end). */
	double log(int first, int end) {
		return logOfCount != null ? logOfCount[end - first] : end == first + 1 ? log[first] : Entropy.log2(before[end] - before[first]);
	}

	/** Prefix sums of S_t log2 w_t, of prefix sums of S_t; unequal slices only. */
	double[] weighted(double[] sums) {
		double[] weighted = new double[sums.length];
		for (int t = 0; t < log.length; t++) {
			weighted[t + 1] = weighted[t] + (sums[t + 1] - sums[t]) * log[t];
		}
		return weighted;
	}
}
