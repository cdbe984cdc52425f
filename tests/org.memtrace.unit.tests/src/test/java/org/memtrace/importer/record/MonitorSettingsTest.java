// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes the command line of monitors. */
class MonitorSettingsTest {
	@TempDir
	Path directory;

	@Test
	void theCommand() {
		assertEquals(List.of("memtrace", "monitor", "-i", "1s", "-o", "out.txt"),
				new MonitorSettings("", "1s", List.of(), false, "").withOutput("out.txt").command("memtrace"));
		assertEquals(List.of("memtrace", "monitor", "-f", "a.mon", "-i", "10ms", "--running-only", "-o", "o", "--", "ls", "-R"),
				new MonitorSettings("a.mon", "10ms", List.of("ls", "-R"), true, "o").command("memtrace"));
	}

	@Test
	void whatCannotBeIsSaid() throws Exception {
		Path file = Files.writeString(directory.resolve("a.mon"), "");
		assertNull(new MonitorSettings(file.toString(), "100ms", List.of(), false, "").problem());
		assertNull(new MonitorSettings("", "0", List.of("ls"), true, "").problem());
		assertEquals("The definition file " + file + "x is not there, or not readable.",
				new MonitorSettings(file + "x", "100ms", List.of(), false, "").problem());
		for (String wrong : List.of("", "100", "fast", "1.s", "-1s")) {
			assertEquals("The period is a time such as 100ms or 1s.", new MonitorSettings("", wrong, List.of(), false, "").problem(), wrong);
		}
		assertEquals("Without a program there are no places where it runs.",
				new MonitorSettings("", "1s", List.of(), true, "").problem());
	}
}
