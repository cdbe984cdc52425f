// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.IntUnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.analysis.findings.facts.GroupFacts;
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

	/** On one node faults and zeroing cost time where pages are touched first. Only where that is a moment of the run it costs nothing. */
	@Test
	void firstTouchesOfOneNodeCostWhatTheyTake() throws MemtraceException {
		for (int intervals : new int[] {20, 400}) {
			PlantedTrace t = new PlantedTrace(4, intervals);
			t.properties.put("numa_nodes", "1");
			int s = t.structure("field", StructureKind.HEAP, 64);
			for (int i = 0; i < intervals; i++) {
				for (int p = 0; p < 64; p++) {
					t.write(s, p, i, i == 0 ? 0 : t.owner(p, 64));
				}
			}
			String evidence = t.advise().findings().get(0).evidence();
			assertEquals(intervals == 400, evidence.contains("costs nothing here"), evidence);
			assertTrue(evidence.contains(intervals == 400 ? "its first touches take less than 1.0 % of the run"
					: "no page is far; its first touches are in 1 interval of 20, and what they cost there is not known"), evidence);
		}
	}
}
