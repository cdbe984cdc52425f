// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;

/** Of the sums of a cell by type: which types are seen, how much of it, and in which colours. */
final class TypeShares {
	private final MicroscopicModel model;
	private final BitSet hidden;
	private final Palette palette;

	/** @param hidden types that are not shown */
	TypeShares(MicroscopicModel model, BitSet hidden, Palette palette) {
		this.model = model;
		this.hidden = hidden;
		this.palette = palette;
	}

	/** Sum of the types that are not hidden. */
	double visible(double[] sums) {
		double total = 0;
		for (int k = 0; k < sums.length; k++) {
			total += hidden.get(k) ? 0 : Math.max(0, sums[k]);
		}
		return total;
	}

	/** Shares of the types in eighths, rounded so that they add up: those with the largest rests are rounded up. */
	int[] eighths(double[] sums) {
		double total = visible(sums);
		int[] eighths = new int[sums.length];
		double[] rest = new double[sums.length];
		int left = Shape.Mosaic.EIGHTHS;
		for (int k = 0; k < sums.length; k++) {
			double share = hidden.get(k) || sums[k] <= 0 ? 0 : Shape.Mosaic.EIGHTHS * sums[k] / total;
			eighths[k] = (int) share;
			rest[k] = share - eighths[k];
			left -= eighths[k];
		}
		for (; left > 0; left--) {
			int most = 0;
			for (int k = 1; k < rest.length; k++) {
				most = rest[k] > rest[most] ? k : most;
			}
			eighths[most]++;
			rest[most] = 0;
		}
		return eighths;
	}

	List<Integer> colors(int[] eighths, double intensity) {
		List<Integer> types = new ArrayList<>();
		for (int k = 0; k < eighths.length; k++) {
			if (eighths[k] > 0) {
				types.add(k);
			}
		}
		types.sort(Comparator.comparingInt((Integer k) -> -eighths[k]).thenComparing(k -> k));
		List<Integer> colors = new ArrayList<>();
		for (int k : types) {
			colors.addAll(Collections.nCopies(eighths[k], palette.shade(model.types().get(k), intensity)));
		}
		return colors;
	}

	int strongest(double[] sums) {
		int main = -1;
		for (int k = 0; k < sums.length; k++) {
			if (sums[k] > 0 && !hidden.get(k) && (main < 0 || sums[k] > sums[main])) {
				main = k;
			}
		}
		return main;
	}
}
