// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.model.store.AccessBatch;

/**
 * Finds for each record of an image how many distinct threads use its page at overlapping times (half-open intervals), the
 * thread of the record included. A record without a thread counts the others and is no thread itself; the result is at least
 * 1, or not known.
 *
 * <p>Records come in order of their start. A record is decided when its page is next touched at or after its end. All records
 * of the page seen until then start before its end, so those of them that end after its start are those that overlap it: it is
 * enough to know, per page and thread, the latest end so far. Memory: the records that are not decided, their threads, and two
 * bytes per record for the result. Time: O(1) per record, plus, for each distinct interval on a page, the threads that were
 * active there. A page with more than {@link #CROWD} of them is a {@link CrowdedPage} from then on, in logarithmic time for a record.
 *
 * <p>Where one thread was seen and {@link SharingEvidence} does not exclude others, the result is {@link AccessBatch#SHARING_NOT_KNOWN}.
 * The records of a page that follow each other and are of one thread have their looks in common: from {@link SharingEvidence#LOOKS} on all
 * of them are known, those before as well. Records without a thread are not counted and do not end it.
 */
public final class SharingSweep {
	private static final int CHUNK_BITS = 20;
	private static final int NIL = -1;
	/** Instead of the first record of a page: it is in {@link #crowded}. */
	private static final int CROWDED = -2;
	/** Threads, or records that are not decided, of a page that are gone through one after the other. */
	static final int CROWD = 256;

	private short[][] result = new short[16][];
	private int rows;

	// of a page, five numbers: first record, first thread; of the looks with one thread this thread, their number, the first row that waits
	private static final int PER_PAGE = 5;
	private static final int RUN_THREAD = 2;
	private static final int RUN_LOOKS = 3;
	private static final int RUN_ROWS = 4;
	private int[] ofPage = new int[0];
	// of an undecided record, four numbers: start, end, row and thread, next record of the page
	private static final int PER_RECORD = 4;
	private long[] record = new long[1024 * PER_RECORD];
	private int freeRecord = NIL;
	private int recordCount;
	// of a thread on a page, two numbers: its latest end, and its number with the next thread of the page
	private static final int PER_THREAD = 2;
	private long[] use = new long[1024 * PER_THREAD];
	private int freeUse = NIL;
	private int useCount;
	/** Pages with more than that, by their place in {@link #ofPage}. */
	private final Map<Integer, CrowdedPage> crowded = new HashMap<>();
	/** What was gone through in lists. */
	private long steps;

	private final SharingEvidence evidence;
	/** Rows that one thread alone made, as enough looks say. */
	private final BitSet seenAlone = new BitSet();
	/** Rows of times in which one thread lived, if all threads are listed. */
	private final BitSet livedAlone = new BitSet();
	/** Rows of memory that others may use who are not among the records. */
	private final BitSet foreign = new BitSet();
	private boolean allListed;
	private boolean oneThread;
	/** Looks that found the same thread one after the other, those of a row among them, where they were too few. */
	private byte[][] looksOf = new byte[16][];
	// a row that waits for more looks, and the next one of its page
	private long[] waiting = new long[1024];
	private int freeWaiting = NIL;
	private int waitingCount;

	public SharingSweep(SharingEvidence evidence) {
		this.evidence = evidence;
	}

	/**
	 * Adds the next record.
	 *
	 * @param flags of {@link AccessBatch}
	 */
	public void add(int page, int thread, long startNs, long endNs, long reads, long writes, int flags) {
		int row = rows;
		add(page, thread, startNs, endNs);
		if (evidence.isComplete()) {
			return;
		}
		if (!evidence.ofOwnMemory(flags)) {
			foreign.set(row);
		} else if (evidence.alone(startNs, endNs)) {
			livedAlone.set(row);
		}
		if (thread != AccessBatch.NO_THREAD && !foreign.get(row)) {
			look(page * PER_PAGE, row, thread, evidence.looks(reads, writes, flags));
		}
	}

	/**
	 * Tells who has records: not only those that were added here. Without it, lives of threads say nothing.
	 *
	 * @param threads all threads of the process, those that are listed and those that were found in records
	 */
	public void threads(Collection<Integer> threads) {
		allListed = threads.stream().allMatch(evidence::isListed);
		oneThread = threads.size() == 1 && evidence.allThreadsAppear();
	}

