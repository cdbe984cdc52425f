// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;

/** Each format is offered, described and written. */
class ExportFormatTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root"));
	private static final List<String> NAMES = ExportFormats.ALL.stream().map(ExportFormat::name).toList();

	@Test
	void theTextOfTheCommandHasAll() throws IOException {
		String text = Files.readString(ROOT.resolve("org.memtrace.cli/commands/export.txt"));
		assertTrue(text.contains("option: --format " + String.join("|", NAMES) + "\n"), () -> "the choices of --format are " + NAMES);
		for (String name : NAMES) {
			assertTrue(text.lines().anyMatch(l -> l.startsWith("\tWrites") && l.toLowerCase(Locale.ROOT).contains(name)), name);
		}
	}

	@Test
	void nothingIsLeftWhenItCannotBeWritten(@TempDir Path folder) throws IOException {
		String trace = ROOT.resolve("testdata/traces/matmul-naive").toString();
		for (String name : NAMES) {
			Path there = Files.createFile(folder.resolve("there-" + name));
			assertEquals(0, Files.size(there));
			assertTrue(Ran.of("export", "--format", name, "-o", there.toString(), trace).code() != 0, name + " replaces a file");
			assertEquals(0, Files.size(there), name);
			Ran wrong = Ran.of("export", "--format", name, "--filter", "no filter", "-o", folder.resolve("none").toString(), trace);
			assertTrue(wrong.code() != 0 && Files.notExists(folder.resolve("none")), name + ": " + wrong.err());
		}
	}
}
