// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachineMonitors.Bounds;
import org.memtrace.analysis.machine.MachineMonitors.Law;
import org.memtrace.analysis.machine.MachineMonitors.Mode;
import org.memtrace.analysis.machine.MachineMonitors.Show;
import org.memtrace.analysis.machine.MachineMonitors;
import org.memtrace.analysis.machine.MachinePicture;
import org.memtrace.analysis.machine.MachineSvg;
import org.memtrace.analysis.machine.MachineTimes;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineUse;
import org.memtrace.analysis.machine.MonitorFrame;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.OpenedTrace;
import org.memtrace.cli.options.PictureFile;
import org.memtrace.cli.options.TopologyOption;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.options.TraceWindow;
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
		if (file != null) {
			PictureFile.check(file);
		}
		Hwloc hwloc = Hwloc.load();
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			MachineTopology topology = args.has("topology") ? TopologyOption.of(hwloc, store, args).topology() : hwloc.of(store);
			boolean monitors = store.accessCount() == 0 && MachineMonitors.hasPlaces(store.producers());
			check(args, monitors);
			if (monitors) {
				monitors(store, topology, args, file, console);
				return ExitCode.OK;
			}
			if (args.has("slices")) {
				if (file != null) {
					throw new UsageException("--slices gives a table; memtrace render --kind density --sum memory draws one");
				}
				times(store, topology, args, console);
				return ExitCode.OK;
			}
			MachineUse use = use(store, topology, args, console);
			if (file == null) {
				if (args.isJson()) {
					JsonObject o = Json.of("memtrace.machine/1");
					o.addProperty("trace", store.info().alias());
					o.addProperty("counts", store.info().counts().id());
					console.out().println(Json.text(use.addTo(o)));
					return ExitCode.OK;
				}
				console.out().print(args.get("format").equals("csv") ? use.toCsv() : use.text());
				return ExitCode.OK;
			}
			MachinePicture.Options o = options(store, topology, args);
			o.colouring = args.get("colours").equals("locality") ? MachinePicture.Colouring.LOCALITY : MachinePicture.Colouring.ACCESSES;
			PictureFile.write(MachinePicture.of(use, o).scene(), file, o.title, args.getNumber("scale"), console);
			console.hint(file + ": " + use.locality(use.whole()));
		}
		return ExitCode.OK;
	}

	private static MachinePicture.Options options(TraceStore store, MachineTopology topology, CommandLine args) {
		MachinePicture.Options o = new MachinePicture.Options();
		o.width = (int) args.getInt("width");
		o.height = (int) args.getInt("height");
		o.palette = args.get("theme").equals("dark") ? Palette.DARK : Palette.LIGHT;
		o.title = store.info().alias() + ": " + topology.summary();
		o.arrangement = MachinePicture.Arrangement.valueOf(args.get("layout").toUpperCase(Locale.ROOT));
		return o;
	}

	/** Options that mean nothing for what a trace has are mistakes. */
	private static void check(CommandLine args, boolean monitors) throws UsageException {
		for (String option : monitors ? new String[] {"slices", "subtree"} : new String[] {"monitor", "at", "bounds"}) {
			if (args.has(option)) {
				throw new UsageException("--" + option + (monitors ? " is for traces of memory" : " is for traces of monitors"));
			}
		}
	}

	/** The values of monitors at a time, or their means over a window. */
	private static void monitors(TraceStore store, MachineTopology topology, CommandLine args, Path file, Console console) throws Exception {
		MachineMonitors monitors = MachineMonitors.of(topology, EventTable.load(store, console.progress()));
		String variable = args.has("monitor") ? args.get("monitor") : null;
		if (variable != null && !monitors.variables().contains(variable)) {
			throw new UsageException("--monitor is '" + variable + "'; the trace has " + String.join(", ", monitors.variables()));
		}
		TraceWindow window = TraceWindow.of(args, store);
		long to = args.has("at") ? TraceWindow.time(args, "at", store.info()) : window.toNs();
		Bounds bounds = Bounds.AUTO;
		double[] fixed = {0, 0};
		if (args.has("bounds")) {
			String text = args.get("bounds");
			bounds = text.equals("observed") ? Bounds.OBSERVED : Bounds.FIXED;
			if (bounds == Bounds.FIXED) {
				fixed = fixed(text);
			}
		}
		MonitorFrame frame = monitors.frame(new Show(variable, args.has("at") ? Mode.AT : Mode.MEAN,
				Law.valueOf(args.get("values").toUpperCase(Locale.ROOT)), bounds, fixed[0], fixed[1]), window.fromNs(), to);
		if (file != null) {
			MachinePicture.Options o = options(store, topology, args);
			PictureFile.write(MachinePicture.of(frame, o).scene(), file, o.title, args.getNumber("scale"), console);
			console.hint(file + ": " + frame.summary());
		} else if (args.isJson()) {
			JsonObject o = Json.of("memtrace.monitors/1");
			o.addProperty("trace", store.info().alias());
			console.out().println(Json.text(frame.addTo(o)));
		} else {
			console.out().print(args.get("format").equals("csv") ? frame.toCsv() : frame.text());
		}
	}

	/** Two numbers with a colon between them, the first one smaller. */
	private static double[] fixed(String text) throws UsageException {
		try {
			String[] parts = text.split(":", -1);
			double[] values = Arrays.stream(parts).mapToDouble(Double::parseDouble).toArray();
			if (values.length == 2 && values[0] < values[1] && Double.isFinite(values[1] - values[0])) {
				return values;
			}
		} catch (NumberFormatException e) {
			// told below
		}
		throw new UsageException("--bounds is '" + text + "'; it needs observed, or two numbers such as 0:1e6");
	}

	/** The memory of each node, and local and remote accesses, over time. */
	private static void times(TraceStore store, MachineTopology topology, CommandLine args, Console console) throws Exception {
		Part part = Part.of(store, args, console);
		MachineTimes times = MachineTimes.of(topology, part.table, part.producer, part.window.fromNs(), part.window.toNs(),
				(int) args.getInt("slices"), console.progress());
		if (args.isJson()) {
			JsonObject o = Json.of("memtrace.machine-times/1");
			o.addProperty("trace", store.info().alias());
			o.addProperty("counts", store.info().counts().id());
			console.out().println(Json.text(times.addTo(o)));
			return;
		}
		console.out().print(args.get("format").equals("csv") ? times.toCsv() : times.text());
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

	/** The part of a trace that the options select. */
	private record Part(AccessTable table, TraceWindow window, int producer) {
		static Part of(TraceStore store, CommandLine args, Console console) throws Exception {
			TraceInfo info = store.info();
			if (store.accessCount() == 0) {
				throw new MemtraceException(info.alias() + " has no accesses: nothing was recorded, or it is no memory trace");
			}
			TraceWindow window = TraceWindow.of(args, store);
			int producer = args.has("subtree") ? OpenedTrace.producer(store.producers(), args.get("subtree")) : ModelRequest.WHOLE_TREE;
			return new Part(AccessOptions.load(store, console), window, producer);
		}
	}

	private static MachineUse use(TraceStore store, MachineTopology topology, CommandLine args, Console console) throws Exception {
		Part part = Part.of(store, args, console);
		return MachineUse.of(topology,
				AccessPlaces.of(part.table, part.producer, part.window.fromNs(), part.window.toNs(), console.progress()));
	}
}
