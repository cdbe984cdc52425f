// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.export.ChromeTrace;
import org.memtrace.analysis.export.Otf2Records;
import org.memtrace.analysis.export.PajeTrace;
import org.memtrace.analysis.export.ParquetExport;
import org.memtrace.analysis.export.TabarnacExport;
import org.memtrace.analysis.export.TraceExport;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.OutputFile;
import org.memtrace.importer.input.ReadingProcess;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace export}. */
public final class ExportCommand implements Command {
	/** Formats that have events, too. */
	private static final List<String> OF_EVENTS = List.of("paje", "pjdump", "chrome", "otf2");
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
			List<Dimension> columns = AccessOptions.columns(args);
			AccessFilter filter = AccessOptions.filter(args, store, console);
			String format = args.get("format");
			boolean ofEvents = OF_EVENTS.contains(format);
			if (store.accessCount() == 0
					&& (!ofEvents || args.has("thread") || args.has("cpu") || args.has("types") || args.has("filter"))) {
				throw new MemtraceException(args.argument(0) + " is no memory trace: only --format " + String.join(", ", OF_EVENTS)
						+ " can write it, without --thread, --cpu, --types and --filter");
			}
			if (args.has("columns") && !format.equals("csv")) {
				throw new UsageException("--columns needs --format csv");
			}
			if (args.get("format").equals("parquet")) {
				parquet(store, filter, args, output, console);
				return ExitCode.OK;
			}
			if (format.equals("otf2")) {
				otf2(store, filter, output, console);
				return ExitCode.OK;
			}
			if (format.equals("tabarnac")) {
				tabarnac(store, filter, args, output, console);
				return ExitCode.OK;
			}
			if (output == null) {
				write(store, filter, columns, format, console.out(), console);
				return ExitCode.OK;
			}
			OutputFile.write(output, temporary -> {
				try (Writer writer = Files.newBufferedWriter(temporary, StandardCharsets.UTF_8)) {
					write(store, filter, columns, format, writer, console);
				}
			});
			console.hint("wrote " + output);
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
			console.out().println(FolderCache.folder(args.argument(0), opened, args, console));
		}
	}

	/** A folder, complete or not at all. */
	private static void parquet(TraceStore store, AccessFilter filter, CommandLine args, Path output, Console console)
			throws Exception {
		if (output == null) {
			throw new UsageException("--format parquet makes a folder and needs --output");
		}
		boolean byTime = args.has("window") || args.get("partition").equals("time");
		if (args.has("window") && args.get("partition").equals("memory")) {
			throw new UsageException("--window is the length of windows of time: it needs --partition time");
		}
		long window = args.has("window") ? TraceWindow.length(args, store.info()) : 0;
		if (args.has("window") && window <= 0) {
			throw new UsageException("--window must be greater than 0");
		}
		OutputFile.write(output, temporary -> {
			Files.createDirectory(temporary);
			AccessTable table = AccessOptions.load(store, console);
			if (byTime) {
				ParquetExport.byTime(store, table, filter, temporary, window, console.progress());
			} else {
				ParquetExport.byMemory(store, table, filter, temporary, console.progress());
			}
		});
		console.hint("wrote " + output);
	}

	/** A folder, complete or not at all, with files that have its name. */
	private static void tabarnac(TraceStore store, AccessFilter filter, CommandLine args, Path output, Console console)
			throws Exception {
		if (output == null) {
			throw new UsageException("--format tabarnac makes a folder and needs --output");
		}
		long period = args.has("window") ? TraceWindow.length(args, store.info()) : 0;
		String name = output.getFileName().toString();
		OutputFile.write(output, temporary -> {
			Files.createDirectory(temporary);
			try {
				TabarnacExport.Omitted omitted = TabarnacExport.write(store, filter, temporary, name, period, console.progress());
				if (omitted.unattributed() > 0) {
					console.hint("note: " + omitted.unattributed() + " " + store.info().counts().plural()
							+ " without a known thread are left out");
				}
				if (omitted.structures() > 0) {
					console.hint("note: " + omitted.structures() + " structures had the addresses of others, which lived longer");
				}
			} catch (IllegalArgumentException e) {
				throw new MemtraceException(e.getMessage());
			}
		});
		if (!store.info().counts().isExact()) {
			console.hint("note: these are numbers of " + store.info().counts().plural() + ", not of accesses; record --exact counts them");
		}
		console.hint("wrote " + output);
	}

	/** A folder, complete or not at all. */
	private static void otf2(TraceStore store, AccessFilter filter, Path output, Console console) throws Exception {
		if (output == null) {
			throw new UsageException("--format otf2 makes a folder and needs --output");
		}
		Path launcher = Installation.find(null).launcher();
		if (launcher == null) {
			throw new MemtraceException("OTF2 archives are written by the program memtrace, which is not here or not for this system; "
					+ "export on Linux, or put memtrace into PATH");
		}
		Otf2Records.Result[] result = new Otf2Records.Result[1];
		OutputFile.write(output, temporary -> result[0] = otf2(store, filter, launcher, temporary, console));
		if (result[0].beside() > 0) {
			console.hint("note: " + result[0].beside() + " states that do not nest are at locations beside those of their producers");
		}
		if (result[0].withoutText() > 0) {
			console.hint("note: " + result[0].withoutText() + " events are without their parameters, as too many differ");
		}
		console.hint("wrote " + output);
	}

	private static Otf2Records.Result otf2(TraceStore store, AccessFilter filter, Path launcher, Path folder, Console console)
			throws Exception {
		List<String> said = new CopyOnWriteArrayList<>();
		try (ReadingProcess process = new ReadingProcess(new ProcessBuilder(launcher.toString(), "otf2-write", folder.toString()), true,
				console.progress(), said::add)) {
			Otf2Records.Result result = null;
			try (OutputStream records = process.input()) {
				result = Otf2Records.write(store, filter, records, console.progress());
			} catch (IOException | UncheckedIOException e) {
				said.add("memtrace otf2-write: " + e.getMessage()); // it went away: its own reason is before this
			}
			int code = process.exitCode();
			console.progress().check();
			if (code != 0 || result == null) {
				throw new MemtraceException(said.isEmpty() ? "memtrace otf2-write ended with exit code " + code
						: said.get(0).replaceFirst("^memtrace otf2-write: ", "").replace(folder + ": ", ""));
			}
			return result;
		}
	}

	private static void write(TraceStore store, AccessFilter filter, List<Dimension> columns, String format, Appendable out,
			Console console)
			throws MemtraceException {
		switch (format) {
		case "paje" -> PajeTrace.write(store, filter, out, console.progress());
		case "chrome" -> ChromeTrace.write(store, filter, out, console.progress());
		case "pjdump" -> TraceExport.pjdump(store, filter, out, console.progress());
		default -> TraceExport.csv(store, AccessOptions.load(store, console), filter, columns, out, console.progress());
		}
	}
}
