// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;

import org.junit.jupiter.api.Test;

/** Parts of a run that an interval overlaps. */
class PlaceTimesTest {
	/** Law: the shares of the parts from the first to the last are the whole interval, and the parts beside them have none. */
	@Test
	void anIntervalIsInItsParts() {
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		for (int round = 0; round < 20_000; round++) {
			int n = 1 + random.nextInt(random.nextBoolean() ? 4 : 300);
			double from = random.nextInt(4) == 0 ? random.nextInt(n) : random.nextDouble() * n;
			double to = random.nextInt(4) == 0 ? Math.min(n, Math.floor(from) + 1 + random.nextInt(n)) : from + random.nextDouble() * (n - from);
			String what = "seed " + seed + ": [" + from + ", " + to + ") of " + n;
			int first = PlaceTimes.first(from, n);
			int last = PlaceTimes.last(from, to, n);
			assertTrue(0 <= first && first <= last && last < n, what);
			if (to <= from) {
				assertEquals(first, last, what);
				assertEquals(1, PlaceTimes.overlap(first, from, to), what);
				continue;
			}
			double sum = 0;
			for (int i = 0; i < n; i++) {
				double share = PlaceTimes.overlap(i, from, to);
				assertTrue(share >= 0 && (i >= first && i <= last || share == 0), what);
				sum += i >= first && i <= last ? share : 0;
			}
			assertEquals(1, sum, 1e-9, what);
		}
		assertEquals(1, PlaceTimes.last(0.5, 1.25, 8));
		assertEquals(0, PlaceTimes.last(0.5, 1, 8));
		assertEquals(7, PlaceTimes.last(3, 8, 8));
		assertEquals(7, PlaceTimes.first(8, 8));
	}
}
