// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.sharing.PanelEvidence.Stay;
import org.memtrace.model.store.AccessBatch;

/** Pages beside those of a panel are private, shared or not known as those are, and seldom wrongly. */
class PanelEvidenceTest {
	private static final int UNKNOWN = AccessBatch.SHARING_NOT_KNOWN;
	private static final int THREADS = 4;
	private static final int PAGES = 2000;

	private static Stay stay(long page, int active, int users, int thread) {
		return new Stay(page, 0, 1000, 2000, active, users, thread);
	}

	@Test
	void aPageOfThePanelSpeaksForItself() {
		PanelEvidence panel = new PanelEvidence(List.of(stay(5, 14, 1, 0), stay(6, 13, 1, 0), stay(7, 3, 2, 1)));
		assertEquals(1, panel.sharing(5, PanelEvidence.NO_GROUP, 0, 900, 2100, 0));
		assertEquals(UNKNOWN, panel.sharing(6, PanelEvidence.NO_GROUP, 0, 900, 2100, 0));
		assertEquals(1, panel.sharing(6, PanelEvidence.NO_GROUP, 0, 900, 2100, 1), "with a look of its own");
		assertEquals(2, panel.sharing(7, PanelEvidence.NO_GROUP, 0, 900, 2100, 0));
		assertEquals(2, panel.sharing(5, PanelEvidence.NO_GROUP, 1, 900, 2100, 0), "another one was seen");
		assertEquals(UNKNOWN, panel.sharing(5, PanelEvidence.NO_GROUP, 0, 2000, 9000, 0), "at another time");
		assertEquals(UNKNOWN, panel.sharing(8, 0, 0, 900, 2100, 13), "three pages say nothing of a fourth");
		assertEquals(UNKNOWN, PanelEvidence.NONE.sharing(5, 0, 0, 900, 2100, 13));
	}

	/** A structure that threads have divided among them; some of its pages, anywhere, are used by a second one, too. */
	private static final class Program {
		final Random random;
		/** Share of the uses of a page that is of the other thread. */
		final double[] other = new double[PAGES];

		Program(long seed, double shared) {
			random = new Random(seed);
			for (int p = 0; p < PAGES; p++) {
				other[p] = random.nextDouble() < shared ? 0.2 + 0.3 * random.nextDouble() : 0;
			}
		}

		int owner(int page) {
			return page * THREADS / PAGES;
		}

		/** Looks at a page that find the other thread. */
		int others(int page, int looks) {
			int n = 0;
			for (int i = 0; i < looks; i++) {
				n += random.nextDouble() < other[page] ? 1 : 0;
			}
			return n;
		}

		PanelEvidence panel(int stays) {
			List<Stay> all = new ArrayList<>();
			for (int i = 0; i < stays; i++) {
				int page = random.nextInt(PAGES);
				int active = 4 + random.nextInt(13);
				int n = others(page, active);
				int most = 2 * n > active ? (owner(page) + 1) % THREADS : owner(page);
				all.add(new Stay(page, 0, 1000L * (i / 8), 1000L * (i / 8 + 4), active, n > 0 && n < active ? 2 : 1, most));
			}
			return new PanelEvidence(all);
		}
	}

	/** What was said of pages at which some looks found the owner alone. */
	private record Said(int asked, int privately, int wrongly, int shared, int sharedWrongly) {
		double unknown() {
			return (asked - privately - shared) / (double) asked;
		}
	}

	private static Said ask(long seed, double shared, int stays, int looks) {
		Program program = new Program(seed, shared);
		PanelEvidence panel = program.panel(stays);
		int[] n = new int[5];
		for (int page = 0; page < PAGES; page++) {
			if (program.others(page, looks) > 0) {
				continue; // several were seen: that is known
			}
			boolean isShared = program.other[page] > 0;
			int said = panel.sharing(page, 0, program.owner(page), 0, 1000L * stays / 8, looks);
			n[0]++;
			n[1] += said == 1 ? 1 : 0;
			n[2] += said == 1 && isShared ? 1 : 0;
			n[3] += said > 1 ? 1 : 0;
			n[4] += said > 1 && !isShared ? 1 : 0;
		}
		return new Said(n[0], n[1], n[2], n[3], n[4]);
	}

	/** At most one in a hundred that are called private is shared, whatever part of the memory is; and where none is, most are known. */
	@Test
	void fewAreCalledPrivateThatAreShared() {
		for (double shared : new double[] {0, 0.005, 0.02, 0.1, 0.3, 0.6, 0.95}) {
			int privately = 0;
			int wrongly = 0;
			double unknown = 0;
			for (long seed = 1; seed <= 40; seed++) {
				Said said = ask(seed, shared, 300, 4);
				privately += said.privately;
				wrongly += said.wrongly;
				unknown += said.unknown() / 40;
			}
			assertTrue(wrongly <= 0.01 * privately + 5, wrongly + " of " + privately + " are shared, of all " + shared + ", seeds 1 to 40");
			assertTrue(shared > 0 || unknown < 0.1, "not known: " + unknown + ", seeds 1 to 40");
		}
	}

	@Test
	void whatAllShareIsShared() {
		int shared = 0;
		int wrongly = 0;
		double unknown = 0;
		for (long seed = 1; seed <= 40; seed++) {
			Said said = ask(seed, 1, 300, 2);
			shared += said.shared;
			wrongly += said.privately;
			unknown += said.unknown() / 40;
		}
		assertTrue(wrongly <= 40 * PAGES / 10_000, wrongly + " are called private, seeds 1 to 40");
		assertTrue(shared > 0 && unknown < 0.2, "not known: " + unknown + ", seeds 1 to 40");
		for (long seed = 1; seed <= 40; seed++) {
			Said half = ask(seed, 0.5, 300, 2);
			assertTrue(half.sharedWrongly <= 0.02 * PAGES, half + ", seed " + seed);
		}
	}

	/** Too few pages of the panel to know whether the others foretell them. */
	@Test
	void fewStaysSayNothingOfOthers() {
		Said said = ask(7, 0, 12, 1);
		assertTrue(said.unknown() > 0.95, said.toString());
	}
}
