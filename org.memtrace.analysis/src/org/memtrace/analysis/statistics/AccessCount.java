// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import org.memtrace.model.columns.AccessColumn;

/** What {@link GroupCounts} counts of a group of accesses. */
public enum AccessCount {
	/** Reads and writes. */
	ACCESSES(AccessColumn.READS, AccessColumn.WRITES),
	/** Reads. */
	READS(AccessColumn.READS),
	/** Writes. */
	WRITES(AccessColumn.WRITES),
	/** Records: what a thread did to a page in an interval. */
	RECORDS,
	/** Different pages, or parts of pages that belong to a structure. */
	PAGES,
	/** Bytes of these. */
	BYTES,
	/** Different threads that are known. */
	THREADS(AccessColumn.THREAD),
	/** Those of them that read. */
	READERS(AccessColumn.THREAD, AccessColumn.READS),
	/** Those of them that wrote. */
	WRITERS(AccessColumn.THREAD, AccessColumn.WRITES),
	/** Different cache lines of which an address is known: a lower bound. */
	LINES(AccessColumn.READ_OFFSET, AccessColumn.WRITE_OFFSET),
	/** End of the last record, in the clock of the trace. */
	LAST(AccessColumn.TIME);

	private final Set<AccessColumn> columns = EnumSet.noneOf(AccessColumn.class);

	AccessCount(AccessColumn... columns) {
		this.columns.addAll(Set.of(columns));
	}

	/** What has to be read for it. */
	Set<AccessColumn> columns() {
		return columns;
	}

	/** Whether it is of different threads. */
	public boolean isOfThreads() {
		return this == THREADS || this == READERS || this == WRITERS;
	}

	/** Name in small letters. */
	public String id() {
		return name().toLowerCase(Locale.ROOT);
	}
}