	/** Counts the looks of a row with those before it. */
	private void look(int head, int row, int thread, int looks) {
		if (ofPage[head + RUN_THREAD] != thread) {
			release(head);
			ofPage[head + RUN_THREAD] = thread;
			ofPage[head + RUN_LOOKS] = 0;
		}
		ofPage[head + RUN_LOOKS] = Math.min(SharingEvidence.LOOKS, ofPage[head + RUN_LOOKS] + looks);
		if (ofPage[head + RUN_LOOKS] >= SharingEvidence.LOOKS) {
			seenAlone.set(row);
			for (int w = ofPage[head + RUN_ROWS]; w != NIL; w = (int) waiting[w]) {
				seenAlone.set((int) (waiting[w] >> 32));
			}
			release(head);
			return;
		}
		int w = freeWaiting;
		if (w != NIL) {
			freeWaiting = (int) waiting[w];
		} else {
			w = waitingCount++;
			if (w == waiting.length) {
				waiting = Arrays.copyOf(waiting, 2 * w);
			}
		}
		waiting[w] = pair(row, ofPage[head + RUN_ROWS]);
		ofPage[head + RUN_ROWS] = w;
		if (row >>> CHUNK_BITS >= looksOf.length) {
			looksOf = Arrays.copyOf(looksOf, 2 * looksOf.length);
		}
		if (looksOf[row >>> CHUNK_BITS] == null) {
			looksOf[row >>> CHUNK_BITS] = new byte[1 << CHUNK_BITS];
		}
	}

	/** Forgets the rows of a page that wait; each of them has this many looks. */
	private void release(int head) {
		for (int w = ofPage[head + RUN_ROWS]; w != NIL;) {
			int next = (int) waiting[w];
			looksOf[(int) (waiting[w] >> 32) >>> CHUNK_BITS][(int) (waiting[w] >> 32) & (1 << CHUNK_BITS) - 1] = (byte) ofPage[head + RUN_LOOKS];
			waiting[w] = pair(0, freeWaiting);
			freeWaiting = w;
			w = next;
		}
		ofPage[head + RUN_ROWS] = NIL;
	}

	private void add(int page, int thread, long startNs, long endNs) {
		int head = page * PER_PAGE;
		if (head >= ofPage.length) {
			int old = ofPage.length;
			ofPage = Arrays.copyOf(ofPage, Math.max(head + PER_PAGE, old * 2));
			Arrays.fill(ofPage, old, ofPage.length, NIL);
		}
		if (ofPage[head] == CROWDED) {
			crowded.get(head).add(rows++, thread, startNs, endNs, this::set);
			return;
		}
		if (ofPage[head] != NIL && decide(head, startNs) > CROWD) {
			crowd(head).add(rows++, thread, startNs, endNs, this::set);
			return;
		}
		int r = newRecord();
		int at = r * PER_RECORD;
		record[at] = startNs;
		record[at + 1] = endNs;
		record[at + 2] = pair(rows++, thread);
		record[at + 3] = ofPage[head];
		ofPage[head] = r;
		if (thread != AccessBatch.NO_THREAD && use(head, thread, endNs) > CROWD) {
			crowd(head);
		}
	}

	/** A page becomes a crowded one. */
	private CrowdedPage crowd(int head) {
		CrowdedPage page = new CrowdedPage();
		for (int r = ofPage[head]; r != NIL;) {
			int at = r * PER_RECORD;
			int next = (int) record[at + 3];
			page.undecided((int) (record[at + 2] >> 32), record[at], record[at + 1]);
			record[at + 3] = freeRecord;
			freeRecord = r;
			r = next;
		}
		for (int t = ofPage[head + 1]; t != NIL;) {
			int at = t * PER_THREAD;
			int next = (int) use[at + 1];
			page.use((int) (use[at + 1] >> 32), use[at]);
			use[at + 1] = freeUse;
			freeUse = t;
			t = next;
		}
		ofPage[head] = CROWDED;
		ofPage[head + 1] = NIL;
		crowded.put(head, page);
		return page;
	}

	private static long pair(int high, int low) {
		return (long) high << 32 | low & 0xffffffffL;
	}

	/** @return how many threads of the page were gone through */
	private int use(int head, int thread, long endNs) {
		int gone = 0;
		for (int t = ofPage[head + 1]; t != NIL; t = (int) use[t * PER_THREAD + 1]) {
			steps++;
			gone++;
			if ((int) (use[t * PER_THREAD + 1] >> 32) == thread) {
				use[t * PER_THREAD] = Math.max(use[t * PER_THREAD], endNs);
				return gone;
			}
		}
		int t = newUse();
		use[t * PER_THREAD] = endNs;
		use[t * PER_THREAD + 1] = pair(thread, ofPage[head + 1]);
		ofPage[head + 1] = t;
		return gone;
	}

