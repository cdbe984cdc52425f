// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.build.Preparation;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.Projections;
import org.memtrace.importer.access.ImportParts;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.Stores;
import com.google.gson.JsonParser;

/** {@code memtrace import}. */
public final class ImportCommand implements Command {
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
		boolean parts = ImportParts.areRanges(input);
		if (!parts && ImportParts.areRows(input)) {
			throw new UsageException("'" + args.argument(0) + "' has rows of the first step of an import in parts; 'memtrace import-part' takes it");
		}
		if (!parts && args.has("trace")) {
			throw new UsageException("--trace is for parts of an import, and '" + args.argument(0) + "' is none");
		}
		if (parts) {
			ImportPartCommand.paths(args.arguments()); // all are there
		}
		for (String option : parts ? List.of("merge", "fanout", "moca-framesoc") : List.<String>of()) {
			if (args.has(option)) {
				throw new UsageException("--" + option + (option.equals("moca-framesoc") ? " is not for parts of an import"
						: " is said to 'memtrace import-part', and the parts know it"));
			}
		}
		Path output = args.getPath("output");
		DatabaseKind kind = DatabaseKind.valueOf(args.get("dbms").toUpperCase(Locale.ROOT));
		if (output != null) {
			intoFile(input, output.toAbsolutePath(), output, kind, args, console);
		} else {
			if (args.has("dbms") && TraceArgument.place(args).isServer()) {
				throw new UsageException("--dbms is for files; traces of " + TraceArgument.place(args) + " are kept there");
			}
			intoCatalogue(input, kind, args, console);
		}
		return ExitCode.OK;
	}

	private static void intoFile(List<Path> input, Path output, Path shown, DatabaseKind kind, CommandLine args, Console console)
			throws MemtraceException, UsageException {
		List<Path> written = new ArrayList<>();
		ImportReport report;
		if (args.has("projections")) {
			try (TraceGroup group = Stores.createFiles(output.getParent(), kind, console::hint)) {
				report = call(input, name -> writer(group.create(output.getFileName().toString()), args),
						output.getParent(), args, console);
				for (TraceInfo t : Projections.publish(group, report, "", name -> projection(output, name), console.progress())) {
					written.add(shown.resolveSibling(t.databaseName()));
				}
			}
			noPhysical(written.size(), console);
		} else {
			report = call(input, name -> writer(Stores.createFile(shown, kind, console::hint), args),
					output.getParent(), args, console);
			written.add(shown);
		}
		try (TraceStore store = Stores.openFile(written.get(0))) {
			Preparation.save(store, Dimensions.firstPictures(), console.progress());
		}
		print(report, args, console);
		written.forEach(file -> console.hint("wrote " + file));
	}

	private static void intoCatalogue(List<Path> input, DatabaseKind kind, CommandLine args, Console console)
			throws MemtraceException, UsageException {
		try (TraceCatalogue catalogue = TraceArgument.catalogue(args, kind, console)) {
			List<TraceInfo> traces = new ArrayList<>();
			ImportReport report;
			if (args.has("projections")) {
				try (TraceGroup group = catalogue.group()) {
					report = call(input, name -> writer(group.create(name), args), catalogue.directory(), args,
							console);
					traces.addAll(Projections.publish(group, report, report.trace().databaseName().replaceFirst("\\.mv\\.db$", ""),
							name -> name, console.progress()));
				}
				noPhysical(traces.size(), console);
			} else {
				report = call(input, name -> writer(catalogue.create(name), args), catalogue.directory(), args,
						console);
				traces.add(report.trace());
			}
			try (TraceStore store = catalogue.open(traces.get(0).id())) {
				Preparation.save(store, Dimensions.firstPictures(), console.progress());
			}
			print(report, args, console);
			traces.forEach(t -> console.hint("trace " + t.id() + ": " + catalogue.place().trace(t.databaseName())));
		}
	}

	/** With or without rows for FrameSoc. */
	private static TraceWriter writer(TraceWriter made, CommandLine args) throws MemtraceException {
		made.frameSocRows(FrameSocRows.valueOf(args.get("events").toUpperCase(java.util.Locale.ROOT)));
		return made;
	}

	/** @param traces that were written: the one that was imported, two by virtual and perhaps two by physical address */
	private static void noPhysical(int traces, Console console) {
		if (traces < 5) {
			console.hint("note: no physical addresses were recorded, so there are no traces by physical address");
		}
	}

	/** {@code app.db} gives {@code app_Virtual.db}. */
	private static String projection(Path output, String suffix) {
		String name = output.getFileName().toString();
		String end = name.endsWith(".mv.db") ? ".mv.db" : name.lastIndexOf('.') > 0 ? name.substring(name.lastIndexOf('.')) : "";
		return name.substring(0, name.length() - end.length()) + suffix + end;
	}

	private static ImportReport call(List<Path> input, ImportRequest.Target target, Path scratch, CommandLine args, Console console)
			throws MemtraceException, UsageException {
		if (ImportParts.areRanges(input)) {
			Path folder = scratch != null && java.nio.file.Files.isWritable(scratch) ? scratch : Path.of(System.getProperty("java.io.tmpdir"));
			return ImportParts.join(input, args.has("trace") ? List.of(args.getPath("trace")) : List.of(), target,
					args.get("name") == null ? "" : args.get("name"), args.has("strict"), folder, console.progress());
		}
		ImportOperation operation = new ImportOperation(input, console.in(), target);
		if (scratch != null && java.nio.file.Files.isWritable(scratch)) {
			operation.setScratchDirectory(scratch);
		}
		if (args.has("moca-framesoc")) {
			operation.setMocaFramesoc(args.getPath("moca-framesoc"));
		}
		if (args.has("projections")) {
			operation.require(ImportOption.PROJECTIONS);
		}
		operation.setMergeRules(MergeCommand.rules(args.getAll("merge")));
		return operation.setStrict(args.has("strict")).setFanout((int) args.getInt("fanout"))
				.setName(args.get("name") == null ? "" : args.get("name")).call(console.progress());
	}

	/** A report that was kept as JSON, with its schema. */
	static String json(String report) {
		return Json.text(Json.of("memtrace.import/1", JsonParser.parseString(report).getAsJsonObject()));
	}

	private static void print(ImportReport report, CommandLine args, Console console) {
		if (args.isJson() || "json".equals(args.get("report"))) {
			console.out().println(json(report.toJson()));
		} else {
			console.out().print(report.toText());
		}
	}
}
