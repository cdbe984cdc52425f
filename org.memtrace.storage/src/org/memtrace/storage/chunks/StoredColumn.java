// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.List;

import org.memtrace.model.columns.AccessColumn;

/** The columns of a chunk as they are stored; the ordinal is stored, so only append. docs/reference/database-chunks.md */
enum StoredColumn {
	/** Which leaves have rows: of each the first cell, and how many rows. */
	LEAVES,
	/** Cell of a row minus the first cell of its leaf. */
	CELL,
	/** The different times of the chunk: starts, then durations. */
	TIMES,
	/** Time of a row, a number of {@link #TIMES}. */
	TIME, THREAD,
	/** Set of CPUs of a row, as far as it is not the usual one of its thread. */
	CPU_SET, READS, WRITES, SHARING, NODE, FLAGS, IP,
	/** Only of rows with reads. */
	READ_OFFSET,
	/** Only of rows with writes. */
	WRITE_OFFSET,
	/** First access of a row since its start, -1 unknown. Chunks that were made earlier do not have it. */
	FIRST;

	/** Ids of columns of a chunk begin at its number times this. */
	static final int PER_CHUNK = 16;
	static final int COUNT = values().length;
	static final List<StoredColumn> ALL = List.of(values());
	/** Those that can be kept by row, outside of chunks. */
	static final List<StoredColumn> IN_ROWS = ALL.stream().filter(c -> c.of() != null).toList();

	/** The column of a row that it is, or is needed for; null for what only a chunk has. */
	AccessColumn of() {
		return switch (this) {
		case LEAVES, CELL -> null;
		case TIMES, TIME -> AccessColumn.TIME;
		case THREAD -> AccessColumn.THREAD;
		case CPU_SET -> AccessColumn.CPU_SET;
		case READS -> AccessColumn.READS;
		case WRITES -> AccessColumn.WRITES;
		case SHARING -> AccessColumn.SHARING;
		case NODE -> AccessColumn.NODE;
		case FLAGS -> AccessColumn.FLAGS;
		case IP -> AccessColumn.IP;
		case READ_OFFSET -> AccessColumn.READ_OFFSET;
		case WRITE_OFFSET -> AccessColumn.WRITE_OFFSET;
		case FIRST -> AccessColumn.FIRST;
		};
	}
}
