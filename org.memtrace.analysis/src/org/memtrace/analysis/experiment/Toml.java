// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.model.TraceFormatException;

/**
 * Reads the part of TOML 1.0 that a plan needs: tables of one level, bare and quoted keys, strings of one line, integers, decimal numbers,
 * truth values, and arrays of these over any number of lines. Everything else of TOML (tables in tables, dates, strings of several lines,
 * numbers in other bases) is refused with its line, never read as something else.
 *
 * <p>Why not a library: tomlj needs ANTLR's run-time, Jackson its core and data binding; each is a bundle more in the target platform and
 * in what is shipped, for a file of thirty lines.
 */
final class Toml {
	private final String file;
	private final String text;
	private int at;
	private int line = 1;

	private Toml(String file, String text) {
		this.file = file;
		this.text = text;
	}

	/**
	 * Values by key: {@link String}, {@link Long}, {@link Double}, {@link Boolean}, {@link List} of these, and a {@link Map} for each table.
	 * All in the order of the file.
	 *
	 * @param file for messages
	 */
	static Map<String, Object> parse(String file, String text) throws TraceFormatException {
		return new Toml(file, text.replace("\r\n", "\n")).document();
	}

	private TraceFormatException wrong(String what) {
		return new TraceFormatException(file, 0, "line " + line + ": " + what);
	}

	private Map<String, Object> document() throws TraceFormatException {
		Map<String, Object> top = new LinkedHashMap<>();
		Map<String, Object> table = top;
		for (blank(true); at < text.length(); blank(true)) {
			if (text.charAt(at) == '[') {
				at++;
				if (peek() == '[') {
					throw wrong("arrays of tables ([[…]]) are not read");
				}
				blank(false);
				String name = key();
				blank(false);
				if (peek() == '.') {
					throw wrong("tables in tables are not read");
				}
				expect(']');
				table = new LinkedHashMap<>();
				if (top.putIfAbsent(name, table) != null) {
					throw wrong("there is a second '" + name + "'");
				}
			} else {
				String name = key();
				blank(false);
				if (peek() == '.') {
					throw wrong("keys with dots are not read; write [" + name + "] above it");
				}
				expect('=');
				blank(false);
				if (table.putIfAbsent(name, value()) != null) {
					throw wrong("there is a second '" + name + "'");
				}
			}
			blank(false);
			if (at < text.length() && peek() != '\n') {
				throw wrong("there is something behind the end of the value");
			}
		}
		return top;
	}

	private char peek() {
		return at < text.length() ? text.charAt(at) : '\0';
	}

	private void expect(char c) throws TraceFormatException {
		if (peek() != c) {
			throw wrong("'" + c + "' is missing");
		}
		at++;
	}

	/** Passes blanks and comments, with lines the ends of lines, too. */
	private void blank(boolean lines) throws TraceFormatException {
		for (; at < text.length(); at++) {
			char c = text.charAt(at);
			if (c == '#') {
				while (at + 1 < text.length() && text.charAt(at + 1) != '\n') {
					at++;
				}
			} else if (c == '\n' && lines) {
				line++;
			} else if (c != ' ' && c != '\t') {
				return;
			}
		}
	}

	private String key() throws TraceFormatException {
		if (peek() == '"' || peek() == '\'') {
			return string();
		}
		int from = at;
		while (Character.toString(peek()).matches("[A-Za-z0-9_-]")) {
			at++;
		}
		if (at == from) {
			throw wrong("a key should be here");
		}
		return text.substring(from, at);
	}

	private Object value() throws TraceFormatException {
		char c = peek();
		if (c == '"' || c == '\'') {
			return string();
		} else if (c == '[') {
			return array();
		} else if (c == '{') {
			throw wrong("tables in one line ({…}) are not read; write [table]");
		}
		int from = at;
		while (Character.toString(peek()).matches("[A-Za-z0-9_.:+-]")) {
			at++;
		}
		String word = text.substring(from, at);
		try {
			if (word.equals("true") || word.equals("false")) {
				return Boolean.valueOf(word);
			} else if (word.matches("[+-]?(0|[1-9](_?[0-9])*)")) {
				return Long.valueOf(word.replace("_", ""));
			} else if (word.matches("[+-]?(0|[1-9](_?[0-9])*)(\\.[0-9](_?[0-9])*)?([eE][+-]?[0-9]+)?")) {
				return Double.valueOf(word.replace("_", ""));
			}
		} catch (NumberFormatException e) {
			throw wrong(word + " is too large a number");
		}
		throw wrong(word.isEmpty() ? "a value should be here: \"text\", a number, true, false or [a list]"
				: "'" + word + "' is no value; text stands in quotation marks");
	}

	private List<Object> array() throws TraceFormatException {
		List<Object> values = new ArrayList<>();
		int begin = line;
		at++;
		for (blank(true); peek() != ']'; blank(true)) {
			if (at >= text.length()) {
				line = begin;
				throw wrong("the list has no end");
			}
			values.add(value());
			blank(true);
			if (peek() == ',') {
				at++;
			} else if (peek() != ']') {
				throw wrong(at < text.length() ? "',' or ']' is missing" : "the list has no end");
			}
		}
		at++;
		return values;
	}

	private String string() throws TraceFormatException {
		char quote = text.charAt(at++);
		if (text.startsWith("" + quote + quote, at)) {
			throw wrong("texts of several lines are not read");
		}
		StringBuilder b = new StringBuilder();
		for (; peek() != quote; at++) {
			char c = peek();
			if (at >= text.length() || c == '\n') {
				throw wrong("the text has no end in its line");
			} else if (c == '\\' && quote == '"') {
				at++;
				int escaped = "btnfr\"\\".indexOf(peek());
				if (escaped >= 0) {
					b.append("\b\t\n\f\r\"\\".charAt(escaped));
				} else if (peek() == 'u' && text.substring(at).matches("(?s)u[0-9a-fA-F]{4}.*")) {
					b.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
					at += 4;
				} else {
					throw wrong("\\" + peek() + " is no character; a backslash is \\\\, or stands in '…'");
				}
			} else if (c < ' ' && c != '\t') {
				throw wrong("the text has a control character");
			} else {
				b.append(c);
			}
		}
		at++;
		return b.toString();
	}
}
