// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.reader;

/** Numbers inside names compare by value: {@code rank 9} before {@code rank 10}. */
final class NaturalOrder {
	private NaturalOrder() {
	}

	static int compare(String a, String b) {
		int i = 0;
		int j = 0;
		while (i < a.length() && j < b.length()) {
			int iEnd = digits(a, i);
			int jEnd = digits(b, j);
			int order;
			if (iEnd > i && jEnd > j) {
				int x = significant(a, i, iEnd);
				int y = significant(b, j, jEnd);
				order = Integer.compare(iEnd - x, jEnd - y);
				for (; order == 0 && x < iEnd; x++, y++) {
					order = Character.compare(a.charAt(x), b.charAt(y));
				}
				i = iEnd;
				j = jEnd;
			} else {
				order = Character.compare(a.charAt(i++), b.charAt(j++));
			}
			if (order != 0) {
				return order;
			}
		}
		return Integer.compare(a.length() - i, b.length() - j);
	}

	/** Where a number begins without its zeros; its last digit is one of it. */
	private static int significant(String text, int from, int end) {
		int first = from;
		while (first < end - 1 && text.charAt(first) == '0') {
			first++;
		}
		return first;
	}

	private static int digits(String text, int from) {
		int end = from;
		while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
			end++;
		}
		return end;
	}
}
