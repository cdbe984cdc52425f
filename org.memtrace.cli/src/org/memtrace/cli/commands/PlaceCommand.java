// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.node.NodeDistances;
import org.memtrace.analysis.placement.DistanceTable;
import org.memtrace.analysis.placement.Placement;
import org.memtrace.analysis.placement.PlacementJson;
import org.memtrace.analysis.placement.PlacementMachine.Binding;
import org.memtrace.analysis.placement.PlacementMachine;
import org.memtrace.analysis.placement.PlacementText;
import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.options.AccessOptions;
import org.memtrace.cli.options.TopologyOption;
import org.memtrace.cli.options.TraceArgument;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.output.Json;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.store.TraceStore;
import org.memtrace.topology.Hwloc;

/** {@code memtrace place TRACE}. */
public final class PlaceCommand implements Command {
	@Override
	public int run(CommandLine args, Console console) throws Exception {
		Hwloc hwloc = Hwloc.load();
		try (TraceStore store = TraceArgument.open(args.argument(0), console)) {
			if (store.accessCount() == 0) {
				throw new MemtraceException(store.info().alias() + " has no accesses: nothing was recorded, or it is no memory trace");
			}
			PlacementMachine machine = machine(hwloc, store, args);
			AccessTable table = AccessOptions.load(store, console);
			Placement placement = Placement.of(table, machine, (int) args.getInt("phases"), console.progress());
			if (args.isJson()) {
				console.out().println(Json.text(Json.of("memtrace.placement/2", PlacementJson.json(placement))));
			} else {
				console.out().print(args.get("format").equals("csv") ? PlacementText.csv(placement)
						: PlacementText.text(placement, (int) args.getInt("rows")));
			}
		}
		return ExitCode.OK;
	}

	private static PlacementMachine machine(Hwloc hwloc, TraceStore store, CommandLine args)
			throws MemtraceException, UsageException, IOException {
		TopologyOption asked = TopologyOption.of(hwloc, store, args);
		MachineTopology topology = asked.topology();
		byte[] xml = asked.xml();
		Binding binding = !asked.isOther() ? Binding.RECORDED : args.get("threads").equals("close") ? Binding.CLOSE : Binding.SPREAD;
		int[] nodes = topology.nodes().stream().mapToInt(n -> Math.max(0, n.osIndex())).sorted().distinct().toArray();
		Path given = args.getPath("distances");
		if (given != null) {
			try {
				return new PlacementMachine(topology, DistanceTable.parse(RegularFile.text(given), nodes.length, given.toString()), "as in " + given,
						binding);
			} catch (NoSuchFileException e) {
				throw new UsageException("--distances: there is no file " + given);
			} catch (MalformedInputException e) {
				throw new MemtraceException(given + " is no text");
			}
		}
		NodeDistances told = xml == null ? NodeDistances.NONE : NodeDistances.read(xml);
		double[][] distances = new double[nodes.length][nodes.length];
		boolean known = told.areTold();
		for (int a = 0; a < nodes.length; a++) {
			for (int b = 0; b < nodes.length; b++) {
				distances[a][b] = told.between(nodes[a], nodes[b]);
				known &= distances[a][b] > 0;
			}
		}
		return new PlacementMachine(topology, known ? distances : null,
				known ? "the distances that the machine's firmware tells" : "assumed to be 10 on a node and 20 between nodes", binding);
	}
}
