// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;

import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.machine.MachineFilters;
import org.memtrace.analysis.machine.MachineSide;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.machine.MachineTree;
import org.memtrace.analysis.machine.Sides;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.NoAnswerException;
import org.memtrace.model.Progress;
import org.memtrace.views.session.MachineChoice;
import org.memtrace.views.session.OpenTrace;

/**
 * Microscopic models that were made last, so that going to and fro between viewpoints and zooms is immediate. At most 350 MB and
 * a fifth of the heap; safe for all threads.
 */
final class Models {
	/** @param tree the machine, null where it is no side */
	private record Key(ModelRequest request, ModelSource source, Sides sides, MachineTree tree, boolean grouped) {
	}

	private record Part(ModelSource source, FilterSet filters, String machine, int producer, long fromNs, long toNs) {
	}

	/** Of the largest heap. */
	private static final int SHARE = 5;
	private static final int MOST_HIERARCHIES = 4;
	private static final int MOST_PARTS = 16;

	private static final long MOST_BYTES = 350_000_000;

	private final long mostBytes = Math.min(MOST_BYTES, Runtime.getRuntime().maxMemory() / SHARE);
	private final Map<Key, MicroscopicModel> models = new LinkedHashMap<>(16, 0.75f, true);
	/** By {@link ModelSource#data}. */
	private final Map<Object, Map<Integer, Hierarchy>> hierarchies = new WeakHashMap<>();
	private final Map<Part, MachineSide> parts = new LinkedHashMap<>(MOST_PARTS, 0.75f, true);
	/** Of the trace that is shown, by what was asked for. */
	private final Map<String, MachineTopology> machines = new HashMap<>();
	private long bytes;

	/**
	 * The machine of the trace for a part of it, null where it is no side of the picture; made when it is not there.
	 *
	 * @param state what is shown: its filters are those of the source, and CPUs that they hide are not there
	 * @throws MemtraceException if the trace does not tell on which machine it was recorded and none is given, or its CPUs are not known
	 */
	MachineSide machine(OpenTrace trace, ModelSource source, ViewState state, ModelRequest request, Sides sides, Progress progress)
			throws MemtraceException {
		if (!sides.hasMachine()) {
			return null;
		}
		Part part = new Part(source, state.filters(), state.machine(), request.producer(), request.fromNs(), request.toNs());
		MachineTopology topology;
		synchronized (this) {
			MachineSide known = parts.get(part);
			if (known != null) {
				return known;
			}
			topology = machines.get(state.machine());
		}
		if (topology == null) {
			topology = MachineChoice.topology(trace, state.machine());
			if (!topology.isRecorded()) {
				throw new NoAnswerException("The machine of this trace is not known: '" + trace.name()
						+ "' does not tell it; the menu of the view has Machine, which takes another one");
			}
			if (topology.pus().isEmpty()) {
				throw new NoAnswerException("'" + trace.name() + "': " + topology.origin() + " has no CPU");
			}
		}
		MachineTree tree = new MachineTree(MachineFilters.shown(state.filters(), topology));
		MachineSide made = MachineSide.of(tree, ((AccessModels) source).table(), request, "'" + trace.name() + "'", progress);
		synchronized (this) {
			machines.put(state.machine(), topology);
			if (parts.size() >= MOST_PARTS) {
				parts.remove(parts.keySet().iterator().next());
			}
			parts.put(part, made);
		}
		return made;
	}

	/**
	 * The model, made when it is not there.
	 *
	 * @param side from {@link #machine}; null where the machine is no side
	 * @param grouped whether groups of pages are enough where there are many; time alone is aggregated from the pages
	 */
	MicroscopicModel get(ModelSource source, ModelRequest request, Sides sides, MachineSide side, boolean grouped, Progress progress)
			throws MemtraceException {
		Key key = new Key(request, source, sides, side == null ? null : side.tree(), grouped);
		synchronized (this) {
			MicroscopicModel known = models.get(key);
			if (known != null) {
				return known;
			}
		}
		Hierarchy pages = hierarchy(source, request.producer(), progress);
		MicroscopicModel made = sides.model(source, request,
				grouped && source instanceof AccessModels ? pages.grouped(source.producers()) : pages, side, progress);
		synchronized (this) {
			if (models.putIfAbsent(key, made) == null) {
				bytes += made.memoryBytes();
			}
			Iterator<MicroscopicModel> eldest = models.values().iterator();
			while (bytes > mostBytes && models.size() > 1) {
				bytes -= eldest.next().memoryBytes();
				eldest.remove();
			}
		}
		return made;
	}

	/** Whether another model of that size would push none out. */
	synchronized boolean hasRoomFor(long more) {
		return bytes + more <= mostBytes;
	}

	private Hierarchy hierarchy(ModelSource source, int producer, Progress progress) throws MemtraceException {
		synchronized (this) {
			Hierarchy known = hierarchies.getOrDefault(source.data(), Map.of()).get(producer);
			if (known != null) {
				return known;
			}
		}
		Hierarchy made = source.hierarchy(producer, progress);
		synchronized (this) {
			Map<Integer, Hierarchy> kept = hierarchies.computeIfAbsent(source.data(), s -> new HashMap<>());
			if (kept.size() >= MOST_HIERARCHIES) {
				kept.clear();
			}
			kept.put(producer, made);
		}
		return made;
	}

	/** Forgets everything: another trace is shown. */
	synchronized void clear() {
		models.clear();
		hierarchies.clear();
		parts.clear();
		machines.clear();
		bytes = 0;
	}
}
