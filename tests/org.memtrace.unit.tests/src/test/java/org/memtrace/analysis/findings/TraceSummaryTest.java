// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.table.StructureTable;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** A large private array and three single pages that two threads write at the same time: always, once, on a stack. */
class TraceSummaryTest {
	private static final int PAGE = 4096;
	private static final int INTERVALS = 40;
	private static final int LARGE = 200;

	private List<Finding> findings;

	/** What is lost and what is not seen are different things; each is told, alone or with the other one. */
	@Test
	void warnsOfWhatIsNotThere() {
		assertEquals("", warning(Map.of("losses", "0")));
		assertEquals("the recorder lost 1 record", warning(Map.of("losses", "1")));
		assertEquals("8 MiB of shared memory not seen", warning(Map.of("losses", "0", "unseen", "8 MiB of shared memory not seen")));
		assertEquals("the recorder lost 12 records; 8 MiB of shared memory not seen",
				warning(Map.of("losses", "12", "unseen", "8 MiB of shared memory not seen")));
		assertEquals("8 MiB of shared memory not seen", warning(Map.of("losses", "many", "unseen", "8 MiB of shared memory not seen")));
		assertEquals("10 % of the time; the recorder lost 1 access in windows; 8 MiB of shared memory not seen; 9 % of them",
				warning(Map.of("losses", "1", "guarantee_counts", "windows", TraceInfo.PROPERTY_WINDOWS, "10 % of the time", "unseen",
						"8 MiB of shared memory not seen", TraceInfo.PROPERTY_MAYBE_UNTOUCHED, "9 % of them")));
		assertEquals("9 % of them", warning(Map.of("losses", "0", TraceInfo.PROPERTY_MAYBE_UNTOUCHED, "9 % of them")));
		assertEquals("the recorder lost 12 records; 9 % of them",
				warning(Map.of("losses", "12", TraceInfo.PROPERTY_MAYBE_UNTOUCHED, "9 % of them")));
	}

	/** What was lost has the name of what was counted. */
	@Test
	void whatIsLostHasItsName() {
		assertEquals("the recorder lost 1 access", warning(Map.of("losses", "1", "guarantee_counts", "exact", "guarantee_pages", "complete")));
		assertEquals("the recorder lost 12 page faults", warning(Map.of("losses", "12", "guarantee_pages", "complete")));
	}

	private static String warning(Map<String, String> properties) {
		return TraceSummary.lossWarning(new TraceInfo(-1, "t", "t", TraceInfo.TYPE_MEMTRACE, "app", "host", "Linux", 2, 0, 0, 0, 1,
				Instant.EPOCH, PAGE, "", properties));
	}

	/** Of one trace once each access was counted, once only page faults were: the words differ, and nothing else. */
	@Test
	void wordsFollowTheGuarantee() throws Exception {
		String exact = text(Map.of("guarantee_counts", "exact", "guarantee_pages", "complete"));
		String faults = text(Map.of("guarantee_pages", "complete"));
		String unknown = text(Map.of());
		String windows = text(Map.of("guarantee_counts", "windows", "guarantee_pages", "sampled",
				TraceInfo.PROPERTY_WINDOWS, "10 % of the time"));
		assertTrue(windows.contains("\nCounted    16,324 accesses in windows (50.0 % reads) in 8,162 records\nWindows    10 % of the time\n"), windows);
		assertTrue(windows.contains("Accesses in windows: share of all accesses in windows."), windows);
		assertTrue(exact.contains("\nCounted    16,324 accesses (50.0 % reads) in 8,162 records\n"), exact);
		assertTrue(faults.contains("\nCounted    16,324 page faults (50.0 % reads) in 8,162 records\n"), faults);
		assertTrue(unknown.contains("\nCounted    16,324 records (50.0 % reads) in 8,162 rows\n"), unknown);
		assertFalse(faults.contains("ccess"), faults);
		assertFalse(unknown.contains("ccess"), unknown);
		assertTrue(exact.contains("Accesses: share of all accesses.") && exact.contains("2 of 2 threads with accesses\n"), exact);
		assertTrue(faults.contains("Page faults: share of all page faults."), faults);
	}

	/** Both bounds, with a number that is none left out. */
	@Test
	void tellsHowMuchLongerTheRunTook() throws Exception {
		String slower = text(Map.of("losses", "0", TraceInfo.PROPERTY_SLOWER_LOW, "0.0234", TraceInfo.PROPERTY_SLOWER_HIGH, "0.31",
				"backend", "zap", "guarantee_pages", "complete"));
		assertTrue(slower.contains("\n           the run took about 2.3 to 31 % longer by it, hooks of malloc left out\n"), slower);
		assertFalse(text(Map.of("losses", "0", TraceInfo.PROPERTY_SLOWER_LOW, "x", TraceInfo.PROPERTY_SLOWER_HIGH, "1")).contains("longer"));
	}

