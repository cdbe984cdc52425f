// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** The SQL engine that the build puts into build/test-lib; without it the test is skipped. */
public final class EngineForTests {
	private EngineForTests() {
	}

	public static Path find() {
		Path jar = Path.of(System.getProperty("memtrace.root"), "build", "test-lib", DuckDbLibrary.fileName());
		assumeTrue(Files.isRegularFile(jar), "no DuckDB in build/test-lib");
		return jar;
	}
}
