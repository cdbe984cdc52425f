// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.memtrace.sql.DuckDbLibrary;
import org.memtrace.sql.SqlDatabase;

/**
 * The SQL engine of the tests, which the build puts into build/test-lib. Without it the tests are skipped; with another version they fail.
 */
final class DuckDb {
	private static final Path FOLDER = Path.of(System.getProperty("memtrace.root"), "build", "test-lib");

	private DuckDb() {
	}

	/** Lets commands in this JVM use it; @param cache for what they write. */
	static Path use(Path cache) throws IOException {
		List<Path> found = List.of();
		if (Files.isDirectory(FOLDER)) {
			try (Stream<Path> files = Files.list(FOLDER)) {
				found = files.filter(f -> f.getFileName().toString().startsWith("duckdb_jdbc")).toList();
			}
		}
		assumeTrue(!found.isEmpty(), "no DuckDB in build/test-lib");
		Path jar = FOLDER.resolve(DuckDbLibrary.fileName());
		assertTrue(found.contains(jar), () -> "the build fetched another version than " + jar);
		System.setProperty(DuckDbLibrary.PROPERTY, jar.toString());
		System.setProperty(SqlDatabase.PROPERTY, "off");
		System.setProperty("memtrace.cache", cache.resolve("cache").toString());
		return jar;
	}

	/** After {@link #use}: lets it read databases with our extension, which the build of the collector makes. */
	static void useExtension() {
		Path extension = FOLDER.resolveSibling("collector").resolve(SqlDatabase.FILE);
		assumeTrue(Files.isRegularFile(extension), "no extension in build/collector: make -C collector");
		System.setProperty(SqlDatabase.PROPERTY, extension.toString());
	}
}
