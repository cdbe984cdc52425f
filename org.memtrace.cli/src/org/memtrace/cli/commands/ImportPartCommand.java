// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.export.OutputFile;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.PartRange;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.importer.access.ImportParts;
import org.memtrace.importer.tree.MergeRule;
import org.memtrace.storage.Stores;

/** {@code memtrace import-part --range K/N -o FILE TRACE}, and the same with the files that it wrote in place of the trace. */
public final class ImportPartCommand implements Command {
	/** The options that decide about the tree of event producers. */
	private static final List<String> OF_TREE = List.of("merge", "fanout", "trace");

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path file = args.getPath("output");
		if (file == null) {
			throw new UsageException("-o is missing: the name of the part");
		}
		PartRange range = PartRange.of(args);
		List<Path> input = paths(args.arguments());
		boolean rows = ImportParts.areRows(input);
		for (String option : rows ? List.<String>of() : OF_TREE) {
			if (args.has(option)) {
				throw new UsageException("--" + option + " is for the second step, which takes the files that the first one wrote");
			}
		}
		Path folder = file.toAbsolutePath().getParent();
		Path scratch = folder != null && Files.isWritable(folder) ? folder : Path.of(System.getProperty("java.io.tmpdir"));
		List<MergeRule> rules = MergeCommand.rules(args.getAll("merge"));
		String[] text = new String[1];
		OutputFile.write(file, temporary -> text[0] = (rows
				? ImportParts.range(input, args.has("trace") ? List.of(args.getPath("trace")) : List.of(), rules, (int) args.getInt("fanout"),
						Stores.coding(), range.number(), range.count(), temporary, scratch, console.progress())
				: ImportParts.rows(input, range.number(), range.count(), temporary, scratch, console.progress())).text(),
				StandardCopyOption.REPLACE_EXISTING);
		console.hint(file + ": " + text[0]);
		return ExitCode.OK;
	}

	/** The files that are meant by arguments. */
	static List<Path> paths(List<String> arguments) throws UsageException, IOException {
		List<Path> paths = new ArrayList<>();
		for (String argument : arguments) {
			Path path = TraceArgument.path(argument);
			if (path == null) {
				throw new UsageException("'" + argument + "' cannot be the name of a file");
			}
			if (!Files.exists(path)) {
				throw new java.nio.file.NoSuchFileException(argument);
			}
			paths.add(path);
		}
		return paths;
	}
}
