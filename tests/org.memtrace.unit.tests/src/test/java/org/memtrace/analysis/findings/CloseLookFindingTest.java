// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.model.CloseLook;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** False sharing by what record --zoom saw. */
class CloseLookFindingTest {
	private static final int INTERVALS = 20;
	private static final int ROUNDS = 100;
	private static final int LINE = 64;

	/** Threads that use one page, so that the records tell nothing of words: all of them enter it at its first byte. */
	private static PlantedTrace shared(int threads, int distance) {
		PlantedTrace t = new PlantedTrace(threads, INTERVALS);
		int s = t.structure("counters", StructureKind.STATIC, 1);
		for (int i = 0; i < INTERVALS; i++) {
			for (int k = 0; k < threads; k++) {
				t.access(s, 0, i, k, 1, 1, k * distance, k * distance);
			}
		}
		return t;
	}

	/** Thread k writes at offset k * distance from the second line on, one after the other. */
	private static CloseLook.Builder turns(PlantedTrace t, int threads, int distance, int rounds) {
		CloseLook.Builder b = new CloseLook.Builder();
		for (int r = 0; r < rounds; r++) {
			for (int k = 0; k < threads; k++) {
				b.add(0, 100 + k, t.address(0) + LINE + k * distance, r * 100L + k, true, true);
			}
		}
		return b;
	}

	private static List<Finding> found(PlantedTrace t) throws MemtraceException {
		return t.advise().findings().stream().filter(f -> f.rule().equals("false-sharing")).toList();
	}

	@Test
	void wordsOfOneLineAreFalselyShared() throws MemtraceException {
		PlantedTrace t = shared(3, 0);
		assertEquals(List.of(), found(t), "the records do not tell it");
		t.look(turns(t, 3, 8, ROUNDS));
		List<Finding> found = found(t);
		assertEquals(1, found.size());
		Finding f = found.get(0);
		assertTrue(f.evidence().startsWith("3 threads write different words of one 64-byte line (line 0x40 of counters: "), f.evidence());
		assertTrue(f.evidence().contains(" writes at byte 0; ") && f.evidence().contains(" writes at byte 8; ")
				&& f.evidence().contains(" writes at byte 16"), f.evidence());
		assertTrue(f.evidence().contains("from one thread to another 299 times"), f.evidence());
		assertTrue(f.evidence().contains("1 such line of 1 with samples"), f.evidence());
		assertEquals(299, f.figures().get("hand_overs"));
		assertEquals(300, f.figures().get("line_samples"));
		assertEquals((double) t.address(0) + LINE, f.figures().get("line_address"));
		assertEquals(List.of(0, 1, 2), f.threads().stream().sorted().toList());
		assertEquals(1, f.leaves().size());
	}

	@Test
	void halvesOfAWordAreToldApart() throws MemtraceException {
		PlantedTrace t = shared(2, 0);
		t.look(turns(t, 2, 4, ROUNDS));
		assertEquals(1, found(t).size());
	}

	@Test
	void linesOfTheirOwnAreNot() throws MemtraceException {
		PlantedTrace t = shared(3, 8);
		assertEquals(1, found(t).size(), "the records suggest it");
		t.look(turns(t, 3, LINE, ROUNDS));
		assertEquals(List.of(), found(t), "but a close look knows better");
	}

	@Test
	void aCommonWordIsTrueSharing() throws MemtraceException {
		PlantedTrace t = shared(2, 0);
		CloseLook.Builder b = turns(t, 2, 8, ROUNDS);
		for (int r = 0; r < ROUNDS; r++) {
			b.add(0, 100 + r % 2, t.address(0) + LINE + 32, r * 100L + 50, true, true); // a lock beside them
		}
		t.look(b);
		assertEquals(List.of(), found(t));
	}

	@Test
	void oneWhoReadsThemInTheEndDoesNotMatter() throws MemtraceException {
		PlantedTrace t = shared(3, 0);
		CloseLook.Builder b = turns(t, 2, 8, ROUNDS);
		b.add(0, 102, t.address(0) + LINE, 1_000_000, true, false);
		b.add(0, 102, t.address(0) + LINE + 8, 1_000_001, true, false);
		t.look(b);
		assertEquals(1, found(t).size());
		assertEquals(List.of(0, 1), found(t).get(0).threads().stream().sorted().toList());
	}

