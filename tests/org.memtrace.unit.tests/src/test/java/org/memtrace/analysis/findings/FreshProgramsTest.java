// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** What the rules said wrongly, or did not say, about programs that were not made for them. */
class FreshProgramsTest {
	private static final int INTERVALS = 20;
	private static final long OWN = 0x1000;
	private static final long LIBRARY = 0x2000;

	private static PlantedTrace trace(int threads) {
		return new PlantedTrace(threads, INTERVALS);
	}

	/** "rule name" of each finding. */
	private static List<String> said(PlantedTrace t) throws MemtraceException {
		return t.advise().findings().stream().map(f -> f.rule() + " " + f.name()).toList();
	}

	private static void own(PlantedTrace t) {
		t.code(OWN, "count", "/src/server.c", 16);
	}

	private static void library(PlantedTrace t) {
		t.code(LIBRARY, "/lib/x86_64-linux-gnu/libgomp.so.1", "gomp_barrier_wait", "", 0);
	}

	/** Counters of six threads in one small block: they are in the heap as a whole. */
	private static void smallCounters(PlantedTrace t, int distance) {
		int s = t.structure("heap (small blocks)", StructureKind.BRK, 8);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < t.threads(); k++) {
				t.access(s, 2, i, k, 1, 1, 320 + k * distance, 320 + k * distance);
			}
		}
	}

	@Test
	void countersInASmallBlockShareALine() throws MemtraceException {
		PlantedTrace t = trace(6);
		own(t);
		smallCounters(t, 8);
		Finding f = t.advise().findings().get(0);
		assertEquals("false-sharing heap (small blocks)", f.rule() + " " + f.name());
		assertTrue(f.fix().command().equals("memtrace record --min-alloc 16 -- ./work")
				&& f.fix().words().contains("count (server.c:16)"), f.fix().text());
		assertTrue(f.notes().stream().anyMatch(n -> n.contains("--min-alloc")), () -> "" + f.notes());
		// six threads, each with one record in each interval of 1000 ns
		assertEquals(6e6, f.figures().get("line_records_per_second"), 1);
		assertTrue(f.evidence().contains("seen to enter this line about 6000000 times a second"), f.evidence());
		t = trace(6);
		own(t);
		smallCounters(t, 64);
		assertEquals(List.of(), said(t));
	}

	/** A program that starts its threads anew in each step: who uses a page is not known by thread, and the finding says so. */
	@Test
	void threadsThatAreStartedAnewAreNoted() throws MemtraceException {
		for (long life : new long[] {500, 1999, 2000, 0}) {
			PlantedTrace t = trace(16);
			t.brief(life);
			int s = t.structure("field", StructureKind.HEAP, 64);
			for (int p = 0; p < 64; p++) {
				t.write(s, p, 0, 0);
				for (int i = 1; i < INTERVALS; i++) {
					t.write(s, p, i, t.owner(p, 64));
				}
			}
			String text = AdviceText.text(t.advise());
			assertEquals(life == 500 || life == 1999, text.contains("15 of 16 threads lived for less than two intervals"), life + " " + text);
		}
	}

	/** A table that the main thread makes and that all threads use for a short time: it is not worth much where its pages are. */
	@Test
	void firstTouchOfWhatIsHardlyUsedDoesNotMatter() throws MemtraceException {
		for (int used = 1; used <= 2; used++) {
			PlantedTrace t = trace(4);
			int table = t.structure("table", StructureKind.HEAP, 64);
			int work = t.structure("work", StructureKind.HEAP, 64);
			for (int i = 0; i < INTERVALS; i++) {
				for (int page = 0; page < 64; page++) {
					t.write(work, page, i, t.owner(page, 64));
					if (i == 0) {
						t.write(table, page, i, 0);
					} else if (i >= INTERVALS - used) {
						t.write(table, page, i, t.owner(page, 64));
					} else if (i == 1) { // its own use says nothing
						t.read(table, page, i, 0);
					}
				}
			}
			assertEquals(used == 1 ? List.of() : List.of("first-touch table"), said(t), used + " of " + INTERVALS);
		}
	}

	/** The matrix product: the main thread clears C, each thread writes its rows once, the main thread adds C up once. */
	@Test
	void whatIsWrittenOnceAndReadOnceBelongsToTheWriter() throws MemtraceException {
		PlantedTrace t = trace(5);
		own(t);
		int c = t.structure("C", StructureKind.HEAP, 64);
		for (int page = 0; page < 64; page++) {
			t.code(0x5000, "clear", "/src/mm.c", 4);
			t.access(c, page, 0, 0, 0, 1, -1, 0);
			t.code(0x5100, "product._omp_fn.0", "/src/mm.c", 12);
			t.access(c, page, 1 + page % 16, 1 + page / 16, 0, 1, -1, 0);
			t.access(c, page, INTERVALS - 1, 0, 1, 0, 0, -1);
		}
		assertEquals(List.of("first-touch C"), said(t));
	}

	/** A sort in buckets with fixed parts: in page (w, r) thread w writes and thread r reads, in each interval. */
	private static PlantedTrace buckets(boolean all) throws MemtraceException {
		PlantedTrace t = trace(4);
		own(t);
		int s = t.structure("buckets", StructureKind.STATIC, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int page = 0; page < 64; page++) {
				int writer = page % 4;
				int reader = all ? page / 4 % 4 : (writer + (page < 24 ? 0 : 1)) % 4;
				t.access(s, page, i, writer, 0, 1, -1, 0);
				if (reader != writer) {
					t.access(s, page, i, reader, 1, 0, 0, -1);
				}
			}
		}
		return t;
	}

	@Test
	void partsThatEachTwoThreadsExchangeAreAllToAll() throws MemtraceException {
		Finding f = buckets(true).advise().findings().get(0);
		assertEquals("all-to-all buckets", f.rule() + " " + f.name());
		assertTrue(f.evidence().contains("75.0 % of its 64 pages are used by two threads or more, and each two of its 4 threads meet in some"), f.evidence());
		// neighbours exchange: each thread meets two others
		assertTrue(said(buckets(false)).stream().noneMatch(s -> s.startsWith("all-to-all")), () -> "neighbours");
	}

	/** The barrier of a run time system is in the same heap, and nobody can move it. */
	@Test
	void smallBlocksOfLibrariesAreNotJudged() throws MemtraceException {
		PlantedTrace t = trace(6);
		library(t);
		smallCounters(t, 8);
		assertEquals(List.of(), said(t));
		t = trace(6);
		smallCounters(t, 8);
		assertEquals(List.of(), said(t), "no code is known");
	}

	/** A tree of small nodes that the main thread builds, whose pages malloc touches first; each thread then works on a part. */
	@Test
	void nodesOfATreeAreTouchedFirstByOneThread() throws MemtraceException {
		for (boolean serial : new boolean[] {true, false}) {
			PlantedTrace t = trace(3);
			int s = t.structure("heap (small blocks)", StructureKind.BRK, 90);
			for (int p = 0; p < 90; p++) {
				library(t);
				t.write(s, p, 0, serial ? 0 : p / 30);
				own(t);
				for (int i = 1; i < INTERVALS; i++) {
					t.write(s, p, i, p / 30);
				}
			}
			assertEquals(serial ? List.of("first-touch heap (small blocks)") : List.of(), said(t));
		}
	}

	/** Blocks of 1024 bytes that are one producer of this name: the main thread touches all first, three threads use them. */
	private static PlantedTrace oneProducer(String label, int others) {
		PlantedTrace t = trace(3);
		long base = 0x40000000L;
		for (int b = 0; b < 1200; b++) {
			String name = "node" + (b == 0 ? "" : " #" + (b + 1));
			t.site(t.structure(name, StructureKind.HEAP, base + 1024L * b, 1024, 0, Long.MAX_VALUE, 0), b < others ? "list.c:9" : "tree.c:6");
		}
		t.merge(label, base, 300);
		for (int p = 0; p < 300; p++) {
			t.write(PlantedTrace.MERGED, p, 0, 0);
			for (int i = 1; i < INTERVALS; i++) {
				t.write(PlantedTrace.MERGED, p, i, p / 100);
			}
		}
		return t;
	}

	/** So many blocks that they are one producer: they are not untouched, and who touches them first is told. */
	@Test
	void blocksThatAreOneProducerAreJudged() throws MemtraceException {
		for (String label : new String[] {"tree.c:6 (1,200 blocks)", "heap blocks of 1,024 bytes (1,200 blocks)", "all my nodes"}) {
			assertEquals(List.of("first-touch node"), said(oneProducer(label, 0)), label);
		}
		// a block that was freed before was at the same addresses, and has pages of its own
		PlantedTrace t = oneProducer("all my nodes", 0);
		t.site(t.structure("input", StructureKind.HEAP, 0x40000000L - PlantedTrace.PAGE, 301 * PlantedTrace.PAGE, 0, 10, 0), "read.c:3");
		assertEquals(List.of("first-touch node"), said(t));
	}

	/** Of pages that have blocks of several places nobody knows whose accesses were recorded; the other pages count. */
	@Test
	void pagesOfBlocksOfSeveralPlacesAreNotJudged() throws MemtraceException {
		PlantedTrace t = oneProducer("heap (1,200 blocks)", 2);
		assertEquals(List.of("first-touch node"), said(t));
		assertTrue(AdviceText.text(t.advise()).contains("299 pages"), AdviceText.text(t.advise()));
	}

	/** The page at the border of two parts is read by a third thread all the time; only two write it. */
	@Test
	void aBorderThatOthersReadIsNotHot() throws MemtraceException {
		PlantedTrace t = trace(4);
		int s = t.structure("area", StructureKind.HEAP, 128);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 128; p++) {
				t.write(s, p, i, t.owner(p, 128));
			}
			t.write(s, 64, i, 1);
			t.read(s, 64, i, 3);
			t.read(s, 64, i, 0);
		}
		assertEquals(List.of(), said(t));
	}

	/** Thirty arrays beside one large one: each has little of the run, together they have much. */
	@Test
	void manySmallStructuresWithOneCauseMatter() throws MemtraceException {
		for (int arrays : new int[] {30, 2}) {
			PlantedTrace t = trace(4);
			int large = t.structure("scratch", StructureKind.HEAP, 4000);
			for (int i = 0; i < 4; i++) {
				for (int p = 0; p < 4000; p++) {
					t.write(large, p, i, t.owner(p, 4000));
				}
			}
			for (int n = 0; n < arrays; n++) {
				int s = t.structure("m_" + (char) ('a' + n), StructureKind.HEAP, 20);
				for (int i = 0; i < 4; i++) {
					for (int p = 0; p < 20; p++) {
						t.write(s, p, i, i == 0 ? 0 : t.owner(p, 20));
					}
				}
			}
			List<Finding> found = t.advise().findings();
			assertEquals(arrays > 2 ? List.of("first-touch") : List.of(), found.stream().map(Finding::rule).toList());
			assertTrue(arrays == 2 || found.get(0).names().size() == 30, AdviceText.text(t.advise()));
		}
	}
}
