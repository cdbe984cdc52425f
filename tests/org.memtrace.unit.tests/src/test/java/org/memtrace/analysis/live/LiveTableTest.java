// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.live;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import com.google.gson.JsonObject;
import org.junit.jupiter.api.Test;
import org.memtrace.model.LivePages;
import org.memtrace.model.LivePages.Cell;
import org.memtrace.model.LivePages.Left;
import org.memtrace.model.LivePages.Row;

class LiveTableTest {
	private static final Cell LOW = new Cell(1000, 2000, 1, 0, 0, 1);
	private static final Cell HIGH = new Cell(3000, 4000, 80, 40, 20, 2);
	private static final LivePages PAGES = new LivePages(LivePages.State.RUNNING, 1000, 1000, 4000, 3, 1,
			List.of(new Row("A", "heap", "a.c:1", 0, List.of(LOW), null), new Row("B", "static", "", 0, List.of(LOW, HIGH), HIGH)),
			List.of(new Row("thread 7", "", "", 0, List.of(HIGH), HIGH)), true, new Left(0, 5, 0, ""));

	private static String text(boolean byThread, int rows) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		LiveTable.text(new PrintStream(bytes, true, StandardCharsets.UTF_8), PAGES, byThread, rows, 6);
		return bytes.toString(StandardCharsets.UTF_8);
	}

	@Test
	void theBusiestFirst() {
		assertEquals("""
				structure  kind    pages  shared  written  threads  pages over time (at most 80)
				B          static     80      40       20        2  ▁▁  ██
				A          heap        0       0        0        0  ▁▁
				""", text(false, 5));
		assertEquals("""
				thread    pages  shared  written  pages over time (at most 80)
				thread 7     80      40       20      ██
				""", text(true, 5));
		assertEquals("and 1 more", text(false, 1).lines().toList().getLast());
	}

	@Test
	void theHeadTellsWhatIsLeftOut() {
		assertEquals("app: recording; 3 intervals; shown: 0 ns to 3 µs", LiveTable.head("app", PAGES));
		LivePages partial = new LivePages(LivePages.State.ENDED, 1000, 1000, 4000, 1, 2, PAGES.structures(), PAGES.threads(), true,
				new Left(1234, 0, 3, "No names."));
		assertEquals("app: the recording is over; 1 interval, 2 process images; shown: 0 ns to 3 µs\n"
				+ "1,234 records are not shown. 3 process images are no longer shown. No names.", LiveTable.head("app", partial));
		assertEquals("p0000 A", LiveTable.label(partial, PAGES.structures().get(0)));
		assertEquals("A", LiveTable.label(PAGES, PAGES.structures().get(0)));
	}

	@Test
	void aRowForEachCell() {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		LiveTable.cells(new PrintStream(bytes, true, StandardCharsets.UTF_8), "csv", new JsonObject(), "app", PAGES, false);
		assertEquals("""
				image,name,kind,site,start_ns,end_ns,pages,shared,written,threads
				0,A,heap,a.c:1,1000,2000,1,0,0,1
				0,B,static,,1000,2000,1,0,0,1
				0,B,static,,3000,4000,80,40,20,2
				""", bytes.toString(StandardCharsets.UTF_8));
	}
}
