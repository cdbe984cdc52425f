// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.Completion;

/**
 * What can be written at a place of a statement: tables behind FROM and JOIN, columns of a table behind its name or alias and a dot,
 * else the columns of the tables that the statement names, functions and keywords. It reads words, not the grammar: what it proposes may
 * still be wrong there.
 */
public final class SqlCompletion {
	/** Words of the language that are proposed, in small letters. */
	static final List<String> KEYWORDS = List.of( //
			"select", "distinct", "from", "join", "left", "inner", "anti", "semi", "cross", "on", "using", "where",
			"and", "or", "not", "in", "is", "null", "like", "between", "exists", "group", "order", "by", "all",
			"having", "qualify", "limit", "asc", "desc", "nulls", "first", "last", "as", "case", "when", "then",
			"else", "end", "with", "union", "except", "intersect", "over", "partition", "filter", "pivot", "unpivot",
			"describe", "show", "summarize", "explain", "true", "false");
	/** Functions that are proposed, with what they give. */
	static final Map<String, String> FUNCTIONS = functions();
	/** Columns that are words of the language, too: alone they stand in quotation marks. */
	private static final Set<String> QUOTED = Set.of("end", "offset", "check");
	private static final Set<String> BEFORE_TABLE = Set.of("from", "join", "describe", "summarize");
	/** End the list of tables that a comma continues. */
	private static final Set<String> AFTER_TABLES = Set.of("where", "group", "order", "having", "qualify", "limit", "on", "using", "select",
			"union", "except", "intersect", "pivot");

	private SqlCompletion() {
	}

	private static Map<String, String> functions() {
		Map<String, String> f = new LinkedHashMap<>();
		f.put("count", "number of rows, or of values that are not null");
		f.put("sum", "sum");
		f.put("avg", "mean");
		f.put("min", "smallest value");
		f.put("max", "largest value");
		f.put("median", "median");
		f.put("quantile_cont", "quantile: a column and a share from 0 to 1");
		f.put("stddev", "standard deviation of a sample");
		f.put("corr", "correlation of two columns");
		f.put("arg_max", "value of the first column where the second is largest");
		f.put("arg_min", "value of the first column where the second is smallest");
		f.put("string_agg", "texts, one after the other, with a separator");
		f.put("round", "rounded to a number of digits");
		f.put("floor", "rounded down");
		f.put("ceil", "rounded up");
		f.put("abs", "without its sign");
		f.put("least", "smallest of several values");
		f.put("greatest", "largest of several values");
		f.put("coalesce", "first value that is not null");
		f.put("if", "one of two values: a condition, then, else");
		f.put("printf", "a text by a format, such as '%x'");
		f.put("row_number", "number of the row in its window");
		f.put("rank", "rank of the row in its window");
		f.put("lag", "value of an earlier row of the window");
		f.put("lead", "value of a later row of the window");
		f.put("range", "a table of numbers");
		return f;
	}

	private enum Kind {
		WORD, SYMBOL
	}

	/** @param text of a word in small letters, without quotation marks */
	private record Token(Kind kind, String text) {
		boolean is(String what) {
			return text.equals(what);
		}
	}

	/**
	 * What can be written at a place.
	 *
	 * @param caret place in the text, 0 to its length
	 * @param views tables with their columns
	 */
	public static Completion at(String sql, int caret, List<SqlView> views) {
		int from = caret;
		while (from > 0 && isWord(sql.charAt(from - 1))) {
			from--;
		}
		int to = caret;
		while (to < sql.length() && isWord(sql.charAt(to))) {
			to++;
		}
		List<Token> before = new ArrayList<>();
		if (!tokens(sql.substring(0, from), before) || from < caret && Character.isDigit(sql.charAt(from))) {
			return Completion.none(caret);
		}
		List<Token> statement = new ArrayList<>(lastStatement(before));
		int own = statement.size();
		List<Token> after = new ArrayList<>();
		tokens(sql.substring(to), after);
		after.stream().takeWhile(t -> !t.is(";")).forEach(statement::add);
		return new Completion(from, to, new Finder(statement, own, sql.substring(from, caret), views).find());
	}

	private static boolean isWord(char c) {
		return c == '_' || Character.isLetterOrDigit(c);
	}

	private static List<Token> lastStatement(List<Token> tokens) {
		int from = tokens.size();
		while (from > 0 && !tokens.get(from - 1).is(";")) {
			from--;
		}
		return tokens.subList(from, tokens.size());
	}

