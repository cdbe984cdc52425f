// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.net.URISyntaxException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/**
 * A trace in a SQLite file that DuckDB reads where it lies, by our extension (collector/duckdb). Immutable.
 *
 * @param extension its file
 * @param file the database
 * @param elsewhere tables that it does not read, by name, with their columns: {@code NAME TYPE,NAME TYPE}
 * @param tables makes them when a statement reads them
 */
public record SqlDatabase(Path extension, Path file, Map<String, String> elsewhere, Tables tables) {
	/** The file of the extension. */
	public static final String FILE = "memtrace.duckdb_extension";
	/** Names another file, or is {@code off}: then all tables come from a Parquet folder. */
	public static final String VARIABLE = "MEMTRACE_DUCKDB_EXTENSION";
	/** A system property that does the same. */
	public static final String PROPERTY = "memtrace.duckdb.extension";

	/** Tables as Parquet. */
	@FunctionalInterface
	public interface Tables {
		/**
		 * Makes a table, if it is not there.
		 *
		 * @param name as in a statement
		 * @param whole whether all tables have to come from the same folder, as the database cannot be read by the extension
		 * @return its files, as {@link SqlView#files}
		 */
		String files(String name, boolean whole, Progress progress) throws MemtraceException;
	}

	/** The extension that was installed with memtrace; empty when there is none for this system. */
	public static Optional<Path> installed() throws StoreException {
		for (String named : new String[] { System.getProperty(PROPERTY), System.getenv(VARIABLE) }) {
			if (named != null && !named.isBlank()) {
				if (!named.equals("off") && !Files.isRegularFile(Path.of(named))) {
					throw new StoreException(VARIABLE + " is " + named + ", where there is no file");
				}
				return named.equals("off") ? Optional.empty() : Optional.of(Path.of(named));
			}
		}
		CodeSource code = SqlDatabase.class.getProtectionDomain().getCodeSource();
		if (code == null || code.getLocation() == null) {
			return Optional.empty();
		}
		try {
			Path own = Path.of(code.getLocation().toURI()).toAbsolutePath().normalize();
			// beside the jars of an installation, above the plug-ins of the workbench, in a checkout
			return Stream.of(FILE, "../" + FILE, "collector/" + FILE, "../collector/" + FILE)
					.map(place -> own.resolveSibling(place).normalize()).filter(Files::isRegularFile).findFirst();
		} catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException e) {
			return Optional.empty();
		}
	}

	/** How a statement of DuckDB reads a table. */
	String source(String name) {
		String of = SqlText.text(file.toString());
		String columns = elsewhere.get(name);
		return columns != null ? "memtrace_elsewhere(" + SqlText.text(name) + ", " + SqlText.text(columns) + ")"
				: name.equals("access") ? "memtrace_access(" + of + ", all_columns := 1)" : "memtrace_" + name + "(" + of + ")";
	}
}
