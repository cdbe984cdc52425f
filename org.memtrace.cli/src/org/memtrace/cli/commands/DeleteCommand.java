// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** {@code memtrace delete}. Everything is looked up before anything is deleted. */
public final class DeleteCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		try (TraceCatalogue catalogue = TraceArgument.catalogue(args, console)) {
			List<TraceInfo> traces = new ArrayList<>();
			List<Path> files = new ArrayList<>();
			List<String> names = new ArrayList<>();
			for (String given : args.arguments()) {
				String argument = given;
				Path path = CataloguePlace.isServer(argument) ? null : TraceArgument.path(argument);
				if (CataloguePlace.isServer(argument)) {
					CataloguePlace.Trace trace = CataloguePlace.parseTrace(argument);
					if (!trace.place().equals(catalogue.place())) {
						throw new UsageException(argument + " is in another catalogue; use --catalogue " + trace.place());
					}
					argument = trace.name();
				}
				if (path != null && Files.isRegularFile(path)) {
					try (TraceStore store = Stores.openFile(path)) { // refuses what is no trace
						names.add(path + " (" + store.info().alias() + ")");
						files.add(path);
					}
				} else {
					TraceInfo info = catalogue.find(argument);
					names.add(info.id() + " (" + info.alias() + ")");
					traces.add(info);
				}
			}
			if (!args.has("force") && !confirmed(names, console)) {
				return ExitCode.CANCELLED;
			}
			for (TraceInfo info : traces) {
				catalogue.delete(info.id());
			}
			for (Path file : files) {
				Files.delete(file);
				Files.deleteIfExists(Path.of(file + "-journal"));
			}
			console.hint("deleted " + String.join(", ", names));
		}
		return ExitCode.OK;
	}

	private static boolean confirmed(List<String> names, Console console) throws UsageException, IOException {
		if (!System.getProperty("memtrace.terminal", "").contains("err")) { // the question would not be seen
			throw new UsageException("nobody can be asked; use --force to delete " + String.join(", ", names));
		}
		console.err().print("Delete " + String.join(", ", names) + "? [y/N] ");
		console.err().flush();
		String answer = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
		return answer != null && answer.strip().toLowerCase(java.util.Locale.ROOT).startsWith("y");
	}
}
