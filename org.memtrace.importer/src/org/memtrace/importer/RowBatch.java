// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

/** Rows of an access file as columns; the unit in which the parser hands them on. */
final class RowBatch {
	static final int CAPACITY = 8192;
	/** FrameSoc keeps a count as a double: more would not be exact. */
	static final long LARGEST_COUNT = 1L << 53;

	/** What the column Shared of a file of segments holds; only until the rows are written. */
	static final int FLAG_SHARED_ZERO = 1 << 28;
	static final int FLAG_SHARED_ONE = 1 << 29;
	static final int FLAG_SHARED_MANY = 1 << 30;
	static final int SHARED_FLAGS = FLAG_SHARED_ZERO | FLAG_SHARED_ONE | FLAG_SHARED_MANY;

	int count;
	/** Bytes of input that these rows were read from, for the progress. */
	long bytes;
	final long[] address = new long[CAPACITY];
	final long[] startNs = new long[CAPACITY];
	final long[] endNs = new long[CAPACITY];
	final long[] reads = new long[CAPACITY];
	final long[] writes = new long[CAPACITY];
	final long[] taskId = new long[CAPACITY];
	final long[] ip = new long[CAPACITY];
	/** Number in {@link CpuSets}, -1 unknown. */
	final int[] cpuSet = new int[CAPACITY];
	final int[] node = new int[CAPACITY];
	final int[] flags = new int[CAPACITY];
	/** Physical address, 0 unknown. */
	final long[] physical = new long[CAPACITY];
	/** Number of the page in {@link LeafTable} and thread of each row; filled in by the first pass. */
	final int[] page = new int[CAPACITY];
	final int[] thread = new int[CAPACITY];
	/** Rows that came in order of their start, up to the first of the image that did not. */
	int sorted;
	/** Digits of the CPU mask in Moca's files, 0 in others. */
	final int[] maskDigits = new int[CAPACITY];
}
