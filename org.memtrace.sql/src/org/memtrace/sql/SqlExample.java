// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A useful query of docs/reference/sql-queries.md.
 *
 * @param number as on the page
 * @param group heading that it is under
 * @param title what it finds, without a stop at its end
 * @param sql the statement
 */
public record SqlExample(int number, String group, String title, String sql) {
	private static final Pattern PART = Pattern.compile("(?m)^###? (?<heading>.*)$|^(?<number>\\d+)\\. (?<title>[^\\n]*)\\n+```sql\\n(?<sql>[^`]*)```");

	/** The queries of the page, in its order. */
	public static List<SqlExample> of(String page) {
		List<SqlExample> examples = new ArrayList<>();
		String group = "";
		Matcher m = PART.matcher(page);
		while (m.find()) {
			if (m.group("heading") != null) {
				group = m.group("heading").strip();
			} else {
				examples.add(new SqlExample(Integer.parseInt(m.group("number")), group,
						m.group("title").replace("`", "").strip().replaceFirst("[.:]$", ""), m.group("sql").strip()));
			}
		}
		return examples;
	}
}
