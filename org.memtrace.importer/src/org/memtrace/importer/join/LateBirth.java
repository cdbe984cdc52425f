// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.join;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

import org.memtrace.importer.join.ClockFit.Anchor;

/**
 * The one thread whose birth one of two traces saw late: on a machine with more work than CPUs a thread may lose its CPU between the
 * moments at which both look. All others then agree on a clock, and this thread is the one that is left on both sides. It is named only
 * when no other choice fits nearly as well, and when no other deviates far more than usual. Where two births are late, by times that
 * make one seem to be the other, which needs a chance of 0.05 ms, the wrong thread is named: once in a thousand made cases of two late
 * births (LateBirthTest).
 *
 * @param other its index among the threads of the other trace, in the order of births there
 * @param our its index among ours
 * @param fit the clock by all others
 * @param lateNs how much later the other trace has its birth; negative: earlier
 */
record LateBirth(int other, int our, ClockFit fit, long lateNs) {
	/** With two births that agree by chance, as there are no more: what these may deviate. */
	static final long OF_TWO_NS = 50_000;
	/** Fits that are nearer to each other than this may be mere noise. */
	private static final long NOISE_NS = 50_000;
	/** Choices that are fitted with their drift; those with the smallest deviations without it. */
	private static final int FITTED = 64;
	/** The work is the square of the number of threads. */
	private static final int MOST_THREADS = 2000;

	private record Choice(int other, int our, long spreadNs) {
	}

	/**
	 * @param others births in the other trace, ascending, three or more
	 * @param ours births of as many threads in our trace, ascending
	 * @param durationNs of the other trace
	 * @param mostNs a larger residual is no common clock
	 * @return empty: no thread can be named for certain
	 */
	static Optional<LateBirth> find(long[] others, long[] ours, long durationNs, long mostNs) {
		int n = others.length;
		if (n != ours.length || n < 3 || n > MOST_THREADS) {
			return Optional.empty();
		}
		List<Choice> choices = choices(others, ours);
		List<LateBirth> fits = new ArrayList<>();
		for (Choice c : choices.subList(0, Math.min(FITTED, choices.size()))) {
			List<Anchor> anchors = new ArrayList<>();
			for (int k = 0; k < n - 1; k++) {
				anchors.add(new Anchor(others[k < c.other ? k : k + 1], ours[k < c.our ? k : k + 1]));
			}
			ClockFit fit = ClockFit.of(anchors, durationNs);
			fits.add(new LateBirth(c.other, c.our, fit, fit.ours(others[c.other]) - ours[c.our]));
		}
		fits.sort(Comparator.comparingLong(l -> l.fit.residualNs()));
		long best = fits.get(0).fit.residualNs();
		long next = fits.get(1).fit.residualNs();
		long usual = usual(fits.get(0), others, ours);
		boolean certain = n == 3 ? best <= OF_TWO_NS && next >= mostNs
				: best <= mostNs && next >= Math.max(4 * best, best + NOISE_NS) && best <= Math.max(NOISE_NS, 5 * usual);
		return certain ? Optional.of(fits.get(0)) : Optional.empty();
	}

	/** The median deviation of those that agree. Far above it there is a second late birth, whose thread may be another one. */
	private static long usual(LateBirth l, long[] others, long[] ours) {
		long[] deviations = new long[others.length - 1];
		for (int k = 0; k < deviations.length; k++) {
			deviations[k] = Math.abs(l.fit.ours(others[k < l.other ? k : k + 1]) - ours[k < l.our ? k : k + 1]);
		}
		Arrays.sort(deviations);
		return deviations[deviations.length / 2];
	}

	/** Each thread left out on each side; the others are in order. The nearest to one offset first. */
	private static List<Choice> choices(long[] others, long[] ours) {
		int n = others.length;
		// least and most offset of the pairs 0 to k-1, and k to n-1
		long[][] before = new long[n + 1][];
		long[][] behind = new long[n + 1][];
		before[0] = new long[] { Long.MAX_VALUE, Long.MIN_VALUE };
		behind[n] = before[0];
		for (int k = 0; k < n; k++) {
			before[k + 1] = with(before[k], ours[k] - others[k]);
			behind[n - 1 - k] = with(behind[n - k], ours[n - 1 - k] - others[n - 1 - k]);
		}
		List<Choice> choices = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			long[] later = before[i]; // the other's i is left out, ours is j >= i: those between move by one
			for (int j = i; j < n; j++) {
				choices.add(new Choice(i, j, spread(later, behind[j + 1])));
				if (j + 1 < n) {
					later = with(later, ours[j] - others[j + 1]);
				}
			}
			long[] earlier = before[i]; // ours is i, the other's is j > i
			for (int j = i + 1; j < n; j++) {
				earlier = with(earlier, ours[j] - others[j - 1]);
				choices.add(new Choice(j, i, spread(earlier, behind[j + 1])));
			}
		}
		choices.sort(Comparator.comparingLong(Choice::spreadNs));
		return choices;
	}

	private static long[] with(long[] range, long offset) {
		return new long[] { Math.min(range[0], offset), Math.max(range[1], offset) };
	}

	private static long spread(long[] a, long[] b) {
		return Math.max(a[1], b[1]) - Math.min(a[0], b[0]);
	}
}
