// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.catalogue;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.memtrace.model.TraceInfo;

/**
 * Finds traces by what is known about them. Words are looked for in everything; {@code column:word} in one column, such as
 * {@code host:node1}; a word that begins with {@code -} must not be found. All must fit. Words are regular expressions in any
 * case (as they are when they are none), and are put between quotation marks when they have blanks.
 */
public final class TraceSearch implements Predicate<TraceInfo> {
	/** Prefix of the properties that the user has given to traces. */
	public static final String OWN_PROPERTY = "custom.";
	private static final Pattern TERM = Pattern.compile("(-?)(?:([A-Za-z_][\\w.]*):)?(?:\"([^\"]*)\"?|(\\S+))");

	/** @param column null for any */
	private record Term(boolean not, String column, Pattern pattern) {
	}

	private final List<Term> terms = new ArrayList<>();

	public TraceSearch(String text) {
		Matcher m = TERM.matcher(text);
		while (m.find()) {
			String word = m.group(3) != null ? m.group(3) : m.group(4);
			terms.add(new Term(!m.group(1).isEmpty(), m.group(2) == null ? null : m.group(2).toLowerCase(Locale.ROOT),
					pattern(word)));
		}
	}

	/** As in the other filters of the workbench, a regular expression may stand between strokes. */
	private static Pattern pattern(String text) {
		String word = text.length() > 2 && text.startsWith("/") && text.endsWith("/") ? text.substring(1, text.length() - 1) : text;
		try {
			return Pattern.compile(word, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
		} catch (PatternSyntaxException e) {
			return Pattern.compile(word, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE | Pattern.LITERAL);
		}
	}

	@Override
	public boolean test(TraceInfo trace) {
		return test(trace, "");
	}

	/** @param file path of a trace that was opened as a file, else empty */
	public boolean test(TraceInfo trace, String file) {
		for (Term t : terms) {
			boolean found = t.column == null ? anywhere(trace, file, t.pattern) : inColumn(trace, file, t);
			if (found == t.not) {
				return false;
			}
		}
		return true;
	}

	private static boolean anywhere(TraceInfo t, String file, Pattern p) {
		for (String column : COLUMNS) {
			if (p.matcher(value(t, file, column)).find()) {
				return true;
			}
		}
		return t.properties().values().stream().anyMatch(v -> p.matcher(v).find());
	}

	private static boolean inColumn(TraceInfo t, String file, Term term) {
		if (COLUMNS.contains(term.column)) {
			return term.pattern.matcher(value(t, file, term.column)).find();
		}
		return t.properties().entrySet().stream().anyMatch(e -> named(e.getKey(), term.column)
				&& term.pattern.matcher(e.getValue()).find());
	}

	private static boolean named(String key, String column) {
		String k = key.toLowerCase(Locale.ROOT);
		return k.equals(column) || k.equals(OWN_PROPERTY + column);
	}

	/** Columns that every trace has; properties are columns too. */
	public static final List<String> COLUMNS = List.of("name", "program", "host", "system", "cpus", "type", "date",
			"description", "database", "file");

	private static String value(TraceInfo t, String file, String column) {
		return switch (column) {
		case "name" -> t.alias();
		case "program" -> t.application();
		case "host" -> t.host();
		case "system" -> t.operatingSystem();
		case "cpus" -> Integer.toString(t.cpus());
		case "type" -> t.type();
		case "date" -> t.recordedAt().toString();
		case "description" -> t.description();
		case "database" -> t.databaseName();
		default -> file;
		};
	}
}
