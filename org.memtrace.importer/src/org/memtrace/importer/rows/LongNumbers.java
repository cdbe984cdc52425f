// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.util.Arrays;

/** Gives each distinct {@code long} a number, in order of appearance. */
public final class LongNumbers {
	private long[] values = new long[64];
	/** Open addressing: number + 1, 0 for free. */
	private int[] table = new int[256];
	private int size;
	private long lastValue;
	private int last = -1;

	public int size() {
		return size;
	}

	public long value(int number) {
		return values[number];
	}

	/** The number of a value; a new one is {@link #size()} before the call. */
	public int number(long value) {
		if (last >= 0 && lastValue == value) {
			return last;
		}
		int number = find(value);
		lastValue = value;
		last = number;
		return number;
	}

	/** The number of a value, -1 when it has none. */
	public int indexOf(long value) {
		int mask = table.length - 1;
		int slot = slot(value, mask);
		while (table[slot] != 0 && values[table[slot] - 1] != value) {
			slot = (slot + 1) & mask;
		}
		return table[slot] - 1;
	}

	private int find(long value) {
		int mask = table.length - 1;
		int slot = slot(value, mask);
		while (table[slot] != 0) {
			if (values[table[slot] - 1] == value) {
				return table[slot] - 1;
			}
			slot = (slot + 1) & mask;
		}
		if (size == values.length) {
			values = Arrays.copyOf(values, size * 2);
		}
		values[size++] = value;
		table[slot] = size;
		if (size * 2 > table.length) {
			rehash();
		}
		return size - 1;
	}

	private void rehash() {
		int[] bigger = new int[table.length * 2];
		int mask = bigger.length - 1;
		for (int i = 0; i < size; i++) {
			int slot = slot(values[i], mask);
			while (bigger[slot] != 0) {
				slot = (slot + 1) & mask;
			}
			bigger[slot] = i + 1;
		}
		table = bigger;
	}

	private static int slot(long value, int mask) {
		return (int) (value * 0x9e3779b97f4a7c15L >>> 32) & mask;
	}
}
