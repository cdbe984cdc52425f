// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

/**
 * A number of access records as columns; the unit in which accesses travel. Row {@code i} is
 * {@code startNs[i], endNs[i], ...} for {@code 0 <= i < count}. A receiver must not keep the arrays after it returns.
 */
public final class AccessBatch {
	/** Value of {@link #thread} for pages that nobody is known to have touched (kernel on behalf of the program). */
	public static final int NO_THREAD = -1;
	/** Bits of {@link #flags}, as in docs/reference/trace-format.md. */
	public static final int FLAG_FROM_SCAN = 1;
	public static final int FLAG_DIRECTION_UNKNOWN = 2;
	public static final int FLAG_NOT_PRIVATE = 4;
	/** The page may not have been touched: the kernel mapped it around another one that was read. */
	public static final int FLAG_MAYBE_UNTOUCHED = 8;
	/** All of them. The bits above are those of {@link org.memtrace.model.memory.MemoryLevel}. */
	public static final int FLAGS = 15;

	/** Number of valid rows. */
	public int count;
	/** Value of {@link #readOffset} and {@link #writeOffset}: there was none, or its address is not known. */
	public static final int NO_OFFSET = -1;

	/** Number of the record in its store, for {@link TraceStore#readAccesses}; not in the order of time; -1 when not from a store. */
	public final int[] id;
	/** Start of the interval of the record. */
	public final long[] startNs;
	/** End of the interval of the record, after {@link #startNs}. */
	public final long[] endNs;
	/** Leaf of the producer tree (a page). */
	public final int[] producer;
	/** {@link org.memtrace.model.ThreadInfo#index}, or {@link #NO_THREAD}. */
	public final int[] thread;
	/** Index into {@link TraceStore#cpuSets()}, -1 unknown. */
	public final int[] cpuSet;
	/** Recorded reads and writes. */
	public final long[] reads;
	public final long[] writes;
	/** Value of {@link #sharing}: one thread was seen to use the page, and whether another one did is not known. */
	public static final int SHARING_NOT_KNOWN = 0;
	/**
	 * Number of distinct threads that used the page at the same time as this record, itself included: more than 1 were seen, there may have
	 * been others; 1 where it is known that there was no other; else {@link #SHARING_NOT_KNOWN}.
	 */
	public final int[] sharing;
	/** NUMA node of the page, -1 unknown. */
	public final int[] node;
	public final int[] flags;
	/** Code address of one of the accesses, 0 unknown. */
	public final long[] ip;
	/**
	 * Place of the first read in its page, in bytes. Of a record that reads and writes, a trace with one address for each record
	 * tells the place of the first access, whichever it was: it is kept here, and {@link #writeOffset} is {@link #NO_OFFSET}.
	 */
	public final int[] readOffset;
	/** Place of the first write in its page, in bytes. */
	public final int[] writeOffset;
	/** Value of {@link #firstNs}: when the first access was is not known. */
	public static final long NO_FIRST = -1;
	/** When the first access of the record was, in ns since {@link #startNs}; may be a little after its end, while pages were closed. */
	public final long[] firstNs;

	public AccessBatch(int capacity) {
		id = new int[capacity];
		startNs = new long[capacity];
		endNs = new long[capacity];
		producer = new int[capacity];
		thread = new int[capacity];
		cpuSet = new int[capacity];
		reads = new long[capacity];
		writes = new long[capacity];
		sharing = new int[capacity];
		node = new int[capacity];
		flags = new int[capacity];
		ip = new long[capacity];
		readOffset = new int[capacity];
		writeOffset = new int[capacity];
		firstNs = new long[capacity];
	}

	public int capacity() {
		return startNs.length;
	}

	/** Whether there is no room for another row. */
	public boolean isFull() {
		return count == startNs.length;
	}

	/** Appends a row without {@link #id}, whose addresses within the page and whose first access are not known. */
	public void add(long start, long end, int producerId, int threadIndex, int cpuSetIndex, long readCount,
			long writeCount, int sharingThreads, int numaNode, int flagBits, long codeAddress) {
		add(start, end, producerId, threadIndex, cpuSetIndex, readCount, writeCount, sharingThreads, numaNode, flagBits, codeAddress,
				NO_OFFSET, NO_OFFSET, NO_FIRST);
	}

	/** Appends a row without {@link #id}. */
	public void add(long start, long end, int producerId, int threadIndex, int cpuSetIndex, long readCount, long writeCount,
			int sharingThreads, int numaNode, int flagBits, long codeAddress, int firstRead, int firstWrite, long firstAccessNs) {
		int i = count++;
		id[i] = -1;
		startNs[i] = start;
		endNs[i] = end;
		producer[i] = producerId;
		thread[i] = threadIndex;
		cpuSet[i] = cpuSetIndex;
		reads[i] = readCount;
		writes[i] = writeCount;
		sharing[i] = sharingThreads;
		node[i] = numaNode;
		flags[i] = flagBits;
		ip[i] = codeAddress;
		readOffset[i] = firstRead;
		writeOffset[i] = firstWrite;
		firstNs[i] = firstAccessNs;
	}

	/**
	 * The order of rows of one leaf: by start, end, first access, those of which it is not known last. What is equal in this stays in the
	 * order in which it was recorded.
	 */
	public static int compareTimes(AccessBatch a, int i, AccessBatch b, int k) {
		int c = Long.compare(a.startNs[i], b.startNs[k]);
		c = c != 0 ? c : Long.compare(a.endNs[i], b.endNs[k]);
		return c != 0 ? c : Long.compareUnsigned(a.firstNs[i], b.firstNs[k]);
	}

	/** Appends a copy of row {@code row} of another batch. */
	public void addFrom(AccessBatch other, int row) {
		add(other.startNs[row], other.endNs[row], other.producer[row], other.thread[row], other.cpuSet[row],
				other.reads[row], other.writes[row], other.sharing[row], other.node[row], other.flags[row],
				other.ip[row], other.readOffset[row], other.writeOffset[row], other.firstNs[row]);
		id[count - 1] = other.id[row];
	}
}
