// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.MemoryLevel;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/** The accesses of an imported trace, each in a line. */
public final class AccessLines {
	private AccessLines() {
	}

	/**
	 * All accesses, sorted as texts: address, counts, thread, node, sharing, structure, interval, level and latency; a question mark when
	 * the direction is not known.
	 */
	public static List<String> of(TraceCatalogue catalogue, ImportReport report) throws MemtraceException {
		List<String> lines = new ArrayList<>();
		try (TraceStore store = catalogue.open(report.trace().id())) {
			ProducerTree tree = store.producers();
			store.visitAccesses(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					MemoryLevel level = MemoryLevel.of(b.flags[i]);
					int offset = Math.max(b.readOffset[i], b.writeOffset[i]);
					int structure = tree.structure(b.producer[i]);
					lines.add(Long.toHexString(tree.startAddress(b.producer[i]) + Math.max(0, offset)) + " r" + b.reads[i] + " w" + b.writes[i] + " t"
							+ (b.thread[i] < 0 ? -1 : store.threads().get(b.thread[i]).taskId()) + " n" + b.node[i] + " s" + b.sharing[i] + " "
							+ (structure < 0 ? "-" : store.structures().get(structure).name()) + " [" + b.startNs[i] + "," + b.endNs[i] + ")"
							+ (level == null ? "" : " " + level) + " " + MemoryLevel.latencyCycles(b.flags[i])
							+ ((b.flags[i] & AccessBatch.FLAG_DIRECTION_UNKNOWN) != 0 ? " ?" : ""));
				}
			}, Progress.NONE);
		}
		return lines.stream().sorted().toList();
	}
}
