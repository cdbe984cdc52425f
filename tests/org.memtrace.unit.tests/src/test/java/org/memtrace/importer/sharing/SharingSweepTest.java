// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;

class SharingSweepTest {
	private record Use(int page, int thread, long start, long end) {
	}

	private static List<Integer> sweep(List<Use> uses) {
		SharingSweep sweep = new SharingSweep(SharingEvidence.COMPLETE);
		uses.forEach(u -> sweep.add(u.page, u.thread, u.start, u.end, 1, 0, 0));
		sweep.finish();
		List<Integer> result = new ArrayList<>();
		for (int i = 0; i < uses.size(); i++) {
			result.add(sweep.sharing(i));
		}
		return result;
	}

	private static List<Integer> bruteForce(List<Use> uses) {
		List<Integer> result = new ArrayList<>();
		for (Use u : uses) {
			Set<Integer> threads = new HashSet<>();
			for (Use v : uses) {
				if (v.page == u.page && v.start < u.end && v.end > u.start && v.thread >= 0) {
					threads.add(v.thread);
				}
			}
			result.add(Math.max(1, threads.size()));
		}
		return result;
	}

	@Test
	void intervalsAreHalfOpen() {
		assertEquals(List.of(1, 1), sweep(List.of(new Use(0, 0, 5, 10), new Use(0, 1, 10, 15))));
		assertEquals(List.of(2, 2), sweep(List.of(new Use(0, 0, 5, 11), new Use(0, 1, 10, 15))));
	}

	@Test
	void oneThreadIsOneThreadHoweverOften() {
		assertEquals(List.of(1, 1, 1),
				sweep(List.of(new Use(0, 0, 1, 9), new Use(0, 0, 1, 9), new Use(0, 0, 3, 5))));
	}

	@Test
	void aThreadCountsThatComesAndGoesWithinTheRecord() {
		assertEquals(List.of(3, 2, 2),
				sweep(List.of(new Use(0, 0, 0, 100), new Use(0, 1, 10, 20), new Use(0, 2, 30, 40))));
	}

	@Test
	void recordsWithoutThreadAreNoThread() {
		assertEquals(List.of(1, 1), sweep(List.of(new Use(0, 0, 0, 10), new Use(0, -1, 0, 10))));
		assertEquals(List.of(1, 1), sweep(List.of(new Use(0, -1, 0, 10), new Use(0, -1, 0, 10))));
		assertEquals(List.of(2, 2, 2),
				sweep(List.of(new Use(0, -1, 0, 10), new Use(0, 0, 0, 10), new Use(0, 1, 0, 10))));
	}

	@Test
	void pagesAreIndependent() {
		assertEquals(List.of(1, 1), sweep(List.of(new Use(0, 0, 0, 10), new Use(7, 1, 0, 10))));
	}

	/** The accesses of the reference vectors, without those whose interval is empty or reversed. */
	@Test
	void referenceVector() {
		List<Use> uses = List.of(new Use(4, 0, 1, 9), new Use(4, 0, 1, 9), new Use(5, 0, 1, 4), new Use(4, 2, 3, 5),
				new Use(5, 1, 4, 6), new Use(2, 0, 5, 10), new Use(5, 0, 6, 9), new Use(1, 0, 10, 20), new Use(2, 1, 10, 15),
				new Use(1, 1, 15, 30), new Use(1, 1, 15, 30));
		assertEquals(List.of(2, 2, 1, 2, 1, 1, 1, 2, 1, 2, 2), sweep(uses));
	}

	@Test
	void randomUsesAgreeWithBruteForce() {
		for (long seed = 1; seed <= 60; seed++) {
			Random random = new Random(seed);
			List<Use> uses = new ArrayList<>();
			long time = 0;
			for (int i = 0; i < 300; i++) {
				time += random.nextInt(4);
				uses.add(new Use(random.nextInt(4), random.nextInt(6) - 1, time, time + 1 + random.nextInt(random.nextInt(20) == 0 ? 200 : 12)));
			}
			assertEquals(bruteForce(uses), sweep(uses), "seed " + seed);
		}
	}

	/** More threads at a time than lists are good for, in all forms: what is counted is the same. */
	@Test
	void crowdedPagesAgreeWithBruteForce() {
		for (long seed = 1; seed <= 8; seed++) {
			Random random = new Random(seed);
			List<Use> uses = new ArrayList<>();
			long time = 0;
			boolean isLongLived = seed % 2 == 0;
			for (int i = 0; i < 1500; i++) {
				time += random.nextInt(2);
				uses.add(new Use(random.nextInt(8) == 0 ? 1 : 0, random.nextInt(isLongLived ? 1500 : 600) - 1, time,
						time + 1 + (isLongLived ? i == 0 ? 5000 : random.nextInt(3) : random.nextInt(900))));
			}
			assertEquals(bruteForce(uses), sweep(uses), "seed " + seed);
		}
	}

	/** Threads without number on a page at one time, one after the other, or around short ones: each record is a few steps. */
	@Test
	void stepsDoNotGrowWithTheThreadsOfAPage() {
		int n = 50_000;
		for (int shape = 0; shape < 3; shape++) {
			SharingSweep sweep = new SharingSweep(SharingEvidence.COMPLETE);
			for (int i = 0; i < n; i++) {
				long start = shape == 0 ? 0 : i;
				long end = shape == 0 ? 9 : shape == 1 ? i + n : i == 0 ? 2L * n : i + 1;
				sweep.add(0, i, start, end, 1, 0, 0);
			}
			sweep.finish();
			assertTrue(sweep.steps() <= 3L * SharingSweep.CROWD * SharingSweep.CROWD, shape + ": " + sweep.steps());
			assertEquals(shape == 2 ? 2 : Short.MAX_VALUE, sweep.sharing(shape == 2 ? 7 : n / 2), "shape " + shape);
		}
	}
}
