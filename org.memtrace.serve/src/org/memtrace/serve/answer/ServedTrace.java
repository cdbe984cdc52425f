// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.selection.Kept;
import org.memtrace.analysis.selection.SelectedTrace;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.source.RecordedCode;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/** A trace that is open to be asked, with what was read of it. Nothing of it is changed. Safe for all threads. */
final class ServedTrace implements SelectedTrace, AutoCloseable {
	private static final int MOST_FILTERED = 3;

	private final TraceStore store;
	private final TraceInfo info;
	private final ProducerTree producers;
	private final List<Structure> structures;
	private final List<ThreadInfo> threads;
	private final boolean hasAccesses;
	private final AccessTable accesses;
	private final CodePlaces code;
	private final Kept<FilterSet, ModelSource> sources = new Kept<>(MOST_FILTERED, this::filtered);
	private final Kept<String, Advisor> advisors = new Kept<>(1, (key, progress) -> Advisor.of(store(), accesses().source(),
			Thresholds.STANDARD, progress));

	/** Reads the small tables; the store is closed with this. */
	ServedTrace(TraceStore store) throws MemtraceException {
		this.store = store;
		info = store.info();
		producers = store.producers();
		structures = store.structures();
		threads = store.threads();
		hasAccesses = store.accessCount() > 0;
		accesses = hasAccesses ? AccessTable.keep(store, Progress.NONE) : null;
		code = RecordedCode.of(store);
	}

	@Override
	public String name() {
		return info.alias();
	}

	@Override
	public TraceInfo info() {
		return info;
	}

	@Override
	public ProducerTree producers() {
		return producers;
	}

	@Override
	public List<ThreadInfo> threads() {
		return threads;
	}

	@Override
	public boolean hasAccesses() {
		return hasAccesses;
	}

	@Override
	public int memberOf(int producer) {
		int id = producer;
		int member = -1;
		while (id >= 0 && producers.kind(id) != ProducerKind.ROOT && producers.kind(id) != ProducerKind.IMAGE
				&& (producers.kind(id) != ProducerKind.GROUP || !Parts.isOpen(producers, id))) {
			member = id;
			id = producers.parent(id);
		}
		return member;
	}

	/** A new one at each call: who asks says what is looked at. */
	@Override
	public TraceSelection selection() {
		return new TraceSelection(producers, info.startNs(), info.endNs());
	}

	TraceStore store() {
		return store;
	}

	List<Structure> structures() {
		return structures;
	}

	/** Where the code of the program is. */
	CodePlaces code() {
		return code;
	}

	/** All accesses; null of a trace without. */
	AccessTable accesses() {
		return accesses;
	}

	/** The accesses that filters let pass, or the events of a trace without accesses. */
	ModelSource source(FilterSet filters, Progress progress) throws MemtraceException {
		return sources.get(filters, progress);
	}

	/** The accesses that filters let pass; an error of a trace without. */
	AccessTable accesses(FilterSet filters, Progress progress) throws MemtraceException {
		if (!hasAccesses) {
			throw new MemtraceException(name() + " has no memory accesses");
		}
		return ((AccessModels) source(filters, progress)).table();
	}

	private ModelSource filtered(FilterSet filters, Progress progress) throws MemtraceException {
		if (!hasAccesses) {
			EventTable events = EventTable.load(store, progress);
			return filters.isActive() ? filters.apply(events, progress) : events;
		}
		return new AccessModels(filters.isActive() ? filters.apply(accesses, structures, progress) : accesses);
	}

	/** What the rules say of the whole trace, found when it is asked for first. */
	Advisor advisor(Progress progress) throws MemtraceException {
		return advisors.get("", progress);
	}

	@Override
	public void close() {
		store.close();
	}
}
