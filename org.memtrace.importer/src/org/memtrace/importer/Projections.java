// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;

/**
 * Writes a stored trace as the four traces that the original importer of FrameSoc for Moca makes, one for each viewpoint: by virtual or
 * physical address, with event types that tell the thread ({@code Task}) or do not. FrameSoc shows one tree and one set of event types
 * for a trace, so this is how it sees what is in one of ours.
 */
public final class Projections {
	/** Property of a projection: which one it is. */
	public static final String PROPERTY = "projection";

	private Projections() {
	}

	/**
	 * Writes all of them; the two by physical address only if the trace has a physical tree.
	 *
	 * @param name of the databases, before {@code _Virtual}, {@code _Task_Virtual}, {@code _Physical}, {@code _Task_Physical}
	 * @return what was written
	 */
	public static List<TraceInfo> write(TraceStore store, String name, ImportRequest.Target target, Progress progress)
			throws MemtraceException {
		List<TraceInfo> written = new ArrayList<>();
		for (AddressSpace space : AddressSpace.values()) {
			if (store.addressSpaces().contains(space)) {
				for (boolean byThread : new boolean[] { false, true }) {
					written.add(write(store.in(space), suffix(space, byThread), byThread, name, target, progress));
				}
			}
		}
		return written;
	}

	/**
	 * Writes them beside the trace that was just imported as the first one of a group, and makes all of them visible, which also the
	 * report then knows.
	 *
	 * @param name as above
	 * @param file what a name becomes in the group
	 * @return all traces, first the one that was imported
	 */
	public static List<TraceInfo> publish(TraceGroup group, ImportReport report, String name, UnaryOperator<String> file,
			Progress progress) throws MemtraceException {
		try (TraceStore store = group.open(0)) {
			write(store, name, n -> group.create(file.apply(n)), progress);
		}
		List<TraceInfo> published = group.publish();
		report.stored(published.get(0));
		return published;
	}

	private static String suffix(AddressSpace space, boolean byThread) {
		return (byThread ? "Task_" : "") + (space == AddressSpace.VIRTUAL ? "Virtual" : "Physical");
	}

	private static TraceInfo write(TraceStore store, String suffix, boolean byThread, String name, ImportRequest.Target target,
			Progress progress) throws MemtraceException {
		TraceInfo info = store.info();
		try (TraceWriter writer = target.create(name + "_" + suffix)) {
			writer.frameSocRows(FrameSocRows.YES);
			writer.threads(store.threads());
			writer.structures(store.structures());
			Set<Integer> stacks = new LinkedHashSet<>();
			for (Structure structure : store.structures()) {
				if (structure.stack() >= 0 && stacks.add(structure.stack())) {
					writer.stack(structure.stack(), store.stack(structure.stack()));
				}
			}
			writer.cpuSets(store.cpuSets());
			writer.producers(store.producers());
			writer.intervals(store.intervals());
			writer.threadTimes(store.threadTimes());
			if (byThread) {
				writer.eventTypesByThread();
			}
			writer.expect(store.accessCount());
			store.visitAccesses(org.memtrace.model.store.AccessQuery.ALL, writer::accesses, progress);
			Map<String, String> properties = new TreeMap<>(info.properties());
			properties.put(PROPERTY, suffix);
			properties.remove(ImportSource.PROPERTY_SOURCE_IDENTITY); // a directory that is opened means the whole trace
			TraceInfo named = new TraceInfo(-1, info.alias() + " (" + suffix.replace('_', ' ').toLowerCase(java.util.Locale.ROOT) + ")", "",
					info.type(), info.application(), info.host(), info.operatingSystem(), info.cpus(), 0, 0, info.startNs(),
					info.endNs(), info.recordedAt(), info.pageSizeBytes(), info.description(), properties);
			return writer.commit(named, store.importReport().orElse(null), progress);
		}
	}
}
