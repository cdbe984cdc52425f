// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.List;

/**
 * A region of the program on both sides.
 *
 * @param inA number of runs before that have it
 * @param inB number of runs after that have it
 * @param comparisons its time, and what happened to the data of the program in it
 * @param structures those that it uses, the heaviest first: weights are shares of the accesses in the region, shares of reads and writes
 *     are of all accesses of the run, first touches are those in the region
 */
public record RegionDiff(String name, int inA, int inB, List<Comparison> comparisons, List<StructureDiff> structures) {
	private static final double RELEVANT = 0.01;

	public RegionDiff {
		comparisons = List.copyOf(comparisons);
		structures = List.copyOf(structures);
	}

	/** The structures with 1 % of the accesses in the region. */
	public List<StructureDiff> relevant() {
		return structures.stream().filter(s -> s.weight() >= RELEVANT).toList();
	}
}