	/** Adds the tokens of a text, without literals; @return false when it ends within a literal or a comment. */
	private static boolean tokens(String sql, List<Token> into) {
		for (int i = 0; i < sql.length();) {
			char c = sql.charAt(i);
			int end;
			if (c == '\'' || c == '"') {
				end = sql.indexOf(c, i + 1);
				while (end >= 0 && end + 1 < sql.length() && sql.charAt(end + 1) == c) {
					end = sql.indexOf(c, end + 2);
				}
				if (end < 0) {
					return false;
				}
				into.add(c == '"' ? new Token(Kind.WORD, sql.substring(i + 1, end).toLowerCase(Locale.ROOT)) : new Token(Kind.SYMBOL, "'"));
				i = end + 1;
			} else if (sql.startsWith("--", i)) {
				end = sql.indexOf('\n', i);
				if (end < 0) {
					return false;
				}
				i = end;
			} else if (sql.startsWith("/*", i)) {
				end = sql.indexOf("*/", i + 2);
				if (end < 0) {
					return false;
				}
				i = end + 2;
			} else if (isWord(c)) {
				end = i;
				while (end < sql.length() && isWord(sql.charAt(end))) {
					end++;
				}
				into.add(new Token(Kind.WORD, sql.substring(i, end).toLowerCase(Locale.ROOT)));
				i = end;
			} else {
				if (!Character.isWhitespace(c)) {
					into.add(new Token(Kind.SYMBOL, String.valueOf(c)));
				}
				i++;
			}
		}
		return true;
	}

	/** One place of one statement. */
	private static final class Finder {
		private final List<Token> tokens;
		/** The word that is written is before this token. */
		private final int at;
		private final List<SqlView> views;
		/** Tables that the statement reads, by the name that columns are written with; null for one that the statement makes itself. */
		private final Map<String, SqlView> used = new LinkedHashMap<>();
		/** Names that the statement gives to parts of itself (WITH). */
		private final Set<String> parts = new LinkedHashSet<>();
		private boolean amongTables;
		/** Keywords are written as the person writes. */
		private final boolean upper;
		private final Completion.Candidates found;

		Finder(List<Token> tokens, int at, String prefix, List<SqlView> views) {
			this.tokens = tokens;
			this.at = at;
			this.found = new Completion.Candidates(prefix);
			this.views = views;
			this.upper = !prefix.isEmpty() && prefix.equals(prefix.toUpperCase(Locale.ROOT)) && !prefix.equals(prefix.toLowerCase(Locale.ROOT));
			read();
		}

		private Token token(int i) {
			return i >= 0 && i < tokens.size() ? tokens.get(i) : new Token(Kind.SYMBOL, "");
		}

		private void read() {
			boolean inTables = false;
			for (int i = 0; i <= tokens.size(); i++) {
				if (i == at) {
					amongTables = BEFORE_TABLE.contains(token(i - 1).text()) || inTables && token(i - 1).is(",");
				}
				Token t = token(i);
				if (t.is("as") && token(i + 1).is("(") && token(i - 1).kind() == Kind.WORD) {
					parts.add(token(i - 1).text());
				}
				if (t.is("from") || t.is("join")) {
					inTables = true;
				} else if (AFTER_TABLES.contains(t.text())) {
					inTables = false;
				}
				boolean table = BEFORE_TABLE.contains(token(i - 1).text()) || inTables && token(i - 1).is(",");
				if (table && t.kind() == Kind.WORD && i != at) { // behind the caret is no table of a FROM before it
					use(i);
				}
			}
		}

		private void use(int i) {
			String name = token(i).text();
			SqlView view = views.stream().filter(v -> v.name().equalsIgnoreCase(name)).findFirst().orElse(null);
			int alias = token(i + 1).is("as") ? i + 2 : i + 1;
			boolean named = token(alias).kind() == Kind.WORD && alias != at && !KEYWORDS.contains(token(alias).text());
			if (view != null || named) {
				used.put(named ? token(alias).text() : name, view);
			}
		}

		List<Completion.Proposal> find() {
			if (token(at - 1).is(".")) {
				String of = token(at - 2).text();
				SqlView view = used.containsKey(of) ? used.get(of)
						: views.stream().filter(v -> v.name().equalsIgnoreCase(of)).findFirst().orElse(null);
				if (view != null) {
					view.columns().forEach((c, meaning) -> add(c, c, meaning));
				}
			} else if (amongTables) {
				parts.forEach(p -> add(p, p, "a part of this statement"));
				views.forEach(v -> add(v.name(), v.name(), v.meaning()));
			} else {
				columns();
				used.forEach((name, view) -> add(name, name, view == null ? "a part of this statement" : view.meaning()));
				FUNCTIONS.forEach((name, meaning) -> add(name, name, meaning));
				KEYWORDS.forEach(k -> add(k, upper ? k.toUpperCase(Locale.ROOT) : k, ""));
				views.forEach(v -> add(v.name(), v.name(), v.meaning()));
			}
			return found.best();
		}

		/** A column of several tables needs the name of one of them. */
		private void columns() {
			Map<String, SqlView> of = new LinkedHashMap<>(used);
			of.values().removeIf(v -> v == null);
			boolean open = of.isEmpty();
			if (open) {
				views.forEach(v -> of.put(v.name(), v));
			}
			of.forEach((name, view) -> view.columns().forEach((c, meaning) -> {
				boolean several = !open && of.values().stream().filter(v -> v.columns().containsKey(c)).count() > 1;
				add(c, several ? name + "." + c : QUOTED.contains(c) ? '"' + c + '"' : c, meaning);
			}));
		}

		private void add(String word, String text, String note) {
			found.add(word, text, note);
		}
	}
}
