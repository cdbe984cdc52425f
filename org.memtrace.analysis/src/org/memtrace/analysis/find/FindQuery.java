// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a person typed, as it is looked for. Words are parts of names, in any case, and all must be there. A number in hexadecimal is an
 * address, too; a word with a colon and a number behind it is a line of a file, too. Immutable.
 *
 * @param words folded, in the order of typing
 * @param hasAddress whether it can be an address
 * @param address the address, unsigned
 * @param isAddress whether it can be nothing else: it begins with {@code 0x}
 * @param file folded part of the name of a file, null when there is none
 * @param line from 1; 0 when there is none
 */
public record FindQuery(List<String> words, boolean hasAddress, long address, boolean isAddress, String file, int line) {
	/** Nothing was typed. */
	public static final FindQuery EMPTY = new FindQuery(List.of(), false, 0, false, null, 0);
	private static final Pattern ADDRESS = Pattern.compile("(?i)(0x)?([0-9a-f][0-9a-f_']*)");
	private static final Pattern LINE = Pattern.compile("(.*[^:]):(\\d{1,9})");
	private static final int HEX = 16;
	/** A shorter number without 0x is not taken for an address. */
	private static final int LEAST_DIGITS = 5;

	public FindQuery {
		words = List.copyOf(words);
	}

	/** Reads what was typed; anything can be. */
	public static FindQuery of(String typed) {
		String text = NameIndex.fold(typed).strip();
		if (text.isEmpty()) {
			return EMPTY;
		}
		List<String> words = Arrays.asList(text.split("\\s+"));
		boolean has = false;
		long address = 0;
		Matcher a = ADDRESS.matcher(text);
		boolean prefixed = a.matches() && a.group(1) != null;
		if (a.matches()) {
			String digits = a.group(2).replaceAll("[_']", "");
			has = digits.length() <= HEX && (prefixed || digits.length() >= LEAST_DIGITS);
			address = has ? Long.parseUnsignedLong(digits, HEX) : 0;
		}
		Matcher l = LINE.matcher(text);
		boolean isLine = words.size() == 1 && l.matches() && Integer.parseInt(l.group(2)) > 0;
		return new FindQuery(words, has, address, has && prefixed, isLine ? l.group(1) : null, isLine ? Integer.parseInt(l.group(2)) : 0);
	}

	public boolean isEmpty() {
		return words.isEmpty();
	}
}
