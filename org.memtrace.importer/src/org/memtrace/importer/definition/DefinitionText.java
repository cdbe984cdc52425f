// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.definition;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.memtrace.importer.definition.MonitorWords.Field;
import org.memtrace.importer.definition.MonitorWords.Value;

/**
 * The words of a definition file, as far as colours and proposals need them; whatever is wrong in it, each character has its place.
 * {@code memtrace monitor --check} judges. Immutable.
 */
public final class DefinitionText {
	/** What a word is. */
	public enum Kind {
		/** Name of a monitor. */
		MONITOR,
		/** Name of a field, known or not. */
		FIELD,
		/** A word of a value. */
		NAME,
		NUMBER,
		/** An event by its number, {@code $0}. */
		EVENT,
		SYMBOL, COMMENT
	}

	/**
	 * A word.
	 *
	 * @param from first character
	 * @param to end, exclusive
	 * @param monitor number of the monitor in whose braces it stands, -1: outside
	 * @param field field to whose value it belongs, empty: none
	 */
	public record Token(Kind kind, int from, int to, int monitor, String field) {
	}

	/**
	 * Where a text ends.
	 *
	 * @param monitor number of the monitor in whose braces that is, -1: outside
	 * @param field field whose value it is, empty: where a field can begin
	 * @param betweenBoth behind the name of a field, before its value
	 */
	record End(int monitor, String field, boolean betweenBoth) {
	}

	private final String text;
	private final MonitorWords words;
	private final List<Token> tokens = new ArrayList<>();
	private End end;

	/** @param words null is not allowed; {@link MonitorWords#NONE} when nothing is known */
	public DefinitionText(String text, MonitorWords words) {
		this.text = text;
		this.words = words;
		read();
	}

	/** In the order of the text. */
	public List<Token> tokens() {
		return List.copyOf(tokens);
	}

	/** What a word says. */
	public String text(Token t) {
		return text.substring(t.from(), t.to());
	}

	private void read() {
		Place place = new Place();
		for (int at = 0; at < text.length();) {
			char c = text.charAt(at);
			if (Character.isWhitespace(c)) {
				at++;
				continue;
			}
			int from = at;
			Kind kind = Kind.SYMBOL;
			if ((c == '#' || c == '%') && !(c == '#' && place.inValue && isCount(place.field, at))) {
				while (at < text.length() && text.charAt(at) != '\n') {
					at++;
				}
				kind = Kind.COMMENT;
			} else if (place.monitor < 0 || !place.inValue) {
				while (at < text.length() && isWord(text.charAt(at))) {
					at++;
				}
				kind = at == from ? Kind.SYMBOL : place.monitor < 0 ? Kind.MONITOR : Kind.FIELD;
			} else if (isIn(value(place.field), c) && c != ';') {
				while (at < text.length() && isIn(value(place.field), text.charAt(at))) {
					at++;
				}
				kind = c == '$' ? Kind.EVENT : Character.isDigit(c) ? Kind.NUMBER : Kind.NAME;
			}
			if (at == from) {
				at++;
			}
			tokens.add(new Token(kind, from, at, place.monitor, place.inValue ? place.field : ""));
			place.pass(kind, text.substring(from, at));
		}
		end = new End(place.monitor, place.inValue ? place.field : "", !place.inValue && !place.field.isEmpty());
	}

	/** Where in the definition one reads: in which monitor, -1 for none, and which of its fields, in its name or its value. */
	private static final class Place {
		int monitor = -1;
		int monitors;
		String field = "";
		boolean inValue;

		/** Goes behind a token. */
		void pass(Kind kind, String word) {
			if (kind == Kind.FIELD) {
				field = word;
				return;
			}
			if (kind != Kind.SYMBOL) {
				return;
			}
			switch (word) {
				case "{" -> {
					monitor = monitors++;
					endOfField();
				}
				case "}" -> {
					monitor = -1;
					endOfField();
				}
				case "=" -> inValue = inValue || monitor >= 0 && !field.isEmpty();
				case ";" -> endOfField();
				default -> {
					// belongs to the value
				}
			}
		}

		private void endOfField() {
			inValue = false;
			field = "";
		}
	}

	End end() {
		return end;
	}

	/** Whether a # at a place follows the number of values of a reduction, {@code 3#lsq_fit}: there it begins no comment. */
	private boolean isCount(String field, int at) {
		if (value(field) != Value.REDUCTIONS || at == 0 || tokens.isEmpty()) {
			return false;
		}
		Token before = tokens.getLast();
		boolean first = tokens.size() < 2 || tokens.get(tokens.size() - 2).field().isEmpty();
		return first && before.kind() == Kind.NUMBER && before.to() == at && text(before).chars().allMatch(Character::isDigit);
	}

	static boolean isWord(char c) {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
	}

	/** Whether a character continues a word of such a value. */
	static boolean isIn(Value value, char c) {
		return isWord(c) || switch (value) {
			case EVENTS -> "-.:/@=".indexOf(c) >= 0;
			case SOURCE -> c == '-';
			case FILE -> c != ';' && c != '\n' && c != '{' && c != '}';
			case PLACES -> c == '.';
			case NUMBER, FLAG -> c == '.' || c == '-' || c == '+';
			default -> c == '$' || c == '.';
		};
	}

	Value value(String field) {
		Field known = words.field(field);
		return known == null ? Value.UNKNOWN : known.value();
	}

	/** Years of the tools whose files have all known fields of this one; all of them when there is no field. */
	Set<Integer> generations() {
		Set<Integer> possible = new LinkedHashSet<>();
		words.fields().forEach(f -> possible.addAll(f.generations()));
		for (Token t : tokens) {
			Field f = t.kind() == Kind.FIELD ? words.field(text(t)) : null;
			if (f != null && f.generations().stream().anyMatch(possible::contains)) {
				possible.retainAll(f.generations());
			}
		}
		return possible;
	}

	/** The words of the value of a field of a monitor, in their order. */
	List<String> values(int monitor, String field) {
		return tokens.stream().filter(t -> t.monitor() == monitor && t.field().equals(field) && t.kind() != Kind.COMMENT
				&& t.kind() != Kind.SYMBOL).map(this::text).toList();
	}

	/** Names of the monitors, in their order. */
	List<String> monitors() {
		return tokens.stream().filter(t -> t.kind() == Kind.MONITOR).map(this::text).toList();
	}
}
