// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.analysis.findings.rules.Threshold;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** One planted problem in each trace, and the same program repaired; with several numbers of threads. */
class RulesTest {
	private static final int INTERVALS = 20;

	/** A program in two states. */
	private record Plant(String rule, String structure, int leastThreads, Consumer<PlantedTrace> bad, Consumer<PlantedTrace> good) {
	}

	private static void parts(PlantedTrace t, String name, int pages, boolean serialInit) {
		int s = t.structure(name, StructureKind.HEAP, pages);
		for (int p = 0; p < pages; p++) {
			t.write(s, p, 0, serialInit ? 0 : t.owner(p, pages));
			for (int i = 1; i < t.intervals(); i++) {
				t.write(s, p, i, t.owner(p, pages));
			}
		}
	}

	private static final List<Plant> PLANTS = List.of(
			new Plant("first-touch", "field", 2, t -> parts(t, "field", 64, true), t -> parts(t, "field", 64, false)),
			new Plant("false-sharing", "counters", 2, t -> counters(t, 8), t -> counters(t, 64)),
			new Plant("false-sharing", "table", 2, t -> packed(t, true), t -> parts(t, "table", 64, false)),
			new Plant("shared-stack", "stack", 2, t -> stack(t, true), t -> stack(t, false)),
			new Plant("recycled-heap", "scratch", 2, RulesTest::recycled, RulesTest::kept),
			new Plant("hot-page", "histogram", 2, t -> hot(t, true), t -> hot(t, false)),
			new Plant("replicate", "lookup", 2, t -> lookup(t, true), t -> lookup(t, false)),
			new Plant("ping-pong", "mailbox", 3, t -> mailbox(t, true), t -> mailbox(t, false)),
			new Plant("page-shared", "rows", 2, t -> lines(t, true), t -> parts(t, "rows", 64, false)),
			new Plant("all-to-all", "exchange", 3, t -> exchange(t, true), t -> exchange(t, false)),
			new Plant("remote-mapping", "blocks", 2, t -> shifted(t, 1), t -> shifted(t, 0)),
			new Plant("imbalance", "triangle", 3, t -> work(t, 20), t -> work(t, 1)),
			new Plant("strided", "image", 2, t -> sweep(t, true), t -> sweep(t, false)),
			new Plant("strided", "rows", 2, t -> columns(t, 1000, false), t -> parts(t, "rows", 64, false)),
			new Plant("strided", "b", 2, t -> steps(t, "3:2400:990:9"), t -> steps(t, "1:8:990:0 4:-720000:9:0")),
			new Plant("column-sweep", "rows", 2, t -> columns(t, t.threads() > 8 ? 4096 : 1496, true), t -> parts(t, "rows", 64, false)),
			new Plant("column-sweep", "rows", 2, t -> columns(t, t.threads() > 8 ? 4096 : 9600, true), t -> parts(t, "rows", 64, false)),
			new Plant("column-sweep", "rows", 2, t -> columns(t, 4096, true), t -> parts(t, "rows", 64, false)),
			new Plant("short-lived", "frame", 2, t -> frames(t, true), t -> frames(t, false)),
			new Plant("remote-share", "grid", 2, t -> placed(t, 1), t -> placed(t, 0)),
			new Plant("small-shared", "counters", 2, t -> withoutPlaces(t, true), t -> withoutPlaces(t, false)),
			new Plant("padding", "cells", 2, t -> cells(t, true), t -> cells(t, false)),
			new Plant("unused", "table", 2, t -> table(t, 4), t -> table(t, 400)));

	@TestFactory
	List<DynamicTest> plantedProblems() {
		List<DynamicTest> tests = new ArrayList<>();
		for (Plant p : PLANTS) {
			for (int threads : new int[] {2, 3, 4, 8, 64}) {
				if (threads >= p.leastThreads()) {
					tests.add(DynamicTest.dynamicTest(p.rule() + " with " + threads, () -> check(p, threads)));
				}
			}
		}
		return tests;
	}

