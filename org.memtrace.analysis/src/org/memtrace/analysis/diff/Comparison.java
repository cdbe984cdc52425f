// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.Arrays;

/**
 * A metric on both sides.
 *
 * @param a values of the runs before; without those that have none
 * @param b values of the runs after
 * @param interval 95 % of the differences of medians in resampled runs, in the unit of the values; null with fewer than two runs
 * @param p of the rank sum test, corrected for the number of comparisons; not a number with fewer than four runs on a side
 */
public record Comparison(Metric metric, double[] a, double[] b, double[] interval, double p) {
	/** With fewer runs on a side no difference can reach p < 0.05. */
	public static final int RUNS = 4;
	private static final double P = 0.05;
	/** Changes up to this are never called one. */
	static final double LEAST = 0.02;

	static Comparison of(Metric metric, double[] a, double[] b) {
		double[] x = Arrays.stream(a).filter(v -> !Double.isNaN(v)).toArray();
		double[] y = Arrays.stream(b).filter(v -> !Double.isNaN(v)).toArray();
		double p = x.length >= RUNS && y.length >= RUNS ? Samples.mannWhitney(x, y) : Double.NaN;
		return new Comparison(metric, x, y, Samples.interval(x, y), p);
	}

	Comparison corrected(double holm) {
		return new Comparison(metric, a, b, interval, holm);
	}

	/** Median before. */
	public double before() {
		return Samples.median(a);
	}

	/** Median after. */
	public double after() {
		return Samples.median(b);
	}

	/** Whether both sides have a value. */
	public boolean isKnown() {
		return a.length > 0 && b.length > 0;
	}

	/** Difference of the medians as {@link Metric#change} has it. */
	public double change() {
		return metric.change(before(), after());
	}

	/** Whether there are enough runs to test it. */
	public boolean isTested() {
		return !Double.isNaN(p);
	}

	/**
	 * Whether it got worse: above 0 when it did, below 0 when it got better, 0 when nothing says so. What was not tested is not judged: two
	 * recordings of the same program differ, too.
	 */
	public int judged() {
		return metric.isCost() && isSignificant() ? Double.compare(change(), 0) : 0;
	}

	/** Tested, p below 0.05 and a change above 2 % or 2 points. */
	public boolean isSignificant() {
		return isTested() && p < P && Math.abs(change()) > LEAST;
	}
}
