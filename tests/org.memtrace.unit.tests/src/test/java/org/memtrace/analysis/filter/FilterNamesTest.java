// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;

/** A filter that names what a trace does not have is not taken for one that hides everything. */
class FilterNamesTest {
	private static List<String> missing(String json) throws MemtraceException {
		TraceStore store = SyntheticTrace.matrixMultiplication(8, 6);
		return FilterNames.missing(FilterSet.parse(json), AccessTable.load(store, Progress.NONE), Progress.NONE);
	}

	@Test
	void whatIsThereIsNotMissing() throws Exception {
		assertEquals(List.of(), missing("[]"));
		assertEquals(List.of(), missing("{\"by\":\"structure\",\"values\":[\"A\",\"B\",\"\"]}"));
		assertEquals(List.of(), missing("{\"by\":\"thread\",\"numbers\":[0,1,-1]}"));
		assertEquals(List.of(), missing("{\"by\":\"name\",\"pattern\":\"^A\"}"));
		assertEquals(List.of(), missing("{\"by\":\"cpu\",\"numbers\":[0]}"));
		assertEquals(List.of(), missing("{\"by\":\"type\",\"values\":[\"Private_Read\"]}"));
		assertEquals(List.of(), missing("{\"by\":\"kind\",\"kinds\":[\"file\"]}"), "a kind that the trace has nothing of");
		assertEquals(List.of(), missing("{\"by\":\"structure\",\"values\":[\"hal\"],\"off\":true}"));
	}

	@Test
	void whatIsNotThereIsToldWithNamesThatAreNear() throws Exception {
		assertEquals(List.of("there is no structure 'AA'; near: A"), missing("{\"by\":\"structure\",\"values\":[\"AA\",\"B\"]}"));
		assertEquals(List.of("there is no thread 99"), missing("{\"by\":\"thread\",\"numbers\":[99,0]}"));
		assertTrue(missing("{\"by\":\"name\",\"pattern\":\"nosuch\"}").getFirst().startsWith("no name has 'nosuch' in it"));
		assertTrue(missing("{\"by\":\"type\",\"values\":[\"Private_Red\"]}").getFirst().contains("'Private_Red'; near: Private_Read"));
		assertEquals(2, missing("{\"by\":\"any\",\"of\":[{\"by\":\"structure\",\"values\":[\"AAA\"]},{\"by\":\"structure\",\"values\":[\"B\"]},"
				+ "{\"by\":\"cpu\",\"numbers\":[4711]}]}").size());
	}

	@Test
	void nearNames() {
		assertEquals("; near: halo, hall_2", FilterNames.near("hal", List.of("hall_2", "halo", "grid", "scratch_1", "x", "y")));
		assertEquals("; near: Halo", FilterNames.near("halo", List.of("grid", "Halo", "a", "b", "c", "d")));
		assertEquals("; there is grid, table", FilterNames.near("nosuch", List.of("grid", "table")));
		assertEquals("", FilterNames.near("nosuch", List.of("aa", "bb", "cc", "dd", "ee", "ff")));
	}
}
