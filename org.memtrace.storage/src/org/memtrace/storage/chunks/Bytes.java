// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Arrays;

/** Bytes that grow while they are written. */
final class Bytes {
	byte[] array;
	int length;

	Bytes(int capacity) {
		array = new byte[capacity];
	}

	/** Makes room for so many more bytes. */
	void reserve(int more) {
		if (array.length - length < more) {
			array = Arrays.copyOf(array, Math.max(length + more, array.length + (array.length >> 1)));
		}
	}

	void add(int value) {
		reserve(1);
		array[length++] = (byte) value;
	}

	/** LEB128. */
	void unsigned(long value) {
		reserve(10);
		long v = value;
		while ((v & ~0x7fL) != 0) {
			array[length++] = (byte) (v | 0x80);
			v >>>= 7;
		}
		array[length++] = (byte) v;
	}

	/** LEB128 of zigzag. */
	void signed(long value) {
		unsigned(value << 1 ^ value >> 63);
	}

	byte[] toArray() {
		return Arrays.copyOf(array, length);
	}
}
