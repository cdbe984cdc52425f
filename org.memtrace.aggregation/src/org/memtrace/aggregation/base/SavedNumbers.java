// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.base;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Numbers that are saved with a trace, or are a part of a model: the mark {@code MTpa}, a format number, the CRC32C of what follows, its
 * length without compression (4 bytes each but the mark and the format, lowest first), then a zlib stream. In it first a text, the stamp
 * of the content that the numbers belong to, then what was written: whole numbers in LEB128 (signed ones zigzag), texts and arrays with
 * their length. Arrays of doubles are in planes: the lowest bytes of all, then the second ones, and so on.
 */
public final class SavedNumbers {
	private static final byte[] MARK = {'M', 'T', 'p', 'a'};
	private static final int FORMAT = 2;
	private static final int HEAD = MARK.length + 1 + 4 + 4;
	/** Largest number of bytes without compression. */
	private static final int MOST_BYTES = 1 << 30;

	private SavedNumbers() {
	}

	/** The bytes are not what was written. */
	public static final class Damaged extends Exception {
		private static final long serialVersionUID = 1;

		public Damaged(String message) {
			super(message);
		}
	}

	/** Writes numbers. */
	public static final class Out {
		private byte[] bytes = new byte[1024];
		private int length;

		/** @param stamp of the content that the numbers belong to */
		public Out(String stamp) {
			text(stamp);
		}

		private void room(int n) {
			if (length + n > bytes.length) {
				bytes = Arrays.copyOf(bytes, Math.max(length + n, Math.addExact(bytes.length, bytes.length >> 1)));
			}
		}

		public Out unsigned(long v) {
			room(10);
			long rest = v;
			while ((rest & ~0x7fL) != 0) {
				bytes[length++] = (byte) (rest | 0x80);
				rest >>>= 7;
			}
			bytes[length++] = (byte) rest;
			return this;
		}

		public Out signed(long v) {
			return unsigned(v << 1 ^ v >> 63);
		}

		public Out text(String s) {
			byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
			unsigned(utf8.length);
			room(utf8.length);
			System.arraycopy(utf8, 0, bytes, length, utf8.length);
			length += utf8.length;
			return this;
		}

		/** Not negative numbers as they are. */
		public Out unsigned(long[] v, int n) {
			unsigned(n);
			for (int i = 0; i < n; i++) {
				unsigned(v[i]);
			}
			return this;
		}

		/** Differences between neighbours: for numbers that ascend, or nearly. */
		public Out deltas(long[] v, int n) {
			unsigned(n);
			long last = 0;
			for (int i = 0; i < n; i++) {
				signed(v[i] - last);
				last = v[i];
			}
			return this;
		}

		/** Writes {@code n} and the differences between neighbours of the first {@code n} numbers. */
		public Out deltas(int[] v, int n) {
			unsigned(n);
			int last = 0;
			for (int i = 0; i < n; i++) {
				signed(v[i] - last);
				last = v[i];
			}
			return this;
		}

		public Out doubles(double[] v, int n) {
			unsigned(n);
			room(Math.multiplyExact(8, n));
			for (int i = 0; i < n; i++) {
				long bits = Double.doubleToRawLongBits(v[i]);
				for (int plane = 0; plane < 8; plane++) {
					bytes[length + plane * n + i] = (byte) (bits >>> 8 * plane);
				}
			}
			length += 8 * n;
			return this;
		}

		public byte[] seal() {
			Deflater deflater = new Deflater(Deflater.BEST_SPEED);
			try {
				deflater.setInput(bytes, 0, length);
				deflater.finish();
				byte[] out = new byte[HEAD + length / 2 + 256];
				int at = HEAD;
				while (!deflater.finished()) {
					if (at == out.length) {
						out = Arrays.copyOf(out, Math.addExact(out.length, out.length / 2));
					}
					at += deflater.deflate(out, at, out.length - at);
				}
				ByteBuffer head = ByteBuffer.wrap(out).order(ByteOrder.LITTLE_ENDIAN);
				head.put(MARK).put((byte) FORMAT).putInt(0).putInt(length);
				head.putInt(MARK.length + 1, crc(out, at));
				return Arrays.copyOf(out, at);
			} finally {
				deflater.end();
			}
		}
	}

