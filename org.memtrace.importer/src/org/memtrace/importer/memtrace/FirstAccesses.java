// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TimeRange;

/** The first accesses of threads to pages, of first.csv: there where the records of accesses have no times of their own. */
public final class FirstAccesses {
	/** Pages of a thread, by number, and when it accessed them first. */
	private static final class Pages {
		final LongNumbers numbers = new LongNumbers();
		long[] firstNs = new long[64];
	}

	private final Map<Long, Pages> threads = new HashMap<>();
	private final int pageShift;

	private FirstAccesses(int pageShift) {
		this.pageShift = pageShift;
	}

	/** Those of an image; null when it has none. */
	public static FirstAccesses read(TraceDirectory.Image image, int pageShift, SkipCounter skips) throws MemtraceException {
		if (image.directory() == null) {
			return null;
		}
		FirstAccesses first = new FirstAccesses(pageShift);
		String name = image.fileName("first.csv");
		List<String> unread = CsvTable.read(image.directory().resolve("first.csv"), name, List.of("@Virt", "Time", "TaskId"), skips, row -> {
			long timeNs = row.number("Time", -1);
			if (timeNs < 0 || !TimeRange.holds(timeNs, timeNs) || !TimeRange.holds(timeNs + image.clockShiftNs(), timeNs + image.clockShiftNs())) {
				skips.skip(name, row.line(), "first access without a time");
			} else {
				first.add(row.address("@Virt") >>> pageShift, row.number("TaskId", -1), timeNs + image.clockShiftNs());
			}
		});
		LeftOut.columns(image, "first.csv", unread, skips);
		return first.threads.isEmpty() ? null : first;
	}

	private void add(long page, long task, long timeNs) {
		Pages pages = threads.computeIfAbsent(task, key -> new Pages());
		int before = pages.numbers.size();
		int n = pages.numbers.number(page);
		if (n == pages.firstNs.length) {
			pages.firstNs = Arrays.copyOf(pages.firstNs, 2 * n);
		}
		pages.firstNs[n] = n == before ? timeNs : Math.min(pages.firstNs[n], timeNs);
	}

	/** When a thread accessed a page first, if that was in {@code [startNs, endNs)}, else {@link RowBatch#NO_TIME}. */
	public long within(long address, long task, long startNs, long endNs) {
		Pages pages = threads.get(task);
		int n = pages == null ? -1 : pages.numbers.indexOf(address >>> pageShift);
		return n >= 0 && pages.firstNs[n] >= startNs && pages.firstNs[n] < endNs ? pages.firstNs[n] : RowBatch.NO_TIME;
	}
}
