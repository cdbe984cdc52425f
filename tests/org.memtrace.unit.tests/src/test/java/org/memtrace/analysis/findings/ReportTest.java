// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.InflaterInputStream;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

import org.junit.jupiter.api.Test;
import org.memtrace.model.memory.StructureKind;

/** The numbers in a report are those of the trace. What a browser makes of them is tested by releng/check-report.sh. */
class ReportTest {
	private static final Pattern DATA = Pattern.compile("<script type=\"application/json\" id=\"data\">(.*?)</script>", Pattern.DOTALL);

	private static JsonObject data(String html) {
		Matcher m = DATA.matcher(html);
		assertTrue(m.find());
		return JsonParser.parseString(m.group(1)).getAsJsonObject();
	}

	private static long[] column(JsonObject structure, String name) throws Exception {
		JsonObject c = structure.getAsJsonObject("data").getAsJsonObject(name);
		byte[] bytes = new InflaterInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(c.get("b").getAsString()))).readAllBytes();
		int width = c.get("w").getAsInt();
		long[] values = new long[c.get("n").getAsInt()];
		assertEquals(values.length * width, bytes.length);
		for (int i = 0; i < bytes.length; i++) {
			values[i / width] |= (bytes[i] & 0xffL) << 8 * (i % width);
		}
		return values;
	}

	/** Thread 0 touches first, thread p % 3 works on page p; one page with a large count; a page is not touched. */
	private static PlantedTrace trace(int pages, String name) {
		PlantedTrace t = new PlantedTrace(3, 10);
		int s = t.structure(name, StructureKind.HEAP, pages);
		for (int p = 0; p < pages; p++) {
			if (p == 5) {
				continue;
			}
			t.write(s, p, 0, 0);
			for (int i = 1; i < 10; i++) {
				t.access(s, p, i, p % 3, p == 7 ? 100_000 : 2, 1, 0, 0);
			}
		}
		return t;
	}

	@Test
	void countsOfPagesAreThoseOfTheTrace() throws Exception {
		JsonObject d = data(trace(64, "field").report(1_000_000));
		assertEquals(1, d.getAsJsonArray("findings").size());
		assertEquals("first-touch", d.getAsJsonArray("findings").get(0).getAsJsonObject().get("rule").getAsString());
		JsonObject s = d.getAsJsonArray("structures").get(0).getAsJsonObject();
		assertEquals(63, s.get("pages").getAsInt());
		// pages dealt out one by one to three threads, after one interval of one thread; page 5 is left out
		assertEquals("strided 12.0 KiB > 99.9 %", s.get("pattern").getAsString());
		long[] page = column(s, "page");
		int rows = s.get("rows").getAsInt();
		assertEquals(rows, page.length);
		long[] reads = column(s, "reads");
		long[] writes = column(s, "writes");
		long[] first = column(s, "first");
		for (int r = 0; r < rows; r++) {
			int p = (int) page[r];
			for (int t = 0; t < 3; t++) {
				long worked = p != 5 && t == p % 3 ? 1 : 0;
				long began = p != 5 && t == 0 ? 1 : 0;
				assertEquals(worked * 9 * (p == 7 ? 100_000 : 2) + began, reads[r * 3 + t], "page " + p + " thread " + t);
				assertEquals(worked * 9 + began, writes[r * 3 + t], "page " + p + " thread " + t);
			}
			assertEquals(p == 5 ? 0xffff : 0, first[r], "page " + p);
		}
		// over time: page 7 in the second slice of ten is of thread 1, and written
		int at = 7 * 200 + 30;
		assertEquals(1, column(s, "who")[at]);
		assertEquals(3, column(s, "what")[at]);
		assertEquals(0, column(s, "who")[7 * 200], "in the first interval the one who touches first");
	}

	/** With fewer rows than pages the maximum counts: a hot page is not lost. */
	@Test
	void largeTracesKeepTheMaximum() throws Exception {
		JsonObject s = data(trace(5000, "field").report(1000)).getAsJsonArray("structures").get(0).getAsJsonObject();
		int per = s.get("per_row").getAsInt();
		assertEquals(8, per);
		assertEquals((5000 + per - 1) / per, s.get("rows").getAsInt());
		assertEquals(900_000, column(s, "reads")[7 / per * 3 + 1]);
		assertEquals(7 / per * per, column(s, "page")[7 / per]);
	}

	@Test
	void namesCannotBreakThePage() throws Exception {
		String html = trace(16, "</script><script>alert(1)</script>").report(1_000_000);
		assertFalse(html.contains("<script>alert"));
		assertEquals("</script><script>alert(1)</script>",
				data(html).getAsJsonArray("structures").get(0).getAsJsonObject().get("name").getAsString());
	}

	@Test
	void theSameTraceGivesTheSameReport() throws Exception {
		assertArrayEquals(trace(3000, "field").report(1_000_000).getBytes(), trace(3000, "field").report(1_000_000).getBytes());
		assertFalse(trace(16, "field").report(1_000_000).replaceAll("xmlns=\"[^\"]*\"", "").contains("http"), "no network");
	}
}
