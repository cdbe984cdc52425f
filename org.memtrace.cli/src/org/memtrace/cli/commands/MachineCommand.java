// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Path;
import java.util.Locale;

import org.memtrace.aggregation.AccessPlaces;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.ModelRequest;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachinePicture;
import org.memtrace.analysis.machine.MachineSvg;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineUse;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;
import org.memtrace.topology.Hwloc;
import com.google.gson.JsonObject;

/** {@code memtrace machine TRACE}. */
public final class MachineCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Path file = args.getPath("output");
		String name = file == null ? "" : file.getFileName().toString().toLowerCase(Locale.ROOT);
		if (file != null && !name.endsWith(".svg") && !name.endsWith(".png") && !name.endsWith(".pdf")) {
			throw new UsageException("the picture " + file + " must end in .svg, .png or .pdf");
		}
		Hwloc hwloc;
		try {
			hwloc = Hwloc.load();
		} catch (MemtraceException e) {
			console.err().println(e.getMessage());
			return ExitCode.UNAVAILABLE;
		}
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			MachineTopology topology = hwloc.of(store);
			MachineUse use = use(store, topology, args, console);
			if (file == null) {
				if (args.isJson()) {
					JsonObject o = Json.of("memtrace.machine/1");
					o.addProperty("trace", store.info().alias());
					console.out().println(Json.text(use.addTo(o)));
					return ExitCode.OK;
				}
				console.out().print(args.get("format").equals("csv") ? use.toCsv() : use.text());
				return ExitCode.OK;
			}
			MachinePicture.Options o = new MachinePicture.Options();
			o.width = (int) args.getInt("width");
			o.height = (int) args.getInt("height");
			o.palette = args.get("theme").equals("dark") ? Palette.DARK : Palette.LIGHT;
			o.title = store.info().alias() + ": " + topology.summary();
			o.colouring = args.get("colours").equals("locality") ? MachinePicture.Colouring.LOCALITY : MachinePicture.Colouring.ACCESSES;
			RenderCommand.write(MachinePicture.of(use, o).scene(), file, name, o.title, args.getNumber("scale"));
			console.hint(file + ": " + use.locality(use.whole()));
		}
		return ExitCode.OK;
	}

	/** The machine with what each part of it did, as SVG for a page; null when it was not recorded, or libhwloc is not there. */
	static String picture(TraceStore store, Console console) {
		try {
			return MachineSvg.of(Hwloc.load().of(store), AccessOptions.load(store, console), console.progress());
		} catch (MemtraceException e) {
			console.hint("note: the report has no picture of the machine: " + e.getMessage());
			return null;
		}
	}

	private static MachineUse use(TraceStore store, MachineTopology topology, CommandLine args, Console console) throws Exception {
		TraceInfo info = store.info();
		if (store.accessCount() == 0) {
			throw new MemtraceException(info.alias() + " has no accesses: nothing was recorded, or it is no memory trace");
		}
		TraceWindow window = TraceWindow.of(args, info);
		int producer = args.has("subtree") ? OpenedTrace.producer(store.producers(), args.get("subtree")) : ModelRequest.WHOLE_TREE;
		AccessTable table = AccessOptions.load(store, console);
		return MachineUse.of(topology, AccessPlaces.of(table, producer, window.fromNs(), window.toNs(), console.progress()));
	}
}
