// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.sql.SQLException;

/** Words for DuckDB, and what it says. */
final class SqlText {
	/** The files of the accesses in a folder. */
	static final String ACCESSES = "/accesses/*/*.parquet";

	private SqlText() {
	}

	/** Files as a text for DuckDB: the name of a folder is no pattern, only {@link #ACCESSES} at the end of a path is. */
	static String files(String path) {
		String pattern = path.endsWith(ACCESSES) ? ACCESSES : "";
		return text(path.substring(0, path.length() - pattern.length()).replaceAll("[*?\\[]", "[$0]") + pattern);
	}

	/** A text of SQL. */
	static String text(String s) {
		return '\'' + s.replace("'", "''") + '\'';
	}

	/** What DuckDB says, without the copy of the statement and the stack that it appends, as one line. */
	static String sentence(SQLException e) {
		String text = String.valueOf(e.getMessage()).replaceFirst("(?s)\\n\\s*LINE \\d+:.*", "").strip();
		return text.replaceAll("\\s*\\n\\s*", " ");
	}
}
