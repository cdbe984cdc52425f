// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.util.Arrays;

/**
 * Arithmetic mean, standard error and confidence interval of the runs of a configuration.
 *
 * @param n runs
 * @param mean arithmetic
 * @param deviation standard deviation of a sample (n - 1); not a number with one run
 * @param error standard error of the mean
 * @param low lower end of the confidence interval of 95 % of the mean, by Student's t
 * @param high upper end
 */
public record Statistics(int n, double mean, double deviation, double error, double low, double high) {
	static final double CONFIDENCE = 0.95;

	/**
	 * How many times better than the reference.
	 *
	 * @param ratio of the means; not a number when one of them is 0
	 * @param low lower end of its confidence interval of 95 %; not a number when there are too few runs
	 */
	public record Speedup(double ratio, double low, double high) {
	}

	/** @param values at least one */
	static Statistics of(double[] values) {
		int n = values.length;
		double mean = Arrays.stream(values).sum() / n;
		double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
		double deviation = n > 1 ? Math.sqrt(squares / (n - 1)) : Double.NaN;
		double error = deviation / Math.sqrt(n);
		double half = n > 1 ? quantile(0.5 + CONFIDENCE / 2, n - 1) * error : Double.NaN;
		return new Statistics(n, mean, deviation, error, mean - half, mean + half);
	}

	/**
	 * The reference against this, or this against the reference where more is better. The interval is that of the logarithm of a ratio of
	 * two means (delta method) with the degrees of freedom of Welch and Satterthwaite.
	 */
	Speedup speedup(Statistics reference, boolean higherIsBetter) {
		if (mean == 0 || reference.mean == 0) { // runs shorter than a tick of the CPU time
			return new Speedup(Double.NaN, Double.NaN, Double.NaN);
		}
		double ratio = higherIsBetter ? mean / reference.mean : reference.mean / mean;
		double a = error / mean * (error / mean);
		double b = reference.error / reference.mean * (reference.error / reference.mean);
		double variance = a + b;
		if (!(ratio > 0) || n < 2 || reference.n < 2) {
			return new Speedup(ratio, Double.NaN, Double.NaN);
		}
		if (variance == 0) {
			return new Speedup(ratio, ratio, ratio);
		}
		double freedom = variance * variance / (a * a / (n - 1) + b * b / (reference.n - 1));
		double half = quantile(0.5 + CONFIDENCE / 2, freedom) * Math.sqrt(variance);
		return new Speedup(ratio, ratio * Math.exp(-half), ratio * Math.exp(half));
	}

	/** Quantile of Student's t, for p above one half: the inverse of its distribution by bisection. */
	static double quantile(double p, double freedom) {
		double low = 0;
		double high = 1;
		while (1 - tail(high, freedom) < p) {
			high *= 2;
		}
		for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
			double middle = (low + high) / 2;
			if (1 - tail(middle, freedom) < p) {
				low = middle;
			} else {
				high = middle;
			}
		}
		return (low + high) / 2;
	}

	/** P(T > t) for t of 0 or more: half of the regularised incomplete beta function at v / (v + t²) for v/2 and 1/2. */
	private static double tail(double t, double freedom) {
		return beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
	}

	/** Regularised incomplete beta function, by its continued fraction (modified Lentz); Abramowitz and Stegun 26.5.8. */
	private static double beta(double x, double a, double b) {
		if (x <= 0 || x >= 1) {
			return x <= 0 ? 0 : 1;
		}
		if (x > (a + 1) / (a + b + 2)) {
			return 1 - beta(1 - x, b, a);
		}
		double c = 1;
		double d = 1 / nonZero(1 - (a + b) * x / (a + 1));
		double f = d;
		for (int m = 1; m < 10_000; m++) {
			double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
			d = 1 / nonZero(1 + even * d);
			c = nonZero(1 + even / c);
			f *= d * c;
			double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
			d = 1 / nonZero(1 + odd * d);
			c = nonZero(1 + odd / c);
			f *= d * c;
			if (Math.abs(d * c - 1) < 1e-15) {
				break;
			}
		}
		return Math.exp(a * Math.log(x) + b * Math.log(1 - x) - logBeta(a, b)) * f / a;
	}

	private static double nonZero(double v) {
		return Math.abs(v) < 1e-300 ? 1e-300 : v;
	}

	private static double logBeta(double a, double b) {
		return logGamma(a) + logGamma(b) - logGamma(a + b);
	}

	/** By Stirling's series, after the argument was raised above 15. */
	private static double logGamma(double x) {
		double below = 0;
		double y = x;
		while (y < 15) {
			below += Math.log(y++);
		}
		double z = 1 / (y * y);
		return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI)
				+ (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / y - below;
	}
}
