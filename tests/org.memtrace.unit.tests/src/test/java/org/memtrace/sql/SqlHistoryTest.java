// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

/** The list of statements that were asked, and its text. */
class SqlHistoryTest {
	@Test
	void theNewestIsFirstAndEachOnce() {
		SqlHistory h = SqlHistory.EMPTY.with("a").with(" b\n").with("c").with("a");
		assertEquals(List.of("a", "c", "b"), h.statements());
		assertSame(h, h.with(" \n"));
		SqlHistory full = SqlHistory.EMPTY;
		for (int i = 0; i <= SqlHistory.MOST; i++) {
			full = full.with("select " + i);
		}
		assertEquals(IntStream.rangeClosed(1, SqlHistory.MOST).mapToObj(i -> "select " + (SqlHistory.MOST + 1 - i)).toList(), full.statements());
	}

	@Test
	void theTextKeepsEveryStatement() {
		List<String> all = List.of("select '\\n', E'\\\\'\nfrom access\r\nlimit 3", "\\", "select 1 -- ü\n\n+ 2", "a\\\nb");
		assertEquals(all, SqlHistory.of(new SqlHistory(all).toText()).statements());
		assertEquals(List.of(), SqlHistory.of("").statements());
		assertEquals(List.of(), SqlHistory.of(SqlHistory.EMPTY.toText()).statements());
		assertEquals(List.of("a", "b\\"), SqlHistory.of("a\n\n \na\nb\\").statements(), "a text that somebody has damaged");
		StringBuilder many = new StringBuilder();
		IntStream.range(0, 2 * SqlHistory.MOST).forEach(i -> many.append(i).append('\n'));
		assertEquals(SqlHistory.MOST, SqlHistory.of(many.toString()).statements().size());
	}
}
