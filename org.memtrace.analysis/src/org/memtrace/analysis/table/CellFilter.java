// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.memtrace.model.MemtraceException;

/**
 * What a person types above a column. Texts: a regular expression that is found, in small or capital letters; with {@code !}
 * before it one that is not. Numbers: {@code 5}, {@code >5}, {@code <=5}, {@code !=5}, {@code 2..8}; times may have a unit and are
 * milliseconds without.
 */
public final class CellFilter {
	private static final Pattern NUMBER = Pattern.compile("(-?\\d+(?:\\.\\d*)?|-?\\.\\d+)\\s*(ns|us|µs|ms|s)?");
	private static final Pattern COMPARISON = Pattern.compile("\\s*(>=|<=|!=|≥|≤|≠|>|<|=)?\\s*(" + NUMBER.pattern() + ")\\s*");
	private static final Pattern RANGE = Pattern.compile("\\s*(" + NUMBER.pattern() + ")\\s*(?:\\.\\.|…)\\s*(" + NUMBER.pattern()
			+ ")\\s*");

	private final Pattern pattern;
	private final double min;
	private final double max;
	private final boolean not;

	private CellFilter(Pattern pattern, double min, double max, boolean not) {
		this.pattern = pattern;
		this.min = min;
		this.max = max;
		this.not = not;
	}

	/**
	 * Reads what was typed for a column; errors say what is wrong.
	 *
	 * @param ticks whether times are ticks of a logical clock, which have no other unit
	 */
	public static CellFilter parse(EventColumn column, String text, boolean ticks) throws MemtraceException {
		if (!column.isNumber()) {
			boolean not = text.startsWith("!");
			try {
				return new CellFilter(Pattern.compile(not ? text.substring(1) : text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE), 0, 0,
						not);
			} catch (PatternSyntaxException e) {
				throw new MemtraceException(column.title(ticks) + ": '" + text + "' is no regular expression, "
						+ e.getDescription());
			}
		}
		Matcher m = RANGE.matcher(text);
		if (m.matches()) {
			return new CellFilter(null, number(column, m.group(1), ticks), number(column, m.group(4), ticks), false);
		}
		m = COMPARISON.matcher(text);
		if (!m.matches()) {
			throw new MemtraceException(column.title(ticks) + ": '" + text + "' is no comparison such as 5, >5, <=5, !=5 or 2..8"
					+ (column.isTime() && !ticks ? ", also with ns, us, ms or s" : ""));
		}
		double v = number(column, m.group(2), ticks);
		double infinity = Double.POSITIVE_INFINITY;
		return switch (m.group(1) == null ? "=" : m.group(1)) {
		case ">" -> new CellFilter(null, Math.nextUp(v), infinity, false);
		case ">=", "≥" -> new CellFilter(null, v, infinity, false);
		case "<" -> new CellFilter(null, -infinity, Math.nextDown(v), false);
		case "<=", "≤" -> new CellFilter(null, -infinity, v, false);
		case "!=", "≠" -> new CellFilter(null, v, v, true);
		default -> new CellFilter(null, v, v, false);
		};
	}

	/** Times in ns, or in ticks where the trace counts them. */
	private static double number(EventColumn column, String text, boolean ticks) throws MemtraceException {
		Matcher m = NUMBER.matcher(text);
		if (!m.matches()) {
			throw new MemtraceException(column.title(ticks) + ": '" + text + "' is no number");
		}
		BigDecimal v = new BigDecimal(m.group(1).endsWith(".") ? m.group(1) + "0" : m.group(1));
		boolean hasUnit = column.isTime() && !ticks;
		if (m.group(2) != null && !hasUnit) {
			throw new MemtraceException(column.title(ticks) + " has no unit " + m.group(2));
		}
		if (hasUnit) {
			v = v.movePointRight(switch (m.group(2) == null ? "ms" : m.group(2)) {
			case "ns" -> 0;
			case "us", "µs" -> 3;
			case "ms" -> 6;
			default -> 9;
			});
		}
		return v.doubleValue();
	}

	/** Whether a text passes. */
	public boolean test(String text) {
		return pattern.matcher(text).find() != not;
	}

	/** Whether a number passes; a time in ns or ticks. */
	public boolean test(double number) {
		return (number >= min && number <= max) != not;
	}
}
