// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.memtrace.analysis.words.Words.Adjective;
import org.memtrace.analysis.words.Words.Value;
import org.memtrace.model.TraceInfo;

/** What was understood of words, in one sentence without a full stop. */
final class WordsText {
	private static final Map<String, String> BEFORE = Map.ofEntries(Map.entry("structure", "in structure"), Map.entry("thread",
			"by thread"),
			Map.entry("region", "in region"), Map.entry("phase", "in phase"), Map.entry("function", "in function"),
			Map.entry("source", "at source line"), Map.entry("site", "to what was allocated at"), Map.entry("kind", "in memory of kind"),
			Map.entry("node", "on node"), Map.entry("cpu", "on CPU"), Map.entry("level", "served by"), Map.entry("page", "in page"),
			Map.entry("image", "of process image"), Map.entry("offset", "at offset"));

	private final TraceInfo trace;

	private WordsText(TraceInfo trace) {
		this.trace = trace;
	}

	static String of(Words words, TraceInfo trace) throws WordsException {
		return new WordsText(trace).text(words);
	}

	private String text(Words words) throws WordsException {
		StringBuilder b = new StringBuilder(words.terms().isEmpty() ? "all " : "").append(trace.counts().plural());
		boolean adjective = false;
		// what an access is comes before where it is
		for (Words.Term t : words.terms()) {
			if (t instanceof Words.Adjectives a) {
				b.append(adjective ? " and "
						: " ").append(not(a.not())).append(a.words().stream().map(WordsText::adjective).collect(Collectors.joining(" or ")));
				adjective = true;
			}
		}
		for (Words.Term t : words.terms()) {
			switch (t) {
			case Words.Field f -> b.append(' ').append(not(f.not())).append(field(f));
			case Words.PageCount p -> b.append(' ').append(not(p.not())).append("on pages with ").append(ranges(p.count(), p.ranges()));
			case Words.Adjectives a -> {
			}
			case Words.Bare bare -> {
			}
			}
		}
		List<String> rest = new ArrayList<>();
		if (!words.by().isEmpty()) {
			rest.add("by " + words.by().stream().map(f -> f.replace('_', ' ')).collect(Collectors.joining(" and ")));
		}
		if (words.every() != null) {
			rest.add("in steps of " + words.every());
		}
		for (Words.Limit l : words.limits()) {
			rest.add((l.not() ? "without those with " : "with ") + ranges(l.count(), l.ranges()));
		}
		if (words.top() > 0) {
			rest.add("the first " + words.top() + (words.every() != null && !words.by().isEmpty() ? " of each step" : ""));
		}
		rest.forEach(r -> b.append(", ").append(r));
		return b.toString();
	}

	private static String not(boolean not) {
		return not ? "not " : "";
	}

	private static String adjective(Adjective a) {
		return switch (a) {
		case READ, WRITTEN, PRIVATE, SHARED -> a.word();
		case UNKNOWN -> "of which it is not known whether they are shared";
		case LOCAL -> "local to their node";
		case REMOTE -> "to a remote node";
		case FIRST -> "that touch a page first";
		};
	}

	private String field(Words.Field f) throws WordsException {
		List<String> values = new ArrayList<>();
		for (Value v : f.values()) {
			values.add(f.field().equals("time") ? WordRange.times("time", v, trace).text()
					: v.quoted() ? '"' + v.text() + '"' : v.text().replaceFirst("^(>=?|<=?)",
							"$1 ").replaceFirst("(?<=\\d)\\.\\.(?=\\d)", " to "));
		}
		String before = f.field().equals("time") ? values.getFirst().matches("[\\d.@].* to .*") ? "from"
				: values.getFirst().matches("[\\d.@]+\\w*") ? "at" : "at a time"
				: BEFORE.getOrDefault(f.field(), "with " + f.field().replace('_', ' '));
		return before + " " + String.join(" or ", values);
	}

	private String ranges(WordCount count, List<Value> ranges) throws WordsException {
		List<String> texts = new ArrayList<>();
		for (Value v : ranges) {
			texts.add(range(count, v, trace).text());
		}
		String word = count.word().replace('_', ' ');
		boolean one = texts.equals(List.of("1")) && word.endsWith("s");
		return count.isTime() ? "last use " + String.join(" or ", texts) : count.isSize() ? String.join(" or ", texts)
				: String.join(" or ", texts) + " " + (one ? word.equals("accesses") ? "access" : word.substring(0, word.length() - 1)
						: word).toLowerCase(Locale.ROOT);
	}

	/** A range of values of a count. */
	static WordRange range(WordCount count, Value v, TraceInfo trace) throws WordsException {
		return count.isTime() ? WordRange.times(count.word(), v, trace) : count.isSize() ? WordRange.sizes(count.word(), v)
				: WordRange.numbers(count.word(), v);
	}
}
