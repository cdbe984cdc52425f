// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.sharing;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;

import org.memtrace.model.store.AccessBatch;

/**
 * A page that so many threads use at a time that going through them for each record would take forever: the same answers as those of
 * {@link SharingSweep}, in logarithmic time for a record, for some 150 bytes for each record that is not decided and each thread. Used by
 * one thread.
 */
final class CrowdedPage {
	/** Takes what is decided. */
	interface Receiver {
		void decided(int row, int threads);
	}

	private record Undecided(long startNs, long endNs, int row) {
	}

	private static final int FIRST_FORGET = 1024;

	private final PriorityQueue<Undecided> records = new PriorityQueue<>(Comparator.comparingLong(Undecided::endNs));
	private final Map<Integer, Long> lastEndOf = new HashMap<>();
	private final SortedEnds ends = new SortedEnds();
	private int forgetAt = FIRST_FORGET;

	/** Adds a record; those that end at or before its start are decided. */
	void add(int row, int thread, long startNs, long endNs, Receiver receiver) {
		decide(startNs, receiver);
		records.add(new Undecided(startNs, endNs, row));
		if (thread != AccessBatch.NO_THREAD) {
			use(thread, endNs);
		}
	}

	/** A record of a page before it was crowded. */
	void undecided(int row, long startNs, long endNs) {
		records.add(new Undecided(startNs, endNs, row));
	}

	/** A thread uses the page until a time. */
	void use(int thread, long endNs) {
		Long before = lastEndOf.get(thread);
		if (before == null || before < endNs) {
			if (before != null) {
				ends.remove(before);
			}
			lastEndOf.put(thread, endNs);
			ends.add(endNs);
		}
		if (lastEndOf.size() > forgetAt) {
			forget();
			forgetAt = Math.max(FIRST_FORGET, 2 * lastEndOf.size());
		}
	}

	/** Threads that were last seen before all records that are not decided matter no more. */
	private void forget() {
		long earliest = records.stream().mapToLong(Undecided::startNs).min().orElse(Long.MAX_VALUE);
		for (Iterator<Long> all = lastEndOf.values().iterator(); all.hasNext();) {
			long end = all.next();
			if (end <= earliest) {
				ends.remove(end);
				all.remove();
			}
		}
	}

	/** Decides the records that end at or before a time. */
	void decide(long nowNs, Receiver receiver) {
		while (!records.isEmpty() && records.peek().endNs <= nowNs) {
			Undecided record = records.poll();
			receiver.decided(record.row, Math.max(1, ends.above(record.startNs)));
		}
	}

	/** Times in their order, in pieces, so that neither adding one nor counting moves all of them. */
	private static final class SortedEnds {
		private static final int LONGEST = 512;

		private long[][] pieces = { new long[LONGEST] };
		private int[] sizes = { 0 };
		private int count = 1;

		/** The first piece whose last number is not below a value, or the last piece. */
		private int piece(long value) {
			int from = 0;
			int to = count - 1;
			while (from < to) {
				int middle = from + to >>> 1;
				if (pieces[middle][sizes[middle] - 1] < value) {
					from = middle + 1;
				} else {
					to = middle;
				}
			}
			return from;
		}

		private static int place(long[] piece, int size, long value) {
			int from = 0;
			int to = size;
			while (from < to) {
				int middle = from + to >>> 1;
				if (piece[middle] < value) {
					from = middle + 1;
				} else {
					to = middle;
				}
			}
			return from;
		}

		void add(long value) {
			int p = piece(value);
			if (sizes[p] == LONGEST) {
				split(p);
				p = piece(value);
			}
			int at = place(pieces[p], sizes[p], value);
			System.arraycopy(pieces[p], at, pieces[p], at + 1, sizes[p]++ - at);
			pieces[p][at] = value;
		}

		private void split(int p) {
			if (count == pieces.length) {
				pieces = Arrays.copyOf(pieces, 2 * count);
				sizes = Arrays.copyOf(sizes, 2 * count);
			}
			System.arraycopy(pieces, p, pieces, p + 1, count - p);
			System.arraycopy(sizes, p, sizes, p + 1, count - p);
			count++;
			int half = LONGEST / 2;
			pieces[p + 1] = new long[LONGEST];
			System.arraycopy(pieces[p], half, pieces[p + 1], 0, LONGEST - half);
			sizes[p] = half;
			sizes[p + 1] = LONGEST - half;
		}

		/** @param value one that is there */
		void remove(long value) {
			int p = piece(value);
			int at = place(pieces[p], sizes[p], value);
			System.arraycopy(pieces[p], at + 1, pieces[p], at, --sizes[p] - at);
			if (sizes[p] == 0 && count > 1) {
				System.arraycopy(pieces, p + 1, pieces, p, count - p - 1);
				System.arraycopy(sizes, p + 1, sizes, p, --count - p);
			}
		}

		/** How many are greater than a value. */
		int above(long value) {
			if (value == Long.MAX_VALUE) {
				return 0;
			}
			int p = piece(value + 1);
			int n = sizes[p] - place(pieces[p], sizes[p], value + 1);
			for (int later = p + 1; later < count; later++) {
				n += sizes[later];
			}
			return n;
		}
	}
}
