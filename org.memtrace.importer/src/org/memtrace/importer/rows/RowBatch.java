// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

/** Rows of an access file as columns; the unit in which the parser hands them on. */
public final class RowBatch {
	public static final int CAPACITY = 8192;
	/** A time that is not known. */
	public static final long NO_TIME = Long.MIN_VALUE;
	/** FrameSoc keeps a count as a double: more would not be exact. */
	public static final long LARGEST_COUNT = 1L << 53;

	/** What the column Shared of a file of segments holds; only until the rows are written. */
	public static final int FLAG_SHARED_ZERO = 1 << 28;
	public static final int FLAG_SHARED_ONE = 1 << 29;
	public static final int FLAG_SHARED_MANY = 1 << 30;
	public static final int SHARED_FLAGS = FLAG_SHARED_ZERO | FLAG_SHARED_ONE | FLAG_SHARED_MANY;

	public int count;
	/** Bytes of input that these rows were read from, for the progress. */
	public long bytes;
	public final long[] address = new long[CAPACITY];
	public final long[] startNs = new long[CAPACITY];
	public final long[] endNs = new long[CAPACITY];
	/** When the first access of the row was, or {@link #NO_TIME}. */
	public final long[] firstNs = new long[CAPACITY];
	public final long[] reads = new long[CAPACITY];
	public final long[] writes = new long[CAPACITY];
	public final long[] taskId = new long[CAPACITY];
	public final long[] ip = new long[CAPACITY];
	/** Number in {@link CpuSets}, -1 unknown. */
	public final int[] cpuSet = new int[CAPACITY];
	public final int[] node = new int[CAPACITY];
	public final int[] flags = new int[CAPACITY];
	/** Place of the first read and of the first write in the page, as in {@link org.memtrace.model.store.AccessBatch}. */
	public final int[] readOffset = new int[CAPACITY];
	public final int[] writeOffset = new int[CAPACITY];
	/** Physical address, 0 unknown. */
	public final long[] physical = new long[CAPACITY];
	/**
	 * Number of the page, as {@link org.memtrace.importer.tree.LeafTable#sharingPage} has it, and thread of each row; filled in by the first
	 * pass. -1 for a row that is not of the memory of its image alone.
	 */
	public final int[] page = new int[CAPACITY];
	public final int[] thread = new int[CAPACITY];
	/** Rows that came in order of their start, up to the first of the image that did not. */
	public int sorted;
	/** Digits of the CPU mask in Moca's files, 0 in others. */
	public final int[] maskDigits = new int[CAPACITY];
}