	@Test
	void phasesAndSingleWritesAreNot() throws MemtraceException {
		PlantedTrace phases = shared(2, 0);
		CloseLook.Builder b = new CloseLook.Builder();
		for (int r = 0; r < 2 * ROUNDS; r++) {
			b.add(0, 100 + r / ROUNDS, phases.address(0) + 8 * (r / ROUNDS), r, true, true);
		}
		phases.look(b);
		assertEquals(List.of(), found(phases));
		PlantedTrace once = shared(2, 0);
		once.look(turns(once, 2, 8, 1));
		assertEquals(List.of(), found(once));
	}

	/** A queue: one thread reads the mask and the pointer beside the counter that the other one writes; or it reads the counter, too. */
	@ParameterizedTest
	@ValueSource(strings = {"other words", "the same word", "seldom"})
	void whoReadsBesideAWriterWaitsForTheLine(String reads) throws MemtraceException {
		PlantedTrace t = shared(2, 0);
		CloseLook.Builder c = new CloseLook.Builder();
		for (int r = 0; r < ROUNDS; r++) {
			c.add(0, 100, t.address(0), 4 * r, true, true);
			if (!reads.equals("seldom") || r % (ROUNDS / 8) == 0) {
				c.add(0, 101, t.address(0) + (reads.equals("the same word") && r % 4 == 0 ? 0 : 8 + 8 * (r % 2)), 4 * r + 2, true, false);
			}
		}
		t.look(c);
		List<Finding> found = found(t);
		assertEquals(reads.equals("other words") ? 1 : 0, found.size());
		if (!found.isEmpty()) {
			assertEquals(List.of(0, 1), found.get(0).threads());
			assertTrue(found.get(0).evidence().startsWith("one thread writes in a 64-byte line beside what another one reads (line 0x0 of counters: "),
					found.get(0).evidence());
			assertTrue(found.get(0).evidence().contains("writes at byte 0") && found.get(0).evidence().contains("reads at bytes 8, 16"),
					found.get(0).evidence());
		}
	}

	@Test
	void theLineWithMostHandOversIsShown() throws MemtraceException {
		PlantedTrace t = shared(2, 0);
		CloseLook.Builder b = turns(t, 2, 8, ROUNDS);
		for (int r = 0; r < 3 * ROUNDS; r++) {
			b.add(0, 100 + r % 2, t.address(0) + 3 * LINE + 16 + 8 * (r % 2), r, false, true);
			b.add(0, 100 + r / ROUNDS % 2, t.address(0) + 5 * LINE + 8 * (r % 2), r, false, true); // one after the other
			b.add(0, 100 + r % 2, 0x40L + r % 2 * 8, r, false, true); // of no structure
			b.add(1, 100 + r % 2, t.address(0) + 8 * (r % 2), r, false, true); // of another process
		}
		t.look(b);
		Finding f = found(t).get(0);
		assertTrue(f.evidence().contains("line 0xc0 of counters"), f.evidence());
		assertTrue(f.evidence().contains("2 such lines of 3 with samples"), f.evidence());
		assertEquals(3 * ROUNDS - 1, f.figures().get("hand_overs"));
	}

	@Test
	void aLineBelongsToTheStructureThatHasIt() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(2, INTERVALS);
		int pool = t.structure("pool", StructureKind.MMAP, 0x50000000L, 4 * PlantedTrace.PAGE, 0, Long.MAX_VALUE, 0);
		int dead = t.structure("dead", StructureKind.HEAP, 0x50001000L, PlantedTrace.PAGE, 0, 10, 0);
		int block = t.structure("block", StructureKind.HEAP, 0x50001000L, PlantedTrace.PAGE, 20, Long.MAX_VALUE, 0);
		for (int s : new int[] { pool, dead, block }) {
			for (int i = 0; i < INTERVALS; i++) {
				t.write(s, 0, i, i % 2);
			}
		}
		CloseLook.Builder b = new CloseLook.Builder();
		for (int r = 0; r < ROUNDS; r++) {
			b.add(0, 100 + r % 2, 0x50001000L + 8 * (r % 2), 100 + r, false, true);
		}
		t.look(b);
		assertEquals(List.of("block"), found(t).stream().map(Finding::name).toList());
	}
}
