// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.store.AccessBatch;

/**
 * The rows of one chunk in the order of start and id, in blocks of {@link #BLOCK_ROWS} rows. All rows of a block have the same length:
 * each value takes as many bytes as the largest difference to the smallest value of its column in this block needs. So any row
 * can be read alone. A block is a header (of each column its smallest value, 8 bytes, and its number of bytes, 1 byte), then the rows,
 * then room for reading 8 bytes anywhere.
 */
final class TimeRun {
	static final int BLOCK_ROWS = 512;
	/** Bytes of a row number: chunks have at most 2^20 rows. */
	static final int POSITION_BYTES = 3;

	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
	private static final int START = 0;
	private static final int DURATION = 1;
	private static final int ROW = 2;
	private static final int CELL = 3;
	private static final int THREAD = 4;
	private static final int CPU_SET = 5;
	private static final int READS = 6;
	private static final int WRITES = 7;
	private static final int SHARING = 8;
	private static final int NODE = 9;
	private static final int FLAGS = 10;
	private static final int IP = 11;
	private static final int READ_OFFSET = 12;
	private static final int WRITE_OFFSET = 13;
	private static final int FIRST = 14;
	private static final int COLUMNS = 15;
	private static final int HEADER = COLUMNS * 9;

	private TimeRun() {
	}

	/** Makes the blocks of a chunk. May be used again; by one thread at a time. */
	static final class Maker {
		private final long[][] values = new long[COLUMNS][BLOCK_ROWS];
		private int[] rank = {};
		private int[] from = {};
		private int[] order = {};

		/** First and last start of each block. */
		long[] firstNs;
		long[] lastNs;
		/** The blocks, one after the other; one begins where the one before ends. */
		byte[][] blocks;
		/** Where a row of the chunk is among the sorted ones, {@link #POSITION_BYTES} each. */
		byte[] positions;

		/** @param cell of each row */
		void make(AccessChunk c, int[] cell) {
			sort(c);
			int n = (c.rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
			firstNs = new long[n];
			lastNs = new long[n];
			blocks = new byte[n][];
			for (int b = 0; b < n; b++) {
				int first = b * BLOCK_ROWS;
				int rows = Math.min(BLOCK_ROWS, c.rows - first);
				gather(c, cell, first, rows);
				firstNs[b] = values[START][0];
				lastNs[b] = values[START][rows - 1];
				blocks[b] = pack(rows);
			}
			positions = new byte[c.rows * POSITION_BYTES];
			for (int k = 0; k < c.rows; k++) {
				int at = order[k] * POSITION_BYTES;
				positions[at] = (byte) k;
				positions[at + 1] = (byte) (k >> 8);
				positions[at + 2] = (byte) (k >> 16);
			}
		}

		/** By counting: a chunk knows its different times. */
		private void sort(AccessChunk c) {
			if (rank.length < c.times) {
				rank = new int[c.times];
				from = new int[c.times + 1]; // the rows before a rank; one more for counting
			}
			if (order.length < c.rows) {
				order = new int[c.rows];
			}
			int ranks = 0;
			for (int t = 0; t < c.times; t++) {
				if (t > 0 && c.timeStartNs[t] != c.timeStartNs[t - 1]) {
					ranks++;
				}
				rank[t] = ranks; // ends do not count
			}
			Arrays.fill(from, 0, ranks + 2, 0);
			for (int r = 0; r < c.rows; r++) {
				from[rank[c.time[r]] + 1]++;
			}
			for (int k = 1; k <= ranks; k++) {
				from[k] += from[k - 1];
			}
			for (int r = 0; r < c.rows; r++) {
				order[from[rank[c.time[r]]]++] = r;
			}
		}

		private void gather(AccessChunk c, int[] cell, int first, int rows) {
			for (int i = 0; i < rows; i++) {
				int r = order[first + i];
				int t = c.time[r];
				values[START][i] = c.timeStartNs[t];
				values[DURATION][i] = c.timeEndNs[t] - c.timeStartNs[t];
				values[ROW][i] = r;
				values[CELL][i] = cell[r];
				values[THREAD][i] = c.thread[r];
				values[CPU_SET][i] = c.cpuSet[r];
				values[READS][i] = c.reads[r];
				values[WRITES][i] = c.writes[r];
				values[SHARING][i] = c.sharing[r];
				values[NODE][i] = c.node[r];
				values[FLAGS][i] = c.flags[r];
				values[IP][i] = c.ip[r];
				values[READ_OFFSET][i] = c.readOffset[r];
				values[WRITE_OFFSET][i] = c.writeOffset[r];
				values[FIRST][i] = c.firstNs[r];
			}
		}

		private byte[] pack(int rows) {
			long[] min = new long[COLUMNS];
			int[] width = new int[COLUMNS];
			int length = 0;
			for (int c = 0; c < COLUMNS; c++) {
				long[] v = values[c];
				long low = v[0];
				long high = v[0];
				for (int i = 1; i < rows; i++) {
					low = Math.min(low, v[i]);
					high = Math.max(high, v[i]);
				}
				min[c] = low;
				width[c] = (71 - Long.numberOfLeadingZeros(high - low)) / 8;
				length += width[c];
			}
			byte[] block = new byte[HEADER + rows * length + 8];
			int place = HEADER;
			for (int c = 0; c < COLUMNS; c++) {
				LONG.set(block, c * 9, min[c]);
				block[c * 9 + 8] = (byte) width[c];
				long[] v = values[c];
				int w = width[c];
				for (int i = 0, at = place; i < rows; i++, at += length) {
					long x = v[i] - min[c];
					for (int k = 0; k < w; k++) {
						block[at + k] = (byte) (x >>> 8 * k);
					}
				}
				place += w;
			}
			return block;
		}
	}

	/** Reads the rows of a block. */
	static final class Block {
		final byte[] bytes;
		final int rows;
		private final long[] min = new long[COLUMNS];
		private final long[] mask = new long[COLUMNS];
		private final int[] at = new int[COLUMNS];
		private final int length;

		Block(byte[] bytes, int rows) {
			this.bytes = bytes;
			this.rows = rows;
			int place = HEADER;
			for (int c = 0; c < COLUMNS; c++) {
				min[c] = (long) LONG.get(bytes, c * 9);
				int width = bytes[c * 9 + 8];
				mask[c] = width == 8 ? -1 : (1L << 8 * width) - 1;
				at[c] = place;
				place += width;
			}
			length = place - HEADER;
		}

		private long value(int column, int row) {
			return ((long) LONG.get(bytes, at[column] + row * length) & mask[column]) + min[column];
		}

		long startNs(int i) {
			return value(START, i);
		}

		long durationNs(int i) {
			return value(DURATION, i);
		}

		/** Number of the row in its chunk. */
		int row(int i) {
			return (int) value(ROW, i);
		}

		int cell(int i) {
			return (int) value(CELL, i);
		}

		void addTo(AccessBatch to, int i, int id, int producer) {
			long start = startNs(i);
			to.add(start, start + durationNs(i), producer, (int) value(THREAD, i), (int) value(CPU_SET, i), value(READS, i), value(WRITES, i),
					(int) value(SHARING, i), (int) value(NODE, i), (int) value(FLAGS, i), value(IP, i), (int) value(READ_OFFSET, i),
					(int) value(WRITE_OFFSET, i), value(FIRST, i));
			to.id[to.count - 1] = id;
		}
	}
}
