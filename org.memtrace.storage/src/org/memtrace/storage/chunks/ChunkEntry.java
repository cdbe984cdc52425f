// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.zip.CRC32C;

import org.memtrace.model.store.AccessBatch;
import org.memtrace.storage.chunks.ByteReader.FormatError;

/**
 * What the index says of a chunk. Minimum, maximum and sum (modulo 2^64) are those of the values of a stored column; code addresses are
 * compared as signed numbers. A column whose values are all the same has no bytes: its length is 0.
 *
 * @param rows number of rows
 * @param cellFrom first cell
 * @param cellTo cell after the last
 * @param startNs earliest start
 * @param lastStartNs latest start
 * @param endNs latest end
 * @param reads sum of the reads
 * @param writes sum of the writes
 * @param columns {@link Columns}, packed
 */
public record ChunkEntry(int rows, int cellFrom, int cellTo, long startNs, long lastStartNs, long endNs, long reads, long writes,
		byte[] columns) {
	/** Largest number of rows that a chunk may have. */
	public static final int MOST_ROWS = 1 << 20;

	/** Of each column: smallest and largest value, sum, length in bytes, CRC32C of the bytes. */
	record Columns(int leaves, int times, long[] min, long[] max, long[] sum, int[] length, int[] crc) {
		Columns(int leaves, int times) {
			this(leaves, times, new long[StoredColumn.COUNT], new long[StoredColumn.COUNT], new long[StoredColumn.COUNT],
					new int[StoredColumn.COUNT], new int[StoredColumn.COUNT]);
		}

		byte[] pack() {
			Bytes out = new Bytes(256);
			out.unsigned(leaves);
			out.unsigned(times);
			for (int c = 0; c < StoredColumn.COUNT; c++) {
				out.signed(min[c]);
				out.unsigned(max[c] - min[c]);
				out.signed(sum[c]);
				out.unsigned(length[c]);
				if (length[c] > 0) {
					out.unsigned(crc[c] & 0xffffffffL);
				}
			}
			return out.toArray();
		}
	}

	/** @throws FormatError when the bytes are not what {@link Columns#pack} wrote */
	Columns unpack() {
		if (columns == null) {
			throw new FormatError("nothing is known of its columns");
		}
		ByteReader in = new ByteReader(columns, 0, columns.length);
		Columns found = new Columns(in.count(rows), in.count(rows));
		for (int c = 0; c < StoredColumn.COUNT; c++) {
			if (c == StoredColumn.FIRST.ordinal() && in.position == in.end) {
				found.min[c] = AccessBatch.NO_FIRST;
				found.max[c] = AccessBatch.NO_FIRST;
				found.sum[c] = rows * AccessBatch.NO_FIRST;
				break;
			}
			found.min[c] = in.signed();
			found.max[c] = found.min[c] + in.unsigned();
			found.sum[c] = in.signed();
			found.length[c] = in.count(Integer.MAX_VALUE);
			found.crc[c] = found.length[c] > 0 ? (int) in.unsigned() : 0;
		}
		return found;
	}

	/** Whether of a row it is not known whether its page was shared. */
	public boolean sharingNotKnown() {
		return unpack().min[StoredColumn.SHARING.ordinal()] == AccessBatch.SHARING_NOT_KNOWN;
	}

	/** Adds the entry to a checksum of the index. */
	public void update(CRC32C crc) {
		Bytes out = new Bytes(128);
		for (long v : new long[] {rows, cellFrom, cellTo, startNs, lastStartNs, endNs, reads, writes}) {
			out.signed(v);
		}
		crc.update(out.array, 0, out.length);
		if (columns != null) {
			crc.update(columns);
		}
	}
}
