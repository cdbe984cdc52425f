// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The part of Markdown that our documents use, as blocks and spans, so that a view can show them. */
public final class Markdown {
	/** How a piece of text looks. */
	public enum Style {
		PLAIN, BOLD, ITALIC, CODE, LINK
	}

	/**
	 * A piece of text.
	 *
	 * @param target of a link, else empty
	 */
	public record Span(String text, Style style, String target) {
	}

	/** A part of a document. */
	public sealed interface Block {
		/** @param anchor as links name it: small letters, hyphens for spaces */
		record Heading(int level, List<Span> text, String anchor) implements Block {
		}

		record Paragraph(List<Span> text) implements Block {
		}

		/** An item of a list; {@code number} is 0 in lists without numbers. */
		record Item(int depth, int number, List<Span> text) implements Block {
		}

		/** Lines as they are. */
		record Code(String text) implements Block {
		}

		record Table(List<List<Span>> header, List<List<List<Span>>> rows) implements Block {
		}
	}

	private Markdown() {
	}

	/** The blocks of a document; nothing is an error. */
	public static List<Block> parse(String document) {
		List<Block> blocks = new ArrayList<>();
		List<String> lines = document.replace("\r", "").lines().toList();
		StringBuilder text = new StringBuilder();
		int depth = -1;
		int number = 0;
		for (int i = 0; i <= lines.size(); i++) {
			String line = i < lines.size() ? lines.get(i) : "";
			String stripped = line.strip();
			boolean item = stripped.matches("([-*+]|\\d+\\.) .*");
			boolean begins = stripped.isEmpty() || stripped.startsWith("#") || stripped.startsWith("```") || stripped.startsWith("|") || item
					|| stripped.startsWith("<!--");
			if (begins && !text.isEmpty()) {
				List<Span> spans = spans(text.toString());
				blocks.add(depth >= 0 ? new Block.Item(depth, number, spans) : new Block.Paragraph(spans));
				text.setLength(0);
				depth = -1;
			}
			if (stripped.startsWith("```")) {
				StringBuilder code = new StringBuilder();
				for (i++; i < lines.size() && !lines.get(i).strip().startsWith("```"); i++) {
					code.append(lines.get(i)).append('\n');
				}
				blocks.add(new Block.Code(code.toString()));
			} else if (stripped.startsWith("#")) {
				String title = stripped.replaceFirst("#+\\s*", "");
				List<Span> spans = spans(title);
				blocks.add(new Block.Heading(stripped.indexOf(' ') < 0 ? stripped.length() : stripped.indexOf(' '), spans,
						anchor(plain(spans))));
			} else if (stripped.startsWith("|")) {
				i = table(lines, i, blocks) - 1;
			} else if (item) {
				depth = (line.length() - line.stripLeading().length()) / 2;
				number = Character.isDigit(stripped.charAt(0)) ? Integer.parseInt(stripped.substring(0, stripped.indexOf('.'))) : 0;
				text.append(stripped.substring(stripped.indexOf(' ') + 1).strip());
			} else if (!stripped.isEmpty() && !stripped.startsWith("<!--")) {
				text.append(text.isEmpty() ? "" : " ").append(stripped);
			}
		}
		return blocks;
	}

	/** Returns the number of the line after the table. */
	private static int table(List<String> lines, int from, List<Block> blocks) {
		List<List<Span>> header = List.of();
		List<List<List<Span>>> rows = new ArrayList<>();
		int i = from;
		for (; i < lines.size() && lines.get(i).strip().startsWith("|"); i++) {
			String line = lines.get(i).strip();
			if (line.matches("\\|[\\s:|-]*")) {
				if (rows.size() == 1) {
					header = rows.remove(0);
				}
				continue;
			}
			rows.add(cells(line));
		}
		blocks.add(new Block.Table(header, rows));
		return i;
	}

	private static List<List<Span>> cells(String line) {
		List<List<Span>> cells = new ArrayList<>();
		StringBuilder cell = new StringBuilder();
		boolean code = false;
		for (int i = 1; i < line.length(); i++) {
			char c = line.charAt(i);
			if (c == '\\' && i + 1 < line.length() && line.charAt(i + 1) == '|') {
				cell.append('|');
				i++;
			} else if (c == '|' && !code) {
				cells.add(spans(cell.toString().strip()));
				cell.setLength(0);
			} else {
				code ^= c == '`';
				cell.append(c);
			}
		}
		if (!cell.toString().isBlank()) {
			cells.add(spans(cell.toString().strip()));
		}
		return cells;
	}

	/** Bold, italic, code and links of a text; signs without a partner are text. */
	public static List<Span> spans(String text) {
		List<Span> spans = new ArrayList<>();
		StringBuilder plain = new StringBuilder();
		for (int i = 0; i < text.length();) {
			char c = text.charAt(i);
			int end;
			if (c == '\\' && i + 1 < text.length() && "\\`*_[]|#<>".indexOf(text.charAt(i + 1)) >= 0) {
				plain.append(text.charAt(i + 1));
				i += 2;
			} else if (c == '`' && (end = text.indexOf('`', i + 1)) > 0) {
				i = span(spans, plain, text.substring(i + 1, end), Style.CODE, "", end + 1);
			} else if (text.startsWith("**", i) && (end = text.indexOf("**", i + 2)) > 0) {
				i = span(spans, plain, text.substring(i + 2, end), Style.BOLD, "", end + 2);
			} else if (c == '*' && i + 1 < text.length() && text.charAt(i + 1) != ' ' && (end = text.indexOf('*', i + 1)) > 0) {
				i = span(spans, plain, text.substring(i + 1, end), Style.ITALIC, "", end + 1);
			} else if (c == '!' && i + 1 < text.length() && text.charAt(i + 1) == '[' && text.indexOf("](", i) > 0
					&& text.indexOf(')', text.indexOf("](", i)) > 0) {
				// a picture: what it shows
				int close = text.indexOf("](", i);
				i = span(spans, plain, text.substring(i + 2, close), Style.ITALIC, "", text.indexOf(')', close) + 1);
			} else if (c == '[' && (end = text.indexOf("](", i)) > 0 && text.indexOf(')', end) > 0) {
				int close = text.indexOf(')', end);
				i = span(spans, plain, text.substring(i + 1, end).replace("`", ""), Style.LINK, text.substring(end + 2, close), close + 1);
			} else {
				plain.append(c);
				i++;
			}
		}
		if (!plain.isEmpty()) {
			spans.add(new Span(plain.toString(), Style.PLAIN, ""));
		}
		return spans;
	}

	private static int span(List<Span> spans, StringBuilder plain, String text, Style style, String target, int next) {
		if (!plain.isEmpty()) {
			spans.add(new Span(plain.toString(), Style.PLAIN, ""));
			plain.setLength(0);
		}
		spans.add(new Span(text, style, target));
		return next;
	}

	/** Text without styles. */
	public static String plain(List<Span> spans) {
		StringBuilder b = new StringBuilder();
		spans.forEach(s -> b.append(s.text()));
		return b.toString();
	}

	/** How a link names a heading. */
	public static String anchor(String heading) {
		return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").strip().replace(' ', '-');
	}
}
