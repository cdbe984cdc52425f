// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Arrays;

import org.memtrace.storage.chunks.ByteReader.FormatError;

/**
 * Codes a column of numbers so that few bits differ, for zstd to take away the rest. A byte says how: its high half the coding, its
 * low half the number of bytes of a value.
 *
 * <ul>
 * <li>constant: the value (zigzag LEB128)
 * <li>frame of reference: the smallest value, then the differences to it
 * <li>dictionary: how many values, the smallest one, the differences between them, then an index for each row
 * <li>delta: the first value, then the differences (zigzag) between neighbours
 * <li>run: how many runs, then their values and their lengths, each coded in turn
 * </ul>
 * Numbers of several bytes are written as planes: all lowest bytes, then all second ones, and so on. Differences are modulo 2^64.
 */
final class Numbers {
	private static final int CONSTANT = 0x00;
	private static final int FRAME = 0x10;
	private static final int DICTIONARY = 0x20;
	private static final int DELTA = 0x30;
	private static final int RUN = 0x40;

	/** Runs are worth it when they are fewer than the rows by this factor. */
	private static final int RUN_FACTOR = 8;
	private static final int LARGEST_DICTIONARY = 1 << 16;

	// scratch of one encoder
	private long[] deltas = new long[0];
	private int[] index = new int[0];
	private long[] slots = new long[0];
	private boolean[] used = new boolean[0];

	/** @param ordered whether neighbours are near each other, so that differences are tried */
	void encode(long[] v, int n, boolean ordered, Bytes out) {
		if (n == 0) {
			out.add(CONSTANT);
			out.signed(0);
			return;
		}
		long min = v[0];
		long max = v[0];
		int runs = 1;
		for (int i = 1; i < n; i++) {
			long x = v[i];
			min = Math.min(min, x);
			max = Math.max(max, x);
			runs += x != v[i - 1] ? 1 : 0;
		}
		if (runs == 1) {
			out.add(CONSTANT);
			out.signed(min);
			return;
		}
		if (runs < n / RUN_FACTOR) {
			runs(v, n, runs, ordered, out);
			return;
		}
		int width = width(max - min);
		if (ordered && delta(v, n, min, max, out)) {
			return;
		}
		if (width > 1 && dictionary(v, n, width, out)) {
			return;
		}
		out.add(FRAME | width);
		out.signed(min);
		planes(v, n, min, width, out);
	}

	private void runs(long[] v, int n, int runs, boolean ordered, Bytes out) {
		long[] values = new long[runs];
		long[] lengths = new long[runs];
		int r = -1;
		for (int i = 0; i < n; i++) {
			if (i == 0 || v[i] != v[i - 1]) {
				values[++r] = v[i];
			}
			lengths[r]++;
		}
		out.add(RUN);
		out.unsigned(runs);
		encode(values, runs, ordered, out);
		encode(lengths, runs, false, out);
	}

	/** Number of bytes of a difference, 1 to 8. */
	private static int width(long difference) {
		return Math.max(1, (71 - Long.numberOfLeadingZeros(difference)) / 8);
	}

	/** Writes differences if they have fewer bits than what a frame of reference has. */
	private boolean delta(long[] v, int n, long min, long max, Bytes out) {
		if (deltas.length < n) {
			deltas = new long[n];
		}
		long bits = 0;
		long all = 0;
		for (int i = 1; i < n; i++) {
			long d = v[i] - v[i - 1];
			long zigzag = d << 1 ^ d >> 63;
			deltas[i - 1] = zigzag;
			all |= zigzag;
			bits += 64 - Long.numberOfLeadingZeros(zigzag);
		}
		if (bits >= (long) n * (64 - Long.numberOfLeadingZeros(max - min))) {
			return false;
		}
		int width = width(all);
		out.add(DELTA | width);
		out.signed(v[0]);
		planes(deltas, n - 1, 0, width, out);
		return true;
	}