	/** A resolution that is coarser than asked for is told, as no loss. */
	@Test
	void whatTheRecorderIsCertainOfFollowsItsPromise() throws Exception {
		String subphases = text(Map.of("guarantee_pages", "complete", "guarantee_threads", "first-per-subphase"));
		assertTrue(subphases.contains("page in each subphase;") && subphases.contains("more --subphases see more, and so does --fine 50ms."),
				subphases);
		String intervals = text(Map.of("guarantee_pages", "complete", "guarantee_threads", "first-per-interval"));
		assertTrue(intervals.contains("page in each interval;") && intervals.contains("shorter intervals see more."), intervals);
		assertFalse(intervals.contains("--subphases"), intervals);
		assertFalse(text(Map.of("guarantee_pages", "complete", "guarantee_threads", "all")).contains("certain only"));
	}

	@Test
	void tellsLateIntervals() throws Exception {
		String late = text(Map.of("losses", "0", TraceInfo.PROPERTY_LATE, "2 of 9 intervals took longer"));
		assertTrue(late.contains("\nLosses     none known to the recorder; not known what was not seen\nIntervals  2 of 9 intervals took longer\n"), late);
		assertFalse(text(Map.of("losses", "0")).contains("Intervals  "));
	}

	/** Blocks that no structure stands for are told. */
	@Test
	void tellsBlocksThatAreNotListed() throws Exception {
		String brief = text(Map.of("losses", "0", TraceInfo.PROPERTY_UNLISTED, "7 blocks that lived shortly"));
		assertTrue(brief.contains("\nBlocks     7 blocks that lived shortly\n"), brief);
		assertFalse(text(Map.of("losses", "0")).contains("Blocks  "));
	}

	/** That nothing was lost is said together with what was not seen, also where nobody knows. */
	@Test
	void tellsWhatWasNotSeen() throws Exception {
		String all = text(Map.of("losses", "0", TraceInfo.PROPERTY_ALL_SEEN, "all memory seen but code (2 MiB)"));
		assertTrue(all.contains("\nLosses     none known to the recorder; all memory seen but code (2 MiB)\n"), all);
		String some = text(Map.of("losses", "0", TraceInfo.PROPERTY_UNSEEN, "not seen: 32 MiB in 1 file mapped for reading (model.bin)"));
		assertTrue(some.contains("\nLosses     not seen: 32 MiB in 1 file mapped for reading (model.bin): what follows is about the rest\n"), some);
		String unknown = text(Map.of("losses", "0"));
		assertTrue(unknown.contains("\nLosses     none known to the recorder; not known what was not seen\n"), unknown);
		assertEquals("", warning(Map.of("losses", "0", TraceInfo.PROPERTY_ALL_SEEN, "all memory seen")));
		// processes: a warning if they could not be reached, none if they were too small to be recorded
		assertEquals("", warning(Map.of("losses", "0", TraceInfo.PROPERTY_UNRECORDED, "3 small ones")));
		assertEquals("1 process not recorded", warning(Map.of("losses", "0", TraceInfo.PROPERTY_UNRECORDED, "1 process not recorded",
				TraceInfo.PROPERTY_UNREACHED, "1")));
	}

	/** A page on which two structures lay is one page of memory. */
	@Test
	void aPageIsCountedOnce() throws Exception {
		String apart = text(Map.of());
		assertTrue(apart.contains("\nMemory     203 pages touched (812 KiB), 1.5 % of them by several threads, 1.5 % at the same time\n"), apart);
		try (TraceStore store = store(Map.of(), 0x20000000L)) {
			TraceSummary summary = summary(store);
			assertTrue(summary.text().contains("\nMemory     202 pages touched (808 KiB); of the pages of structures 1.5 % by several"
					+ " threads, 1.5 % at the same time\n"), summary.text());
			assertEquals(202, summary.toJson(null).get("pages").getAsLong());
			assertEquals(203, summary.toJson(null).get("pages_by_structure").getAsLong());
		}
	}

	/** Names that nobody finds in the source, and why they are no better. */
	@Test
	void howMuchHasNoName() throws Exception {
		String text = text(Map.of("guarantee_pages", "complete"));
		assertTrue(text.contains("\nNames      98.0 % of the page faults are to memory that no variable or source line names: 98.0 % in blocks that"
				+ " have the name of a function or of an address of code, as the code that allocates them has no debug information (compile with -g)\n"), text);
	}

