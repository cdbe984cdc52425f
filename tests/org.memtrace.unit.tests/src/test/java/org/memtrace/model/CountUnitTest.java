// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;

import org.junit.jupiter.api.Test;

class CountUnitTest {
	private static CountUnit of(String type, String... properties) {
		return switch (properties.length) {
		case 0 -> CountUnit.of(type, Map.of());
		case 2 -> CountUnit.of(type, Map.of(properties[0], properties[1]));
		default -> CountUnit.of(type, Map.of(properties[0], properties[1], properties[2], properties[3]));
		};
	}

	@Test
	void onlyAPromiseMakesThemAccesses() {
		assertEquals(CountUnit.ACCESSES, of("memtrace", "guarantee_counts", "exact", "guarantee_pages", "complete"));
		assertEquals(CountUnit.ACCESSES, of("TABARNAC"), "Pin counts each one");
		assertEquals(CountUnit.ACCESSES_IN_WINDOWS, of("memtrace", "guarantee_counts", "windows", "guarantee_pages", "sampled"));
		assertFalse(CountUnit.ACCESSES_IN_WINDOWS.isExact(), "not those of the whole run");
		assertEquals(CountUnit.PAGE_FAULTS, of("memtrace", "guarantee_pages", "complete"));
		assertEquals(CountUnit.PAGE_FAULTS, of("memtrace", "guarantee_pages", "sampled", "guarantee_writes", "exact"),
				"writes alone are not counts");
		assertEquals(CountUnit.PAGE_FAULTS, of("memtrace", "guarantee_counts", "none", "guarantee_pages", "complete"));
		assertEquals(CountUnit.PAGE_FAULTS, of("Moca"));
		assertEquals(CountUnit.RECORDS, of("memtrace"), "nobody says how it was recorded");
		assertEquals(CountUnit.RECORDS, of("memtrace", "guarantee_counts", "about"));
	}

	@Test
	void wordsFitIntoSentences() {
		for (CountUnit u : CountUnit.values()) {
			assertEquals(u.isExact(), u.plural().equals("accesses"));
			assertEquals(u.isExact() || u == CountUnit.ACCESSES_IN_WINDOWS, u.plural().contains("access"));
			assertEquals(u.title().toLowerCase(), u.plural());
			assertNotEquals(u.noun(), u.row(), "a line of the trace and what it counts must not be mistaken");
			assertTrue(u.meaning().length() > 20);
			assertFalse(u.id().contains(" "));
		}
	}
}
