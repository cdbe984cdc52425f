// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Arrays;
import java.util.zip.CRC32C;

import org.memtrace.model.store.AccessBatch;

import com.github.luben.zstd.ZstdCompressCtx;

/** Codes the rows of a chunk. Keeps its memory from chunk to chunk; used by one thread at a time. */
final class ChunkEncoder implements AutoCloseable {
	/** Higher levels take twice the time for 2 to 4 % fewer bytes of columns whose last bits are noise. */
	private static final int LEVEL = 1;
	/** Bytes that are stored as they are. */
	static final int RAW = 0;
	/** Length without compression, then a zstd frame. */
	static final int ZSTD = 1;
	/** Smaller ones are not compressed. */
	private static final int LEAST_BYTES = 32;

	/** A chunk: what the index says, and the bytes of each column, null for one without. */
	record Encoded(ChunkEntry entry, byte[][] data) {
	}

	@SuppressWarnings("resource") // closed with this
	private final ZstdCompressCtx zstd = new ZstdCompressCtx().setLevel(LEVEL);
	private final Numbers numbers = new Numbers();
	private final Bytes plain = new Bytes(1 << 16);
	private byte[] packed = new byte[0];
	private long[] values = new long[0];
	private long[] starts = new long[0];
	private long[] ends = new long[0];
	private int[] time = new int[0];
	private int[] table = new int[0];
	private long[] keys = new long[0];

	private ChunkEntry.Columns columns;
	private byte[][] data;

	/**
	 * @param rows the rows, of which {@link AccessBatch#producer} is the cell
	 * @param order rows in the order of leaf, start, end
	 * @param n number of rows, at least 1
	 * @param leafOfCell leaf of each cell: ascending in this order
	 */
	Encoded encode(AccessBatch rows, int[] order, int n, int[] leafOfCell) {
		if (values.length < n) {
			values = new long[n];
			starts = new long[n];
			ends = new long[n];
			time = new int[n];
		}
		data = new byte[StoredColumn.COUNT][];
		int leaves = 1;
		for (int i = 1; i < n; i++) {
			leaves += leafOfCell[rows.producer[order[i]]] != leafOfCell[rows.producer[order[i - 1]]] ? 1 : 0;
		}
		int times = times(rows, order, n);
		columns = new ChunkEntry.Columns(leaves, times);
		int[] cells = leaves(rows, order, n, leaves, leafOfCell);
		writeTimes(times, n);
		column(StoredColumn.THREAD, ints(rows.thread, order, n), n, false);
		cpuSets(rows, order, n);
		column(StoredColumn.READS, longs(rows.reads, order, n), n, false);
		column(StoredColumn.WRITES, longs(rows.writes, order, n), n, false);
		column(StoredColumn.SHARING, ints(rows.sharing, order, n), n, false);
		column(StoredColumn.NODE, ints(rows.node, order, n), n, false);
		column(StoredColumn.FLAGS, ints(rows.flags, order, n), n, false);
		column(StoredColumn.IP, longs(rows.ip, order, n), n, false);
		offsets(StoredColumn.READ_OFFSET, rows.reads, rows.readOffset, order, n);
		offsets(StoredColumn.WRITE_OFFSET, rows.writes, rows.writeOffset, order, n);
		column(StoredColumn.FIRST, longs(rows.firstNs, order, n), n, false);
		int t = StoredColumn.TIMES.ordinal();
		return new Encoded(new ChunkEntry(n, cells[0], cells[1] + 1, starts[0], starts[times - 1], columns.max()[t],
				columns.sum()[StoredColumn.READS.ordinal()], columns.sum()[StoredColumn.WRITES.ordinal()], columns.pack()), data);
	}

	private long[] ints(int[] column, int[] order, int n) {
		for (int i = 0; i < n; i++) {
			values[i] = column[order[i]];
		}
		return values;
	}

	private long[] longs(long[] column, int[] order, int n) {
		for (int i = 0; i < n; i++) {
			values[i] = column[order[i]];
		}
		return values;
	}

