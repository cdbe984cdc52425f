// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.join;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * How the clock of one trace follows from that of another: {@code ns + offset + drift * (ns - reference)}. Found from times that both
 * traces know.
 *
 * @param referenceNs where the offset holds, in the clock of the other trace
 * @param offsetNs what is added there
 * @param drift how much faster our clock is: 0.0001 is a tenth of a millisecond in a second
 * @param drifts whether the drift was looked for; otherwise it is 0
 * @param residualNs largest deviation of a time that both traces know, -1 when there was none
 * @param anchors number of these times
 */
public record ClockFit(long referenceNs, long offsetNs, double drift, boolean drifts, long residualNs, int anchors) {
	/** More is no difference of two clocks of one machine. */
	static final double MOST_DRIFT = 1e-3;
	/** Times that are nearer to each other tell nothing of the drift: their own error is some 0.1 ms. */
	static final long SHORTEST_NS = 1_000_000_000L;
	/** Times between which slopes are taken; of more, this many evenly. */
	private static final int MOST_SLOPES = 400;

	/** One moment in both clocks. */
	public record Anchor(long otherNs, long ourNs) {
		long offset() {
			return ourNs - otherNs;
		}
	}

	/**
	 * The clock for an offset that is known.
	 *
	 * @param anchors tell the residual only; may be empty
	 */
	public static ClockFit given(long offsetNs, List<Anchor> anchors) {
		return new ClockFit(0, offsetNs, 0, false, -1, anchors.size()).judged(anchors);
	}

	/**
	 * The median offset. When the anchors are spread over at least half of the other trace and over a second, also the drift: the median of
	 * the slopes between them (Theil and Sen), so that a single wrong time does not move it. Of anchors at one end of a run the drift would
	 * be extrapolated from their errors.
	 *
	 * @param durationNs of the other trace
	 */
	public static ClockFit of(List<Anchor> anchors, long durationNs) {
		List<Anchor> sorted = new ArrayList<>(anchors);
		sorted.sort(Comparator.comparingLong(Anchor::otherNs));
		long first = sorted.get(0).otherNs;
		long span = sorted.get(sorted.size() - 1).otherNs - first;
		boolean drifts = sorted.size() > 2 && span >= SHORTEST_NS && span >= durationNs / 2;
		double drift = drifts ? slope(sorted, span) : 0;
		if (Math.abs(drift) > MOST_DRIFT) {
			drift = 0;
		}
		double d = drift;
		long offset = median(sorted.stream().mapToLong(a -> a.offset() - Math.round(d * (a.otherNs - first))).toArray());
		return new ClockFit(first, offset, drift, drifts, -1, sorted.size()).judged(sorted);
	}

	private static double slope(List<Anchor> sorted, long span) {
		int n = Math.min(MOST_SLOPES, sorted.size());
		List<Anchor> some = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			some.add(sorted.get((int) ((long) i * (sorted.size() - 1) / Math.max(1, n - 1))));
		}
		List<Double> slopes = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			for (int j = i + 1; j < n; j++) {
				long dt = some.get(j).otherNs - some.get(i).otherNs;
				if (dt >= span / 2) {
					slopes.add((double) (some.get(j).offset() - some.get(i).offset()) / dt);
				}
			}
		}
		slopes.sort(null);
		int m = slopes.size() / 2;
		return slopes.size() % 2 == 1 ? slopes.get(m) : (slopes.get(m - 1) + slopes.get(m)) / 2;
	}

	private static long median(long[] values) {
		Arrays.sort(values);
		int m = values.length / 2;
		return values.length % 2 == 1 ? values[m] : values[m - 1] + (values[m] - values[m - 1]) / 2;
	}

	private ClockFit judged(List<Anchor> by) {
		long residual = by.stream().mapToLong(a -> Math.abs(ours(a.otherNs) - a.ourNs)).max().orElse(-1);
		return new ClockFit(referenceNs, offsetNs, drift, drifts, residual, anchors);
	}

	/** A time of the other trace in our clock. */
	public long ours(long otherNs) {
		return otherNs + offsetNs + Math.round(drift * (otherNs - referenceNs));
	}
}
