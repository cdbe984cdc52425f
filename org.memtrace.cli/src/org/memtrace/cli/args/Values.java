// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers, times and sizes as written on a command line; null when the text is none. Same rules as collector/cli/table/args.c. */
public final class Values {
	private static final Pattern WITH_UNIT = Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)([A-Za-z]*)");
	private static final Map<String, Long> TIMES = Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s",
			1_000_000_000L, "min", 60_000_000_000L, "h", 3_600_000_000_000L);
	private static final Map<String, Long> SIZES = Map.ofEntries(Map.entry("", 1L), Map.entry("B", 1L),
			Map.entry("k", 1L << 10), Map.entry("K", 1L << 10), Map.entry("KiB", 1L << 10), Map.entry("M", 1L << 20),
			Map.entry("MiB", 1L << 20), Map.entry("G", 1L << 30), Map.entry("GiB", 1L << 30),
			Map.entry("T", 1L << 40), Map.entry("TiB", 1L << 40));

	private Values() {
	}

	public static Long parseInt(String s) {
		try {
			return Long.valueOf(s);
		} catch (NumberFormatException e) {
			return null;
		}
	}

	public static Double parseNumber(String s) {
		if (!s.matches("[-+.0-9eE]+")) {
			return null;
		}
		try {
			double d = Double.parseDouble(s);
			return Double.isFinite(d) ? d : null;
		} catch (NumberFormatException e) {
			return null;
		}
	}

	/** A unit is needed, except for 0. */
	public static Long parseDurationNs(String s) {
		return s.equals("0") ? Long.valueOf(0) : withUnit(s, TIMES);
	}

	/** Units of 1024; without a unit bytes. */
	public static Long parseSizeBytes(String s) {
		return withUnit(s, SIZES);
	}

	private static Long withUnit(String s, Map<String, Long> units) {
		Matcher m = WITH_UNIT.matcher(s);
		if (!m.matches() || !units.containsKey(m.group(2))) {
			return null;
		}
		BigDecimal value = new BigDecimal(m.group(1)).multiply(BigDecimal.valueOf(units.get(m.group(2))));
		value = value.setScale(0, RoundingMode.HALF_UP);
		return value.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0 ? null : Long.valueOf(value.longValueExact());
	}
}
