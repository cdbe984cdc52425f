// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/**
 * What an experiment is to do, as its author wrote it.
 *
 * @param name of the experiment
 * @param purpose what is expected, and why it is done
 * @param command with {@code {factor}} for the level of a factor
 * @param factors levels by factor, as text, in order
 * @param repetitions runs of each configuration
 * @param seed of the order of the runs
 * @param record whether each run is recorded by {@code memtrace record}
 * @param recordOptions options of it
 * @param directory in which the commands run
 * @param pre before each run; empty for none
 * @param post after each run
 * @param state a command whose output must be the same before {@code pre} and after {@code post}; empty for none
 * @param timeoutSeconds of a run; 0 for none
 * @param files that belong to the experiment and are kept with it
 * @param environment variables of the runs, with {@code {factor}}
 * @param reference levels that make a configuration the one to which others are compared; empty for none
 * @param metrics regular expressions with one group that finds a number in what the program prints
 * @param higherIsBetter metrics of which more is better
 */
public record ExperimentPlan(String name, String purpose, List<String> command, Map<String, List<String>> factors, int repetitions,
		long seed, boolean record, List<String> recordOptions, Path directory, List<String> pre, List<String> post, List<String> state,
		int timeoutSeconds, List<String> files, Map<String, String> environment, Map<String, String> reference, Map<String, Pattern> metrics,
		Set<String> higherIsBetter) {
	private static final Pattern PLACE = Pattern.compile("\\{([A-Za-z_][A-Za-z0-9_-]*)\\}");
	private static final int MOST_RUNS = 100_000;
	private static final Set<String> KNOWN = Set.of("name", "purpose", "command", "factors", "repetitions", "seed", "record", "record_options",
			"directory", "pre", "post", "state", "timeout_seconds", "files", "environment", "reference", "metrics", "higher_is_better");
	/** Columns of the results, which no factor and no metric can be called. */
	static final Set<String> COLUMNS = Set.of("run", "configuration", "repetition", "start", "wall_ns", "cpu_ns", "exit_code", "valid",
			"why_not",
			"environment", "lost", "metric", "runs", "mean", "standard_error", "low", "high", "speedup", "speedup_low", "speedup_high");

	/**
	 * One run.
	 *
	 * @param number position in the order of the runs, from 1
	 * @param configuration index of its levels in {@link #configurations}
	 * @param repetition from 1
	 */
	public record Run(int number, int configuration, int repetition) {
	}

	/** Reads a plan; what is wrong with it is one sentence with the file. */
	public static ExperimentPlan read(Path file) throws TraceFormatException {
		try {
			Path parent = file.toAbsolutePath().normalize().getParent();
			return parse(file.toString(), RegularFile.text(file, StandardCharsets.UTF_8), parent);
		} catch (IOException e) {
			throw new TraceFormatException(file.toString(), 0, "cannot be read: " + e.getMessage());
		}
	}

	/** @param folder of the plan, to which its paths refer */
	static ExperimentPlan parse(String file, String text, Path folder) throws TraceFormatException {
		Reader r = new Reader(file, Toml.parse(file, text));
		for (String key : r.values.keySet()) {
			if (!KNOWN.contains(key)) {
				throw r.wrong("'" + key + "' is nothing that a plan has; it knows " + String.join(", ", KNOWN.stream().sorted().toList()));
			}
		}
		String name = r.text("name", null);
		if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]*")) {
			throw r.wrong("name must be letters, digits, '.', '_' and '-'");
		}
		Map<String, List<String>> factors = factors(r);
		Map<String, String> reference = new LinkedHashMap<>();
		for (Map.Entry<String, Object> level : r.table("reference").entrySet()) {
			String value = String.valueOf(level.getValue());
			if (!factors.getOrDefault(level.getKey(), List.of()).contains(value)) {
				throw r.wrong("the reference has " + level.getKey() + " = " + value + ", which is no level of a factor");
			}
			reference.put(level.getKey(), value);
		}
		Map<String, Pattern> metrics = metrics(r, factors);
		Map<String, String> environment = new LinkedHashMap<>();
		r.table("environment").forEach((key, value) -> environment.put(key, String.valueOf(value)));
		List<String> higher = r.list("higher_is_better");
		for (String metric : higher) {
			if (!metrics.containsKey(metric)) {
				throw r.wrong("higher_is_better names " + metric + ", which is no metric of the plan");
			}
		}
		List<String> command = r.list("command");
		if (command.isEmpty()) {
			throw r.wrong("command is missing: a list, the program and its arguments");
		}
		ExperimentPlan plan = new ExperimentPlan(name, r.text("purpose", null), command, Collections.unmodifiableMap(factors),
				(int) r.number("repetitions", null, 1, MOST_RUNS), r.number("seed", null, Long.MIN_VALUE, Long.MAX_VALUE), r.truth("record", false),
				r.list("record_options"), folder.resolve(r.text("directory", ".")).normalize(), r.list("pre"), r.list("post"), r.list("state"),
				(int) r.number("timeout_seconds", 0L, 0, Integer.MAX_VALUE), r.list("files"), Collections.unmodifiableMap(environment),
				Collections.unmodifiableMap(reference), Collections.unmodifiableMap(metrics), Set.copyOf(higher));
		plan.check(r);
		return plan;
	}

	/** What a plan says must fit together. */
	private void check(Reader r) throws TraceFormatException {
		List<String> texts = new ArrayList<>(command);
		texts.addAll(environment.values());
		texts.addAll(pre);
		texts.addAll(post);
		for (String t : texts) {
			for (Matcher m = PLACE.matcher(t); m.find();) {
				if (!factors.containsKey(m.group(1)) && !m.group(1).equals("run")) {
					throw r.wrong("'" + t + "' has {" + m.group(1) + "}, which is no factor");
				}
			}
		}
		if (purpose.isBlank()) {
			throw r.wrong("purpose is empty: say what is expected, and why");
		}
		if (!record && !recordOptions.isEmpty()) {
			throw r.wrong("record_options needs record = true");
		}
		long runs = repetitions;
		for (List<String> levels : factors.values()) {
			runs = Math.min(MOST_RUNS + 1L, runs * levels.size());
		}
		if (runs > MOST_RUNS) {
			throw r.wrong("these are more than " + MOST_RUNS + " runs");
		}
	}

	private static Map<String, Pattern> metrics(Reader r, Map<String, List<String>> factors) throws TraceFormatException {
		Map<String, Pattern> metrics = new LinkedHashMap<>();
		for (Map.Entry<String, Object> metric : r.table("metrics").entrySet()) {
			if (COLUMNS.contains(metric.getKey()) || factors.containsKey(metric.getKey())) {
				throw r.wrong("a metric cannot be called " + metric.getKey());
			}
			try {
				Pattern pattern = Pattern.compile(String.valueOf(metric.getValue()), Pattern.MULTILINE);
				if (pattern.matcher("").groupCount() != 1) {
					throw r.wrong("the expression of the metric " + metric.getKey() + " must have one group (…), the number");
				}
				metrics.put(metric.getKey(), pattern);
			} catch (PatternSyntaxException e) {
				throw r.wrong("the metric " + metric.getKey() + " is no regular expression: " + e.getDescription());
			}
		}
		return metrics;
	}

	private static Map<String, List<String>> factors(Reader r) throws TraceFormatException {
		Map<String, List<String>> factors = new LinkedHashMap<>();
		for (Map.Entry<String, Object> factor : r.table("factors").entrySet()) {
			if (!factor.getKey().matches("[A-Za-z_][A-Za-z0-9_-]*") || COLUMNS.contains(factor.getKey())) {
				throw r.wrong("a factor cannot be called " + factor.getKey());
			}
			List<String> levels = factor.getValue() instanceof List<?> list ? list.stream().map(String::valueOf).toList()
					: List.of(String.valueOf(factor.getValue()));
			if (levels.isEmpty() || new LinkedHashSet<>(levels).size() != levels.size()) {
				throw r.wrong("the factor " + factor.getKey() + " has " + (levels.isEmpty() ? "no level" : "a level twice"));
			}
			factors.put(factor.getKey(), levels);
		}
		return factors;
	}

	/** The levels of each configuration, in the order of the plan: the last factor changes first. */
	public List<Map<String, String>> configurations() {
		List<Map<String, String>> all = new ArrayList<>();
		all.add(new LinkedHashMap<>());
		for (Map.Entry<String, List<String>> factor : factors.entrySet()) {
			List<Map<String, String>> next = new ArrayList<>();
			for (Map<String, String> base : all) {
				for (String level : factor.getValue()) {
					Map<String, String> one = new LinkedHashMap<>(base);
					one.put(factor.getKey(), level);
					next.add(one);
				}
			}
			all = next;
		}
		return all;
	}

	/** What a person calls a configuration. */
	public static String label(Map<String, String> levels) {
		return levels.isEmpty() ? "all" : String.join(", ", levels.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList());
	}

	/** The configuration to which another one is compared; -1 when there is no reference. */
	public int referenceOf(int configuration) {
		List<Map<String, String>> all = configurations();
		Map<String, String> levels = new LinkedHashMap<>(all.get(configuration));
		levels.putAll(reference);
		return reference.isEmpty() ? -1 : all.indexOf(levels);
	}

	/** All runs in a random order that depends on the seed only (java.util.Random, shuffled by Fisher and Yates). */
	public List<Run> schedule() {
		List<int[]> all = new ArrayList<>();
		for (int c = 0; c < configurations().size(); c++) {
			for (int k = 1; k <= repetitions; k++) {
				all.add(new int[] { c, k });
			}
		}
		Random random = new Random(seed);
		for (int i = all.size() - 1; i > 0; i--) {
			Collections.swap(all, i, random.nextInt(i + 1));
		}
		List<Run> runs = new ArrayList<>();
		all.forEach(r -> runs.add(new Run(runs.size() + 1, r[0], r[1])));
		return runs;
	}

	/** A text with the levels in it, and the folder of the run for {@code {run}}. */
	static String filled(String text, Map<String, String> levels, Path run) {
		return PLACE.matcher(text).replaceAll(m -> Matcher.quoteReplacement(
				m.group(1).equals("run") && !levels.containsKey("run") ? run.toString() : levels.getOrDefault(m.group(1), m.group())));
	}

	/** Names of what is measured: the times, then the metrics of the plan. */
	public List<String> measured() {
		List<String> all = new ArrayList<>(List.of("wall_ns", "cpu_ns"));
		all.addAll(metrics.keySet());
		return all;
	}

	private record Reader(String file, Map<String, Object> values) {
		TraceFormatException wrong(String what) {
			return new TraceFormatException(file, 0, what);
		}

		String text(String key, String usual) throws TraceFormatException {
			Object value = values.getOrDefault(key, usual);
			if (!(value instanceof String s)) {
				throw wrong(value == null ? key + " is missing" : key + " must be a text in quotation marks");
			}
			return s;
		}

		boolean truth(String key, boolean usual) throws TraceFormatException {
			if (!(values.getOrDefault(key, usual) instanceof Boolean b)) {
				throw wrong(key + " must be true or false");
			}
			return b;
		}

		long number(String key, Long usual, long least, long most) throws TraceFormatException {
			Object value = values.getOrDefault(key, usual);
			if (!(value instanceof Long n) || n < least || n > most) {
				throw wrong(value == null ? key + " is missing" : key + " must be a whole number of " + least + " or more");
			}
			return n;
		}

		List<String> list(String key) throws TraceFormatException {
			Object value = values.getOrDefault(key, List.of());
			if (!(value instanceof List<?> list)) {
				throw wrong(key + " must be a list: [\"program\", \"argument\"]");
			}
			return list.stream().map(String::valueOf).toList();
		}

		@SuppressWarnings("unchecked")
		Map<String, Object> table(String key) throws TraceFormatException {
			Object value = values.getOrDefault(key, Map.of());
			if (!(value instanceof Map<?, ?>)) {
				throw wrong(key + " must be a table: [" + key + "]");
			}
			Map<String, Object> table = (Map<String, Object>) value;
			for (Map.Entry<String, Object> e : table.entrySet()) {
				Object v = e.getValue();
				if (v instanceof Map || v instanceof List<?> list && list.stream().anyMatch(x -> x instanceof Map || x instanceof List)) {
					throw wrong(key + "." + e.getKey() + " must be a value or a list of values");
				}
			}
			return table;
		}
	}
}
