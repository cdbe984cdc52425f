// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.access;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder that is gone with all that is in it when it is closed. */
public final class ScratchFolder implements AutoCloseable {
	private final Path path;

	public ScratchFolder(Path parent, String name) throws IOException {
		path = Files.createTempDirectory(parent, name);
	}

	public Path path() {
		return path;
	}

	@Override
	public void close() throws IOException {
		try (Stream<Path> all = Files.walk(path)) {
			for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
				Files.delete(each);
			}
		}
	}
}
