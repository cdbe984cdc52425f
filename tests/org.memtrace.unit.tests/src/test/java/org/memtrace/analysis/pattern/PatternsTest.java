// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.findings.PlantedTrace;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** Each label on a trace that was made for it, and on traces that miss it narrowly. */
class PatternsTest {
	private static final int INTERVALS = 10;
	private static final int THREADS = 4;
	private static final int LAST = 4096 - 64;

	/** Uses pages in an interval. */
	private interface Use {
		void in(PlantedTrace t, int s, int interval);
	}

	private static Patterns made(int pages, Use use) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(THREADS, INTERVALS);
		int s = t.structure("data", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			use.in(t, s, i);
		}
		return t.patterns();
	}

	/** The label, which must be the same in all intervals. */
	private static String label(int pages, Use use) throws MemtraceException {
		Patterns p = made(pages, use);
		List<Patterns.Span> spans = p.spans(0);
		assertEquals(1, spans.size(), () -> spans.stream().map(x -> x.fromNs() + " "
				+ Patterns.title(x.reading().pattern(), x.reading().strideBytes())).toList().toString());
		PatternReading r = spans.get(0).reading();
		assertTrue(r.index() >= 0 && r.index() <= 1, "index " + r.index());
		assertEquals(r.pattern() == null, r.index() == 0);
		for (Pattern each : Pattern.values()) {
			assertTrue(!r.checks().get(each).isEmpty(), each.toString());
			boolean holds = r.checks().get(each).stream().allMatch(Check::holds);
			assertTrue(!holds || r.pattern().ordinal() <= each.ordinal(), "the first that holds is the label");
		}
		return Patterns.title(r.pattern(), r.strideBytes());
	}

	private static void read(PlantedTrace t, int s, int page, int i, int thread, int offset) {
		t.access(s, page, i, thread, 1, 0, offset, -1);
	}

	private static void write(PlantedTrace t, int s, int page, int i, int thread, int offset) {
		t.access(s, page, i, thread, 0, 1, -1, offset);
	}

	@Test
	void linearSweepForwardAndBackward() throws MemtraceException {
		assertEquals("linear sweep", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, 0))));
		assertEquals("linear sweep", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, LAST))));
		assertEquals("linear sweep", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, i % THREADS, 0))),
				"each time by another thread");
		assertEquals("linear sweep", label(16, (t, s, i) -> IntStream.range(0, 16).forEach(p -> read(t, s, p, i, 0, 0))),
				"as few pages as possible");
	}

	@Test
	void linearSweepNearMisses() throws MemtraceException {
		assertEquals("no pattern", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, -1))),
				"without byte addresses it may be random");
		assertEquals("no pattern", label(15, (t, s, i) -> IntStream.range(0, 15).forEach(p -> read(t, s, p, i, 0, 0))), "too few pages");
		// a quarter of the pages is left out, irregularly
		Random random = new Random(1);
		boolean[] skip = new boolean[256];
		for (int p = 0; p < 256; p++) {
			skip[p] = random.nextInt(4) == 0;
		}
		assertEquals("no pattern", label(256, (t, s, i) -> IntStream.range(0, 256).filter(p -> !skip[p]).forEach(p -> read(t, s, p, i, 0, 0))));
		assertEquals("no pattern", label(1, (t, s, i) -> read(t, s, 0, i, 0, 0)), "one page");
	}

	@Test
	void stridedByPagesAndByLines() throws MemtraceException {
		assertEquals("strided 8.0 KiB", label(64, (t, s, i) -> IntStream.range(0, 32).forEach(p -> read(t, s, 2 * p, i, 0, 0))));
		assertEquals("strided 64.0 KiB", label(1024, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, 16 * p, i, 0, -1))));
		// column after column of rows of one page: all pages, the same line in each, another one in the next interval
		assertEquals("strided 4.0 KiB", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, 64 * (20 + i)))));
		// a column of a matrix with rows of 1,280 bytes: the first row in a page is elsewhere in each page
		assertEquals("strided 1280 B", label(80, (t, s, i) -> IntStream.range(0,
				80).forEach(p -> read(t, s, p, i, 0, (1280 - p * 4096 % 1280) % 1280 + 8))));
		// each of four threads has a column
		assertEquals("strided 4.0 KiB", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> {
			for (int k = 0; k < THREADS; k++) {
				read(t, s, p, i, k, 64 * (10 + 10 * k));
			}
		})));
	}

	@Test
	void stridedNearMisses() throws MemtraceException {
		assertEquals("linear sweep", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, p % 10 == 0 ? 1640 : 0))),
				"a tenth of the pages is entered inside");
		assertEquals("linear sweep", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, p % 2 == 0 ? 264 : 8))),
				"the border of each plane of a grid is left out");
		assertEquals("no pattern", label(64, (t, s, i) -> IntStream.range(0, 32).forEach(p -> read(t, s, 2 * p + (p % 3 == 0 ? 1 : 0), i, 0, 0))),
				"steps of one, two and three pages");
		assertNotEquals("strided 8.0 KiB", label(32, (t, s, i) -> IntStream.range(0, 15).forEach(p -> read(t, s, 2 * p, i, 0, 0))),
				"too few pages");
	}

	@Test
	void random() throws MemtraceException {
		Random lines = new Random(7);
		assertEquals("random", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, lines.nextInt(4096)))));
		Random pages = new Random(8);
		assertEquals("random", label(2048, (t, s, i) -> IntStream.range(0,
				2048).filter(p -> pages.nextInt(10) == 0).forEach(p -> read(t, s, p, i, 0, -1))), "some pages, without byte addresses");
	}

	@Test
	void randomNearMisses() throws MemtraceException {
		Random lines = new Random(9);
		assertEquals("no pattern",
				label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, p % 3 == 0 ? 64 * (10 + lines.nextInt(40)) : 0))),
				"most pages are entered at their begin");
		assertEquals("no pattern",
				label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> read(t, s, p, i, 0, p % 2 == 0 ? lines.nextInt(4096) : 1280))),
				"half of the entries are in one line, not enough for a stride");
	}

	/** Pages 3 and 70 are used by all, so often; the others by one thread each. */
	private static Use hot(int times, boolean shared, int others) {
		return (t, s, i) -> {
			for (int p = 0; p < 100; p++) {
				boolean hot = p == 3 || p == 70;
				for (int k = 0; k < THREADS; k++) {
					if (hot && shared || k == t.owner(p, 100) || p % 10 < others) {
						t.access(s, p, i, k, hot ? times : 1, hot ? times : 0, 0, 0);
					}
				}
			}
		};
	}

	@Test
	void hotSpot() throws MemtraceException {
		assertEquals("hot spot", label(100, hot(20, true, 0)));
		PatternReading r = made(100, hot(20, true, 0)).reading(0, 5);
		assertEquals(320.0 / (320 + 98), r.index(), 1e-9);
	}

	/** Each page has its owner, and some have other users, in each interval the next two of them; with so many records of a page. */
	private static Use crowded(IntPredicate hot, int users, boolean written, int others) {
		return (t, s, i) -> IntStream.range(0, 100).forEach(p -> {
			int owner = t.owner(p, 100);
			for (int k = 0; k < (hot.test(p) ? 2 : 1); k++) {
				int thread = hot.test(p) ? (owner + (i + k) % users) % THREADS : owner;
				t.access(s, p, i, thread, written ? 0 : 1, written ? hot.test(p) ? 1 : others : 0, written ? -1 : 0, written ? 0 : -1);
			}
		});
	}

	/** Recordings show two of the threads of a hot page in an interval, as many as of a border, and hardly more records. */
	@Test
	void hotSpotByItsThreads() throws MemtraceException {
		assertEquals("hot spot", label(100, crowded(p -> p == 3 || p == 70, THREADS, true, 1)));
		assertEquals("hot spot", label(100, crowded(p -> p == 3, 3, true, 2)), "three of four threads");
		assertEquals("blocks", label(100, crowded(p -> p == 3, 3, true, 3)), "other pages have more records");
		assertEquals("blocks", label(100, crowded(p -> p % 25 == 0, 2, true, 1)), "borders have two users");
		assertEquals("blocks", label(100, crowded(p -> p == 3 || p == 70, THREADS, false, 1)), "nobody writes");
		assertEquals("blocks", label(100, crowded(p -> p % 16 == 3, THREADS, true, 1)), "7 of 100 pages are too many");
		Use once = crowded(p -> p == 3, THREADS, true, 1);
		Use never = crowded(p -> false, THREADS, true, 1);
		assertEquals("blocks", label(100, (t, s, i) -> (i < 4 ? once : never).in(t, s, i)), "in less than half of the windows");
	}

	@Test
	void hotSpotNearMisses() throws MemtraceException {
		assertEquals("blocks", label(100, (t, s, i) -> IntStream.range(0, 100).forEach(p -> {
			for (int k = 0; k < THREADS; k++) {
				if (k == t.owner(p, 100) || p == 3 && k < 3) {
					read(t, s, p, i, k, 0);
				}
			}
		})), "only three times as many accesses as to another page");
		assertEquals("blocks", label(100, hot(20, false, 0)), "by one thread only");
		assertNotEquals("hot spot", label(100, hot(20, true, 3)), "many of the others are shared, too");
		assertNotEquals("hot spot", label(31, (t, s, i) -> IntStream.range(0, 31).forEach(p -> {
			for (int k = 0; k < (p == 3 ? THREADS : 1); k++) {
				t.access(s, p, i, k, p == 3 ? 50 : 1, 1, 0, 0);
			}
		})), "too few pages");
	}

	/** So many of four threads use all pages. */
	private static Use all(int threads, boolean write, int ofTen) {
		return (t, s, i) -> {
			for (int p = 0; p < 40; p++) {
				for (int k = 0; k < threads; k++) {
					if (k == t.owner(p, 40) || (p + 3 * k) % 10 < ofTen) {
						t.access(s, p, i, k, 1, write ? 1 : 0, 64 * ((p * 7 + k) % 64), 64 * ((p * 7 + k) % 64));
					}
				}
			}
		};
	}

	@Test
	void allToAll() throws MemtraceException {
		assertEquals("all-to-all", label(40, all(4, true, 10)));
		assertEquals("all-to-all", label(40, all(3, true, 10)), "three threads");
		assertEquals("all-to-all", label(40, all(4, true, 8)));
	}

	@Test
	void allToAllNearMisses() throws MemtraceException {
		assertNotEquals("all-to-all", label(40, all(4, false, 10)), "nobody writes");
		assertNotEquals("all-to-all", label(40, all(4, true, 4)), "half of the pairs");
		assertEquals("ping-pong", label(40, all(2, true, 10)), "two threads");
	}

	@Test
	void blocks() throws MemtraceException {
		assertEquals("blocks", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> write(t, s, p, i, t.owner(p, 64), 0))));
		assertEquals("blocks", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> write(t, s, p, i, (t.owner(p, 64) + i) % THREADS, 0))),
				"by another thread in the next interval");
		// the pages at the borders are used by both
		assertEquals("blocks", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> {
			write(t, s, p, i, t.owner(p, 64), 0);
			if (p % 16 == 0 && p > 0) {
				write(t, s, p, i, t.owner(p - 1, 64), LAST);
			}
		})));
	}

	@Test
	void blocksNearMisses() throws MemtraceException {
		assertEquals("strided 16.0 KiB", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> write(t, s, p, i, p % THREADS, 0))),
				"dealt out page by page");
		assertEquals("linear sweep", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> write(t, s, p, i, 0, 0))), "one thread");
		// sixteen short runs
		assertNotEquals("blocks", label(64, (t, s, i) -> IntStream.range(0, 64).forEach(p -> write(t, s, p, i, p / 4 % THREADS, 0))));
	}

	/** Two threads of four use a mailbox in so many intervals. */
	private static Use mailbox(int intervals, boolean write) {
		return (t, s, i) -> {
			for (int p = 0; p < 4; p++) {
				for (int k = 1; k < 3; k++) {
					if (i < intervals || k == 1) {
						t.access(s, p, i, k, 1, write && k == 1 ? 1 : 0, 128, 128);
					}
				}
			}
		};
	}

	@Test
	void pingPong() throws MemtraceException {
		assertEquals("ping-pong", label(4, mailbox(INTERVALS, true)));
		assertEquals("ping-pong", label(1, (t, s, i) -> {
			write(t, s, 0, i, 0, 0);
			write(t, s, 0, i, 3, 8);
		}), "one page");
	}

	@Test
	void pingPongNearMisses() throws MemtraceException {
		assertEquals("no pattern", label(4, mailbox(INTERVALS, false)), "both only read");
		assertEquals("no pattern", label(4, mailbox(2, true)), "a hand-over in two intervals");
		List<Patterns.Span> spans = made(4, mailbox(3, true)).spans(0);
		assertEquals(List.of(Pattern.PING_PONG), spans.stream().map(x -> x.reading().pattern()).filter(x -> x != null).toList());
		assertEquals(2, spans.size());
		Check lasting = made(4, mailbox(2, true)).reading(0, 0).checks().get(Pattern.PING_PONG).get(2);
		assertEquals(2, lasting.value());
		assertTrue(!lasting.holds() && !lasting.evidence(), "the reason is kept");
		assertEquals("all-to-all", label(4, (t, s, i) -> IntStream.range(0, 4).forEach(p -> {
			for (int k = 0; k < 3; k++) {
				write(t, s, p, i, k, 8 * k);
			}
		})), "a third thread");
	}

	@Test
	void labelsChangeWithTime() throws MemtraceException {
		Patterns p = made(64, (t, s, i) -> IntStream.range(0, 64).forEach(page -> write(t, s, page, i, i < 2 ? 0 : t.owner(page, 64), 0)));
		List<Patterns.Span> spans = p.spans(0);
		assertEquals(List.of(Pattern.LINEAR, Pattern.BLOCKS), spans.stream().map(x -> x.reading().pattern()).toList());
		assertEquals(0, spans.get(0).fromNs());
		assertEquals(2 * PlantedTrace.INTERVAL, spans.get(0).toNs());
		assertEquals(INTERVALS * PlantedTrace.INTERVAL, spans.get(1).toNs());
		assertEquals(Map.of("blocks", 0.8, "linear sweep", 0.2), p.shares(List.of(0)));
		assertNull(p.reading(1, 0), "no such structure");
	}

	@Test
	void twoPartsJoinedAreTheWhole() {
		Random random = new Random(20261122);
		for (int round = 0; round < 50; round++) {
			int pages = 1 + random.nextInt(200);
			int cut = random.nextInt(pages + 1);
			WindowUse whole = new WindowUse();
			WindowUse left = new WindowUse();
			WindowUse right = new WindowUse();
			for (int p = 0; p < pages; p++) {
				if (random.nextInt(4) == 0) {
					continue;
				}
				int n = 1 + random.nextInt(3);
				int[] threads = {0, 1, 2};
				double[] sums = {1 + random.nextInt(9), 1 + random.nextInt(9), 1 + random.nextInt(9)};
				int[] offsets = {random.nextInt(4096), 0, -1};
				boolean written = random.nextBoolean();
				whole.page(p, n, threads, sums, offsets, written, 4096);
				(p < cut ? left : right).page(p, n, threads, sums, offsets, written, 4096);
			}
			left.join(right);
			assertEquals(whole.pages, left.pages);
			assertEquals(whole.pairs, left.pairs);
			assertEquals(whole.sharedWritten, left.sharedWritten);
			assertEquals(whole.accesses, left.accesses);
			assertEquals(whole.twos, left.twos);
			assertEquals(whole.topAccesses.length, left.topAccesses.length);
			for (int i = 0; i < whole.topAccesses.length; i++) {
				assertEquals(whole.topAccesses[i], left.topAccesses[i], "round " + round);
			}
			// what is between the two parts may be missing
			assertTrue(whole.ownerChanges - left.ownerChanges <= 1 && left.ownerChanges <= whole.ownerChanges);
			int all = whole.steps().all();
			int joined = left.steps().all();
			assertTrue(all - joined >= 0 && all - joined <= 3, all + " " + joined);
		}
	}
}
