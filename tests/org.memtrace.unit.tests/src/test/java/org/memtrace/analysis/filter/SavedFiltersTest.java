// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.text.Quantities;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** Named filters of a trace, and the texts of the fields in which filters are edited. */
class SavedFiltersTest {
	@Test
	void filtersAreKeptWithTheTraceByName() throws Exception {
		TraceStore store = SyntheticTrace.matrixMultiplication(4, 6);
		assertEquals(SavedFilters.NONE, SavedFilters.of(store));
		FilterSet worker = FilterSet.of(TraceFilter.only(Condition.thread(1)));
		FilterSet notA = FilterSet.of(TraceFilter.hide(new Condition.Name("^\"A\"$")), TraceFilter.only(Condition.cpu(2)));
		SavedFilters.NONE.with("worker 1", worker).with("ohne „A“", notA).save(store);
		SavedFilters read = SavedFilters.of(store);
		assertEquals(Set.of("worker 1", "ohne „A“"), read.byName().keySet());
		assertEquals(notA, read.find("ohne „A“"));
		assertEquals(worker, read.find("Worker 1"), "names are found in any case");
		assertEquals(worker, read.find(worker.toJson()));
		read.without("ohne „A“").save(store);
		assertEquals(Set.of("worker 1"), SavedFilters.of(store).byName().keySet());
		assertEquals("the trace has no filters that are called 'x', only worker 1",
				assertThrows(MemtraceException.class, () -> SavedFilters.of(store).find("x")).getMessage());
		SavedFilters.NONE.save(store);
		assertEquals(true, store.readNote(SavedFilters.NOTE).isEmpty());
		store.writeNote(SavedFilters.NOTE, new byte[] { '[' });
		assertThrows(MemtraceException.class, () -> SavedFilters.of(store));
	}

	@Test
	void timesAndSizesSurviveTheirText() {
		long seed = 7;
		Random r = new Random(seed);
		for (int i = 0; i < 1000; i++) {
			long v = r.nextLong(1L << 1 + r.nextInt(60)) * (r.nextBoolean() ? 1 : 1000);
			if (v >= 0) {
				assertEquals(v, Quantities.durationNs(Quantities.duration(v)), "seed " + seed + ": " + v);
				assertEquals(v, Quantities.sizeBytes(Quantities.size(v)), "seed " + seed + ": " + v);
			}
		}
		assertEquals("1.5 s", Quantities.duration(1_500_000_000));
		assertEquals("64 KiB", Quantities.size(65536));
		assertEquals(1_500_000, Quantities.durationNs(" 1,5ms "));
		assertEquals("'5' is no time: give a number with ns, us, ms, s, min or h",
				assertThrows(IllegalArgumentException.class, () -> Quantities.durationNs("5")).getMessage());
		assertThrows(IllegalArgumentException.class, () -> Quantities.sizeBytes("5 apples"));
		assertThrows(IllegalArgumentException.class, () -> Quantities.sizeBytes("99999999 TiB"));
	}

	@Test
	void numbersAreRangesAndLists() {
		assertEquals(List.of(0, 1, 2, 3, 8), List.copyOf(Quantities.numbers("0-3, 8")));
		assertEquals(List.of(-1, 5, 7), List.copyOf(Quantities.numbers("7 5 unknown")));
		assertEquals("unknown, 0-2, 5", Quantities.numbers(new TreeSet<>(List.of(-1, 0, 1, 2, 5))));
		assertEquals("", Quantities.numbers(new TreeSet<>()));
		for (String wrong : List.of("a", "3-1", "-5", "1..3")) {
			assertThrows(IllegalArgumentException.class, () -> Quantities.numbers(wrong), wrong);
		}
	}
}
