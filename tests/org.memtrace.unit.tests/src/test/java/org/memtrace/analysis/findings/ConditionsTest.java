// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntBinaryOperator;
import java.util.function.IntPredicate;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.model.memory.StructureKind;

/**
 * Near misses: traces in which all conditions of a rule hold but one. Without that condition the rule would hold, so a rule that lost it,
 * or asks it the wrong way round, fails here.
 */
class ConditionsTest {
	private static final int INTERVALS = 20;

	/** @param condition the beginning of its text */
	private record Miss(String rule, String condition, int threads, Consumer<PlantedTrace> trace) {
	}

	private static List<Miss> misses() {
		List<Miss> all = new ArrayList<>();
		// first touch
		all.add(new Miss("first-touch", "share of its pages that one thread touches first", 4,
				t -> init(t, 64, p -> p < 8 ? 1 : 0, p -> t.owner(p, 64))));
		all.add(new Miss("first-touch", "share of its pages whose main user is another", 4,
				t -> init(t, 64, p -> 0, p -> p < 16 ? 1 + p % 3 : 0)));
		all.add(new Miss("first-touch", "pages", 4, t -> init(t, 15, p -> 0, p -> t.owner(p, 15))));
		// remote mapping
		all.add(new Miss("remote-mapping", "share of its pages that one thread touches first", 4,
				t -> init(t, 64, p -> p < 40 ? 0 : 1, p -> 2 + p % 2)));
		all.add(new Miss("remote-mapping", "share of its pages that another thread than", 4,
				t -> init(t, 64, p -> t.owner(p, 64), p -> p % 3 == 0 ? (t.owner(p, 64) + 1) % 4 : t.owner(p, 64))));
		all.add(new Miss("remote-mapping", "pages", 4, t -> init(t, 15, p -> t.owner(p, 15), p -> (t.owner(p, 15) + 1) % 4)));
		// replicate
		all.add(new Miss("replicate", "share of its pages that most", 4, t -> readers(t, 10, 0, 7)));
		all.add(new Miss("replicate", "share of writes", 4, t -> readers(t, 10, 20, 10)));
		all.add(new Miss("replicate", "pages that are used", 4, t -> readers(t, 3, 0, 3)));
		// ping-pong: the third thread of the team has data of its own
		all.add(new Miss("ping-pong", "share of the second", 3, t -> mailbox(t, 16, 1, 9, 20, true)));
		all.add(new Miss("ping-pong", "intervals in which", 3, t -> mailbox(t, 16, 1, 1, 4, true)));
		all.add(new Miss("ping-pong", "share of writes", 3, t -> mailbox(t, 16, 99, 99, 20, true)));
		all.add(new Miss("ping-pong", "pages that are used", 3, t -> mailbox(t, 3, 1, 1, 20, true)));
		all.add(new Miss("ping-pong", "share of the pages that two", 3, t -> mailbox(t, 16, 1, 1, 20, false)));
		// all-to-all
		all.add(new Miss("all-to-all", "share of its pages that most", 4, t -> exchange(t, 20, p -> p < 14 ? 4 : 2, i -> true, 4)));
		all.add(new Miss("all-to-all", "share of (page, interval) pairs", 4, t -> exchange(t, 20, p -> 4, i -> i % 3 == 0, 4)));
		all.add(new Miss("all-to-all", "threads that write it", 4, t -> exchange(t, 20, p -> 4, i -> true, 1)));
		all.add(new Miss("all-to-all", "pages that are used", 4, t -> exchange(t, 3, p -> 4, i -> true, 4)));
		all.add(new Miss("all-to-all", "share of its pages that one thread uses nearly alone", 4, ConditionsTest::owned));
		// one thread begins in the first line, the others anywhere: no line is seen twice with several
		all.add(new Miss("page-shared", "share of the first addresses in a line", 4, ConditionsTest::anywhere));
		// false sharing of a small structure
		all.add(new Miss("false-sharing", "intervals in which", 4, t -> counters(t, 4)));
		all.add(new Miss("false-sharing", "words with two samples", 2, t -> table(t, 7)));
		// unused
		all.add(new Miss("unused", "bytes", 2, t -> touched(t, 250, 10, Long.MAX_VALUE)));
		all.add(new Miss("unused", "share of its pages", 2, t -> touched(t, 300, 40, Long.MAX_VALUE)));
		all.add(new Miss("unused", "median life", 2, t -> touched(t, 300, 10, 1500)));
		// pages on another node
		all.add(new Miss("remote-share", "share of its later records for which", 2, t -> placed(t, 64, p -> p % 3 == 0, p -> true, true)));
		all.add(new Miss("remote-share", "share of these whose page", 2, t -> placed(t, 64, p -> true, p -> p % 3 == 0, false)));
		all.add(new Miss("remote-share", "share of its pages that one thread or node", 2, t -> placed(t, 64, p -> true, p -> p % 4 == 0, true)));
		all.add(new Miss("remote-share", "pages", 2, t -> placed(t, 15, p -> true, p -> true, true)));
		// padding
		all.add(new Miss("padding", "share of an element", 2, t -> cells(t, 1024, "128;0 8 count long", 0)));
		all.add(new Miss("padding", "bytes of padding", 2, t -> cells(t, 290, "512;0 8 count long", 0)));
		all.add(new Miss("padding", "first addresses", 2, t -> cells(t, 1024, "512;0 8 count long", -1)));
		all.add(new Miss("padding", "share of these that are in the padding", 2, t -> cells(t, 1024, "512;0 8 count long", 8)));
		// stack
		all.add(new Miss("shared-stack", "pages that other threads use", 2, t -> stack(t, 7, 7, 1)));
		all.add(new Miss("shared-stack", "share of the records that are not by", 2, t -> stack(t, 40, 8, 1)));
		// strided
		all.add(new Miss("strided", "share of the pages that are entered", 2, t -> sweep(t, 128, (p, i) -> p % 8 == 0 ? 1024 : 0)));
		all.add(new Miss("strided", "share of these entries in one line", 2,
				t -> sweep(t, 128, (p, i) -> 64 * (1 + (p * p * p * 7 + p * 13 + i) % 62))));
		// known steps of instructions: few pages; other lines do not jump; jumps of different distances
		all.add(new Miss("strided", "pages", 2, t -> steps(t, 63, 1000, "3:2400:990:9", "1:8:99:0")));
		all.add(new Miss("strided", "share of its accesses by source lines", 2, t -> steps(t, 128, 1000, "3:2400:990:9", "1:8:1100:0")));
		all.add(new Miss("strided", "share of its accesses by source lines", 2, t -> steps(t, 128, 1000, "3:2400:490:509", "1:8:99:0")));
		all.add(new Miss("strided", "share of its accesses by source lines", 2, t -> steps(t, 128, 1000, "3:255:990:9", "1:8:99:0")));
		// sweeps down columns
		all.add(new Miss("column-sweep", "share of its pages that two", 2, t -> columns(t, 1496, p -> p < 96, (i, page) -> i * 7 % 90)));
		// each thread has rows of its own, and at the end all look at all
		all.add(new Miss("column-sweep", "share of (page, interval) pairs", 2, t -> {
			columns(t, 1496, p -> false, (i, page) -> i * 7 % 90);
			for (int p = 0; p < 128; p++) {
				t.read(0, p, INTERVALS - 1, 1 - t.owner(p, 128));
			}
		}));
		all.add(new Miss("column-sweep", "share of the steps", 2,
				t -> columns(t, 1496, p -> true, (i, page) -> page % 9 == 0 ? 50 : i * 7 % 90)));
		all.add(new Miss("column-sweep", "share of the looks", 2, t -> columns(t, 1496, p -> true, (i, page) -> 40)));
		all.add(new Miss("strided", "share of the looks", 2, t -> columns(t, 1000, p -> false, (i, page) -> 40)));
		// short-lived
		all.add(new Miss("short-lived", "blocks from this place", 2, t -> blocks(t, 63, 16, 500, 1)));
		all.add(new Miss("short-lived", "mean bytes", 2, t -> blocks(t, 80, 15, 200, 1)));
		all.add(new Miss("short-lived", "median life", 2, t -> blocks(t, 80, 16, 2500, 1)));
		// recycled
		all.add(new Miss("recycled-heap", "blocks from this place", 2, t -> blocks(t, 7, 8, 300, 2)));
		all.add(new Miss("recycled-heap", "median life", 2, t -> blocks(t, 40, 8, 2500, 2)));
		return all;
	}