	/** Whether bytes begin as those that were sealed. */
	public static boolean isMarked(byte[] bytes) {
		return bytes.length >= MARK.length && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length);
	}

	private static int crc(byte[] sealed, int length) {
		CRC32C crc = new CRC32C();
		crc.update(sealed, HEAD - 4, length - HEAD + 4);
		return (int) crc.getValue();
	}

	/** Reads numbers in the order in which they were written. */
	public static final class In {
		private final byte[] bytes;
		private int at;

		private In(byte[] bytes) {
			this.bytes = bytes;
		}

		public long unsigned() throws Damaged {
			long v = 0;
			for (int shift = 0; shift < 64; shift += 7) {
				if (at >= bytes.length) {
					throw new Damaged("they end too early");
				}
				byte b = bytes[at++];
				v |= (b & 0x7fL) << shift;
				if (b >= 0) {
					return v;
				}
			}
			throw new Damaged("a number is too long");
		}

		public long signed() throws Damaged {
			long v = unsigned();
			return v >>> 1 ^ -(v & 1);
		}

		/** A number of things of which each takes at least a byte, or a part of one. */
		public int count(int most) throws Damaged {
			long n = unsigned();
			if (n < 0 || n > most) {
				throw new Damaged("a length is " + n);
			}
			return (int) n;
		}

		public String text() throws Damaged {
			int n = count(bytes.length - at);
			at += n;
			return new String(bytes, at - n, n, StandardCharsets.UTF_8);
		}

		public long[] unsignedLongs() throws Damaged {
			long[] v = new long[count(bytes.length - at)];
			for (int i = 0; i < v.length; i++) {
				v[i] = unsigned();
			}
			return v;
		}

		public long[] deltaLongs() throws Damaged {
			long[] v = new long[count(bytes.length - at)];
			long last = 0;
			for (int i = 0; i < v.length; i++) {
				last += signed();
				v[i] = last;
			}
			return v;
		}

		public int[] deltaInts() throws Damaged {
			int[] v = new int[count(bytes.length - at)];
			int last = 0;
			for (int i = 0; i < v.length; i++) {
				last += (int) signed();
				v[i] = last;
			}
			return v;
		}

		public double[] doubles() throws Damaged {
			int n = count((bytes.length - at) / 8);
			double[] v = new double[n];
			for (int i = 0; i < n; i++) {
				long bits = 0;
				for (int plane = 0; plane < 8; plane++) {
					bits |= (bytes[at + plane * n + i] & 0xffL) << 8 * plane;
				}
				v[i] = Double.longBitsToDouble(bits);
			}
			at += 8 * n;
			return v;
		}

		public void end() throws Damaged {
			if (at != bytes.length) {
				throw new Damaged("something follows them");
			}
		}
	}

	/**
	 * Opens what was sealed.
	 *
	 * @return null when it belongs to another stamp
	 */
	public static In open(byte[] sealed, String stamp) throws Damaged {
		if (sealed.length < HEAD || !isMarked(sealed)) {
			throw new Damaged("they do not begin as they should");
		}
		ByteBuffer head = ByteBuffer.wrap(sealed).order(ByteOrder.LITTLE_ENDIAN);
		if (head.getInt(MARK.length + 1) != crc(sealed, sealed.length)) {
			throw new Damaged("their checksum does not fit");
		}
		if (sealed[MARK.length] != FORMAT) {
			return null; // of another version
		}
		int size = head.getInt(HEAD - 4);
		if (size < 0 || size > MOST_BYTES) {
			throw new Damaged("their length is " + size);
		}
		byte[] plain = new byte[size];
		Inflater inflater = new Inflater();
		try {
			inflater.setInput(sealed, HEAD, sealed.length - HEAD);
			int got = 0;
			while (got < size) {
				int n = inflater.inflate(plain, got, size - got);
				if (n == 0) {
					throw new Damaged("they cannot be decompressed");
				}
				got += n;
			}
		} catch (DataFormatException e) {
			throw new Damaged("they cannot be decompressed");
		} finally {
			inflater.end();
		}
		In in = new In(plain);
		return in.text().equals(stamp) ? in : null;
	}
}
