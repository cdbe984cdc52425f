// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.model.CountUnit;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;

/** A page is private only where something speaks for it. */
class SharingEvidenceTest {
	private static final int UNKNOWN = AccessBatch.SHARING_NOT_KNOWN;

	private record Use(int page, int thread, long startNs, long endNs, long reads, long writes, int flags) {
		Use(int page, int thread, long startNs, long endNs, long reads) {
			this(page, thread, startNs, endNs, reads, 0, 0);
		}
	}

	private static ThreadInfo thread(int index, long birthNs, long deathNs) {
		return new ThreadInfo(index, 0, 100 + index, "t", birthNs, deathNs, "", index == 0);
	}

	private static List<Integer> sweep(SharingEvidence evidence, List<Use> uses) {
		SharingSweep sweep = new SharingSweep(evidence);
		uses.forEach(u -> sweep.add(u.page, u.thread, u.startNs, u.endNs, u.reads, u.writes, u.flags));
		sweep.finish();
		sweep.threads(uses.stream().map(Use::thread).filter(t -> t >= 0).distinct().toList());
		List<Integer> found = new ArrayList<>();
		for (int i = 0; i < uses.size(); i++) {
			found.add(sweep.sharing(i));
		}
		return found;
	}

	/** Two threads that live all the time; pages have numbers below 100, the last use is that of thread 1 on another page. */
	private static List<Integer> ofTwo(List<Use> uses) {
		List<Use> all = new ArrayList<>(uses);
		all.add(new Use(100, 1, 1_000_000, 1_000_001, 1));
		SharingEvidence two = SharingEvidence.of(CountUnit.PAGE_FAULTS, false,
				List.of(thread(0, 5, Long.MAX_VALUE), thread(1, 0, Long.MAX_VALUE)));
		return sweep(two, all).subList(0, uses.size());
	}

	@Test
	void fourteenLooksOneAfterTheOtherAreEnough() {
		List<Use> thirteen = new ArrayList<>();
		for (int i = 0; i < 13; i++) {
			thirteen.add(new Use(0, 0, 10 * i, 10 * i + 10, 1));
		}
		assertEquals(java.util.Collections.nCopies(13, UNKNOWN), ofTwo(thirteen));
		List<Use> fourteen = new ArrayList<>(thirteen);
		fourteen.add(new Use(0, 0, 130, 140, 1));
		fourteen.add(new Use(0, 0, 140, 150, 1));
		assertEquals(java.util.Collections.nCopies(15, 1), ofTwo(fourteen), "those before as well, and those after");
		List<Use> elsewhere = new ArrayList<>(thirteen);
		elsewhere.add(new Use(1, 0, 130, 140, 1));
		assertEquals(java.util.Collections.nCopies(14, UNKNOWN), ofTwo(elsewhere), "each page for itself");
	}

	@Test
	void anotherThreadEndsTheLooks() {
		List<Use> uses = new ArrayList<>();
		for (int i = 0; i < 13; i++) {
			uses.add(new Use(0, 0, 10 * i, 10 * i + 10, 1));
		}
		uses.add(new Use(0, 1, 130, 140, 1));
		for (int i = 14; i < 27; i++) {
			uses.add(new Use(0, 0, 10 * i, 10 * i + 10, 1));
		}
		assertEquals(java.util.Collections.nCopies(27, UNKNOWN), ofTwo(uses));
		uses.add(new Use(0, 0, 270, 280, 1));
		assertEquals(UNKNOWN, ofTwo(uses).get(12), "it does not reach over the other thread");
		assertEquals(UNKNOWN, ofTwo(uses).get(13));
		assertEquals(1, ofTwo(uses).get(14));
		assertEquals(1, ofTwo(uses).get(27));
	}

	@Test
	void looksAreTheLargerOfReadsAndWrites() {
		assertEquals(List.of(UNKNOWN), ofTwo(List.of(new Use(0, 0, 0, 10, 13, 13, 0))), "a look may see both");
		assertEquals(List.of(1), ofTwo(List.of(new Use(0, 0, 0, 10, 2, 14, 0))));
		assertEquals(List.of(UNKNOWN), ofTwo(List.of(new Use(0, 0, 0, 10, 20, 0, AccessBatch.FLAG_FROM_SCAN))), "nobody looked");
	}

	@Test
	void whatTwoThreadsUseIsSharedWhateverTheLooks() {
		assertEquals(List.of(2, 2), ofTwo(List.of(new Use(0, 0, 0, 10, 50), new Use(0, 1, 5, 12, 50))));
	}

	@Test
	void recordsWithoutAThreadNeitherCountNorEndTheLooks() {
		List<Use> uses = new ArrayList<>();
		for (int i = 0; i < 7; i++) {
			uses.add(new Use(0, 0, 10 * i, 10 * i + 10, 1));
		}
		uses.add(new Use(0, AccessBatch.NO_THREAD, 70, 80, 9));
		for (int i = 8; i < 14; i++) {
			uses.add(new Use(0, 0, 10 * i, 10 * i + 10, 1));
		}
		assertEquals(java.util.Collections.nCopies(14, UNKNOWN), ofTwo(uses));
		uses.add(new Use(0, 0, 140, 150, 1));
		List<Integer> found = ofTwo(uses);
		assertEquals(1, found.get(0));
		assertEquals(UNKNOWN, found.get(7), "nobody knows who that was");
	}

