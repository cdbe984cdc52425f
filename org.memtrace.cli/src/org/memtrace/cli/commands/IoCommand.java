// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.google.gson.JsonObject;
import org.memtrace.analysis.io.IoLevels.By;
import org.memtrace.analysis.io.IoLevels.Event;
import org.memtrace.analysis.io.IoLevels;
import org.memtrace.analysis.text.TablePrinter;
import org.memtrace.analysis.text.Units;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.options.TraceWindow;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;

/** {@code memtrace io TRACE}. */
public final class IoCommand implements Command {
	private static final String FOLDER = "io";

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (args.has("call") && args.has("by")) {
			throw new UsageException("--call and --by exclude each other");
		}
		try (TraceStore store = open(args.argument(0), console)) {
			TraceInfo info = store.info();
			TraceWindow window = TraceWindow.of(args, info);
			IoLevels io = new IoLevels(store, args.has("file") ? args.get("file") : "", window.fromNs(), window.toNs());
			int most = args.has("limit") ? (int) Math.min(Integer.MAX_VALUE, args.getInt("limit")) : Integer.MAX_VALUE;
			if (args.has("call")) {
				call(io, args.getInt("call"), most, info, args, console);
			} else if (args.get("by").equals("call")) {
				calls(io, most, info, args, console);
			} else {
				rows(io, by(args, info), most, info, args, console);
			}
		}
		return ExitCode.OK;
	}

	/** Counters alone have no levels: they are told one by one. */
	private static By by(CommandLine args, TraceInfo info) {
		return !args.has("by") && "proc".equals(info.properties().get("io_source")) ? By.OPERATION : By.byId(args.get("by"));
	}

	/** The I/O beside a recording, or what was given. */
	private static TraceStore open(String argument, Console console) throws MemtraceException {
		Path path = TraceArgument.path(argument);
		if (path != null && TraceFolders.isTraceDirectory(path)) {
			return TraceArgument.open(folderOf(path, argument).toString(), console);
		}
		TraceStore store = TraceArgument.open(argument, console);
		String source = store.info().properties().get(ImportSource.PROPERTY_SOURCE);
		if (!FOLDER.equals(store.info().properties().get("reader")) && source != null && TraceFolders.isTraceDirectory(Path.of(source))) {
			store.close();
			return TraceArgument.open(folderOf(Path.of(source), argument).toString(), console);
		}
		return store;
	}

	private static Path folderOf(Path directory, String argument) throws MemtraceException {
		Path folder = directory.resolve(FOLDER);
		if (!Files.isDirectory(folder)) {
			throw new MemtraceException(argument + " has no I/O: record it with 'memtrace record --io'");
		}
		return folder;
	}

	private static JsonObject head(String schema, TraceInfo info) {
		JsonObject head = Json.of(schema);
		head.addProperty("trace", info.alias());
		head.addProperty("source", info.properties().get("io_source"));
		head.addProperty("sentence", info.properties().get("io_sentence"));
		head.addProperty("lost_events", lost(info));
		head.addProperty("requests_of_others", number(info, "io_requests_of_others"));
		head.addProperty("calls_of_the_recorder", number(info, "io_calls_of_the_recorder"));
		return head;
	}

	private static long number(TraceInfo info, String property) {
		return Long.parseLong(info.properties().getOrDefault(property, "0"));
	}

	private static long lost(TraceInfo info) {
		return number(info, "losses");
	}

	/** What a person must know before the table; for CSV it goes where it does not disturb. */
	private static void told(TraceInfo info, CommandLine args, Console console) {
		String sentence = info.properties().getOrDefault("io_sentence", "");
		String lost = "Lost by the kernel: " + Units.plural(lost(info), "event")
				+ (lost(info) > 0 ? "; the sums are too small, and a larger --io-buffer keeps more" : "") + ".";
		if (args.get("format").equals("text")) {
			if (!sentence.isEmpty()) {
				console.out().println("Note: " + sentence + ".");
			} else {
				console.out().println(lost);
			}
			console.out().println();
		} else if (args.get("format").equals("csv")) {
			console.hint(sentence.isEmpty() ? lost : "Note: " + sentence + ".");
		}
	}

	private static String format(CommandLine args) {
		return args.isJson() ? "json" : args.get("format");
	}

	private static void rows(IoLevels io, By by, int most, TraceInfo info, CommandLine args, Console console) throws MemtraceException {
		List<IoLevels.Row> rows = io.rows(by, console.progress());
		if (!args.isJson()) {
			told(info, args, console);
		}
		String column = by.name().toLowerCase(java.util.Locale.ROOT);
		String[] columns = by == By.LEVEL ? new String[] {"level", "events", "data_bytes", "time_ns"}
				: new String[] {"level", column, "events", "data_bytes", "time_ns"};
		try (TablePrinter table = new TablePrinter(console.out(), format(args), head("memtrace.io/1", info), columns)) {
			rows.stream().limit(most).forEach(r -> {
				if (by == By.LEVEL) {
					table.row(r.level(), r.events(), r.bytes(), r.timeNs());
				} else {
					table.row(r.level(), r.name(), r.events(), r.bytes(), r.timeNs());
				}
			});
		}
	}

	private static Object known(long value) {
		return value < 0 ? null : value;
	}

	private static void calls(IoLevels io, int most, TraceInfo info, CommandLine args, Console console) throws MemtraceException {
		List<IoLevels.CallRow> rows = io.calls(most, console.progress());
		if (!args.isJson()) {
			told(info, args, console);
		}
		try (TablePrinter table = new TablePrinter(console.out(), format(args), head("memtrace.io-calls/1", info), "call", "start_ns", "thread",
				"level", "operation", "data_bytes", "time_ns", "system_calls", "file_system", "page_cache", "block", "file")) {
			for (IoLevels.CallRow r : rows) {
				Event e = r.event();
				table.row(e.call(), e.startNs() - info.startNs(), e.thread(), e.level(), e.operation(), known(e.bytes()), e.durationNs(),
						r.below()[1], r.below()[2], r.below()[3], r.below()[4], e.file());
			}
		}
	}

	private static void call(IoLevels io, long number, int most, TraceInfo info, CommandLine args, Console console) throws MemtraceException {
		List<IoLevels.Below> rows = io.call(number, console.progress());
		if (rows.isEmpty()) {
			throw new MemtraceException(info.alias() + " has no call " + number + (args.has("file") ? " on such a file" : "")
					+ "; 'memtrace io --by call' lists them");
		}
		if (!args.isJson()) {
			told(info, args, console);
		}
		boolean text = format(args).equals("text");
		try (TablePrinter table = new TablePrinter(console.out(), format(args), head("memtrace.io-call/1", info), "depth", "start_ns", "time_ns",
				"level", "operation", "data_bytes", "offset", "related_by", "thread", "file")) {
			rows.stream().limit(most).forEach(r -> {
				Event e = r.event();
				table.row(r.depth(), e.startNs() - info.startNs(), e.durationNs(), (text ? "  ".repeat(r.depth()) : "") + e.level(), e.operation(),
						known(e.bytes()), known(e.offset()), e.by(), e.thread(), e.file());
			});
		}
	}
}
