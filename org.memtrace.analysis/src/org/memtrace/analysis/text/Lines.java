// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

/** Words in lines of a limited width. Any thread. */
public final class Lines {
	private static final int WIDTH = 100;

	private Lines() {
	}

	/**
	 * Appends words in lines of at most 100 characters, and a line end. The spaces before the text stay; a percent sign stays with its
	 * number.
	 *
	 * @param indent what further lines begin with
	 */
	public static void wrap(StringBuilder b, String text, String indent) {
		String first = text.substring(0, text.length() - text.stripLeading().length());
		b.append(first);
		int width = first.length();
		boolean start = true;
		for (String word : text.stripLeading().split(" (?!%)")) {
			if (!start && width + 1 + word.length() > WIDTH) {
				b.append('\n').append(indent);
				width = indent.length();
			} else if (!start) {
				b.append(' ');
				width++;
			}
			b.append(word);
			width += word.length();
			start = false;
		}
		b.append('\n');
	}
}
