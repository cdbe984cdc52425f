// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.FirstTouches;
import org.memtrace.analysis.MadeTrace;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** Slices that are short where much happens. Seeds are the arguments of the tests. */
class TimeDensityTest {
	private record Made(long[] start, long[] end, long[] amount, long[] touches) {
		TimeDensity density(long from, long to) {
			return TimeDensity.Times.of(new AccessTimes(start, end), from, to).density(i -> amount[i], i -> touches[i]);
		}

		/** Weight of an interval from the definition. */
		double weight(long from, long to, long a, long b) {
			double accesses = overlap(amount, a, b) / Math.max(1e-300, overlap(amount, from, to));
			double first = overlap(touches, a, b) / Math.max(1e-300, overlap(touches, from, to));
			boolean some = overlap(amount, from, to) > 0;
			boolean firsts = overlap(touches, from, to) > 0;
			double time = (double) (b - a) / (to - from);
			return some && firsts ? time / 2 + accesses / 4 + first / 4 : some ? time / 2 + accesses / 2 : firsts ? time / 2 + first / 2 : time / 2;
		}

		private double overlap(long[] of, long a, long b) {
			double sum = 0;
			for (int i = 0; i < start.length; i++) {
				long o = Math.min(b, end[i]) - Math.max(a, start[i]);
				sum += o > 0 ? (double) of[i] * o / (end[i] - start[i]) : 0;
			}
			return sum;
		}
	}

	private static Made random(Random random) {
		int n = 1 + random.nextInt(300);
		TreeSet<Long> bounds = new TreeSet<>();
		while (bounds.size() < n + 1) {
			bounds.add((long) random.nextInt(10_000_000));
		}
		Long[] b = bounds.toArray(Long[]::new);
		long[] start = new long[n];
		long[] end = new long[n];
		long[] amount = new long[n];
		long[] touches = new long[n];
		boolean overlapping = random.nextBoolean();
		for (int i = 0; i < n; i++) {
			start[i] = b[i];
			end[i] = overlapping ? b[Math.min(n, i + 1 + random.nextInt(3))] : b[i + 1];
			amount[i] = switch (random.nextInt(5)) {
			case 0 -> 0;
			case 1 -> 1L << random.nextInt(50);
			default -> random.nextInt(1000);
			};
			touches[i] = random.nextInt(4) == 0 ? random.nextInt(100) : 0;
		}
		return new Made(start, end, amount, touches);
	}

	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	void slicesAreQuantilesOfAtoms(long seed) {
		Random random = new Random(seed);
		for (int round = 0; round < 30; round++) {
			Made made = random(random);
			long from = random.nextInt(3) > 0 ? 0 : random.nextInt(5_000_000);
			long to = random.nextInt(3) > 0 ? 10_000_000 : from + 1_000_000 + random.nextInt(4_000_000);
			int count = 1 + random.nextInt(120);
			TimeSlices s = made.density(0, 10_000_000).slices(from, to, count);
			assertEquals(count, s.count());
			assertEquals(from, s.startNs());
			assertEquals(to, s.endNs());
			TreeSet<Long> atoms = new TreeSet<>();
			for (int i = 0; i < made.start.length; i++) {
				atoms.add(Math.max(from, Math.min(to, made.start[i])));
				atoms.add(Math.max(from, Math.min(to, made.end[i])));
			}
			atoms.add(from);
			atoms.add(to);
			boolean enough = atoms.size() - 1 > count;
			double sum = 0;
			for (int i = 0; i < count; i++) {
				assertTrue(s.lengthNs(i) > 0);
				double weight = made.weight(from, to, s.boundNs(i), s.boundNs(i + 1));
				sum += weight;
				int inside = atoms.subSet(s.boundNs(i), s.boundNs(i + 1)).size();
				if (enough) {
					assertTrue(atoms.contains(s.boundNs(i)), "bound " + i + " is in an atom, round " + round);
					assertTrue(inside == 1 || weight <= 3.0 / count, inside + " atoms weigh " + weight * count + " slices, round " + round);
				} else {
					assertTrue(inside <= 1, "an atom is not told apart, round " + round);
				}
			}
			assertEquals(made.weight(from, to, from, to), sum, 1e-9);
		}
	}

	@Test
	void evenUseHasUniformSlices() {
		long[] start = new long[1000];
		long[] end = new long[1000];
		for (int i = 0; i < 1000; i++) {
			start[i] = 1000L * i;
			end[i] = start[i] + 1000;
		}
		long[] one = new long[1000];
		Arrays.fill(one, 7);
		TimeSlices s = new Made(start, end, one, new long[1000]).density(0, 1_000_000).slices(0, 1_000_000, 50);
		for (int i = 0; i < 50; i++) {
			assertEquals(20_000, s.lengthNs(i));
		}
		assertFalse(s.isUniform(), "bounds are those of intervals");
	}

