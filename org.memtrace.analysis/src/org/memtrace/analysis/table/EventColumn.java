// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.column.AccessColumns;
import org.memtrace.analysis.column.Column;

/**
 * Columns of the table of accesses or events on the screen. Those of accesses are the columns of {@link AccessColumns}, one object for
 * each. Immutable, safe for all threads.
 */
public final class EventColumn {
	private static final Map<String, EventColumn> OF_DIMENSIONS = new ConcurrentHashMap<>();

	public static final EventColumn START = of("start_ns");
	public static final EventColumn END = of("end_ns");
	public static final EventColumn PRODUCER = of("page");
	public static final EventColumn STRUCTURE = of("structure");
	public static final EventColumn THREAD = of("thread");
	public static final EventColumn CPU = of("cpu");
	public static final EventColumn TYPE = of("type");
	public static final EventColumn READS = of("reads");
	public static final EventColumn WRITES = of("writes");
	public static final EventColumn SHARING = of("sharing");
	public static final EventColumn NODE = of("node");
	public static final EventColumn CODE = of("ip");
	/** Of events of other traces. */
	public static final EventColumn EVENT_PRODUCER = new EventColumn(Column.text("producer", "Producer", "what the event comes from"), null);
	public static final EventColumn CATEGORY = new EventColumn(Column.text("category", "Category", "punctual event, state, link or variable"),
			null);
	public static final EventColumn EVENT_TYPE = new EventColumn(Column.text("type", "Type", "type of the event"), null);
	public static final EventColumn VALUE = new EventColumn(
			Column.number("value", "Value", "value of a variable, nesting of a state, end of a link"), null);
	public static final EventColumn PARAMETERS = new EventColumn(Column.text("parameters", "Parameters", "parameters of the event"), null);

	/** Columns of traces without accesses. */
	public static final List<EventColumn> OF_EVENTS = List.of(START, END, CPU, EVENT_PRODUCER, CATEGORY, EVENT_TYPE, VALUE,
			PARAMETERS);

	private final Column column;
	private final Dimension dimension;

	private EventColumn(Column column, Dimension dimension) {
		this.column = column;
		this.dimension = dimension;
	}

	private static EventColumn of(String id) {
		return of(AccessColumns.find(id));
	}

	private static EventColumn of(Dimension d) {
		EventColumn known = OF_DIMENSIONS.get(d.id());
		if (known == null || known.dimension != d) { // a dimension of others that came again
			known = new EventColumn(Column.of(d), d);
			OF_DIMENSIONS.put(d.id(), known);
		}
		return known;
	}

	/** Columns of a memory trace: those that are shown at first, then the others. */
	public static List<EventColumn> ofAccesses() {
		List<EventColumn> columns = new ArrayList<>(shownOfAccesses());
		for (Dimension d : AccessColumns.all()) {
			if (!d.looksAtAll() && !AccessColumns.SHOWN.contains(d.id())) {
				columns.add(of(d));
			}
		}
		return columns;
	}

	/** Columns of a memory trace that are shown at first. */
	public static List<EventColumn> shownOfAccesses() {
		return AccessColumns.SHOWN.stream().map(EventColumn::of).toList();
	}

	/** What gives the values; null of events. */
	Dimension dimension() {
		return dimension;
	}

	/**
	 * Head of the column, with its unit.
	 *
	 * @param ticks whether times are ticks of a logical clock
	 */
	public String title(boolean ticks) {
		return isTime() ? column.title() + (ticks ? " (ticks)" : " (ms)") : column.title();
	}

	/** Head of the column in a trace whose times are nanoseconds. */
	public String title() {
		return title(false);
	}

	/** What a cell says, a sentence without a full stop; times on the screen are those from the start of the trace. */
	public String meaning() {
		if (isTime()) {
			return this == END ? "When the record ends, from the start of the trace" : "When the record begins, from the start of the trace";
		}
		return Character.toUpperCase(column.meaning().charAt(0)) + column.meaning().substring(1);
	}

	/** Whether it is a number: aligned right, filtered by comparison. */
	public boolean isNumber() {
		return column.type() == Dimension.Type.NUMBER || this == CPU;
	}

	/** Whether it is a time, filtered in milliseconds, or in ticks of a logical clock. */
	public boolean isTime() {
		return column.unit().equals("ns");
	}

	/** Whether rows can be put in its order. */
	public boolean isSortable() {
		return this != PARAMETERS;
	}

	/** Name in CSV. */
	public String id() {
		return column.id();
	}

	@Override
	public String toString() {
		return column.id();
	}
}
