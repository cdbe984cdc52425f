// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** What a user types to find names: a regular expression, or, as long as it is none, the text itself; capitals make no difference. */
public final class NamePattern {
	private static final int FLAGS = Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;

	private NamePattern() {
	}

	/** What finds such names; null for a text without anything, which finds all. */
	public static Pattern of(String typed) {
		String text = typed.strip();
		if (text.isEmpty()) {
			return null;
		}
		try {
			return Pattern.compile(text, FLAGS);
		} catch (PatternSyntaxException e) {
			return Pattern.compile(text, FLAGS | Pattern.LITERAL); // while it is being typed
		}
	}
}
