// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.util.Arrays;
import java.util.List;

/**
 * One option of the command table.
 *
 * @param name long name without dashes
 * @param letter short name or 0
 * @param value name of the value, or the choices; null for a flag
 * @param defaultValue as written on a command line, or null
 * @param min inclusive limit or null
 * @param max inclusive limit or null
 * @param repeat may be given several times
 * @param optional the value may be left out, then it is the default; it is never a word of its own
 * @param text explanation
 */
record OptionSpec(String name, char letter, String value, Type type, String defaultValue, String min, String max,
		boolean repeat, boolean optional, String text) {

	enum Type {
		FLAG, TEXT, PATH, INT, NUMBER, DURATION, SIZE, CHOICE
	}

	/** As help writes it: {@code --name}, {@code --name VALUE} or {@code --name[=VALUE]}. */
	String form() {
		return "--" + name + (value == null ? "" : optional ? "[=" + value + "]" : " " + value);
	}

	List<String> choices() {
		return type == Type.CHOICE ? Arrays.asList(value.split("\\|")) : List.of();
	}

	/** Checks a value; throws one sentence about what is wrong. */
	void check(String given) throws UsageException {
		String wanted = switch (type) {
		case INT -> Values.parseInt(given) == null ? "a whole number" : null;
		case NUMBER -> Values.parseNumber(given) == null ? "a number" : null;
		case DURATION -> Values.parseDurationNs(given) == null ? "a time with a unit, such as 50ms" : null;
		case SIZE -> Values.parseSizeBytes(given) == null ? "a size, such as 4096 or 64k" : null;
		case PATH -> given.isEmpty() ? "a path" : null;
		default -> null;
		};
		if (type == Type.CHOICE && !choices().contains(given)) {
			throw new UsageException("--" + name + " must be one of " + value + ", not '" + given + "'");
		}
		if (wanted != null) {
			throw new UsageException("--" + name + " needs " + wanted + ", not '" + given + "'");
		}
		if (min != null && compare(given, min) < 0) {
			throw new UsageException("--" + name + " must be at least " + min + ", not " + given);
		}
		if (max != null && compare(given, max) > 0) {
			throw new UsageException("--" + name + " must be at most " + max + ", not " + given);
		}
	}

	private int compare(String a, String b) {
		return switch (type) {
		case INT -> Values.parseInt(a).compareTo(Values.parseInt(b));
		case NUMBER -> Values.parseNumber(a).compareTo(Values.parseNumber(b));
		case DURATION -> Values.parseDurationNs(a).compareTo(Values.parseDurationNs(b));
		case SIZE -> Values.parseSizeBytes(a).compareTo(Values.parseSizeBytes(b));
		default -> 0;
		};
	}
}
