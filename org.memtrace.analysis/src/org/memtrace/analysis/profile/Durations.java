// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import java.util.Arrays;

/**
 * The durations of the executions of a region. Count, sum, least and most are exact. Quantiles are exact up to a number of durations;
 * beyond it they are put into classes whose bounds grow by 2 %, and a quantile is wrong by at most 1 %. Used by one thread.
 */
final class Durations {
	/** So many are kept one by one. */
	static final int MOST_EXACT = 1_000_000;
	private static final double GROWTH = Math.log(1.01 / 0.99);
	/** Classes up to {@link Long#MAX_VALUE}. */
	private static final int CLASSES = (int) Math.ceil(Math.log(Long.MAX_VALUE) / GROWTH) + 2;

	private final int mostExact;
	/** Null once there are classes. */
	private long[] each = new long[4];
	private boolean sorted;
	/** Of a class how many, and their sum; class 0 is the duration 0. Null as long as each duration is kept. */
	private long[] classCount;
	private long[] classSum;
	private long count;
	private long sum;
	private long least = Long.MAX_VALUE;
	private long most;

	Durations() {
		this(MOST_EXACT);
	}

	/** @param mostExact so many are kept one by one */
	Durations(int mostExact) {
		this.mostExact = mostExact;
	}

	/** @param duration 0 or more */
	void add(long duration) {
		if (each != null && count == mostExact) {
			classCount = new long[CLASSES];
			classSum = new long[CLASSES];
			for (int i = 0; i < count; i++) {
				classify(each[i]);
			}
			each = null;
		}
		if (each == null) {
			classify(duration);
		} else {
			if (count == each.length) {
				each = Arrays.copyOf(each, 2 * each.length);
			}
			each[(int) count] = duration;
			sorted = false;
		}
		count++;
		sum += duration;
		least = Math.min(least, duration);
		most = Math.max(most, duration);
	}

	private void classify(long duration) {
		int c = duration == 0 ? 0 : 1 + (int) Math.ceil(Math.log(duration) / GROWTH);
		classCount[c]++;
		classSum[c] += duration;
	}

	long count() {
		return count;
	}

	long sum() {
		return sum;
	}

	/** Shortest, 0 of none. */
	long least() {
		return count == 0 ? 0 : least;
	}

	/** Longest, 0 of none. */
	long most() {
		return most;
	}

	/** Whether quantiles are exact. */
	boolean isExact() {
		return each != null;
	}

	/**
	 * A quantile, between two durations in proportion (the definition 7 of Hyndman and Fan, 1996, as in R and NumPy); of classes the mean of
	 * the one that it is in.
	 *
	 * @param q 0 to 1
	 * @return 0 of none
	 */
	double quantile(double q) {
		if (count == 0) {
			return 0;
		}
		double at = q * (count - 1);
		if (each != null) {
			if (!sorted) {
				Arrays.sort(each, 0, (int) count);
				sorted = true;
			}
			int low = (int) at;
			double next = each[Math.min((int) count - 1, low + 1)];
			return each[low] + (at - low) * (next - each[low]);
		}
		long before = 0;
		for (int c = 0;; c++) {
			before += classCount[c];
			if (before > at) {
				return (double) classSum[c] / classCount[c];
			}
		}
	}

	/** Sum of what each duration has above a reference. */
	double above(double reference) {
		double above = 0;
		if (each != null) {
			for (int i = 0; i < count; i++) {
				above += Math.max(0, each[i] - reference);
			}
			return above;
		}
		for (int c = 0; c < CLASSES; c++) {
			above += Math.max(0, classSum[c] - classCount[c] * reference);
		}
		return above;
	}
}
