// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

/**
 * A window of time cut into slices with exact integer bounds: slice {@code i} is
 * {@code [startNs + floor(i*d/T), startNs + floor((i+1)*d/T))} with {@code d = endNs - startNs}. The slices cover the window
 * without gap or overlap and their lengths differ by at most 1 ns; when there are more slices than nanoseconds, some are empty.
 * The last slice also holds an instant exactly at the end of the window.
 */
public final class TimeSlices {
	private final long startNs;
	private final long endNs;
	private final int count;
	private final long quotient;
	private final long remainder;

	/**
	 * @param startNs start of the window
	 * @param endNs end of the window, after the start
	 * @param count number of slices, at least 1
	 */
	public TimeSlices(long startNs, long endNs, int count) {
		if (endNs <= startNs || endNs - startNs < 0) {
			throw new IllegalArgumentException("the time window [" + startNs + ", " + endNs + ") is empty or too long");
		}
		if (count < 1 || count > 32000) {
			throw new IllegalArgumentException("number of slices is " + count + ", not in 1..32000");
		}
		this.startNs = startNs;
		this.endNs = endNs;
		this.count = count;
		long d = endNs - startNs;
		this.quotient = d / count;
		this.remainder = d % count;
	}

	public long startNs() {
		return startNs;
	}

	public long endNs() {
		return endNs;
	}

	/** T. */
	public int count() {
		return count;
	}

	/** Bound {@code i} for {@code 0 <= i <= count}; bound 0 is the start, bound {@code count} the end of the window. */
	public long boundNs(int i) {
		return startNs + i * quotient + i * remainder / count;
	}

	/** Length of a slice. */
	public long lengthNs(int slice) {
		return boundNs(slice + 1) - boundNs(slice);
	}

	/** Slice of an instant of the window; the end of the window belongs to the last slice. */
	public int sliceOf(long timeNs) {
		if (timeNs < startNs || timeNs > endNs) {
			throw new IllegalArgumentException(timeNs + " is outside of [" + startNs + ", " + endNs + "]");
		}
		if (timeNs == endNs) {
			return count - 1;
		}
		int i = (int) Math.min(count - 1L, (long) ((double) (timeNs - startNs) * count / (endNs - startNs)));
		while (i > 0 && boundNs(i) > timeNs) {
			i--;
		}
		while (i < count - 1 && boundNs(i + 1) <= timeNs) {
			i++;
		}
		return i;
	}
}
