// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.model.Completion;

/** What is proposed at a place, which | marks. */
class SqlCompletionTest {
	private static final List<SqlView> VIEWS = List.of(
			view("access", "start_ns", "structure", "structure_id", "reads", "writes", "offset"),
			view("structure", "id", "name", "size_bytes", "end", "start_ns"), view("thread", "index", "name"));

	private static SqlView view(String name, String... columns) {
		Map<String, String> meanings = new LinkedHashMap<>();
		for (String c : columns) {
			meanings.put(c, "meaning of " + c);
		}
		return new SqlView(name, "", "table " + name, meanings);
	}

	private static Completion at(String text) {
		int caret = text.indexOf('|');
		return SqlCompletion.at(text.replace("|", ""), caret, VIEWS);
	}

	private static List<String> texts(String text) {
		return at(text).proposals().stream().map(Completion.Proposal::text).toList();
	}

	@Test
	void tables() {
		assertEquals(List.of("access", "structure", "thread"), texts("select * from |"));
		assertEquals(List.of("structure"), texts("select * from st|"));
		assertEquals(List.of("structure"), texts("select * from access a join S|"));
		assertEquals(List.of("thread"), texts("select * from access a, t|"));
		assertEquals(List.of("access"), texts("describe a|"));
		assertEquals(List.of("x", "y", "access", "structure", "thread"),
				texts("with x as (select 1), y as (select 2 from access) select * from |"));
		assertEquals(List.of(), texts("select * from nothing|"));
		assertEquals("start_ns", texts("select * from access where name in (1, |").get(0), "the list of tables has ended");
	}

	@Test
	void columnsOfATable() {
		assertEquals(List.of("id", "name", "size_bytes", "end", "start_ns"), texts("select s.| from structure s"));
		assertEquals(List.of("name", "start_ns"), texts("select s.N| from structure as s"), "what begins so is first");
		assertEquals(List.of("index", "name"), texts("select thread.|"));
		assertEquals(List.of("offset"), texts("select \"A\".off| from access \"A\""));
		assertEquals(List.of(), texts("select z.| from access a"));
		assertEquals(List.of(), texts("with x as (select 1 as n) select x.| from x"), "what a part has is not known");
	}

	@Test
	void columnsOfTheTablesThatAreNamed() {
		assertEquals("start_ns", texts("select | from access").get(0));
		List<String> one = texts("select st| from access");
		assertEquals(List.of("start_ns", "structure", "structure_id"), one.subList(0, 3));
		assertFalse(texts("select | from access").contains("size_bytes"));
		assertTrue(texts("select |").containsAll(List.of("size_bytes", "reads", "index")), "no table is named yet");
		assertEquals(List.of("a.start_ns", "s.start_ns"),
				texts("select start_n| from access a join structure s on s.id = a.structure_id"), "both have it");
		assertEquals(List.of("\"end\"", "end"), texts("select en| from structure"), "a word of the language, too");
		assertEquals("size_bytes", texts("select by| from structure").get(1), "the begin of a part, behind what begins so");
		assertEquals("by", texts("select by| from structure").get(0));
		assertEquals(List.of("reads"), texts("select rea| from structure; select rea| from access".replaceFirst("\\|", "")));
		assertEquals(List.of(), texts("select rea| from structure; select reads from access"),
				"of the statement with the caret only");
	}

	@Test
	void functionsAndKeywords() {
		assertTrue(texts("select 1 from access g|").containsAll(List.of("group", "greatest")));
		assertTrue(texts("SELECT 1 FROM access GR|").contains("GROUP"));
		assertTrue(texts("select 1 from access gr|").contains("group"));
		assertEquals("meaning of reads", at("select rea| from access").proposals().get(0).note());
		assertTrue(at("select count| from access").proposals().stream()
				.anyMatch(p -> p.text().equals("count")
						&& p.note().startsWith("number of rows")));
	}

	@Test
	void theWordThatIsReplaced() {
		Completion c = at("select str|ucture from access");
		assertEquals(7, c.from());
		assertEquals(16, c.to());
		Completion behindDot = at("select a.re| from access a");
		assertEquals(List.of(9, 11), List.of(behindDot.from(), behindDot.to()));
	}

	@Test
	void notWithinTextsCommentsAndNumbers() {
		for (String text : List.of("select 'rea|", "select 'it''s rea|ds' from access", "select 1 -- rea|", "select /* rea| */ 1",
				"select 12|", "select \"rea|")) {
			assertEquals(List.of(), texts(text), text);
		}
		assertEquals(List.of("reads"), texts("select 'it''s', \"x\", /* y */ rea| -- z\nfrom access"));
		assertEquals(List.of("reads"), texts("-- don't\nselect rea| from access where structure = 'it''s; ' and 'unfinished"));
		assertTrue(texts("|").contains("select"), "an empty text");
	}
}
