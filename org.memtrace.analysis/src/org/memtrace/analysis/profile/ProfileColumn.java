// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import java.util.Comparator;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.function.ToDoubleFunction;

import org.memtrace.analysis.profile.Profile.Group;
import org.memtrace.analysis.profile.Profile.Row;
import org.memtrace.analysis.text.NaturalOrder;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.TraceInfo;

/** A column of a profile that a person reads: its head, the texts of rows, and by what it orders them. */
public enum ProfileColumn {
	REGION("Region", "Kind of state, such as a function", (info, r) -> r.region(), null),
	EXCLUSIVE("Exclusive", "Time in it in which it is the innermost; with the time in no state, all of them are the whole",
			(info, r) -> Units.duration(info, r.exclusiveNs()), Row::exclusiveNs),
	SHARE("Share", "Exclusive time of the time of all that is looked at", (info, r) -> Units.percent(100 * r.share()), Row::share),
	INCLUSIVE("Inclusive", "Time in it or in what it contains", (info, r) -> Units.duration(info, r.inclusiveNs()), Row::inclusiveNs),
	COUNT("Count", "Executions that overlap the window of time", (info, r) -> String.format(Locale.ROOT, "%,d", r.count()), Row::count),
	MIN("Min", "Shortest exclusive duration of an execution", (info, r) -> Units.duration(info, r.minNs()), Row::minNs),
	MEDIAN("Median", "Half of the executions have a shorter exclusive duration", (info, r) -> Units.duration(info, r.medianNs()),
			Row::medianNs),
	MEAN("Mean", "Exclusive time divided by the executions", (info, r) -> Units.duration(info, r.meanNs()), Row::meanNs),
	MAX("Max", "Longest exclusive duration of an execution", (info, r) -> Units.duration(info, r.maxNs()), Row::maxNs),
	SCI("SCI", "Slowdown caused by interference: share of the exclusive time above the duration of the fast executions, 0 to 1; n/a: "
			+ "fewer than " + Profile.LEAST_EXECUTIONS + " executions", (info, r) -> Double.isNaN(r.sci()) ? "n/a"
			: String.format(Locale.ROOT, "%.3f", r.sci()), Row::sci),
	LOST("Lost", "Exclusive time above the duration of the fast executions", (info, r) -> Double.isNaN(r.lostNs()) ? "n/a"
			: Units.duration(info, r.lostNs()), Row::lostNs);

	private final String title;
	private final String tip;
	private final BiFunction<TraceInfo, Row, String> text;
	/** Null for names. */
	private final ToDoubleFunction<Row> value;

	ProfileColumn(String title, String tip, BiFunction<TraceInfo, Row, String> text, ToDoubleFunction<Row> value) {
		this.title = title;
		this.tip = tip;
		this.text = text;
		this.value = value;
	}

	public String title() {
		return title;
	}

	/** What the title means. */
	public String tip() {
		return tip;
	}

	/** Whether it has numbers, which stand at the right and are ordered from large to small at first. */
	public boolean isNumber() {
		return value != null;
	}

	/** What it says of a row. */
	public String text(TraceInfo info, Row row) {
		return text.apply(info, row);
	}

	/** What it says of the time of a group in no state; empty for what that has not. */
	public String textOfNone(TraceInfo info, Group group) {
		return switch (this) {
		case REGION -> "in no state";
		case EXCLUSIVE -> Units.duration(info, group.inNoneNs());
		case SHARE -> Units.percent(100.0 * group.inNoneNs() / group.timeNs());
		default -> "";
		};
	}

	/** What it says of a whole group; empty for what that has not. */
	public String text(TraceInfo info, Group group) {
		return switch (this) {
		case REGION -> group.name() + (group.producers() == 1 ? "" : ", " + Units.plural(group.producers(), "producer"));
		case EXCLUSIVE, INCLUSIVE -> Units.duration(info, group.timeNs());
		case SHARE -> Units.percent(100);
		case COUNT -> String.format(Locale.ROOT, "%,d", group.rows().stream().mapToLong(Row::count).sum());
		default -> "";
		};
	}

	/** Orders rows; what is not told comes last in both directions, equal ones are ordered by time and name. */
	public Comparator<Row> order(boolean descending) {
		Comparator<Row> order = value == null ? Comparator.comparing(Row::region, NaturalOrder.INSTANCE) : Comparator.comparingDouble(value);
		order = descending ? order.reversed() : order;
		if (value != null) {
			order = Comparator.<Row, Boolean>comparing(r -> Double.isNaN(value.applyAsDouble(r))).thenComparing(order);
		}
		return order.thenComparingLong(r -> -r.exclusiveNs()).thenComparing(Row::region);
	}
}
