// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.columns;

import java.util.Arrays;

/**
 * The accesses of a range of leaves, as columns. Rows are grouped by leaf, in ascending order of the leaf's id, and ordered
 * within a leaf by start, end and first access, as far as it is known; rows that are equal in this are in the order in which they were
 * recorded. So the first one tells who touched a page first. The arrays may be longer than what is valid. A chunk is filled by
 * {@link AccessSource#read} and may be filled again; it is used by one thread at a time. Columns that were not asked for have
 * no defined content.
 */
public final class AccessChunk {
	/** Value of {@link #readOffset} and {@link #writeOffset}: there was none, or its address is not known. */
	public static final int NO_OFFSET = -1;

	/** Number of rows. */
	public int rows;
	/** Number of leaves with rows. */
	public int leaves;
	/** Ids of the event producers that have rows: {@code leaves} numbers, ascending. */
	public int[] leaf = {};
	/** Rows of {@code leaf[i]} are {@code [leafFrom[i], leafFrom[i + 1])}: {@code leaves + 1} numbers. */
	public int[] leafFrom = {0};
	/** Number of different times. */
	public int times;
	/** Starts of the different times, ascending, equal ones by their end: {@code times} numbers. */
	public long[] timeStartNs = {};
	/** Ends of the different times: {@code times} numbers, each after its start. */
	public long[] timeEndNs = {};
	/** Time of a row: index into {@link #timeStartNs}; does not descend within a leaf. */
	public int[] time = {};
	/** Index of the thread of a row, -1 when nobody is known to have made the access. */
	public int[] thread = {};
	/** Index of the set of CPUs of a row, -1 unknown. */
	public int[] cpuSet = {};
	/** Recorded reads of a row. */
	public long[] reads = {};
	/** Recorded writes of a row. */
	public long[] writes = {};
	/**
	 * Number of distinct threads that used the page at the time of a row: 1 only where others are excluded,
	 * {@link org.memtrace.model.store.AccessBatch#SHARING_NOT_KNOWN} where one was seen and others are not.
	 */
	public int[] sharing = {};
	/** NUMA node of the page of a row, -1 unknown. */
	public int[] node = {};
	/** Bits {@code FLAG_…} of {@link org.memtrace.model.store.AccessBatch}. */
	public int[] flags = {};
	/** Code address of one of the accesses of a row, 0 unknown. */
	public long[] ip = {};
	/** Place of the first read of a row in its page, in bytes, {@link #NO_OFFSET} unknown. */
	public int[] readOffset = {};
	/** Place of the first write of a row in its page, in bytes, {@link #NO_OFFSET} unknown. */
	public int[] writeOffset = {};
	/** When the first access of a row was, in ns since its start, -1 unknown. */
	public long[] firstNs = {};

	/** Makes room; what the columns hold is lost. */
	public void reserve(int rowCount, int leafCount, int timeCount) {
		if (leaf.length < leafCount) {
			leaf = new int[leafCount];
		}
		if (leafFrom.length < leafCount + 1) {
			leafFrom = new int[leafCount + 1];
		}
		if (timeStartNs.length < timeCount) {
			timeStartNs = new long[timeCount];
			timeEndNs = new long[timeCount];
		}
		if (time.length < rowCount) {
			time = new int[rowCount];
			thread = new int[rowCount];
			cpuSet = new int[rowCount];
			reads = new long[rowCount];
			writes = new long[rowCount];
			sharing = new int[rowCount];
			node = new int[rowCount];
			flags = new int[rowCount];
			ip = new long[rowCount];
			readOffset = new int[rowCount];
			writeOffset = new int[rowCount];
			firstNs = new long[rowCount];
		}
	}

	/** Index of a leaf in {@link #leaf}, or negative when it has no rows here. */
	public int indexOf(int producer) {
		return Arrays.binarySearch(leaf, 0, leaves, producer);
	}

	/** Start of a row. */
	public long startNs(int row) {
		return timeStartNs[time[row]];
	}

	/** When the accesses of a row begin: its first one as far as it is known, else its start. Needs both columns. */
	public long beginNs(int row) {
		return timeStartNs[time[row]] + Math.max(0, firstNs[row]);
	}

	/** End of a row, after its start. */
	public long endNs(int row) {
		return timeEndNs[time[row]];
	}
}