	@TestFactory
	List<DynamicTest> oneConditionIsMissing() {
		return misses().stream().map(m -> DynamicTest.dynamicTest(m.rule() + ": " + m.condition(), () -> {
			PlantedTrace t = new PlantedTrace(m.threads(), INTERVALS);
			m.trace().accept(t);
			Advisor advisor = t.advise();
			Rule rule = Rules.all().stream().filter(r -> r.id().equals(m.rule())).findAny().orElseThrow();
			Advisor.Verdict verdict = advisor.explain(rule).stream().filter(v -> v.group().structures.contains(0)).findAny().orElseThrow();
			assertEquals(List.of(m.condition()), verdict.checks().stream().filter(c -> !c.holds())
					.map(c -> c.text().startsWith(m.condition()) ? m.condition() : c.text()).toList(), () -> AdviceText.explain(advisor, List.of(rule)));
			assertTrue(advisor.findings().stream().noneMatch(f -> f.rule().equals(m.rule())), AdviceText.text(advisor));
		})).toList();
	}

	/**
	 * Each thread has its part; the nodes are known of some pages, and some lie on the other node. Where all is not so, a part of the
	 * records of these pages is by the neighbour, who is on that node.
	 */
	private static void placed(PlantedTrace t, int pages, IntPredicate known, IntPredicate remote, boolean heavy) {
		int s = t.structure("grid", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				int k = t.owner(p, pages);
				int node = remote.test(p) ? 1 - k : k;
				t.place(known.test(p) ? 32 * k : -1, node);
				t.access(s, p, i, k, 1, heavy && remote.test(p) ? 4 : 1, 0, 0);
				if (!heavy && !remote.test(p)) {
					t.write(s, p, i, k);
				}
			}
		}
	}

	/** Elements of a type; threads enter each page at this byte, -1 not known. */
	private static void cells(PlantedTrace t, int pages, String members, int offset) {
		int s = t.structure("cells", StructureKind.STATIC, pages);
		t.type(s, "struct cell[" + pages * PlantedTrace.PAGE / Integer.parseInt(members.split(";")[0]) + "]", members);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				t.access(s, p, i, t.owner(p, pages), 1, 1, offset, offset);
			}
		}
	}

	private interface Of {
		int thread(int page);
	}

	private interface Entry {
		int offset(int page, int interval);
	}

	private interface When {
		boolean in(int interval);
	}

	/** Who writes each page first, and who later. */
	private static void init(PlantedTrace t, int pages, Of first, Of later) {
		int s = t.structure("field", StructureKind.HEAP, pages);
		for (int p = 0; p < pages; p++) {
			t.write(s, p, 0, first.thread(p));
			for (int i = 1; i < INTERVALS; i++) {
				t.write(s, p, i, later.thread(p));
			}
		}
	}

	/** All threads read some of the pages, the first one all; every n-th access writes. */
	private static void readers(PlantedTrace t, int pages, int writeEvery, int some) {
		int s = t.structure("lookup", StructureKind.HEAP, pages);
		int n = 0;
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				for (int k = 0; k < (p < some ? t.threads() : 1); k++) {
					if (i == 0 || writeEvery > 0 && ++n % writeEvery == 0) {
						t.write(s, p, i, k);
					} else {
						t.read(s, p, i, k);
					}
				}
			}
		}
	}

	/** Two threads, one with more than the other, share so many intervals; a third one works elsewhere. */
	private static void mailbox(PlantedTrace t, int pages, int readsPerWrite, int times, int shared, boolean all) {
		int s = t.structure("mailbox", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				boolean both = all || p < pages / 4;
				if (both || p % 2 == 0) {
					t.access(s, p, i, 0, (long) readsPerWrite * (readsPerWrite == 1 ? times : 1), 1, 0, 0);
				}
				if (both ? i < shared : p % 2 == 1) {
					t.access(s, p, i, 1, (shared < INTERVALS ? 10L : 1) * readsPerWrite, 1, 0, 0);
				}
			}
		}
		int own = t.structure("own", StructureKind.HEAP, 8);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 8; p++) {
				t.access(own, p, i, 2, Math.max(1, (long) pages * (readsPerWrite + 1) / 8), 1, 0, 0);
			}
		}
	}

	/**
	 * So many threads use each page; in some intervals all at once (but for the last pages, if it is not so in the next one, too), else in
	 * turns; the first ones write.
	 */
	private static void exchange(PlantedTrace t, int pages, Of users, When together, int writers) {
		int s = t.structure("exchange", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				for (int k = 0; k < users.thread(p); k++) {
					if (i == 0 || together.in(i) && (p < 15 || together.in(i + 1)) || i % users.thread(p) == k) {
						t.access(s, p, i, k, 1, k < writers ? 1 : 0, 8 * k, k < writers ? 8 * k : -1);
					}
				}
			}
		}
	}

	/** All threads write all pages in each interval, but of each page one makes nine tenths of the accesses. */
	private static void owned(PlantedTrace t) {
		int s = t.structure("exchange", StructureKind.HEAP, 20);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 20; p++) {
				for (int k = 0; k < 4; k++) {
					t.access(s, p, i, k, k == p % 4 ? 60 : 1, 1, 8 * k, 8 * k);
				}
			}
		}
	}

	private static void anywhere(PlantedTrace t) {
		int s = t.structure("vector", StructureKind.STATIC, 64);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 64; p++) {
				for (int k = 0; k < 4; k++) {
					int offset = k == 0 ? 0 : 64 * (3 * i + k);
					t.access(s, p, i, k, 1, 1, offset, offset);
				}
			}
		}
	}

	/** Counters of all threads in one line, for so many intervals; then each alone. */
	private static void counters(PlantedTrace t, int shared) {
		int s = t.structure("counters", StructureKind.STATIC, 1);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < t.threads(); k++) {
				if (i <= shared || i % t.threads() == k) {
					t.access(s, 0, i, k, 1, 1, 8 * k, 8 * k);
				}
			}
		}
	}

	/** A large structure in which two threads write words of their own in so many lines, two words to a line. */
	private static void table(PlantedTrace t, int lines) {
		int s = t.structure("table", StructureKind.HEAP, 32);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 32; p++) {
				for (int k = 0; k < 2; k++) {
					// other pages are written by one thread only
					if (p < lines) {
						t.access(s, p, i, k, 1, 1, 8 * k, 8 * k);
					} else if (k == 0) {
						t.write(s, p, i, 0);
					}
				}
			}
		}
	}

	private static void touched(PlantedTrace t, int pages, int used, long lifeNs) {
		int s = t.structure("table", StructureKind.HEAP, 0x50000000L, (long) pages * PlantedTrace.PAGE, 0, lifeNs, 0);
		for (int i = 0; i < (lifeNs == Long.MAX_VALUE ? INTERVALS : 1); i++) {
			for (int p = 0; p < used; p++) {
				t.write(s, p, i, 0);
			}
		}
		int other = t.structure("other", StructureKind.HEAP, 8);
		for (int i = 0; i < INTERVALS; i++) {
			t.write(other, i % 8, i, 1);
		}
	}

	private static void stack(PlantedTrace t, int pages, int foreign, int times) {
		int s = t.structure("stack", StructureKind.STACK, pages);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				t.write(s, p, i, 0);
				for (int n = 0; p < foreign && n < times; n++) {
					t.write(s, p, i, 1);
				}
			}
		}
	}

	private static void columns(PlantedTrace t, int rowBytes, IntPredicate shared, IntBinaryOperator column) {
		int s = t.structure("rows", StructureKind.HEAP, 128);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < 128; p++) {
				int offset = t.columnEntry(p, rowBytes, column.applyAsInt(i, p));
				for (int k = 0; k < t.threads(); k++) {
					if (shared.test(p) || k == t.owner(p, 128)) {
						t.access(s, p, i, k, 1, 1, offset, offset);
					}
				}
			}
		}
	}

	private static void steps(PlantedTrace t, int pages, long jumps, String strides, String others) {
		int s = t.structure("b", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				t.access(s, p, i, t.owner(p, pages), 1, 1, 0, 0);
			}
		}
		long n = org.memtrace.model.InstructionCounts.strides(others).stream().mapToLong(c -> c.count()).sum();
		t.instruction(s, 0, 0x401000, false, jumps, strides);
		t.instruction(s, 0, 0x401010, true, n + 1, others);
	}

	private static void sweep(PlantedTrace t, int pages, Entry entry) {
		int s = t.structure("image", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			for (int p = 0; p < pages; p++) {
				int offset = entry.offset(p, i);
				t.access(s, p, i, t.owner(p, pages), 1, 1, offset, offset);
			}
		}
	}

	/** Blocks of one place at one address, one after the other, of threads in turn. */
	private static void blocks(PlantedTrace t, int count, int pages, long lifeNs, int threads) {
		long step = Math.max(1, Math.min(lifeNs + 10, (INTERVALS * PlantedTrace.INTERVAL - lifeNs) / count));
		for (int b = 0; b < count; b++) {
			long birth = b * step;
			// those that live long lie beside each other
			long address = 0x20000000L + (lifeNs > step ? b / 2 % 2 * (pages + 1L) * PlantedTrace.PAGE : 0);
			int s = t.structure("scratch #" + b, StructureKind.HEAP, address, (long) pages * PlantedTrace.PAGE, birth, birth + lifeNs, b % threads);
			for (int p = 0; p < pages; p++) {
				t.write(s, p, (int) (birth / PlantedTrace.INTERVAL), b % threads);
			}
		}
		int other = t.structure("other", StructureKind.STATIC, 8);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < t.threads(); k++) {
				t.write(other, k, i, k);
			}
		}
	}
}
