// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

/** What the native program knows of dimensions, metrics and formats is what Java has. */
class NamesListTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));

	@Test
	void listOfTheNativeProgramIsCurrent() throws IOException {
		assertEquals(DebugCommand.names(), Files.readString(ROOT.resolve("org.memtrace.cli/commands/names.list")),
				"write it again: ./memtrace debug names >org.memtrace.cli/commands/names.list, then make -C collector and"
						+ " build/collector/memtrace help --markdown >docs/reference/cli.md");
	}
}
