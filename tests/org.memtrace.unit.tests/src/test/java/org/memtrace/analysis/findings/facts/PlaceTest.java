// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;

class PlaceTest {
	/** Against a map; sums of parts, and addresses that differ in few bits or in many. */
	@Test
	void countsAreThoseOfAMap() {
		for (long seed = 1; seed <= 200; seed++) {
			Random random = new Random(seed);
			Map<Long, Double> expected = new TreeMap<>();
			CodeCounts all = new CodeCounts();
			int addresses = 1 << random.nextInt(9);
			int step = 1 << random.nextInt(40);
			for (int part = 0; part < 1 + random.nextInt(3); part++) {
				CodeCounts some = new CodeCounts();
				for (int n = random.nextInt(600); n > 0; n--) {
					long address = (random.nextBoolean() ? 1 : -1L) * step * random.nextInt(addresses);
					double more = random.nextInt(5);
					some.add(address, more);
					if (address != 0) {
						expected.merge(address, more, Double::sum);
					}
				}
				all.add(some);
			}
			assertArrayEquals(expected.keySet().stream().mapToLong(Long::longValue).toArray(), all.addresses(), "seed " + seed);
			expected.forEach((address, amount) -> assertEquals(amount, all.of(address)));
			assertEquals(0, all.of(0));
			assertEquals(0, all.of(12345678901L * 2 + 1));
		}
	}

	/** The function with most accesses, then its line with most; libraries without lines do not count. */
	@Test
	void theFunctionComesBeforeTheLine() {
		CodePlaces.Builder b = new CodePlaces.Builder();
		b.add(1, new CallFrame(10, "app", "step._omp_fn.0", "/src/a.c", 5));
		b.add(1, new CallFrame(11, "app", "step", "/src/a.c", 6));
		b.add(1, new CallFrame(12, "app", "fill", "/src/a.c", 9));
		b.add(1, new CallFrame(13, "libc.so.6", "memset", "", 0));
		b.add(0, new CallFrame(12, "app", "other", "/src/b.c", 1));
		CodePlaces code = b.build();
		CodeCounts counts = new CodeCounts();
		counts.add(13, 100);
		assertNull(Place.most(counts, code, 1, 0));
		counts.add(99, 100);
		assertNull(Place.most(counts, code, 1, 0));
		counts.add(12, 5);
		counts.add(10, 3);
		assertEquals("fill (a.c:9)", Place.most(counts, code, 1, 0).toString());
		counts.add(11, 4);
		assertEquals("step (a.c:6)", Place.most(counts, code, 1, 0).toString());
		counts.add(10, 1);
		assertEquals("step (a.c:5)", Place.most(counts, code, 1, 0).toString(), "of equal lines the first one");
		assertEquals("other (b.c:1)", Place.most(counts, code, 0, 0).toString());
		assertNull(Place.most(new CodeCounts(), CodePlaces.NONE, 0, 0));
	}

	@Test
	void namesAreThoseOfTheSource() {
		assertEquals("step", Place.written("step._omp_fn.0"));
		assertEquals("step", Place.written("step.omp_outlined_debug__.1"));
		assertEquals("step", Place.written("step [clone ._omp_fn.3]"));
		assertEquals("init", Place.written("init.constprop.0.isra.0"));
		assertEquals("main program", Place.written("MAIN__._omp_fn.1"));
		assertEquals("grid::fill", Place.written("__grid_MOD_fill"));
		assertEquals("Solver::step(int)", Place.written("Solver::step(int)"));
		assertEquals("particular", Place.written("particular"));
		assertEquals("a.c", new Place("", "/x/a.c", 0).toString());
	}
}
