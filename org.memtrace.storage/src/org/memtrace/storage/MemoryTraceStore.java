// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.memtrace.model.AccessBatch;
import org.memtrace.model.AccessQuery;
import org.memtrace.model.AccessVisitor;
import org.memtrace.model.CallFrame;
import org.memtrace.model.EventBatch;
import org.memtrace.model.EventType;
import org.memtrace.model.EventVisitor;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.ProducerTree;
import org.memtrace.model.Progress;
import org.memtrace.model.Structure;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.TraceStore;

/** A trace on the heap; closing it does nothing. */
record MemoryTraceStore(TraceInfo info, ProducerTree producers, List<EventType> eventTypes, List<ThreadInfo> threads,
		List<Structure> structures, Map<Integer, List<CallFrame>> stacks, List<BitSet> cpuSets,
		List<Interval> intervals, String reportJson, List<AccessBatch> chunks, long accessCount,
		Map<String, byte[]> cache) implements TraceStore {
	private static final int BATCH = 4096;

	MemoryTraceStore(TraceInfo info, ProducerTree producers, List<EventType> eventTypes, List<ThreadInfo> threads,
			List<Structure> structures, Map<Integer, List<CallFrame>> stacks, List<BitSet> cpuSets,
			List<Interval> intervals, String reportJson, List<AccessBatch> chunks, long accessCount) {
		this(info, producers, eventTypes, threads, structures, stacks, cpuSets, intervals, reportJson, chunks,
				accessCount, new ConcurrentHashMap<>());
	}

	/** The same trace under another display name. */
	MemoryTraceStore renamed(String alias) {
		TraceInfo named = info.stored(info.id(), alias, info.databaseName(), info.events(), info.producers());
		return new MemoryTraceStore(named, producers, eventTypes, threads, structures, stacks, cpuSets, intervals,
				reportJson, chunks, accessCount, cache);
	}

	@Override
	public List<CallFrame> stack(int stackId) {
		return stacks.getOrDefault(stackId, List.of());
	}

	@Override
	public Optional<String> importReport() {
		return Optional.ofNullable(reportJson);
	}

	private static boolean selects(AccessQuery query, AccessBatch batch, int row) {
		return batch.startNs[row] < query.toNs() && batch.endNs[row] > query.fromNs()
				&& batch.producer[row] >= query.producerFrom() && batch.producer[row] < query.producerTo();
	}

	@Override
	public void visitAccesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws MemtraceException {
		progress.begin("Reading accesses", accessCount);
		AccessBatch out = new AccessBatch(BATCH);
		for (AccessBatch chunk : chunks) {
			progress.check();
			for (int i = 0; i < chunk.count; i++) {
				if (selects(query, chunk, i)) {
					if (out.isFull()) {
						visitor.visit(out);
						out.count = 0;
						progress.check();
					}
					out.addFrom(chunk, i);
				}
			}
			progress.worked(chunk.count);
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	@Override
	public void visitEvents(AccessQuery query, EventVisitor visitor, Progress progress) throws MemtraceException {
		progress.begin("Reading events", accessCount);
		EventBatch out = new EventBatch(BATCH);
		long id = 0;
		for (AccessBatch chunk : chunks) {
			progress.check();
			for (int i = 0; i < chunk.count; i++) {
				boolean selected = selects(query, chunk, i);
				for (int write = 0; write < 2; write++) {
					long count = write == 0 ? chunk.reads[i] : chunk.writes[i];
					if (count == 0) {
						continue;
					}
					if (selected) {
						if (out.isFull()) {
							visitor.visit(out);
							out.count = 0;
							progress.check();
						}
						out.add(id, EventTypes.of(chunk.sharing[i], write == 1), chunk.producer[i], chunk.startNs[i],
								chunk.endNs[i], count, WriterRules.cpu(cpuSets, chunk.cpuSet[i]));
					}
					id++;
				}
			}
			progress.worked(chunk.count);
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	@Override
	public Optional<byte[]> readCache(String key) {
		return Optional.ofNullable(cache.get(key)).map(byte[]::clone);
	}

	@Override
	public void writeCache(String key, byte[] value) {
		cache.put(key, value.clone());
	}

	@Override
	public void close() {
		// the catalogue owns it
	}
}
