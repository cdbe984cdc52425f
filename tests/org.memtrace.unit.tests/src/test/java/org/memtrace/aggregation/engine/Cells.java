// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

/** Cells of small matrices, one by one, for searches through all partitions. A block is rows [from, to) x columns [first, end). */
final class Cells {
	private Cells() {
	}

	static boolean isFree(boolean[][] taken, int from, int to, int first, int end) {
		for (int l = from; l < to; l++) {
			for (int t = first; t < end; t++) {
				if (taken[l][t]) {
					return false;
				}
			}
		}
		return true;
	}

	static void take(boolean[][] taken, int from, int to, int first, int end, boolean value) {
		for (int l = from; l < to; l++) {
			Arrays.fill(taken[l], first, end, value);
		}
	}

	static double f(double x) {
		return x > 0 ? x * Math.log(x) / Math.log(2) : 0;
	}

	/** Gain and loss of a block from the formulas, cell by cell. */
	static double[] quality(double[][][] v, int leafFrom, int leafTo, int first, int end) {
		double gain = 0;
		double loss = 0;
		int cells = (leafTo - leafFrom) * (end - first);
		for (int k = 0; k < v[0][0].length; k++) {
			double sum = 0;
			double information = 0;
			for (int l = leafFrom; l < leafTo; l++) {
				for (int t = first; t < end; t++) {
					sum += v[l][t][k];
					information += f(v[l][t][k]);
				}
			}
			gain += f(sum) - information;
			loss += sum > 0 ? sum * Math.log(cells) / Math.log(2) - f(sum) + information : 0;
		}
		return new double[] {gain, loss};
	}
}
