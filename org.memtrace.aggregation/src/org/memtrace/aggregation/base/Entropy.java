// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.base;

/** f(x) = x log2 x, and tables of logarithms. */
public final class Entropy {
	private static final double PER_LN2 = 1 / Math.log(2);

	/** f of small whole numbers: most values are counts, and a logarithm takes 20 ns. */
	private static final double[] OF_COUNT = new double[4096];

	static {
		for (int i = 1; i < OF_COUNT.length; i++) {
			OF_COUNT[i] = i * Math.log(i) * PER_LN2;
		}
	}

	private Entropy() {
	}

	/** x log2 x for x > 0, else 0. */
	public static double f(double x) {
		int count = (int) x;
		if (count == x && count >= 0 && count < OF_COUNT.length) {
			return OF_COUNT[count];
		}
		return x > 0 ? x * Math.log(x) * PER_LN2 : 0;
	}

	/** Gain of a block for one type: f(S) - I, never below 0. docs/how/aggregation.md, "Quality of a block". */
	public static double gain(double sum, double information) {
		return Math.max(0, f(sum) - information);
	}

	public static double log2(double x) {
		return Math.log(x) * PER_LN2;
	}

	/** log2 of 1..n at index 1..n. */
	public static double[] logTable(int n) {
		double[] t = new double[n + 1];
		for (int i = 1; i <= n; i++) {
			t[i] = log2(i);
		}
		return t;
	}
}
