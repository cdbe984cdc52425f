// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;

class MarkersTest {
	private static final Marker INSTANT = new Marker("start of loop", 0xff0000, 5, 5, Marker.NO_PRODUCER, false);
	private static final Marker INTERVAL = new Marker("a\tb\\n\nÄ", 0x12abef, -7, 1L << 62, 3, false);
	private static final Marker ROW = new Marker("hot", 0, Marker.NO_TIME, Marker.NO_TIME, 0, false);
	private static final Marker BOOKMARK = new Marker("", 0xffffff, 1, 2, 9, true);

	@Test
	void whatIsWrittenIsReadBack() throws Exception {
		List<Marker> all = List.of(INSTANT, INTERVAL, ROW, BOOKMARK);
		assertEquals(all, Markers.read(Markers.write(all)));
		assertEquals(List.of(), Markers.read(Markers.write(List.of())));
		assertTrue(INSTANT.isInstant());
		assertFalse(ROW.hasTime());
	}

	@Test
	void sortedByTime() {
		assertEquals(List.of(ROW, INTERVAL, BOOKMARK, INSTANT), Markers.sorted(List.of(INSTANT, INTERVAL, ROW, BOOKMARK)));
	}

	@Test
	void newerVersionsAndDamageAreRefused() {
		assertEquals("the markers of this trace were written in version 2 of their format; this memtrace reads up to 1",
				refused("memtrace-markers 2\nwhatever"));
		assertEquals("note \"markers\" of the trace, line 2: has 1 fields instead of 6", refused("memtrace-markers 1\nnonsense"));
		assertEquals("note \"markers\" of the trace, line 1: is not the first line of a list of markers", refused(""));
		assertTrue(refused("memtrace-markers 1\nmarker\tff0000\t9\t5\t-\tx").contains("line 2: cannot be read"));
	}

	private static String refused(String text) {
		return assertThrows(MemtraceException.class, () -> Markers.read(text.getBytes(StandardCharsets.UTF_8))).getMessage();
	}

	@Test
	void markersMeanSomething() {
		assertThrows(IllegalArgumentException.class, () -> new Marker("x", 0, 2, 1, 0, false));
		assertThrows(IllegalArgumentException.class,
				() -> new Marker("x", 0, Marker.NO_TIME, Marker.NO_TIME, Marker.NO_PRODUCER, false));
	}
}
