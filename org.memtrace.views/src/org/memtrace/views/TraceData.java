// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.util.List;
import java.util.Set;

import org.eclipse.core.runtime.ILog;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.EventTable;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
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
	/** What the columns of an access take, with what is made from them. */
	private static final long BYTES_PER_ACCESS = 26;

	/** What is closed in the end. */
	private final TraceStore opened;
	/** The same, seen through the tree of {@link #space}. */
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
	final FilteredTables<AccessTable, CancelledException> filtered;
	private final FilteredTables<EventTable, MemtraceException> filteredEvents = new FilteredTables<>(
			(filters, progress) -> filters.apply(events(progress), progress));
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
			checkMemory();
			// first: the tree, which its identity needs, is built beside the reading
			accesses = AccessTable.load(store, progress);
			producers = store.producers();
			structures = store.structures();
			threads = store.threads();
			eventTypes = accesses.size() > 0 ? List.of() : List.copyOf(store.eventTypes());
			importReport = store.importReport().orElse("");
			NoteJob.await(); // what was attached to the trace when it was open before
			savedFilters = readFilters();
			markers = new TraceMarkers(store, space);
		} catch (MemtraceException | RuntimeException | OutOfMemoryError e) {
			opened.close();
			throw e;
		}
		filtered = new FilteredTables<>((filters, p) -> filters.apply(accesses, structures, p));
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

	/** A damaged note must not keep anybody from seeing the trace. */
	private SavedFilters readFilters() {
		try {
			return SavedFilters.of(store);
		} catch (MemtraceException e) {
			ILog.of(TraceData.class).warn(e.getMessage(), e);
			return SavedFilters.NONE;
		}
	}

	/** Several traces may be open: better a sentence than to run out of memory after half a minute. */
	private void checkMemory() throws MemtraceException {
		long needed = BYTES_PER_ACCESS * store.accessCount();
		if (needed > free()) {
			System.gc();
		}
		if (needed > free()) {
			throw new StoreException("'" + info.alias() + "' has " + Units.plural(store.accessCount(), "access") + ", which need "
					+ Units.bytes(needed) + ", but " + Units.bytes(free()) + " are free; close another trace, or give more memory"
					+ " with -Xmx in MEMTRACE_VMARGS");
		}
	}

	private static long free() {
		Runtime r = Runtime.getRuntime();
		return r.maxMemory() - r.totalMemory() + r.freeMemory();
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
