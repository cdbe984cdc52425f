// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.util.List;
import java.util.Set;

import org.eclipse.core.runtime.ILog;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.find.TraceIndex;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.analysis.selection.Kept;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * What was loaded from a trace, shared by all {@link OpenTrace}s of it. The store is closed when the last of them is closed and
 * no job reads it. Safe for all threads.
 */
final class TraceData {
	/** The filters in force and those before, for going back or comparing: a table needs as much memory as what passes. */
	private static final int MOST_KEPT = 2;

	/** What is closed in the end. */
	private final TraceStore opened;
	/** The store, seen through the tree of {@link #space}. */
	final TraceStore store;
	final AddressSpace space;
	final Set<AddressSpace> spaces;
	volatile TraceInfo info;
	final ProducerTree producers;
	final List<Structure> structures;
	final List<ThreadInfo> threads;
	/** Of a trace without accesses; of others the four types of accesses are known. */
	final List<EventType> eventTypes;
	final AccessTable accesses;
	/** Number of access records. */
	final long accessCount;
	/** Largest NUMA node of its pages, -1 if none is known. */
	final int maxNode;
	final Kept<FilterSet, AccessTable> filtered;
	private final Kept<FilterSet, EventTable> filteredEvents = new Kept<>(MOST_KEPT,
			(filters, progress) -> filters.apply(events(progress), progress));
	private final Kept<FilterSet, Advisor> advisors = new Kept<>(MOST_KEPT, (none, progress) -> advise(progress));
	private final Kept<FilterSet, TraceIndex> indexes = new Kept<>(MOST_KEPT, (none, progress) -> index(progress));
	final TraceMarkers markers;
	final String importReport;
	private final Object eventsLock = new Object();
	private EventTable events;
	volatile SavedFilters savedFilters;
	/** Open traces and leases that need the store. */
	private int users = 1;

	/** Loads the tables; the store is closed if that fails or is cancelled. There is one user then. */
	TraceData(TraceStore opened, AddressSpace space, Progress progress) throws MemtraceException {
		this.opened = opened;
		this.space = space;
		try {
			spaces = Set.copyOf(opened.addressSpaces());
			store = space == AddressSpace.VIRTUAL ? opened : opened.in(space);
			info = store.info();
			accesses = AccessTable.keep(store, this::guarded, progress).telling(text -> ILog.of(TraceData.class).warn(text));
			accessCount = accesses.records();
			maxNode = accesses.maxNode(progress);
			producers = store.producers();
			structures = store.structures();
			threads = store.threads();
			eventTypes = accessCount > 0 ? List.of() : List.copyOf(store.eventTypes());
			importReport = store.importReport().orElse("");
			NoteJob.await(); // what was attached to the trace when it was open before
			savedFilters = readFilters();
			markers = new TraceMarkers(store, space);
		} catch (MemtraceException | RuntimeException | OutOfMemoryError e) {
			opened.close();
			throw e;
		}
		filtered = new Kept<>(MOST_KEPT, (filters, p) -> filters.apply(accesses, structures, p));
	}

	/** The events of the trace, read when they are asked for first; the caller has a lease. */
	EventTable events(Progress progress) throws MemtraceException {
		synchronized (eventsLock) {
			if (events == null) {
				events = EventTable.load(store, progress);
			}
			return events;
		}
	}

	/** The events that pass filters; the caller has a lease. */
	EventTable events(FilterSet filters, Progress progress) throws MemtraceException {
		return filters.isActive() ? filteredEvents.get(filters, progress) : events(progress);
	}

	/** The store through the tree of virtual addresses. */
	TraceStore virtual() {
		return opened;
	}

	/** What the rules say about the whole trace, made when it is asked for first; the caller has a lease. */
	Advisor advisor(Progress progress) throws MemtraceException {
		return advisors.get(FilterSet.NONE, progress);
	}

	/** What can be found by its name, made when it is asked for first; the caller has a lease. */
	TraceIndex names(Progress progress) throws MemtraceException {
		return indexes.get(FilterSet.NONE, progress);
	}

	private TraceIndex index(Progress progress) throws MemtraceException {
		return TraceIndex.of(opened, producers, progress);
	}

	private Advisor advise(Progress progress) throws MemtraceException {
		AccessSource source = space == AddressSpace.VIRTUAL ? accesses.source() : opened.accessSource(progress);
		return Advisor.of(opened, source, Thresholds.STANDARD, progress);
	}

	/** A damaged note must not keep anybody from seeing the trace. */
	private SavedFilters readFilters() {
		try {
			return SavedFilters.of(store);
		} catch (MemtraceException e) {
			ILog.of(TraceData.class).warn(e.getMessage(), e);
			return SavedFilters.NONE;
		}
	}

	/** Chunks that can be read as long as the store is open; who comes later is cancelled. */
	private AccessSource guarded(AccessSource source) {
		return new AccessSource() {
			@Override
			public int chunks() {
				return source.chunks();
			}

			@Override
			public ChunkInfo info(int chunk) {
				return source.info(chunk);
			}

			@Override
			public long rows() {
				return source.rows();
			}

			@Override
			public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
				use();
				try {
					source.read(chunk, wanted, into);
				} finally {
					release();
				}
			}
		};
	}

	/** One user more; cancelled when there is none any more. */
	synchronized void use() throws CancelledException {
		if (users == 0) {
			throw new CancelledException();
		}
		users++;
	}

	synchronized void release() {
		users--;
		if (users == 0) {
			opened.close();
		}
	}
}
