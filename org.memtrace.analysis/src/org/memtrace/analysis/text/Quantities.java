// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.TraceInfo;

/**
 * Times, sizes and sets of numbers as a person types and reads them in a field. Text is exact: what is read from a text that was
 * made here is the same number. Errors are {@link IllegalArgumentException} with a sentence.
 */
public final class Quantities {
	private static final Pattern WITH_UNIT = Pattern.compile("(\\d+(?:[.,]\\d*)?|[.,]\\d+)\\s*([A-Za-zµ]*)");
	private static final Pattern CLOCK = Pattern.compile("@-?\\d{1,18}");
	private static final Map<String, Long> TIMES = units("ns", 1L, "us", 1_000L, "µs", 1_000L, "ms", 1_000_000L, "s",
			1_000_000_000L, "min", 60_000_000_000L, "h", 3_600_000_000_000L);
	private static final Map<String, Long> TICKS = units("", 1L, "tick", 1L, "ticks", 1L);
	private static final Map<String, Long> SIZES = units("B", 1L, "", 1L, "KiB", 1L << 10, "k", 1L << 10, "K", 1L << 10, "KB",
			1L << 10, "MiB", 1L << 20, "M", 1L << 20, "MB", 1L << 20, "GiB", 1L << 30, "G", 1L << 30, "GB", 1L << 30, "TiB",
			1L << 40, "T", 1L << 40, "TB", 1L << 40);
	private static final int MOST_NUMBERS = 65_536;

	private Quantities() {
	}

	private static Map<String, Long> units(Object... pairs) {
		Map<String, Long> map = new LinkedHashMap<>();
		for (int i = 0; i < pairs.length; i += 2) {
			map.put((String) pairs[i], (Long) pairs[i + 1]);
		}
		return map;
	}

	/** Nanoseconds of a text such as {@code 10 ms}; a unit is needed, except for 0. */
	public static long durationNs(String text) {
		String t = text.strip();
		if (t.equals("0")) {
			return 0;
		}
		return withUnit(t, TIMES, "'" + t + "' is no time: give a number with ns, us, ms, s, min or h");
	}

	/** A length of time of a trace: {@link #durationNs(String)}, or with a logical clock a number of ticks, with or without that word. */
	public static long duration(String text, boolean ticks) {
		if (!ticks) {
			return durationNs(text);
		}
		String t = text.strip();
		return withUnit(t, TICKS, "'" + t + "' is no number of ticks");
	}

	/**
	 * A time of a trace in its own clock: counted from its start, such as {@code 1.5 s} (or {@code 500 ticks} with a logical clock), or behind
	 * an {@code @} in its clock. A time beyond what the clock can show is the end of it.
	 */
	public static long time(String text, TraceInfo trace) {
		String t = text.strip();
		if (CLOCK.matcher(t).matches()) {
			return Long.parseLong(t.substring(1));
		}
		try {
			if (trace.isInTicks() && !t.equals("0") && !t.contains("tick")) {
				throw new IllegalArgumentException();
			}
			long sinceStart = duration(t, trace.isInTicks());
			return BigInteger.valueOf(trace.startNs()).add(BigInteger.valueOf(sinceStart)).min(BigInteger.valueOf(Long.MAX_VALUE)).longValueExact();
		} catch (IllegalArgumentException e) {
			throw new IllegalArgumentException("it needs a time from the start of the trace, such as "
					+ (trace.isInTicks() ? "500ticks (this trace has a logical clock)" : "0, 250ms or 1.5s")
					+ ", or one of its clock, such as @" + trace.startNs(), e);
		}
	}

	/** Bytes of a text such as {@code 64 KiB}; units are powers of 1024. */
	public static long sizeBytes(String text) {
		String t = text.strip();
		return withUnit(t, SIZES, "'" + t + "' is no size: give a number with B, KiB, MiB, GiB or TiB");
	}

	private static long withUnit(String t, Map<String, Long> units, String error) {
		Matcher m = WITH_UNIT.matcher(t);
		if (!m.matches() || !units.containsKey(m.group(2))) {
			throw new IllegalArgumentException(error);
		}
		BigDecimal value = new BigDecimal(m.group(1).replace(',', '.')).multiply(BigDecimal.valueOf(units.get(m.group(2))))
				.setScale(0, RoundingMode.HALF_UP);
		if (value.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
			throw new IllegalArgumentException("'" + t + "' is too large");
		}
		return value.longValueExact();
	}

	/** The time in the largest unit in which it is a number with few digits. */
	public static String duration(long ns) {
		return ns == 0 ? "0" : exact(ns, TIMES, new String[] { "s", "ms", "us", "ns" });
	}

	/** The size in the largest unit in which it is a number with few digits. */
	public static String size(long bytes) {
		return exact(bytes, SIZES, new String[] { "TiB", "GiB", "MiB", "KiB", "B" });
	}

	private static String exact(long value, Map<String, Long> units, String[] order) {
		for (String unit : order) {
			long one = units.get(unit);
			if (value >= one) {
				BigDecimal number = BigDecimal.valueOf(value).divide(BigDecimal.valueOf(one), 12, RoundingMode.HALF_UP)
						.stripTrailingZeros();
				boolean isExact = number.multiply(BigDecimal.valueOf(one)).compareTo(BigDecimal.valueOf(value)) == 0;
				if (isExact && number.scale() <= 3 || one == 1) {
					return number.toPlainString() + " " + unit;
				}
			}
		}
		return value + " " + order[order.length - 1];
	}

	/** Numbers of a text such as {@code 0-3, 8, unknown}, which is -1. */
	public static SortedSet<Integer> numbers(String text) {
		SortedSet<Integer> numbers = new TreeSet<>();
		for (String part : text.replaceAll("\\s*[-–]\\s*", "-").split("[,;\\s]+")) {
			String p = part.replaceAll("\\s", "");
			if (p.isEmpty()) {
				continue;
			}
			if (p.equals("unknown")) {
				numbers.add(-1);
				continue;
			}
			if (!p.matches("\\d{1,9}([-–]\\d{1,9})?")) {
				throw new IllegalArgumentException("'" + part.strip() + "' is no number; write for example 0-3, 8");
			}
			String[] ends = p.split("[-–]");
			int from = Integer.parseInt(ends[0]);
			int to = Integer.parseInt(ends[ends.length - 1]);
			if (to < from || to - from >= MOST_NUMBERS) {
				throw new IllegalArgumentException("'" + part.strip() + "' is no range");
			}
			for (int i = from; i <= to; i++) {
				numbers.add(i);
			}
		}
		return numbers;
	}

	/** The text of a set of numbers, ranges joined. */
	public static String numbers(SortedSet<Integer> numbers) {
		StringBuilder text = new StringBuilder();
		Integer first = null;
		Integer last = null;
		for (Integer n : numbers) {
			if (last != null && last >= 0 && n == last + 1) {
				last = n;
				continue;
			}
			range(text, first, last);
			first = n;
			last = n;
		}
		range(text, first, last);
		return text.toString();
	}

	private static void range(StringBuilder text, Integer first, Integer last) {
		if (first != null) {
			text.append(text.isEmpty() ? "" : ", ").append(first < 0 ? "unknown" : first.toString())
					.append(first.equals(last) ? "" : "-" + last);
		}
	}
}
