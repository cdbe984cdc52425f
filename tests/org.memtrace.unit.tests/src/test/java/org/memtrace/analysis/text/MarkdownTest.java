// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.text.Markdown.Block;
import org.memtrace.analysis.text.Markdown.Span;
import org.memtrace.analysis.text.Markdown.Style;

/** The Markdown of our documents, and that the links of the pages of the help lead somewhere. */
class MarkdownTest {
	private static final Path DOCS = Path.of(System.getProperty("memtrace.root"), "docs");

	private static Span plain(String text) {
		return new Span(text, Style.PLAIN, "");
	}

	@Test
	void blocks() {
		List<Block> blocks = Markdown.parse("""
				# Title with `code`

				A paragraph
				of two lines.
				* one
				  goes on
				  - inner
				3. third

				```
				as  it is
				```
				| a | b |
				|---|:-:|
				| `x|y` | \\| |

				## What is it? (part 2)
				end""");
		assertEquals(List.of(new Block.Heading(1, List.of(plain("Title with "), new Span("code", Style.CODE, "")), "title-with-code"),
				new Block.Paragraph(List.of(plain("A paragraph of two lines."))), new Block.Item(0, 0, List.of(plain("one goes on"))),
				new Block.Item(1, 0, List.of(plain("inner"))), new Block.Item(0, 3, List.of(plain("third"))),
				new Block.Code("as  it is\n"),
				new Block.Table(List.of(List.of(plain("a")), List.of(plain("b"))),
						List.of(List.of(List.of(new Span("x|y", Style.CODE, "")), List.of(plain("|"))))),
				new Block.Heading(2, List.of(plain("What is it? (part 2)")), "what-is-it-part-2"),
				new Block.Paragraph(List.of(plain("end")))), blocks);
	}

	@Test
	void spans() {
		assertEquals(List.of(plain("a "), new Span("b", Style.BOLD, ""), plain(" "), new Span("c", Style.ITALIC, ""), plain(" 2 * 3 "),
				new Span("link", Style.LINK, "x.md#y"), plain(" "), new Span("a picture", Style.ITALIC, ""), plain(" * ` [open")),
				Markdown.spans("a **b** *c* 2 * 3 [`link`](x.md#y) ![a picture](p.svg) * ` [open"));
		assertEquals(List.of(plain("*no* `code`")), Markdown.spans("\\*no\\* \\`code\\`"));
		assertEquals(List.of(), Markdown.parse(""));
	}

	@Test
	void linksOfTheHelpLeadSomewhere() throws IOException {
		List<String> wrong = new ArrayList<>();
		int links = 0;
		try (Stream<Path> files = Files.walk(DOCS)) {
			for (Path file : files.filter(f -> f.toString().endsWith(".md")).sorted().toList()) {
				for (Span s : spansOf(Markdown.parse(Files.readString(file)))) {
					if (s.style() == Style.LINK && !s.target().contains(":")) {
						links++;
						String[] parts = s.target().split("#", 2);
						Path to = parts[0].isEmpty() ? file : file.getParent().resolve(parts[0]).normalize();
						boolean there = Files.exists(to) && (parts.length == 1 || anchors(to).contains(parts[1]));
						if (!there) {
							wrong.add(DOCS.relativize(file) + ": " + s.target());
						}
					}
				}
			}
		}
		assertEquals(List.of(), wrong);
		assertTrue(links >= 300, links + " links");
	}

	private static List<String> anchors(Path file) throws IOException {
		return Markdown.parse(Files.readString(file)).stream().filter(Block.Heading.class::isInstance)
				.map(b -> ((Block.Heading) b).anchor()).toList();
	}

	private static List<Span> spansOf(List<Block> blocks) {
		List<Span> spans = new ArrayList<>();
		for (Block b : blocks) {
			switch (b) {
			case Block.Heading h -> spans.addAll(h.text());
			case Block.Paragraph p -> spans.addAll(p.text());
			case Block.Item i -> spans.addAll(i.text());
			case Block.Table t -> t.rows().forEach(r -> r.forEach(spans::addAll));
			case Block.Code c -> {
			}
			}
		}
		return spans;
	}
}
