// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

/** What the native program knows of dimensions is what Java has. */
class DimensionListTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));

	@Test
	void listOfTheNativeProgramIsCurrent() throws IOException {
		assertEquals(DebugCommand.dimensions(), Files.readString(ROOT.resolve("org.memtrace.cli/commands/dimensions.list")),
				"write it again: ./memtrace debug dimensions >org.memtrace.cli/commands/dimensions.list, then make -C collector and"
						+ " build/collector/memtrace help --markdown >docs/cli.md");
	}
}
