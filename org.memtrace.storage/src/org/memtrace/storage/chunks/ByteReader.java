// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

/** Reads what {@link Bytes} wrote. Whatever the bytes are, it ends in numbers or in a {@link FormatError}. */
final class ByteReader {
	/** The bytes are not what was written. */
	static final class FormatError extends RuntimeException {
		private static final long serialVersionUID = 1;

		FormatError(String message) {
			super(message);
		}
	}

	final byte[] array;
	int position;
	final int end;

	ByteReader(byte[] array, int from, int to) {
		this.array = array;
		position = from;
		end = to;
	}

	int next() {
		if (position >= end) {
			throw new FormatError("it is too short");
		}
		return array[position++];
	}

	long unsigned() {
		long v = 0;
		for (int shift = 0; shift < 64; shift += 7) {
			int b = next();
			v |= (b & 0x7fL) << shift;
			if (b >= 0) {
				return v;
			}
		}
		throw new FormatError("it has a number that is too long");
	}

	long signed() {
		long v = unsigned();
		return v >>> 1 ^ -(v & 1);
	}

	/** A number of things, of which there are at most so many. */
	int count(int most) {
		long v = unsigned();
		if (v < 0 || v > most) {
			throw new FormatError("it has a count of " + v);
		}
		return (int) v;
	}

	/** Position of so many bytes, which are skipped. */
	int skip(long bytes) {
		if (bytes < 0 || bytes > end - position) {
			throw new FormatError("it is too short");
		}
		int at = position;
		position += (int) bytes;
		return at;
	}
}
