// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/**
 * The times that a trace can have. The difference of any two of them is at most 2^62, so that nothing that computes with spans overflows.
 * A row of an input whose times are outside is not used; readers count it with {@link #REASON}. In nanoseconds since 1970 it is the years
 * 1934 to 2079.
 */
public final class TimeRange {
	/** The earliest time. */
	public static final long FIRST_NS = -(1L << 60);
	/** The latest time, also as an end that does not belong to the span. */
	public static final long LAST_NS = (1L << 62) - (1L << 60);
	/** What is told of a row that has other times. */
	public static final String REASON = "time out of range";

	private TimeRange() {
	}

	/** Whether a span is within; its end must not be before its start. */
	public static boolean holds(long startNs, long endNs) {
		return startNs >= FIRST_NS && endNs <= LAST_NS;
	}
}
