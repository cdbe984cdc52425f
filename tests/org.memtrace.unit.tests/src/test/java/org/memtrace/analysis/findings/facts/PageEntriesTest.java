// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

/** Steps from page to page are counted as they are, in bounded memory. */
class PageEntriesTest {
	private static final int PAGE = 4096;
	private static final long SEED = 20261123;

	private static Map<Long, Integer> kept(PageEntries.Steps steps) {
		Map<Long, Integer> all = new TreeMap<>();
		steps.forEach((bytes, count, address) -> all.merge(bytes, count, Integer::sum));
		return all;
	}

	@Test
	void stepsAreDistancesBetweenPages() {
		PageEntries e = new PageEntries(3);
		for (long address : new long[] {8, 4040, 5000, 4096 + 2000, 3 * PAGE, 4 * PAGE + 128, 6 * PAGE - 1, 1L << 40}) {
			e.enter(address, PAGE);
		}
		assertEquals(8, e.entries());
		assertEquals(2, e.lines()[63], "4040 and the last byte");
		// of 8 and 4040, and of 5000 and 6096, the first one entered the page
		assertEquals(5, e.steps.all());
		assertEquals(Map.of(4992L, 1, 7288L, 1, 4224L, 1, 8063L, 1, (1L << 40) - 6 * PAGE + 1, 1), kept(e.steps));
		assertEquals(Map.of(4 * PAGE + 128L - 5000, 1), kept(e.inside));
	}

	@Test
	void frequentStepsSurviveRareOnes() {
		System.out.println("seed " + SEED);
		Random random = new Random(SEED);
		for (int run = 0; run < 50; run++) {
			PageEntries all = new PageEntries(0);
			long address = 64L * random.nextInt(64);
			int often = 0;
			int n = 200 + random.nextInt(2000);
			for (int i = 0; i < n; i++) {
				if (i % 300 == 0) { // another part of memory, by another worker
					all = new PageEntries(0).add(all);
				}
				boolean rare = random.nextInt(4) == 0;
				often += rare ? 0 : 1;
				address += rare ? PAGE + random.nextInt(1 << 20) : 5000;
				all.enter(address, PAGE);
			}
			int found = kept(all.steps).getOrDefault(5000L, 0);
			assertTrue(found <= often && found >= often - (n - often) / 8 - n / 300 - 1, found + " of " + often);
			assertTrue(kept(all.steps).size() <= 8);
		}
	}
}
