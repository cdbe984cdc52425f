// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportReport;
import org.memtrace.model.DatabaseKind;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.storage.Stores;

/** {@code memtrace import}. */
final class ImportCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.has("output") && args.has("catalogue")) {
			throw new UsageException("--output and --catalogue exclude each other");
		}
		List<Path> input = new ArrayList<>();
		for (String argument : args.arguments()) {
			Path path = TraceArgument.path(argument);
			if (path == null) {
				throw new UsageException("'" + argument + "' cannot be the name of a file");
			}
			input.add(path);
		}
		if (Collections.frequency(args.arguments(), "-") > 1) {
			throw new UsageException("standard input (-) can be given only once");
		}
		Path output = args.getPath("output");
		DatabaseKind kind = DatabaseKind.valueOf(args.get("dbms").toUpperCase(Locale.ROOT));
		if (output != null) {
			Path parent = output.toAbsolutePath().getParent();
			ImportReport report = call(new ImportOperation(input, console.in(), name -> Stores.createFile(output, kind, console::hint)),
					parent, args, console);
			print(report, args, console);
			console.hint("wrote " + output);
			return ExitCode.OK;
		}
		try (TraceCatalogue catalogue = TraceArgument.catalogue(args, kind, console)) {
			ImportReport report = call(new ImportOperation(input, console.in(), catalogue::create), catalogue.directory(), args,
					console);
			print(report, args, console);
			console.hint("trace " + report.trace().id() + ": " + catalogue.directory().resolve(report.trace().databaseName()));
		}
		return ExitCode.OK;
	}

	private static ImportReport call(ImportOperation operation, Path scratch, CommandLine args, Console console)
			throws MemtraceException, UsageException {
		if (scratch != null && java.nio.file.Files.isWritable(scratch)) {
			operation.setScratchDirectory(scratch);
		}
		if (args.has("moca-framesoc")) {
			operation.setMocaFramesoc(args.getPath("moca-framesoc"));
		}
		operation.setMergeRules(MergeCommand.rules(args.getAll("merge")));
		return operation.setStrict(args.has("strict")).setFanout((int) args.getInt("fanout"))
				.setName(args.get("name") == null ? "" : args.get("name")).call(console.progress());
	}

	private static void print(ImportReport report, CommandLine args, Console console) {
		if ("json".equals(args.get("report"))) {
			console.out().println(report.toJson());
		} else {
			console.out().print(report.toText());
		}
	}
}
