// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.fine;

/**
 * How many pages were used, or written, in one bin of a fine clock: counts of strata of the same bin add up to one estimate with one
 * interval of 95 %. Over time nothing may be added: a page that was used in ten bins is one page. Not safe for several threads.
 */
public final class FineEstimate {
	/** Of a normal distribution: 95 % are so many standard deviations around the mean. */
	private static final double NORMAL_95 = 1.96;

	private double value;
	private double variance;
	/** Pages that were seen in use, and those that may have been. */
	private long least;
	private long most;
	/** Pages of which each was looked at or known, and all. */
	private long looked;
	private long pages;
	private boolean unknown;

	/**
	 * Adds a stratum.
	 *
	 * @param mapped pages that were there when the bin began, those of the sample included
	 * @param sampled so many of them were taken away
	 * @param hit so many of these were used
	 * @param armed pages that are known exactly
	 * @param armedHit so many of these were used
	 */
	public void add(long mapped, long sampled, long hit, long armed, long armedHit) {
		long rest = mapped - sampled;
		least += armedHit + hit;
		most += armedHit + hit + rest;
		looked += armed + sampled;
		pages += armed + mapped;
		if (sampled == 0) {
			unknown |= mapped > 0;
			value += armedHit;
			return;
		}
		value += armedHit + (double) mapped * hit / sampled;
		double q = (hit + 2.0) / (sampled + 4.0);
		variance += (double) rest * rest * q * (1 - q) / (sampled + 4.0) + rest * q * (1 - q);
	}

	/** Whether of some pages nothing is known: then there are limits, and no {@link #value}. */
	public boolean isKnown() {
		return !unknown;
	}

	/** Whether the value is exact. */
	public boolean isExact() {
		return !unknown && least == most;
	}

	/** The most likely number; NaN: not known. */
	public double value() {
		return unknown ? Double.NaN : value;
	}

	/** Variance of the value, of the strata that were sampled. */
	public double variance() {
		return variance;
	}

	/** At least so many; where it is not known, no matter what the sample says of the rest. */
	public double low() {
		return unknown ? least : Math.max(least, value - NORMAL_95 * Math.sqrt(variance));
	}

	/** At most so many. */
	public double high() {
		return unknown ? most : Math.min(most, value + NORMAL_95 * Math.sqrt(variance));
	}

	/** Share of the pages that were looked at or are known exactly, 0..1; 1 where there are none. */
	public double knownShare() {
		return pages == 0 ? 1 : (double) looked / pages;
	}
}
