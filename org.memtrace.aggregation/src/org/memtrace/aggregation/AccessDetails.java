// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.BitSet;

/**
 * Facts about the accesses of some pages in a window of time, from the records themselves and not from a model. Accesses of
 * records that overlap the window only in part are counted in proportion.
 *
 * @param records records that overlap the window
 * @param reads reads
 * @param writes writes
 * @param sharedReads reads of records whose page was used by several threads at that time
 * @param sharedWrites writes of such records
 * @param notKnown accesses of records of which it is not known whether another thread used the page at that time
 * @param threads indices of the threads
 * @param accessesByThread accesses of each thread, by index
 * @param unattributed accesses whose thread is not known
 * @param pages pages with accesses
 * @param sharedPages pages that some thread used at the same time as another
 * @param writeSharedPages pages that some thread wrote while another used them
 * @param writeSharedIntervals monitoring intervals in which that happened
 * @param multiThreadPages pages that more than one thread used, at whatever times
 * @param handedOnPages pages that at least two threads used beside the one that used them first, at whatever times
 * @param firstNs first access as far as it is known, else start of the first record, {@link Long#MAX_VALUE} if none
 * @param lastNs end of the last record, {@link Long#MIN_VALUE} if none
 * @param firstThread thread of the first record that has one, -1 if none
 * @param firstTouchPages for each thread index, the number of pages that it touched first; a page counts for nobody where
 *        a record without a thread may have been before
 */
public record AccessDetails(long records, double reads, double writes, double sharedReads, double sharedWrites,
		double notKnown, BitSet threads, double[] accessesByThread, double unattributed, int pages, int sharedPages,
		int writeSharedPages, int writeSharedIntervals, int multiThreadPages, int handedOnPages, long firstNs, long lastNs, int firstThread,
		int[] firstTouchPages) {
	/** Reads and writes. */
	public double accesses() {
		return reads + writes;
	}

	/** Share of the accesses of which it is not known whether they met another thread, 0..1. */
	public double notKnownFraction() {
		return accesses() > 0 ? notKnown / accesses() : 0;
	}

	/** Share of the accesses that met another thread on the page, 0..1; at least, {@link #notKnownFraction} may be more. */
	public double sharedFraction() {
		return accesses() > 0 ? (sharedReads + sharedWrites) / accesses() : 0;
	}
}
