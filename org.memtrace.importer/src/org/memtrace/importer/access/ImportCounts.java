// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.Arrays;
import java.util.TreeMap;

import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;

/** The numbers of an import. */
final class ImportCounts {
	/** Access files. */
	int files;
	/** Data lines of access files, used or not. */
	long rows;
	/** Of them, not used. */
	long skipped;
	/** Of them, segments that were put together with the one before. */
	long merged;
	/** Whether a column Shared has a 0, so that 1 means shared. */
	boolean sharedIsFlag;
	/** Accesses whose column Shared says otherwise than their times. */
	long sharedDiffers;
	long imported;
	long reads;
	long writes;
	/** Of rows without a thread. */
	long unattributedRows;
	long unattributedAccesses;
	/** Rows without a fault event, from the page-table scan. */
	long scanRows;
	/** Rows of pages that may not have been touched. */
	long maybeUntouchedRows;
	/** Rows of memory that other processes may have mapped, too. */
	long notPrivateRows;
	long firstNs = Long.MAX_VALUE;
	long lastNs = Long.MIN_VALUE;
	/** Images with rows out of order, and how many. */
	final TreeMap<Integer, Long> unsorted = new TreeMap<>();
	/** Reads and writes by kind of structure; the last is for those outside of all. */
	final long[] accessesByKind = new long[StructureKind.values().length + 1];
	long written;
	long writtenReads;
	long writtenWrites;

	void read(SpilledRow row) {
		imported++;
		reads += row.reads;
		writes += row.writes;
		firstNs = Math.min(firstNs, row.startNs);
		lastNs = Math.max(lastNs, row.endNs);
		if (row.thread == AccessBatch.NO_THREAD) {
			unattributedRows++;
			unattributedAccesses += row.reads + row.writes;
		}
		scanRows += row.flags & AccessBatch.FLAG_FROM_SCAN;
		maybeUntouchedRows += (row.flags & AccessBatch.FLAG_MAYBE_UNTOUCHED) != 0 ? 1 : 0;
		notPrivateRows += (row.flags & AccessBatch.FLAG_NOT_PRIVATE) != 0 ? 1 : 0;
		sharedIsFlag |= (row.flags & RowBatch.FLAG_SHARED_ZERO) != 0;
	}

	/** What the rows of parts add up to; {@link #add} takes it. */
	long[] numbers() {
		long[] numbers = { files, rows, skipped, merged, imported, reads, writes, unattributedRows, unattributedAccesses, scanRows,
				maybeUntouchedRows, firstNs, lastNs, notPrivateRows };
		long[] all = Arrays.copyOf(numbers, numbers.length + accessesByKind.length);
		System.arraycopy(accessesByKind, 0, all, numbers.length, accessesByKind.length);
		return all;
	}

	/** The numbers of more rows. */
	void add(long[] n) {
		files += (int) n[0];
		rows += n[1];
		skipped += n[2];
		merged += n[3];
		imported += n[4];
		reads += n[5];
		writes += n[6];
		unattributedRows += n[7];
		unattributedAccesses += n[8];
		scanRows += n[9];
		maybeUntouchedRows += n[10];
		firstNs = Math.min(firstNs, n[11]);
		lastNs = Math.max(lastNs, n[12]);
		notPrivateRows += n[13];
		for (int kind = 0; kind < accessesByKind.length; kind++) {
			accessesByKind[kind] += n[14 + kind];
		}
	}

	void written(AccessBatch batch) {
		written += batch.count;
		for (int i = 0; i < batch.count; i++) {
			writtenReads += batch.reads[i];
			writtenWrites += batch.writes[i];
		}
	}
}
