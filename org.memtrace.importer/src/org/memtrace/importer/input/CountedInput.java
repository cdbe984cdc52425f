// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;

import com.github.luben.zstd.ZstdInputStream;

/** Content of an input, plain or compressed (gzip or zstd, recognised by their first bytes), and the bytes read for it. */
public final class CountedInput implements AutoCloseable {
	private static final int GZIP = 0x1f8b;
	private static final int ZSTD = 0x28b52ffd;
	private static final int BUFFER = 1 << 16;

	private static final class Counter extends FilterInputStream {
		private final String name;
		private volatile long bytes;

		Counter(InputStream in, String name) {
			super(in);
			this.name = name;
		}

		@Override
		public int read() throws IOException {
			byte[] one = new byte[1];
			return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
		}

		@Override
		public int read(byte[] buffer, int offset, int length) throws IOException {
			int n;
			try {
				n = super.read(buffer, offset, length);
			} catch (IOException e) {
				if (name == null) {
					throw e;
				}
				throw new UncheckedIOException(name + ": cannot be read behind byte " + bytes + ": " + e.getMessage(), e);
			}
			bytes += Math.max(n, 0);
			return n;
		}
	}

	/**
	 * Gives what there is before it tells that the rest is damaged: a buffer around a stream that says that more is available
	 * reads on, meets the damage and loses what it has.
	 */
	private static final class Decompressed extends FilterInputStream {
		Decompressed(InputStream in) {
			super(in);
		}

		@Override
		public int available() {
			return 0;
		}
	}

	private final Counter counter;
	private final BufferedInputStream in;

	/**
	 * Where the disk or the network cannot give the bytes, this is no damage of the file: what has been read before is not all that the
	 * file has, and no reader may take it for that. So reading then ends with an {@link UncheckedIOException}, which no reader catches
	 * and the import as a whole tells.
	 *
	 * @param stored the bytes as they are stored; closed with this object, also when this fails
	 * @param name of the file, for the message; null for what another program writes, whose end that program explains
	 */
	@SuppressWarnings("resource") // what is made closes what it was made of
	CountedInput(InputStream stored, String name) throws IOException {
		counter = new Counter(stored, name);
		try {
			BufferedInputStream raw = new BufferedInputStream(counter, BUFFER);
			raw.mark(Integer.BYTES);
			byte[] magic = raw.readNBytes(Integer.BYTES);
			raw.reset();
			int first = 0;
			for (int i = 0; i < Integer.BYTES; i++) {
				first = first << Byte.SIZE | (i < magic.length ? magic[i] & 0xff : 0);
			}
			if (first == ZSTD) {
				in = new BufferedInputStream(new Decompressed(new ZstdInputStream(raw)), BUFFER);
			} else if (first >>> Short.SIZE == GZIP) {
				in = new BufferedInputStream(new Decompressed(new GZIPInputStream(raw, BUFFER)), BUFFER);
			} else {
				in = raw;
			}
		} catch (IOException | RuntimeException e) {
			stored.close();
			throw e;
		}
	}

	public InputStream stream() {
		return in;
	}

	/** Up to so many of the next bytes, which stay to be read. */
	byte[] peek(int length) throws IOException {
		in.mark(length);
		byte[] head = new byte[length];
		int n = 0;
		try {
			for (int r = in.read(head, 0, length); r >= 0 && n < length; r = in.read(head, n, length - n)) {
				n += r;
			}
		} catch (IOException e) {
			if (n == 0) {
				throw e;
			} // what could be read is enough
		}
		in.reset();
		return java.util.Arrays.copyOf(head, n);
	}

	/** Bytes read so far, as they are stored. */
	public long bytes() {
		return counter.bytes;
	}

	@Override
	public void close() throws IOException {
		in.close();
	}
}
