// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Arrays;

/** Starts with places, which are sorted by both. */
final class StartKeys {
	private long[] starts = {};
	private long[] sorted = {};
	private int[] places = {};
	private int most;
	private long low;
	private long high;
	int count;

	/** @param mostPlaces after the largest place */
	void clear(int mostPlaces) {
		if (starts.length < mostPlaces) {
			starts = new long[mostPlaces];
			sorted = new long[mostPlaces];
			places = new int[mostPlaces];
		}
		most = mostPlaces;
		count = 0;
		low = Long.MAX_VALUE;
		high = Long.MIN_VALUE;
	}

	void add(long startNs, int place) {
		low = Math.min(low, startNs);
		high = Math.max(high, startNs);
		starts[count] = startNs;
		places[count++] = place;
	}

	void sort() {
		int bits = 32 - Integer.numberOfLeadingZeros(most);
		if (count > 0 && high - low >= 0 && high - low < 1L << 62 - bits) {
			for (int k = 0; k < count; k++) {
				sorted[k] = starts[k] - low << bits | places[k];
			}
			Arrays.sort(sorted, 0, count);
			for (int k = 0; k < count; k++) {
				places[k] = (int) (sorted[k] & (1L << bits) - 1);
			}
		} else if (count > 0) { // years apart
			int[] order = new int[count];
			Arrays.setAll(order, k -> k);
			IntSort.sort(order, 0, count, (a, b) -> Long.compare(starts[a], starts[b]));
			int[] unsorted = Arrays.copyOf(places, count);
			Arrays.setAll(order, k -> unsorted[order[k]]);
			System.arraycopy(order, 0, places, 0, count);
		}
	}

	int place(int k) {
		return places[k];
	}
}
