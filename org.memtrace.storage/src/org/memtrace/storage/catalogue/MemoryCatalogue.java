// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.catalogue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.dbms.Names;
import org.memtrace.storage.memory.MemoryTraceStore;
import org.memtrace.storage.memory.MemoryTraceWriter;

/** A catalogue on the heap, for tests and for looking at something without keeping it. */
public final class MemoryCatalogue implements TraceCatalogue {
	private final TreeMap<Integer, MemoryTraceStore> traces = new TreeMap<>();

	@Override
	public Path directory() {
		return null;
	}

	@Override
	public synchronized List<TraceInfo> list() {
		return traces.values().stream().map(MemoryTraceStore::info).toList();
	}

	@Override
	public synchronized TraceWriter create(String databaseName) {
		String base = Names.database(databaseName);
		return new MemoryTraceWriter(this::add, base);
	}

	@Override
	public TraceGroup group() {
		return new Group();
	}

	private final class Group implements TraceGroup {
		private final List<IntFunction<MemoryTraceStore>> complete = new ArrayList<>();

		@Override
		public TraceWriter create(String databaseName) {
			return new MemoryTraceWriter(maker -> {
				complete.add(maker);
				return maker.apply(-1).info();
			}, Names.database(databaseName));
		}

		@Override
		public TraceStore open(int index) {
			return complete.get(index).apply(-1);
		}

		@Override
		public List<TraceInfo> publish() {
			synchronized (MemoryCatalogue.this) {
				List<TraceInfo> published = new ArrayList<>();
				for (IntFunction<MemoryTraceStore> maker : complete) { // as in a file catalogue, names keep the first as a prefix
					String first = complete.get(0).apply(-1).info().databaseName();
					published.add(add(maker, name -> published.isEmpty() || !name.startsWith(first) ? name
							: published.get(0).databaseName() + name.substring(first.length())));
				}
				return published;
			}
		}

		@Override
		public void close() {
			complete.clear();
		}
	}

	/** Adds a trace under the first free number. */
	synchronized TraceInfo add(IntFunction<MemoryTraceStore> maker) {
		return add(maker, UnaryOperator.identity());
	}

	private synchronized TraceInfo add(IntFunction<MemoryTraceStore> maker, UnaryOperator<String> wanted) {
		int id = 0;
		while (traces.containsKey(id)) {
			id++;
		}
		MemoryTraceStore store = maker.apply(id);
		String name = Names.unique(wanted.apply(store.info().databaseName()),
				n -> list().stream().anyMatch(t -> t.databaseName().equalsIgnoreCase(n)));
		if (!name.equals(store.info().databaseName())) {
			TraceInfo info = store.info();
			store = store.with(info.stored(id, info.alias(), name, info.events(), info.producers()));
		}
		traces.put(id, store);
		return store.info();
	}

	@Override
	public TraceInfo add(TraceStore trace, Progress progress) throws StoreException {
		throw new StoreException("a catalogue in memory takes no databases");
	}

	@Override
	public OptionalLong databaseBytes(TraceInfo info) {
		return OptionalLong.empty();
	}

	@Override
	public TraceInfo add(Path database, Progress progress) throws MemtraceException {
		throw new StoreException(database + " cannot be taken into a catalogue in memory");
	}

	@Override
	public synchronized TraceStore open(int traceId) throws MemtraceException {
		return get(traceId);
	}

	private MemoryTraceStore get(int traceId) throws StoreException {
		MemoryTraceStore store = traces.get(traceId);
		if (store == null) {
			throw new StoreException("there is no trace " + traceId + " in this catalogue");
		}
		return store;
	}

	@Override
	public synchronized void delete(int traceId) throws MemtraceException {
		get(traceId);
		traces.remove(traceId);
	}

	@Override
	public synchronized void rename(int traceId, String alias) throws MemtraceException {
		traces.put(traceId, get(traceId).renamed(Names.alias(alias)));
	}

	@Override
	public synchronized void describe(int traceId, String description) throws MemtraceException {
		MemoryTraceStore store = get(traceId);
		traces.put(traceId, store.with(store.info().described(description, store.info().properties())));
	}

	@Override
	public synchronized void setProperty(int traceId, String name, String value) throws MemtraceException {
		Names.property(name);
		MemoryTraceStore store = get(traceId);
		Map<String, String> properties = new TreeMap<>(store.info().properties());
		if (value == null) {
			properties.remove(name);
		} else {
			properties.put(name, value);
		}
		traces.put(traceId, store.with(store.info().described(store.info().description(), properties)));
	}

	@Override
	public TraceInfo find(String nameOrId) throws MemtraceException {
		return Names.find(list(), nameOrId);
	}

	@Override
	public void close() {
		// nothing is held
	}
}