	@Test
	void whereOneThreadLivedThereWasNoOther() {
		SharingEvidence evidence = SharingEvidence.of(CountUnit.PAGE_FAULTS, false,
				List.of(thread(0, 7, Long.MAX_VALUE), thread(1, 100, 200), thread(2, 150, 300)));
		List<Use> uses = List.of(new Use(0, 0, 0, 100, 1), new Use(0, 0, 90, 101, 1), new Use(0, 0, 100, 110, 1), new Use(1, 1, 199, 210, 1),
				new Use(0, 0, 299, 310, 1), new Use(0, 0, 300, 310, 1));
		assertEquals(List.of(1, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 1), sweep(evidence, uses));
	}

	@Test
	void livesSayNothingWhenAThreadIsNotAmongThem() {
		SharingEvidence evidence = SharingEvidence.of(CountUnit.PAGE_FAULTS, false, List.of(thread(0, 0, Long.MAX_VALUE)));
		assertEquals(List.of(1, 1), sweep(evidence, List.of(new Use(0, 0, 0, 10, 1), new Use(1, 0, 10, 20, 1))));
		assertEquals(List.of(UNKNOWN, UNKNOWN), sweep(evidence, List.of(new Use(0, 0, 0, 10, 1), new Use(1, 3, 10, 20, 1))));
	}

	@Test
	void aProcessWithOneThreadInAllRecordsHasNoOther() {
		SharingEvidence nothing = SharingEvidence.of(CountUnit.PAGE_FAULTS, false, List.of());
		assertEquals(List.of(1, 1), sweep(nothing, List.of(new Use(0, 4, 0, 10, 1), new Use(1, AccessBatch.NO_THREAD, 10, 20, 1))));
		assertEquals(List.of(UNKNOWN, UNKNOWN), sweep(nothing, List.of(new Use(0, 4, 0, 10, 1), new Use(1, 5, 10, 20, 1))));
		assertEquals(List.of(UNKNOWN), sweep(nothing, List.of(new Use(0, AccessBatch.NO_THREAD, 0, 10, 1))), "no thread was ever told");
		SharingEvidence samples = SharingEvidence.of(CountUnit.SAMPLES, true, List.of());
		assertEquals(List.of(UNKNOWN), sweep(samples, List.of(new Use(0, 4, 0, 10, 1))), "a sample misses most");
	}

	@Test
	void memoryOfOtherProcessesIsNotJudgedByOne() {
		int foreign = AccessBatch.FLAG_NOT_PRIVATE;
		SharingEvidence one = SharingEvidence.of(CountUnit.PAGE_FAULTS, false, List.of(thread(0, 0, Long.MAX_VALUE)));
		assertEquals(List.of(UNKNOWN, 1), sweep(one, List.of(new Use(0, 0, 0, 10, 20, 0, foreign), new Use(1, 0, 0, 10, 1))));
		SharingEvidence all = SharingEvidence.ofAllProcesses(CountUnit.PAGE_FAULTS, false);
		assertEquals(List.of(1, UNKNOWN), sweep(all, List.of(new Use(0, 0, 0, 10, 20, 0, foreign), new Use(1, 1, 0, 10, 1, 0, foreign))));
	}

	@Test
	void exactCountsMissNobody() {
		assertSame(SharingEvidence.COMPLETE, SharingEvidence.of(CountUnit.ACCESSES, false, List.of()));
		assertSame(SharingEvidence.COMPLETE, SharingEvidence.of(CountUnit.PAGE_FAULTS, true, List.of()));
		assertFalse(SharingEvidence.of(CountUnit.SAMPLES, true, List.of()).isComplete());
		assertFalse(SharingEvidence.of(CountUnit.ACCESSES_IN_WINDOWS, true, List.of()).isComplete());
		SharingEvidence windows = SharingEvidence.of(CountUnit.ACCESSES_IN_WINDOWS, false, List.of());
		assertEquals(List.of(UNKNOWN, UNKNOWN), sweep(windows, List.of(new Use(0, 0, 0, 10, 1000), new Use(1, 1, 0, 10, 1000))));
	}

	/**
	 * Pages of which a second thread has every fourth use, or none, seen by one look after the other: what is called private is so in most
	 * cases, and private pages are known after enough looks.
	 */
	@Test
	void fewSharedPagesAreCalledPrivate() {
		long seed = 20261128;
		Random random = new Random(seed);
		int pages = 4000;
		List<Use> uses = new ArrayList<>();
		for (int look = 0; look < 30; look++) {
			for (int page = 0; page < pages; page++) {
				int thread = page % 2 == 0 && random.nextInt(4) == 0 ? 1 : 0;
				uses.add(new Use(page, thread, 10L * look, 10L * look + 10, 1));
			}
		}
		uses.add(new Use(pages, 1, 300, 310, 1));
		List<Integer> found = sweep(SharingEvidence.of(CountUnit.PAGE_FAULTS, false, List.of()), uses);
		int wrong = 0;
		int right = 0;
		for (int page = 0; page < pages; page++) {
			wrong += page % 2 == 0 && found.get(29 * pages + page) == 1 ? 1 : 0;
			right += page % 2 == 1 && found.get(page) == 1 ? 1 : 0;
		}
		assertEquals(pages / 2, right, "seed " + seed);
		assertTrue(wrong < pages / 2 * 0.05, wrong + " wrong, seed " + seed);
	}
}
