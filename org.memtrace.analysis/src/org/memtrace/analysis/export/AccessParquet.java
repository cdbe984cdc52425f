// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.export.ParquetFile.Column;
import org.memtrace.analysis.export.ParquetFile.Kind;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * Makes rows of Parquet files from the rows of a chunk: all columns of accesses but the names of pages, which are in the table of
 * producers. Immutable; a {@link Writer} is for one file and one thread.
 */
final class AccessParquet {
	private final List<Dimension> dimensions = new ArrayList<>();
	private final List<DimensionValues> values = new ArrayList<>();

	AccessParquet(AccessTable table, Progress progress) throws MemtraceException {
		for (Dimension d : AccessColumns.all()) {
			if (!d.id().equals("page")) {
				dimensions.add(d);
				values.add(d.values(table, progress));
			}
		}
	}

	/** Columns of chunks that are read. */
	Set<AccessColumn> read() {
		EnumSet<AccessColumn> read = EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES);
		dimensions.forEach(d -> read.addAll(d.columns()));
		return read;
	}

	/** Texts of a dimension in the order in which a file meets them. */
	private static final class Texts {
		private final List<String> texts = new ArrayList<>();
		private final Map<Long, Integer> index = new HashMap<>();
		private final Map<String, Integer> ofText = new HashMap<>();
		private long last = Long.MIN_VALUE;
		private int lastIndex;

		int of(long key, DimensionValues values, long value, boolean reads, boolean writes) {
			if (key != last) {
				last = key;
				lastIndex = index.computeIfAbsent(key, k -> {
					String text = values.text(value, reads, writes);
					return ofText.computeIfAbsent(text, t -> {
						texts.add(t);
						return texts.size() - 1;
					});
				});
			}
			return lastIndex;
		}
	}

	/** Writes rows into one file. */
	final class Writer {
		private final Texts[] texts = new Texts[dimensions.size()];
		private final long[][] value = new long[dimensions.size()][0];
		private final List<Column> columns = new ArrayList<>();
		private final long[] row;

		Writer() {
			for (int d = 0; d < texts.length; d++) {
				Dimension dimension = dimensions.get(d);
				Column column;
				if (dimension.type() == Dimension.Type.TEXT) {
					texts[d] = new Texts();
					column = Column.text(dimension.id(), texts[d].texts);
				} else {
					Kind kind = dimension.type() == Dimension.Type.ADDRESS ? Kind.UINT64 : Kind.INT64;
					boolean always = values.get(d).isKnown(DimensionValues.UNKNOWN);
					column = always ? Column.of(dimension.id(), kind) : Column.optional(dimension.id(), kind);
				}
				columns.add(column.means(dimension.explanation()));
			}
			row = new long[columns.size()];
		}

		/** Columns of the file; texts are added while rows are written. */
		List<Column> columns() {
			return columns;
		}

		/** Makes the values of some leaves. */
		void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int d = 0; d < texts.length; d++) {
				if (value[d].length < c.rows) {
					value[d] = new long[Math.max(c.rows, 2 * value[d].length)];
				}
				values.get(d).read(c, leafFrom, leafTo, value[d]);
			}
		}

		/** The values of a row of the chunk that was given last; valid until the next one. */
		long[] row(AccessChunk c, int r) {
			for (int d = 0; d < texts.length; d++) {
				DimensionValues v = values.get(d);
				long x = value[d][r];
				if (!v.isKnown(x)) {
					row[d] = ParquetFile.NULL;
				} else if (texts[d] == null) {
					row[d] = v.number(x);
				} else if (v.kind() == DimensionValues.Kind.BY_DIRECTION) {
					boolean reads = c.reads[r] > 0;
					boolean writes = c.writes[r] > 0;
					row[d] = texts[d].of(x * 4 + (reads ? 1 : 0) + (writes ? 2 : 0), v, x, reads, writes);
				} else {
					row[d] = texts[d].of(x, v, x, true, true);
				}
			}
			return row;
		}
	}
}