	private boolean dictionary(long[] v, int n, int width, Bytes out) {
		int most = Math.min(width == 2 ? 1 << 8 : LARGEST_DICTIONARY, n / 2);
		int size = 1024;
		if (slots.length < size) {
			slots = new long[size];
			used = new boolean[size];
		}
		Arrays.fill(used, 0, size, false);
		int count = 0;
		for (int i = 0; i < n; i++) {
			if (i > 0 && v[i] == v[i - 1]) {
				continue;
			}
			int slot = find(v[i], size);
			if (!used[slot]) {
				if (++count > most) {
					return false;
				}
				used[slot] = true;
				slots[slot] = v[i];
				if (count * 2 > size) {
					grow(size);
					size *= 4;
				}
			}
		}
		long[] values = new long[count];
		int k = 0;
		for (int s = 0; s < size; s++) {
			if (used[s]) {
				values[k++] = slots[s];
			}
		}
		Arrays.sort(values);
		int bytes = count <= 1 << 8 ? 1 : 2;
		out.add(DICTIONARY | bytes);
		out.unsigned(count);
		out.signed(values[0]);
		for (int i = 1; i < count; i++) {
			out.unsigned(values[i] - values[i - 1]);
		}
		if (index.length < size) {
			index = new int[size];
		}
		for (int i = 0; i < count; i++) {
			index[find(values[i], size)] = i;
		}
		out.reserve(n * bytes);
		int at = out.length;
		for (int i = 0; i < n; i++) {
			int x = index[find(v[i], size)];
			out.array[at + i] = (byte) x;
			if (bytes == 2) {
				out.array[at + n + i] = (byte) (x >> 8);
			}
		}
		out.length += n * bytes;
		return true;
	}

	private int find(long value, int size) {
		int slot = (int) (value * 0x9e3779b97f4a7c15L >>> 32) & size - 1;
		while (used[slot] && slots[slot] != value) {
			slot = slot + 1 & size - 1;
		}
		return slot;
	}

	private void grow(int size) {
		long[] old = Arrays.copyOf(slots, size);
		boolean[] was = Arrays.copyOf(used, size);
		int bigger = size * 4;
		if (slots.length < bigger) {
			slots = new long[bigger];
			used = new boolean[bigger];
		}
		Arrays.fill(used, 0, bigger, false);
		for (int s = 0; s < size; s++) {
			if (was[s]) {
				int slot = find(old[s], bigger);
				used[slot] = true;
				slots[slot] = old[s];
			}
		}
	}

	private static void planes(long[] v, int n, long min, int width, Bytes out) {
		out.reserve(n * width);
		byte[] to = out.array;
		for (int plane = 0; plane < width; plane++) {
			int at = out.length + plane * n;
			int shift = 8 * plane;
			for (int i = 0; i < n; i++) {
				to[at + i] = (byte) (v[i] - min >>> shift);
			}
		}
		out.length += n * width;
	}

	/** Reads {@code n} numbers. */
	static void decode(ByteReader in, int n, long[] out) {
		int tag = in.next();
		int width = tag & 0xf;
		switch (tag & 0xf0) {
		case CONSTANT -> Arrays.fill(out, 0, n, in.signed());
		case FRAME -> {
			long min = in.signed();
			planes(in, n, width, out);
			for (int i = 0; i < n; i++) {
				out[i] += min;
			}
		}
		case DICTIONARY -> {
			long[] values = values(in);
			planes(in, n, width, out);
			for (int i = 0; i < n; i++) {
				out[i] = values[index(out[i], values.length)];
			}
		}
		case DELTA -> {
			if (n == 0) {
				throw new FormatError("it has differences of nothing");
			}
			long value = in.signed();
			planes(in, n - 1, width, out);
			for (int i = 0; i < n - 1; i++) {
				long zigzag = out[i];
				out[i] = value;
				value += zigzag >>> 1 ^ -(zigzag & 1);
			}
			out[n - 1] = value;
		}
		case RUN -> {
			int runs = in.count(n);
			long[] values = new long[runs];
			long[] lengths = new long[runs];
			decode(in, runs, values);
			decode(in, runs, lengths);
			int at = 0;
			for (int r = 0; r < runs; r++) {
				int to = end(at, lengths[r], n);
				Arrays.fill(out, at, to, values[r]);
				at = to;
			}
			whole(at, n);
		}
		default -> throw new FormatError("it has the unknown coding " + (tag & 0xff));
		}
	}

