// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.Comparator;

/** Order of names as people expect it: {@code node 9} before {@code node 10}, without regard to case. */
public final class NaturalOrder implements Comparator<String> {
	public static final NaturalOrder INSTANCE = new NaturalOrder();

	private NaturalOrder() {
	}

	@Override
	public int compare(String a, String b) {
		int i = 0;
		int j = 0;
		while (i < a.length() && j < b.length()) {
			char x = a.charAt(i);
			char y = b.charAt(j);
			if (isDigit(x) && isDigit(y)) {
				int iEnd = digits(a, i);
				int jEnd = digits(b, j);
				int c = number(a, i, iEnd, b, j, jEnd);
				if (c != 0) {
					return c;
				}
				i = iEnd;
				j = jEnd;
			} else {
				int c = Character.compare(Character.toLowerCase(x), Character.toLowerCase(y));
				if (c != 0) {
					return c;
				}
				i++;
				j++;
			}
		}
		int c = Integer.compare(a.length() - i, b.length() - j);
		return c != 0 ? c : a.compareTo(b);
	}

	private static boolean isDigit(char c) {
		return c >= '0' && c <= '9';
	}

	private static int digits(String s, int from) {
		int i = from;
		while (i < s.length() && isDigit(s.charAt(i))) {
			i++;
		}
		return i;
	}

	/** Numbers of any length. */
	private static int number(String a, int aFrom, int aTo, String b, int bFrom, int bTo) {
		int i = aFrom;
		int j = bFrom;
		while (i < aTo - 1 && a.charAt(i) == '0') {
			i++;
		}
		while (j < bTo - 1 && b.charAt(j) == '0') {
			j++;
		}
		int c = Integer.compare(aTo - i, bTo - j);
		for (; c == 0 && i < aTo; i++, j++) {
			c = Character.compare(a.charAt(i), b.charAt(j));
		}
		return c;
	}
}
