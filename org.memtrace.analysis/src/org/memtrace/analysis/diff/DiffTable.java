// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.NaturalOrder;

/**
 * The structures of a comparison as a table: for each number a column before (A), after (B), and their difference. What is not there is
 * not a number, and stands at the end in both orders.
 */
public final class DiffTable {
	/** A column. Differences of shares are in percentage points, of other numbers in what they count. */
	public static final class Column {
		private final String id;
		private final String title;
		private final String tip;
		private final boolean share;
		private final boolean difference;
		/** Null for texts. */
		private final ToDoubleFunction<StructureDiff> number;

		private Column(String id, String title, String tip, boolean share, boolean difference, ToDoubleFunction<StructureDiff> number) {
			this.id = id;
			this.title = title;
			this.tip = tip;
			this.share = share;
			this.difference = difference;
			this.number = number;
		}

		/** Name in CSV. */
		public String id() {
			return id;
		}

		/** Head. */
		public String title() {
			return title;
		}

		/** What it means. */
		public String tip() {
			return tip;
		}

		public boolean isNumber() {
			return number != null;
		}

		/** Whether it is B - A. */
		public boolean isDifference() {
			return difference;
		}

		/** Its number; not a number when it has none. Shares are 0 to 1. */
		public double value(StructureDiff s) {
			return number == null ? Double.NaN : number.applyAsDouble(s);
		}
	}

	/** Name of the structure. */
	public static final Column NAME = new Column("structure", "Structure", "A data structure of the program, in both recordings or in one",
			false, false, null);
	/** How it was matched. */
	public static final Column MATCHED = new Column("matched", "Matched", "How it was found in both recordings, or in which one it is", false,
			false, null);
	/** All columns. */
	public static final List<Column> COLUMNS = columns();

	private DiffTable() {
	}

	private static List<Column> columns() {
		List<Column> all = new ArrayList<>();
		all.add(NAME);
		all.add(new Column("weight", "Weight", "Largest share of the accesses or pages of a recording", true, false, StructureDiff::weight));
		metric(all, Metric.FIRST_TOUCH, "First touch");
		metric(all, Metric.HANDED_ON, "Handed on");
		metric(all, Metric.SHARED, "Shared");
		metric(all, Metric.PAGES, "Pages");
		three(all, "reads", "Reads", "reads of it, of all accesses of the recording", true, s -> s.before() == null ? Double.NaN
				: s.before().reads(), s -> s.after() == null ? Double.NaN : s.after().reads());
		three(all, "writes", "Writes", "writes to it, of all accesses of the recording", true, s -> s.before() == null ? Double.NaN
				: s.before().writes(), s -> s.after() == null ? Double.NaN : s.after().writes());
		three(all, "reads_counted", "Reads counted", Metric.READS.title(), false, s -> of(s, Metric.READS, true),
				s -> of(s, Metric.READS, false));
		three(all, "writes_counted", "Writes counted", Metric.WRITES.title(), false, s -> of(s, Metric.WRITES, true),
				s -> of(s, Metric.WRITES, false));
		metric(all, Metric.LINES, "Lines");
		all.add(MATCHED);
		return List.copyOf(all);
	}

	private static void metric(List<Column> all, Metric m, String title) {
		three(all, m.id(), title, m.title(), m.kind() == Metric.Kind.SHARE, s -> of(s, m, true), s -> of(s, m, false));
	}

	private static void three(List<Column> all, String id, String title, String what, boolean share, ToDoubleFunction<StructureDiff> a,
			ToDoubleFunction<StructureDiff> b) {
		all.add(new Column(id + "_a", title + " A", "Before: " + what, share, false, a));
		all.add(new Column(id + "_b", title + " B", "After: " + what, share, false, b));
		all.add(new Column(id + "_difference", title + " B−A", "Difference, " + (share ? "in percentage points" : "in numbers") + ": " + what,
				share, true, s -> b.applyAsDouble(s) - a.applyAsDouble(s)));
	}

	private static double of(StructureDiff s, Metric m, boolean before) {
		for (Comparison c : s.comparisons()) {
			if (c.metric() == m) {
				return before ? c.before() : c.after();
			}
		}
		return Double.NaN;
	}

	/** A cell for a person. */
	public static String text(Column c, StructureDiff s) {
		if (c == NAME) {
			return s.name();
		}
		if (c == MATCHED) {
			return s.inA() == 0 ? "only after" : s.inB() == 0 ? "only before" : s.how().isEmpty() ? "by kind, name and site" : s.how();
		}
		double v = c.value(s);
		if (Double.isNaN(v)) {
			return "";
		}
		if (!c.difference) {
			return c.share ? Words.percent(v) : String.format(Locale.ROOT, v == Math.rint(v) ? "%,.0f" : "%,.1f", v);
		}
		return v == 0 ? "0" : c.share ? points(v) : String.format(Locale.ROOT, v == Math.rint(v) ? "%+,.0f" : "%+,.1f", v);
	}

	/** A difference of shares with its sign. */
	static String points(double v) {
		double points = 100 * v;
		double size = Math.abs(points);
		return String.format(Locale.ROOT, size >= 0.1 ? "%+.1f" : size >= 0.001 ? "%+.3f" : "%+.1e", points) + " points";
	}

	/** In another order; equal ones stay as they are. */
	public static List<StructureDiff> sorted(List<StructureDiff> structures, Column by, boolean descending) {
		Comparator<StructureDiff> order;
		if (by.isNumber()) {
			Comparator<StructureDiff> value = Comparator.comparingDouble(by::value);
			order = Comparator.comparing((StructureDiff s) -> Double.isNaN(by.value(s))).thenComparing(descending ? value.reversed() : value);
		} else {
			order = Comparator.comparing(s -> text(by, s), NaturalOrder.INSTANCE);
			order = descending ? order.reversed() : order;
		}
		return structures.stream().sorted(order).toList();
	}

	/** The table with exact numbers; shares are 0 to 1. */
	public static String csv(List<StructureDiff> structures) {
		StringBuilder b = new StringBuilder(String.join(",", COLUMNS.stream().map(Column::id).toList())).append('\n');
		for (StructureDiff s : structures) {
			b.append(String.join(",", COLUMNS.stream().map(c -> c.isNumber() ? number(c.value(s)) : Csv.cell(text(c, s))).toList())).append('\n');
		}
		return b.toString();
	}

	private static String number(double v) {
		return Double.isNaN(v) ? "" : Csv.number(v);
	}
}
