// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Options of {@code memtrace record} that a person sets in a form; a test compares them with the command table. */
public enum RecordOption {
	/** {@link CheckResult#AUTOMATIC} or the name of a backend; which there are tells {@link CheckResult}. */
	BACKEND("backend", Kind.TEXT, CheckResult.AUTOMATIC, "", ""),
	INTERVAL("interval", Kind.DURATION, "50ms", "1ms", "60s"),
	SUBPHASES("subphases", Kind.INT, "5", "1", "64"),
	WRITE_TRACKING("write-tracking", Kind.CHOICE, "on", "", "", "on", "off"),
	MAX_OVERHEAD("max-overhead", Kind.NUMBER, "0.35", "0", "100"),
	MIN_STATIC("min-static", Kind.SIZE, "8", "", ""),
	MIN_ALLOC("min-alloc", Kind.SIZE, "4096", "", ""),
	STACK_DEPTH("stack-depth", Kind.INT, "16", "0", "64"),
	/** Empty: until the process ends or the recording is stopped. */
	DURATION("duration", Kind.DURATION, "", "", ""),
	NAME("name", Kind.TEXT, "", "", ""),
	PURPOSE("purpose", Kind.TEXT, "", "", ""),
	PHYSICAL("physical", Kind.FLAG, "", "", ""),
	COMPRESS("compress", Kind.FLAG, "", "", "");

	/** What a value looks like. */
	public enum Kind {
		CHOICE("", Map.of()), //
		DURATION("a time with a unit, such as 50ms", Map.of("ns", 1L, "us", 1000L, "ms", 1_000_000L, "s", 1_000_000_000L, "min",
				60_000_000_000L, "h", 3_600_000_000_000L)), //
		INT("a whole number", Map.of("", 1L)), //
		NUMBER("a number", Map.of("", 1L)), //
		SIZE("a size, such as 4096 or 64k", Map.ofEntries(Map.entry("", 1L), Map.entry("B", 1L), Map.entry("k", 1L << 10),
				Map.entry("K", 1L << 10), Map.entry("KiB", 1L << 10), Map.entry("M", 1L << 20), Map.entry("MiB", 1L << 20),
				Map.entry("G", 1L << 30), Map.entry("GiB", 1L << 30), Map.entry("T", 1L << 40), Map.entry("TiB", 1L << 40))), //
		TEXT("", Map.of()), //
		FLAG("", Map.of());

		private final String wanted;
		private final Map<String, Long> units;

		Kind(String wanted, Map<String, Long> units) {
			this.wanted = wanted;
			this.units = units;
		}

		/** The value in ns, bytes or ones; null when it is not one. */
		BigDecimal parse(String value) {
			Matcher m = NUMBER_WITH_UNIT.matcher(value);
			if (!m.matches() || !units.containsKey(m.group(2)) || this == INT && m.group(1).indexOf('.') >= 0) {
				return null;
			}
			return new BigDecimal(m.group(1)).multiply(BigDecimal.valueOf(units.get(m.group(2))));
		}
	}

	/** Value of a flag that is set; empty otherwise. */
	public static final String SET = "set";

	private static final Pattern NUMBER_WITH_UNIT = Pattern.compile("(\\d{1,15}\\.?|\\d{0,15}\\.\\d{1,15})([A-Za-z]*)");

	private final String optionName;
	private final Kind kind;
	private final String defaultText;
	private final String min;
	private final String max;
	private final List<String> choices;

	RecordOption(String optionName, Kind kind, String defaultText, String min, String max, String... choices) {
		this.optionName = optionName;
		this.kind = kind;
		this.defaultText = defaultText;
		this.min = min;
		this.max = max;
		this.choices = List.of(choices);
	}

	/** Without the dashes. */
	public String optionName() {
		return optionName;
	}

	public Kind kind() {
		return kind;
	}

	/** Empty: not given. */
	public String defaultText() {
		return defaultText;
	}

	/** Empty: no limit. */
	public String min() {
		return min;
	}

	/** Empty: no limit. */
	public String max() {
		return max;
	}

	/** Of a choice. */
	public List<String> choices() {
		return choices;
	}

	/** What is wrong with a value; the end of a sentence that begins with what the value is called. Null when nothing is. */
	public String problem(String value) {
		if (value.isEmpty() && defaultText.isEmpty()) {
			return null;
		}
		if (kind == Kind.CHOICE) {
			return choices.contains(value) ? null : "must be one of " + String.join(", ", choices);
		}
		if (kind.wanted.isEmpty()) {
			return null;
		}
		BigDecimal parsed = kind.parse(value);
		if (parsed == null) {
			return "must be " + kind.wanted;
		}
		if (!min.isEmpty() && parsed.compareTo(kind.parse(min)) < 0) {
			return "must be at least " + min;
		}
		return !max.isEmpty() && parsed.compareTo(kind.parse(max)) > 0 ? "must be at most " + max : null;
	}
}
