// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.Locale;

/**
 * What the times of a trace count. Times are whole numbers of it everywhere, also where a name says {@code ns} in the code; what a person
 * or another program reads says which one it is.
 */
public enum TimeUnit {
	/** Nanoseconds of a clock. */
	NANOSECOND("ns", "_ns"),
	/** Ticks of a logical clock, as in traces of Moca; they are no time of which one could say how long it is. */
	TICK("tick", "_ticks");

	/** The property of a trace that tells it; missing: {@link #NANOSECOND}. */
	public static final String PROPERTY = "time_unit";

	private final String id;
	private final String suffix;

	TimeUnit(String id, String suffix) {
		this.id = id;
		this.suffix = suffix;
	}

	/** As the property has it. */
	public String id() {
		return id;
	}

	/** By {@link #id}; nanoseconds for null and for anything unknown. */
	public static TimeUnit of(String id) {
		return TICK.id.equals(id) ? TICK : NANOSECOND;
	}

	/**
	 * Name of a column or of a value in JSON for a trace with this unit.
	 *
	 * @param name one that ends in {@code _ns} is that of a time, others stay as they are
	 */
	public String column(String name) {
		return name.endsWith(NANOSECOND.suffix) ? name.substring(0, name.length() - NANOSECOND.suffix.length()) + suffix : name;
	}

	/** How long a recording lasted: {@code 1.50 s} or {@code 1,234 ticks}. */
	public String lasted(long time, int digits) {
		return this == TICK ? String.format(Locale.ROOT, time == 1 ? "%,d tick" : "%,d ticks", time)
				: String.format(Locale.ROOT, "%." + digits + "f s", time / 1e9);
	}
}
