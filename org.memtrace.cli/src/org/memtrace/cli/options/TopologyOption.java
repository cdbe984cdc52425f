// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.options;

import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.analysis.machine.GivenMachine;
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
public record TopologyOption(MachineTopology topology, byte[] xml, boolean isOther) {
	public static TopologyOption of(Hwloc hwloc, TraceStore store, CommandLine args) throws MemtraceException, UsageException {
		if (args.has("topology")) {
			if (args.get("topology").endsWith(".xml") && !Files.isRegularFile(Path.of(args.get("topology")))) {
				throw new UsageException("--topology: there is no file " + args.get("topology"));
			}
			GivenMachine given = GivenMachine.of(args.get("topology"));
			return new TopologyOption(hwloc.of(given), given.xml(), true);
		}
		MachineTopology topology = hwloc.of(store);
		if (!topology.isRecorded()) {
			throw new UsageException(store.info().alias() + " does not tell on which machine it was recorded; say with --topology which one is meant");
		}
		return new TopologyOption(topology, store.readNote(TraceStore.NOTE_TOPOLOGY).orElse(null), false);
	}
}
