// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perfetto;

import java.util.Arrays;
import java.nio.charset.StandardCharsets;

/**
 * The fields of a protobuf message, one after the other, in bytes that are not copied
 * (<a href="https://protobuf.dev/programming-guides/encoding/">encoding</a>): {@code while (f.next()) switch (f.number()) …}. Used by one
 * thread.
 */
final class ProtoFields {
	/** How a value is written: the last three bits of its key. */
	static final int VARINT = 0;
	static final int FIXED64 = 1;
	static final int BYTES = 2;
	static final int FIXED32 = 5;
	private static final int LONGEST_VARINT = 10;
	private static final int MOST_FIELDS = 1 << 29;

	/** The bytes are no message. */
	static final class Damaged extends RuntimeException {
		private static final long serialVersionUID = 1;

		Damaged(String message) {
			super(message, null, false, false);
		}
	}

	private final byte[] bytes;
	private final int end;
	private int at;
	private int number;
	private int wire;
	private long value;
	private int from;
	private int length;

	ProtoFields(byte[] bytes) {
		this(bytes, 0, bytes.length);
	}

	ProtoFields(byte[] bytes, int from, int length) {
		this.bytes = bytes;
		this.at = from;
		this.end = from + length;
	}

	/**
	 * Goes to the next field.
	 *
	 * @throws Damaged when the rest is no field
	 */
	boolean next() {
		if (at == end) {
			return false;
		}
		long key = varint();
		number = (int) Math.min(key >>> 3, MOST_FIELDS);
		wire = (int) (key & 7);
		if (key < 0 || number == 0 || number == MOST_FIELDS) {
			throw new Damaged("a field has no number");
		}
		switch (wire) {
		case VARINT -> value = varint();
		case FIXED64 -> value = fixed(8);
		case FIXED32 -> value = fixed(4);
		case BYTES -> {
			long n = varint();
			if (n < 0 || n > end - at) {
				throw new Damaged("a field is longer than its message");
			}
			from = at;
			length = (int) n;
			at += length;
		}
		default -> throw new Damaged("a field has the unknown kind " + wire);
		}
		return true;
	}

	int number() {
		return number;
	}

	int wire() {
		return wire;
	}

	/** The number of a field that has one; 0 for bytes. */
	long number64() {
		return wire == BYTES ? 0 : value;
	}

	double real() {
		return wire == FIXED64 ? Double.longBitsToDouble(value) : wire == FIXED32 ? Float.intBitsToFloat((int) value) : number64();
	}

	String text() {
		return wire == BYTES ? new String(bytes, from, length, StandardCharsets.UTF_8) : "";
	}

	/** The message in this field; without fields when it is none. */
	ProtoFields message() {
		return wire == BYTES ? new ProtoFields(bytes, from, length) : new ProtoFields(bytes, 0, 0);
	}

	byte[] copy() {
		return wire == BYTES ? java.util.Arrays.copyOfRange(bytes, from, from + length) : new byte[0];
	}

	/** Takes the next number of a repeated field that is written as one piece ({@link #message}). */
	long packed(int as) {
		return as == VARINT ? varint() : fixed(as == FIXED64 ? 8 : 4);
	}

	boolean isAtEnd() {
		return at == end;
	}

	private long varint() {
		long result = 0;
		for (int i = 0; i < LONGEST_VARINT; i++) {
			if (at == end) {
				throw new Damaged("a number is cut");
			}
			byte b = bytes[at++];
			result |= (long) (b & 0x7f) << 7 * i;
			if (b >= 0) {
				return result;
			}
		}
		throw new Damaged("a number is too long");
	}

	private long fixed(int n) {
		if (end - at < n) {
			throw new Damaged("a number is cut");
		}
		long result = 0;
		for (int i = 0; i < n; i++) {
			result |= (bytes[at++] & 0xffL) << 8 * i;
		}
		return result;
	}

	/** The numbers before and those of this field, which may be packed. */
	static long[] add(long[] before, ProtoFields f, int wire) {
		if (f.wire() != ProtoFields.BYTES) {
			long[] more = Arrays.copyOf(before, before.length + 1);
			more[before.length] = f.number64();
			return more;
		}
		long[] more = before;
		int n = before.length;
		for (ProtoFields packed = f.message(); !packed.isAtEnd();) {
			if (n == more.length) {
				more = Arrays.copyOf(more, 2 * n + 4);
			}
			more[n++] = packed.packed(wire);
		}
		return Arrays.copyOf(more, n);
	}
}
