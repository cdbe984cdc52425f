// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.BitSet;

import org.memtrace.aggregation.time.TimeSet;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.store.AccessBatch;

/** {@link AccessDetails} while they are summed up; parts of disjoint pages add up. Not safe for several threads. */
final class DetailsSum {
	/** Times of write sharing that a part tells apart: more are only where each access has a time of its own. */
	private static final int MOST_TIMES = 1 << 20;

	private final long fromNs;
	private final long toNs;
	private final BitSet threads = new BitSet();
	private final double[] byThread;
	private final int[] firstTouch;
	private final TimeSet writeShared = new TimeSet();
	private final double[] sums = new double[4];
	private long records;
	private double notKnown;
	private double unattributed;
	private int pages;
	private int sharedPages;
	private int writeSharedPages;
	private int multi;
	private int handedOn;
	private long first = Long.MAX_VALUE;
	private long last = Long.MIN_VALUE;
	private int firstThread = -1;
	private long firstThreadAt = Long.MAX_VALUE;

	// of the page that rows come of
	private final BitSet here = new BitSet();
	private int page = -1;
	private boolean any;
	private boolean sharedPage;
	private boolean writeSharedPage;
	private int toucher = -1;
	private long touchedNs;
	private long touchedEndNs;

	DetailsSum(int threadCount, long fromNs, long toNs) {
		this.fromNs = fromNs;
		this.toNs = toNs;
		byThread = new double[threadCount];
		firstTouch = new int[threadCount];
	}

	/** Adds the rows of a leaf, or those that follow of the same one. */
	void add(AccessChunk c, int leaf) {
		if (c.leaf[leaf] != page) {
			endPage();
			page = c.leaf[leaf];
		}
		int to = c.leafFrom[leaf + 1];
		for (int row = c.leafFrom[leaf]; row < to; row++) {
			int time = c.time[row];
			long start = c.timeStartNs[time];
			long end = c.timeEndNs[time];
			long begin = c.beginNs(row);
			if (start >= toNs) {
				break; // rows of a page are ordered by their start
			}
			if (end <= fromNs) {
				continue;
			}
			double part = start >= fromNs && end <= toNs ? 1
					: (double) (Math.min(end, toNs) - Math.max(start, fromNs)) / (end - start);
			touch(any, start, end, c.thread[row], c.firstNs[row] >= 0);
			any = true;
			records++;
			boolean shared = c.sharing[row] > 1;
			sharedPage |= shared;
			if (shared && c.writes[row] > 0) {
				writeSharedPage = true;
				if (writeShared.size() < MOST_TIMES) {
					writeShared.add(start, end);
				}
			}
			sums[shared ? 2 : 0] += part * c.reads[row];
			sums[shared ? 3 : 1] += part * c.writes[row];
			double both = part * (c.reads[row] + (double) c.writes[row]);
			notKnown += c.sharing[row] == AccessBatch.SHARING_NOT_KNOWN ? both : 0;
			int thread = c.thread[row];
			if (thread >= 0) {
				here.set(thread);
				if (thread < byThread.length) {
					byThread[thread] += both;
				}
				if (begin < firstThreadAt) {
					firstThreadAt = begin;
					firstThread = thread;
				}
			} else {
				unattributed += both;
			}
			first = Math.min(first, begin);
			last = Math.max(last, end);
		}
	}

	/** The first record tells who touched the page first, unless one without a thread may have been before. */
	private void touch(boolean again, long startNs, long endNs, int thread, boolean moment) {
		if (!again) {
			toucher = thread;
			touchedNs = startNs;
			touchedEndNs = endNs;
		} else if (thread < 0 && !moment && startNs == touchedNs && endNs == touchedEndNs) {
			toucher = -1;
		}
	}

	private void endPage() {
		if (any) {
			int used = here.cardinality();
			pages++;
			sharedPages += sharedPage ? 1 : 0;
			writeSharedPages += writeSharedPage ? 1 : 0;
			multi += used > 1 ? 1 : 0;
			handedOn += used > 2 ? 1 : 0;
			threads.or(here);
			if (toucher >= 0 && toucher < firstTouch.length) {
				firstTouch[toucher]++;
			}
		}
		here.clear();
		any = false;
		sharedPage = false;
		writeSharedPage = false;
		toucher = -1;
		page = -1;
	}

	/** Adds what comes after it in the order of memory, and has no page in common with it. */
	void add(DetailsSum next) {
		endPage();
		next.endPage();
		records += next.records;
		for (int i = 0; i < sums.length; i++) {
			sums[i] += next.sums[i];
		}
		for (int t = 0; t < byThread.length; t++) {
			byThread[t] += next.byThread[t];
			firstTouch[t] += next.firstTouch[t];
		}
		threads.or(next.threads);
		writeShared.addAll(next.writeShared);
		unattributed += next.unattributed;
		notKnown += next.notKnown;
		pages += next.pages;
		sharedPages += next.sharedPages;
		writeSharedPages += next.writeSharedPages;
		multi += next.multi;
		handedOn += next.handedOn;
		first = Math.min(first, next.first);
		last = Math.max(last, next.last);
		if (next.firstThreadAt < firstThreadAt) { // of equal times the first in memory
			firstThreadAt = next.firstThreadAt;
			firstThread = next.firstThread;
		}
	}

	AccessDetails details() {
		endPage();
		return new AccessDetails(records, sums[0] + sums[2], sums[1] + sums[3], sums[2], sums[3], notKnown, threads, byThread, unattributed,
				pages, sharedPages, writeSharedPages, writeShared.size(), multi, handedOn, first, last, firstThread, firstTouch);
	}
}
