// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.rules.Severity;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** Blocks of one place that live one after the other at the same addresses: each has its own pages, also where they are one producer. */
class LivesTest {
	private static final int LIVES = 40;
	private static final int LIFE = 5;
	private static final int PAGES = 400;
	private static final long BASE = 0x40000000L;

	/** Each block lives for five intervals; so many of its pages are used in each of these, by the threads that are given for the life. */
	private static PlantedTrace oneAfterTheOther(boolean merged, int used, IntUnaryOperator first, IntUnaryOperator later) {
		PlantedTrace t = new PlantedTrace(4, LIVES * LIFE);
		for (int b = 0; b < LIVES; b++) {
			long birth = b * LIFE * PlantedTrace.INTERVAL;
			t.structure("y8n" + (b == 0 ? "" : " #" + (b + 1)), StructureKind.HEAP, BASE, (long) PAGES * PlantedTrace.PAGE, birth,
					birth + LIFE * PlantedTrace.INTERVAL, first.applyAsInt(b));
		}
		if (merged) {
			t.merge("y8n (40 blocks)", BASE, PAGES);
		}
		for (int b = 0; b < LIVES; b++) {
			for (int i = 0; i < LIFE; i++) {
				for (int p = 0; p < used; p++) {
					t.write(merged ? PlantedTrace.MERGED : b, p, b * LIFE + i, i == 0 ? first.applyAsInt(b) : later.applyAsInt(b));
				}
			}
		}
		return t;
	}

	private static GroupFacts facts(PlantedTrace t) throws MemtraceException {
		return t.advise().facts().groups().get(0);
	}

