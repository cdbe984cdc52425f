// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.ImportReport;
import org.memtrace.importer.Projections;
import org.memtrace.model.AddressSpace;
import org.memtrace.model.DatabaseKind;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceCatalogue;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.TraceStore;
import org.memtrace.model.TraceWriter;
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
			List<Path> written = new ArrayList<>(List.of(output));
			try (Undo undo = new Undo(() -> written.forEach(ImportCommand::delete))) {
				if (args.has("projections")) {
					try (TraceStore store = Stores.openFile(output)) {
						Projections.write(store, "", name -> {
							Path file = projection(output, name);
							TraceWriter writer = Stores.createFile(file, kind, console::hint);
							written.add(file); // after it is certain that it is not somebody else's
							return writer;
						}, console.progress());
						noPhysical(store, console);
					}
				}
				undo.keep();
			}
			print(report, args, console);
			written.forEach(file -> console.hint("wrote " + file));
			return ExitCode.OK;
		}
		try (TraceCatalogue catalogue = TraceArgument.catalogue(args, kind, console)) {
			ImportReport report = call(new ImportOperation(input, console.in(), catalogue::create), catalogue.directory(), args,
					console);
			if (args.has("projections")) {
				project(catalogue, report.trace(), console);
			}
			print(report, args, console);
			console.hint("trace " + report.trace().id() + ": " + catalogue.directory().resolve(report.trace().databaseName()));
		}
		return ExitCode.OK;
	}

	/** Four more traces, or none and not the first one either. */
	private static void project(TraceCatalogue catalogue, TraceInfo trace, Console console) throws MemtraceException {
		Set<Integer> before = new HashSet<>();
		catalogue.list().forEach(t -> before.add(t.id()));
		before.remove(trace.id());
		try (Undo undo = new Undo(() -> {
			for (TraceInfo t : catalogue.list()) {
				if (!before.contains(t.id()) && (t.id() == trace.id() || t.properties().containsKey(Projections.PROPERTY))) {
					catalogue.delete(t.id());
				}
			}
		}); TraceStore store = catalogue.open(trace.id())) {
			for (TraceInfo t : Projections.write(store, trace.databaseName().replaceFirst("\\.mv\\.db$", ""), catalogue::create,
					console.progress())) {
				console.hint("trace " + t.id() + ": " + catalogue.directory().resolve(t.databaseName()));
			}
			noPhysical(store, console);
			undo.keep();
		}
	}

	private static void noPhysical(TraceStore store, Console console) throws MemtraceException {
		if (!store.addressSpaces().contains(AddressSpace.PHYSICAL)) {
			console.hint("note: no physical addresses were recorded, so there are no traces by physical address");
		}
	}

	/** {@code app.db} gives {@code app_Virtual.db}. */
	private static Path projection(Path output, String suffix) {
		String name = output.getFileName().toString();
		String end = name.endsWith(".mv.db") ? ".mv.db" : name.lastIndexOf('.') > 0 ? name.substring(name.lastIndexOf('.')) : "";
		return output.resolveSibling(name.substring(0, name.length() - end.length()) + suffix + end);
	}

	private static void delete(Path file) {
		try {
			Files.deleteIfExists(file);
		} catch (IOException e) {
			// what went wrong first is reported
		}
	}

	/** Does something unless all went well. */
	private static final class Undo implements AutoCloseable {
		private interface Action {
			void run() throws MemtraceException;
		}

		private final Action action;
		private boolean kept;

		Undo(Action action) {
			this.action = action;
		}

		void keep() {
			kept = true;
		}

		@Override
		public void close() throws MemtraceException {
			if (!kept) {
				action.run();
			}
		}
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
