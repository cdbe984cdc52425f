// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;

import org.junit.jupiter.api.Test;

class ThreadTimesTest {
	@Test
	void nothingIsKnownWithoutSamples() {
		assertEquals(-1, ThreadTimes.NONE.total(0));
		assertEquals(-1, ThreadTimes.NONE.used(0, 0, 100));
		assertEquals(0, ThreadTimes.NONE.size());
	}

	/** A thread that was not looked at was idle: what it used then is in the time before the sample. */
	@Test
	void whatWasUsedIsJustBeforeTheSample() {
		ThreadTimes t = new ThreadTimes.Builder().add(0, 100, 100).add(0, 200, 200).add(0, 300, 300).add(0, 1000, 350).build();
		assertEquals(100, t.used(0, 100, 200));
		assertEquals(50, t.used(0, 150, 200));
		assertEquals(0, t.used(0, 300, 900));
		assertEquals(50, t.used(0, 900, 1000));
		assertEquals(25, t.used(0, 950, 5000));
		assertEquals(350, t.total(0));
		assertEquals(350, t.used(0, 0, Long.MAX_VALUE));
	}

	/** Samples in any order, the same time twice, a sum that goes back. */
	@Test
	void samplesAreSorted() {
		ThreadTimes t = new ThreadTimes.Builder().add(2, 30, 9).add(0, 20, 7).add(0, 10, 5).add(0, 20, 8).add(0, 30, 6).add(2, 10, 4).build();
		assertEquals(5, t.size());
		assertEquals(8, t.total(0));
		assertEquals(-1, t.total(1));
		assertEquals(9, t.total(2));
		assertEquals(8, t.cpuNs(1));
	}

	/** The parts of a run add up to the whole, and no part is negative. */
	@Test
	void partsAddUp() {
		for (long seed = 1; seed <= 200; seed++) {
			Random random = new Random(seed);
			ThreadTimes.Builder b = new ThreadTimes.Builder();
			for (int i = random.nextInt(20) + 1; i > 0; i--) {
				b.add(random.nextInt(3), random.nextInt(1000), random.nextInt(1 << random.nextInt(20)));
			}
			ThreadTimes t = b.build();
			for (int thread = 0; thread < 3; thread++) {
				double sum = 0;
				for (int from = -2_000_000; from < 1100; from += from < -100 ? 1_000_000 : 13) {
					double part = t.used(thread, from, from + (from < -100 ? 1_000_000 : 13));
					assertTrue(part >= 0 || t.total(thread) < 0, "seed " + seed);
					sum += part;
				}
				if (t.total(thread) >= 0) {
					assertEquals(t.total(thread), sum, 1e-6, "seed " + seed);
				}
			}
		}
	}
}
