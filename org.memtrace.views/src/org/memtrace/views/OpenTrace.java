// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views;

import java.nio.file.Path;
import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.FilterSet;
import org.memtrace.analysis.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ProducerKind;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.Progress;
import org.memtrace.model.Structure;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.TraceStore;
import org.memtrace.views.state.TraceSelection;
import org.memtrace.views.traces.TraceDetails;

/**
 * A trace that is shown: its store, what was loaded from it, and its selection. Jobs that read the store hold a
 * {@link Lease}; {@link #close} waits for nobody, the store is closed when the last lease ends.
 */
public final class OpenTrace {
	/** Keeps the store open. */
	public final class Lease implements AutoCloseable {
		private boolean ended;

		private Lease() {
		}

		public TraceStore store() {
			return store;
		}

		@Override
		public void close() {
			if (!ended) {
				ended = true;
				release();
			}
		}
	}

	private final TraceStore store;
	private final OpenFile file;
	private volatile TraceInfo info;
	private final ProducerTree producers;
	private final List<Structure> structures;
	private final List<ThreadInfo> threads;
	private final AccessTable accesses;
	private final String importReport;
	private final FilteredAccesses filtered;
	private final TraceSelection selection;
	private int leases;
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
		this.store = store;
		try {
			info = store.info();
			producers = store.producers();
			structures = store.structures();
			threads = store.threads();
			importReport = store.importReport().orElse("");
			accesses = AccessTable.load(store, progress);
		} catch (MemtraceException | RuntimeException e) {
			store.close();
			throw e;
		}
		file = path == null ? null : new OpenFile(path, info);
		filtered = new FilteredAccesses(accesses, structures);
		selection = new TraceSelection(producers, info.startNs(), info.endNs());
	}

	public TraceInfo info() {
		return info;
	}

	/** The database when it was opened as a file, null for a trace of the catalogue. */
	public OpenFile file() {
		return file;
	}

	/** Whether this is a certain trace of the catalogue; numbers in database files mean nothing. */
	public boolean isListed(TraceInfo listed) {
		return file == null && listed != null && info.id() == listed.id();
	}

	/** Whether this is a certain database file. */
	public boolean isFile(OpenFile other) {
		return file != null && other != null && file.path().equals(other.path());
	}

	/** @param now the same trace with another name */
	void rename(TraceInfo now) {
		info = now;
	}

	/** Display name. */
	public String name() {
		return info.alias();
	}

	/** Says how many accesses the recorder lost; empty when none. */
	public String lossWarning() {
		long lost = TraceDetails.lostAccesses(info);
		return lost == 0 ? "" : "recorder lost " + Units.plural(lost, "access");
	}

	public ProducerTree producers() {
		return producers;
	}

	public List<Structure> structures() {
		return structures;
	}

	public List<ThreadInfo> threads() {
		return threads;
	}

	/** Import report as JSON, empty when there is none. */
	public String importReport() {
		return importReport;
	}

	/** All accesses in memory: every picture is made from it. */
	public AccessTable accesses() {
		return accesses;
	}

	/**
	 * The accesses that pass filters; all when there are none. Takes a moment the first time, so not on the display thread; views
	 * that ask for the same at the same time wait for one another.
	 */
	public AccessTable accesses(FilterSet filters, Progress progress) throws CancelledException {
		return filters.isActive() ? filtered.get(filters, progress) : accesses;
	}

	public TraceSelection selection() {
		return selection;
	}

	/**
	 * The structure, stack, range or group that a producer is or is a part of: what has a row in the table of structures.
	 * -1 for what is above them.
	 */
	public int memberOf(int producer) {
		int id = producer;
		int member = -1;
		while (id >= 0 && producers.kind(id) != ProducerKind.ROOT && producers.kind(id) != ProducerKind.IMAGE) {
			member = id;
			id = producers.parent(id);
		}
		return member;
	}

	/** Keeps the store open until the lease is closed; cancelled when the trace is closed already. */
	public synchronized Lease lease() throws CancelledException {
		if (closed) {
			throw new CancelledException();
		}
		leases++;
		return new Lease();
	}

	synchronized void close() {
		closed = true;
		if (leases == 0) {
			store.close();
		}
	}

	private synchronized void release() {
		leases--;
		if (closed && leases == 0) {
			store.close();
		}
	}
}
