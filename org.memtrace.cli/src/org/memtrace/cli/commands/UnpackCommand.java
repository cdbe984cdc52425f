// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.analysis.experiment.Archive;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.TraceFormatException;

/** {@code memtrace unpack}. */
public final class UnpackCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path file = TraceArgument.path(args.argument(0));
		if (file == null || !Files.isRegularFile(file)) {
			throw new TraceFormatException(args.argument(0), 0, "is no file");
		}
		Path folder = Archive.unpack(file, args.has("output") ? args.getPath("output") : Path.of("."), console.progress());
		console.out().println(folder);
		console.hint("all files are what was packed");
		return ExitCode.OK;
	}
}
