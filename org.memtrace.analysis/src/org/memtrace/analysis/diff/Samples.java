// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Statistics of two small samples without an assumption about their distribution. */
public final class Samples {
	private static final int RESAMPLES = 10_000;
	private static final long SEED = 20061;
	/** Up to so many values altogether the distribution of the rank sum is counted out; above, it is the normal one. */
	private static final int EXACT = 100;

	private Samples() {
	}

	/** The value in the middle, of an even number the mean of both; not a number without values. */
	public static double median(double[] values) {
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		int n = sorted.length;
		return n == 0 ? Double.NaN : n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	}

	/**
	 * Interval that has the difference of the medians, b minus a, in 95 % of 10,000 samples drawn from the samples (percentile bootstrap); the
	 * same each time. Null when a side has fewer than two values.
	 */
	public static double[] interval(double[] a, double[] b) {
		if (a.length < 2 || b.length < 2) {
			return null;
		}
		SplittableRandom random = new SplittableRandom(SEED);
		double[] differences = new double[RESAMPLES];
		double[] x = new double[a.length];
		double[] y = new double[b.length];
		for (int r = 0; r < RESAMPLES; r++) {
			draw(a, x, random);
			draw(b, y, random);
			differences[r] = median(y) - median(x);
		}
		Arrays.sort(differences);
		return new double[] {differences[(int) (0.025 * RESAMPLES)], differences[(int) (0.975 * RESAMPLES) - 1]};
	}

	private static void draw(double[] from, double[] into, SplittableRandom random) {
		for (int i = 0; i < into.length; i++) {
			into[i] = from[random.nextInt(from.length)];
		}
	}

	/**
	 * Two-sided p of the rank sum test of Mann and Whitney: how often a division of all values into two sides of these sizes is at least as
	 * far from its mean. Exact, with equal values too, for up to 100 values. 1 when a side is empty.
	 */
	public static double mannWhitney(double[] a, double[] b) {
		int n = a.length + b.length;
		if (a.length == 0 || b.length == 0) {
			return 1;
		}
		double[] all = Arrays.copyOf(a, n);
		System.arraycopy(b, 0, all, a.length, b.length);
		int[] rank = doubledRanks(all);
		long sum = 0;
		for (int i = 0; i < a.length; i++) {
			sum += rank[i];
		}
		// the mean of twice the rank sum of a is a.length * (n + 1)
		long mean = (long) a.length * (n + 1);
		long far = Math.abs(sum - mean);
		if (far == 0) {
			return 1;
		}
		return n <= EXACT ? exact(rank, a.length, mean, far) : normal(rank, a.length, far);
	}

	/** Twice the rank of each value; equal values have their mean rank. */
	private static int[] doubledRanks(double[] all) {
		Integer[] order = IntStream.range(0, all.length).boxed().sorted(Comparator.comparingDouble(i -> all[i])).toArray(Integer[]::new);
		int[] rank = new int[all.length];
		for (int from = 0; from < order.length;) {
			int to = from;
			while (to < order.length && all[order[to]] == all[order[from]]) {
				to++;
			}
			for (int i = from; i < to; i++) {
				rank[order[i]] = from + 1 + to;
			}
			from = to;
		}
		return rank;
	}

	private static double exact(int[] rank, int k, long mean, long far) {
		int most = Arrays.stream(rank).sum();
		double[][] ways = new double[k + 1][most + 1];
		ways[0][0] = 1;
		for (int r : rank) {
			for (int c = k; c >= 1; c--) {
				for (int s = most; s >= r; s--) {
					ways[c][s] += ways[c - 1][s - r];
				}
			}
		}
		double extreme = 0;
		double sum = 0;
		for (int s = 0; s <= most; s++) {
			sum += ways[k][s];
			extreme += Math.abs(s - mean) >= far ? ways[k][s] : 0;
		}
		return Math.min(1, extreme / sum);
	}

	private static double normal(int[] rank, int k, long far) {
		int n = rank.length;
		double mean = n + 1;
		double square = 0;
		for (int r : rank) {
			square += (r - mean) * (r - mean);
		}
		double deviation = Math.sqrt((double) k * (n - k) / n / (n - 1) * square);
		return deviation == 0 ? 1 : 2 * upperNormal(Math.max(0, far - 1) / deviation);
	}

	/** Upper tail of the normal distribution (Abramowitz and Stegun 26.2.17, error below 7.5e-8). */
	private static double upperNormal(double z) {
		double t = 1 / (1 + 0.2316419 * z);
		double poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
		return Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * poly;
	}

	/** Values of p corrected for their number (Holm), in the same order. */
	public static double[] holm(double[] p) {
		Integer[] order = IntStream.range(0, p.length).boxed().sorted(Comparator.comparingDouble(i -> p[i])).toArray(Integer[]::new);
		double[] corrected = new double[p.length];
		double largest = 0;
		for (int i = 0; i < order.length; i++) {
			largest = Math.max(largest, Math.min(1, p[order[i]] * (p.length - i)));
			corrected[order[i]] = largest;
		}
		return corrected;
	}
}
