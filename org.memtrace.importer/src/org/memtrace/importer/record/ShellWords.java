// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Words of a POSIX shell: what a person types as arguments, and a command line that can be pasted into a terminal. */
public final class ShellWords {
	private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

	private ShellWords() {
	}

	/**
	 * Divides a text into words as a shell does, without expanding anything: blanks and line ends separate, quotes and backslashes
	 * hold together.
	 *
	 * @throws IllegalArgumentException one sentence, when a quote is not closed
	 */
	public static List<String> split(String text) {
		List<String> words = new ArrayList<>();
		StringBuilder word = null;
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (Character.isWhitespace(c)) {
				if (word != null) {
					words.add(word.toString());
					word = null;
				}
				continue;
			}
			word = word == null ? new StringBuilder() : word;
			if (c == '\\') {
				if (++i == text.length()) {
					throw new IllegalArgumentException("A backslash is at the end, with nothing behind it.");
				}
				word.append(text.charAt(i));
			} else if (c == '\'' || c == '"') {
				i = quoted(text, i, word);
			} else {
				word.append(c);
			}
		}
		if (word != null) {
			words.add(word.toString());
		}
		return words;
	}

	/** Appends what is between quotes; returns the index of the closing one. */
	private static int quoted(String text, int begin, StringBuilder word) {
		char quote = text.charAt(begin);
		for (int i = begin + 1; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c == quote) {
				return i;
			}
			if (c == '\\' && quote == '"' && i + 1 < text.length() && "\\\"$`".indexOf(text.charAt(i + 1)) >= 0) {
				c = text.charAt(++i);
			}
			word.append(c);
		}
		throw new IllegalArgumentException("A quote (" + quote + ") is not closed.");
	}

	/** A word as one types it. */
	public static String quote(String word) {
		return HARMLESS.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
	}

	/** Words as one types them. */
	public static String join(List<String> words) {
		return String.join(" ", words.stream().map(ShellWords::quote).toList());
	}
}
