// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run gave; the file {@code run.json} in its folder.
 *
 * @param run number in the order of the runs
 * @param levels level of each factor
 * @param command as it was run, without the recorder
 * @param start universal time, RFC 3339
 * @param wallNs from its start to its end
 * @param cpuNs user and system time of it and its children; whole ticks of the kernel, 10 ms
 * @param exitCode 128 and the signal when a signal ended it
 * @param whyNot why it does not count; empty when it does
 * @param environment {@link Surroundings#fingerprint} of the machine before the run
 * @param lost accesses that the recorder lost; -1 when it was not recorded
 * @param metrics that were found in its output
 */
record RunResult(int run, int configuration, int repetition, Map<String, String> levels, List<String> command, String start, long wallNs,
		long cpuNs, int exitCode, String whyNot, String environment, long lost, Map<String, Double> metrics) {
	boolean isValid() {
		return whyNot.isEmpty();
	}

	/** A measured value by the name of {@link ExperimentPlan#measured}; not a number when it is not there. */
	double value(String metric) {
		return switch (metric) {
		case "wall_ns" -> wallNs;
		case "cpu_ns" -> cpuNs;
		default -> metrics.getOrDefault(metric, Double.NaN);
		};
	}

	/** Header of a table of results. */
	static String header(ExperimentPlan plan) {
		List<String> columns = new ArrayList<>(List.of("run", "configuration", "repetition"));
		columns.addAll(plan.factors().keySet());
		columns.addAll(List.of("start", "exit_code", "valid", "why_not", "environment", "lost"));
		columns.addAll(plan.measured());
		return String.join(",", columns);
	}

	/** The run as a line of it. */
	String row(ExperimentPlan plan) {
		List<String> cells = new ArrayList<>(List.of(Integer.toString(run), Integer.toString(configuration + 1), Integer.toString(repetition)));
		plan.factors().keySet().forEach(f -> cells.add(levels.get(f)));
		cells.addAll(List.of(start, Integer.toString(exitCode), isValid() ? "yes" : "no", whyNot, environment,
				lost < 0 ? "" : Long.toString(lost)));
		plan.measured().forEach(m -> cells.add(number(value(m))));
		return String.join(",", cells.stream().map(RunResult::quoted).toList());
	}

	/** Shortest text that gives the same number; empty for none. */
	static String number(double v) {
		return Double.isNaN(v) ? "" : v == Math.rint(v) && Math.abs(v) < 1e15 ? Long.toString((long) v) : Double.toString(v);
	}

	static String quoted(String cell) {
		return cell.matches("(?s).*[\",\\n\\r].*") ? "\"" + cell.replace("\"", "\"\"") + "\"" : cell;
	}

	/** With sorted copies of the maps. */
	RunResult {
		levels = new TreeMap<>(levels);
		metrics = new TreeMap<>(metrics);
	}
}
