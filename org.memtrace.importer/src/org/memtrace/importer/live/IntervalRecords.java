// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;

import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.model.LivePages;

/** The records of accesses of one interval of a process image, and what they are by row. */
final class IntervalRecords {
	/** Rows of a picture: a page and a row are one number. */
	static final int MOST_ROWS = 1 << 12;
	private static final int ROW_BITS = 12;
	/** Of a page that no thread was seen to touch. */
	private static final int NOBODY = -1;

	private int count;
	private long[] address = new long[64];
	private long[] firstNs = new long[64];
	private int[] thread = new int[64];
	private final BitSet written = new BitSet();

	int count() {
		return count;
	}

	long address(int record) {
		return address[record];
	}

	long firstNs(int record) {
		return firstNs[record];
	}

	/** Number of the thread, -1 for the kernel or when it is not known. */
	int thread(int record) {
		return thread[record];
	}

	void add(long at, long first, int threadNumber, boolean writes) {
		if (count == address.length) {
			address = Arrays.copyOf(address, count * 2);
			firstNs = Arrays.copyOf(firstNs, count * 2);
			thread = Arrays.copyOf(thread, count * 2);
		}
		address[count] = at;
		firstNs[count] = first;
		thread[count] = threadNumber;
		written.set(count, writes);
		count++;
	}

	/** Takes the records of another one. */
	void addAll(IntervalRecords other) {
		for (int i = 0; i < other.count; i++) {
			add(other.address[i], other.firstNs[i], other.thread[i], other.written.get(i));
		}
	}

	/** Different pairs of a page and a row. */
	private static final class PageRows {
		private final LongNumbers numbers = new LongNumbers();
		/** The only thread, or {@link #NOBODY}. */
		private int[] user = new int[64];
		private final BitSet shared = new BitSet();
		private final BitSet written = new BitSet();

		int add(long page, int row, int thread, boolean writes) {
			int known = numbers.size();
			int number = numbers.number(page << ROW_BITS | row);
			if (number == user.length) {
				user = Arrays.copyOf(user, number * 2);
			}
			if (number == known) {
				user[number] = thread;
			} else if (user[number] == NOBODY) {
				user[number] = thread;
			} else if (thread != NOBODY && thread != user[number]) {
				shared.set(number);
			}
			if (writes) {
				written.set(number);
			}
			return number;
		}
	}

	/**
	 * The cells of the structures. A page is shared when several threads touched the same structure in it.
	 *
	 * @param rowOf row of a record, less than {@link #MOST_ROWS}
	 */
	Map<Integer, LivePages.Cell> byStructure(IntUnaryOperator rowOf, int pageShift, long startNs, long endNs) {
		PageRows pages = new PageRows();
		Map<Integer, BitSet> users = new HashMap<>();
		for (int i = 0; i < count; i++) {
			int row = rowOf.applyAsInt(i);
			pages.add(address[i] >>> pageShift, row, thread[i], written.get(i));
			BitSet of = users.computeIfAbsent(row, r -> new BitSet());
			if (thread[i] >= 0) {
				of.set(thread[i]);
			}
		}
		Map<Integer, int[]> sums = new HashMap<>();
		for (int k = 0; k < pages.numbers.size(); k++) {
			add(sums, (int) (pages.numbers.value(k) & MOST_ROWS - 1), pages.shared.get(k), pages.written.get(k));
		}
		return cells(sums, startNs, endNs, row -> users.get(row).cardinality());
	}

	/** The cells of the threads. A page is shared when several threads touched it. */
	Map<Integer, LivePages.Cell> byThread(IntUnaryOperator rowOf, int pageShift, long startNs, long endNs) {
		PageRows all = new PageRows();
		PageRows own = new PageRows();
		BitSet several = new BitSet();
		int[] pageOf = new int[count];
		for (int i = 0; i < count; i++) {
			pageOf[i] = all.add(address[i] >>> pageShift, 0, thread[i], false);
		}
		Map<Integer, BitSet> users = new HashMap<>();
		for (int i = 0; i < count; i++) {
			int row = rowOf.applyAsInt(i);
			int k = own.add(address[i] >>> pageShift, row, thread[i], written.get(i));
			several.set(k, all.shared.get(pageOf[i]));
			BitSet of = users.computeIfAbsent(row, r -> new BitSet());
			if (thread[i] >= 0) {
				of.set(thread[i]);
			}
		}
		Map<Integer, int[]> sums = new HashMap<>();
		for (int k = 0; k < own.numbers.size(); k++) {
			add(sums, (int) (own.numbers.value(k) & MOST_ROWS - 1), several.get(k), own.written.get(k));
		}
		return cells(sums, startNs, endNs, row -> users.get(row).cardinality());
	}

	private static void add(Map<Integer, int[]> sums, int row, boolean shared, boolean written) {
		int[] sum = sums.computeIfAbsent(row, r -> new int[3]);
		sum[0]++;
		sum[1] += shared ? 1 : 0;
		sum[2] += written ? 1 : 0;
	}

	private static Map<Integer, LivePages.Cell> cells(Map<Integer, int[]> sums, long startNs, long endNs, IntUnaryOperator users) {
		Map<Integer, LivePages.Cell> cells = new HashMap<>();
		sums.forEach((row, sum) -> cells.put(row,
				new LivePages.Cell(startNs, endNs, sum[0], sum[1], sum[2], users.applyAsInt(row))));
		return cells;
	}
}
