// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.List;

/** Text in columns for a terminal. */
public final class TextColumns {
	private TextColumns() {
	}

	/** At most {@code most} characters, with an ellipsis in the middle; of a path the end, which tells the file, is kept. */
	public static String cut(String s, int most) {
		if (s.length() <= most) {
			return s;
		}
		int slash = s.indexOf('/', s.length() - most + 1);
		if (slash >= 0 && slash < s.length() - 1) {
			return "…" + s.substring(slash);
		}
		int head = most / 2;
		return s.substring(0, head) + "…" + s.substring(s.length() - (most - head - 1));
	}

	/**
	 * Appends rows, the first one a header.
	 *
	 * @param align a letter for each column, l or r
	 */
	public static void columns(StringBuilder b, List<String[]> rows, String align) {
		int n = align.length();
		int[] width = new int[n];
		for (String[] row : rows) {
			for (int c = 0; c < n; c++) {
				width[c] = Math.max(width[c], row[c].length());
			}
		}
		for (String[] row : rows) {
			StringBuilder line = new StringBuilder();
			for (int c = 0; c < n; c++) {
				String pad = " ".repeat(width[c] - row[c].length());
				line.append(align.charAt(c) == 'l' ? row[c] + pad : pad + row[c]).append(c + 1 < n ? "  " : "");
			}
			b.append(line.toString().stripTrailing()).append('\n');
		}
	}
}
