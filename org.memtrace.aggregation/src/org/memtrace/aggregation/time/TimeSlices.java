// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

/**
 * A window of time cut into slices with exact integer bounds, which cover it without gap or overlap. Slices of one length: slice
 * {@code i} is {@code [startNs + floor(i*d/T), startNs + floor((i+1)*d/T))} with {@code d = endNs - startNs}; their lengths differ by at
 * most 1 ns; when there are more slices than nanoseconds, some are empty. Or slices with given bounds ({@link #of}).
 * The last slice also holds an instant exactly at the end of the window. Immutable.
 */
public final class TimeSlices {
	/** Most slices that a window can have. */
	public static final int MOST = 32000;

	private final long startNs;
	private final long endNs;
	private final int count;
	private final long quotient;
	private final long remainder;
	/** Bounds 0..count of slices that have lengths of their own; null when all are alike. */
	private final long[] bounds;

	/**
	 * Slices of one length.
	 *
	 * @param startNs start of the window
	 * @param endNs end of the window, after the start
	 * @param count number of slices, at least 1
	 */
	public TimeSlices(long startNs, long endNs, int count) {
		this(startNs, endNs, count, null);
	}

	private TimeSlices(long startNs, long endNs, int count, long[] bounds) {
		if (endNs <= startNs || endNs - startNs < 0) {
			throw new IllegalArgumentException("the time window [" + startNs + ", " + endNs + ") is empty or too long");
		}
		if (count < 1 || count > MOST) {
			throw new IllegalArgumentException("number of slices is " + count + ", not in 1.." + MOST);
		}
		this.startNs = startNs;
		this.endNs = endNs;
		this.count = count;
		long d = endNs - startNs;
		this.quotient = d / count;
		this.remainder = d % count;
		this.bounds = bounds;
	}

	/**
	 * Slices with lengths of their own, none of them empty.
	 *
	 * @param bounds start of the window, the bounds between the slices, end of the window; ascending, no two the same
	 */
	public static TimeSlices of(long[] bounds) {
		for (int i = 1; i < bounds.length; i++) {
			if (bounds[i] <= bounds[i - 1]) {
				throw new IllegalArgumentException("slice " + (i - 1) + " is [" + bounds[i - 1] + ", " + bounds[i] + ")");
			}
		}
		return new TimeSlices(bounds[0], bounds[bounds.length - 1], bounds.length - 1, bounds.clone());
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

	/** Whether all slices have the same length, but for 1 ns. */
	public boolean isUniform() {
		return bounds == null;
	}

	/** Bound {@code i} for {@code 0 <= i <= count}; bound 0 is the start, bound {@code count} the end of the window. */
	public long boundNs(int i) {
		return bounds != null ? bounds[i] : startNs + i * quotient + i * remainder / count;
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
		if (bounds != null) {
			int low = 0;
			int high = count - 1;
			while (low < high) {
				int mid = (low + high + 1) >>> 1;
				if (bounds[mid] <= timeNs) {
					low = mid;
				} else {
					high = mid - 1;
				}
			}
			return low;
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
