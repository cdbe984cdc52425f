// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.model.TraceInfo;

class TraceSearchTest {
	private static final TraceInfo TRACE = new TraceInfo(3, "before the fix", "stencil_3", TraceInfo.TYPE_MEMTRACE,
			"/opt/bin/stencil", "node17", "Linux 6.12", 64, 10, 4, 0, 100, Instant.parse("2026-11-20T05:30:00Z"), 4096, "",
			Map.of("command", "stencil -n 512", "custom.branch", "numa/[first]"));

	private static boolean finds(String text) {
		return new TraceSearch(text).test(TRACE, "/tmp/x.db");
	}

	@Test
	void wordsMustAllBeFound() {
		assertEquals(true, finds(""));
		assertEquals(true, finds("FIX stencil"));
		assertEquals(false, finds("fix matmul"));
		assertEquals(true, finds("fix -matmul"));
		assertEquals(false, finds("-stencil"));
		assertEquals(true, finds("\"before the\""));
		assertEquals(false, finds("\"the before\""));
		assertEquals(true, finds("\"before the"), "while it is being typed");
		assertEquals(true, finds("x.db$"));
	}

	@Test
	void columnsAndPropertiesHaveNames() {
		assertEquals(true, finds("host:^node1\\d$ cpus:64"));
		assertEquals(false, finds("host:stencil"));
		assertEquals(true, finds("command:\"-n 512\""));
		assertEquals(true, finds("branch:numa"));
		assertEquals(true, finds("custom.branch:numa"));
		assertEquals(false, finds("-branch:numa"));
		assertEquals(false, finds("nobody:x"));
		assertEquals(true, finds("date:2026-11"));
		assertEquals(true, finds("host:/^node\\d+$/"), "between strokes, as in the filter of structures");
		assertEquals(false, finds("host:/^ode/"));
	}

	@Test
	void whatIsNoExpressionIsText() {
		assertEquals(true, finds("branch:[first"));
		assertEquals(false, finds("*"));
	}
}
