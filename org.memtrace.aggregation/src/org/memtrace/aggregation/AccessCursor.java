// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * Any row of a table by its number, and fast in the order of the rows: rows of producers that follow each other follow each other, and
 * rows of a producer are in the order of their start. Keeps one chunk. For one thread.
 */
public final class AccessCursor {
	private final AccessScan scan;
	private final Set<AccessColumn> columns;
	private final DimensionValues values;
	/** Number of the first row of each chunk, and of all rows. */
	private final long[] firstRow;
	private final AccessChunk chunk = new AccessChunk();
	private long[] property = {};
	private long from;
	private long to;
	private int at;

	AccessCursor(AccessScan scan, long[] firstRow, Set<AccessColumn> columns, DimensionValues values) {
		this.scan = scan;
		this.firstRow = firstRow;
		this.columns = columns;
		this.values = values;
	}

	/** Another one for the same rows, for another thread. */
	public AccessCursor another() {
		return new AccessCursor(scan, firstRow, columns, values);
	}

	/**
	 * Goes to a row. What a damaged chunk had is a row without reads and writes at the end of time.
	 *
	 * @param row from 0 on
	 */
	public void at(long row) throws MemtraceException {
		if (row < from || row >= to) {
			load(row);
		}
		at = (int) (row - from);
	}

	private void load(long row) throws MemtraceException {
		int c = Arrays.binarySearch(firstRow, row);
		c = c < 0 ? -c - 2 : c;
		while (firstRow[c + 1] == firstRow[c]) {
			c++; // without rows
		}
		to = from; // nothing, should it fail
		boolean read = scan.read(c, columns, chunk);
		int rows = (int) (firstRow[c + 1] - firstRow[c]);
		if (property.length < rows) {
			property = new long[rows];
		}
		if (read) {
			values.read(chunk, 0, chunk.leaves, property);
		} else {
			chunk.reserve(rows, 0, 1);
			chunk.timeStartNs[0] = Long.MAX_VALUE - 1;
			chunk.timeEndNs[0] = Long.MAX_VALUE;
			Arrays.fill(chunk.time, 0, rows, 0);
			Arrays.fill(chunk.thread, 0, rows, -1);
			Arrays.fill(chunk.cpuSet, 0, rows, -1);
			Arrays.fill(chunk.node, 0, rows, -1);
			Arrays.fill(chunk.sharing, 0, rows, 0);
			Arrays.fill(chunk.reads, 0, rows, 0);
			Arrays.fill(chunk.writes, 0, rows, 0);
			Arrays.fill(property, 0, rows, values.kind() == DimensionValues.Kind.BY_DIRECTION ? 0 : DimensionValues.UNKNOWN);
		}
		from = firstRow[c];
		to = from + rows;
	}

	public long startNs() {
		return chunk.timeStartNs[chunk.time[at]];
	}

	public long endNs() {
		return chunk.timeEndNs[chunk.time[at]];
	}

	/** Index of the thread, -1 when it is not known. */
	public int thread() {
		return chunk.thread[at];
	}

	/** Index of the set of CPUs, -1 when it is not known. */
	public int cpuSet() {
		return chunk.cpuSet[at];
	}

	public long reads() {
		return chunk.reads[at];
	}

	public long writes() {
		return chunk.writes[at];
	}

	/** Number of threads that used the page at the same time. */
	public int sharing() {
		return chunk.sharing[at];
	}

	/** NUMA node, -1 when it is not known. */
	public int node() {
		return chunk.node[at];
	}

	/** Value of the dimension. */
	public long property() {
		return property[at];
	}
}
