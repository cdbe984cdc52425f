// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.Test;

class DurationsTest {
	private static Durations of(int mostExact, long... values) {
		Durations d = new Durations(mostExact);
		Arrays.stream(values).forEach(d::add);
		return d;
	}

	@Test
	void quantilesAsInRAndNumPy() {
		Durations d = of(100, 40, 10, 30, 20);
		assertEquals(10, d.quantile(0));
		assertEquals(13, d.quantile(0.1), 1e-12);
		assertEquals(25, d.quantile(0.5));
		assertEquals(40, d.quantile(1));
		d.add(0); // after sorting
		assertEquals(20, d.quantile(0.5));
		assertEquals(0, d.least());
		assertEquals(40, d.most());
		assertEquals(0, new Durations().quantile(0.5));
		assertEquals(0, new Durations().least());
	}

	/** The picture of the seed: 12 executions take 564, at the reference duration they would take 183; 67.5 % are lost. */
	@Test
	void slideOfTheSeed() {
		Durations d = of(100, 16, 17, 18, 19, 20, 47, 50, 60, 67, 70, 80, 100);
		assertEquals(564, d.sum());
		assertEquals(381.0 / 564, d.above(15.25) / d.sum(), 1e-12);
		assertEquals(0, d.above(100));
	}

	@Test
	void classesAreWithinOnePercent() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		for (int round = 0; round < 50; round++) {
			Durations exact = new Durations();
			Durations classes = new Durations(round % 3 == 0 ? 0 : 50);
			for (int i = 0; i < 3000; i++) {
				long v = switch (random.nextInt(5)) {
				case 0 -> 0;
				case 1 -> 1L << random.nextInt(62);
				case 2 -> 1000 + random.nextInt(3);
				default -> (long) Math.exp(random.nextDouble() * 40);
				};
				v = Math.min(v, Long.MAX_VALUE >> 13); // the sum must fit
				exact.add(v);
				classes.add(v);
			}
			assertTrue(exact.isExact());
			assertFalse(classes.isExact());
			assertEquals(exact.sum(), classes.sum(), "seed " + seed);
			assertEquals(exact.count(), classes.count());
			assertEquals(exact.least(), classes.least());
			assertEquals(exact.most(), classes.most());
			for (double q : new double[] {0, 0.1, 0.5, 0.9, 1}) {
				// of the durations at both sides of the place
				double at = q * 2999;
				double low = exact.quantile(Math.floor(at) / 2999);
				double high = exact.quantile(Math.ceil(at) / 2999);
				double v = classes.quantile(q);
				assertTrue(v >= 0.98 * low - 1e-9 && v <= 1.02 * high + 1e-9, () -> "seed " + seed + ": " + q + " " + v + " " + low + " " + high);
			}
			double reference = exact.quantile(0.3);
			assertEquals(exact.above(reference), classes.above(reference), 0.02 * exact.sum(), "seed " + seed);
		}
	}
}
