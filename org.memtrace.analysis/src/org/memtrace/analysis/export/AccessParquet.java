// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
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
		private static final int SMALL = 1 << 16;
		private final List<String> texts = new ArrayList<>();
		/** By key: of small ones the index + 1. */
		private int[] small = new int[64];
		private final Map<Long, Integer> large = new HashMap<>();
		private final Map<String, Integer> ofText = new HashMap<>();

		int of(long key, DimensionValues values, long value, boolean reads, boolean writes) {
			if (key < 0 || key >= SMALL) {
				return large.computeIfAbsent(key, k -> index(values.text(value, reads, writes)));
			}
			int k = (int) key;
			if (k >= small.length) {
				small = Arrays.copyOf(small, Math.max(k + 1, 2 * small.length));
			}
			if (small[k] == 0) {
				small[k] = index(values.text(value, reads, writes)) + 1;
			}
			return small[k] - 1;
		}

		private int index(String text) {
			return ofText.computeIfAbsent(text, t -> {
				texts.add(t);
				return texts.size() - 1;
			});
		}
	}

	/** Writes rows into one file. */
	final class Writer {
		private final Texts[] texts = new Texts[dimensions.size()];
		private final long[][] value = new long[dimensions.size()][0];
		private final List<Column> columns = new ArrayList<>();

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

		/** Writes rows {@code chosen[0 .. n)} of the chunk that was given last, column by column. */
		void write(AccessChunk c, int[] chosen, int n, ParquetFile file) throws IOException {
			for (int from = 0, some; from < n; from += some) {
				some = file.room(n - from);
				for (int d = 0; d < texts.length; d++) {
					if (texts[d] == null) {
						numbers(values.get(d), value[d], chosen, from, some, file.column(d), file.rows());
					} else if (values.get(d).kind() == DimensionValues.Kind.BY_DIRECTION) {
						directions(d, c, chosen, from, some, file.column(d), file.rows());
					} else {
						texts(d, chosen, from, some, file.column(d), file.rows());
					}
				}
				file.added(some);
			}
		}

		/** Many columns have runs of equal values. */
		private static void numbers(DimensionValues v, long[] of, int[] chosen, int from, int n, long[] out, int at) {
			long last = of[chosen[from]] + 1;
			long number = 0;
			for (int i = 0; i < n; i++) {
				long x = of[chosen[from + i]];
				if (x != last) {
					last = x;
					number = v.isKnown(x) ? v.number(x) : ParquetFile.NULL;
				}
				out[at + i] = number;
			}
		}

		private void texts(int d, int[] chosen, int from, int n, long[] out, int at) {
			DimensionValues v = values.get(d);
			long last = value[d][chosen[from]] + 1;
			long text = 0;
			for (int i = 0; i < n; i++) {
				long x = value[d][chosen[from + i]];
				if (x != last) {
					last = x;
					text = v.isKnown(x) ? texts[d].of(x, v, x, true, true) : ParquetFile.NULL;
				}
				out[at + i] = text;
			}
		}

		private void directions(int d, AccessChunk c, int[] chosen, int from, int n, long[] out, int at) {
			DimensionValues v = values.get(d);
			for (int i = 0; i < n; i++) {
				int r = chosen[from + i];
				long x = value[d][r];
				boolean reads = c.reads[r] > 0;
				boolean writes = c.writes[r] > 0;
				out[at + i] = v.isKnown(x) ? texts[d].of(x * 4 + (reads ? 1 : 0) + (writes ? 2 : 0), v, x, reads, writes) : ParquetFile.NULL;
			}
		}
	}
}
