// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.damon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.AccessLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;

/** Lines of damon_aggregated, by the format of the kernel's trace point; no machine with DAMON was at hand. */
class DamonReaderTest extends ImportTest {
	private static String line(double time, int target, int regions, long start, long end, long accesses) {
		return String.format(Locale.ROOT, "        kdamond.0  4711 [002] %.6f: damon:damon_aggregated: target_id=%d nr_regions=%d %d-%d: %d 7%n", time,
				target, regions, start, end, accesses);
	}

	@Test
	void rangesBecomeAccessesOfTheirPages() throws Exception {
		ImportReport report = read(file("a.txt", line(10, 0, 2, 0x10000, 0x12000, 5) + line(10.000002, 0, 2, 0x12000, 0x14000, 0)
				+ line(10.1, 0, 2, 0x10000, 0x11000, 3) + line(10.100003, 0, 2, 0x11000, 0x14000, 0) + line(10.1, 1, 1, 0x10000, 0x11000, 2)));
		assertEquals(List.of("10000 r2 w0 t-1 n-1 s0 - [10000000000,10100000000) 0 ?", //
				"10000 r3 w0 t-1 n-1 s0 - [10000000000,10100000000) 0 ?", //
				"10000 r5 w0 t-1 n-1 s0 - [9900000000,10000000000) 0 ?", //
				"11000 r5 w0 t-1 n-1 s0 - [9900000000,10000000000) 0 ?"), AccessLines.of(catalogue, report));
		assertEquals(CountUnit.SAMPLES, report.trace().counts());
		assertEquals("none", report.trace().properties().get("guarantee_threads"));
		assertTrue(report.toText().contains("2 of 5 ranges had no access"), report.toText());
		assertTrue(report.toText().contains("blocks of 4 KiB"), report.toText());
	}

	/** As trace-cmd report prints them, and kernels before 5.19, which have no age. */
	@Test
	void traceCmdAndOldKernels() throws Exception {
		ImportReport report = read(file("a.txt", "cpus=4\n       kdamond.0-4711  [002]   100.000001: damon_aggregated:     target_id=0 nr_regions=1"
				+ " 65536-69632: 4\n       kdamond.0-4711  [002]   100.200001: damon_aggregated:     target_id=0 nr_regions=1 65536-69632: 6\n"));
		assertEquals(List.of("10000 r4 w0 t-1 n-1 s0 - [99800001000,100000001000) 0 ?",
				"10000 r6 w0 t-1 n-1 s0 - [100000001000,100200001000) 0 ?"), AccessLines.of(catalogue, report));
	}

	/** So much memory that pages would be without number: blocks are as large as needed. */
	@Test
	void blocksGrowWithTheMemory() throws Exception {
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < 40; i++) {
			text.append(line(10 + i / 10.0, 0, 1, 1L << 40, (1L << 40) + (64L << 30), 1 + i));
		}
		try (DamonRegions regions = new DamonRegions(directory)) {
			text.toString().lines().forEach(line -> assertEquals(null, assertDoesNotThrowIo(regions, line)));
			assertEquals(21, regions.shift(DamonReader.MOST_BLOCKS), "32,768 blocks of 2 MiB, 40 times");
			assertEquals(25, regions.shift(100_000));
		}
	}

	private static String assertDoesNotThrowIo(DamonRegions regions, String line) {
		try {
			return regions.line(line);
		} catch (java.io.IOException e) {
			throw new java.io.UncheckedIOException(e);
		}
	}

	@Test
	void whatCannotBeUsedIsCounted() throws Exception {
		ImportReport report = read(file("a.txt", line(10, 0, 1, 0x10000, 0x12000, 5) + line(11, 0, 1, 0x12000, 0x12000, 5)
				+ "damon:damon_aggregated: target_id=x\nhello\n" + line(12, 0, 1, 1L << 62, (1L << 62) + (1L << 61), 1)
				+ line(13, 0, 1, -1L >>> 1, -1, 1)));
		String text = report.toText();
		for (String one : List.of("1: a range that ends before it starts", "1: not an event of DAMON", "a range of more than 2000000 GiB")) {
			assertTrue(text.contains(one), one + " is not in " + text);
		}
		String none = assertThrows(MemtraceException.class, () -> read(file("b.txt", line(10, 0, 1, 0x10000, 0x12000, 0)))).getMessage();
		assertTrue(none.contains("has no access that can be used"), none);
	}
}
