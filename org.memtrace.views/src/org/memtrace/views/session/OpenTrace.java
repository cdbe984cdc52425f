// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.cards.FindingsPresenter;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.find.TraceIndex;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.gantt.GanttPresenter;
import org.memtrace.analysis.gantt.GanttSource;
import org.memtrace.analysis.gantt.GanttSources;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * A trace that is shown: its store, what was loaded from it, and a selection. What was loaded is shared by all that show the
 * same trace. Jobs that read the store hold a {@link Lease}; {@link #close} waits for nobody, the store is closed when the
 * last lease ends.
 */
public final class OpenTrace implements GanttPresenter.Trace, FindingsPresenter.Trace, Leased {
	/** Keeps the store open. */
	public final class Lease implements StoreLease {
		private boolean ended;

		private Lease() {
		}

		@Override
		public TraceStore store() {
			return data.store;
		}

		/** The store through the tree of virtual addresses, whatever is shown. */
		public TraceStore virtual() {
			return data.virtual();
		}

		@Override
		public void close() {
			if (!ended) {
				ended = true;
				data.release();
			}
		}
	}

	private final TraceData data;
	private final OpenFile file;
	private final TraceSelection selection;
	private boolean closed;

	/** A trace of the catalogue; otherwise as {@link #OpenTrace(TraceStore, Path, Progress)}. */
	public OpenTrace(TraceStore store, Progress progress) throws MemtraceException {
		this(store, null, progress);
	}

	/**
	 * Loads the tables; not on the display thread. The store is closed if that fails or is cancelled.
	 *
	 * @param path the database when it was opened as a file, null for a trace of the catalogue
	 */
	public OpenTrace(TraceStore store, Path path, Progress progress) throws MemtraceException {
		this(store, path, AddressSpace.VIRTUAL, progress);
	}

	/** @param space whose tree of producers is shown */
	OpenTrace(TraceStore store, Path path, AddressSpace space, Progress progress) throws MemtraceException {
		data = new TraceData(store, space, progress);
		file = path == null ? null : new OpenFile(path, data.info);
		selection = new TraceSelection(data.producers, data.info.startNs(), data.info.endNs());
	}

	/** @param data of which this has become a user */
	private OpenTrace(TraceData data, OpenFile file, TraceSelection selection) {
		this.data = data;
		this.file = file;
		this.selection = selection;
	}

	/** This trace with a selection of its own that begins as this one. Nothing is loaded again. Both must be closed. */
	public OpenTrace fork() {
		return another(selection.copy());
	}

	/** This trace with a selection of its own, looking at the whole trace. */
	public OpenTrace fresh() {
		return another(new TraceSelection(data.producers, data.info.startNs(), data.info.endNs()));
	}

	private OpenTrace another(TraceSelection itsSelection) {
		try {
			data.use();
		} catch (CancelledException e) {
			throw new IllegalStateException("the trace is closed", e);
		}
		return new OpenTrace(data, file, itsSelection);
	}

	/** Whether both are the same trace, perhaps with other selections. */
	public boolean isSameTrace(OpenTrace other) {
		return other != null && data == other.data;
	}

	/** Whether the other is of the same database, perhaps with another tree of producers; {@code other} may be null. */
	public boolean hasSameDatabase(OpenTrace other) {
		return other != null && (file() == null ? other.isListed(info()) : other.isFile(file()));
	}

	@Override
	public TraceInfo info() {
		return data.info;
	}

	/** Whose tree of producers this is: numbers of producers of the other one are unrelated. */
	public AddressSpace space() {
		return data.space;
	}

	/** For which there is a tree. */
	public Set<AddressSpace> spaces() {
		return data.spaces;
	}

	/** The database when it was opened as a file, null for a trace of the catalogue. */
	public OpenFile file() {
		return file;
	}

	/** Whether this is a certain trace of the catalogue; numbers in database files mean nothing. */
	public boolean isListed(TraceInfo listed) {
		return file == null && listed != null && data.info.id() == listed.id();
	}

	/** Whether this is a certain database file. */
	public boolean isFile(OpenFile other) {
		return file != null && other != null && file.path().equals(other.path());
	}

	/** @param now the same trace with another name */
	void rename(TraceInfo now) {
		data.info = now;
	}

	/** Display name. */
	@Override
	public String name() {
		return data.info.alias();
	}

	/** Says how many accesses the recorder lost and what memory it did not see; empty when it saw everything. */
	public String lossWarning() {
		return TraceSummary.lossWarning(data.info);
	}

	@Override
	public ProducerTree producers() {
		return data.producers;
	}

	public List<Structure> structures() {
		return data.structures;
	}

	@Override
	public List<ThreadInfo> threads() {
		return data.threads;
	}

	/** Types of the events of a trace without accesses; empty for others. */
	public List<EventType> eventTypes() {
		return data.eventTypes;
	}

	/** Import report as JSON, empty when there is none. */
	public String importReport() {
		return data.importReport;
	}

	/** All accesses: every picture is made from them. */
	public AccessTable accesses() {
		return data.accesses;
	}

	/**
	 * The accesses that pass filters; all when there are none. Takes a moment the first time, so not on the display thread; views
	 * that ask for the same at the same time wait for one another.
	 */
	public AccessTable accesses(FilterSet filters, Progress progress) throws MemtraceException {
		return filters.isActive() ? data.filtered.get(filters, progress) : data.accesses;
	}

	/** Largest NUMA node of its pages, -1 if none is known. */
	public int maxNode() {
		return data.maxNode;
	}

	/** Whether it has accesses of memory; a trace that has none is shown by its {@link #events}. */
	@Override
	public boolean hasAccesses() {
		return data.accessCount > 0;
	}

	/**
	 * The events in memory: for a trace without accesses, which FrameSoc or another tool wrote. Read when they are asked for first,
	 * so not on the display thread; views that ask at the same time wait for one another.
	 */
	public EventTable events(Progress progress) throws MemtraceException {
		try (Lease lease = lease()) {
			return data.events(progress);
		}
	}

	/** The events that pass filters, all when there are none; as {@link #events(Progress)}. */
	public EventTable events(FilterSet filters, Progress progress) throws MemtraceException {
		try (Lease lease = lease()) {
			return data.events(filters, progress);
		}
	}

	/**
	 * What the rules say about the whole trace by virtual addresses, the same for all who show it. Made when it is asked for first, so not on
	 * the display thread; views that ask at the same time wait for one another.
	 */
	@Override
	public Advisor advisor(Progress progress) throws MemtraceException {
		try (Lease lease = lease()) {
			return data.advisor(progress);
		}
	}

	/**
	 * What can be found in it by what a person types, the same for all who show this trace. Made when it is asked for first, so not on the
	 * display thread.
	 */
	public TraceIndex index(Progress progress) throws MemtraceException {
		try (Lease lease = lease()) {
			return data.names(progress);
		}
	}

	/** Filters that the user has given a name, the same for all who show this trace. */
	public SavedFilters savedFilters() {
		return data.savedFilters;
	}

	/** @param now to be saved in the store by the caller */
	public void savedFilters(SavedFilters now) {
		data.savedFilters = now;
	}

	/** What the user marked in it; display thread. */
	public TraceMarkers markers() {
		return data.markers;
	}

	@Override
	public GanttSource records(Dimension viewpoint, FilterSet filters, Progress progress) throws MemtraceException {
		return hasAccesses() ? GanttSources.of(accesses(filters, progress), viewpoint, progress) : GanttSources.of(events(filters, progress));
	}

	@Override
	public TraceSelection selection() {
		return selection;
	}

	/**
	 * The structure, stack, range or group that a producer is or is a part of: what has a row in the table of structures.
	 * -1 for what is above them.
	 */
	@Override
	public int memberOf(int producer) {
		int id = producer;
		int member = -1;
		while (id >= 0 && data.producers.kind(id) != ProducerKind.ROOT && data.producers.kind(id) != ProducerKind.IMAGE
				&& (data.producers.kind(id) != ProducerKind.GROUP || !Parts.isOpen(data.producers, id))) {
			member = id;
			id = data.producers.parent(id);
		}
		return member;
	}

	/** Keeps the store open until the lease is closed; cancelled when the trace is closed already. */
	@Override
	public Lease lease() throws CancelledException {
		synchronized (this) {
			if (closed) {
				throw new CancelledException();
			}
			data.use();
		}
		return new Lease();
	}

	public synchronized void close() {
		if (!closed) {
			closed = true;
			data.release();
		}
	}
}
