// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Whole numbers in 0, 1, 2 or 4 bytes each, above a common base. Most columns of a trace need one byte: less memory to hold
 * and to read, and what was saved needs no decoding. Once its maker has put all numbers into it, it does not change and is safe for all
 * threads.
 */
final class IntColumn {
	static final IntColumn EMPTY = new IntColumn(0, 0, 0);

	private final int size;
	private final int base;
	private final byte[] bytes;
	private final char[] chars;
	private final int[] ints;

	/** A column that {@link #fill} makes. */
	IntColumn(int size, int width, int base) {
		this.size = size;
		this.base = base;
		this.bytes = width == 1 ? new byte[size] : null;
		this.chars = width == 2 ? new char[size] : null;
		this.ints = width == 4 ? new int[size] : null;
	}

	/** The smallest column of some numbers. */
	static IntColumn of(int[] values) {
		return of(values, values.length);
	}

	static IntColumn of(int[] values, int size) {
		int min = Integer.MAX_VALUE;
		int max = Integer.MIN_VALUE;
		for (int i = 0; i < size; i++) {
			min = Math.min(min, values[i]);
			max = Math.max(max, values[i]);
		}
		IntColumn c = between(size, min, max);
		for (int i = 0; i < size && c.width() > 0; i++) {
			int v = values[i] - min;
			if (c.bytes != null) {
				c.bytes[i] = (byte) v;
			} else if (c.chars != null) {
				c.chars[i] = (char) v;
			} else {
				c.ints[i] = v;
			}
		}
		return c;
	}

	/** The smallest column for some numbers from {@code min} to {@code max}; all are {@code min} until {@link #put}. */
	static IntColumn between(int size, int min, int max) {
		if (size == 0) {
			return EMPTY;
		}
		long range = (long) max - min;
		return new IntColumn(size, range > 0xffff ? 4 : range > 0xff ? 2 : range > 0 ? 1 : 0, min);
	}

	/** Puts numbers into the places of the same index of {@code places}, before anybody reads them. */
	void put(int[] places, IntColumn values) {
		for (int i = 0; i < values.size; i++) {
			int v = values.get(i) - base;
			if (bytes != null) {
				bytes[places[i]] = (byte) v;
			} else if (chars != null) {
				chars[places[i]] = (char) v;
			} else if (ints != null) {
				ints[places[i]] = v;
			}
		}
	}

	int size() {
		return size;
	}

	/** Bytes of a number. */
	int width() {
		return bytes != null ? 1 : chars != null ? 2 : ints != null ? 4 : 0;
	}

	int base() {
		return base;
	}

	int get(int i) {
		if (bytes != null) {
			return base + (bytes[i] & 0xff);
		}
		return base + (chars != null ? chars[i] : ints != null ? ints[i] : 0);
	}

	/** Takes little-endian numbers above the base for the entries from {@code from} on, before anybody reads them. */
	void fill(int from, ByteBuffer saved) {
		saved.order(ByteOrder.LITTLE_ENDIAN);
		if (bytes != null) {
			saved.get(bytes, from, saved.remaining());
		} else if (chars != null) {
			saved.asCharBuffer().get(chars, from, saved.remaining() / 2);
		} else if (ints != null) {
			saved.asIntBuffer().get(ints, from, saved.remaining() / 4);
		}
	}

	/** The reverse of {@link #fill}. */
	ByteBuffer saved(int from, int to) {
		ByteBuffer out = ByteBuffer.allocate((to - from) * width()).order(ByteOrder.LITTLE_ENDIAN);
		if (bytes != null) {
			out.put(0, bytes, from, to - from);
		} else if (chars != null) {
			out.asCharBuffer().put(chars, from, to - from);
		} else if (ints != null) {
			out.asIntBuffer().put(ints, from, to - from);
		}
		return out;
	}

	long memoryBytes() {
		return 40 + (long) size * width();
	}
}
