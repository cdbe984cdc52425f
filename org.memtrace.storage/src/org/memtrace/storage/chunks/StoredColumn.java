// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.List;

/** The columns of a chunk as they are stored; the ordinal is stored, so only append. docs/database-schema.md */
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
	WRITE_OFFSET;

	/** Ids of columns of a chunk begin at its number times this. */
	static final int PER_CHUNK = 16;
	static final int COUNT = values().length;
	static final List<StoredColumn> ALL = List.of(values());
}
