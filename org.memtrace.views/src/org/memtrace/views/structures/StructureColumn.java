// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.structures;

import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.memtrace.analysis.StructureTable;
import org.memtrace.analysis.StructureTable.Row;
import org.memtrace.analysis.Units;

/**
 * A column of the table of structures.
 *
 * @param title head
 * @param tip what the head means
 * @param width pixels at first
 * @param number whether larger values are of more interest: sorted descending first, aligned right
 * @param comparator order by another thing than the text, or null
 */
record StructureColumn(String title, String tip, int width, boolean number, BiFunction<StructureTable, Row, String> cell,
		Function<StructureTable, Comparator<Row>> comparator) {
	static final List<StructureColumn> ALL = List.of(
			text("Name", "Name of the structure, stack or range", 190, (t, r) -> r.name()),
			text("Kind", "Where it comes from", 70, (t, r) -> r.kind()),
			number("Size", "Size of the structure", 85, r -> Units.bytes(r.sizeBytes()), Row::sizeBytes),
			number("Accesses", "Recorded reads and writes", 95, r -> Units.count(r.accesses()), Row::accesses),
			number("Reads", "Recorded reads", 90, r -> Units.count(r.details().reads()), r -> r.details().reads()),
			number("Writes", "Recorded writes", 90, r -> Units.count(r.details().writes()), r -> r.details().writes()),
			number("Threads", "Threads that used it", 70, r -> Integer.toString(r.threadCount()), Row::threadCount),
			text("First toucher", "Thread that used most of its pages first, and the share of pages it was first on", 185,
					(t, r) -> r.firstToucher() < 0 ? ""
							: t.threadName(r.firstToucher()) + "  " + Units.percent(100 * r.firstTouchShare())),
			number("Shared", "Accesses to a page that another thread used at the same time", 75,
					r -> Units.percent(r.sharedPercent()), Row::sharedPercent),
			new StructureColumn("Lifetime", "From birth to death within the trace", 85, true,
					(t, r) -> Units.duration(lifetime(t, r)), t -> Comparator.comparingLong(r -> lifetime(t, r))),
			text("Site", "File and line where it was allocated or defined; copied with the whole path", 180, (t, r) -> r.site().substring(r.site().lastIndexOf('/') + 1)));
	/** Accesses. */
	static final int DEFAULT_SORT = 3;

	private static StructureColumn text(String title, String tip, int width, BiFunction<StructureTable, Row, String> cell) {
		return new StructureColumn(title, tip, width, false, cell, null);
	}

	private static <N extends Number> StructureColumn number(String title, String tip, int width,
			Function<Row, String> cell, Function<Row, N> value) {
		return new StructureColumn(title, tip, width, true, (t, r) -> cell.apply(r),
				t -> Comparator.comparingDouble(r -> value.apply(r).doubleValue()));
	}

	private static long lifetime(StructureTable table, Row row) {
		return row.lifetimeNs(table.table().info().startNs(), table.table().info().endNs());
	}

	String text(StructureTable table, Row row) {
		return cell.apply(table, row);
	}

	/** Order of some rows; texts are made once for each row, not for each comparison. */
	Comparator<Row> order(StructureTable table, List<Row> rows) {
		if (comparator != null) {
			return comparator.apply(table);
		}
		Map<Row, String> texts = new IdentityHashMap<>(2 * rows.size());
		for (Row r : rows) {
			texts.put(r, text(table, r));
		}
		return Comparator.comparing(texts::get, String.CASE_INSENSITIVE_ORDER);
	}
}
