// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Arrays;

import org.memtrace.importer.memtrace.RecordFile;
import org.memtrace.model.RegularFile;

/** The whole blocks of a chunk of records (docs/reference/trace-records.md). It stays open, so that it can be read after it was packed. */
final class GrowingBlocks implements Growing {
	/** Bytes that are read at once: more than the longest block. */
	private static final int MOST = 4 << 20;

	private final RandomAccessFile file;
	private long offset;

	GrowingBlocks(Path path) throws IOException {
		file = new RandomAccessFile(RegularFile.check(path).toFile(), "r");
	}

	@Override
	public long skipTo(int keep) throws IOException {
		byte[] head = new byte[RecordFile.HEAD];
		long size = file.length();
		while (size - offset > keep && read(head) == head.length) {
			int length = RecordFile.blockLength(head, 0);
			if (length < 0 || size - offset - length < 0) {
				break;
			}
			offset += length;
		}
		return offset;
	}

	@Override
	public byte[] lines() throws IOException {
		byte[] bytes = new byte[(int) Math.min(MOST, Math.max(0, file.length() - offset))];
		int n = read(bytes);
		int end = 0;
		while (n - end >= RecordFile.HEAD) {
			int length = RecordFile.blockLength(bytes, end);
			if (length < 0) { // damaged: who reads it tells that
				end = n;
				break;
			}
			if (length > n - end) {
				break;
			}
			end += length;
		}
		offset += end;
		return end == 0 ? null : Arrays.copyOf(bytes, end);
	}

	private int read(byte[] bytes) throws IOException {
		int n = 0;
		file.seek(offset);
		for (int got; n < bytes.length && (got = file.read(bytes, n, bytes.length - n)) > 0; n += got) {
			// until all is there, or the end
		}
		return n;
	}

	@Override
	public void close() throws IOException {
		file.close();
	}
}
