// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.util.List;

/** Columns of a table of accesses or events. */
public enum EventColumn {
	START("Start", "ms", "When the record begins, from the start of the trace", true),
	END("End", "ms", "When the record ends, from the start of the trace", true),
	PRODUCER("Page", "", "The page, or the part of a page that belongs to one structure", false),
	STRUCTURE("Structure", "", "The structure, stack or range that it belongs to", false),
	THREAD("Thread", "", "Thread that made the accesses", false),
	CPU("CPU", "", "CPUs on which the thread was while it made them", true),
	TYPE("Type", "", "Private or shared, read or write", false),
	READS("Reads", "", "Recorded reads", true),
	WRITES("Writes", "", "Recorded writes", true),
	SHARING("Sharing", "", "Number of threads that used the page at the same time", true),
	NODE("Node", "", "NUMA node of the page", true),
	CODE("Code", "", "Address of the instruction of one of the accesses", false),
	/** Of events of other traces. */
	EVENT_PRODUCER("Producer", "", "What the event comes from", false),
	CATEGORY("Category", "", "Punctual event, state, link or variable", false),
	EVENT_TYPE("Type", "", "Type of the event", false),
	VALUE("Value", "", "Value of a variable, nesting of a state, end of a link", true),
	PARAMETERS("Parameters", "", "Parameters of the event", false);

	/** Columns of a memory trace, in order. */
	public static final List<EventColumn> OF_ACCESSES = List.of(START, END, PRODUCER, STRUCTURE, THREAD, CPU, TYPE, READS, WRITES,
			SHARING, NODE, CODE);
	/** Columns of other traces. */
	public static final List<EventColumn> OF_EVENTS = List.of(START, END, CPU, EVENT_PRODUCER, CATEGORY, EVENT_TYPE, VALUE,
			PARAMETERS);

	private final String title;
	private final String unit;
	private final String meaning;
	private final boolean number;

	EventColumn(String title, String unit, String meaning, boolean number) {
		this.title = title;
		this.unit = unit;
		this.meaning = meaning;
		this.number = number;
	}

	/**
	 * Head of the column, with its unit.
	 *
	 * @param ticks whether times are ticks of a logical clock
	 */
	public String title(boolean ticks) {
		return isTime() && ticks ? title + " (ticks)" : title();
	}

	/** Head of the column in a trace whose times are nanoseconds. */
	public String title() {
		return unit.isEmpty() ? title : title + " (" + unit + ")";
	}

	public String meaning() {
		return meaning;
	}

	/** Whether it is a number: aligned right, filtered by comparison. */
	public boolean isNumber() {
		return number;
	}

	/** Whether it is a time, filtered in milliseconds, or in ticks of a logical clock. */
	public boolean isTime() {
		return this == START || this == END;
	}

	/** Whether rows can be put in its order. */
	public boolean isSortable() {
		return this != PARAMETERS;
	}

	/** Name in CSV. */
	String id() {
		return name().toLowerCase(java.util.Locale.ROOT).replace("event_", "") + (isTime() ? "_ns" : "");
	}
}
