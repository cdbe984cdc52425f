// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

/** Equal parts of a window of time; bounds are whole nanoseconds. Immutable. */
public final class TimeBins {
	private final long fromNs;
	private final long lengthNs;
	private final int count;

	/** @param wanted how many; fewer when the window has fewer nanoseconds */
	public TimeBins(long fromNs, long toNs, int wanted) {
		this.fromNs = fromNs;
		this.lengthNs = toNs - fromNs;
		this.count = (int) Math.max(1, Math.min(wanted, lengthNs));
	}

	public int count() {
		return count;
	}

	/** Start of a bin, end of the one before. */
	public long bound(int bin) {
		return fromNs + (long) ((double) lengthNs * bin / count);
	}

	/** The bin of a time of the window. */
	public int of(long ns) {
		int bin = (int) Math.min(count - 1, (double) (ns - fromNs) * count / lengthNs);
		while (bin + 1 < count && bound(bin + 1) <= ns) {
			bin++;
		}
		while (bin > 0 && bound(bin) > ns) {
			bin--;
		}
		return bin;
	}

	/**
	 * Adds an amount, spread evenly over a time that overlaps the window.
	 *
	 * @param atStart whether the amount counts where the time begins, in the first bin when that was earlier
	 */
	public void add(double[] sums, long startNs, long endNs, double amount, boolean atStart) {
		int first = of(Math.max(startNs, fromNs));
		if (atStart || endNs <= startNs) {
			sums[first] += amount;
			return;
		}
		double perNs = amount / (endNs - startNs);
		for (int bin = first; bin < count && bound(bin) < endNs; bin++) {
			sums[bin] += perNs * Math.max(0, Math.min(endNs, bound(bin + 1)) - Math.max(startNs, bound(bin)));
		}
	}

	/**
	 * Raises a level from a time on until the end of the window: its mean in each bin. It takes the same time for any number of bins.
	 *
	 * @param inBin gets what is of one bin only, {@code count} numbers
	 * @param from gets by how much the bins from each one on are higher, {@code count + 1} numbers
	 */
	public void raise(double[] inBin, double[] from, long startNs, double amount) {
		if (startNs <= fromNs) {
			from[0] += amount;
		} else if (startNs < fromNs + lengthNs) {
			int bin = of(startNs);
			long begin = bound(bin);
			long end = bound(bin + 1);
			inBin[bin] += amount * ((double) (end - startNs) / (end - begin));
			from[bin + 1] += amount;
		}
	}
}