	/** Smallest and largest cell. */
	private int[] leaves(AccessBatch rows, int[] order, int n, int leaves, int[] leafOfCell) {
		long[] first = new long[leaves];
		long[] counts = new long[leaves];
		long[] offset = values;
		int leaf = -1;
		int min = Integer.MAX_VALUE;
		int max = 0;
		for (int i = 0; i < n; i++) {
			int cell = rows.producer[order[i]];
			if (i == 0 || leafOfCell[cell] != leafOfCell[rows.producer[order[i - 1]]]) {
				first[++leaf] = cell;
			}
			first[leaf] = Math.min(first[leaf], cell);
			counts[leaf]++;
			min = Math.min(min, cell);
			max = Math.max(max, cell);
		}
		int row = 0;
		for (int l = 0; l < leaves; l++) {
			for (long k = counts[l]; k > 0; k--, row++) {
				offset[row] = rows.producer[order[row]] - first[l];
			}
		}
		column(StoredColumn.CELL, offset, n, false);
		plain.length = 0;
		numbers.encode(first, leaves, true, plain);
		numbers.encode(counts, leaves, false, plain);
		int c = StoredColumn.LEAVES.ordinal();
		columns.min()[c] = min;
		columns.max()[c] = max;
		columns.sum()[c] = n;
		store(c);
		return new int[] {min, max};
	}

	/** Fills {@link #starts}, {@link #ends} and {@link #time}; returns how many different times there are. */
	private int times(AccessBatch rows, int[] order, int n) {
		int size = Integer.highestOneBit(Math.max(1, n)) * 4;
		if (table.length < size) {
			table = new int[size];
		} else {
			Arrays.fill(table, 0, size, 0);
		}
		int count = 0;
		int last = -1;
		for (int i = 0; i < n; i++) {
			long start = rows.startNs[order[i]];
			long end = rows.endNs[order[i]];
			if (last < 0 || starts[last] != start || ends[last] != end) {
				int slot = (int) ((start * 0x9e3779b97f4a7c15L + end) * 0xc2b2ae3d27d4eb4fL >>> 32) & size - 1;
				while (table[slot] != 0 && (starts[table[slot] - 1] != start || ends[table[slot] - 1] != end)) {
					slot = slot + 1 & size - 1;
				}
				if (table[slot] == 0) {
					starts[count] = start;
					ends[count] = end;
					table[slot] = ++count;
				}
				last = table[slot] - 1;
			}
			time[i] = last;
		}
		int[] sorted = sortTimes(count);
		long[] s = new long[count];
		long[] e = new long[count];
		int[] place = new int[count];
		for (int k = 0; k < count; k++) {
			s[k] = starts[sorted[k]];
			e[k] = ends[sorted[k]];
			place[sorted[k]] = k;
		}
		System.arraycopy(s, 0, starts, 0, count);
		System.arraycopy(e, 0, ends, 0, count);
		for (int i = 0; i < n; i++) {
			time[i] = place[time[i]];
		}
		return count;
	}

	/** Numbers of times by start and end. */
	private int[] sortTimes(int count) {
		long min = Long.MAX_VALUE;
		long max = Long.MIN_VALUE;
		for (int k = 0; k < count; k++) {
			min = Math.min(min, starts[k]);
			max = Math.max(max, starts[k]);
		}
		int bits = 32 - Integer.numberOfLeadingZeros(count);
		int[] sorted = new int[count];
		if (max - min >= 0 && max - min < 1L << 62 - bits) {
			if (keys.length < count) {
				keys = new long[Math.max(count, values.length)];
			}
			for (int k = 0; k < count; k++) {
				keys[k] = starts[k] - min << bits | k;
			}
			Arrays.sort(keys, 0, count);
			for (int k = 0; k < count; k++) {
				sorted[k] = (int) keys[k] & (1 << bits) - 1;
			}
		} else {
			Arrays.setAll(sorted, k -> k);
		}
		IntSort.sort(sorted, 0, count, (a, b) -> {
			int c = Long.compare(starts[a], starts[b]);
			return c != 0 ? c : Long.compare(ends[a], ends[b]);
		});
		return sorted;
	}

	private void writeTimes(int times, int n) {
		long end = Long.MIN_VALUE;
		for (int i = 0; i < n; i++) {
			values[i] = time[i];
		}
		column(StoredColumn.TIME, values, n, true);
		plain.length = 0;
		numbers.encode(starts, times, true, plain);
		for (int k = 0; k < times; k++) {
			values[k] = ends[k] - starts[k];
			end = Math.max(end, ends[k]);
		}
		numbers.encode(values, times, false, plain);
		int c = StoredColumn.TIMES.ordinal();
		columns.min()[c] = starts[0];
		columns.max()[c] = end;
		columns.sum()[c] = times;
		store(c);
	}

