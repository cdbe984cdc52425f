// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.PageEntries;
import org.memtrace.analysis.findings.facts.TraceFacts;

/**
 * The length of a row that explains how a group is entered: the distances from the entry of a page to that of the next one are multiples of
 * it. Only threads and intervals with 64 entries or more count.
 *
 * @param rowBytes the longest such length, of at least four lines; 0 without
 * @param share of the distances that are multiples of it
 * @param samePlace share of the looks at a thread, one in each interval, in which it was at the same place in its rows; a loop that goes
 *            from column to column is at many places, one that walks along parts of rows always at the beginning of its part
 * @param looks at how many threads and intervals was looked
 * @param steps number of distances
 * @param least {@link #share} that is a sweep: less where rows are longer than a page, because there later columns reach the pages between
 * @param same {@link #samePlace} above this is the same place: less where rows are longer than a page, because there also who walks along
 *            parts of rows makes such steps
 */
record RowSteps(long rowBytes, double share, double samePlace, int looks, long steps, double least, double same) {
	private static final int ENTRIES = 64;
	/** A shorter row is for a cache like walking along memory. */
	private static final long LEAST_ROW = 256;
	/** Rows that leave out pages. */
	private static final long LONG_ROW = 4097;
	/** Steps whose differences may be a row. */
	private static final int TOP = 3;
	private static final double SAME = 0.9;
	private static final double SAME_OF_LONG = 0.75;
	private static final double LEAST_OF_LONG = 0.5;
	private static final double SAME_OF_BLOCKS = 0.4;
	private static final int LOOKS_AT_BLOCKS = 16;
	private static final int LINE = 64;

	/** The better of two explanations: of all steps, and of those that leave out the ends of pages. */
	static RowSteps of(GroupFacts g, Thresholds th) {
		RowSteps all = of(g, e -> e.steps, LEAST_ROW, th.get(Threshold.STRIDE_STEPS), SAME);
		if (all.explains()) {
			return all;
		}
		RowSteps inside = of(g, e -> e.inside, LONG_ROW, LEAST_OF_LONG, SAME_OF_LONG);
		// parts of short rows make some steps of several rows, too
		boolean several = all.rowBytes > 0 && all.rowBytes < LONG_ROW && inside.rowBytes % all.rowBytes == 0;
		return inside.explains() && !several ? inside : all;
	}

	/** Whether the steps are those of a sweep, at the same place or not. */
	boolean explains() {
		return share >= least;
	}

	private static RowSteps of(GroupFacts g, Function<PageEntries, PageEntries.Steps> which, long leastRow, double least,
			double same) {
		List<PageEntries> looks = g.entries().stream().filter(e -> e.entries() >= ENTRIES).toList();
		Map<Long, Long> counts = new HashMap<>();
		looks.forEach(e -> which.apply(e).forEach((bytes, count, address) -> counts.merge(bytes, (long) count, Long::sum)));
		long[] top = counts.entrySet().stream().sorted(Comparator.comparingLong((Map.Entry<Long, Long> e) -> -e.getValue())
				.thenComparing(Map.Entry::getKey)).limit(TOP).mapToLong(Map.Entry::getKey).toArray();
		long row = 0;
		long explained = 0;
		// a page has one row more or less than the one before, so a difference may be a row
		for (int a = 0; a < top.length; a++) {
			for (int b = a; b < top.length; b++) {
				long candidate = a == b ? top[a] : Math.abs(top[a] - top[b]);
				long multiples = candidate < leastRow ? 0
						: counts.entrySet().stream().filter(e -> e.getKey() % candidate == 0).mapToLong(Map.Entry::getValue).sum();
				if (multiples > explained || multiples == explained && multiples > 0 && candidate > row) {
					row = candidate;
					explained = multiples;
				}
			}
		}
		long steps = looks.stream().mapToLong(e -> which.apply(e).all()).sum();
		return row == 0 ? new RowSteps(0, 0, 1, looks.size(), steps, least, same) : new RowSteps(row, (double) explained / steps,
				samePlace(looks, which, row, leastRow == LONG_ROW ? LINE : row), looks.size(), steps, least, same);
	}

	private record ThreadPlace(int thread, long place) {
	}

	/** Of long rows the place in a cache line: tiles begin in other columns, too, but at the beginning of a line. */
	private static double samePlace(List<PageEntries> all, Function<PageEntries, PageEntries.Steps> which, long row, long length) {
		Map<ThreadPlace, Integer> looks = new HashMap<>();
		Map<Integer, Integer> most = new HashMap<>();
		for (PageEntries e : all) {
			long[] best = {0, 0};
			which.apply(e).forEach((bytes, count, address) -> {
				if (count > best[0]) {
					best[0] = count;
					best[1] = Long.remainderUnsigned(address, row) % length;
				}
			});
			int n = looks.merge(new ThreadPlace(e.thread, best[1]), 1, Integer::sum);
			most.merge(e.thread, n, Math::max);
		}
		return (double) most.values().stream().mapToInt(Integer::intValue).sum() / all.size();
	}

	/** Whether the rows are the blocks of a group: many of them are as long, with what an allocator puts between two. */
	private boolean areBlocks(GroupFacts g, TraceFacts t) {
		long alike = g.structures.stream().mapToLong(id -> rowBytes - t.structures().get(id).sizeBytes()).filter(n -> n >= 0 && n < LINE).count();
		return alike >= 16 && 4 * alike > g.structures.size();
	}

	/**
	 * What must be true of a sweep down the columns. Where the rows are blocks of their own, whoever enters each of them at its beginning
	 * makes such steps, too: there only many looks at different columns tell a sweep.
	 */
	List<Check> checks(GroupFacts g, TraceFacts t) {
		boolean blocks = areBlocks(g, t);
		List<Check> all = new ArrayList<>();
		if (blocks) {
			all.add(Check.atLeast("looks at a thread, as each row is a block of its own", looks, LOOKS_AT_BLOCKS));
		}
		all.addAll(List.of(
				Check.atLeast("share of the steps from page to page that are multiples of one length (" + rowBytes + " bytes)", share, least),
				Check.atLeast("such steps", steps, ENTRIES),
				Check.atMost("share of the looks at a thread in which it is at the same place of its rows", samePlace,
						blocks ? Math.min(same, SAME_OF_BLOCKS) : same).counter()));
		return all;
	}
}
