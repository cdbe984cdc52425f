// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.Arrays;

import org.memtrace.model.AccessBatch;

/**
 * Finds for each record of an image how many distinct threads use its page at overlapping times (half-open intervals), the
 * thread of the record included. A record without a thread counts the others and is no thread itself; the result is at least
 * 1.
 *
 * <p>Records come in order of their start. A record is decided when its page is next touched at or after its end. All records
 * of the page seen until then start before its end, so those of them that end after its start are those that overlap it: it is
 * enough to know, per page and thread, the latest end so far. Memory: the records that are not decided, their threads, and two
 * bytes per record for the result. Time: O(1) per record, plus, for each distinct interval on a page, the threads that were
 * active there.
 */
final class SharingSweep {
	private static final int CHUNK_BITS = 20;
	private static final int NIL = -1;

	private short[][] result = new short[16][];
	private int rows;

	// per page
	private int[] firstRecord = new int[0];
	private int[] firstThread = new int[0];
	// undecided records
	private int[] recordNext = new int[1024];
	private int[] recordRow = new int[1024];
	private int[] recordThread = new int[1024];
	private long[] recordStart = new long[1024];
	private long[] recordEnd = new long[1024];
	private int freeRecord = NIL;
	private int recordCount;
	// threads of a page
	private int[] threadNext = new int[1024];
	private int[] threadIndex = new int[1024];
	private long[] threadEnd = new long[1024];
	private int freeThread = NIL;
	private int threadCount;

	/** Adds the next record. */
	void add(int page, int thread, long startNs, long endNs) {
		if (page >= firstRecord.length) {
			int old = firstRecord.length;
			int size = Math.max(page + 1, old * 2);
			firstRecord = Arrays.copyOf(firstRecord, size);
			firstThread = Arrays.copyOf(firstThread, size);
			Arrays.fill(firstRecord, old, size, NIL);
			Arrays.fill(firstThread, old, size, NIL);
		}
		if (firstRecord[page] != NIL) {
			decide(page, startNs);
		}
		int record = newRecord();
		recordRow[record] = rows++;
		recordThread[record] = thread;
		recordStart[record] = startNs;
		recordEnd[record] = endNs;
		recordNext[record] = firstRecord[page];
		firstRecord[page] = record;
		if (thread != AccessBatch.NO_THREAD) {
			use(page, thread, endNs);
		}
	}

	private void use(int page, int thread, long endNs) {
		for (int t = firstThread[page]; t != NIL; t = threadNext[t]) {
			if (threadIndex[t] == thread) {
				threadEnd[t] = Math.max(threadEnd[t], endNs);
				return;
			}
		}
		int t = newThread();
		threadIndex[t] = thread;
		threadEnd[t] = endNs;
		threadNext[t] = firstThread[page];
		firstThread[page] = t;
	}

	/** Decides the records of a page that end at or before a time, and forgets threads that can matter no more. */
	private void decide(int page, long nowNs) {
		long earliestStart = nowNs;
		long countedStart = 0;
		int counted = NIL;
		int previous = NIL;
		for (int r = firstRecord[page]; r != NIL;) {
			int next = recordNext[r];
			if (recordEnd[r] > nowNs) {
				earliestStart = Math.min(earliestStart, recordStart[r]);
				previous = r;
			} else {
				if (counted == NIL || countedStart != recordStart[r]) {
					countedStart = recordStart[r];
					counted = threadsAfter(page, countedStart);
				}
				set(recordRow[r], Math.max(1, counted));
				if (previous == NIL) {
					firstRecord[page] = next;
				} else {
					recordNext[previous] = next;
				}
				recordNext[r] = freeRecord;
				freeRecord = r;
			}
			r = next;
		}
		previous = NIL;
		for (int t = firstThread[page]; t != NIL;) {
			int next = threadNext[t];
			if (threadEnd[t] > earliestStart) {
				previous = t;
			} else {
				if (previous == NIL) {
					firstThread[page] = next;
				} else {
					threadNext[previous] = next;
				}
				threadNext[t] = freeThread;
				freeThread = t;
			}
			t = next;
		}
	}

	private int threadsAfter(int page, long startNs) {
		int count = 0;
		for (int t = firstThread[page]; t != NIL; t = threadNext[t]) {
			count += threadEnd[t] > startNs ? 1 : 0;
		}
		return count;
	}

	/** Decides what is left. */
	void finish() {
		for (int page = 0; page < firstRecord.length; page++) {
			if (firstRecord[page] != NIL) {
				decide(page, Long.MAX_VALUE);
			}
		}
	}

	/** Sharing of a record, by the order in which records were added. */
	int sharing(int row) {
		return result[row >>> CHUNK_BITS][row & (1 << CHUNK_BITS) - 1];
	}

	private void set(int row, int sharing) {
		int chunk = row >>> CHUNK_BITS;
		if (chunk >= result.length) {
			result = Arrays.copyOf(result, chunk * 2);
		}
		if (result[chunk] == null) {
			result[chunk] = new short[1 << CHUNK_BITS];
		}
		result[chunk][row & (1 << CHUNK_BITS) - 1] = (short) Math.min(sharing, Short.MAX_VALUE);
	}

	private int newRecord() {
		if (freeRecord != NIL) {
			int r = freeRecord;
			freeRecord = recordNext[r];
			return r;
		}
		if (recordCount == recordNext.length) {
			int size = recordCount * 2;
			recordNext = Arrays.copyOf(recordNext, size);
			recordRow = Arrays.copyOf(recordRow, size);
			recordThread = Arrays.copyOf(recordThread, size);
			recordStart = Arrays.copyOf(recordStart, size);
			recordEnd = Arrays.copyOf(recordEnd, size);
		}
		return recordCount++;
	}

	private int newThread() {
		if (freeThread != NIL) {
			int t = freeThread;
			freeThread = threadNext[t];
			return t;
		}
		if (threadCount == threadNext.length) {
			int size = threadCount * 2;
			threadNext = Arrays.copyOf(threadNext, size);
			threadIndex = Arrays.copyOf(threadIndex, size);
			threadEnd = Arrays.copyOf(threadEnd, size);
		}
		return threadCount++;
	}
}