	/** Reads {@code n} numbers that have 32 bits. */
	static void decode(ByteReader in, int n, int[] out) {
		int tag = in.next();
		int width = tag & 0xf;
		switch (tag & 0xf0) {
		case CONSTANT -> Arrays.fill(out, 0, n, (int) in.signed());
		case FRAME -> {
			int min = (int) in.signed();
			planes(in, n, width, out);
			for (int i = 0; i < n; i++) {
				out[i] += min;
			}
		}
		case DICTIONARY -> {
			long[] wide = values(in);
			int[] values = new int[wide.length];
			for (int i = 0; i < values.length; i++) {
				values[i] = (int) wide[i];
			}
			planes(in, n, width, out);
			for (int i = 0; i < n; i++) {
				out[i] = values[index(out[i], values.length)];
			}
		}
		case DELTA -> {
			if (n == 0) {
				throw new FormatError("it has differences of nothing");
			}
			int value = (int) in.signed();
			planes(in, n - 1, width, out);
			for (int i = 0; i < n - 1; i++) {
				int zigzag = out[i];
				out[i] = value;
				value += zigzag >>> 1 ^ -(zigzag & 1);
			}
			out[n - 1] = value;
		}
		case RUN -> {
			int runs = in.count(n);
			int[] values = new int[runs];
			int[] lengths = new int[runs];
			decode(in, runs, values);
			decode(in, runs, lengths);
			int at = 0;
			for (int r = 0; r < runs; r++) {
				int to = end(at, lengths[r], n);
				Arrays.fill(out, at, to, values[r]);
				at = to;
			}
			whole(at, n);
		}
		default -> throw new FormatError("it has the unknown coding " + (tag & 0xff));
		}
	}

	private static long[] values(ByteReader in) {
		int count = in.count(LARGEST_DICTIONARY);
		if (count == 0) {
			throw new FormatError("it has an empty dictionary");
		}
		long[] values = new long[count];
		values[0] = in.signed();
		for (int i = 1; i < count; i++) {
			values[i] = values[i - 1] + in.unsigned();
		}
		return values;
	}

	private static int index(long index, int count) {
		if (index < 0 || index >= count) {
			throw new FormatError("it has the value " + index + " of a dictionary of " + count);
		}
		return (int) index;
	}

	private static int end(int at, long length, int n) {
		if (length < 0 || length > n - at) {
			throw new FormatError("it has too long a run");
		}
		return at + (int) length;
	}

	private static void whole(int at, int n) {
		if (at != n) {
			throw new FormatError("its runs are too short");
		}
	}

	private static void planes(ByteReader in, int n, int width, long[] out) {
		if (width < 1 || width > 8) {
			throw new FormatError("it has values of " + width + " bytes");
		}
		int at = in.skip((long) n * width);
		byte[] from = in.array;
		for (int i = 0; i < n; i++) {
			out[i] = from[at + i] & 0xffL;
		}
		for (int plane = 1; plane < width; plane++) {
			at += n;
			int shift = 8 * plane;
			for (int i = 0; i < n; i++) {
				out[i] |= (from[at + i] & 0xffL) << shift;
			}
		}
	}

	/** Higher planes of differences between 32 bits count modulo 2^32. */
	private static void planes(ByteReader in, int n, int width, int[] out) {
		if (width < 1 || width > 8) {
			throw new FormatError("it has values of " + width + " bytes");
		}
		if (width > 4) { // a difference of 33 bits: through the wide form
			long[] wide = new long[n];
			planes(in, n, width, wide);
			for (int i = 0; i < n; i++) {
				out[i] = (int) wide[i];
			}
			return;
		}
		int at = in.skip((long) n * width);
		byte[] from = in.array;
		for (int i = 0; i < n; i++) {
			out[i] = from[at + i] & 0xff;
		}
		for (int plane = 1; plane < width; plane++) {
			at += n;
			int shift = 8 * plane;
			for (int i = 0; i < n; i++) {
				out[i] |= (from[at + i] & 0xff) << shift;
			}
		}
	}
}
