// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

/**
 * Something in a trace that a person gave a name: an instant, an interval, a row, or an interval of a row.
 *
 * @param name what the person calls it
 * @param argb colour, opaque
 * @param fromNs start, {@link #NO_TIME} when the whole row is meant
 * @param toNs end; equal to the start for an instant
 * @param producer event producer, {@link #NO_PRODUCER} when all rows are meant
 * @param bookmark whether it is a place to go back to (window and row) and nothing is drawn
 */
public record Marker(String name, int argb, long fromNs, long toNs, int producer, boolean bookmark) {
	public static final long NO_TIME = Long.MIN_VALUE;
	public static final int NO_PRODUCER = -1;

	public Marker {
		if (fromNs == NO_TIME != (toNs == NO_TIME) || toNs < fromNs) {
			throw new IllegalArgumentException("marker from " + fromNs + " to " + toNs);
		}
		if (fromNs == NO_TIME && producer == NO_PRODUCER) {
			throw new IllegalArgumentException("a marker without time and row");
		}
		name = name.strip();
		argb |= 0xff000000;
	}

	public boolean hasTime() {
		return fromNs != NO_TIME;
	}

	public boolean isInstant() {
		return hasTime() && fromNs == toNs;
	}

	public Marker withName(String other) {
		return new Marker(other, argb, fromNs, toNs, producer, bookmark);
	}

	public Marker withColor(int other) {
		return new Marker(name, other, fromNs, toNs, producer, bookmark);
	}
}
