// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.FilterNames;
import org.memtrace.analysis.words.Words.Adjective;
import org.memtrace.analysis.words.Words.Term;
import org.memtrace.analysis.words.Words.Value;

/** Reads {@link Words}. What stands in quotes is moved to other letters meanwhile, so that nothing in it is taken for grammar. */
public final class WordsParser {
	private static final int QUOTED = 0xe000;
	private static final Pattern COUNT = Pattern.compile("([a-z_]+)((?:[<>]=?|[:=]).*)");
	private static final Pattern OF_PAGE = Pattern.compile("page\\.([a-z_]*)((?:[<>]=?|[:=]).*)?");
	private static final Pattern FIELD = Pattern.compile("([A-Za-z_]+)(?::|(?=[<>]))(.*)");
	private static final Pattern SOMETHING_ELSE = Pattern.compile("(by|every|show|top|vs)|.*[:<>].*");

	private final List<String> tokens;
	private int at;
	private final List<Term> terms = new ArrayList<>();
	private final List<Words.Limit> limits = new ArrayList<>();
	private final List<String> by = new ArrayList<>();
	private String every;
	private final List<WordCount> show = new ArrayList<>();
	private int top;
	private String vs;

	private WordsParser(String text) throws WordsException {
		tokens = tokens(text);
	}

	/** Reads a question. Names are not looked up yet. */
	public static Words parse(String text) throws WordsException {
		return new WordsParser(text).parse();
	}

	/**
	 * The arguments of a command as one text: a shell has taken the quotes away from {@code region:"iteration 3"}, and they are put around
	 * the name again.
	 */
	public static String joined(List<String> arguments) {
		return arguments.stream().map(WordsParser::quotedAgain).collect(Collectors.joining(" "));
	}

	private static String quotedAgain(String argument) {
		Matcher m = FIELD.matcher(argument.startsWith("-") ? argument.substring(1) : argument);
		String[] pieces = argument.strip().split("\\s+");
		if (pieces.length < 2 || argument.contains("\"") || !m.matches() || Arrays.stream(pieces).skip(1)
				.anyMatch(p -> SOMETHING_ELSE.matcher(p).matches() || Words.adjectives().contains(p.replaceFirst("^-", "").replaceFirst(",.*", "")))) {
			return argument;
		}
		return (argument.startsWith("-") ? "-" : "") + m.group(1) + ":"
				+ Arrays.stream(m.group(2).split(",")).map(v -> '"' + v + '"').collect(Collectors.joining(","));
	}

	private static List<String> tokens(String text) throws WordsException {
		List<String> tokens = new ArrayList<>();
		StringBuilder token = new StringBuilder();
		boolean quoted = false;
		for (char c : text.toCharArray()) {
			if (c == '"') {
				quoted = !quoted;
				token.append(token.isEmpty() || token.charAt(token.length() - 1) != QUOTED ? String.valueOf((char) QUOTED) : "");
			} else if (!quoted && Character.isWhitespace(c)) {
				if (!token.isEmpty()) {
					tokens.add(token.toString());
				}
				token.setLength(0);
			} else {
				token.append(quoted && c < 0x80 ? (char) (QUOTED + c) : c);
			}
		}
		if (quoted) {
			throw new WordsException("a quotation mark has no end");
		}
		if (!token.isEmpty()) {
			tokens.add(token.toString());
		}
		return tokens;
	}

	/** A text as it was between the quotes, which are left out. */
	private static String plain(String token) {
		StringBuilder b = new StringBuilder();
		for (char c : token.toCharArray()) {
			if (c > QUOTED && c < QUOTED + 0x80) {
				b.append((char) (c - QUOTED));
			} else if (c != QUOTED) {
				b.append(c);
			}
		}
		return b.toString();
	}

	private static Value value(String token) {
		return new Value(plain(token), token.indexOf('*') >= 0, token.indexOf(QUOTED) >= 0);
	}

	private Words parse() throws WordsException {
		while (at < tokens.size()) {
			String token = tokens.get(at++);
			switch (token.toLowerCase(Locale.ROOT)) {
			case "by" -> list("by", "a field such as structure").forEach(by::add);
			case "every" -> every = one("every", "a time such as 50ms", every != null);
			case "show" -> {
				for (String word : list("show", "a count such as pages")) {
					show.add(count(word));
				}
			}
			case "top" -> top = number(one("top", "a number", top != 0));
			case "vs" -> vs = one("vs", "another trace", vs != null);
			default -> term(token);
			}
		}
		for (String field : by) {
			groupField(field);
		}
		return new Words(List.copyOf(terms), List.copyOf(limits), by.stream().distinct().toList(), every, show.stream().distinct().toList(), top,
				vs);
	}

	private String one(String clause, String what, boolean twice) throws WordsException {
		if (twice) {
			throw new WordsException("'" + clause + "' is there twice");
		}
		if (at == tokens.size()) {
			throw new WordsException("'" + clause + "' needs " + what + " behind it");
		}
		return plain(tokens.get(at++));
	}

