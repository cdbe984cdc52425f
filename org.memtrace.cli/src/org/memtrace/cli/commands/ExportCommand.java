// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.formats.ExportFormat;
import org.memtrace.cli.formats.ExportFormats;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace export}. */
public final class ExportCommand implements Command {
	/** What would make another folder than the one that is kept. */
	private static final List<String> CHOICES = List.of("output", "columns", "window", "from", "to", "region", "producer", "thread", "cpu",
			"filter", "types");

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.has("cached")) {
			cached(args, console);
			return ExitCode.OK;
		}
		Path output = args.getPath("output");
		if (output != null && Files.exists(output)) {
			throw new FileAlreadyExistsException(output.toString());
		}
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			AccessOptions.columns(args); // a wrong one is said before anything is read
			AccessFilter filter = AccessOptions.filter(args, store, console);
			ExportFormat format = ExportFormats.named(args.get("format"));
			if (store.accessCount() == 0
					&& (!format.isOfEvents() || args.has("thread") || args.has("cpu") || args.has("types") || args.has("filter"))) {
				throw new MemtraceException(args.argument(0) + " is no memory trace: only --format " + ExportFormats.namesOfEvents()
						+ " can write it, without --thread, --cpu, --types and --filter");
			}
			if (args.has("columns") && !format.name().equals("csv")) {
				throw new UsageException("--columns needs --format csv");
			}
			format.write(new ExportFormat.Request(store, filter, args, output, console));
			if (output != null) {
				console.hint("wrote " + output);
			}
		}
		return ExitCode.OK;
	}

	/** Prints the folder of the whole trace that is kept for all who read it. */
	private static void cached(CommandLine args, Console console) throws Exception {
		for (String choice : CHOICES) {
			if (args.has(choice)) {
				throw new UsageException("--cached keeps the whole trace and has no --" + choice);
			}
		}
		if (!args.get("format").equals("parquet") || args.get("partition").equals("time")) {
			throw new UsageException("--cached needs --format parquet, by ranges of memory");
		}
		try (TraceStore opened = TraceArgument.open(args.argument(0), console)) {
			console.out().println(TraceArgument.folder(args.argument(0), opened, args, console));
		}
	}
}
