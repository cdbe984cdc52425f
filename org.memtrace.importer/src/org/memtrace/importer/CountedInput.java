// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import com.github.luben.zstd.ZstdInputStream;

/** Opens a file, plain or compressed, and counts the bytes that are read from it. */
final class CountedInput implements AutoCloseable {
	private static final class Counter extends FilterInputStream {
		private volatile long bytes;

		Counter(InputStream in) {
			super(in);
		}

		@Override
		public int read() throws IOException {
			int b = super.read();
			bytes += b < 0 ? 0 : 1;
			return b;
		}

		@Override
		public int read(byte[] buffer, int offset, int length) throws IOException {
			int n = super.read(buffer, offset, length);
			bytes += Math.max(n, 0);
			return n;
		}
	}

	private final Counter counter;
	private final InputStream in;

	CountedInput(Path file) throws IOException {
		counter = new Counter(Files.newInputStream(file));
		InputStream content = counter;
		if (file.toString().endsWith(".zst")) {
			try {
				// a frame that is not complete ends the data, it is no error
				content = new ZstdInputStream(counter).setContinuous(true);
			} catch (IOException | RuntimeException e) {
				counter.close();
				throw e;
			}
		}
		in = content;
	}

	InputStream stream() {
		return in;
	}

	long bytes() {
		return counter.bytes;
	}

	@Override
	public void close() throws IOException {
		in.close();
	}
}