	/** Words between commas, with or without blanks. */
	private List<String> list(String clause, String what) throws WordsException {
		StringBuilder all = new StringBuilder();
		do {
			if (at == tokens.size()) {
				throw new WordsException("'" + clause + "' needs " + what + " behind it");
			}
			all.append(tokens.get(at++));
		} while (all.toString().endsWith(",") || at < tokens.size() && tokens.get(at).startsWith(","));
		List<String> list = Stream.of(all.toString().split(",")).map(s -> plain(s).toLowerCase(Locale.ROOT)).filter(s -> !s.isEmpty()).toList();
		if (list.isEmpty()) {
			throw new WordsException("'" + clause + "' needs " + what + " behind it");
		}
		return list;
	}

	private static int number(String text) throws WordsException {
		if (!text.matches("[1-9]\\d{0,8}")) {
			throw new WordsException("'top' needs a number of groups behind it, not '" + text + "'");
		}
		return Integer.parseInt(text);
	}

	private void term(String token) throws WordsException {
		boolean not = token.startsWith("-") && token.length() > 1;
		String t = not ? token.substring(1) : token;
		Matcher ofPage = OF_PAGE.matcher(t);
		Matcher count = COUNT.matcher(t);
		Matcher field = FIELD.matcher(t);
		if (ofPage.matches()) {
			WordCount c = count(ofPage.group(1));
			if (ofPage.group(2) == null) {
				throw new WordsException("'" + plain(t) + "' needs a range behind it, such as page." + c.word() + ":1 or page." + c.word() + ">2");
			}
			if (Dimensions.find("page_" + c.word(), Use.FILTER) == null) {
				throw new WordsException("a page has no '" + c.word() + "'; it has threads, readers, writers, records, reads, writes, accesses");
			}
			terms.add(new Words.PageCount(not, c, values(c.word(), ofPage.group(2))));
		} else if (count.matches() && WordCount.find(count.group(1)) != null) {
			limits.add(new Words.Limit(not, WordCount.find(count.group(1)), values(count.group(1), count.group(2))));
		} else if (field.matches()) {
			terms.add(new Words.Field(not, field(field.group(1)), values(field.group(1), ":" + field.group(2))));
		} else {
			adjectives(not, t);
		}
	}

	/** What stands behind a field or a count, with the sign before it. */
	private static List<Value> values(String before, String text) throws WordsException {
		String values = text.startsWith(":") || text.startsWith("=") ? text.substring(1) : text;
		List<Value> list = Stream.of(values.split(",")).filter(s -> !s.isEmpty()).map(WordsParser::value).toList();
		if (list.isEmpty()) {
			throw new WordsException("'" + before + "' needs a value behind it, without a blank");
		}
		return list;
	}

	private void adjectives(boolean not, String token) {
		List<Adjective> words = new ArrayList<>();
		for (String word : token.split(",")) {
			int known = Words.adjectives().indexOf(word.toLowerCase(Locale.ROOT));
			if (known < 0) {
				Term before = terms.isEmpty() ? null : terms.getLast();
				terms.add(new Words.Bare(not, plain(word), before instanceof Words.Field f ? f.field() + ":\"" + f.values().getLast().text() + " "
						+ plain(word) + "\"" : null));
				return;
			}
			words.add(Adjective.values()[known]);
		}
		terms.add(new Words.Adjectives(not, List.copyOf(words)));
	}

	private static WordCount count(String word) throws WordsException {
		WordCount count = WordCount.find(word);
		if (count == null) {
			throw new WordsException("there is no count '" + word + "'" + near(word, WordCount.words()) + "; counts are "
					+ String.join(", ", WordCount.words()));
		}
		return count;
	}

	/** Near words only: all of them are told anyway. */
	private static String near(String word, List<String> known) {
		String near = FilterNames.near(word, known);
		return near.startsWith("; near") ? near : "";
	}

	private static String field(String name) throws WordsException {
		String field = name.toLowerCase(Locale.ROOT);
		if (Words.FIELDS.contains(field) || Dimensions.find(field, Use.FILTER) != null) {
			return field;
		}
		throw new WordsException("there is no field '" + name + "'" + near(field, Stream.of(Words.FIELDS, WordCount.words(), Words.adjectives())
				.flatMap(List::stream).toList()) + "; fields are " + String.join(", ", Words.FIELDS) + "; counts are "
				+ String.join(", ", WordCount.words()));
	}

	/** The dimension by which a field groups. */
	static Dimension groupField(String name) throws WordsException {
		if (name.equals("time")) {
			throw new WordsException("'by time' needs a length: write every 50ms");
		}
		Dimension dimension = Dimensions.find(name, Use.GROUP);
		if (dimension == null) {
			List<String> fields = Words.FIELDS.stream().filter(f -> !f.equals("time")).toList();
			throw new WordsException((WordCount.find(name) != null ? "'" + name + "' is a count: write show " + name
					: "there is no field '" + name + "'" + near(name, fields)) + "; 'by' takes " + String.join(", ", fields));
		}
		return dimension;
	}
}
