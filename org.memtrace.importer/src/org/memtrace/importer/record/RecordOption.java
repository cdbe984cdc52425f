// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Options of {@code memtrace record} that a person sets in a form. Kind, default, limits and choices are those of the command table
 * (org.memtrace.cli/commands/record.txt), which is a resource of this bundle: they stand nowhere else in Java.
 */
public enum RecordOption {
	/** {@link CheckResult#AUTOMATIC} or the name of a backend; which there are tells {@link CheckResult}. */
	BACKEND("backend"), //
	INTERVAL("interval"), //
	SUBPHASES("subphases"), //
	WRITE_TRACKING("write-tracking"), //
	MAX_OVERHEAD("max-overhead"), //
	MIN_STATIC("min-static"), //
	MIN_ALLOC("min-alloc"), //
	STACK_DEPTH("stack-depth"), //
	/** Empty: until the process ends or the recording is stopped. */
	DURATION("duration"), //
	NAME("name"), //
	PURPOSE("purpose"), //
	PHYSICAL("physical"), //
	COMPRESS("compress");

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

	RecordOption(String optionName) {
		Entry entry = Table.ENTRIES.get(optionName);
		if (entry == null) {
			throw new IllegalStateException(Table.RESOURCE + ": there is no option --" + optionName);
		}
		this.optionName = optionName;
		this.kind = entry.kind();
		this.defaultText = entry.attribute("default");
		this.min = entry.attribute("min");
		this.max = entry.attribute("max");
		this.choices = kind == Kind.CHOICE ? List.of(entry.value.split("\\|")) : List.of();
	}

	/** An option of the command table: what stands behind its name ("" for a flag), and its attributes. */
	private record Entry(String value, Map<String, String> attributes) {
		String attribute(String key) {
			return attributes.getOrDefault(key, "");
		}

		/** The names of backends are no choice here: those of the recorder are. */
		Kind kind() {
			String type = attribute("type");
			return !type.isEmpty() ? Kind.valueOf(type.toUpperCase(Locale.ROOT))
					: value.isEmpty() ? Kind.FLAG : value.contains("|") && value.indexOf('@') < 0 ? Kind.CHOICE : Kind.TEXT;
		}
	}

	/** The part of the command table that tells the options of record; its format: org.memtrace.cli/commands/README.txt. */
	private static final class Table {
		static final String RESOURCE = "/commands/record.txt";
		private static final Pattern OPTION = Pattern.compile("option: (?:-\\w, )?--([a-z-]+)(?:\\[?[ =]([^\\]]*)\\]?)?");
		static final Map<String, Entry> ENTRIES = read();

		private static Map<String, Entry> read() {
			Map<String, Entry> entries = new HashMap<>();
			Entry entry = null;
			for (String line : lines()) {
				Matcher m = OPTION.matcher(line);
				if (m.matches()) {
					entry = new Entry(m.group(2) == null ? "" : m.group(2), new HashMap<>());
					entries.put(m.group(1), entry);
				} else if (!line.startsWith("\t")) {
					entry = null;
				} else if (entry != null && line.startsWith("\t@")) {
					String[] words = line.substring(2).split(" ", 2);
					entry.attributes.put(words[0], words.length > 1 ? words[1] : "");
				}
			}
			return entries;
		}

		private static List<String> lines() {
			try (InputStream in = RecordOption.class.getResourceAsStream(RESOURCE)) {
				if (in == null) {
					throw new IllegalStateException("the importer was built without " + RESOURCE);
				}
				return new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}
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
