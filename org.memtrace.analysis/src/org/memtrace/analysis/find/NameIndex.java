// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Names in one text, so that those with some words in them are found in one pass over it, in any case. Takes about the bytes of the names
 * and 4 bytes for each. Immutable, safe for all threads.
 */
final class NameIndex {
	/** How well a name fits: the whole name, its beginning, the beginning of a word in it, or any part of it. */
	static final int WHOLE = 0;
	static final int BEGINNING = 1;
	static final int WORD = 2;
	static final int PART = 3;
	private static final int CHECK_EVERY = 0xfff;
	private static final char END = '\n';

	private final String text;
	/** Where each name begins; one more is the end. */
	private final int[] start;

	private NameIndex(String text, int[] start) {
		this.text = text;
		this.start = start;
	}

	/** @param name of each number from 0 to {@code size - 1}; asked once, in order */
	static NameIndex of(int size, IntFunction<String> name, Progress progress) throws CancelledException {
		StringBuilder all = new StringBuilder();
		int[] start = new int[size + 1];
		for (int i = 0; i < size; i++) {
			if ((i & CHECK_EVERY) == 0) {
				progress.check();
			}
			start[i] = all.length();
			all.append(fold(name.apply(i))).append(END);
		}
		start[size] = all.length();
		return new NameIndex(all.toString(), start);
	}

	/** As names and words are compared. */
	static String fold(String name) {
		return name.toLowerCase(Locale.ROOT).replace(END, ' ');
	}

	int size() {
		return start.length - 1;
	}

	/**
	 * The names that have all words in them, in order.
	 *
	 * @param words folded
	 * @param among numbers of names that are looked at, ascending; null all
	 */
	int[] find(List<String> words, int[] among, Progress progress) throws CancelledException {
		String longest = words.stream().max((a, b) -> a.length() - b.length()).orElse("");
		int[] found = new int[Math.min(1024, among == null ? size() : among.length)];
		int n = 0;
		int last = among == null ? size() : among.length;
		for (int k = 0; k < last; k++) {
			if ((k & CHECK_EVERY) == 0) {
				progress.check();
			}
			int i;
			if (among != null) {
				i = among[k];
			} else {
				int at = text.indexOf(longest, start[k]);
				if (at < 0) {
					break;
				}
				k = nameAt(k, at);
				i = k;
			}
			if (i < size() && hasAll(i, words)) {
				if (n == found.length) {
					found = Arrays.copyOf(found, 2 * n);
				}
				found[n++] = i;
			}
		}
		return Arrays.copyOf(found, n);
	}

	/** The name that a character is of, from a name on. */
	private int nameAt(int from, int at) {
		if (at < start[from + 1]) {
			return from;
		}
		if (from + 2 < start.length && at < start[from + 2]) {
			return from + 1;
		}
		int k = Arrays.binarySearch(start, from + 1, start.length, at);
		return k >= 0 ? k : -k - 2;
	}

	private boolean hasAll(int i, List<String> words) {
		for (String w : words) {
			if (text.indexOf(w, start[i], start[i + 1]) < 0) {
				return false;
			}
		}
		return true;
	}

	/** How well a name that has all words fits: {@link #WHOLE} to {@link #PART}; all words must begin words for {@link #WORD}. */
	int rank(int i, List<String> words) {
		return rank(i, words, String.join(" ", words));
	}

	/** @param typed the words with blanks between them */
	int rank(int i, List<String> words, String typed) {
		if (text.startsWith(typed, start[i])) {
			return start[i] + typed.length() == start[i + 1] - 1 ? WHOLE : BEGINNING;
		}
		for (String w : words) {
			if (!beginsWord(i, w)) {
				return PART;
			}
		}
		return WORD;
	}

	private boolean beginsWord(int i, String word) {
		int end = start[i + 1];
		for (int at = text.indexOf(word, start[i], end); at >= 0; at = text.indexOf(word, at + 1, end)) {
			if (at == start[i] || !Character.isLetterOrDigit(text.charAt(at - 1))) {
				return true;
			}
		}
		return false;
	}
}
