// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The native part of memtrace on this machine: the recorder, and the example programs beside it.
 *
 * @param launcher path of {@code memtrace}, null when there is none
 * @param problem why nothing can be recorded, one sentence; null when it can
 */
public record Installation(Path launcher, String problem) {
	/** System property with the path of {@code memtrace}, set by the scripts that start a JVM. */
	public static final String PROPERTY = "memtrace.launcher";
	/** Environment variable with the same. */
	public static final String VARIABLE = "MEMTRACE_LAUNCHER";

	private static final String NAME = "memtrace";
	/** From the folder of the launcher: the product, a checkout, an installed system. */
	private static final String[] EXAMPLES = { "examples", "../examples", "../lib/memtrace/examples" };

	/** Looks where it can be: a path that the user gave, system property, variable, PATH. */
	public static Installation find(String chosen) {
		return find(chosen, System.getProperty("os.name", ""), System.getProperty(PROPERTY, ""), System.getenv());
	}

	static Installation find(String chosen, String system, String property, Map<String, String> environment) {
		if (!system.toLowerCase(Locale.ROOT).contains("linux")) {
			return new Installation(null, "Programs are recorded on Linux; this is " + system
					+ ". Record there, copy the trace directory, and import it here.");
		}
		if (chosen != null && !chosen.isEmpty()) {
			Path path = executable(chosen);
			return path != null ? new Installation(path, null)
					: new Installation(null, chosen + " is not an executable file; choose the program memtrace.");
		}
		List<String> candidates = new ArrayList<>(List.of(property, environment.getOrDefault(VARIABLE, "")));
		for (String folder : environment.getOrDefault("PATH", "").split(":")) {
			candidates.add(folder.isEmpty() ? "" : folder + "/" + NAME);
		}
		for (String candidate : candidates) {
			Path path = executable(candidate);
			if (path != null) {
				return new Installation(path, null);
			}
		}
		return new Installation(null, "The recorder is not here: the program memtrace is neither beside the workbench nor in PATH.");
	}

	private static Path executable(String text) {
		try {
			Path path = text.isEmpty() ? null : Path.of(text);
			return path != null && Files.isRegularFile(path) && Files.isExecutable(path) ? path.toAbsolutePath().normalize() : null;
		} catch (InvalidPathException e) {
			return null;
		}
	}

	/** An example program by its name, null when it is not there. */
	public Path example(String name) {
		for (String place : EXAMPLES) {
			Path file = launcher == null ? null : launcher.getParent().resolve(place).resolve(name).normalize();
			if (file != null && Files.isRegularFile(file) && Files.isExecutable(file)) {
				return file;
			}
		}
		return null;
	}
}
