// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.build.ModelPart;
import org.memtrace.analysis.export.OutputFile;
import org.memtrace.analysis.machine.Sides;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.PartArguments;
import org.memtrace.cli.options.PartRange;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace model-part --range K/N -o FILE TRACE}. */
public final class ModelPartCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path file = args.getPath("output");
		if (file == null) {
			throw new UsageException("-o is missing: the name of the part");
		}
		ModelPart part = compute(args, console);
		byte[] bytes = part.bytes();
		OutputFile.write(file, temporary -> Files.write(temporary, bytes), StandardCopyOption.REPLACE_EXISTING);
		console.hint(String.format(Locale.ROOT, "%s: %s, %,d values, %,d bytes", file, part.ranges(), part.values(), bytes.length));
		return ExitCode.OK;
	}

	/** The part that a command line asks for. */
	private static ModelPart compute(CommandLine args, Console console) throws Exception {
		PartRange range = PartRange.of(args);
		try (TraceStore opened = TraceArgument.openOrFolder(args.argument(0), console)) {
			TraceStore store = TraceArgument.tree(opened, args);
			OpenedTrace trace = OpenedTrace.of(store, args, Sides.MEMORY_TIME, null, console);
			if (trace.request.viewpoint() == BasicDimensions.EVENT_TYPE) {
				throw new UsageException("parts are made of accesses, and --view event_type is about events");
			}
			return ModelPart.of(((AccessModels) trace.source).table(), trace.request, OpenedTrace.groupsAreEnough(args.getInt("rows")),
					origin(args.argument(0)), PartArguments.question(args, store, console), range.number(), range.count(), console.progress());
		}
	}

	/** The trace in words that are true in other folders of this machine, too. */
	private static String origin(String argument) {
		Path path = TraceArgument.path(argument);
		return path != null && Files.exists(path) ? path.toAbsolutePath().normalize().toString() : argument;
	}
}
