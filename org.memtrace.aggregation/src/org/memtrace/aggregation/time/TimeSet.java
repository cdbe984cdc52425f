// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

import java.util.Arrays;

/** A set of times, each a start and an end, without an object for each. Not safe for several threads. */
public final class TimeSet {
	/** Start and end, alternating; an end that is not after its start marks a free place: every time has a length. */
	private long[] table = new long[2 * 16];
	private int size;

	public int size() {
		return size;
	}

	/** Adds a time. */
	public void add(long startNs, long endNs) {
		if (4 * (size + 1) > table.length) { // half full
			long[] old = table;
			table = new long[2 * old.length];
			for (int i = 0; i < old.length; i += 2) {
				if (old[i + 1] > old[i]) {
					put(old[i], old[i + 1]);
				}
			}
		}
		if (put(startNs, endNs)) {
			size++;
		}
	}

	private boolean put(long startNs, long endNs) {
		int mask = table.length / 2 - 1;
		long hash = (startNs * 31 + endNs) * 0x9e3779b97f4a7c15L;
		for (int at = (int) (hash >>> 32) & mask;; at = at + 1 & mask) {
			if (table[2 * at + 1] <= table[2 * at]) {
				table[2 * at] = startNs;
				table[2 * at + 1] = endNs;
				return true;
			}
			if (table[2 * at] == startNs && table[2 * at + 1] == endNs) {
				return false;
			}
		}
	}

	public void addAll(TimeSet other) {
		for (int i = 0; i < other.table.length; i += 2) {
			if (other.table[i + 1] > other.table[i]) {
				add(other.table[i], other.table[i + 1]);
			}
		}
	}

	/** All times in order of their start, then of their end: starts, then ends. */
	public long[][] sorted() {
		long[][] times = new long[size][];
		int n = 0;
		for (int i = 0; i < table.length; i += 2) {
			if (table[i + 1] > table[i]) {
				times[n++] = new long[] {table[i], table[i + 1]};
			}
		}
		Arrays.sort(times, Arrays::compare);
		long[][] columns = new long[2][size];
		for (int i = 0; i < size; i++) {
			columns[0][i] = times[i][0];
			columns[1][i] = times[i][1];
		}
		return columns;
	}
}
