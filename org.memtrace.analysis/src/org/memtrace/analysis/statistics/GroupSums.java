// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.Arrays;
import java.util.Locale;

import org.memtrace.model.MemtraceException;

/**
 * Sums by several numbers, first of all records, reads and writes, in a hash table of numbers without an object for each. Not safe for
 * several threads.
 */
final class GroupSums {
	/** Records, reads and writes. */
	static final int SUMS = 3;

	private final int keys;
	/** Keys and sums of a group. */
	private final int width;
	private final int most;
	/** Group of each place, from 1 on; 0 is free. Its length is a power of two. */
	private int[] place = new int[64];
	/** Keys, then records, reads and writes, then what else is summed, of each group. */
	private long[] group;
	private int size;
	/** Group of the row before: rows of a page are alike. */
	private int last = -1;

	/** @param most number of groups at most; more is an error */
	GroupSums(int keys, int most) {
		this(keys, 0, most);
	}

	/**
	 * @param more number of sums beside records, reads and writes
	 * @param most number of groups at most; more is an error
	 */
	GroupSums(int keys, int more, int most) {
		this.keys = keys;
		this.width = keys + SUMS + more;
		this.most = most;
		group = new long[16 * width];
	}

	int size() {
		return size;
	}

	long key(int i, int key) {
		return group[i * width + key];
	}

	long records(int i) {
		return group[i * width + keys];
	}

	long reads(int i) {
		return group[i * width + keys + 1];
	}

	long writes(int i) {
		return group[i * width + keys + 2];
	}

	/** Adds records. */
	void add(long[] values, long records, long reads, long writes) throws MemtraceException {
		add(values, 0, records, reads, writes);
	}

	void addAll(GroupSums other) throws MemtraceException {
		for (int i = 0; i < other.size; i++) {
			add(other.group, i * width, other.records(i), other.reads(i), other.writes(i));
		}
	}

	/** The group of some keys, a new one if there is none. */
	int group(long[] values, int from) throws MemtraceException {
		if (last < 0 || !same(last, values, from)) {
			last = find(values, from);
		}
		return last;
	}

	/** The group here of the keys of a group of other sums. */
	int groupOf(GroupSums other, int i) throws MemtraceException {
		return group(other.group, i * other.width);
	}

	/** A sum of a group, from 0 on: records, reads, writes, and what else there is. */
	long sum(int i, int sum) {
		return group[i * width + keys + sum];
	}

	/** Sets what {@link #sum} gives. */
	void set(int i, int sum, long value) {
		group[i * width + keys + sum] = value;
	}

	private void add(long[] values, int from, long records, long reads, long writes) throws MemtraceException {
		int at = group(values, from) * width + keys;
		group[at] += records;
		group[at + 1] += reads;
		group[at + 2] += writes;
	}

	private boolean same(int i, long[] values, int from) {
		int at = i * width;
		for (int k = 0; k < keys; k++) {
			if (group[at + k] != values[from + k]) {
				return false;
			}
		}
		return true;
	}

	private int find(long[] values, int from) throws MemtraceException {
		int mask = place.length - 1;
		int at = hash(values, from) & mask;
		while (place[at] != 0) {
			if (same(place[at] - 1, values, from)) {
				return place[at] - 1;
			}
			at = at + 1 & mask;
		}
		if (size == most) {
			throw new MemtraceException(String.format(Locale.ROOT,
					"there are more than %,d groups; take longer windows, fewer keys or a part of the memory", most));
		}
		if ((size + 1) * width > group.length) {
			group = Arrays.copyOf(group, Math.toIntExact(2L * group.length));
		}
		System.arraycopy(values, from, group, size * width, keys);
		place[at] = ++size;
		if (2 * size > place.length) {
			grow();
		}
		return size - 1;
	}

	private void grow() {
		place = new int[2 * place.length];
		int mask = place.length - 1;
		for (int i = 0; i < size; i++) {
			int at = hash(group, i * width) & mask;
			while (place[at] != 0) {
				at = at + 1 & mask;
			}
			place[at] = i + 1;
		}
	}

	private int hash(long[] values, int from) {
		long h = 0;
		for (int k = 0; k < keys; k++) {
			h = (h ^ values[from + k]) * 0x9e3779b97f4a7c15L;
			h ^= h >>> 32;
		}
		return (int) h;
	}

	/** Groups in the order of their keys. */
	int[] sorted() {
		Integer[] order = new Integer[size];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, (a, b) -> Arrays.compare(group, a * width, a * width + keys, group, b * width, b * width + keys));
		return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
	}
}
