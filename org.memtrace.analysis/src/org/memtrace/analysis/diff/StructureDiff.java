// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.List;

/**
 * A structure on both sides.
 *
 * @param name its name, after the change if it was renamed: "old, now new"
 * @param origin kind and site
 * @param how how it was matched, empty when kind, name and site are the same
 * @param inA number of runs before that have it
 * @param inB number of runs after that have it
 * @param weight largest share of the accesses or pages of a run
 * @param comparisons what can be compared
 * @param before who touches and uses it, mean over the runs before; null when it is not there
 * @param after the same after
 */
public record StructureDiff(String name, String origin, String how, int inA, int inB, double weight, List<Comparison> comparisons,
		Use before, Use after) {
	/**
	 * Who touches and uses the pages, and how much.
	 *
	 * @param structures ids of its structures in the first run that has it
	 * @param reads share of all accesses of a run that are reads of it, 0 to 1
	 * @param writes share of all accesses of a run that are writes to it, 0 to 1
	 * @param firstTouch share of the pages by role number
	 * @param mainUse share of the pages by role number of their main user
	 * @param firstPlaces for each of 64 equal parts of a block the role number that touches most of its pages first, -1 not known; empty for
	 * small ones
	 * @param mainPlaces the same for the main user
	 */
	public record Use(List<Integer> structures, double reads, double writes, double[] firstTouch, double[] mainUse, int[] firstPlaces,
			int[] mainPlaces) {
	}

	/** Share of the places of which another thread, by its role, touches most pages first than before; not a number when not known. */
	public double movedPlaces() {
		if (before == null || after == null || before.firstPlaces.length == 0 || after.firstPlaces.length == 0) {
			return Double.NaN;
		}
		int known = 0;
		int moved = 0;
		for (int i = 0; i < before.firstPlaces.length; i++) {
			if (before.firstPlaces[i] >= 0 && after.firstPlaces[i] >= 0) {
				known++;
				moved += before.firstPlaces[i] != after.firstPlaces[i] ? 1 : 0;
			}
		}
		return known == 0 ? Double.NaN : (double) moved / known;
	}
}
