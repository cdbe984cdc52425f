// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.memtrace.aggregation.build.Preparation;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.storage.Stores;

/** {@code memtrace copy}. */
public final class CopyCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		if (!args.has("to")) {
			throw new UsageException("--to is missing: it names the other catalogue");
		}
		if (args.has("all") != args.arguments().isEmpty()) {
			throw new UsageException(args.has("all") ? "--all copies all traces; leave out the names" : "TRACE is missing, or --all");
		}
		CataloguePlace to = CataloguePlace.parse(args.get("to"));
		CataloguePlace from = TraceArgument.place(args);
		if (to.isServer() && args.has("dbms")) {
			throw new UsageException("--dbms is for files; traces of " + to + " are kept there");
		}
		if (to.equals(from)) {
			throw new UsageException("--to and --catalogue are the same catalogue, " + to);
		}
		DatabaseKind kind = DatabaseKind.valueOf(args.get("dbms").toUpperCase(Locale.ROOT));
		boolean good = true;
		try (TraceCatalogue target = Stores.openCatalogue(to, kind, console::hint)) {
			if (args.has("all")) {
				try (TraceCatalogue source = Stores.openCatalogue(from, DatabaseKind.SQLITE, console::hint)) {
					List<TraceInfo> there = new ArrayList<>(target.list());
					for (TraceInfo info : source.list()) {
						TraceInfo same = there.stream().filter(t -> isSame(t, info)).findFirst().orElse(null);
						if (same != null) {
							console.hint(info.alias() + " is there already, as trace " + same.id());
							continue;
						}
						try (TraceStore store = source.open(info.id())) {
							good &= copy(store, target, console);
						}
					}
				}
			}
			for (String argument : args.arguments()) {
				try (TraceStore store = open(argument, from, args, console)) {
					good &= copy(store, target, console);
				}
			}
		}
		return good ? ExitCode.OK : ExitCode.INPUT;
	}

	private static TraceStore open(String argument, CataloguePlace from, CommandLine args, Console console) throws MemtraceException {
		boolean named = args.has("catalogue") && !CataloguePlace.isServer(argument) && argument.indexOf('/') < 0;
		return TraceArgument.open(argument, named ? from : null, console);
	}

	/** Copies one trace, and verifies the copy. */
	private static boolean copy(TraceStore store, TraceCatalogue target, Console console) throws MemtraceException {
		TraceInfo copy = target.add(store, console.progress());
		List<String> problems = new ArrayList<>();
		long accesses;
		try (TraceStore made = target.open(copy.id())) {
			made.verify(problems::add, console.progress());
			accesses = made.accessCount();
			if (accesses != store.accessCount()) {
				problems.add(target.place().trace(copy.databaseName()) + " has " + accesses + " accesses of " + store.accessCount());
			}
			if (problems.isEmpty()) {
				Preparation.save(made, Dimensions.firstPictures(), console.progress());
			}
		}
		problems.forEach(problem -> console.out().println(problem));
		if (problems.isEmpty()) {
			console.out().printf(Locale.ROOT, "%s is trace %d of %s: %,d accesses, %,d events, all as they were written%n", copy.alias(), copy.id(),
					target.place(), accesses, copy.events());
		}
		return problems.isEmpty();
	}

	private static boolean isSame(TraceInfo a, TraceInfo b) {
		return a.alias().equals(b.alias()) && a.recordedAt().equals(b.recordedAt()) && a.startNs() == b.startNs() && a.endNs() == b.endNs()
				&& a.events() == b.events() && a.producers() == b.producers() && a.application().equals(b.application())
				&& Objects.equals(a.properties().get("command"), b.properties().get("command"));
	}
}
