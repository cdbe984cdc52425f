// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;

/** Which cells of a small matrix are in a block, for searches through all partitions. Rows [from, to) x columns [first, end). */
final class Cells {
	private Cells() {
	}

	static boolean isFree(boolean[][] taken, int from, int to, int first, int end) {
		for (int l = from; l < to; l++) {
			for (int t = first; t < end; t++) {
				if (taken[l][t]) {
					return false;
				}
			}
		}
		return true;
	}

	static void take(boolean[][] taken, int from, int to, int first, int end, boolean value) {
		for (int l = from; l < to; l++) {
			Arrays.fill(taken[l], first, end, value);
		}
	}
}
