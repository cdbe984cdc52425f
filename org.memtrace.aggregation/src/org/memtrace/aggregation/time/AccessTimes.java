// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.model.columns.AccessChunk;

/**
 * The different times at which the accesses of a trace happened, in order of their start: monitoring intervals, mostly. Immutable.
 */
public final class AccessTimes {
	private final long[] startNs;
	private final long[] endNs;

	public AccessTimes(long[] startNs, long[] endNs) {
		this.startNs = startNs;
		this.endNs = endNs;
	}

	public void write(SavedNumbers.Out out) {
		out.deltas(startNs, startNs.length).deltas(endNs, endNs.length);
	}

	/** Number of times. */
	public int count() {
		return startNs.length;
	}

	/** Start of a time. */
	public long startNs(int time) {
		return startNs[time];
	}

	/** End of a time, after its start. */
	public long endNs(int time) {
		return endNs[time];
	}

	/** Number of a time that is among these. */
	public int indexOf(long start, long end) {
		int low = 0;
		int high = startNs.length - 1;
		while (low <= high) {
			int mid = (low + high) >>> 1;
			if (startNs[mid] == start && endNs[mid] == end) {
				return mid;
			}
			if (before(mid, start, end)) {
				low = mid + 1;
			} else {
				high = mid - 1;
			}
		}
		throw new IllegalArgumentException("[" + start + ", " + end + ") is none of the times");
	}

	/**
	 * Numbers of the times of a chunk.
	 *
	 * @return the number of {@code chunk.timeStartNs[i]} at place {@code i}; -1 for one that is not among these times
	 */
	public int[] of(AccessChunk chunk) {
		int[] number = new int[chunk.times];
		int at = 0;
		for (int i = 0; i < chunk.times; i++) {
			while (at < startNs.length && before(at, chunk.timeStartNs[i], chunk.timeEndNs[i])) {
				at++; // both are in the same order
			}
			boolean same = at < startNs.length && startNs[at] == chunk.timeStartNs[i] && endNs[at] == chunk.timeEndNs[i];
			number[i] = same ? at : -1;
		}
		return number;
	}

	private boolean before(int time, long start, long end) {
		return startNs[time] < start || startNs[time] == start && endNs[time] < end;
	}
}
