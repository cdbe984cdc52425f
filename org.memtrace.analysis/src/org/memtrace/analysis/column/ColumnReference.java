// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.column;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.analysis.dimension.Dimensions;

/** Writes docs/reference/columns.md from the tables of columns. */
public final class ColumnReference {
	private ColumnReference() {
	}

	/** The whole page. */
	public static String markdown() {
		StringBuilder b = new StringBuilder("""
				# Columns

				<!-- Written by 'memtrace debug columns >docs/reference/columns.md' from org.memtrace.analysis.column. -->

				These are the tables of a trace and their columns. The names are the same in `memtrace query` (text, CSV and JSON), in
				`memtrace export --format csv` and `parquet`, and in the CSV files that the workbench writes.

				A name says its unit: `_ns` are nanoseconds, `_bytes` are bytes. In a trace with a logical clock, the names end in `_ticks` where this
				page has `_ns`; only Parquet keeps the name, and `time_unit` in `meta.json` tells the unit.

				An address is hexadecimal without a prefix in text, CSV and JSON, and an unsigned integer of 64 bits in Parquet. What is not known is empty in
				text and CSV, and null in JSON and Parquet.

				## accesses

				A row is a record: what one thread did to one page in one interval. `query --what accesses` and `export --format csv` print the
				columns marked with *; `--columns` chooses others, `--columns all` prints all of them. The table *Events* of the workbench shows the columns
				marked with +; its menu *Columns* has the others. Parquet has all columns but `page`, whose text is `name` in the table of producers.

				""");
		List<Column> accesses = new ArrayList<>();
		for (Dimension d : AccessColumns.all()) {
			accesses.add(Column.of(d));
		}
		table(b, accesses);
		b.append("\nColumns that are also dimensions, by which one can colour, group or filter:\n\n| dimension | in lists | colour | group | filter |\n|---|---|---|---|---|\n");
		for (Dimension d : Dimensions.all()) {
			b.append("| `").append(d.id()).append("` | ").append(d.choice()).append(" | ").append(yes(d, Use.COLOUR)).append(" | ")
					.append(yes(d, Use.GROUP)).append(" | ").append(yes(d, Use.FILTER)).append(" |\n");
		}
		b.append("\n`query --what groups` has a column for each dimension of `--by`, then `records`, `reads` and `writes`.\n");
		for (TraceTable t : TraceTable.ALL) {
			b.append("\n## ").append(t.name()).append("\n\nA row is ").append(t.meaning()).append('.')
					.append(TraceTable.IN_FOLDERS.contains(t) ? " Parquet folders have this table, too." : "").append("\n\n");
			table(b, t.columns());
		}
		return b.toString();
	}

	private static String yes(Dimension d, Use use) {
		return d.can(use) ? "yes" : "";
	}

	private static void table(StringBuilder b, List<Column> columns) {
		b.append("| column | head | type | unit | meaning |\n|---|---|---|---|---|\n");
		for (Column c : columns) {
			boolean access = AccessColumns.find(c.id()) != null && columns.size() == AccessColumns.all().size();
			String marks = !access ? "" : (AccessColumns.USUAL.contains(c.id()) ? " \\*" : "") + (AccessColumns.SHOWN.contains(c.id()) ? " +" : "");
			b.append("| `").append(c.id()).append('`').append(marks).append(" | ").append(c.title()).append(" | ")
					.append(switch (c.type()) {
					case NUMBER -> "number";
					case ADDRESS -> "address";
					case TEXT -> "text";
					}).append(" | ").append(c.unit()).append(" | ").append(c.meaning()).append(" |\n");
		}
	}
}
