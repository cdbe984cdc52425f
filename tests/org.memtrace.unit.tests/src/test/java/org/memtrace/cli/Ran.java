// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.memtrace.cli.output.Console;

/** A command that a test ran in this JVM: its exit code, and what it printed. No terminal, messages included. */
public record Ran(int code, String out, String err) {
	public static Ran of(String... args) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		ByteArrayOutputStream err = new ByteArrayOutputStream();
		int code = Main.run(args, new Console(new PrintStream(out, false, StandardCharsets.UTF_8),
				new PrintStream(err, true, StandardCharsets.UTF_8), false, false, false));
		return new Ran(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
	}

	/** What a command printed that must succeed. */
	public static String ok(String... args) {
		Ran ran = of(args);
		assertEquals(0, ran.code, ran.err);
		return ran.out;
	}
}
