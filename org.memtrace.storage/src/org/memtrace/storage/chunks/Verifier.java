// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import org.memtrace.model.columns.AccessChunk;
import org.memtrace.storage.chunks.ByteReader.FormatError;

/** Compares the rows of a chunk with what its entry in the index says of them. */
final class Verifier {
	private final ChunkEntry entry;
	private final ChunkEntry.Columns columns;
	private final AccessChunk chunk;
	private final ChunkCells cells;

	Verifier(ChunkEntry entry, ChunkEntry.Columns columns, AccessChunk chunk, ChunkCells cells) {
		this.entry = entry;
		this.columns = columns;
		this.chunk = chunk;
		this.cells = cells;
	}

	void check() {
		for (int t = 0; t < chunk.times; t++) {
			require(chunk.timeStartNs[t] < chunk.timeEndNs[t] && (t == 0 || chunk.timeStartNs[t - 1] < chunk.timeStartNs[t]
					|| chunk.timeStartNs[t - 1] == chunk.timeStartNs[t] && chunk.timeEndNs[t - 1] < chunk.timeEndNs[t]),
					"its times are not in order");
		}
		long end = Long.MIN_VALUE;
		for (int t = 0; t < chunk.times; t++) {
			end = Math.max(end, chunk.timeEndNs[t]);
		}
		require(entry.startNs() == chunk.timeStartNs[0] && entry.lastStartNs() == chunk.timeStartNs[chunk.times - 1]
				&& entry.endNs() == end, "its times are not those of the index");
		for (int l = 0; l < chunk.leaves; l++) {
			require(l == 0 || chunk.leaf[l - 1] < chunk.leaf[l], "its pages are not in order");
			for (int r = chunk.leafFrom[l]; r < chunk.leafFrom[l + 1]; r++) {
				require(chunk.time[r] >= 0 && chunk.time[r] < chunk.times, "an access has no time");
				require(r == chunk.leafFrom[l] || chunk.time[r - 1] <= chunk.time[r], "its accesses are not in order");
			}
		}
		values(StoredColumn.READS, i -> chunk.reads[i]);
		values(StoredColumn.WRITES, i -> chunk.writes[i]);
		values(StoredColumn.THREAD, i -> chunk.thread[i]);
		values(StoredColumn.CPU_SET, i -> chunk.cpuSet[i]);
		values(StoredColumn.SHARING, i -> chunk.sharing[i]);
		values(StoredColumn.NODE, i -> chunk.node[i]);
		values(StoredColumn.FLAGS, i -> chunk.flags[i]);
		values(StoredColumn.IP, i -> chunk.ip[i]);
		values(StoredColumn.FIRST, i -> chunk.firstNs[i]);
		require(columns.sum()[StoredColumn.READS.ordinal()] == entry.reads()
				&& columns.sum()[StoredColumn.WRITES.ordinal()] == entry.writes(), "the sums of the index differ");
		int min = Integer.MAX_VALUE;
		int max = -1;
		for (int r = 0; r < chunk.rows; r++) {
			require(chunk.reads[r] >= 0 && chunk.writes[r] >= 0 && (chunk.reads[r] | chunk.writes[r]) > 0,
					"an access neither reads nor writes");
			require(chunk.sharing[r] >= 0, "an access is used by fewer than no threads");
			min = Math.min(min, cells.cell[r]);
			max = Math.max(max, cells.cell[r]);
		}
		require(min == entry.cellFrom() && max + 1 == entry.cellTo(), "its pages are not those of the index");
	}

	private interface Value {
		long of(int row);
	}

	private void values(StoredColumn column, Value value) {
		long min = Long.MAX_VALUE;
		long max = Long.MIN_VALUE;
		long sum = 0;
		for (int r = 0; r < chunk.rows; r++) {
			long v = value.of(r);
			min = Math.min(min, v);
			max = Math.max(max, v);
			sum += v;
		}
		int c = column.ordinal();
		require(min == columns.min()[c] && max == columns.max()[c] && sum == columns.sum()[c],
				"the values of its column " + column + " are not those of the index");
	}

	private static void require(boolean ok, String otherwise) {
		if (!ok) {
			throw new FormatError(otherwise);
		}
	}
}