	@Test
	void everyRuleHasAPlant() {
		List<String> without = Rules.all().stream().map(Rule::id).filter(id -> PLANTS.stream().noneMatch(p -> p.rule().equals(id))).toList();
		assertEquals(List.of(), without, "add a Plant for each");
	}

	private static void check(Plant p, int threads) throws MemtraceException {
		PlantedTrace bad = new PlantedTrace(threads, INTERVALS);
		p.bad().accept(bad);
		Advisor advisor = bad.advise();
		List<Finding> found = advisor.findings();
		assertTrue(!found.isEmpty(), () -> AdviceText.explain(advisor, advisor.rules().stream().filter(r -> r.id().equals(p.rule())).toList()));
		Finding first = found.get(0);
		assertEquals(p.rule() + " " + p.structure(), first.rule() + " " + first.name(),
				() -> AdviceText.explain(advisor, advisor.rules().stream().filter(r -> r.id().equals(p.rule())).toList()) + AdviceText.text(advisor));
		assertEquals(1, found.size(), AdviceText.text(advisor));
		assertTrue(first.evidence().matches(".*\\d.*"), first.evidence());
		// a person reads it as a sentence: its first letter becomes a capital, and that of a name must not
		assertTrue(first.evidence().matches("(\\d|[a-z]+,? ).*")
				&& !first.evidence().matches("(worker|" + p.structure() + "|product)\\b.*"), first.evidence());
		PlantedTrace good = new PlantedTrace(threads, INTERVALS);
		p.good().accept(good);
		Advisor repaired = good.advise();
		assertEquals(List.of(), repaired.findings(), AdviceText.text(repaired));
	}

	/** A file that is mapped for reading: the thread that reads it first places nothing. */
	@Test
	void whatIsOnlyReadIsPlacedByNobody() throws MemtraceException {
		for (boolean spread : new boolean[] {false, true}) {
			PlantedTrace t = new PlantedTrace(4, INTERVALS);
			int s = t.structure("model", StructureKind.MMAP, 64);
			for (int p = 0; p < 64; p++) {
				t.access(s, p, 0, spread ? p % 4 : 0, 1, 0, 0, -1);
				for (int i = 1; i < t.intervals(); i++) {
					t.access(s, p, i, t.owner(p, 64), 1, 0, 0, -1);
				}
			}
			Advisor advisor = t.advise();
			assertEquals(List.of(), advisor.findings(), AdviceText.text(advisor));
		}
	}

	private static void counters(PlantedTrace t, int distance) {
		int s = t.structure("counters", StructureKind.STATIC, 1);
		for (int i = 0; i < t.intervals(); i++) {
			for (int k = 0; k < t.threads(); k++) {
				t.access(s, 0, i, k, 1, 1, k * distance, k * distance);
			}
		}
	}

	/** A page that all threads write, or a page for each, in a trace that does not know the places in pages. */
	private static void withoutPlaces(PlantedTrace t, boolean bad) {
		int s = t.structure("counters", StructureKind.STATIC, bad ? 1 : t.threads());
		for (int i = 0; i < t.intervals(); i++) {
			for (int k = 0; k < t.threads(); k++) {
				t.access(s, bad ? 0 : k, i, k, 1, 1, -1, -1);
			}
		}
	}

