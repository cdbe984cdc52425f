// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.Json;

/**
 * What to record and how; immutable.
 *
 * @param pid process that runs already, 0: a program is started
 * @param program path, or a name to be found in PATH; empty with a pid
 * @param arguments of the program
 * @param directory working directory of the program, and of the recorder; empty: that of the workbench
 * @param environment variables that are added or replaced
 * @param output trace directory, not existing; empty: chosen by {@code memtrace record}
 * @param options texts as on the command line; what is missing or empty has its default
 */
public record RecordSettings(long pid, String program, List<String> arguments, String directory,
		Map<String, String> environment, String output, Map<RecordOption, String> options) {
	private static final String SUFFIX = ".memtrace";

	public RecordSettings {
		arguments = List.copyOf(arguments);
		environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
		Map<RecordOption, String> given = new EnumMap<>(RecordOption.class);
		options.forEach((option, text) -> {
			if (!text.isEmpty() && !text.equals(option.defaultText())) {
				given.put(option, text);
			}
		});
		options = Collections.unmodifiableMap(given);
	}

	/** A program with the defaults of the recorder. */
	public static RecordSettings of(String program, String... arguments) {
		return new RecordSettings(0, program, List.of(arguments), "", Map.of(), "", Map.of());
	}

	/** The value of an option, its default when none is given. */
	public String option(RecordOption option) {
		return options.getOrDefault(option, option.defaultText());
	}

	public RecordSettings with(RecordOption option, String text) {
		Map<RecordOption, String> changed = new EnumMap<>(RecordOption.class);
		changed.putAll(options);
		changed.put(option, text);
		return new RecordSettings(pid, program, arguments, directory, environment, output, changed);
	}

	public RecordSettings withOutput(String now) {
		return new RecordSettings(pid, program, arguments, directory, environment, now, options);
	}

	public RecordSettings withDirectory(String now) {
		return new RecordSettings(pid, program, arguments, now, environment, output, options);
	}

	public RecordSettings withEnvironment(Map<String, String> now) {
		return new RecordSettings(pid, program, arguments, directory, now, output, options);
	}

	/** Name of the program without its folder, {@code process N} for a running one. */
	public String baseName() {
		if (pid > 0) {
			return "process-" + pid;
		}
		return program.substring(program.lastIndexOf('/') + 1);
	}

	/** The argument vector of the recorder. */
	public List<String> command(String launcher) {
		List<String> words = new ArrayList<>(List.of(launcher, "record"));
		if (!output.isEmpty()) {
			words.add("-o");
			words.add(output);
		}
		options.forEach((option, text) -> {
			words.add("--" + option.optionName());
			if (option.kind() != RecordOption.Kind.FLAG) {
				words.add(text);
			}
		});
		if (pid > 0) {
			words.add("--pid");
			words.add(Long.toString(pid));
		} else {
			words.add("--");
			words.add(program);
			words.addAll(arguments);
		}
		return words;
	}

	/** The command as one would type it: folder, variables, recorder. */
	public String shellText() {
		StringBuilder text = new StringBuilder();
		if (!directory.isEmpty()) {
			text.append("cd ").append(ShellWords.quote(directory)).append(" && ");
		}
		environment.forEach((name, value) -> text.append(name).append('=').append(value.isEmpty() ? "''" : ShellWords.quote(value))
				.append(' '));
		return text.append(ShellWords.join(command("memtrace"))).toString();
	}

	/**
	 * What is wrong, one sentence; null when nothing is as far as one can see before it runs.
	 *
	 * @param path value of PATH, to find a program that is only named
	 */
	public String problem(String path) {
		if (pid == 0 && program.isEmpty()) {
			return "Choose a program.";
		}
		if (program.startsWith("/") && !Files.exists(Path.of(program))) { // its folder may be the working directory
			return "The program " + program + " does not exist.";
		}
		if (!directory.isEmpty() && !Files.isDirectory(Path.of(directory))) {
			return "The working directory " + directory + " does not exist.";
		}
		if (pid > 0) {
			if (!Files.isDirectory(Path.of("/proc", Long.toString(pid)))) {
				return "There is no process " + pid + ".";
			}
		} else if (program.indexOf('/') >= 0) {
			Path file = Path.of(directory).resolve(program);
			if (!Files.exists(file)) {
				return "The program " + program + " does not exist.";
			}
			if (Files.isDirectory(file) || !Files.isExecutable(file)) {
				return program + " is not an executable file.";
			}
		} else {
			boolean found = false;
			for (String folder : path.split(":")) {
				found |= !folder.isEmpty() && Files.isExecutable(Path.of(folder, program));
			}
			if (!found) {
				return "No program in PATH is called " + program + ".";
			}
		}
		if (!output.isEmpty() && Files.exists(Path.of(directory).resolve(output))) {
			return "The trace directory " + output + " exists; a trace is never overwritten.";
		}
		for (RecordOption option : options.keySet()) {
			String wrong = option.problem(options.get(option));
			if (wrong != null) {
				return "--" + option.optionName() + " " + wrong + ".";
			}
		}
		return null;
	}

	/** A trace directory that does not exist yet, named as the recorder would. */
	public static Path freeDirectory(Path parent, String baseName) {
		String base = baseName.isEmpty() ? "trace" : baseName;
		Path path = parent.resolve(base + SUFFIX);
		for (int i = 2; Files.exists(path); i++) {
			path = parent.resolve(base + SUFFIX + "-" + i);
		}
		return path;
	}

	/** For a history that outlives the workbench. */
	public String toJson() {
		return Json.LINE.toJson(this);
	}

	/** @return null when the text is of another version or damaged */
	public static RecordSettings fromJson(String json) {
		try {
			return Json.LINE.fromJson(json, RecordSettings.class);
		} catch (RuntimeException e) { // of Gson, or of the constructor where something is missing
			return null;
		}
	}
}
