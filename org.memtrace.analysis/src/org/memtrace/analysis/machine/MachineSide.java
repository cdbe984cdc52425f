// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.machine;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.AccessPlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.NoAnswerException;
import org.memtrace.model.Progress;

/**
 * The machine as a side of a picture, and what of some accesses has no place there. Immutable.
 *
 * @param tree the machine
 * @param notes that it is not the recorded one, and what of the accesses is at no CPU of it, or at several; a sentence each
 * @param leftOut what is at no CPU of it, in few words; empty when there is nothing
 * @param leftOutShare how much that is, such as {@code 0.2 %}; empty when there is nothing
 */
public record MachineSide(MachineTree tree, List<String> notes, String leftOut, String leftOutShare) {
	public MachineSide {
		notes = List.copyOf(notes);
	}

	/**
	 * The machine for a part of a trace. Looks at all records of the part.
	 *
	 * @param tree made once for a trace
	 * @param trace name, for messages
	 * @throws NoAnswerException if there are accesses, but none at a known CPU of the machine
	 */
	public static MachineSide of(MachineTree tree, AccessTable table, ModelRequest request, String trace, Progress progress)
			throws MemtraceException {
		MachineTopology topology = tree.topology();
		MachineUse use = MachineUse.of(topology, AccessPlaces.of(table, request.producer(), request.fromNs(), request.toNs(), progress));
		if (use.whole().accesses() > 0 && use.figures(topology.root()).accesses() <= 0) {
			throw new NoAnswerException(trace + ": no access is at a known CPU of the machine (" + String.join(" ", use.cpuNotes()) + ")");
		}
		List<String> notes = new ArrayList<>(topology.isGiven() ? topology.notes() : List.of());
		notes.addAll(use.cpuNotes());
		return new MachineSide(tree, notes, use.leftOut(), use.leftOutShare());
	}
}
