// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The command that shows a line in the editor of the user. */
public final class EditorCommand {
	private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");
	private static final String TERMINAL = "x-terminal-emulator";

	private EditorCommand() {
	}

	/**
	 * The words of the command.
	 *
	 * @param setting what the user wrote, with {@code {file}} and {@code {line}}; empty: Visual Studio Code if it is there,
	 *        else $VISUAL or $EDITOR
	 *        in a terminal
	 * @param environment value of a variable, or null
	 * @param isThere whether there is a program of that name
	 * @param line from 1; 0 not known
	 * @throws IllegalArgumentException with a sentence: there is no editor
	 */
	public static List<String> of(String setting, UnaryOperator<String> environment, Predicate<String> isThere, Path file, int line) {
		String text = setting.strip();
		if (text.isEmpty() && isThere.test("code")) {
			text = "code -g {file}:{line}";
		} else if (text.isEmpty()) {
			String editor = first(environment.apply("VISUAL"), environment.apply("EDITOR"));
			if (editor == null || !isThere.test(TERMINAL)) {
				throw new IllegalArgumentException("There is no editor: neither 'code', nor " + (editor == null ? "$VISUAL or $EDITOR"
						: TERMINAL + " for " + editor)
						+ ". Window > Preferences > memtrace > Source has a field for the command.");
			}
			text = TERMINAL + " -e " + editor + " +{line} {file}";
		}
		List<String> words = new ArrayList<>();
		Matcher m = WORD.matcher(text);
		while (m.find()) {
			String word = m.group(1) != null ? m.group(1) : m.group(2) != null ? m.group(2) : m.group(3);
			words.add(word.replace("{line}", Integer.toString(Math.max(1, line))).replace("{file}", file.toString()));
		}
		if (!text.contains("{file}")) {
			words.add(file.toString());
		}
		return words;
	}

	private static String first(String a, String b) {
		return a != null && !a.isBlank() ? a : b != null && !b.isBlank() ? b : null;
	}
}
