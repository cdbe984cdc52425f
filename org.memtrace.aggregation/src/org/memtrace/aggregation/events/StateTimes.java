// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.events;

import java.util.Arrays;

import org.memtrace.model.store.EventCategory;

/**
 * How a producer spent the time of a window: each instant belongs to the innermost of the states that it was in, or to none, so that
 * the parts are the whole. Of states that are not nested the one that began last counts. Used by one thread.
 */
public final class StateTimes {
	/** Gets pieces of time, in order: the row of a state and the part {@code [fromNs, toNs)} of the window in which it is the innermost. */
	public interface Receiver {
		void add(int row, long fromNs, long toNs);
	}

	private final EventTable table;
	private final long fromNs;
	private final long toNs;
	/** States that have begun, the innermost last; some of the others may have ended. */
	private int[] open = new int[16];
	private int count;
	private Receiver receiver;
	private long inNone;
	/** Until here everything is counted. */
	private long at;

	public StateTimes(EventTable table, long fromNs, long toNs) {
		this.table = table;
		this.fromNs = fromNs;
		this.toNs = toNs;
	}

	/** Whether a producer has an event in the window. */
	public boolean isActive(int producer) {
		for (int row = table.rowFrom(producer); row < table.rowTo(producer) && table.start(row) < toNs; row++) {
			if (table.end(row) > fromNs || table.start(row) >= fromNs) {
				return true;
			}
		}
		return false;
	}

	/** Gives the time in each state, piece by piece; what remains, the time in no state, is returned. */
	public long of(int producer, Receiver to) {
		receiver = to;
		count = 0;
		inNone = 0;
		at = fromNs;
		for (int row = table.rowFrom(producer); row < table.rowTo(producer) && table.start(row) < toNs; row++) {
			if (table.is(row, EventCategory.STATE) && table.end(row) > fromNs) {
				advance(Math.max(fromNs, table.start(row)));
				push(row);
			}
		}
		advance(toNs);
		return inNone;
	}

	private void push(int row) {
		if (count == open.length) {
			open = Arrays.copyOf(open, 2 * count);
		}
		put(table, open, count++, row);
	}

	/**
	 * Puts a state behind those that began before it; of those that begin together the longer ones are around the others.
	 *
	 * @param rows ordered so
	 * @param count of the rows in the array
	 */
	public static void put(EventTable table, int[] rows, int count, int row) {
		int place = count;
		while (place > 0 && table.start(rows[place - 1]) == table.start(row) && table.end(rows[place - 1]) < table.end(row)) {
			rows[place] = rows[place - 1];
			place--;
		}
		rows[place] = row;
	}

	private void advance(long to) {
		while (at < to) {
			if (count == 0) {
				inNone += to - at;
				at = to;
				return;
			}
			int row = open[count - 1];
			long end = Math.min(to, table.end(row));
			if (end > at) {
				receiver.add(row, at, end);
				at = end;
			}
			if (table.end(row) <= at) {
				count--;
			}
		}
	}
}
