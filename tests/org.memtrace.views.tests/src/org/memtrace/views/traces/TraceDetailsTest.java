// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.model.TraceInfo;

/** What the recorder has to say about a trace stands in its first section, once, and not where other properties are. */
class TraceDetailsTest {
	@Test
	void tellsLateIntervals() {
		List<TraceDetails.Row> rows = TraceDetails.of(trace(Map.of(TraceInfo.PROPERTY_LATE, "2 of 9 intervals took longer")), null, "");
		assertEquals(List.of("Intervals: 2 of 9 intervals took longer"),
				rows.stream().filter(r -> r.value().contains("9 intervals") || r.name().equals("Intervals"))
						.map(r -> r.name() + ": " + r.value()).toList());
		assertEquals(0, TraceDetails.of(trace(Map.of()), null, "").stream().filter(r -> r.name().equals("Intervals")).count());
	}

	@Test
	void tellsWindows() {
		List<TraceDetails.Row> rows = TraceDetails.of(trace(Map.of(TraceInfo.PROPERTY_WINDOWS, "counted for 10 % of the time")), null, "");
		assertEquals(List.of("Windows: counted for 10 % of the time"),
				rows.stream().filter(r -> r.value().contains("10 %") || r.name().equals("Windows")).map(r -> r.name() + ": " + r.value()).toList());
	}

	private static TraceInfo trace(Map<String, String> properties) {
		return new TraceInfo(-1, "t", "t", TraceInfo.TYPE_MEMTRACE, "app", "host", "Linux", 2, 0, 0, 0, 1, Instant.EPOCH, 4096, "",
				properties);
	}
}
