// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.UnsupportedVersionException;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;

/**
 * The blocks of a chunk of records (docs/reference/trace-records.md), one after the other. What is damaged is passed over, to the next
 * whole block, and told to who takes the blocks. Not safe for several threads.
 */
public final class RecordFile {
	/** How the name of such a chunk ends. */
	public static final String SUFFIX = ".mtr";
	/** The first characters of such a file. */
	public static final String MAGIC = "\u0089MTR";
	private static final int VERSION = 1;
	/** Bytes of the head of a block. */
	public static final int HEAD = 48;
	private static final int BYTES_AT = 8;
	private static final int HEAD_CRC_AT = 44;
	private static final int PLAIN = 0;
	private static final int PACKED = 1;
	/** Of a packed block. */
	private static final int MOST_CONTENT = 1 << 20;
	/** Longer than any block. */
	private static final int WINDOW = 2 << 20;
	private static final int FIRST_BYTE = 0x89;
	private static final int MAGIC_NUMBER = 0x52544d89;
	private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	/** Takes what is in a file. */
	interface Sink {
		/** @param offset of the block in the file, of the packed one that it is in */
		void block(RecordBlock block, long startNs, long endNs, long offset) throws MemtraceException, InterruptedException;

		/**
		 * Some bytes are no whole block.
		 *
		 * @param records that were in them, as far as that is known
		 */
		void damaged(long offset, long bytes, long records) throws MemtraceException;

		/** The file ends within a block. */
		void cut(long offset, long records) throws MemtraceException;
	}

	private enum Step {
		BLOCK, END, DAMAGED, CUT
	}

	private final InputStream in;
	private final String name;
	private final byte[] window = new byte[WINDOW];
	private final CRC32C crc = new CRC32C();
	private final RecordBlock block = new RecordBlock();
	private byte[] content;
	private int position;
	private int limit;
	/** Of the window in the file. */
	private long windowOffset;
	/** Records of the file that were read, or are lost. */
	private long expected;
	private boolean atEnd;
	// of the head that was read last
	private int version;
	private int kind;
	private int bytes;
	private int records;
	private long startNs;
	private long endNs;
	private long before;
	private int payloadCrc;

	/** @param name the file as the user knows it */
	RecordFile(InputStream in, String name) {
		this.in = in;
		this.name = name;
	}

	/** Whether a stream, which can be marked, begins as such a file. */
	static boolean begins(InputStream in) throws IOException {
		in.mark(MAGIC.length());
		byte[] first = in.readNBytes(MAGIC.length());
		in.reset();
		return new String(first, java.nio.charset.StandardCharsets.ISO_8859_1).equals(MAGIC);
	}

	/** Hands on all blocks. */
	void read(Sink sink) throws IOException, MemtraceException, InterruptedException {
		try (ZstdDecompressCtx zstd = new ZstdDecompressCtx()) {
			while (true) {
				long offset = windowOffset + position;
				switch (step()) {
				case END -> {
					return;
				}
				case CUT -> {
					sink.cut(offset, records);
					return;
				}
				case DAMAGED -> {
					sink.damaged(offset, windowOffset + position - offset, records);
					expected += records;
				}
				case BLOCK -> {
					block(sink, offset, zstd);
					position += HEAD + bytes;
				}
				}
			}
		}
	}

	private void block(Sink sink, long offset, ZstdDecompressCtx zstd) throws MemtraceException, InterruptedException {
		if (version > VERSION) {
			throw new UnsupportedVersionException(name, version, VERSION);
		}
		if (before > expected) {
			sink.damaged(offset, 0, before - expected);
		}
		int all = records;
		long next = before + all;
		int length = bytes;
		try {
			if (kind == PACKED) {
				packed(sink, offset, zstd);
			} else if (kind == PLAIN) {
				block.read(window, position + HEAD, position + HEAD + bytes, records);
				sink.block(block, startNs, endNs, offset);
			} else {
				throw new RecordBlock.Damage();
			}
		} catch (RecordBlock.Damage | ZstdException e) {
			sink.damaged(offset, HEAD + length, all);
		}
		bytes = length;
		expected = next;
	}

