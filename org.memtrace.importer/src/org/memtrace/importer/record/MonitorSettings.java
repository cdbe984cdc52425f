// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What {@code memtrace monitor} is to measure. Immutable.
 *
 * @param definition file with the definitions of the monitors; empty for the load of each PU and the memory of each node
 * @param period time between two samples, such as {@code 100ms}
 * @param program the program to watch and its arguments; empty for the whole machine until it is stopped
 * @param runningOnly of the program only: places where it does not run have no values
 * @param output file of the trace
 */
public record MonitorSettings(String definition, String period, List<String> program, boolean runningOnly, String output) {
	private static final Pattern PERIOD = Pattern.compile("0|\\d+(\\.\\d+)?(ns|us|µs|ms|s|min|h)");

	public MonitorSettings {
		program = List.copyOf(program);
	}

	/** Why this cannot be measured, a sentence; null when it may. What the definition says wrong is told by the command. */
	public String problem() {
		try {
			if (!definition.isEmpty() && !Files.isReadable(Path.of(definition))) {
				return "The definition file " + definition + " is not there, or not readable.";
			}
		} catch (InvalidPathException e) {
			return "The definition file has a name that cannot be.";
		}
		if (!PERIOD.matcher(period).matches()) {
			return "The period is a time such as 100ms or 1s.";
		}
		return runningOnly && program.isEmpty() ? "Without a program there are no places where it runs." : null;
	}

	/** The same into another file. */
	public MonitorSettings withOutput(String file) {
		return new MonitorSettings(definition, period, program, runningOnly, file);
	}

	/** The command. */
	public List<String> command(String launcher) {
		List<String> words = new ArrayList<>(List.of(launcher, "monitor"));
		if (!definition.isEmpty()) {
			words.addAll(List.of("-f", definition));
		}
		words.addAll(List.of("-i", period));
		if (runningOnly) {
			words.add("--running-only");
		}
		words.addAll(List.of("-o", output));
		if (!program.isEmpty()) {
			words.add("--");
			words.addAll(program);
		}
		return words;
	}
}
