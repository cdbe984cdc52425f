// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

import org.memtrace.analysis.experiment.Archive;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;

/** {@code memtrace pack}. */
public final class PackCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path folder = TraceArgument.path(args.argument(0));
		if (folder == null || !Files.isDirectory(folder)) {
			throw new UsageException("'" + args.argument(0) + "' is no folder");
		}
		Archive.Part part = Archive.Part.valueOf(args.get("plan").toUpperCase(Locale.ROOT));
		if (part != Archive.Part.ANALYSIS && !Files.isRegularFile(folder.resolve("experiment.json"))) {
			throw new UsageException("--plan " + args.get("plan") + " is for the folder of an experiment, and " + folder + " is none");
		}
		String name = folder.toAbsolutePath().normalize().getFileName().toString();
		Path file = args.has("output") ? args.getPath("output")
				: Path.of(name + (part == Archive.Part.ANALYSIS ? "" : "-" + args.get("plan")) + ".zip");
		int files = Archive.pack(folder, part, file, console.progress());
		console.hint("packed " + files + (files == 1 ? " file" : " files") + " into " + file);
		return ExitCode.OK;
	}
}
