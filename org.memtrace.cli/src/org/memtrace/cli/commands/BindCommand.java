// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Path;
import java.util.Locale;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.binding.BindingJson;
import org.memtrace.analysis.binding.BindingPicture;
import org.memtrace.analysis.binding.BindingText;
import org.memtrace.analysis.binding.CpuDistances;
import org.memtrace.analysis.binding.SharingGraph;
import org.memtrace.analysis.binding.ThreadBinding;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.PictureFile;
import org.memtrace.cli.options.TopologyOption;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.options.TraceWindow;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;
import org.memtrace.topology.Hwloc;

import com.google.gson.JsonObject;

/** {@code memtrace bind TRACE}. */
public final class BindCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path file = args.getPath("output");
		if (file != null) {
			PictureFile.check(file);
		}
		Hwloc hwloc = Hwloc.load();
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			if (store.accessCount() == 0) {
				throw new MemtraceException(store.info().alias() + " has no accesses: nothing was recorded, or it is no memory trace");
			}
			TopologyOption machine = TopologyOption.of(hwloc, store, args);
			TraceWindow window = TraceWindow.of(args, store);
			int producer = args.has("subtree") ? OpenedTrace.producer(store.producers(), args.get("subtree")) : ModelRequest.WHOLE_TREE;
			AccessTable table = AccessOptions.load(store, console);
			SharingGraph graph = SharingGraph.of(table, table.query(producer, window.fromNs(), window.toNs()), new SharingGraph.Question(
					SharingGraph.Sharing.valueOf(upper(args, "sharing")), SharingGraph.Cells.valueOf(upper(args, "count")),
					args.getNumber("active") / 100), console.progress());
			ThreadBinding binding = ThreadBinding.of(graph, new CpuDistances(machine.topology()), machine.isOther(),
					ThreadBinding.Places.valueOf(upper(args, "threads")), console.progress());
			String command = store.info().properties().getOrDefault("command", "");
			if (file != null) {
				String title = store.info().alias() + ": sharing of threads";
				PictureFile.write(BindingPicture.of(binding, (int) args.getInt("width"), (int) args.getInt("height"),
						args.get("theme").equals("dark") ? Palette.DARK : Palette.LIGHT, title), file, title, args.getNumber("scale"), console);
				console.hint(file + ": " + binding.verdict());
			} else if (args.isJson()) {
				JsonObject o = Json.of("memtrace.binding/1");
				o.addProperty("trace", store.info().alias());
				console.out().println(Json.text(BindingJson.addTo(o, binding, command)));
			} else {
				console.out().print(switch (args.get("format")) {
				case "csv" -> BindingText.csv(binding);
				case "dot" -> BindingText.dot(binding);
				default -> BindingText.text(binding, (int) args.getInt("rows"), command);
				});
			}
		}
		return ExitCode.OK;
	}

	private static String upper(CommandLine args, String option) {
		return args.get(option).toUpperCase(Locale.ROOT);
	}
}
