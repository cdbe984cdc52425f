// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.math.BigDecimal;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.analysis.text.Quantities;
import org.memtrace.model.TraceInfo;

/**
 * A range of numbers, sizes or times, both ends included. Of sizes and times {@code A..B} has no B in it, of numbers it has.
 *
 * @param text what was written, for a sentence
 */
record WordRange(long min, long max, String text) {
	private static final Pattern SIGN = Pattern.compile("([<>]=?)(.*)");
	private static final Map<String, Long> THOUSANDS = Map.of("", 1L, "k", 1_000L, "M", 1_000_000L, "G", 1_000_000_000L);
	private static final Pattern NUMBER = Pattern.compile("(\\d+(?:\\.\\d+)?)([kMG]?)");

	/** Numbers, with k, M and G for thousands, millions and milliards. */
	static WordRange numbers(String before, Words.Value value) throws WordsException {
		return of(before, value, false, text -> {
			Matcher m = NUMBER.matcher(text);
			if (!m.matches()) {
				throw new IllegalArgumentException("'" + text + "' is no number; it may have k, M or G behind it");
			}
			return new BigDecimal(m.group(1)).multiply(BigDecimal.valueOf(THOUSANDS.get(m.group(2)))).longValueExact();
		});
	}

	/** Bytes. */
	static WordRange sizes(String before, Words.Value value) throws WordsException {
		return of(before, value, true, Quantities::sizeBytes);
	}

	/** Times since the start of the trace, also of its clock behind an {@code @}. */
	static WordRange times(String before, Words.Value value, TraceInfo trace) throws WordsException {
		return of(before, value, true, text -> {
			if (!text.startsWith("@") && !trace.isInTicks()) {
				return Quantities.durationNs(text); // its sentence lists the units
			}
			return Quantities.time(text, trace) - trace.startNs();
		});
	}

	private static WordRange of(String before, Words.Value value, boolean halfOpen, ToLongFunction<String> number) throws WordsException {
		String text = value.text();
		try {
			Matcher sign = SIGN.matcher(text);
			if (sign.matches()) {
				long n = number.applyAsLong(sign.group(2));
				return switch (sign.group(1)) {
				case ">" -> new WordRange(n + 1, Long.MAX_VALUE, "more than " + sign.group(2));
				case ">=" -> new WordRange(n, Long.MAX_VALUE, "at least " + sign.group(2));
				case "<" -> new WordRange(Long.MIN_VALUE, n - 1, "less than " + sign.group(2));
				default -> new WordRange(Long.MIN_VALUE, n, "at most " + sign.group(2));
				};
			}
			int dots = text.indexOf("..");
			if (dots < 0) {
				long n = number.applyAsLong(text);
				return new WordRange(n, n, text);
			}
			String from = text.substring(0, dots);
			String to = text.substring(dots + 2);
			long min = from.isEmpty() ? Long.MIN_VALUE : number.applyAsLong(from);
			long max = to.isEmpty() ? Long.MAX_VALUE : number.applyAsLong(to) - (halfOpen ? 1 : 0);
			if (min > max) {
				throw new IllegalArgumentException("nothing is in '" + text + "'");
			}
			return new WordRange(min, max, from.isEmpty() ? "up to " + to : to.isEmpty() ? "from " + from + " on" : from + " to " + to);
		} catch (IllegalArgumentException | ArithmeticException e) {
			throw new WordsException(before + ": " + (e instanceof ArithmeticException ? "'" + text + "' is no whole number" : e.getMessage()));
		}
	}

	/** Whether a number is in it. */
	boolean has(double n) {
		return n >= min && n <= max;
	}
}