	/** All blocks of a packed one, or none. */
	private void packed(Sink sink, long offset, ZstdDecompressCtx zstd) throws RecordBlock.Damage, MemtraceException, InterruptedException {
		if (content == null) {
			content = new byte[MOST_CONTENT];
		}
		int n = zstd.decompressByteArray(content, 0, content.length, window, position + HEAD, bytes);
		int of = records;
		int sum = 0;
		for (int at = 0; at < n; at += HEAD + bytes) {
			if (n - at < HEAD || !head(content, at) || kind != PLAIN || bytes > n - at - HEAD
					|| crcOf(content, at + HEAD, bytes, crc) != payloadCrc) {
				throw new RecordBlock.Damage();
			}
			sum += records;
			block.read(content, at + HEAD, at + HEAD + bytes, records);
		}
		if (sum != of) {
			throw new RecordBlock.Damage();
		}
		for (int at = 0; at < n; at += HEAD + bytes) {
			head(content, at);
			block.read(content, at + HEAD, at + HEAD + bytes, records);
			sink.block(block, startNs, endNs, offset);
		}
	}

	/** What stands here: a whole block, all of it in the window; or what is no whole block, which is passed over. */
	private Step step() throws IOException {
		long begin = windowOffset + position;
		if (has(1) == 0) {
			return Step.END;
		}
		boolean whole = false;
		boolean isHead = isHead();
		if (isHead) {
			whole = has(HEAD + bytes) >= HEAD + bytes;
			if (whole && crcOf(window, position + HEAD, bytes, crc) == payloadCrc) {
				return Step.BLOCK;
			}
		}
		int lost = isHead ? records : 0;
		boolean found = findHead();
		records = lost;
		if (found) {
			return Step.DAMAGED;
		}
		// a writer that was killed leaves a head, or a part of one, and not all that is to be behind it
		return isHead && !whole || windowOffset + position - begin < HEAD ? Step.CUT : Step.DAMAGED;
	}

	private boolean findHead() throws IOException {
		while (has(HEAD + 1) > HEAD) {
			int p = position + 1;
			while (p < limit && (window[p] & 0xff) != FIRST_BYTE) {
				p++;
			}
			position = Math.min(p, limit - 1);
			if (p < limit && isHead()) {
				return true;
			}
		}
		position = limit;
		return false;
	}

	private boolean isHead() throws IOException {
		return has(HEAD) >= HEAD && head(window, position) && bytes >= 0 && bytes <= WINDOW - HEAD && records >= 0;
	}

	/** Bytes of the block whose head stands there, with the head; -1 when there is none. */
	public static int blockLength(byte[] b, int at) {
		int length = isHead(b, at, new CRC32C()) ? (int) INT.get(b, at + BYTES_AT) : -1;
		return length < 0 || length > WINDOW - HEAD ? -1 : HEAD + length;
	}

	private static boolean isHead(byte[] b, int at, CRC32C crc) {
		return (int) INT.get(b, at) == MAGIC_NUMBER && (int) INT.get(b, at + HEAD_CRC_AT) == crcOf(b, at, HEAD_CRC_AT, crc);
	}

	private boolean head(byte[] b, int at) {
		if (!isHead(b, at, crc)) {
			return false;
		}
		version = b[at + 4] & 0xff;
		kind = b[at + 5] & 0xff;
		bytes = (int) INT.get(b, at + BYTES_AT);
		records = (int) INT.get(b, at + 12);
		startNs = (long) LONG.get(b, at + 16);
		endNs = (long) LONG.get(b, at + 24);
		before = (long) LONG.get(b, at + 32);
		payloadCrc = (int) INT.get(b, at + 40);
		return true;
	}

	private static int crcOf(byte[] b, int from, int length, CRC32C crc) {
		crc.reset();
		crc.update(b, from, length);
		return (int) crc.getValue();
	}

	/** Makes so many bytes be in the window, if the file has them; how many are. */
	private int has(int n) throws IOException {
		if (limit - position < n && !atEnd) {
			System.arraycopy(window, position, window, 0, limit - position);
			windowOffset += position;
			limit -= position;
			position = 0;
			while (limit < n && !atEnd) {
				int got = in.read(window, limit, window.length - limit);
				atEnd = got < 0;
				limit += Math.max(0, got);
			}
		}
		return limit - position;
	}
}
