// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.util.Collection;

/** Which name was meant: the first that begins with what was typed, or the nearest by edit distance. */
public final class Nearest {
	private Nearest() {
	}

	/** Null when none is near. Same rule as mt_nearest() in collector/cli/table/args.c. */
	public static String of(String typed, Collection<String> names) {
		String best = null;
		int bestDistance = typed.length() <= 3 ? 2 : 3;
		for (String name : names) {
			if (typed.length() >= 2 && name.startsWith(typed)) {
				return name;
			}
			int d = distance(typed, name);
			if (d < bestDistance) {
				bestDistance = d;
				best = name;
			}
		}
		return best;
	}

	/** Insertions, deletions, changes and swaps of neighbours. */
	private static int distance(String a, String b) {
		int[][] d = new int[a.length() + 1][b.length() + 1];
		for (int i = 0; i <= a.length(); i++) {
			for (int j = 0; j <= b.length(); j++) {
				if (i == 0 || j == 0) {
					d[i][j] = i + j;
					continue;
				}
				int v = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
				v = Math.min(v, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
				if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
					v = Math.min(v, d[i - 2][j - 2] + 1);
				}
				d[i][j] = v;
			}
		}
		return d[a.length()][b.length()];
	}
}
