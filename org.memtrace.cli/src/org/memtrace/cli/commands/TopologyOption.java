// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.UsageException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;
import org.memtrace.topology.Hwloc;

/**
 * The machine that a command is asked about: that of the recording, or that of {@code --topology}.
 *
 * @param topology the machine
 * @param xml what hwloc wrote of it, null when it was described in a line
 * @param isOther whether it was given, so that the program did not run there
 */
record TopologyOption(MachineTopology topology, byte[] xml, boolean isOther) {
	static TopologyOption of(Hwloc hwloc, TraceStore store, CommandLine args) throws MemtraceException, UsageException, IOException {
		if (args.has("topology")) {
			Path file = file(args.get("topology"));
			if (file != null) {
				byte[] xml = Files.readAllBytes(file);
				return new TopologyOption(hwloc.read(xml, file.toString()), xml, true);
			}
			if (args.get("topology").endsWith(".xml")) {
				throw new UsageException("--topology: there is no file " + args.get("topology"));
			}
			return new TopologyOption(hwloc.synthetic(args.get("topology")), null, true);
		}
		MachineTopology topology = hwloc.of(store);
		if (!topology.isRecorded()) {
			throw new UsageException(store.info().alias() + " does not tell on which machine it was recorded; say with --topology which one is meant");
		}
		return new TopologyOption(topology, store.readNote(TraceStore.NOTE_TOPOLOGY).orElse(null), false);
	}

	/** The file of this name; null when there is none, as of a description of a machine. */
	private static Path file(String name) {
		try {
			Path file = Path.of(name);
			return Files.isRegularFile(file) ? file : null;
		} catch (InvalidPathException e) {
			return null;
		}
	}
}
