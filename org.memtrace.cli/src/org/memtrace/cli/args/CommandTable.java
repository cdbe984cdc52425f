// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.cli.args.CommandSpec.Item;
import org.memtrace.importer.InputReaders;

/**
 * Reads the command table, the text files in the folder commands of this bundle (format: commands/README.txt). The
 * native program has the same table compiled in.
 */
public final class CommandTable {
	private static final Pattern BACKEND = Pattern.compile("BACKEND\\((\\w+)\\)");
	private static final String FOLDER = "/commands/";

	private CommandTable() {
	}

	/** Sections of the commands by their name, in the order of the help. */
	public static Map<String, String> index() {
		Map<String, String> sections = new LinkedHashMap<>();
		String section = "";
		for (String line : lines("index.txt")) {
			if (line.startsWith("section: ")) {
				section = line.substring(9);
			} else if (line.startsWith("\t")) {
				sections.put(line.trim(), section);
			}
		}
		return sections;
	}

	/** The command, or null when there is none of this name. */
	public static CommandSpec find(String name) {
		String section = index().get(name);
		return section == null ? null : read(name + ".txt", section);
	}

	/** Options of every command, and the overview. */
	static CommandSpec common() {
		return read("common.txt", "");
	}

	private static List<String> lines(String file) {
		try (InputStream in = CommandTable.class.getResourceAsStream(FOLDER + file)) {
			if (in == null) {
				throw new IllegalStateException("the command table has no " + file);
			}
			List<String> lines = new ArrayList<>();
			BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
			for (String line; (line = reader.readLine()) != null;) {
				if (!line.startsWith("#")) {
					lines.add(line);
				}
			}
			return lines;
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	/** Names of the backends of the recorder, for a choice. */
	private static String backends() {
		return lines("backends.list").stream().map(BACKEND::matcher).filter(Matcher::matches).map(m ->
				m.group(1)).collect(Collectors.joining("|"));
	}

	private static final Pattern NAMES = Pattern.compile("@(colours|groups|filters|metrics|event-metrics|formats)");

	/** Puts dimensions, metrics and formats at the place of {@code @colours} and the like, with what they mean. */
	private static String withNames(String text) {
		return text.indexOf('@') < 0 ? text : NAMES.matcher(text).replaceAll(m -> Matcher.quoteReplacement(switch (m.group(1)) {
		case "metrics" -> metrics(Metric::ofAccesses);
		case "event-metrics" -> metrics(Metric::ofEvents);
		case "formats" -> InputReaders.all().stream().flatMap(r -> r.examples().stream())
				.map(e -> String.format(Locale.ROOT, "%-26s%s", e.name(), e.what())).collect(Collectors.joining("\n  "));
		default -> Dimensions.of(Use.valueOf(m.group(1).substring(0, m.group(1).length() - 1).toUpperCase(Locale.ROOT))).stream()
				.map(d -> d.id() + " (" + d.explanation() + ")").collect(Collectors.joining("; "));
		}));
	}

	private static String metrics(Predicate<Metric> which) {
		return Arrays.stream(Metric.values()).filter(which).map(m -> m.id() + " (" + m.explanation() + ")").collect(Collectors.joining("; "));
	}

	/** An entry of a file: keyword, value, attributes, text. */
	private static final class Entry {
		final String keyword;
		final String value;
		final Map<String, String> attributes = new LinkedHashMap<>();
		final StringBuilder text = new StringBuilder();

		Entry(String keyword, String value) {
			this.keyword = keyword;
			this.value = value;
		}

		Item item() {
			return new Item(value, text.toString());
		}
	}

	private static List<Entry> entries(String file) {
		List<Entry> entries = new ArrayList<>();
		Entry entry = null;
		boolean blank = false;
		int number = 0;
		for (String line : lines(file)) {
			number++;
			if (line.isBlank()) {
				blank = true;
				continue;
			}
			if (!line.startsWith("\t")) {
				int colon = line.indexOf(':');
				if (colon < 0) {
					throw new IllegalStateException(file + ", line " + number + ": expected 'keyword: value'");
				}
				entry = new Entry(line.substring(0, colon), line.substring(colon + 1).trim());
				entries.add(entry);
			} else if (entry == null) {
				throw new IllegalStateException(file + ", line " + number + ": text belongs to no keyword");
			} else if (line.startsWith("\t@")) {
				String[] attribute = line.substring(2).split(" ", 2);
				entry.attributes.put(attribute[0], attribute.length > 1 ? attribute[1].trim() : "1");
			} else {
				if (!entry.text.isEmpty()) {
					entry.text.append(blank ? "\n\n" : "\n");
				}
				entry.text.append(line, 1, line.length());
			}
			blank = false;
		}
		return entries;
	}

	private static CommandSpec read(String file, String section) {
		Map<String, String> single = new LinkedHashMap<>();
		List<String> usage = new ArrayList<>();
		List<OptionSpec> options = new ArrayList<>();
		Map<String, List<Item>> items = new LinkedHashMap<>();
		String text = "";
		for (Entry e : entries(file)) {
			switch (e.keyword) {
			case "usage" -> usage.add(e.value);
			case "description" -> text = withNames(e.text.toString());
			case "option" -> options.add(option(e));
			case "argument", "example", "variable" -> items.computeIfAbsent(e.keyword, k -> new ArrayList<>())
					.add(e.item());
			case "exit" -> {
				String[] code = e.value.split(" ", 2);
				items.computeIfAbsent(e.keyword, k -> new ArrayList<>()).add(new Item(code[0], code[1]));
			}
			default -> single.put(e.keyword, e.value);
			}
		}
		String range = single.getOrDefault("args", "0");
		int dots = range.indexOf("..");
		int min = Integer.parseInt(dots < 0 ? range : range.substring(0, dots));
		int max = dots < 0 ? min : dots + 2 == range.length() ? -1 : Integer.parseInt(range.substring(dots + 2));
		return new CommandSpec(single.get("command"), section, "java".equals(single.get("runs")),
				single.get("summary"), usage, text, min, max, "yes".equals(single.get("rest")), options,
				items.getOrDefault("argument", List.of()), items.getOrDefault("example", List.of()),
				items.getOrDefault("exit", List.of()), items.getOrDefault("variable", List.of()));
	}

	private static OptionSpec option(Entry e) {
		String spec = e.value;
		char letter = 0;
		if (spec.charAt(1) != '-') {
			letter = spec.charAt(1);
			spec = spec.substring(4);
		}
		boolean optional = spec.endsWith("]");
		String[] parts = optional ? spec.substring(2, spec.length() - 1).split("\\[=", 2) : spec.substring(2).split(" ", 2);
		String value = parts.length > 1 ? parts[1].replace("@backends", backends()) : null;
		String type = e.attributes.getOrDefault("type",
				value == null ? "flag" : value.indexOf('|') >= 0 ? "choice" : "text");
		return new OptionSpec(parts[0], letter, value, OptionSpec.Type.valueOf(type.toUpperCase(Locale.ROOT)),
				e.attributes.get("default"), e.attributes.get("min"), e.attributes.get("max"),
				e.attributes.containsKey("repeat"), optional, withNames(e.text.toString()));
	}
}
