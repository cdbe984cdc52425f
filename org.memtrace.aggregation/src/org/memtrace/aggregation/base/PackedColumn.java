// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.base;

import java.util.Arrays;

/**
 * Whole numbers in 0, 1, 2, 4 or 8 bytes each, above a common base. Most columns of a trace need one byte: less memory to hold
 * and to read. Immutable and safe for all threads.
 */
public final class PackedColumn {
	static final PackedColumn EMPTY = new PackedColumn(0, 0, 0);

	private final int size;
	private final long base;
	private final byte[] bytes;
	private final char[] chars;
	private final int[] ints;
	private final long[] longs;

	private PackedColumn(int size, int width, long base) {
		this.size = size;
		this.base = base;
		this.bytes = width == 1 ? new byte[size] : null;
		this.chars = width == 2 ? new char[size] : null;
		this.ints = width == 4 ? new int[size] : null;
		this.longs = width == 8 ? new long[size] : null;
	}

	/** The smallest column of some numbers. */
	public static PackedColumn of(int[] values) {
		return of(values, values.length);
	}

	/** The smallest column of the first {@code size} numbers. */
	public static PackedColumn of(int[] values, int size) {
		int min = Integer.MAX_VALUE;
		int max = Integer.MIN_VALUE;
		for (int i = 0; i < size; i++) {
			min = Math.min(min, values[i]);
			max = Math.max(max, values[i]);
		}
		PackedColumn c = between(size, min, max);
		for (int i = 0; i < size && c.width() > 0; i++) {
			c.set(i, values[i]);
		}
		return c;
	}

	/** The smallest column of the first {@code size} numbers. */
	public static PackedColumn of(long[] values, int size) {
		long min = Long.MAX_VALUE;
		long max = Long.MIN_VALUE;
		for (int i = 0; i < size; i++) {
			min = Math.min(min, values[i]);
			max = Math.max(max, values[i]);
		}
		PackedColumn c = between(size, min, max);
		for (int i = 0; i < size && c.width() > 0; i++) {
			c.set(i, values[i]);
		}
		return c;
	}

	private static PackedColumn between(int size, long min, long max) {
		return size == 0 ? EMPTY : new PackedColumn(size, widthFor(min, max), min);
	}

	private static int widthFor(long min, long max) {
		long range = max - min;
		if (range < 0 || range > 0xffffffffL) { // negative: more than a long can hold, as an unsigned number it fits
			return 8;
		}
		return range > 0xffff ? 4 : range > 0xff ? 2 : range > 0 ? 1 : 0;
	}

	private void set(int i, long value) {
		long v = value - base;
		if (bytes != null) {
			bytes[i] = (byte) v;
		} else if (chars != null) {
			chars[i] = (char) v;
		} else if (ints != null) {
			ints[i] = (int) v;
		} else if (longs != null) {
			longs[i] = v;
		}
	}

	public int size() {
		return size;
	}

	/** Bytes of a number. */
	public int width() {
		return bytes != null ? 1 : chars != null ? 2 : ints != null ? 4 : longs != null ? 8 : 0;
	}

	/** A number of a column whose numbers are {@code int}s. */
	public int get(int i) {
		return (int) getLong(i);
	}

	/** A number. */
	long getLong(int i) {
		if (bytes != null) {
			return base + (bytes[i] & 0xff);
		}
		return base + (chars != null ? chars[i] : ints != null ? ints[i] & 0xffffffffL : longs != null ? longs[i] : 0);
	}

	/** All numbers, of a column whose numbers are {@code int}s. */
	public void copyTo(int[] out) {
		int b = (int) base;
		if (bytes != null) {
			for (int i = 0; i < size; i++) {
				out[i] = b + (bytes[i] & 0xff);
			}
		} else if (chars != null) {
			for (int i = 0; i < size; i++) {
				out[i] = b + chars[i];
			}
		} else if (ints != null) {
			for (int i = 0; i < size; i++) {
				out[i] = b + ints[i]; // modulo 2^32, as it was made
			}
		} else {
			Arrays.fill(out, 0, size, b);
		}
	}

	/** All numbers. */
	public void copyTo(long[] out) {
		if (bytes != null) {
			for (int i = 0; i < size; i++) {
				out[i] = base + (bytes[i] & 0xff);
			}
		} else if (chars != null) {
			for (int i = 0; i < size; i++) {
				out[i] = base + chars[i];
			}
		} else if (ints != null) {
			for (int i = 0; i < size; i++) {
				out[i] = base + (ints[i] & 0xffffffffL);
			}
		} else if (longs != null) {
			for (int i = 0; i < size; i++) {
				out[i] = base + longs[i];
			}
		} else {
			Arrays.fill(out, 0, size, base);
		}
	}

	public long memoryBytes() {
		return 48 + (long) size * width();
	}
}
