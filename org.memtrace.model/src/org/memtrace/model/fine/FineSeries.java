// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.fine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How many pages of a process were in use in each bin of its fine clock, all structures together. Over time there are means, least and most
 * values here, and no sums: a page that was used in ten bins is one page. Immutable.
 *
 * @param image the process
 * @param points of bins of which something is known, in the order of time
 * @param notKnown how many bins there are beside them
 */
public record FineSeries(int image, List<Point> points, int notKnown) {
	/** A program is steady while its pages in use differ by at most so much of their mean. */
	private static final double STEADY = 0.1;
	/** So many of the bins may differ more: what is slow to start and to end. */
	private static final double OTHERS = 0.1;
	private static final int FEWEST = 5;

	/** Pages in use in {@code [startNs, endNs)}: a value, with at least {@code low} and at most {@code high} of 95 %. */
	public record Point(long startNs, long endNs, double value, double low, double high) {
	}

	/** How a program uses its memory over time. */
	public enum Course {
		/** Nearly all bins may have the same number. */
		STEADY,
		/** They have not. */
		CHANGES,
		/** There are too few bins. */
		NOT_KNOWN
	}

	/** The processes of a trace that have bins, by their numbers. */
	public static List<FineSeries> of(FineCounts counts) {
		Map<List<Long>, FineEstimate> sums = new HashMap<>();
		for (FineCounts.Count c : counts.counts()) {
			sums.computeIfAbsent(List.of((long) c.image(), c.bin()), k -> new FineEstimate()).add(c.mapped(), c.sampled(), c.hit(), c.armed(),
					c.armedHit());
		}
		List<FineSeries> all = new ArrayList<>();
		for (int image : counts.bins().stream().mapToInt(FineCounts.Bin::image).distinct().sorted().toArray()) {
			List<Point> points = new ArrayList<>();
			int notKnown = 0;
			for (FineCounts.Bin b : counts.bins()) {
				if (b.image() != image) {
					continue;
				}
				FineEstimate sum = sums.getOrDefault(List.of((long) image, b.number()), new FineEstimate());
				if (b.known() && sum.isKnown()) {
					points.add(new Point(b.startNs(), b.endNs(), sum.value(), sum.low(), sum.high()));
				} else {
					notKnown++;
				}
			}
			all.add(new FineSeries(image, List.copyOf(points), notKnown));
		}
		return all;
	}

	/** The mean over the bins, each with its own weight of one; NaN without any. */
	public double mean() {
		return points.stream().mapToDouble(Point::value).average().orElse(Double.NaN);
	}

	/** The mean of what is least in each bin: errors of bins depend on each other, so that the interval does not shrink with their number. */
	public double meanLow() {
		return points.stream().mapToDouble(Point::low).average().orElse(Double.NaN);
	}

	/** The mean of what is most. */
	public double meanHigh() {
		return points.stream().mapToDouble(Point::high).average().orElse(Double.NaN);
	}

	/** Whether it stays the same, as far as the intervals tell: a difference within them is none. */
	public Course course() {
		if (points.size() < FEWEST) {
			return Course.NOT_KNOWN;
		}
		double middle = points.stream().mapToDouble(Point::value).sorted().skip(points.size() / 2).findFirst().orElse(0);
		long others = points.stream().filter(p -> p.high < middle * (1 - STEADY) || p.low > middle * (1 + STEADY)).count();
		return others <= OTHERS * points.size() ? Course.STEADY : Course.CHANGES;
	}
}
