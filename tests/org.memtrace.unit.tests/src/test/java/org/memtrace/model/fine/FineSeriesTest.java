// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.fine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;

import org.junit.jupiter.api.Test;
import org.memtrace.model.fine.FineCounts.Bin;
import org.memtrace.model.fine.FineCounts.Count;
import org.memtrace.model.fine.FineSeries.Course;

/** Pages in use over fine time: no phases where there are none, and those that there are. */
class FineSeriesTest {
	private static final int MAPPED = 1000;
	private static final int SAMPLED = 50;

	private static Bin bin(int image, int number, boolean known) {
		return new Bin(image, number, 50L * number, 50L * number, 50L * number + 50, -1, false, 0, known ? 0 : 1, known);
	}

	/** Samples of a process of which so many pages of a bin are in use. */
	private static FineSeries sampled(long seed, int bins, IntUnaryOperator used) {
		Random random = new Random(seed);
		List<Bin> all = new ArrayList<>();
		List<Count> counts = new ArrayList<>();
		for (int b = 0; b < bins; b++) {
			all.add(bin(0, b, true));
			int left = used.applyAsInt(b);
			int hit = 0;
			for (int s = 0; s < SAMPLED; s++) {
				if (random.nextInt(MAPPED - s) < left) {
					hit++;
					left--;
				}
			}
			counts.add(new Count(0, b, 1, MAPPED, SAMPLED, hit, 0, 5, 2, 0));
		}
		return FineSeries.of(new FineCounts(all, List.of(), counts, List.of(), List.of())).getFirst();
	}

	@Test
	void strataOfABinAddUpAndBinsDoNot() {
		FineSeries s = FineSeries.of(new FineCounts(List.of(bin(3, 0, true), bin(3, 1, true), bin(3, 2, false)), List.of(),
				List.of(new Count(3, 0, 1, 0, 0, 0, 0, 9, 4, 0), new Count(3, 0, 2, 0, 0, 0, 0, 9, 6, 0),
						new Count(3, 1, 1, 0, 0, 0, 0, 9, 2, 0)), List.of(), List.of())).getFirst();
		assertEquals(List.of(new FineSeries.Point(0, 50, 10, 10, 10), new FineSeries.Point(50, 100, 2, 2, 2)), s.points());
		assertEquals(1, s.notKnown());
		assertEquals(6, s.mean());
		assertEquals(Course.NOT_KNOWN, s.course(), "two bins");
	}

	@Test
	void aStratumThatWasNotLookedAtIsNotKnown() {
		FineSeries s = FineSeries.of(new FineCounts(List.of(bin(0, 0, true)), List.of(), List.of(new Count(0, 0, 1, 7, 0, 0, 0, 9, 4, 0)),
				List.of(), List.of())).getFirst();
		assertTrue(s.points().isEmpty() && s.notKnown() == 1, "not 4");
	}

	@Test
	void noiseOfTheSampleIsNoPhase() {
		for (long seed = 1; seed <= 50; seed++) {
			FineSeries s = sampled(seed, 60, b -> 600);
			assertEquals(Course.STEADY, s.course(), "seed " + seed);
			assertTrue(s.meanLow() <= 602 && s.meanHigh() >= 602, "seed " + seed);
		}
	}

	@Test
	void phasesAreSeen() {
		for (long seed = 1; seed <= 50; seed++) {
			assertEquals(Course.CHANGES, sampled(seed, 60, b -> b / 20 % 2 == 0 ? 900 : 300).course(), "seed " + seed);
			assertEquals(Course.CHANGES, sampled(seed, 60, b -> b % 5 == 0 ? 900 : 100).course(), "bursts, seed " + seed);
		}
	}
}
