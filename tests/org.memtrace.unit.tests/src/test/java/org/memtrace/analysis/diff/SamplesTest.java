// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;

import org.junit.jupiter.api.Test;

class SamplesTest {
	@Test
	void mediansOfOddAndEvenNumbers() {
		assertEquals(2, Samples.median(new double[] {3, 1, 2}));
		assertEquals(2.5, Samples.median(new double[] {4, 1, 2, 3}));
		assertTrue(Double.isNaN(Samples.median(new double[0])));
	}

	/** Values of tables of the test: the smallest two-sided p of n against n is 2 / (2n over n). */
	@Test
	void rankSumIsExact() {
		assertEquals(2.0 / 20, Samples.mannWhitney(new double[] {1, 2, 3}, new double[] {4, 5, 6}), 1e-12);
		assertEquals(2.0 / 70, Samples.mannWhitney(new double[] {1, 2, 3, 4}, new double[] {5, 6, 7, 8}), 1e-12);
		assertEquals(2.0 / 252, Samples.mannWhitney(new double[] {9, 8, 7, 6, 10}, new double[] {1, 2, 3, 4, 5}), 1e-12);
		assertEquals(1, Samples.mannWhitney(new double[] {1, 1, 1}, new double[] {1, 1, 1}), 1e-12);
		assertEquals(1, Samples.mannWhitney(new double[] {}, new double[] {1}), 1e-12);
	}

	/** The same as counting all divisions, with equal values. */
	@Test
	void rankSumIsThatOfAllDivisions() {
		for (long seed = 1; seed <= 100; seed++) {
			Random random = new Random(seed);
			double[] a = random.ints(1 + random.nextInt(5), 0, 1 << random.nextInt(6)).asDoubleStream().toArray();
			double[] b = random.ints(1 + random.nextInt(5), 0, 1 << random.nextInt(6)).asDoubleStream().toArray();
			assertEquals(counted(a, b), Samples.mannWhitney(a, b), 1e-12, "seed " + seed);
		}
	}

	/** U of each division of the values by comparing pairs. */
	private static double counted(double[] a, double[] b) {
		double[] all = new double[a.length + b.length];
		System.arraycopy(a, 0, all, 0, a.length);
		System.arraycopy(b, 0, all, a.length, b.length);
		double mean = a.length * b.length / 2.0;
		double far = Math.abs(u(all, (1 << a.length) - 1) - mean);
		int ways = 0;
		int extreme = 0;
		for (int set = 0; set < 1 << all.length; set++) {
			if (Integer.bitCount(set) == a.length) {
				ways++;
				extreme += Math.abs(u(all, set) - mean) >= far - 1e-9 ? 1 : 0;
			}
		}
		return (double) extreme / ways;
	}

	private static double u(double[] all, int set) {
		double u = 0;
		for (int i = 0; i < all.length; i++) {
			for (int k = 0; k < all.length; k++) {
				if ((set >> i & 1) == 1 && (set >> k & 1) == 0) {
					u += all[i] > all[k] ? 1 : all[i] == all[k] ? 0.5 : 0;
				}
			}
		}
		return u;
	}

	/** Above 100 values the normal distribution takes over without a step. */
	@Test
	void manyValuesAreApproximatedWell() {
		for (long seed = 1; seed <= 20; seed++) {
			Random random = new Random(seed);
			double[] a = random.doubles(50).toArray();
			double[] b = random.doubles(50, 0.1, 1.2).toArray();
			double exact = Samples.mannWhitney(a, b);
			double[] more = java.util.Arrays.copyOf(b, 51);
			more[50] = Samples.median(b);
			double p = Samples.mannWhitney(a, more);
			assertTrue(p > 0 && Math.abs(Math.log(p / exact)) < 0.7, "seed " + seed + ": " + exact + ", " + p);
		}
	}

	@Test
	void holmCorrectsTheSmallestMost() {
		assertArrayEquals(new double[] {0.04, 0.06, 0.06, 0.02}, Samples.holm(new double[] {0.0133333333333333, 0.03, 0.04, 0.005}), 1e-9);
		assertArrayEquals(new double[] {1, 1}, Samples.holm(new double[] {0.6, 0.9}), 1e-12);
		assertArrayEquals(new double[] {}, Samples.holm(new double[] {}));
	}

	@Test
	void intervalsOfDifferencesHaveTheDifference() {
		assertNull(Samples.interval(new double[] {1}, new double[] {1, 2}));
		double[] same = Samples.interval(new double[] {5, 5, 5}, new double[] {7, 7, 7});
		assertArrayEquals(new double[] {2, 2}, same);
		double[] wide = Samples.interval(new double[] {1, 2, 3, 4, 5}, new double[] {2, 3, 4, 5, 6});
		assertTrue(wide[0] < 0 && wide[1] > 1, wide[0] + " " + wide[1]);
		assertArrayEquals(wide, Samples.interval(new double[] {1, 2, 3, 4, 5}, new double[] {2, 3, 4, 5, 6}), "the same each time");
	}
}
