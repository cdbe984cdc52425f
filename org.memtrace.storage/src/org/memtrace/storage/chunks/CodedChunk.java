// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import org.memtrace.model.StoreException;

/**
 * A chunk by itself.
 *
 * @param data bytes of each column, null for one without
 * @param longestNs at least the longest duration of its rows, at most that of all rows of the trace
 * @param unknownThread whether there are rows without a thread, in it or in one that was coded with it
 */
public record CodedChunk(ChunkEntry entry, byte[][] data, long longestNs, boolean unknownThread) {
	/** All of it. */
	public byte[] bytes() {
		int size = 256 + entry.columns().length;
		for (byte[] column : data) {
			size += column == null ? 1 : column.length + 6;
		}
		Bytes out = new Bytes(size);
		out.add(unknownThread ? 1 : 0);
		out.unsigned(longestNs);
		for (long v : new long[] {entry.rows(), entry.cellFrom(), entry.cellTo(), entry.startNs(), entry.lastStartNs(), entry.endNs(),
				entry.reads(), entry.writes()}) {
			out.signed(v);
		}
		add(out, entry.columns());
		for (byte[] column : data) {
			add(out, column);
		}
		return out.toArray();
	}

	private static void add(Bytes out, byte[] bytes) {
		out.unsigned(bytes == null ? 0 : bytes.length + 1L);
		if (bytes != null) {
			out.reserve(bytes.length);
			System.arraycopy(bytes, 0, out.array, out.length, bytes.length);
			out.length += bytes.length;
		}
	}

	/** Reads what {@link #bytes} wrote. */
	public static CodedChunk of(byte[] bytes) throws StoreException {
		try {
			ByteReader in = new ByteReader(bytes, 0, bytes.length);
			boolean unknownThread = in.next() == 1;
			long longestNs = in.unsigned();
			ChunkEntry entry = new ChunkEntry((int) in.signed(), (int) in.signed(), (int) in.signed(), in.signed(), in.signed(), in.signed(),
					in.signed(), in.signed(), column(in));
			byte[][] data = new byte[StoredColumn.COUNT][];
			for (int c = 0; c < data.length; c++) {
				data[c] = column(in);
			}
			return new CodedChunk(entry, data, longestNs, unknownThread);
		} catch (ByteReader.FormatError e) {
			throw new StoreException("a chunk of accesses is damaged: " + e.getMessage(), e);
		}
	}

	private static byte[] column(ByteReader in) {
		long length = in.unsigned();
		if (length == 0) {
			return null;
		}
		int at = in.skip(length - 1);
		return java.util.Arrays.copyOfRange(in.array, at, in.position);
	}
}
