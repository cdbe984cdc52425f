// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import org.memtrace.cli.output.Console;

/** A command that runs on a JVM. Its name, options and help are in the file commands/NAME.txt of this bundle. */
@FunctionalInterface
public interface Command {
	/**
	 * Runs with a command line that has been checked against the table. Runs on the main thread; a long command asks
	 * {@link Console#progress()} for cancellation.
	 *
	 * @return an {@link ExitCode}
	 * @throws Exception ends the program with one sentence and the exit code of {@link ExitCode#of(Throwable)}
	 */
	int run(CommandLine args, Console console) throws Exception;
}
