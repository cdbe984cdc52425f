// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One line of {@code babeltrace2 --names=all --fields=trace:hostname,trace:procname,trace:vpid --no-delta}, with times in seconds or in
 * cycles. One object is used for all lines.
 *
 * <p>A line is {@code timestamp = 17.000000001, trace:hostname = h, name = N, stream.packet.context = { cpu_id = 0 }, event.fields =
 * { a = 1, s = "t" }}. Values are numbers, texts in quotes with C escapes, labels of enumerations as {@code ( "L" : container = 3 )}, and
 * arrays and structures, which stay as they are printed. Source: babeltrace2-sink.text.pretty(7), and what babeltrace 2.0.4 prints.
 */
final class CtfLine {
	private static final String TIME = "timestamp = ";
	private static final String NAME = ", name = ";
	private static final String[] SCOPES = { ", stream.packet.context = {", ", stream.event.context = {", ", event.context = {",
		", event.fields = {" };
	private static final int NANO_DIGITS = 9;
	private static final int LONGEST_TEXT = 256;

	/** Nanoseconds; with {@code --clock-cycles} the clock's cycles. */
	long timeNs;
	String name;
	/** Of the whole trace: {@code hostname}, {@code procname}, {@code vpid}. */
	final Map<String, String> trace = new LinkedHashMap<>();
	/** Contexts of packet, stream and event; of two fields with a name the inner one. */
	final Map<String, String> context = new LinkedHashMap<>();
	/** What the event itself tells, in its order. Long texts are cut. */
	final Map<String, String> fields = new LinkedHashMap<>();

	private String text;
	private int at;

	/** False when it is not such a line. */
	boolean parse(String line) {
		trace.clear();
		context.clear();
		fields.clear();
		text = line;
		int begin = line.indexOf(NAME);
		if (begin < 0 || !line.startsWith(TIME) || !time(line.substring(TIME.length(), value(line, TIME.length(), begin)))) {
			return false;
		}
		properties(line.substring(value(line, TIME.length(), begin), begin));
		int from = begin + NAME.length();
		at = line.length();
		for (String scope : SCOPES) {
			int found = line.indexOf(scope, from);
			at = found >= 0 && found < at ? found : at;
		}
		name = line.substring(from, at).strip();
		while (at < line.length()) {
			if (!scope()) {
				return false;
			}
		}
		return !name.isEmpty();
	}

	/** The end of a value that has no comma. */
	private static int value(String line, int from, int limit) {
		int comma = line.indexOf(", ", from);
		return comma < 0 || comma > limit ? limit : comma;
	}

	private boolean time(String number) {
		int point = number.indexOf('.');
		String whole = point < 0 ? number : number.substring(0, point);
		String part = point < 0 ? "" : number.substring(point + 1);
		boolean negative = whole.startsWith("-");
		if (!digits(negative ? whole.substring(1) : whole, 20) || point >= 0 && (part.length() != NANO_DIGITS || !digits(part, NANO_DIGITS))) {
			return false;
		}
		try {
			long seconds = Long.parseLong(whole);
			timeNs = point < 0 ? seconds
					: Math.addExact(Math.multiplyExact(seconds, 1_000_000_000L), negative ? -Long.parseLong(part) : Long.parseLong(part));
			return true;
		} catch (ArithmeticException | NumberFormatException e) {
			return false;
		}
	}

	private static boolean digits(String text, int most) {
		return !text.isEmpty() && text.length() <= most && text.chars().allMatch(c -> c >= '0' && c <= '9');
	}

	/** {@code , trace:hostname = h, trace:vpid = 3}. */
	private void properties(String list) {
		for (String property : list.split(", ")) {
			int equal = property.indexOf(" = ");
			if (equal > 0 && property.startsWith("trace:")) {
				trace.put(property.substring("trace:".length(), equal), property.substring(equal + 3).strip());
			}
		}
	}

	/** {@code , event.fields = { ... }} at the place where we are. */
	private boolean scope() {
		for (String scope : SCOPES) {
			if (text.startsWith(scope, at)) {
				at += scope.length();
				return members(scope == SCOPES[SCOPES.length - 1] ? fields : context);
			}
		}
		return false;
	}

