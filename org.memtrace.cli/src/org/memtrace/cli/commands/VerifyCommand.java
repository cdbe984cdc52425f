// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.cli.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.build.Preparation;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.store.TraceStore;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** {@code memtrace verify}: whether a trace is what was written. */
public final class VerifyCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		List<String> problems = new ArrayList<>();
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			store.verify(problems::add, console.progress());
			if (problems.isEmpty()) {
				Preparation.verify(store, Dimensions.firstPictures(), problems::add);
			}
			if (args.isJson()) {
				JsonObject o = Json.of("memtrace.verify/1");
				o.addProperty("trace", store.info().alias());
				o.addProperty("ok", problems.isEmpty());
				o.addProperty("accesses", store.accessCount());
				JsonArray list = new JsonArray();
				problems.forEach(list::add);
				o.add("problems", list);
				console.out().println(Json.text(o));
				return problems.isEmpty() ? ExitCode.OK : ExitCode.INPUT;
			}
			problems.forEach(problem -> console.out().println(problem));
			if (problems.isEmpty()) {
				console.out().printf(Locale.ROOT, "%s: all %,d records are as they were written%n", store.info().alias(), store.accessCount());
			}
		}
		return problems.isEmpty() ? ExitCode.OK : ExitCode.INPUT;
	}
}
