// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

/** A late birth among made births, whose clocks differ by a known offset and drift: it is named rightly, or not at all. */
class LateBirthTest {
	private static final long MS = 1_000_000;

	/** Births of threads in both clocks; which thread is which is known. */
	private static final class Made {
		/** By thread. */
		final long[] others;
		final long[] ours;

		/** @param late how many births one of both traces saw late */
		Made(Random random, int n, long spanNs, long jitterNs, int late) {
			long offset = random.nextLong(-1_000_000 * MS, 1_000_000 * MS);
			double drift = random.nextInt(3) == 0 ? (random.nextDouble() - 0.5) * 2e-4 : 0;
			ours = new long[n];
			others = new long[n];
			for (int i = 0; i < n; i++) {
				ours[i] = 5000 * MS + random.nextLong(spanNs);
				others[i] = ours[i] - offset - Math.round(drift * ours[i]) + random.nextLong(-jitterNs, jitterNs + 1);
			}
			for (int k : IntStream.range(0, n).boxed().sorted(Comparator.comparing(i -> random.nextInt())).limit(late).toList()) {
				(random.nextBoolean() ? ours : others)[k] += 2 * MS + random.nextLong(150 * MS);
			}
		}

		/** Threads in the order of their births in a trace. */
		static int[] order(long[] births) {
			return IntStream.range(0, births.length).boxed().sorted(Comparator.comparingLong(i -> births[i])).mapToInt(i -> i).toArray();
		}

		Optional<LateBirth> find() {
			return LateBirth.find(Arrays.stream(others).sorted().toArray(), Arrays.stream(ours).sorted().toArray(), 10_000 * MS, MS);
		}

		/** Whether each thread is found to be itself, but those that are so near to each other that nobody could tell. */
		boolean right(LateBirth l, long nearNs) {
			int[] a = order(others);
			int[] b = order(ours);
			for (int i = 0, t = 0; i < a.length; i++) {
				t += t == l.our() ? 1 : 0;
				int found = b[i == l.other() ? l.our() : t++];
				if (found != a[i] && Math.abs(ours[found] - ours[a[i]]) > nearNs) {
					return false;
				}
			}
			return true;
		}
	}

	@Test
	void oneLateBirthIsFoundAndNeverTakenForAnother() {
		int found = 0;
		int all = 0;
		for (int seed = 0; seed < 1000; seed++) {
			Random random = new Random(seed);
			int n = random.nextInt(4, 33);
			Made made = new Made(random, n, n * 20 * MS, 10_000, 1);
			Optional<LateBirth> one = made.find();
			all++;
			if (one.isPresent()) {
				found++;
				assertTrue(made.right(one.get(), 20_000), "seed " + seed + ": " + one);
				assertTrue(one.get().fit().residualNs() <= 250_000, "seed " + seed + ": " + one);
				assertTrue(Math.abs(one.get().lateNs()) > MS, "seed " + seed + ": " + one);
			}
		}
		assertTrue(found > all * 9 / 10, found + " of " + all);
	}

	@Test
	void birthsThatAreNearToEachOtherAreNotInterchanged() {
		int found = 0;
		for (int seed = 0; seed < 1000; seed++) {
			Random random = new Random(seed);
			int n = random.nextInt(4, 17);
			Made made = new Made(random, n, n * 100_000L, 10_000, 1);
			Optional<LateBirth> one = made.find();
			if (one.isPresent()) {
				found++;
				assertTrue(made.right(one.get(), 20_000), "seed " + seed + ": " + one);
			}
		}
		assertTrue(found > 0, "never");
	}

	@Test
	void severalLateBirthsGiveNothing() {
		int named = 0;
		for (int seed = 0; seed < 2000; seed++) {
			Random random = new Random(seed);
			int n = random.nextInt(4, 20);
			named += new Made(random, n, n * 20 * MS, 10_000, random.nextInt(2, 4)).find().isPresent() ? 1 : 0;
		}
		assertTrue(named <= 4, named + " of 2000, by chance");
	}

	@Test
	void ofThreeBirthsTwoMustAgreeExactlyAndNoOtherTwoNearly() {
		long[] ours = { 100 * MS, 130 * MS, 171 * MS };
		LateBirth l = LateBirth.find(new long[] { 10_000, 30 * MS, 141 * MS }, ours, 1000 * MS, MS).orElseThrow();
		assertEquals(2, l.other());
		assertEquals(2, l.our());
		assertEquals(70 * MS - 5_000, l.lateNs());
		assertEquals(5_000, l.fit().residualNs());
		// the second birth was seen after the third one
		l = LateBirth.find(new long[] { 0, 71 * MS, 90 * MS }, ours, 1000 * MS, MS).orElseThrow();
		assertEquals(2, l.other());
		assertEquals(1, l.our());
		assertEquals(60 * MS, l.lateNs());
		assertEquals(Optional.empty(), LateBirth.find(new long[] { 0, 30 * MS + 101_000, 141 * MS }, ours, 1000 * MS, MS), "too far apart");
		long[] even = { 100 * MS, 130 * MS, 160 * MS };
		assertEquals(Optional.empty(), LateBirth.find(new long[] { 0, 30 * MS, 141 * MS }, even, 1000 * MS, MS), "the last two fit as well");
		assertEquals(Optional.empty(), LateBirth.find(new long[] { 0, 30 * MS }, new long[] { 0, 90 * MS }, 1000 * MS, MS), "nothing agrees");
	}
}
