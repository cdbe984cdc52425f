// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;

/** The cells of some columns of accesses, of the rows of one chunk after the other. For one thread at a time. */
public final class AccessCells {
	private static final int MOST_TEXTS = 1 << 16;

	private final List<Dimension> columns;
	private final List<DimensionValues> values = new ArrayList<>();
	private final List<Map<Long, String>> texts = new ArrayList<>();
	private final long[][] value;
	private AccessChunk chunk;

	/**
	 * Prepares columns.
	 *
	 * @param table all accesses of the trace
	 * @param progress for columns that have to look at all accesses first
	 */
	public AccessCells(AccessTable table, List<Dimension> columns, Progress progress) throws MemtraceException {
		this.columns = List.copyOf(columns);
		for (Dimension d : columns) {
			values.add(d.values(table, progress));
			texts.add(new HashMap<>());
		}
		value = new long[columns.size()][0];
	}

	/** Goes to the rows of a chunk; it must not be changed while cells of it are asked for. */
	public void chunk(AccessChunk c) {
		chunk = c;
		for (int d = 0; d < value.length; d++) {
			if (value[d].length < c.rows) {
				value[d] = new long[Math.max(c.rows, 2 * value[d].length)];
			}
			values.get(d).read(c, 0, c.leaves, value[d]);
		}
	}

	/** A cell: a {@link Long}, a text (also for an address, which is hexadecimal), or null for what is not known. */
	public Object cell(int column, int row) {
		DimensionValues v = values.get(column);
		long x = value[column][row];
		if (!v.isKnown(x)) {
			return null;
		}
		return switch (columns.get(column).type()) {
		case NUMBER -> (Object) v.number(x);
		case ADDRESS -> Long.toHexString(v.number(x));
		case TEXT -> {
			boolean both = v.kind() != DimensionValues.Kind.BY_DIRECTION;
			boolean reads = both || chunk.reads[row] > 0;
			boolean writes = both || chunk.writes[row] > 0;
			Map<Long, String> known = texts.get(column);
			if (known.size() > MOST_TEXTS) {
				known.clear();
			}
			yield known.computeIfAbsent(4 * x + (reads ? 1 : 0) + (writes ? 2 : 0), k -> v.text(x, reads, writes));
		}
		};
	}

	/** All cells of a row. */
	public Object[] row(int row) {
		Object[] cells = new Object[value.length];
		for (int c = 0; c < cells.length; c++) {
			cells[c] = cell(c, row);
		}
		return cells;
	}
}
