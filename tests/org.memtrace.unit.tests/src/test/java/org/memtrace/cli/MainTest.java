// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;

import org.junit.jupiter.api.Test;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.ConsoleProgress;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.UnavailableException;

class MainTest {
	private final ByteArrayOutputStream out = new ByteArrayOutputStream();
	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	private Console console(boolean errTerminal, boolean quiet) {
		return new Console(new PrintStream(out, true, StandardCharsets.UTF_8),
				new PrintStream(err, true, StandardCharsets.UTF_8), false, errTerminal, quiet);
	}

	private int run(String... args) {
		return Main.run(args, console(false, false));
	}

	@Test
	void helpGoesToOutput() {
		assertEquals(0, run("--help"));
		assertTrue(out.toString().startsWith("memtrace - "), out.toString());
		assertEquals("", err.toString());
	}

	@Test
	void nothingGivenIsAUsageError() {
		assertEquals(ExitCode.USAGE, run());
		assertEquals("", out.toString());
	}

	@Test
	void unknownCommand() {
		assertEquals(ExitCode.USAGE, run("imort"));
		assertEquals("memtrace: there is no command 'imort'; did you mean 'import'?\n", err.toString());
	}

	@Test
	void usageErrorsNameTheCommand() {
		assertEquals(ExitCode.USAGE, run("help", "--bogus"));
		assertEquals("memtrace help: unknown option --bogus; see 'memtrace help --help'\n", err.toString());
	}

	@Test
	void exitCodesByKind() {
		assertEquals(ExitCode.USAGE, ExitCode.of(new UsageException("x")));
		assertEquals(ExitCode.INPUT, ExitCode.of(new TraceFormatException("f", 1, "x")));
		assertEquals(ExitCode.INPUT, ExitCode.of(new StoreException("x")));
		assertEquals(ExitCode.INPUT, ExitCode.of(new NoSuchFileException("x")));
		assertEquals(ExitCode.UNAVAILABLE, ExitCode.of(new AccessDeniedException("x")));
		assertEquals(ExitCode.UNAVAILABLE, ExitCode.of(new UnavailableException("x")));
		assertEquals(ExitCode.CANCELLED, ExitCode.of(new CancelledException()));
		assertEquals(ExitCode.INTERNAL, ExitCode.of(new IllegalStateException()));
		assertEquals("f: no such file", ExitCode.sentence(new NoSuchFileException("f")));
	}

	@Test
	void progressOnATerminalIsOneLineAndVanishes() {
		long[] now = { 0 };
		ConsoleProgress p = new ConsoleProgress(new PrintStream(err, true, StandardCharsets.UTF_8), () -> now[0]);
		p.begin("Reading accesses", 4_000_000);
		p.worked(1_000_000);
		assertEquals("", err.toString(), "too early to show");
		now[0] = 2_000_000_000L;
		p.worked(1_000_000);
		assertEquals("\r\033[KReading accesses   50 %  1.0 M/s  2 s left", err.toString());
		err.reset();
		p.begin("Finishing the database", -1);
		assertEquals("\r\033[K\r\033[KFinishing the database", err.toString(), "it may be one call that takes long");
		p.beginBytes("Reading accesses", 4_000_000);
		err.reset();
		now[0] = 4_000_000_000L;
		p.worked(1_000_000);
		assertEquals("\r\033[KReading accesses   25 %  500.0 kB/s  6 s left", err.toString());
		err.reset();
		p.clear();
		assertEquals("\r\033[K", err.toString());
	}

	@Test
	void noProgressWithoutTerminalOrWhenQuiet() {
		for (Console c : new Console[] { console(false, false), console(true, true) }) {
			Progress p = c.progress();
			p.begin("Reading", 10);
			p.worked(10);
			c.finish();
		}
		assertEquals("", err.toString());
	}
}