	/** The usual set of each thread, then for each row 0 if it has that one, else the number of its set plus 2. */
	private void cpuSets(AccessBatch rows, int[] order, int n) {
		long min = Long.MAX_VALUE;
		long max = Long.MIN_VALUE;
		long sum = 0;
		int threads = 0;
		for (int i = 0; i < n; i++) {
			int set = rows.cpuSet[order[i]];
			min = Math.min(min, set);
			max = Math.max(max, set);
			sum += set;
			threads = Math.max(threads, rows.thread[order[i]] + 2);
		}
		int c = StoredColumn.CPU_SET.ordinal();
		columns.min()[c] = min;
		columns.max()[c] = max;
		columns.sum()[c] = sum;
		if (min == max) {
			return;
		}
		long[] usual = new long[threads];
		int[] votes = new int[threads];
		Arrays.fill(usual, -1);
		for (int i = 0; i < n; i++) { // the one that has a majority, if there is one (Boyer and Moore)
			int thread = rows.thread[order[i]] + 1;
			int set = rows.cpuSet[order[i]];
			if (votes[thread] == 0) {
				usual[thread] = set;
			}
			votes[thread] += usual[thread] == set ? 1 : -1;
		}
		for (int i = 0; i < n; i++) {
			int set = rows.cpuSet[order[i]];
			values[i] = usual[rows.thread[order[i]] + 1] == set ? 0 : set + 2L;
		}
		plain.length = 0;
		plain.unsigned(threads);
		numbers.encode(usual, threads, false, plain);
		numbers.encode(values, n, false, plain);
		store(c);
	}

	/** Offsets of the rows with a count, as one column. */
	private void offsets(StoredColumn column, long[] count, int[] offset, int[] order, int n) {
		int k = 0;
		for (int i = 0; i < n; i++) {
			if (count[order[i]] > 0) {
				values[k++] = offset[order[i]];
			}
		}
		if (k > 0) {
			column(column, values, k, false);
		} else {
			columns.min()[column.ordinal()] = AccessBatch.NO_OFFSET;
			columns.max()[column.ordinal()] = AccessBatch.NO_OFFSET;
		}
	}

	private void column(StoredColumn column, long[] v, int n, boolean ordered) {
		int c = column.ordinal();
		long min = v[0];
		long max = v[0];
		long sum = 0;
		for (int i = 0; i < n; i++) {
			min = Math.min(min, v[i]);
			max = Math.max(max, v[i]);
			sum += v[i];
		}
		columns.min()[c] = min;
		columns.max()[c] = max;
		columns.sum()[c] = sum;
		if (min == max) {
			return;
		}
		plain.length = 0;
		numbers.encode(v, n, ordered, plain);
		store(c);
	}

	/** Compresses {@link #plain}. */
	private void store(int column) {
		byte[] bytes = null;
		if (plain.length >= LEAST_BYTES) {
			int bound = (int) com.github.luben.zstd.Zstd.compressBound(plain.length) + 16;
			if (packed.length < bound) {
				packed = new byte[bound];
			}
			Bytes head = new Bytes(16);
			head.add(ZSTD);
			head.unsigned(plain.length);
			int size = zstd.compressByteArray(packed, head.length, packed.length - head.length, plain.array, 0, plain.length);
			if (size + head.length <= plain.length) {
				System.arraycopy(head.array, 0, packed, 0, head.length);
				bytes = Arrays.copyOf(packed, head.length + size);
			}
		}
		if (bytes == null) {
			bytes = new byte[plain.length + 1];
			bytes[0] = RAW;
			System.arraycopy(plain.array, 0, bytes, 1, plain.length);
		}
		data[column] = bytes;
		columns.length()[column] = bytes.length;
		columns.crc()[column] = crc(bytes);
	}

	static int crc(byte[] bytes) {
		CRC32C crc = new CRC32C();
		crc.update(bytes);
		return (int) crc.getValue();
	}

	@Override
	public void close() {
		zstd.close();
	}
}
