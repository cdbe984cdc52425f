// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.text.TablePrinter;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** {@code memtrace list}. */
public final class ListCommand implements Command {
	private record Entry(TraceInfo info, String database, long bytes) {
	}

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		List<Entry> entries = new ArrayList<>();
		if (args.arguments().isEmpty()) {
			CataloguePlace place = TraceArgument.place(args);
			if (args.has("catalogue") || place.isServer() || Files.isDirectory(place.directory())) { // looking must not make one
				catalogue(place, entries, console);
			}
		}
		for (String argument : args.arguments()) {
			if (CataloguePlace.isServer(argument)) {
				catalogue(CataloguePlace.parse(argument), entries, console);
				continue;
			}
			Path path = Path.of(argument);
			if (Files.isDirectory(path)) {
				catalogue(CataloguePlace.of(path), entries, console);
			} else {
				try (TraceStore store = Stores.openFile(path)) {
					entries.add(new Entry(store.info(), argument, Files.size(path)));
				}
			}
		}
		boolean json = args.isJson();
		if (entries.isEmpty() && !json) {
			console.hint("no traces; 'memtrace import TRACE' makes one");
		}
		try (TablePrinter table = json
				? new TablePrinter(console.out(), "json", Json.of("memtrace.list/1"), "id", "name", "type", "recorded", "duration_ns", "events",
						"producers", "database_bytes", "lost", "command", "database", "time_unit")
				: new TablePrinter(console.out(), "text", null, "ID", "NAME", "RECORDED", "DURATION", "EVENTS", "PRODUCERS",
						"SIZE", "COMMAND")) {
			for (Entry entry : entries) {
				print(entry, json, table);
			}
		}
		return ExitCode.OK;
	}

	private static void catalogue(CataloguePlace place, List<Entry> entries, Console console) throws MemtraceException {
		try (TraceCatalogue catalogue = Stores.openCatalogue(place, DatabaseKind.SQLITE, console::hint)) {
			for (TraceInfo info : catalogue.list()) {
				entries.add(new Entry(info, place.trace(info.databaseName()), catalogue.databaseBytes(info).orElse(-1)));
			}
		}
	}

	private static void print(Entry entry, boolean json, TablePrinter table) {
		TraceInfo info = entry.info;
		long bytes = entry.bytes;
		String command = info.properties().getOrDefault("command", info.application());
		Integer id = info.id() < 0 ? null : info.id();
		if (json) {
			table.row(id, info.alias(), info.type(), info.recordedAt().toString(), info.durationNs(), info.events(),
					info.producers(), bytes < 0 ? null : bytes, info.properties().get("losses"), command,
					entry.database, info.timeUnit().id());
		} else {
			String recorded = info.recordedAt().getEpochSecond() == 0 ? ""
					: info.recordedAt().toString().substring(0, 16).replace('T', ' ');
			table.row(id == null ? "-" : id.toString(), info.alias(), recorded,
					info.timeUnit().lasted(info.durationNs(), 2), info.events(), info.producers(),
					bytes < 0 ? "missing" : String.format(Locale.ROOT, "%.1f MB", bytes / 1e6), command);
		}
	}
}
