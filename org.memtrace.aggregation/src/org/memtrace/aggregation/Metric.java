// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Locale;

/** What a value of the microscopic model counts. */
public enum Metric {
	/** Recorded reads and writes; those of an interval are spread over the slices it overlaps, in proportion. */
	ACCESSES("accesses"),
	/** Recorded reads, spread likewise. */
	READS("reads"),
	/** Recorded writes, spread likewise. */
	WRITES("writes"),
	/** Access records (page, thread, interval) or events, each counted once in the slice in which it starts. */
	EVENTS("records", "events"),
	/** Number of distinct threads that use the page in the slice. Sums over pages or slices are thread uses. */
	THREADS("thread uses"),
	/** Time in states; of states that nest each instant counts for the innermost (event traces). */
	STATE_TIME("ns in states", "time in innermost states"),
	/** Time in states, summed over the states that overlap a slice, so that nested states count each (event traces). */
	STATE_DURATION("ns in states", "time in states"),
	/** That time divided by the number of states that overlap the slice (event traces). */
	STATE_MEAN("ns per state", "mean duration of states"),
	/** Time-weighted mean of variables, 0 where they are not defined (event traces). */
	VARIABLE_MEAN("mean value", "mean of variables");

	private final String unit;
	private final String description;

	Metric(String unit) {
		this(unit, unit);
	}

	Metric(String unit, String description) {
		this.unit = unit;
		this.description = description;
	}

	/** What it is, for titles. */
	public String description() {
		return description;
	}

	/** Name on the command line. */
	public String id() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/** Metric by name, or null. */
	public static Metric byId(String id) {
		for (Metric m : values()) {
			if (m.id().equals(id)) {
				return m;
			}
		}
		return null;
	}

	/** Whether memory traces have it. */
	public boolean ofAccesses() {
		return ordinal() <= THREADS.ordinal();
	}

	/** Whether it is defined for events by type. */
	public boolean ofEvents() {
		return this == EVENTS || ordinal() > THREADS.ordinal();
	}

	/** Whether values are means: those of a block are not the sums of its cells. */
	public boolean isMean() {
		return this == STATE_MEAN || this == VARIABLE_MEAN;
	}

	/** Whether the value of a slice is the sum of those of its parts: a steady program has twice of it in twice the time. */
	public boolean isAmount() {
		return !isMean() && this != THREADS;
	}

	/** Plural noun for axes and legends. */
	public String unit() {
		return unit;
	}
}
