// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

/** Sorts numbers of rows by what a comparison says of them: stable, no objects, linear when they are in order. */
final class IntSort {
	private static final int SMALL = 24;

	/** Like {@link java.util.Comparator}. */
	@FunctionalInterface
	interface Order {
		int compare(int a, int b);
	}

	private IntSort() {
	}

	/** Sorts {@code [from, to)}. */
	static void sort(int[] v, int from, int to, Order order) {
		int sorted = from + 1;
		while (sorted < to && order.compare(v[sorted - 1], v[sorted]) <= 0) {
			sorted++;
		}
		if (sorted >= to) {
			return;
		}
		if (to - from <= SMALL) {
			insert(v, from, to, order);
		} else {
			merge(v, new int[to - from], from, to, order);
		}
	}

	private static void insert(int[] v, int from, int to, Order order) {
		for (int i = from + 1; i < to; i++) {
			int x = v[i];
			int k = i;
			while (k > from && order.compare(v[k - 1], x) > 0) {
				v[k] = v[k - 1];
				k--;
			}
			v[k] = x;
		}
	}

	private static void merge(int[] v, int[] buffer, int from, int to, Order order) {
		if (to - from <= SMALL) {
			insert(v, from, to, order);
			return;
		}
		int middle = from + to >>> 1;
		merge(v, buffer, from, middle, order);
		merge(v, buffer, middle, to, order);
		if (order.compare(v[middle - 1], v[middle]) <= 0) {
			return;
		}
		int n = middle - from;
		System.arraycopy(v, from, buffer, 0, n);
		int a = 0;
		int b = middle;
		int k = from;
		while (a < n && b < to) {
			v[k++] = order.compare(buffer[a], v[b]) <= 0 ? buffer[a++] : v[b++];
		}
		System.arraycopy(buffer, a, v, k, n - a);
	}
}
