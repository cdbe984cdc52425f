// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.util.Arrays;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.AccessBatch;

/**
 * Puts rows that come in order of time into blocks that are about few pages each, so that who needs some pages need not read all rows:
 * some 500,000 rows at a time are sorted by page. The rows of a page stay in the order in which they came.
 */
public final class PageRuns {
	/** Rows that are sorted together. */
	static final int RUN_ROWS = 1 << 19;
	private static final int RUN_BITS = 19;
	private static final int BLOCK_ROWS = 4096;

	/** Gets the blocks. */
	public interface Sink {
		/**
		 * @param bytes rows, of which the first {@code length} bytes count; valid during the call
		 * @param firstPage number of the first page
		 * @param lastPage number of the last page, by signed comparison
		 */
		void block(byte[] bytes, int length, int rows, long firstPage, long lastPage) throws MemtraceException;
	}

	/** Reads the rows of a block. */
	public static final class Rows {
		private final RowCode.Reader in = new RowCode.Reader();
		private int left;
		public final SpilledRow row = in.row;

		/** @param bytes what {@link Sink#block} got */
		public Rows(byte[] bytes, int rows) {
			in.continueIn(bytes);
			left = rows;
		}

		/** Goes to the next row; false at the end. */
		public boolean next() {
			if (left == 0) {
				return false;
			}
			left--;
			in.next();
			return true;
		}
	}

	private final Sink sink;
	private final int blockRows;
	private final AccessBatch rows;
	private final long[] page;
	private final RowCode.Writer code = new RowCode.Writer(BLOCK_ROWS * 16);
	private final SpilledRow row = new SpilledRow();

	/** @param most rows that will come at most */
	public PageRuns(long most, Sink sink) {
		this(most, RUN_ROWS, BLOCK_ROWS, sink);
	}

	/** For tests: with other sizes. */
	PageRuns(long most, int runRows, int blockRows, Sink sink) {
		this.sink = sink;
		this.blockRows = blockRows;
		int capacity = (int) Math.min(runRows, Math.max(1, most));
		rows = new AccessBatch(capacity);
		page = new long[capacity];
	}

	/** Adds the next row, which is about a page. */
	public void add(SpilledRow r, long pageNumber) throws MemtraceException {
		if (rows.isFull()) {
			finish();
		}
		page[rows.count] = pageNumber;
		rows.add(r.startNs, r.endNs, r.leaf, r.thread, r.cpuSet, r.reads, r.writes, 1, r.node, r.flags, r.ip, r.readOffset, r.writeOffset,
				r.firstNs);
	}

	/** Gives what there is. */
	public void finish() throws MemtraceException {
		int n = rows.count;
		long[] order = order(n);
		for (int from = 0; from < n; from += blockRows) {
			int to = Math.min(n, from + blockRows);
			code.restart();
			for (int k = from; k < to; k++) {
				int i = (int) order[k] & RUN_ROWS - 1;
				row.startNs = rows.startNs[i];
				row.endNs = rows.endNs[i];
				row.leaf = rows.producer[i];
				row.thread = rows.thread[i];
				row.cpuSet = rows.cpuSet[i];
				row.reads = rows.reads[i];
				row.writes = rows.writes[i];
				row.ip = (int) rows.ip[i];
				row.node = rows.node[i];
				row.flags = rows.flags[i];
				row.readOffset = rows.readOffset[i];
				row.writeOffset = rows.writeOffset[i];
				row.firstNs = rows.firstNs[i];
				code.room();
				code.add(row);
			}
			sink.block(code.bytes, code.length, to - from, page[(int) order[from] & RUN_ROWS - 1], page[(int) order[to - 1] & RUN_ROWS - 1]);
		}
		rows.count = 0;
	}

	/** Numbers of rows in the lowest bits, by page and number. */
	private long[] order(int n) {
		long min = Long.MAX_VALUE;
		long max = Long.MIN_VALUE;
		for (int i = 0; i < n; i++) {
			min = Math.min(min, page[i]);
			max = Math.max(max, page[i]);
		}
		long[] key = new long[n];
		if (max - min >= 0 && max - min < 1L << Long.SIZE - 1 - RUN_BITS) {
			for (int i = 0; i < n; i++) {
				key[i] = page[i] - min << RUN_BITS | i;
			}
		} else { // pages at both ends of the memory
			long[] sorted = page.clone();
			Arrays.sort(sorted, 0, n);
			int distinct = 0;
			for (int i = 0; i < n; i++) {
				if (distinct == 0 || sorted[distinct - 1] != sorted[i]) {
					sorted[distinct++] = sorted[i];
				}
			}
			for (int i = 0; i < n; i++) {
				key[i] = (long) Arrays.binarySearch(sorted, 0, distinct, page[i]) << RUN_BITS | i;
			}
		}
		Arrays.sort(key);
		return key;
	}
}
