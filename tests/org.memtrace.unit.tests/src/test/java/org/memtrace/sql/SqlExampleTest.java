// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

/** The queries of a page. */
class SqlExampleTest {
	@Test
	void queriesHaveNumberGroupTitleAndText() {
		List<SqlExample> found = SqlExample.of("""
				# SQL

				```
				no query
				```
				## Many
				### What is used

				1. The most `x`:

				```sql
				select 1
				  from access
				```

				2. Nothing is left. Compile with `-g`.

				```sql
				select 2
				```
				### Who
				text
				13. Who?

				```sql
				select 3
				```
				""");
		assertEquals(List.of(new SqlExample(1, "What is used", "The most x", "select 1\n  from access"),
				new SqlExample(2, "What is used", "Nothing is left. Compile with -g", "select 2"),
				new SqlExample(13, "Who", "Who?", "select 3")), found);
		assertEquals(List.of(), SqlExample.of("This page is missing in the installation."));
	}

	@Test
	void allOfThePage() throws IOException {
		String page = Files.readString(Path.of(System.getProperty("memtrace.root"), "docs/reference/sql-queries.md"));
		List<SqlExample> found = SqlExample.of(page);
		assertEquals(page.split("```sql").length - 1, found.size());
		assertEquals(IntStream.rangeClosed(1, found.size()).boxed().toList(), found.stream().map(SqlExample::number).toList());
		assertEquals(List.of("What is used", "Who uses it", "Who was first", "When", "Where in a structure",
				"What is wrong, and where it comes from"), found.stream().map(SqlExample::group).distinct().toList());
	}
}