	/** All of each block is used: 62.5 MiB in all, 1.6 MiB at one time, 400 pages at the same addresses. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void whatIsUsedWholeIsNotHardlyUsed(boolean merged) throws MemtraceException {
		PlantedTrace t = oneAfterTheOther(merged, PAGES, b -> 0, b -> 0);
		GroupFacts g = facts(t);
		assertEquals(LIVES * PAGES, g.parts);
		assertEquals(LIVES * PAGES, g.pagesOfBlocks);
		assertEquals(1, g.touchedShare());
		assertEquals((long) PAGES * PlantedTrace.PAGE, g.liveBytes);
		assertEquals(List.of(), t.advise().findings(), () -> "nothing is wrong");
	}

	/** Of each block a twentieth is used. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void whatIsHardlyUsedIsToldByItsBlocks(boolean merged) throws MemtraceException {
		Finding f = oneAfterTheOther(merged, PAGES / 20, b -> 0, b -> 0).advise().findings().get(0);
		assertEquals("unused", f.rule());
		assertTrue(f.evidence().startsWith("of its 1.6 MiB at one time, 62.5 MiB in all of its 40 blocks, only 800 pages of 16,000 are touched"), f.evidence());
	}

	/** All thread-local data of a library, and the variables in them to which the accesses belong: only the rest can be hardly used. */
	@ParameterizedTest
	@CsvSource({"400, 400, 0", "200, 100, 0", "40, 40, 320"})
	void bytesBelongToTheInnermostObject(int first, int second, int rest) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, 20);
		t.structure("x", StructureKind.STATIC, BASE, (long) first * PlantedTrace.PAGE, 0, Long.MAX_VALUE, 0);
		t.structure("y", StructureKind.STATIC, BASE + (first == PAGES ? 0 : first * PlantedTrace.PAGE), (long) second * PlantedTrace.PAGE, 0,
				Long.MAX_VALUE, 0);
		t.structure("app thread-local data", StructureKind.STATIC, BASE, (long) PAGES * PlantedTrace.PAGE, 0, Long.MAX_VALUE, 0);
		for (int i = 0; i < 20; i++) {
			for (int p = 0; p < first; p++) {
				t.write(0, p, i, 0);
			}
		}
		Optional<GroupFacts> all = t.advise().facts().groups().stream().filter(g -> g.label.equals("app thread-local data")).findFirst();
		// what nobody touches and is small is no group
		assertEquals(rest, all.map(g -> g.liveBytes / PlantedTrace.PAGE).orElse(0L));
		assertEquals(rest > 0, t.advise().findings().stream()
				.anyMatch(f -> f.rule().equals("unused")), () -> explained(t));
	}

	private static String explained(PlantedTrace t) {
		try {
			Advisor advisor = t.advise();
			return AdviceText.explain(advisor, advisor.rules().stream().filter(r -> r.id().equals("unused")).toList());
		} catch (MemtraceException e) {
			throw new AssertionError(e);
		}
	}

	/** The next block at these addresses is of another thread: nobody hands a page on, and nobody shares one. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void theNextLifeDoesNotShareThePages(boolean merged) throws MemtraceException {
		PlantedTrace t = oneAfterTheOther(merged, PAGES, b -> b % 4, b -> b % 4);
		GroupFacts g = facts(t);
		assertEquals(0, g.handedOn);
		assertEquals(0, g.multiUserParts);
		assertEquals(0, g.sharedPairs);
		assertEquals(LIVES * PAGES, g.singleParts);
	}

	/** Two blocks in one page: the byte tells whose it is. */
	@Test
	void theByteTellsTheBlock() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, 20);
		for (int b = 0; b < 40; b++) {
			t.structure("node" + (b == 0 ? "" : " #" + (b + 1)), StructureKind.HEAP, BASE + b * 2048L, 2048, 0, Long.MAX_VALUE, b % 2);
		}
		t.merge("node (40 blocks)", BASE, 20);
		for (int p = 0; p < 20; p++) {
			for (int i = 0; i < 20; i++) {
				t.access(PlantedTrace.MERGED, p, i, 0, 1, 1, 64, 64);
				t.access(PlantedTrace.MERGED, p, i, 1, 1, 1, 2048 + 64, 2048 + 64);
			}
		}
		assertEquals(40, facts(t).parts);
		assertEquals(0, facts(t).multiUserParts);
	}

	/** On one node the page faults cost time where pages are touched first. Only where that is a moment of the run it costs nothing. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			20   | 1    | MEDIUM | 5.0 % of the run at most
			20   | 5000 | MEDIUM | 1.3 % of the run if each of the 320 takes 4 µs
			400  | 1    | LOW    | all first touches of the thread take less than 1.0 % of the run, so this costs nothing here
			20   | 9000 | LOW    | all first touches of the thread take less than 1.0 % of the run, so this costs nothing here
			""")
	void firstTouchesOfOneNodeCostWhatTheyTake(int intervals, long stretch, Severity severity, String text) throws MemtraceException {
		PlantedTrace t = firstTouches(320, intervals);
		t.stretch = stretch;
		t.properties.put("numa_nodes", "1");
		Finding f = t.advise().findings().get(0);
		assertEquals("first-touch", f.rule());
		assertTrue(f.evidence().contains("; this machine has one NUMA node, ") && f.evidence().contains(text), f.evidence());
		assertEquals(severity, f.severity());
		t.properties.put("numa_nodes", "2");
		assertEquals(Severity.HIGH, t.advise().findings().get(0).severity());
	}

	private static PlantedTrace firstTouches(int pages, int intervals) {
		PlantedTrace t = new PlantedTrace(4, intervals);
		int s = t.structure("field", StructureKind.HEAP, pages);
		for (int i = 0; i < intervals; i++) {
			for (int p = 0; p < pages; p++) {
				t.write(s, p, i, i == 0 ? 0 : t.owner(p, pages));
			}
		}
		return t;
	}

	/** Each of many arrays costs too little to be told that it costs something; all of them together do. */
	@Test
	void whatCostsSomethingTogetherIsNotCalledFree() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, 20);
		t.stretch = 2000;
		t.properties.put("numa_nodes", "1");
		for (int a = 0; a < 10; a++) {
			int s = t.structure("m_" + (char) ('a' + a), StructureKind.HEAP, 32);
			for (int i = 0; i < 20; i++) {
				for (int p = 0; p < 32; p++) {
					t.write(s, p, i, i == 0 ? 0 : t.owner(p, 32));
				}
			}
		}
		Finding f = t.advise().findings().get(0);
		assertEquals(10, f.names().size());
		assertEquals(Severity.MEDIUM, f.severity());
		assertTrue(f.evidence().contains("0.3 % of the run if each of the 32 takes 4 µs"), f.evidence());
	}

	/** No page is far on one node, so it does not matter that others use them than touched them first, nor that all read them. */
	@ParameterizedTest
	@ValueSource(booleans = {false, true})
	void placementCostsNothingOnOneNode(boolean read) throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, 20);
		int s = t.structure("grid", StructureKind.HEAP, 64);
		for (int i = 0; i < 20; i++) {
			for (int p = 0; p < 64; p++) {
				for (int k = 0; k < 4; k++) {
					if (i == 0 && k == t.owner(p, 64)) {
						t.write(s, p, i, k);
					} else if (i > 0 && (read || k == (t.owner(p, 64) + 1) % 4)) {
						t.read(s, p, i, k);
					}
				}
			}
		}
		t.properties.put("numa_nodes", "1");
		Finding f = t.advise().findings().get(0);
		assertEquals(read ? "replicate" : "remote-mapping", f.rule());
		assertEquals(Severity.LOW, f.severity());
		assertTrue(f.evidence().contains("so no page is far, and this costs nothing here"), f.evidence());
		t.properties.put("numa_nodes", "2");
		assertEquals(read ? Severity.MEDIUM : Severity.HIGH, t.advise().findings().get(0).severity());
	}

	/** Blocks that come and go: what is known is told, and places with the same cause are one finding. */
	@Test
	void shortLivesOfManyPlacesAreOneFinding() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, 200);
		for (int b = 0; b < 100; b++) {
			for (int a = 0; a < 4; a++) {
				int s = t.structure("f" + a + "_elem" + (b == 0 ? "" : " #" + (b + 1)), StructureKind.HEAP, BASE + a * 0x100000L + b % 3 * 0x1000000L,
						20L * PlantedTrace.PAGE, 2L * b * PlantedTrace.INTERVAL, (2L * b + 1) * PlantedTrace.INTERVAL, 0);
				for (int p = 0; p < 20; p++) {
					t.write(s, p, 2 * b, 0);
				}
			}
		}
		List<Finding> all = t.advise().findings();
		assertEquals(List.of("short-lived"), all.stream().map(Finding::rule).toList());
		assertEquals(4, all.get(0).names().size());
		assertTrue(all.get(0).evidence().contains("100 blocks of 80.0 KiB (mean) live for 1 µs each (median), at 3 addresses; if the allocator gives"
				+ " their pages back to the kernel in between, which a trace does not tell, each block has all its page faults anew"),
				all.get(0).evidence());
	}
}