	private static TraceSummary summary(TraceStore store) throws Exception {
		return new TraceSummary(StructureTable.of(AccessTable.load(store, Progress.NONE), store.structures(), Progress.NONE));
	}

	private static String text(Map<String, String> properties) throws Exception {
		try (TraceStore store = store(properties)) {
			return summary(store).text();
		}
	}

	@BeforeEach
	void summarise() throws Exception {
		try (TraceStore store = store(Map.of())) {
			findings = Advisor.of(store, store.accessSource(Progress.NONE), Thresholds.STANDARD, Progress.NONE).findings();
		}
	}

	private static TraceStore store(Map<String, String> properties) throws Exception {
		return store(properties, 0x40000000L);
	}

	private static TraceStore store(Map<String, String> properties, long stackAddress) throws Exception {
		ProducerTreeBuilder tree = new ProducerTreeBuilder(PAGE);
		List<Structure> structures = new ArrayList<>();
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		int[] large = structure(tree, structures, StructureKind.HEAP, "large", 0x10000000L, LARGE);
		int always = structure(tree, structures, StructureKind.STATIC, "counters", 0x20000000L, 1)[0];
		int once = structure(tree, structures, StructureKind.STATIC, "setup", 0x30000000L, 1)[0];
		int stack = structure(tree, structures, StructureKind.STACK, "stack of thread 1", stackAddress, 1)[0];
		tree.end();
		AccessBatch batch = new AccessBatch(INTERVALS * (LARGE + 6));
		for (int i = 0; i < INTERVALS; i++) {
			for (int page : large) {
				access(batch, i, page, page % 2, 1);
			}
			for (int thread = 0; thread < 2; thread++) {
				access(batch, i, always, thread, 2);
				access(batch, i, stack, thread, 2);
				if (i == 0) {
					access(batch, i, once, thread, 2);
				}
			}
		}
		TraceCatalogue catalogue = Stores.inMemory();
		int id;
		try (TraceWriter w = catalogue.create("summary")) {
			w.threads(List.of(new ThreadInfo(0, 0, 10, "main", 0, Long.MAX_VALUE, "", true),
					new ThreadInfo(1, 0, 11, "worker", 0, Long.MAX_VALUE, "work", false)));
			w.structures(structures);
			w.cpuSets(List.of(BitSet.valueOf(new long[] {1})));
			w.producers(tree.build());
			w.accesses(batch);
			id = w.commit(new TraceInfo(-1, "summary", "summary", TraceInfo.TYPE_MEMTRACE, "app", "host", "Linux", 2, batch.count, 0,
					0, INTERVALS * 1_000_000L, Instant.EPOCH, PAGE, "", properties), "{}", Progress.NONE).id();
		}
		return catalogue.open(id);
	}

	private static int[] structure(ProducerTreeBuilder tree, List<Structure> list, StructureKind kind, String name, long address,
			int pages) {
		int id = list.size();
		long end = address + (long) pages * PAGE;
		list.add(new Structure(id, 0, kind, name, address, end, 0, Long.MAX_VALUE, 10, -1, ""));
		int[] leaves = new int[pages];
		tree.begin(kind == StructureKind.STACK ? ProducerKind.STACK : ProducerKind.STRUCTURE, name, address, end, id);
		for (int p = 0; p < pages; p++) {
			leaves[p] = tree.leaf(ProducerKind.PAGE, null, address + (long) p * PAGE, address + (p + 1L) * PAGE, id);
		}
		tree.end();
		return leaves;
	}

	private static void access(AccessBatch batch, int interval, int page, int thread, int sharing) {
		long start = interval * 1_000_000L;
		batch.add(start, start + 1_000_000, page, thread, 0, 1, 1, sharing, 0, 0, 0);
	}

	private long about(String structure) {
		return findings.stream().filter(f -> f.name().equals(structure)).count();
	}

	@Test
	void lastingWriteSharingOfASmallStructureIsTold() {
		assertEquals(1, about("counters"), findings.toString());
		Finding f = findings.stream().filter(g -> g.name().equals("counters")).findFirst().orElseThrow();
		assertTrue(f.evidence().contains("false sharing"), f.evidence());
		assertTrue(f.evidence().contains(" of 50 intervals"), f.evidence());
	}

	@Test
	void whatHappensOnceAndWhatTheRunTimeSystemDoesIsNot() {
		assertEquals(0, about("setup"), findings.toString());
		assertEquals(0, about("stack of thread 1"), findings.toString());
	}
}
