// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.util.BitSet;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;

/** A trace on the heap; closing it does nothing. */
record MemoryTraceStore(TraceInfo info, AddressSpace space, boolean typesByThread, AtomicReference<Forest> forest, List<EventType> eventTypes, List<ThreadInfo> threads,
		List<Structure> structures, Map<Integer, List<CallFrame>> stacks, List<BitSet> cpuSets,
		List<Interval> intervals, String reportJson, List<AccessBatch> chunks, long accessCount,
		Map<String, byte[]> cache, Map<String, byte[]> notes, HeapEvents otherEvents) implements TraceStore {
	/**
	 * The trees as they are now.
	 *
	 * @param layout null when it is not known
	 */
	record Forest(MemoryLayout layout, MemoryTrees trees) {
	}

	private static final int BATCH = 4096;

	/** The same trace under another display name. */
	MemoryTraceStore renamed(String alias) {
		return with(info.stored(info.id(), alias, info.databaseName(), info.events(), info.producers()));
	}

	/** The same trace with other things known about it. */
	MemoryTraceStore with(TraceInfo now) {
		return new MemoryTraceStore(now, space, typesByThread, forest, eventTypes, threads, structures, stacks, cpuSets, intervals,
				reportJson, chunks, accessCount, cache, notes, otherEvents);
	}

	@Override
	public List<CallFrame> stack(int stackId) {
		return stacks.getOrDefault(stackId, List.of());
	}

	@Override
	public Optional<String> importReport() {
		return Optional.ofNullable(reportJson);
	}

	private static boolean selects(AccessQuery query, AccessBatch batch, int row, int producer) {
		return batch.startNs[row] < query.toNs() && batch.endNs[row] > query.fromNs() && producer >= query.producerFrom()
				&& producer < query.producerTo();
	}

	/** Producers by cell. */
	private int[] leaf() {
		return forest.get().trees().leaf(space);
	}

	@Override
	public ProducerTree producers() {
		return forest.get().trees().tree(space);
	}

	@Override
	public Set<AddressSpace> addressSpaces() {
		return forest.get().trees().physical() == null ? EnumSet.of(AddressSpace.VIRTUAL) : EnumSet.allOf(AddressSpace.class);
	}

	@Override
	public TraceStore in(AddressSpace wanted) throws MemtraceException {
		if (!addressSpaces().contains(wanted)) {
			throw Spaces.missing(info, wanted);
		}
		return wanted == space ? this : new MemoryTraceStore(info, wanted, typesByThread, forest, eventTypes, threads, structures, stacks, cpuSets,
				intervals, reportJson, chunks, accessCount, cache, notes, otherEvents);
	}

	@Override
	public Optional<MemoryLayout> layout() {
		return Optional.ofNullable(forest.get().layout());
	}

	@Override
	public void replaceTrees(MemoryTrees trees, List<String> rules, Progress progress) throws MemtraceException {
		if (otherEvents != null) {
			throw new StoreException(info.alias() + " has events other than accesses; their event producers cannot be replaced");
		}
		MemoryLayout layout = forest.get().layout();
		forest.set(new Forest(layout == null ? null : layout.withRules(rules), trees));
		cache.clear();
	}

	@Override
	public void visitAccesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws MemtraceException {
		visitAccesses(query, 0, Integer.MAX_VALUE, visitor, progress);
	}

	@Override
	public void visitAccesses(AccessQuery query, int fromId, int toId, AccessVisitor visitor, Progress progress)
			throws MemtraceException {
		progress.begin("Reading accesses", accessCount);
		AccessBatch out = new AccessBatch(BATCH);
		int[] leaf = leaf();
		int first = 0;
		for (AccessBatch chunk : chunks) {
			progress.check();
			for (int i = Math.max(0, fromId - first); i < Math.min(chunk.count, (long) toId - first); i++) {
				if (selects(query, chunk, i, leaf[chunk.producer[i]])) {
					if (out.isFull()) {
						visitor.visit(out);
						out.count = 0;
						progress.check();
					}
					out.addFrom(chunk, i);
					out.producer[out.count - 1] = leaf[chunk.producer[i]];
					out.id[out.count - 1] = first + i;
				}
			}
			first += chunk.count;
			progress.worked(chunk.count);
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	@Override
	public void readAccesses(int[] ids, AccessVisitor visitor) throws MemtraceException {
		AccessBatch out = new AccessBatch(Math.max(1, ids.length));
		for (int id : ids) {
			int row = id;
			for (AccessBatch chunk : chunks) {
				if (row < chunk.count) {
					out.addFrom(chunk, row);
					out.producer[out.count - 1] = leaf()[chunk.producer[row]];
					out.id[out.count - 1] = id;
					break;
				}
				row -= chunk.count;
			}
		}
		if (out.count > 0) {
			visitor.visit(out);
		}
	}

	@Override
	public void visitEvents(AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor,
			Progress progress) throws MemtraceException {
		if (otherEvents != null) {
			visitOthers(query, fromId, toId, visitor, progress);
			return;
		}
		chosen(query, id -> id >= fromId && id < toId, visitor, progress);
	}

	@Override
	public void readEvents(long[] ids, EventVisitor visitor) throws MemtraceException {
		if (otherEvents != null) {
			otherEvents.read(ids, visitor);
			return;
		}
		for (long wanted : ids) {
			chosen(AccessQuery.ALL, id -> id == wanted, visitor, Progress.NONE);
		}
	}

	/** Streams the events whose id passes. */
	private void chosen(AccessQuery query, LongPredicate wanted, EventVisitor visitor, Progress progress)
			throws MemtraceException {
		EventBatch out = new EventBatch(BATCH);
		visitEvents(query, in -> {
			out.count = 0;
			for (int i = 0; i < in.count; i++) {
				if (wanted.test(in.id[i])) {
					out.add(in.id[i], in.type[i], in.producer[i], in.startNs[i], in.endNs[i], in.value[i], in.cpu[i]);
				}
			}
			if (out.count > 0) {
				visitor.visit(out);
			}
		}, progress);
	}

	@Override
	public List<String> eventParameters(long[] ids) {
		return otherEvents != null ? otherEvents.parameters(ids) : Collections.nCopies(ids.length, "");
	}

	/** Events refer to producers of the virtual tree, and are in no other one. */
	private void visitOthers(AccessQuery query, long fromId, long toId, EventVisitor visitor, Progress progress)
			throws MemtraceException {
		if (space == AddressSpace.VIRTUAL) {
			otherEvents.visit(query, fromId, toId, visitor, progress);
		} else {
			progress.begin("Reading events", 0);
		}
	}

	@Override
	public void visitEvents(AccessQuery query, EventVisitor visitor, Progress progress) throws MemtraceException {
		if (otherEvents != null) {
			visitOthers(query, 0, Long.MAX_VALUE, visitor, progress);
			return;
		}
		progress.begin("Reading events", accessCount);
		EventBatch out = new EventBatch(BATCH);
		long id = 0;
		int[] leaf = leaf();
		for (AccessBatch chunk : chunks) {
			progress.check();
			for (int i = 0; i < chunk.count; i++) {
				int producer = leaf[chunk.producer[i]];
				boolean selected = selects(query, chunk, i, producer);
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
						int type = typesByThread ? EventTypes.of(chunk.thread[i], threads.size(), chunk.sharing[i], write == 1)
								: EventTypes.of(chunk.sharing[i], write == 1);
						out.add(id, type, producer, chunk.startNs[i],
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

	/** Nobody can change the rows; new trees drop the cache. */
	@Override
	public String contentStamp() {
		return "0";
	}

	@Override
	public Optional<byte[]> readCache(String key) {
		return Optional.ofNullable(cache.get(Spaces.cacheKey(space, key))).map(byte[]::clone);
	}

	@Override
	public void writeCache(String key, byte[] value) {
		cache.put(Spaces.cacheKey(space, key), value.clone());
	}

	@Override
	public Optional<byte[]> readNote(String key) {
		return Optional.ofNullable(notes.get(key)).map(byte[]::clone);
	}

	@Override
	public void writeNote(String key, byte[] value) {
		if (value == null) {
			notes.remove(key);
		} else {
			notes.put(key, value.clone());
		}
	}

	@Override
	public void close() {
		// the catalogue owns it
	}
}
