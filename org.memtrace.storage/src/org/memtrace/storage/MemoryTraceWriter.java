// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

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
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;

/** Collects a trace on the heap. */
final class MemoryTraceWriter implements TraceWriter {
	private static final int CHUNK = 16_384;

	/** Takes the complete trace, which is made for a number. */
	interface Sink {
		TraceInfo add(IntFunction<MemoryTraceStore> maker);
	}

	private final Sink sink;
	private final String databaseName;
	private List<ThreadInfo> threads = List.of();
	private List<Structure> structures = List.of();
	private List<BitSet> cpuSets = List.of();
	private List<Interval> intervals = List.of();
	private final Map<String, byte[]> notes = new HashMap<>();
	private final Map<Integer, List<CallFrame>> stacks = new HashMap<>();
	private MemoryTrees trees;
	private MemoryLayout layout;
	private final List<String> parameterSets = new ArrayList<>();
	private final EventCollector collector = new EventCollector(null, this::parameterSet);
	/** Producers by the number that other events have for them; null when it is the same. */
	private int[] idOf;
	private final List<AccessBatch> chunks = new ArrayList<>();
	private long accesses;
	private long events;
	private boolean sorted = true;
	private boolean withUnknownThread;
	private boolean typesByThread;
	private long firstNs = Long.MAX_VALUE;
	private long previousNs = Long.MIN_VALUE;
	private long lastNs = Long.MIN_VALUE;

	MemoryTraceWriter(Sink sink, String databaseName) {
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
	public void eventTypesByThread() {
		typesByThread = true;
	}

	@Override
	public void accesses(AccessBatch batch) throws MemtraceException {
		int cells = trees == null ? 0 : trees.virtualLeaf().length;
		for (int i = 0; i < batch.count; i++) {
			WriterRules.check(batch, i, cells, threads.size());
			if (chunks.isEmpty() || chunks.get(chunks.size() - 1).isFull()) {
				chunks.add(new AccessBatch(CHUNK));
			}
			chunks.get(chunks.size() - 1).addFrom(batch, i);
			accesses++;
			events += (batch.reads[i] > 0 ? 1 : 0) + (batch.writes[i] > 0 ? 1 : 0);
			withUnknownThread |= batch.thread[i] == AccessBatch.NO_THREAD;
			sorted &= batch.startNs[i] >= previousNs;
			previousNs = batch.startNs[i];
			firstNs = Math.min(firstNs, batch.startNs[i]);
			lastNs = Math.max(lastNs, batch.endNs[i]);
		}
	}

	@Override
	public TraceInfo commit(TraceInfo info, String reportJson, Progress progress) throws MemtraceException {
		WriterRules.check(accesses, collector.count(), trees, idOf);
		List<AccessBatch> ordered = sorted ? chunks : sort();
		List<EventType> types = new ArrayList<>(accesses == 0 ? List.of() : EventTypes.of(threads, withUnknownThread));
		HeapEvents others = null;
		if (collector.count() > 0) {
			firstNs = Math.min(firstNs, collector.firstNs());
			lastNs = Math.max(lastNs, collector.lastNs());
			int firstType = types.size();
			others = HeapEvents.of(collector, parameterSets, idOf, trees.virtual().size(), events, firstType, progress);
			collector.types().forEach(t -> types.add(new EventType(firstType + t.id(), t.category(), t.name())));
		}
		long allEvents = events + collector.count();
		HeapEvents otherEvents = others;
		return sink.add(id -> new MemoryTraceStore(
				WriterRules.complete(info, id, databaseName, allEvents, trees.virtual().size(), firstNs, lastNs),
				AddressSpace.VIRTUAL, typesByThread, new AtomicReference<>(new MemoryTraceStore.Forest(layout, trees)),
				List.copyOf(types), threads, structures, stacks, cpuSets, intervals, reportJson,
				ordered, accesses, new ConcurrentHashMap<>(), new ConcurrentHashMap<>(notes), otherEvents));
	}

	private List<AccessBatch> sort() {
		List<long[]> order = new ArrayList<>(); // start, chunk, row
		for (int c = 0; c < chunks.size(); c++) {
			for (int i = 0; i < chunks.get(c).count; i++) {
				order.add(new long[] { chunks.get(c).startNs[i], c, i });
			}
		}
		order.sort((a, b) -> Long.compare(a[0], b[0]));
		List<AccessBatch> result = new ArrayList<>();
		for (long[] row : order) {
			if (result.isEmpty() || result.get(result.size() - 1).isFull()) {
				result.add(new AccessBatch(CHUNK));
			}
			result.get(result.size() - 1).addFrom(chunks.get((int) row[1]), (int) row[2]);
		}
		return result;
	}

	@Override
	public void close() {
		// nothing to undo: a trace is visible from commit on
	}
}
