// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.memory;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.chunks.HeapBlobs;
import org.memtrace.storage.chunks.RowSorter;
import org.memtrace.storage.chunks.StoredChunks;
import org.memtrace.storage.events.EventCollector;
import org.memtrace.storage.rows.ChunkAccesses;
import org.memtrace.storage.rows.EventTypes;
import org.memtrace.storage.rows.WriterRules;

/** Collects a trace on the heap. */
public final class MemoryTraceWriter implements TraceWriter {
	/** Takes the complete trace, which is made for a number. */
	public interface Sink {
		TraceInfo add(IntFunction<MemoryTraceStore> maker);
	}

	private final Sink sink;
	private final String databaseName;
	private List<ThreadInfo> threads = List.of();
	private List<Structure> structures = List.of();
	private List<BitSet> cpuSets = List.of();
	private List<Interval> intervals = List.of();
	private ThreadTimes threadTimes = ThreadTimes.NONE;
	private final Map<String, byte[]> notes = new HashMap<>();
	private final Map<Integer, List<CallFrame>> stacks = new HashMap<>();
	private MemoryTrees trees;
	private MemoryLayout layout;
	private final List<String> parameterSets = new ArrayList<>();
	private final EventCollector collector = new EventCollector(null, this::parameterSet);
	/** Producers by the number that other events have for them; null when it is the same. */
	private int[] idOf;
	private RowSorter sorter;
	private FrameSocRows frameSocRows = FrameSocRows.AUTO;
	private long counted;
	private long events;
	private boolean withUnknownThread;
	private boolean sharingNotKnown;
	private boolean typesByThread;
	private long firstNs = Long.MAX_VALUE;
	private long lastNs = Long.MIN_VALUE;

	public MemoryTraceWriter(Sink sink, String databaseName) {
		this.sink = sink;
		this.databaseName = databaseName;
	}

	@Override
	public void threads(List<ThreadInfo> list) {
		threads = List.copyOf(list);
	}

	@Override
	public void structures(List<Structure> list) {
		structures = List.copyOf(list);
	}

	@Override
	public void stack(int stackId, List<CallFrame> frames) {
		stacks.put(stackId, List.copyOf(frames));
	}

	@Override
	public void note(String key, byte[] value) {
		notes.put(key, value.clone());
	}

	@Override
	public void producers(ProducerTree tree) {
		trees = MemoryTrees.of(tree);
	}

	@Override
	public void producers(ProducerTree tree, int[] producerOf) {
		trees = MemoryTrees.of(tree);
		idOf = producerOf.clone();
	}

	@Override
	public void eventTypes(List<EventType> types) throws MemtraceException {
		collector.types(types);
	}

	@Override
	public int parameters(int eventType, Map<String, String> values) throws MemtraceException {
		return collector.parameters(eventType, values);
	}

	private void parameterSet(int number, int[] types, String[] texts) {
		StringJoiner text = new StringJoiner(", ");
		for (int i = 0; i < types.length; i++) {
			text.add(collector.parameterTypes().get(types[i]).name() + "=" + texts[i]);
		}
		parameterSets.add(text.toString());
	}

	@Override
	public void events(EventBatch batch) throws MemtraceException {
		collector.events(batch);
	}

	@Override
	public void trees(MemoryLayout madeFrom, MemoryTrees made) {
		layout = madeFrom;
		trees = made;
	}

	@Override
	public void cpuSets(List<BitSet> sets) {
		cpuSets = List.copyOf(sets);
	}

	@Override
	public void intervals(List<Interval> list) {
		intervals = List.copyOf(list);
	}

	@Override
	public void threadTimes(ThreadTimes times) {
		threadTimes = times;
	}

	@Override
	public void eventTypesByThread() {
		typesByThread = true;
	}

	@Override
	public void accesses(AccessBatch batch) throws MemtraceException {
		int cells = trees == null ? 0 : trees.virtualLeaf().length;
		for (int i = 0; i < batch.count; i++) {
			counted = WriterRules.check(batch, i, cells, threads.size(), counted);
			if (sorter == null) {
				sorter = new RowSorter(trees.virtualLeaf(), trees.virtual().size(), null);
			}
			sorter.add(batch, i);
			events += (batch.reads[i] > 0 ? 1 : 0) + (batch.writes[i] > 0 ? 1 : 0);
			withUnknownThread |= batch.thread[i] == AccessBatch.NO_THREAD;
			sharingNotKnown |= batch.sharing[i] == AccessBatch.SHARING_NOT_KNOWN;
			firstNs = Math.min(firstNs, batch.startNs[i]);
			lastNs = Math.max(lastNs, batch.endNs[i]);
		}
	}

	@Override
	public void coded(byte[] bytes) throws MemtraceException {
		throw new org.memtrace.model.StoreException("coded accesses are for databases");
	}

	@Override
	public void frameSocRows(FrameSocRows rows) {
		frameSocRows = rows; // FrameSoc cannot look into this heap; but the number of events is as in a database
	}

	@Override
	public TraceInfo commit(TraceInfo info, String reportJson, Progress progress) throws MemtraceException {
		long accesses = sorter == null ? 0 : sorter.rows();
		WriterRules.check(accesses, collector.count(), trees, idOf);
		HeapBlobs blobs = new HeapBlobs();
		if (sorter != null) {
			sorter.finish(progress, blobs);
		}
		StoredChunks chunks = new StoredChunks(databaseName, blobs.index(), blobs);
		long order = ChunkAccesses.orderOf(trees.virtualLeaf());
		List<EventType> types = new ArrayList<>(accesses == 0 ? List.of() : EventTypes.of(threads, withUnknownThread, sharingNotKnown));
		long rows = frameSocRows.writes(accesses) ? events : 0;
		HeapEvents others = null;
		if (collector.count() > 0) {
			firstNs = Math.min(firstNs, collector.firstNs());
			lastNs = Math.max(lastNs, collector.lastNs());
			int firstType = types.size();
			others = HeapEvents.of(collector, parameterSets, idOf, trees.virtual().size(), rows, firstType, progress);
			collector.types().forEach(t -> types.add(new EventType(firstType + t.id(), t.category(), t.name())));
		}
		long allEvents = rows + collector.count();
		HeapEvents otherEvents = others;
		return sink.add(id -> new MemoryTraceStore(
				WriterRules.complete(info, id, databaseName, allEvents, trees.virtual().size(), firstNs, lastNs,
						sharingNotKnown),
				AddressSpace.VIRTUAL, typesByThread, new AtomicReference<>(new MemoryTraceStore.Forest(layout, trees)),
				List.copyOf(types), threads, structures, stacks, cpuSets, intervals, threadTimes, reportJson,
				new MemoryTraceStore.Rows(chunks, order, accesses), new ConcurrentHashMap<>(), new ConcurrentHashMap<>(notes),
				otherEvents));
	}

	@Override
	public void close() {
		if (sorter != null) {
			sorter.close();
		}
	}
}
