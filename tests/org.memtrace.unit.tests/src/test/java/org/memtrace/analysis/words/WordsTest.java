// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.words.Words.Adjective;
import org.memtrace.analysis.words.Words.Value;

/** The grammar: each production, and each way to be wrong. */
class WordsTest {
	private static Value plain(String text) {
		return new Value(text, text.contains("*"), false);
	}

	private static String error(String text) {
		return assertThrows(WordsException.class, () -> WordsParser.parse(text)).getMessage();
	}

	@Test
	void words() throws Exception {
		assertEquals(List.of(new Words.Adjectives(false, List.of(Adjective.READ)), new Words.Adjectives(true, List.of(Adjective.SHARED)),
				new Words.Adjectives(false, List.of(Adjective.PRIVATE, Adjective.UNKNOWN))),
						WordsParser.parse("read -shared private,unknown").terms());
		for (Adjective a : Adjective.values()) {
			assertEquals(List.of(new Words.Adjectives(false, List.of(a))), WordsParser.parse(a.word()).terms());
		}
		assertEquals(List.of(), WordsParser.parse("").terms());
	}

	@Test
	void fields() throws Exception {
		for (String field : Words.FIELDS) {
			assertEquals(List.of(new Words.Field(true, field, List.of(plain("a"), plain("b*")))), WordsParser.parse("-" + field
					+ ":a,b*").terms());
		}
		assertEquals(List.of(new Words.Field(false, "offset", List.of(plain(">4KiB")))), WordsParser.parse("offset>4KiB").terms());
		assertEquals(List.of(new Words.Field(false, "type_name", List.of(plain("double")))), WordsParser.parse("type_name:double").terms());
	}

	@Test
	void quotes() throws Exception {
		Words w = WordsParser.parse("structure:\"a name, with: all * of -it\",b region:\"by\"");
		assertEquals(List.of(new Words.Field(false, "structure", List.of(new Value("a name, with: all * of -it", false, true),
				plain("b"))),
				new Words.Field(false, "region", List.of(new Value("by", false, true)))), w.terms());
		assertEquals("region:\"iteration 3\" by structure", WordsParser.joined(List.of("region:iteration 3", "by", "structure")));
		assertEquals("-region:\"a b\",\"c\"", WordsParser.joined(List.of("-region:a b,c")));
		assertEquals("region:a written", WordsParser.joined(List.of("region:a written")));
		assertEquals("region:a by thread", WordsParser.joined(List.of("region:a by thread")));
		assertEquals("a quotation mark has no end", error("structure:\"a"));
	}

	@Test
	void countsAndClauses() throws Exception {
		Words w = WordsParser.parse("page.threads:1 -page.writers>=2 writers>2 -bytes:4KiB..,1MiB by structure, thread every 50ms show pages,bytes top 5 vs old");
		assertEquals(List.of(new Words.PageCount(false, WordCount.THREADS, List.of(plain("1"))),
				new Words.PageCount(true, WordCount.WRITERS, List.of(plain(">=2")))), w.terms());
		assertEquals(List.of(new Words.Limit(false, WordCount.WRITERS, List.of(plain(">2"))),
				new Words.Limit(true, WordCount.BYTES, List.of(plain("4KiB.."), plain("1MiB")))), w.limits());
		assertEquals(List.of("structure", "thread"), w.by());
		assertEquals("50ms", w.every());
		assertEquals(List.of(WordCount.PAGES, WordCount.BYTES), w.show());
		assertEquals(5, w.top());
		assertEquals("old", w.vs());
		assertFalse(w.isFilter());
		assertTrue(WordsParser.parse("written page.threads:1 structure:a").isFilter());
		assertNull(WordsParser.parse("written").vs());
		for (WordCount c : WordCount.values()) {
			assertEquals(List.of(c), WordsParser.parse("show " + c.word()).show());
		}
	}

	@Test
	void ranges() throws Exception {
		for (Object[] r : new Object[][] {{"3", 3L, 3L}, {">3", 4L, Long.MAX_VALUE}, {">=3", 3L, Long.MAX_VALUE}, {"<3", Long.MIN_VALUE,
				2L},
				{"<=3", Long.MIN_VALUE, 3L}, {"3..5", 3L, 5L}, {"3..", 3L, Long.MAX_VALUE}, {"..5", Long.MIN_VALUE, 5L}, {"2k", 2_000L,
						2_000L},
				{"1.5M", 1_500_000L, 1_500_000L}}) {
			WordRange range = WordRange.numbers("writers", plain((String) r[0]));
			assertEquals(List.of(r[1], r[2]), List.of(range.min(), range.max()), (String) r[0]);
		}
		assertEquals((1 << 20) - 1, WordRange.sizes("bytes", plain("4KiB..1MiB")).max());
		assertEquals(4096, WordRange.sizes("bytes", plain("4KiB..1MiB")).min());
		for (String[] wrong : new String[][] {{"x", "writers: 'x' is no number; it may have k, M or G behind it"},
				{"5..3", "writers: nothing is in '5..3'"}, {"0.5", "writers: '0.5' is no whole number"}}) {
			assertEquals(wrong[1], assertThrows(WordsException.class, () -> WordRange.numbers("writers", plain(wrong[0]))).getMessage());
		}
		assertTrue(assertThrows(WordsException.class, () -> WordRange.sizes("bytes",
				plain("4kb"))).getMessage().contains("B, KiB, MiB, GiB or TiB"));
	}

	@Test
	void stars() {
		for (String[] yes : new String[][] {{"ha*", "halo"}, {"*lo", "halo"}, {"h*o", "halo"}, {"*", ""}, {"*a*", "halo"}, {"h*l*o",
				"halo"}}) {
			assertTrue(new Value(yes[0], true, false).matches(yes[1]), String.join(" ", yes));
		}
		for (String[] no : new String[][] {{"ha*", "ahalo"}, {"*lo", "halos"}, {"hal*alo", "halo"}, {"*b*", "halo"}, {"a*a", "a"}}) {
			assertFalse(new Value(no[0], true, false).matches(no[1]), String.join(" ", no));
		}
	}

	@Test
	void mistakes() {
		for (String[] w : new String[][] {{"thrad:3", "there is no field 'thrad'; near: thread"}, {"show threds",
				"there is no count 'threds'; near: threads"},
				{"by", "'by' needs a field such as structure behind it"}, {"by strcture", "there is no field 'strcture'; near: structure"},
				{"by time", "'by time' needs a length: write every 50ms"}, {"by writers",
						"'writers' is a count: write show writers; 'by' takes structure"},
				{"every", "'every' needs a time such as 50ms behind it"}, {"every 1s every 2s", "'every' is there twice"},
				{"top x", "'top' needs a number of groups behind it, not 'x'"}, {"top 0", "'top' needs a number"}, {"show",
						"'show' needs a count"},
				{"vs", "'vs' needs another trace behind it"}, {"structure: halo", "'structure' needs a value behind it, without a blank"},
				{"page.threads", "'page.threads' needs a range behind it, such as page.threads:1 or page.threads>2"},
				{"page.bytes:1", "a page has no 'bytes'; it has threads, readers, writers"}, {"page.wrters:1",
						"there is no count 'wrters'; near: writers"}}) {
			assertTrue(error(w[0]).startsWith(w[1]), () -> w[0] + ": " + error(w[0]));
		}
	}
}
