// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

/** Which record of a page was its first one. */
public final class FirstAccess {
	private FirstAccess() {
	}

	/**
	 * The row with the earliest first access, of equal ones the first. Intervals of one process follow each other; those of several
	 * processes overlap, so a record of a later interval can begin before one of an earlier interval.
	 *
	 * @param startNs starts of the intervals of the rows, not descending
	 * @param beginNs first access of each row, its start where that is not known
	 * @param rows how many, one at least
	 */
	public static int row(long[] startNs, long[] beginNs, int rows) {
		int first = 0;
		for (int r = 1; r < rows && startNs[r] <= beginNs[first]; r++) {
			first = beginNs[r] < beginNs[first] ? r : first;
		}
		return first;
	}

	/** The thread of that row, -1 where it is not known: also where a row without a thread may have been before. */
	static int thread(long[] startNs, long[] beginNs, int[] thread, int rows) {
		int first = row(startNs, beginNs, rows);
		for (int r = 0; r < rows && startNs[r] <= beginNs[first]; r++) {
			if (thread[r] < 0 && beginNs[r] == beginNs[first]) {
				return -1;
			}
		}
		return thread[first];
	}
}
