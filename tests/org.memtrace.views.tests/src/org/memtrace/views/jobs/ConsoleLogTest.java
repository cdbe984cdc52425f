// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import org.eclipse.core.runtime.IStatus;
import org.eclipse.core.runtime.Status;
import org.junit.jupiter.api.Test;

/** What a terminal is told of the log. */
class ConsoleLogTest {
	@Test
	void oneLineEachAndNoStackTrace() {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		ConsoleLog log = new ConsoleLog(new PrintStream(bytes, true, StandardCharsets.UTF_8), Path.of("/state/.log"));
		log.logging(new Status(IStatus.ERROR, "org.eclipse.e4.ui.workbench", "Unable to load resource\nworkbench.xmi",
				new IllegalStateException("damaged")), "x");
		log.logging(new Status(IStatus.WARNING, "org.eclipse.ui", "A conflict of keys", new IllegalStateException()), "x");
		log.logging(new Status(IStatus.INFO, "org.memtrace.views", "not for a terminal"), "x");
		log.logging(new Status(IStatus.WARNING, "org.memtrace.views", "Aggregate: not enough memory"), "x");
		log.logging(new Status(IStatus.ERROR, "org.memtrace.views", ""), "x");
		assertEquals("memtrace: Unable to load resource (details: /state/.log)\nmemtrace: Aggregate: not enough memory\n"
				+ "memtrace: something failed\n", bytes.toString(StandardCharsets.UTF_8).replace("\r", ""));
	}
}