	/**
	 * Decides the records of a page that end at or before a time, and forgets threads that can matter no more.
	 *
	 * @return how many are left to be decided
	 */
	private int decide(int head, long nowNs) {
		long earliestStart = nowNs;
		long countedStart = 0;
		int counted = NIL;
		int previous = NIL;
		boolean any = false;
		int left = 0;
		for (int r = ofPage[head]; r != NIL;) {
			int at = r * PER_RECORD;
			int next = (int) record[at + 3];
			if (record[at + 1] > nowNs) {
				earliestStart = Math.min(earliestStart, record[at]);
				previous = r;
				left++;
			} else {
				any = true;
				if (counted == NIL || countedStart != record[at]) {
					countedStart = record[at];
					counted = threadsAfter(head, countedStart);
				}
				set((int) (record[at + 2] >> 32), Math.max(1, counted));
				if (previous == NIL) {
					ofPage[head] = next;
				} else {
					record[previous * PER_RECORD + 3] = next;
				}
				record[at + 3] = freeRecord;
				freeRecord = r;
			}
			r = next;
			steps++;
		}
		if (any) { // as long as no record was decided, none of the earlier ones has become irrelevant
			forget(head, earliestStart);
		}
		return left;
	}

	/** Removes the threads that were last seen before all records that are not decided. */
	private void forget(int head, long earliestStart) {
		int previous = NIL;
		for (int t = ofPage[head + 1]; t != NIL;) {
			int at = t * PER_THREAD;
			int next = (int) use[at + 1];
			if (use[at] > earliestStart) {
				previous = t;
			} else {
				if (previous == NIL) {
					ofPage[head + 1] = next;
				} else {
					int before = previous * PER_THREAD + 1;
					use[before] = pair((int) (use[before] >> 32), next);
				}
				use[at + 1] = freeUse;
				freeUse = t;
			}
			t = next;
		}
	}

	private int threadsAfter(int head, long startNs) {
		int count = 0;
		for (int t = ofPage[head + 1]; t != NIL; t = (int) use[t * PER_THREAD + 1]) {
			count += use[t * PER_THREAD] > startNs ? 1 : 0;
		}
		return count;
	}

	/** Decides what is left. */
	public void finish() {
		for (int head = 0; head < ofPage.length; head += PER_PAGE) {
			if (ofPage[head] == CROWDED) {
				crowded.get(head).decide(Long.MAX_VALUE, this::set);
			} else if (ofPage[head] != NIL) {
				decide(head, Long.MAX_VALUE);
			}
			release(head);
		}
	}

	/** Entries of lists that were gone through; for tests. */
	long steps() {
		return steps;
	}

	/** Sharing of a record, by the order in which records were added; {@link AccessBatch#SHARING_NOT_KNOWN} where one thread was seen. */
	public int sharing(int row) {
		int seen = result[row >>> CHUNK_BITS][row & (1 << CHUNK_BITS) - 1];
		return seen > 1 || evidence.isComplete() || seenAlone.get(row) || livedAlone.get(row) && allListed
				|| oneThread && !foreign.get(row) ? seen : AccessBatch.SHARING_NOT_KNOWN;
	}

	/** How many looks one after the other found the thread of a row, this row's among them; fewer than {@link SharingEvidence#LOOKS}. */
	public int looks(int row) {
		byte[] chunk = looksOf[Math.min(row >>> CHUNK_BITS, looksOf.length - 1)];
		return chunk == null ? 0 : chunk[row & (1 << CHUNK_BITS) - 1];
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
			freeRecord = (int) record[r * PER_RECORD + 3];
			return r;
		}
		if (recordCount * PER_RECORD == record.length) {
			record = Arrays.copyOf(record, record.length * 2);
		}
		return recordCount++;
	}

	private int newUse() {
		if (freeUse != NIL) {
			int t = freeUse;
			freeUse = (int) use[t * PER_THREAD + 1];
			return t;
		}
		if (useCount * PER_THREAD == use.length) {
			use = Arrays.copyOf(use, use.length * 2);
		}
		return useCount++;
	}
}
