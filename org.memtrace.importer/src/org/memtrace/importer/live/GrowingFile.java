// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;

import org.memtrace.model.RegularFile;

/**
 * The whole lines of a file with a header that another process appends to. What stands behind the last LF is left for the next time. The
 * file stays open, so that it can be read to its end after it was compressed and removed.
 */
final class GrowingFile implements Growing {
	private static final int LONGEST_HEADER = 1 << 16;
	private static final int LONGEST_FIRST_LINE = 1 << 20;
	/** Bytes that are read at once: more than the longest line that is used. */
	private static final int BLOCK = 4 << 20;

	private final RandomAccessFile file;
	private byte[] header;
	private long offset;
	private boolean begun;
	/** Whether what comes next is the rest of a line that is longer than a block. */
	private boolean within;
	private long passedLines;

	GrowingFile(Path path) throws IOException {
		file = new RandomAccessFile(RegularFile.check(path).toFile(), "r");
	}

	/** Bytes that are there and not yet read, the incomplete last line among them. */
	long behind() throws IOException {
		return Math.max(0, file.length() - offset);
	}

	@Override
	public long skipTo(int keep) throws IOException {
		long passed = behind() - keep;
		if (passed <= 0 || !readHeader()) {
			return 0;
		}
		offset += passed;
		byte[] bytes = new byte[(int) Math.min(keep, LONGEST_HEADER)];
		int n = read(bytes);
		int lf = indexOf(bytes, 0, n);
		offset += lf + 1; // without an LF the parser drops what is left of the line
		return passed;
	}

	/** The header and the whole lines that are new. */
	@Override
	public byte[] lines() throws IOException {
		if (!readHeader()) {
			return null;
		}
		while (true) {
			byte[] bytes = new byte[header.length + (int) Math.min(BLOCK, behind())];
			System.arraycopy(header, 0, bytes, 0, header.length);
			int n = read(bytes, header.length);
			int end = n;
			while (end > header.length && bytes[end - 1] != '\n') {
				end--;
			}
			if (within) {
				int lf = indexOf(bytes, header.length, n);
				within = lf < 0;
				offset += (within ? n : lf + 1) - header.length;
				passedLines += within ? 0 : 1;
				if (within && n - header.length < BLOCK) {
					return null;
				}
			} else if (end == header.length && n - end == BLOCK) {
				within = true; // no line is so long
				offset += BLOCK;
			} else {
				offset += end - header.length;
				return end == header.length ? null : Arrays.copyOf(bytes, end);
			}
		}
	}

	/** Lines so far that were longer than a block, and are given to nobody. */
	long passedLines() {
		return passedLines;
	}

	private boolean readHeader() throws IOException {
		if (begun) {
			return true;
		}
		byte[] bytes = new byte[(int) Math.min(LONGEST_FIRST_LINE, file.length())];
		int n = read(bytes);
		int lf = indexOf(bytes, 0, n);
		if (lf < 0 && n == LONGEST_FIRST_LINE) {
			throw new IOException("its first line is longer than 1 MiB");
		}
		if (lf < 0) {
			return false;
		}
		header = Arrays.copyOf(bytes, lf + 1);
		offset = lf + 1L;
		begun = true;
		return true;
	}

	private int read(byte[] bytes) throws IOException {
		return read(bytes, 0);
	}

	/** Fills the array from an index on with what comes next; returns the end. */
	private int read(byte[] bytes, int from) throws IOException {
		int n = from;
		file.seek(offset);
		for (int got; n < bytes.length && (got = file.read(bytes, n, bytes.length - n)) > 0; n += got) {
			// until all is there, or the end
		}
		return n;
	}

	private static int indexOf(byte[] bytes, int from, int n) {
		for (int i = from; i < n; i++) {
			if (bytes[i] == '\n') {
				return i;
			}
		}
		return -1;
	}

	@Override
	public void close() throws IOException {
		file.close();
	}
}
