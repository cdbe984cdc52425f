// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.Arrays;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * The first rows in the order of a key, of any number of rows in bounded memory: twice the limit is collected, then the half that
 * cannot be among the first is dropped. Equal keys keep the order of the ids.
 */
final class RowOrder {
	private final int limit;
	private long[] key = new long[1 << 12];
	private int[] id = new int[1 << 12];
	private int count;
	/** Nothing with a larger key is wanted any more. */
	private long worst = Long.MAX_VALUE;

	/** @param limit how many rows are kept at least, when there are so many; at most 2^29 */
	RowOrder(int limit) {
		this.limit = limit;
	}

	void add(long rowKey, int rowId) {
		if (rowKey > worst) {
			return;
		}
		if (count == key.length) {
			if (count >= 2 * limit) {
				drop();
			} else {
				int size = Math.min(2 * limit, 2 * count);
				key = Arrays.copyOf(key, size);
				id = Arrays.copyOf(id, size);
			}
		}
		key[count] = rowKey;
		id[count++] = rowId;
	}

	/** Keeps the first {@link #limit}. */
	private void drop() {
		int from = 0;
		int to = count;
		while (to - from > 1) { // quickselect of the element at position limit
			long pivot = partition(from, to);
			int less = (int) (pivot >>> 32);
			int greater = (int) pivot;
			if (limit < less) {
				to = less;
			} else if (limit >= greater) {
				from = greater;
			} else {
				break;
			}
		}
		count = limit;
		worst = Long.MIN_VALUE;
		for (int i = 0; i < count; i++) {
			worst = Math.max(worst, key[i]);
		}
	}

	/** Ids of the first rows in order. */
	int[] finish(Progress progress) throws CancelledException {
		sort(0, count, progress);
		return Arrays.copyOf(id, Math.min(limit, count));
	}

	private void sort(int from, int to, Progress progress) throws CancelledException {
		while (to - from > 24) {
			if (to - from > 100_000) {
				progress.check();
			}
			long pivot = partition(from, to);
			int less = (int) (pivot >>> 32);
			int greater = (int) pivot;
			if (less - from < to - greater) {
				sort(from, less, progress);
				from = greater;
			} else {
				sort(greater, to, progress);
				to = less;
			}
		}
		for (int i = from + 1; i < to; i++) {
			long k = key[i];
			int v = id[i];
			int j = i - 1;
			while (j >= from && (key[j] > k || key[j] == k && id[j] > v)) {
				key[j + 1] = key[j];
				id[j + 1] = id[j];
				j--;
			}
			key[j + 1] = k;
			id[j + 1] = v;
		}
	}

	/** Three parts about a pivot: [from, less) before it, [less, greater) equal, [greater, to) after; both bounds in one number. */
	private long partition(int from, int to) {
		int middle = (from + to) >>> 1;
		int pivotAt = median(from, middle, to - 1);
		long k = key[pivotAt];
		int v = id[pivotAt];
		int less = from;
		int greater = to;
		int i = from;
		while (i < greater) {
			int order = key[i] != k ? Long.compare(key[i], k) : Integer.compare(id[i], v);
			if (order < 0) {
				swap(i++, less++);
			} else if (order > 0) {
				swap(i, --greater);
			} else {
				i++;
			}
		}
		return (long) less << 32 | greater;
	}

	private int median(int a, int b, int c) {
		if (before(b, a)) {
			int t = a;
			a = b;
			b = t;
		}
		return before(b, c) ? b : before(a, c) ? c : a;
	}

	private boolean before(int a, int b) {
		return key[a] < key[b] || key[a] == key[b] && id[a] < id[b];
	}

	private void swap(int a, int b) {
		long k = key[a];
		key[a] = key[b];
		key[b] = k;
		int v = id[a];
		id[a] = id[b];
		id[b] = v;
	}
}
