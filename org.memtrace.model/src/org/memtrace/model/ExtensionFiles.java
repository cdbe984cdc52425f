// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The archives that a user adds to memtrace. The commands take services from them, the workbench installs them as bundles.
 * docs/extend/README.md says how to write one. Any thread.
 */
public final class ExtensionFiles {
	/** Names archives or folders of archives, separated as in a class path. It replaces the folder of the user. */
	public static final String VARIABLE = "MEMTRACE_EXTENSIONS";

	private ExtensionFiles() {
	}

	/**
	 * The archives in the order of their names, those of the variable in the order in which it names them.
	 *
	 * @param home folder of the user's traces, whose folder {@code extensions} is looked into; it need not exist
	 * @param variable value of {@link #VARIABLE}, null or blank when it is not set
	 * @throws MemtraceException when the variable names what is not there, or a folder cannot be read
	 */
	public static List<Path> find(Path home, String variable) throws MemtraceException {
		List<Path> found = new ArrayList<>();
		if (variable == null || variable.isBlank()) {
			Path folder = home.resolve("extensions");
			if (Files.isDirectory(folder)) {
				addFolder(folder, found);
			}
			return found;
		}
		for (String part : variable.split(File.pathSeparator)) {
			if (part.isBlank()) {
				continue;
			}
			Path path = Path.of(part);
			if (Files.isDirectory(path)) {
				addFolder(path, found);
			} else if (Files.isRegularFile(path)) {
				found.add(path);
			} else {
				throw new MemtraceException(VARIABLE + " names " + path + ", which is neither an archive nor a folder");
			}
		}
		return found;
	}

	private static void addFolder(Path folder, List<Path> found) throws MemtraceException {
		try (Stream<Path> files = Files.list(folder)) {
			files.filter(f -> f.getFileName().toString().endsWith(".jar")).sorted().forEach(found::add);
		} catch (IOException e) {
			throw new MemtraceException(folder + ": the extensions in it cannot be listed: " + e.getMessage());
		}
	}
}
