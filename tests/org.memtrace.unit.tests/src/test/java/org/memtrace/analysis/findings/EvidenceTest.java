// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.analysis.findings.facts.FirstAccess;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** What looked like a fault in programs of others that have none, and what is proof of one. */
class EvidenceTest {
	private static final int INTERVALS = 20;
	private static final long LOOP = 0x401000;
	private static final long ALONE = 0x402000;

	private static List<String> said(PlantedTrace t) throws MemtraceException {
		return t.advise().findings().stream().map(f -> f.rule() + " " + f.name()).toList();
	}

	/** Each thread has its part of one array. */
	private static PlantedTrace divided(int threads, int intervals) {
		PlantedTrace t = new PlantedTrace(threads, intervals);
		int s = t.structure("rows", StructureKind.HEAP, 128);
		for (int i = 0; i < intervals; i++) {
			for (int p = 0; p < 128; p++) {
				t.write(s, p, i, t.owner(p, 128));
			}
		}
		return t;
	}

	/** CPU time of the main thread is twice that of the others in each interval: it makes sums while they wait. */
	private static PlantedTrace mainDoesMore() {
		PlantedTrace t = divided(4, INTERVALS);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < 4; k++) {
				t.cpu(k, i, (long) ((i + 1) * PlantedTrace.INTERVAL * (k == 0 ? 0.9 : 0.3)));
			}
		}
		return t;
	}

	/** Without samples of the CPU clock nobody can tell what the main thread does alone from what it does in the loop. */
	@Test
	void theMainThreadIsNotBusyInALoopBecauseItIsBusy() throws MemtraceException {
		assertEquals(List.of(), said(mainDoesMore()));
	}

	/** NPB CG and IS: the loop is divided equally, and the main thread works elsewhere, too; or the loop is uneven; or there are few ticks. */
	@ParameterizedTest
	@CsvSource({"300, 300, 300, 900, equal",
		"1200, 300, 300, 0, uneven", "300, 1200, 300, 900, uneven", "4, 1, 1, 0, few", "1200, 0, 0, 0, alone"})
	void workIsThatOfTheLoopThatAllRun(int main, int second, int others, int alone, String kind) throws MemtraceException {
		PlantedTrace t = mainDoesMore();
		t.code(LOOP, "step._omp_fn.0", "/src/work.c", 30);
		t.code(ALONE, "sums", "/src/work.c", 90);
		for (int k = 0; k < 4; k++) {
			int ticks = k == 0 ? main : k == 1 ? second : others;
			// a part of the time the loop computes, and accesses nothing
			t.ticks(k, LOOP, 0, ticks / 3);
			t.ticks(k, LOOP, -1, ticks - ticks / 3);
		}
		t.ticks(0, ALONE, 0, alone);
		List<Finding> found = t.advise().findings();
		assertEquals(kind.equals("uneven") ? List.of("imbalance") : List.of(), found.stream().map(Finding::rule).toList(), kind);
		for (Finding f : found) {
			assertEquals(List.of(main > second ? 0 : 1), f.threads());
			assertTrue(f.evidence().contains("times the mean by CPU time in the code that uses it"), f.evidence());
			assertEquals(4.0 * 1200 / 2100, f.figures().get("busiest_over_mean"), 1e-9);
		}
	}

	/** One process of several: the intervals of the others, in which it did not live, say nothing about its pages. */
	@ParameterizedTest
	@ValueSource(ints = {0, 400})
	void intervalsOfOtherProcessesDoNotCount(int others) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(3, INTERVALS);
		int s = t.structure("grid", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(s, p, i, i == 0 ? 0 : p % 2);
			}
		}
		if (others > 0) {
			t.imageOfThread.put(2, 1);
			t.process(1, others);
		}
		assertEquals(List.of("first-touch grid"), said(t));
		assertEquals(INTERVALS, t.advise().facts().intervals(t.advise().facts().groups().get(0)));
	}

	/**
	 * Half of the pages were seen once after they were touched, each by a thread at random: who uses them mainly is not known, and is not
	 * told of them. Of a quarter it is not known who touched them first.
	 */
	@Test
	void sharesAreOfWhatIsKnown() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(3, INTERVALS);
		int s = t.structure("grid", StructureKind.HEAP, 128);
		for (int p = 0; p < 128; p++) {
			t.write(s, p, 0, p % 4 == 3 ? -1 : 0);
			for (int i = 1; i < INTERVALS; i++) {
				if (p % 2 == 0 || i == 1 + p % 9) {
					t.write(s, p, i, 1 + p * 7 / 5 % 2);
				}
			}
		}
		Finding f = t.advise().findings().get(0);
		assertEquals("first-touch", f.rule());
		assertTrue(f.evidence().startsWith("one thread, worker #0, touches 100 % of those of its 128 pages whose first toucher is known (75.0 %) first; "
				+ "100 % of those of the pages whose main user is known (50.0 %) are then used mainly by another thread; 100 % of these have one "
				+ "main user"), f.evidence());
	}

	/** Few intervals of the process are few, however many processes there are. */
	@Test
	void confidenceIsThatOfTheProcess() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(3, 4);
		int s = t.structure("grid", StructureKind.HEAP, 64);
		for (int i = 0; i < 4; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(s, p, i, i == 0 ? 0 : p % 2);
			}
		}
		t.imageOfThread.put(2, 1);
		t.process(1, 100);
		Finding f = t.advise().findings().get(0);
		assertEquals(Confidence.LOW, f.confidence());
		assertTrue(f.notes().get(0).startsWith("the run has only 4 intervals"), f.notes().toString());
	}

	/** LULESH: lists of elements that are each divided have borders anywhere in an array; the threads are mostly elsewhere in it. */
	@ParameterizedTest
	@ValueSource(booleans = {true, false})
	void bordersOfListsAreNoFalseSharing(boolean elsewhere) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("elements", StructureKind.HEAP, 10);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 10; p++) {
				for (int k = 0; k < 2; k++) {
					// in one page both come to one line, each to its own words; in the others to lines of their own, one beside the other
					boolean border = p == 5 || !elsewhere;
					int offset = border ? 640 + 32 * k : 64 * (2 * (p % 3) + k) + 8 * (i % 3);
					t.access(s, p, i, k, 0, 1, -1, offset);
				}
			}
		}
		assertEquals(!elsewhere, said(t).contains("false-sharing elements"), said(t).toString());
		assertTrue(t.advise().with(Thresholds.STANDARD.with("false-sharing.lines=0")).findings().stream()
				.anyMatch(f -> f.rule().equals("false-sharing")), "the samples elsewhere are what speaks against it");
	}

	/** The constructor of a vector writes first, in code of a library without lines; the loop that also writes some pages first did not. */
	@ParameterizedTest
	@ValueSource(ints = {0, 20, 50})
	void whoWroteFirstIsToldOfMostPagesOnly(int byLoop) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("data", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				if (i == 0 && p >= byLoop) {
					t.code(0x7000, "libc.so.6", "memset", "", 0);
				} else {
					t.code(LOOP + (i == 0 ? 1 : 0), i == 0 ? "fill" : "step._omp_fn.0", "/src/work.c", i == 0 ? 12 : 30);
				}
				t.write(s, p, i, i == 0 ? 0 : p % 2);
			}
		}
		Finding f = t.advise().findings().get(0);
		assertEquals("first-touch", f.rule());
		if (byLoop < 32) {
			assertNull(f.firstWritten());
			assertFalse(f.evidence().contains("first written"), f.evidence());
		} else {
			assertEquals("fill (work.c:12)", f.firstWritten().toString());
		}
	}

	/** The threads of a library multiply what main has filled: the loop of main that is still seen at it does not use it as they do. */
	@ParameterizedTest
	@ValueSource(booleans = {true, false})
	void codeWithoutLinesIsNoLoopOfTheProgram(boolean library) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("matrix", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.code(LOOP, "fill", "/src/work.c", 12);
				if (i > 1 && library) {
					t.code(0x7000, "/usr/lib/libopenblas.so.0", "dgemm_kernel", "", 0);
				} else if (i > 1) {
					t.code(ALONE, "product._omp_fn.0", "/src/work.c", 30);
				}
				t.write(s, p, i, i < 2 ? 0 : p % 2);
			}
		}
		Finding f = t.advise().findings().get(0);
		assertEquals("fill (work.c:12)", f.firstWritten().toString());
		assertEquals(library ? null : "product (work.c:30)", f.used() == null ? null : f.used().toString());
		assertEquals(!library, f.evidence().contains("used in"), f.evidence());
	}

	/** NPB FT, indexmap: a loop that is divided by columns; all threads write each page, and one of them always comes first. */
	@ParameterizedTest
	@ValueSource(booleans = {true, false})
	void aDividedLoopIsNoInitialisationByOneThread(boolean divided) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("map", StructureKind.STATIC, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.code(i == 0 ? LOOP : ALONE, i == 0 ? "fill._omp_fn.0" : "use._omp_fn.0", "/src/work.c", i == 0 ? 12 : 30);
				t.write(s, p, i, i == 0 ? 0 : p % 2);
				if (i == 0 && divided) {
					t.write(s, p, i, 1);
				}
			}
		}
		assertEquals(divided ? List.of() : List.of("first-touch map"), said(t));
	}

	/** Who is not known is nobody: a later thread is not the first one because it is the first that is known. */
	@Test
	void theFirstThreadThatIsKnownIsNotTheFirst() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("grid", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				t.write(s, p, i, i == 0 ? -1 : i == 1 ? 0 : 1);
			}
		}
		GroupFacts g = t.advise().facts().groups().get(0);
		assertEquals(-1, g.firstToucher());
		assertEquals(List.of(), said(t));
	}

	/** Intervals of two processes overlap: the record of the later interval can be of the earlier access. */
	@Test
	void theFirstAccessIsNotTheFirstInterval() {
		assertEquals(1, FirstAccess.row(new long[] {0, 10, 200}, new long[] {90, 15, 200}, 3));
		assertEquals(0, FirstAccess.row(new long[] {0, 100}, new long[] {90, 100}, 2));
		assertEquals(0, FirstAccess.row(new long[] {0, 0}, new long[] {0, 0}, 2), "of equal ones the one that was recorded first");
		assertEquals(2, FirstAccess.row(new long[] {0, 10, 12}, new long[] {90, 15, 12}, 3));
	}
}
