// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The name of a folder is no pattern: a folder a[1] would be read as the folder a1 beside it. */
class SqlFilesTest {
	@Test
	void namesOfFoldersAreNoPatterns() {
		assertEquals("'/tmp/a/threads.parquet'", SqlText.files("/tmp/a/threads.parquet"));
		assertEquals("'/tmp/a/accesses/*/*.parquet'", SqlText.files("/tmp/a/accesses/*/*.parquet"));
		assertEquals("'/tmp/a[[]1]/x[*]y/q[?]r/it''s/accesses/*/*.parquet'", SqlText.files("/tmp/a[1]/x*y/q?r/it's/accesses/*/*.parquet"));
		assertEquals("'s3://bucket/[*]/threads.parquet'", SqlText.files("s3://bucket/*/threads.parquet"));
	}
}