	/** Up to the brace that closes. */
	private boolean members(Map<String, String> into) {
		while (true) {
			spaces();
			if (at >= text.length()) {
				return false;
			}
			if (text.charAt(at) == '}') {
				at++;
				return true;
			}
			int equal = text.indexOf(" = ", at);
			if (equal < 0) {
				return false;
			}
			String key = text.substring(at, equal);
			at = equal + 3;
			String value = value();
			if (value == null || key.isEmpty()) {
				return false;
			}
			into.put(key, value.length() > LONGEST_TEXT ? value.substring(0, LONGEST_TEXT) : value);
			spaces();
			if (at < text.length() && text.charAt(at) == ',') {
				at++;
			}
		}
	}

	private void spaces() {
		while (at < text.length() && text.charAt(at) == ' ') {
			at++;
		}
	}

	/** Null when the line ends before it. */
	private String value() {
		if (at >= text.length()) {
			return null;
		}
		char first = text.charAt(at);
		int begin = at;
		if (first == '"') {
			return quoted();
		}
		if (first == '(' || first == '[' || first == '{') {
			if (!skipNested()) {
				return null;
			}
			String whole = text.substring(begin, at);
			return first == '(' ? label(whole) : whole;
		}
		while (at < text.length() && text.charAt(at) != ',' && text.charAt(at) != ' ') {
			at++;
		}
		return at > begin ? text.substring(begin, at) : null;
	}

	/** The text without quotes and escapes. */
	private String quoted() {
		StringBuilder out = new StringBuilder();
		for (at++; at < text.length(); at++) {
			char c = text.charAt(at);
			if (c == '"') {
				at++;
				return out.toString();
			}
			if (c == '\\' && at + 1 < text.length()) {
				c = text.charAt(++at);
				if (c == 'x') {
					int end = at + 1;
					while (end < text.length() && end < at + 3 && Character.digit(text.charAt(end), 16) >= 0) {
						end++;
					}
					out.append((char) (end > at + 1 ? Integer.parseInt(text.substring(at + 1, end), 16) : 'x'));
					at = end - 1;
					continue;
				}
				c = switch (c) {
				case 'n' -> '\n';
				case 't' -> '\t';
				case 'r' -> '\r';
				case 'a' -> '\007';
				case 'b' -> '\b';
				case 'f' -> '\f';
				case 'v' -> '\013';
				case 'e' -> '\033';
				default -> c;
				};
			}
			out.append(c);
		}
		return null;
	}

	/** Over brackets of any kind, and texts in them. */
	private boolean skipNested() {
		int depth = 0;
		while (at < text.length()) {
			switch (text.charAt(at)) {
			case '"' -> {
				if (quoted() == null) {
					return false;
				}
				continue;
			}
			case '(', '[', '{' -> depth++;
			case ')', ']', '}' -> depth--;
			default -> {
				// part of a value
			}
			}
			at++;
			if (depth == 0) {
				return true;
			}
		}
		return false;
	}

	/** Of {@code ( "L" : container = 3 )} the label; the number when it has none, all of several. */
	private static String label(String whole) {
		int colon = whole.lastIndexOf(" : container = ");
		if (colon < 0) {
			return whole;
		}
		String labels = whole.substring(1, colon).strip();
		if (labels.startsWith("\"") && labels.endsWith("\"") && labels.indexOf("\", \"") < 0) {
			return labels.substring(1, labels.length() - 1);
		}
		return labels.startsWith("{") ? labels : whole.substring(colon + " : container = ".length(), whole.length() - 1).strip();
	}

	/** A whole number of a context or a field, as printed: decimal, or hexadecimal with 0x. */
	static Long number(String value) {
		if (value == null) {
			return null;
		}
		try {
			return value.startsWith("0x") ? Long.parseUnsignedLong(value.substring(2), 16) : Long.valueOf(value);
		} catch (NumberFormatException e) {
			return null;
		}
	}
}
