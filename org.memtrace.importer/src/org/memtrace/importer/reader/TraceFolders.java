// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.nio.file.Files;
import java.nio.file.Path;

/** Which folders are trace directories, by names of files only (docs/reference/trace-format.md). */
public final class TraceFolders {
	private TraceFolders() {
	}

	/** Whether a path looks like a trace directory. */
	public static boolean isTraceDirectory(Path path) {
		return Files.isDirectory(path) && Files.isRegularFile(path.resolve("manifest.json"));
	}

	/** Whether the folder of a process image can have this name. */
	public static boolean isImageName(String name) {
		return name.matches("p[0-9]{1,9}");
	}

	/**
	 * The trace directory that a folder is a part of.
	 *
	 * @return null when the folder is not that of one process in a trace directory
	 */
	public static Path traceDirectoryOf(Path folder) {
		Path path = folder.toAbsolutePath().normalize();
		Path parent = path.getParent();
		return parent != null && isImageName(path.getFileName().toString()) && Files.isDirectory(path) && isTraceDirectory(parent) ? parent
				: null;
	}
}