	/** Many pages, each thread with a word of each line; few samples in a line: another one in each interval. */
	private static void packed(PlantedTrace t, boolean bad) {
		int s = t.structure("table", StructureKind.HEAP, 64);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < 64; p++) {
				for (int k = 0; k < Math.min(8, t.threads()); k++) {
					int offset = (i + k) % 12 * 64 + 8 * k;
					t.access(s, p, i, k, 1, 1, offset, offset);
				}
			}
		}
	}

	private static void stack(PlantedTrace t, boolean shared) {
		int s = t.structure("stack", StructureKind.STACK, 32);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < 32; p++) {
				for (int k = 0; k < (shared ? t.threads() : 1); k++) {
					t.write(s, p, i, k);
				}
			}
		}
	}

	/** Threads get the same addresses in turn, each block lives for a part of an interval. */
	private static void recycled(PlantedTrace t) {
		for (int b = 0; b < 40; b++) {
			int k = b % t.threads();
			long birth = b * 400L;
			int s = t.structure("scratch #" + b, StructureKind.HEAP, 0x20000000L, 8 * PlantedTrace.PAGE, birth, birth + 300, k);
			for (int p = 0; p < 8; p++) {
				t.write(s, p, (int) (birth / PlantedTrace.INTERVAL), k);
			}
		}
	}

	private static void kept(PlantedTrace t) {
		for (int k = 0; k < t.threads(); k++) {
			int s = t.structure("scratch #" + k, StructureKind.HEAP, 0x20000000L + k * 16L * PlantedTrace.PAGE, 8 * PlantedTrace.PAGE, 0,
					Long.MAX_VALUE, k);
			for (int i = 0; i < t.intervals(); i++) {
				for (int p = 0; p < 8; p++) {
					t.write(s, p, i, k);
				}
			}
		}
	}

	private static void hot(PlantedTrace t, boolean hot) {
		int pages = 256;
		int s = t.structure("histogram", StructureKind.HEAP, pages);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < pages; p++) {
				if (hot && p == 77) {
					for (int k = 0; k < t.threads(); k++) {
						t.access(s, p, i, k, 1, 1, 8 * (i % 3), 8 * (i % 3));
					}
				} else {
					t.write(s, p, i, t.owner(p, pages));
				}
			}
		}
	}

	private static void lookup(PlantedTrace t, boolean all) {
		int s = t.structure("lookup", StructureKind.HEAP, 64);
		for (int p = 0; p < 64; p++) {
			t.write(s, p, 0, all ? 0 : t.owner(p, 64));
			for (int i = 1; i < t.intervals(); i++) {
				for (int k = 0; k < t.threads(); k++) {
					if (all || k == t.owner(p, 64)) {
						t.read(s, p, i, k);
					}
				}
			}
		}
	}

	/** Threads 0 and 1 exchange; the others have work of their own. */
	private static void mailbox(PlantedTrace t, boolean both) {
		int s = t.structure("mailbox", StructureKind.HEAP, 16);
		int own = t.structure("own", StructureKind.HEAP, 16 * t.threads());
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < 16; p++) {
				for (int k = 0; k < 2; k++) {
					if (both || p / 8 == k) {
						t.access(s, p, i, k, 1, 1, 16, 16);
					}
				}
			}
			for (int p = 0; p < 16 * t.threads(); p++) {
				t.write(own, p, i, p / 16);
			}
		}
	}

	/** All threads write all pages, each its own lines. */
	private static void lines(PlantedTrace t, boolean bad) {
		int s = t.structure("rows", StructureKind.HEAP, 16);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < 16; p++) {
				for (int k = 0; k < t.threads(); k++) {
					t.access(s, p, i, k, 1, 1, k * 64, k * 64);
				}
			}
		}
	}

	private static void exchange(PlantedTrace t, boolean all) {
		int s = t.structure("exchange", StructureKind.HEAP, 32);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < 32; p++) {
				for (int k = 0; k < t.threads(); k++) {
					if (all || k == t.owner(p, 32)) {
						t.access(s, p, i, k, 1, 1, 8 * ((i + k) % 5), 8 * ((i + k) % 5));
					}
				}
			}
		}
	}

	private static void shifted(PlantedTrace t, int by) {
		int pages = 16 * t.threads();
		int s = t.structure("blocks", StructureKind.HEAP, pages);
		for (int p = 0; p < pages; p++) {
			int owner = t.owner(p, pages);
			t.write(s, p, 0, owner);
			for (int i = 1; i < t.intervals(); i++) {
				t.write(s, p, i, (owner + by) % t.threads());
			}
		}
	}

	private static void work(PlantedTrace t, int factor) {
		int pages = 16 * t.threads() + 64;
		int s = t.structure("triangle", StructureKind.HEAP, pages);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < pages; p++) {
				int owner = t.owner(p, pages);
				t.access(s, p, i, owner, owner == 0 ? factor : 1, 1, 0, 0);
			}
		}
	}

	/** Rows of other lengths than a page: each thread goes down columns, in its own rows or in all; another one in each interval. */
	private static void columns(PlantedTrace t, int rowBytes, boolean shared) {
		int pages = shared ? 192 : 80 * t.threads();
		int s = t.structure("rows", StructureKind.HEAP, pages);
		int columns = Math.max(1, rowBytes / 8 / (shared ? t.threads() : 1));
		for (int i = 0; i < t.intervals(); i++) {
			for (int k = 0; k < t.threads(); k++) {
				int from = shared ? 0 : k * 80;
				for (int p = from; p < (shared ? pages : from + 80); p++) {
					int offset = t.columnEntry(p, rowBytes, (shared ? k * columns : 0) + i * 7 % columns);
					// between long rows: later columns reach the beginning of the page
					offset = offset < PlantedTrace.PAGE ? offset : 0;
					t.access(s, p, i, k, 1, 1, offset, offset);
				}
			}
		}
	}

	private static void sweep(PlantedTrace t, boolean strided) {
		int pages = 80 * t.threads();
		int s = t.structure("image", StructureKind.HEAP, pages);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < pages; p++) {
				int offset = strided ? 64 * (5 + i % 40) + 8 : 0;
				t.access(s, p, i, t.owner(p, pages), 1, 1, offset, offset);
			}
		}
	}

	/** Each thread works on its part, and the instruction that does it is known. */
	private static void steps(PlantedTrace t, String strides) {
		parts(t, "b", 64, false);
		t.code(0x401000, "product", "/src/mm.c", 14);
		for (int k = 0; k < t.threads(); k++) {
			t.instruction(0, k, 0x401000, false, 1000, strides);
			t.instruction(0, k, 0x401010, true, 100, "1:8:99:0");
		}
	}

	private static void frames(PlantedTrace t, boolean often) {
		int n = often ? 80 : 1;
		for (int b = 0; b < n; b++) {
			long birth = b * 200L;
			int s = t.structure("frame #" + b, StructureKind.HEAP, 0x30000000L + (b % 3) * 0x100000L, 32 * PlantedTrace.PAGE, birth,
					often ? birth + 150 : Long.MAX_VALUE, 0);
			for (int p = 0; p < 32; p++) {
				t.write(s, p, (int) (birth / PlantedTrace.INTERVAL), 0);
			}
		}
	}

	private static void table(PlantedTrace t, int touched) {
		int s = t.structure("table", StructureKind.HEAP, 512);
		for (int p = 0; p < touched; p++) {
			for (int i = 0; i < t.intervals(); i++) {
				t.write(s, p, i, t.owner(p, touched));
			}
		}
	}

	/** Each thread fills its part, and goes on with it; after the first half of the run it is on the other node, the pages are not. */
	private static void placed(PlantedTrace t, int moves) {
		int pages = 32 * t.threads();
		int s = t.structure("grid", StructureKind.HEAP, pages);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < pages; p++) {
				int k = t.owner(p, pages);
				int cpu = k % PlantedTrace.CPUS;
				t.place(i < t.intervals() / 2 ? cpu : (cpu + moves * PlantedTrace.CPUS / 2) % PlantedTrace.CPUS, cpu * 2 / PlantedTrace.CPUS);
				t.write(s, p, i, k);
			}
		}
	}

	/** Elements of 512 bytes with two members, or the same elements without padding. */
	private static void cells(PlantedTrace t, boolean padded) {
		int pages = 512;
		int s = t.structure("cells", StructureKind.STATIC, pages);
		int bytes = padded ? 512 : 16;
		t.type(s, "struct cell[" + pages * PlantedTrace.PAGE / bytes + "]", bytes + ";0 8 count long;8 8 value double");
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 0; p < pages; p++) {
				t.access(s, p, i, t.owner(p, pages), 1, 1, 0, 8);
			}
		}
	}

	/**
	 * CPU time of each thread in each interval.
	 *
	 * @param busy share of the time for the busy thread in the intervals 1 to 15; the others have a quarter
	 * @param main share of the time for the main thread alone, before and after
	 */
	private static PlantedTrace times(int factor, int busyThread, double busy, double main) {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		work(t, factor);
		double[] sum = new double[4];
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < 4; k++) {
				boolean alone = i < 1 || i > 15;
				sum[k] += PlantedTrace.INTERVAL * (alone ? k == 0 ? main : 0 : k == busyThread ? busy : 0.25);
				t.cpu(k, i, (long) sum[k]);
			}
		}
		return t;
	}

	/** CPU time decides where it is known, not the number of records; what the main thread does alone is not the work of the team. */
	@Test
	void imbalanceIsByCpuTime() throws MemtraceException {
		assertEquals(List.of(), times(20, 2, 0.25, 0).advise().findings());
		assertEquals(List.of(), times(1, 2, 0.25, 1).advise().findings(), "the main thread alone");
		Finding f = times(1, 2, 1, 1).advise().findings().get(0);
		assertEquals("imbalance", f.rule());
		assertEquals(List.of(2), f.threads());
		assertEquals(1.0 / 0.4375, f.figures().get("busiest_over_mean"), 0.01);
		assertTrue(f.evidence().contains("by CPU time") && f.evidence().contains("worker #2 57.1 %"), f.evidence());
		PlantedTrace unknown = new PlantedTrace(4, INTERVALS);
		work(unknown, 20);
		f = unknown.advise().findings().get(0);
		assertTrue(f.evidence().contains("by records") && f.evidence().contains("the CPU time of the threads is not known"), f.evidence());
		assertEquals(Confidence.MEDIUM, f.confidence());
	}

	/** On a machine with much else to do each thread has the CPU for a small part of each interval, in some for less than 5 % of it. */
	@Test
	void threadsThatWaitForTheCpuWork() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		work(t, 1);
		double[] sum = new double[4];
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < 4; k++) {
				// one thread after the other; the first half of the run is quicker for one of them
				sum[k] += PlantedTrace.INTERVAL * (i < INTERVALS / 2 ? k == 1 ? 0.06 : 0.02 : k == 1 ? 0.005 : 0.045);
				t.cpu(k, i, (long) sum[k]);
			}
		}
		assertEquals(List.of(), t.advise().findings());
	}

	/** Two threads: the page at the border of their parts is written by both, each its own lines, and read across the border. */
	@Test
	void theBorderOfTwoThreadsIsNotHot() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int s = t.structure("field", StructureKind.HEAP, 128);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 128; p++) {
				if (p == 64) {
					t.access(s, p, i, 0, 1, 1, 8 * (i % 16), 8 * (i % 16));
					t.access(s, p, i, 1, 1, 1, 2048 + 8 * (i % 16), 2048 + 8 * (i % 16));
				} else {
					t.write(s, p, i, t.owner(p, 128));
				}
			}
		}
		assertEquals(List.of(), t.advise().findings());
	}

	/** The fix can be pasted as it is: it has the length of the array and does not count on a variable of the program. */
	/** Three intervals after the first one: who was seen once on the page of a border does not share it. */
	@Test
	void onceIsNoHotPage() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, 4);
		int s = t.structure("y", StructureKind.STATIC, 128);
		for (int i = 0; i < 4; i++) {
			for (int p = 0; p < 128; p++) {
				t.write(s, p, i, t.owner(p, 128));
			}
			t.write(s, 96, i, i == 1 ? 0 : 2);
			t.write(s, 96, i, i == 1 ? 2 : 3);
		}
		assertEquals(List.of(), t.advise().findings(), () -> "page 96");
	}

	/** Of 16 threads an interval shows three on the hot page, in turn: none of them in a quarter of the intervals. */
	@Test
	void aHotPageIsUsedInTurn() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(16, INTERVALS);
		int s = t.structure("histogram", StructureKind.STATIC, 256);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 256; p++) {
				t.write(s, p, i, t.owner(p, 256));
			}
			for (int k = 0; k < 3; k++) {
				t.access(s, 77, i, (3 * i + k) % 16, 1, 1, 8 * (i % 3), 8 * (i % 3));
			}
		}
		assertEquals("hot-page", t.advise().findings().get(0).rule());
	}

	/** The loop that fills a structure and the one that uses it are named, by the summary, the finding and its fix. */
	@Test
	void theLoopsAreNamed() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int s = t.structure("field", StructureKind.HEAP, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				if (i == 0) {
					t.code(0x1000, "fill", "/src/work.c", 12);
				} else {
					t.code(0x2000 + p % 2, "step._omp_fn.0", "/src/work.c", 30 + p % 2);
				}
				t.write(s, p, i, i == 0 ? 0 : t.owner(p, 64));
			}
		}
		Advisor advisor = t.advise();
		Finding f = advisor.findings().get(0);
		assertTrue(f.evidence().endsWith("; first written in fill (work.c:12), used in step (work.c:30)"), f.evidence());
		assertTrue(AdviceText.brief(advisor, 3).replaceAll("\\s+", " ").contains("first written in fill (work.c:12), used in step (work.c:30)."));
		assertEquals("Let each thread write its own part of field (work.c:7) before it begins to work, as the loop in step (work.c:30) that uses field"
				+ " divides it, instead of the loop in fill (work.c:12) that first writes field in one thread.", f.fix().words());
		String json = AdviceJson.json(advisor, List.of());
		assertTrue(json.replaceAll("\\s+", " ").contains("\"first_written\": { \"function\": \"fill\", \"file\": \"/src/work.c\", \"line\": 12 },"), json);
		t = new PlantedTrace(4, INTERVALS);
		t.code(0x1000, "fill", "/src/work.f90", 12);
		stack(t, true);
		f = t.advise().findings().get(0);
		assertTrue(f.evidence().endsWith("; first written and used in fill (work.f90:12)"), f.evidence());
	}

	/** One thread reads all counters once, at the end: no word is common because of that. If it does so in each interval, they are. */
	@Test
	void aSumAtTheEndIsNoSharing() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		counters(t, 8);
		t.access(0, 0, INTERVALS - 1, 0, 1, 0, 8, -1);
		assertEquals("false-sharing", t.advise().findings().get(0).rule());
		t = new PlantedTrace(4, INTERVALS);
		counters(t, 8);
		for (int i = 0; i < INTERVALS; i++) {
			t.access(0, 0, i, 0, 1, 0, 8, -1);
		}
		assertEquals(List.of(), t.advise().findings());
	}

	/** An array that is touched once, and one page of it that is used later, with lines of its own for each thread: not all-to-all. */
	@Test
	void onePageThatIsUsedLaterIsNotTheWholeArray() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		int s = t.structure("padded", StructureKind.STATIC, 5);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < 4; k++) {
				t.access(s, 0, i, k, 1, 1, 64 * k, 64 * k);
			}
		}
		for (int p = 1; p < 5; p++) {
			t.read(s, p, INTERVALS - 1, 0);
		}
		assertEquals(List.of(), t.advise().findings());
	}

	/** False sharing tells the members, and the fix moves them apart. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			struct counter   | 64;0 8 hits long;8 8 misses long;16 48 other int[12] | counters.misses, offset 8 of struct counter | Keep hits, misses and other of struct counter 64
			struct counter   | 64;0 16 hits long[2];16 16 sum.n long[2]             | counters.sum.n[1], offset 24 of struct counter | has struct counter as a member
			struct pair[256] | 16;0 8 a long;8 8 b long                             | counters[1].b, offset 8 of struct pair | has struct pair as a member
			long[512]        | 8                                                    | byte 24: counters[3])               | has long as a member
			long[64][8]      | 8                                                    | byte 24: counters[0][3])            | has long as a member
			struct gap       | 4096;0 4 a int;64 8 b long                           | byte 24)                            | has struct gap as a member
			type cell(:)     | 16;0 8 p real(kind=8);8 8 k integer(kind=8)          | counters%k, offset 8 of type cell   | has type cell as a member
			long[512]        | 0                                                    | byte 24)                            | has long as a member
			""")
	void theMembersAreInTheFinding(String type, String members, String text, String fix) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		counters(t, 8);
		t.type(0, type, members);
		Finding f = t.advise().findings().get(0);
		assertTrue(f.evidence().contains(text), f.evidence());
		assertTrue(f.fix().words().contains(fix), f.fix().words());
	}

	/** Two types of one name in one image: the members of neither are told. */
	@Test
	void typesOfOneNameHaveNoMembers() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		counters(t, 8);
		t.type(0, "struct s[64]", "64;0 64 sums long[8]");
		int other = t.structure("other", StructureKind.STATIC, 1);
		t.type(other, "struct s", "64;0 64 sums long[8]");
		assertTrue(t.advise().findings().get(0).evidence().contains("counters[0].sums[3]"));
		t.type(other, "struct s", "8;0 8 next struct s *");
		assertTrue(t.advise().findings().get(0).evidence().contains("byte 24)"));
	}

	/** A buffer is freed, and another structure of another thread gets its pages: that is not sharing. */
	@Test
	void memoryUsedAgainIsNotShared() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		long half = INTERVALS / 2 * PlantedTrace.INTERVAL;
		int a = t.structure("first", StructureKind.HEAP, 0x40000000L, 64 * PlantedTrace.PAGE, 0, half, 0);
		int b = t.structure("second", StructureKind.HEAP, 0x40000000L, 64 * PlantedTrace.PAGE, half, Long.MAX_VALUE, 1);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				boolean early = i < INTERVALS / 2;
				t.write(early ? a : b, p, i, early ? 0 : 1);
			}
		}
		assertEquals(List.of(), t.advise().findings());
	}

	@Test
	void theSameCauseOfManyStructuresIsOneFinding() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, INTERVALS);
		for (int n = 0; n < 12; n++) {
			parts(t, "field_" + (char) ('a' + n), 64, true);
		}
		List<Finding> found = t.advise().findings();
		assertEquals(1, found.size());
		assertEquals("first-touch", found.get(0).rule());
		assertEquals(12, found.get(0).names().size());
		assertEquals("field_a, field_b and 10 more", found.get(0).name());
	}

	/** The document lists each rule and each threshold with its value. */
	@Test
	void documentIsCurrent() throws Exception {
		String text = Files.readString(Path.of(System.getProperty("memtrace.root", "../.."), "docs", "reference", "findings.md"));
		for (Rule r : Rules.all()) {
			assertTrue(text.contains("| `" + r.id() + "` |") && text.lines().anyMatch(l -> l.startsWith("| `" + r.id() + "` |")
					&& l.contains("| " + r.severity().id() + " |")), "docs/reference/findings.md has no row of " + r.id() + ", " + r.severity().id());
		}
		for (Threshold t : Threshold.values()) {
			String value = new BigDecimal(t.standard()).round(new MathContext(9)).stripTrailingZeros().toPlainString();
			assertTrue(text.contains("| `" + t.id() + "` | " + value + " | " + t.meaning() + " |"), t.id() + " " + value);
		}
	}

	/** Thresholds that a user sets decide. */
	@Test
	void thresholdsAreSetByName() throws MemtraceException {
		assertEquals(0.5, Thresholds.STANDARD.with("first-touch.one=0.5").get(Threshold.FIRST_TOUCH));
		for (String wrong : new String[] {"first-touch.one", "first-touch.one=", "first-touch.one=-1", "first-touch.one=x", "no=1", ""}) {
			assertThrows(MemtraceException.class, () -> Thresholds.STANDARD.with(wrong), wrong);
		}
	}

	/** Each threshold that can be set changes what is said about some planted problem, in one direction or the other. */
	@TestFactory
	List<DynamicTest> eachThresholdDecides() {
		List<DynamicTest> tests = new ArrayList<>();
		for (Threshold t : Threshold.values()) {
			tests.add(DynamicTest.dynamicTest(t.id(), () -> {
				List<String> values = List.of("0", "0.01", "0.3", "0.999999", "5", "1000000000000");
				List<Consumer<PlantedTrace>> traces = new ArrayList<>(List.of(RulesTest::severalHotPages, RulesTest::someCommonWords,
						RulesTest::ofAnInstalledProgram));
				PLANTS.forEach(p -> traces.add(p.bad()));
				for (Consumer<PlantedTrace> p : traces) {
					PlantedTrace trace = new PlantedTrace(4, INTERVALS);
					p.accept(trace);
					Advisor advisor = trace.advise();
					String standard = AdviceText.text(advisor);
					for (String value : values) {
						if (!AdviceText.text(advisor.with(Thresholds.STANDARD.with(t.id() + "=" + value))).equals(standard)) {
							return;
						}
					}
				}
				throw new AssertionError("nothing changes whatever " + t.id() + " is");
			}));
		}
		return tests;
	}

	/** What makes a structure relevant is asked by all rules that ask for it, not only by their conditions. */
	@TestFactory
	List<DynamicTest> irrelevantStructuresHaveNoFinding() {
		List<String> anySize = List.of("false-sharing", "shared-stack", "recycled-heap", "hot-page", "small-shared", "unused");
		return PLANTS.stream().filter(p -> !anySize.contains(p.rule())).map(p -> DynamicTest.dynamicTest(p.rule(), () -> {
			PlantedTrace trace = new PlantedTrace(4, INTERVALS);
			p.bad().accept(trace);
			Advisor advisor = trace.advise().with(Thresholds.STANDARD.with("relevant=1.01"));
			assertEquals(List.of(), advisor.findings().stream().filter(f -> f.rule().equals(p.rule())).toList());
			assertEquals(List.of(), advisor.explain(rule(p.rule())));
		})).toList();
	}

	private static void ofAnInstalledProgram(PlantedTrace t) {
		parts(t, "field", 64, true);
		t.stack(0, List.of(new CallFrame(0x1000, "/usr/bin/xz", "", "", 0)));
	}

	/** Eight of 256 pages. */
	private static void severalHotPages(PlantedTrace t) {
		hot(t, true);
		for (int i = 0; i < t.intervals(); i++) {
			for (int p = 78; p < 85; p++) {
				for (int k = 0; k < t.threads(); k++) {
					t.access(0, p, i, k, 1, 1, 8 * (i % 3), 8 * (i % 3));
				}
			}
		}
	}

	/** One word of a hundred has two threads. */
	private static void someCommonWords(PlantedTrace t) {
		packed(t, true);
		for (int i = 0; i < t.intervals(); i++) {
			t.access(0, i, i, 1, 1, 1, (i + 2) % 12 * 64 + 16, (i + 2) % 12 * 64 + 16);
		}
	}

	private static Rule rule(String id) {
		return Rules.all().stream().filter(r -> r.id().equals(id)).findAny().orElseThrow();
	}

	/** Sentences and advice follow the thresholds that were set, as the conditions do. */
	@Test
	void whatIsSaidFollowsTheThresholds() throws MemtraceException {
		PlantedTrace lookup = new PlantedTrace(4, INTERVALS);
		lookup(lookup, true);
		assertTrue(lookup.advise().findings().get(0).advice().contains("copy of it on each NUMA node"));
		assertTrue(lookup.advise().with(Thresholds.STANDARD.with("replicate.bytes=4096")).findings().get(0).advice()
				.contains("too large for copies"));

		PlantedTrace hot = new PlantedTrace(4, INTERVALS);
		hot(hot, true);
		int s = hot.structure("other", StructureKind.HEAP, 1);
		hot.write(s, 0, 0, 0);
		// a second page, hot in a third of the intervals
		for (int i = 0; i < INTERVALS / 3; i++) {
			for (int k = 0; k < 4; k++) {
				hot.access(0, 100, i + 1, k, 1, 1, 8 * (i % 3), 8 * (i % 3));
			}
		}
		assertEquals(1, hot.advise().findings().get(0).figures().get("hot_pages"));
		assertTrue(hot.advise().findings().get(0).evidence().contains("(from page 77)"), hot.advise().findings().get(0).evidence());
		assertEquals(2, hot.advise().with(Thresholds.STANDARD.with("hot.intervals=0.3")).findings().get(0).figures().get("hot_pages"));
	}
}
