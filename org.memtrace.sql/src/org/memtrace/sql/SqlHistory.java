// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.util.ArrayList;
import java.util.List;

/**
 * Statements that were asked, the newest first, each once. Immutable.
 *
 * @param statements at most {@link #MOST}
 */
public record SqlHistory(List<String> statements) {
	/** How many are kept. */
	public static final int MOST = 100;
	/** Of somebody who has asked nothing. */
	public static final SqlHistory EMPTY = new SqlHistory(List.of());

	public SqlHistory {
		statements = List.copyOf(statements);
	}

	/** A statement more; one that is there already moves to the front, an empty one is none. */
	public SqlHistory with(String statement) {
		String kept = statement.strip();
		if (kept.isEmpty()) {
			return this;
		}
		List<String> now = new ArrayList<>(statements);
		now.remove(kept);
		now.add(0, kept);
		return new SqlHistory(now.subList(0, Math.min(MOST, now.size())));
	}

	/** A line for each statement. */
	public String toText() {
		return String.join("\n", statements.stream().map(s -> s.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")).toList());
	}

	/** Reads what {@link #toText} wrote; lines that it cannot have written are read as they are. */
	public static SqlHistory of(String text) {
		List<String> statements = new ArrayList<>();
		for (String line : text.split("\n")) {
			String statement = unescaped(line);
			if (!statement.isBlank() && statements.size() < MOST && !statements.contains(statement)) {
				statements.add(statement);
			}
		}
		return new SqlHistory(statements);
	}

	private static String unescaped(String line) {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < line.length(); i++) {
			char c = line.charAt(i);
			if (c == '\\' && i + 1 < line.length()) {
				char next = line.charAt(++i);
				b.append(next == 'n' ? '\n' : next == 'r' ? '\r' : next);
			} else {
				b.append(c);
			}
		}
		return b.toString();
	}
}
