// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.Structure;

/**
 * Page faults of a group that would be there without the recorder, which takes each page away once in a part of an interval.
 *
 * @param least what more was seen than the recorder can have made
 * @param most all that was seen, but the first of each page
 * @param pages different pages of it that were touched, at most
 */
record PageFaults(double least, double most, long pages) {
	private static final long PAGE = 4096;
	private static final int MOST_SUBPHASES = 16;

	private record Range(long from, long to) {
	}

	static PageFaults of(GroupFacts g, TraceFacts facts) {
		long size = Math.max(PAGE, facts.info().pageSizeBytes());
		long all = g.structures.stream().map(facts.structures()::get).map(s -> range(s, size)).distinct().mapToLong(r -> r.to - r.from).sum();
		long pages = Math.min(all, g.parts);
		int subphases = MOST_SUBPHASES;
		try {
			subphases = Math.max(1, Integer.parseInt(facts.property("parameter_subphases")));
		} catch (NumberFormatException e) {
			// not known: the most that a recorder makes
		}
		return new PageFaults(Math.max(0, g.accesses - (double) (g.pairs + g.parts) * subphases), Math.max(0, g.accesses - pages), pages);
	}

	private static Range range(Structure s, long size) {
		return new Range(s.startAddress() / size, (s.endAddress() + size - 1) / size);
	}

	/** Those that there are alone: the first of each page, or more if more were seen for certain. */
	double alone() {
		return Math.max(pages, least);
	}
}
