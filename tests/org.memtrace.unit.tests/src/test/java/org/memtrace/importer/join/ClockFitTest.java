// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.join.ClockFit.Anchor;

/** Offset, drift and residual of clocks that are known. */
class ClockFitTest {
	private static final long S = 1_000_000_000L;

	@Test
	void medianOffsetAndLargestDeviation() {
		// the births of the workers of an OpenMP program, as EZTrace and memtrace saw them
		ClockFit fit = ClockFit.of(List.of(new Anchor(0, 7025059488149L), new Anchor(1000, 7025059486084L), new Anchor(2000, 7025059484454L)), S);
		assertEquals(7025059485084L, fit.offsetNs());
		assertEquals(3065, fit.residualNs());
		assertEquals(3, fit.anchors());
		assertFalse(fit.drifts());
		assertEquals(7025059485084L + 5, fit.ours(5));
	}

	@Test
	void offsetAndDriftAreFoundInNoise() {
		for (int seed = 0; seed < 50; seed++) {
			Random random = new Random(seed);
			long offset = random.nextLong(-1000 * S, 1000 * S);
			double drift = (random.nextDouble() - 0.5) * 4e-4;
			List<Anchor> anchors = new ArrayList<>();
			for (int i = 0; i < 30; i++) {
				long other = random.nextLong(60 * S) + 5 * S;
				anchors.add(new Anchor(other, other + offset + Math.round(drift * other) + random.nextLong(-20_000, 20_000)));
			}
			ClockFit fit = ClockFit.of(anchors, 65 * S);
			assertTrue(fit.drifts(), "seed " + seed);
			assertEquals(drift, fit.drift(), 2e-6, "seed " + seed);
			for (long t : new long[] { 0, 30 * S, 65 * S }) {
				assertEquals(t + offset + Math.round(drift * t), fit.ours(t), 70_000, "seed " + seed + " at " + t);
			}
			assertTrue(fit.residualNs() < 90_000, seed + ": " + fit);
		}
	}

	@Test
	void oneWrongTimeDoesNotMoveTheClockButIsTold() {
		List<Anchor> anchors = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			anchors.add(new Anchor(i * S, i * S + 500 + (i == 8 ? 5_000_000 : 0)));
		}
		ClockFit fit = ClockFit.of(anchors, 9 * S);
		assertEquals(500, fit.ours(0), 1);
		assertEquals(8 * S + 500, fit.ours(8 * S), 1);
		assertEquals(5_000_000, fit.residualNs(), 2);
	}

	/** Most births are within 20 ms, and each a little later than the one before: slopes between them say nothing of the clocks. */
	@Test
	void timesThatAreNearToEachOtherTellNoDrift() {
		List<Anchor> anchors = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			anchors.add(new Anchor(i * 1_000_000L, i * 1_000_000L + 2_000 * i));
		}
		for (int i = 0; i < 3; i++) {
			long other = 10 * S + i * S / 10;
			anchors.add(new Anchor(other, other + other / 20_000));
		}
		ClockFit fit = ClockFit.of(anchors, 11 * S);
		assertTrue(fit.drifts());
		assertEquals(5e-5, fit.drift(), 5e-6);
	}

	@Test
	void noDriftIsExtrapolatedFromOneEnd() {
		List<Anchor> anchors = List.of(new Anchor(0, 0), new Anchor(S, S + 100_000), new Anchor(2 * S, 2 * S + 200_000));
		assertFalse(ClockFit.of(anchors, 5 * S).drifts());
		assertEquals(100_000, ClockFit.of(anchors, 5 * S).residualNs());
		assertEquals(1e-4, ClockFit.of(anchors, 4 * S).drift(), 1e-9);
		assertEquals(0, ClockFit.of(anchors, 4 * S).residualNs());
		List<Anchor> near = List.of(new Anchor(0, 0), new Anchor(1000, 1100), new Anchor(2000, 2200));
		assertFalse(ClockFit.of(near, 2000).drifts(), "within a second nothing is known of the drift");
	}

	@Test
	void whatNoClockDoesIsNoDrift() {
		List<Anchor> anchors = List.of(new Anchor(0, 0), new Anchor(S, S + S / 500), new Anchor(2 * S, 2 * S + S / 250));
		ClockFit fit = ClockFit.of(anchors, 2 * S);
		assertEquals(0, fit.drift());
		assertEquals(2_000_000, fit.residualNs());
	}

	@Test
	void givenOffsetHasAResidualWhenThereIsSomethingToCompare() {
		assertEquals(-1, ClockFit.given(7, List.of()).residualNs());
		ClockFit fit = ClockFit.given(-7, List.of(new Anchor(100, 95)));
		assertEquals(93, fit.ours(100));
		assertEquals(2, fit.residualNs());
	}
}
