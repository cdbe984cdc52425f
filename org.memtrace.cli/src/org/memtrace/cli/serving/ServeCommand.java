// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.serving;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.store.TraceStore;
import org.memtrace.serve.Source;
import org.memtrace.serve.TraceServer;
import org.memtrace.storage.Stores;

/** {@code memtrace serve TRACE...}. */
public final class ServeCommand implements Command {
	private static final long MS = 1_000_000;
	private static final String MANIFEST = "manifest.json";

	@Override
	public int run(CommandLine args, Console console) throws Exception {
		List<TraceStore> opened = new ArrayList<>();
		try {
			List<Source> sources = new ArrayList<>();
			for (String argument : args.arguments()) {
				List<Path> inside = inside(TraceArgument.path(argument));
				inside.forEach(p -> sources.add(new Source(p.getFileName().toString(), () -> Files.isDirectory(p)
						? TraceArgument.open(p.toString(), console) : Stores.openFile(p))));
				if (inside.isEmpty()) {
					// what is wrong with it is said now, and an import is seen where it was asked for
					TraceStore store = TraceArgument.open(argument, console);
					opened.add(store);
					sources.add(new Source(store.info().alias(), () -> store));
				}
			}
			int port = (int) args.getInt("port");
			TraceServer.Settings settings = new TraceServer.Settings(port,
					args.given().stream().noneMatch(g -> g.startsWith("--port=")), args.getDurationNs("most") / MS);
			try (TraceServer server = TraceServer.start(sources, settings)) {
				console.out().println(server.address());
				console.out().flush();
				if (port != 0 && server.port() != port) {
					console.hint("The port " + port + " is in use; from another machine: ssh -L " + server.port() + ":127.0.0.1:" + server.port());
				}
				console.hint("Ctrl+C ends it" + (args.getDurationNs("idle") > 0 ? ", and " + args.get("idle") + " without a question" : "") + ".");
				server.await(args.getDurationNs("idle") / MS, console.progress()::isCancelled);
			}
		} finally {
			opened.forEach(TraceStore::close);
		}
		return ExitCode.OK;
	}

	/** Databases and trace directories of a folder that is no trace itself, by name; empty when it has no database, or is no folder. */
	static List<Path> inside(Path folder) throws MemtraceException {
		if (folder == null || !Files.isDirectory(folder) || Files.exists(folder.resolve(MANIFEST))) {
			return List.of();
		}
		try (Stream<Path> list = Files.list(folder)) {
			List<Path> all = list.filter(p -> Files.exists(p.resolve(MANIFEST)) || Files.isRegularFile(p) && Stores.isDatabase(p)).sorted().toList();
			return all.stream().anyMatch(Files::isRegularFile) ? all : List.of();
		} catch (IOException e) {
			throw new StoreException(folder + " cannot be read: " + e.getMessage());
		}
	}
}