	/** Nothing at all, one atom, fewer nanoseconds than slices. */
	@Test
	void degenerateWindows() {
		TimeDensity nothing = TimeDensity.Times.of(new AccessTimes(new long[0], new long[0]), 5, 5).density(i -> 0, i -> 0);
		assertEquals(1, nothing.atoms());
		assertEquals(4, nothing.slices(5, 100, 4).count());
		assertEquals(30, nothing.slices(5, 9, 30).count());
		TimeDensity one = TimeDensity.Times.of(new AccessTimes(new long[] {0}, new long[] {Long.MAX_VALUE / 4}), 0, Long.MAX_VALUE / 4)
				.density(i -> Long.MAX_VALUE, i -> 1);
		TimeSlices s = one.slices(0, Long.MAX_VALUE / 4, 400);
		for (int i = 0; i < 400; i++) {
			assertEquals(Long.MAX_VALUE / 4.0 / 400, s.lengthNs(i), 2);
		}
		TimeSlices before = one.slices(-1000, -10, 3);
		assertEquals(-1000, before.startNs());
		assertEquals(3, before.count());
	}

	/** Rates of less than one access per nanosecond count; what rounding leaves of them after their end does not, however long it lasts. */
	@Test
	void whatRoundingLeavesIsNoAccess() {
		assertTrue(0.1 + 0.2 - 0.1 - 0.2 > 0, "rounding leaves something");
		int n = 402;
		long[] start = new long[n];
		long[] end = new long[n];
		long[] amount = new long[n];
		for (int i = 0; i < 400; i++) { // atoms of a nanosecond
			start[i] = i;
			end[i] = i + 1;
		}
		end[400] = 200;
		amount[400] = 20; // 0.1 per ns
		end[401] = 400;
		amount[401] = 80; // 0.2 per ns
		long whole = 4_000_000_000_000_000_000L;
		long[] more = new long[n + 1000];
		long[] moreEnd = new long[n + 1000];
		System.arraycopy(start, 0, more, 0, n);
		System.arraycopy(end, 0, moreEnd, 0, n);
		for (int i = 0; i < 1000; i++) { // nothing happens for a very long time
			more[n + i] = 400 + whole / 1000 * i;
			moreEnd[n + i] = 400 + whole / 1000 * (i + 1);
		}
		TimeSlices s = new Made(more, moreEnd, Arrays.copyOf(amount, n + 1000), new long[n + 1000]).density(0, whole).slices(0, whole, 40);
		int inside = 0;
		for (int i = 0; i < 40; i++) {
			inside += s.boundNs(i + 1) <= 400 ? 1 : 0;
		}
		assertTrue(inside >= 18 && inside <= 22, inside + " of 40 slices where all accesses are; half of the weight is there");
	}

	/** Times of their own for each access: cells of a grid. */
	@Test
	void gridFollowsInstants() {
		TimeDensity.Times grid = TimeDensity.Times.of(null, 0, 1_000_000_000);
		long[] events = new long[grid.count()];
		for (int i = 0; i < 100_000; i++) {
			long at = i < 90_000 ? 500_000_000L + i * 10L : i * 9_999L;
			events[grid.number(at, at)]++;
		}
		TimeSlices s = grid.density(i -> events[i], i -> 0).slices(0, 1_000_000_000, 40);
		int inside = 0;
		for (int i = 0; i < 40; i++) {
			inside += s.boundNs(i) >= 499_000_000 && s.boundNs(i + 1) <= 502_000_000 ? 1 : 0;
		}
		assertTrue(inside >= 14, inside + " slices in a phase of 0.1 % of the time with 90 % of the events");
	}

	/** First touches are those of all accesses, whoever is hidden; the first recorded of the same interval. */
	@Test
	void firstTouches() throws Exception {
		MadeTrace t = new MadeTrace(3, 4, 100);
		int a = t.structure("A", 4);
		t.access(1, a, 0, 2, 0, 1);
		t.access(0, a, 0, 1, 1, 0);
		t.access(2, a, 1, 2, 1, 0);
		t.access(2, a, 1, 0, 1, 0);
		t.access(3, a, 3, 0, 1, 0);
		try (TraceStore store = t.open()) {
			AccessTable all = AccessTable.load(store, Progress.NONE);
			FirstTouches f = all.firstTouches(Progress.NONE);
			assertEquals(3, f.count());
			StringBuilder text = new StringBuilder();
			for (int i = 0; i < f.count(); i++) {
				assertEquals(i, f.indexOf(f.producer(i)));
				text.append(f.startNs(i) - MadeTrace.START_NS).append('-').append(f.endNs(i) - MadeTrace.START_NS).append(" #")
						.append(f.thread(i)).append("; ");
			}
			assertEquals("0-100 #1; 200-300 #2; 300-400 #0; ", text.toString());
		}
	}
}
