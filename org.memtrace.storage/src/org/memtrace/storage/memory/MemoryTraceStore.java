// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.memory;

import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.chunks.Damage;
import org.memtrace.storage.chunks.StoredChunks;
import org.memtrace.storage.rows.ChunkAccesses;
import org.memtrace.storage.rows.Spaces;

/** A trace on the heap; closing it does nothing. */
public record MemoryTraceStore(TraceInfo info, AddressSpace space, boolean typesByThread, AtomicReference<Forest> forest,
		List<EventType> eventTypes, List<ThreadInfo> threads,
		List<Structure> structures, Map<Integer, List<CallFrame>> stacks, List<BitSet> cpuSets,
		List<Interval> intervals, ThreadTimes threadTimes, String reportJson, Rows rows,
		Map<String, byte[]> cache, Map<String, byte[]> notes, HeapEvents otherEvents) implements TraceStore {
	/**
	 * The trees as they are now.
	 *
	 * @param layout null when it is not known
	 */
	record Forest(MemoryLayout layout, MemoryTrees trees) {
	}

	/**
	 * The accesses.
	 *
	 * @param order of the tree in whose order they are ({@link ChunkAccesses#orderOf})
	 */
	record Rows(StoredChunks chunks, long order, long count) {
	}

	/** This trace under another display name. */
	public MemoryTraceStore renamed(String alias) {
		return with(info.stored(info.id(), alias, info.databaseName(), info.events(), info.producers()));
	}

	/** This trace with other facts about it. */
	public MemoryTraceStore with(TraceInfo now) {
		return new MemoryTraceStore(now, space, typesByThread, forest, eventTypes, threads, structures, stacks, cpuSets, intervals,
				threadTimes, reportJson, rows, cache, notes, otherEvents);
	}

	@Override
	public List<CallFrame> stack(int stackId) {
		return stacks.getOrDefault(stackId, List.of());
	}

	@Override
	public Optional<String> importReport() {
		return Optional.ofNullable(reportJson);
	}

	@Override
	public int[] producersOfCells() {
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
		return wanted == space ? this : new MemoryTraceStore(info, wanted, typesByThread, forest, eventTypes, threads, structures, stacks,
				cpuSets, intervals, threadTimes, reportJson, rows, cache, notes, otherEvents);
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
	public long accessCount() {
		return rows.count;
	}

	private ChunkAccesses accesses() {
		int[] cells = producersOfCells();
		return new ChunkAccesses(rows.chunks, cells, ChunkAccesses.orderOf(cells) == rows.order, producers().size(), null,
				info.databaseName(), new Damage(rows.chunks));
	}

	@Override
	public AccessSource accessSource(Progress progress) throws MemtraceException {
		return accesses().source(progress);
	}

	@Override
	public void visitAccesses(AccessQuery query, AccessVisitor visitor, Progress progress) throws MemtraceException {
		visitAccesses(query, Long.MIN_VALUE, 0, Long.MAX_VALUE, Integer.MAX_VALUE, visitor, progress);
	}

	@Override
	public void visitAccesses(AccessQuery query, long fromNs, int fromId, long toNs, int toId, AccessVisitor visitor,
			Progress progress) throws MemtraceException {
		ChunkAccesses accesses = accesses();
		progress.begin("Reading accesses", accesses.rowsToRead(query));
		accesses.visit(query, fromNs, fromId, toNs, toId, visitor, progress);
	}

	@Override
	public void readAccesses(int[] ids, AccessVisitor visitor) throws MemtraceException {
		accesses().read(ids, visitor);
	}

	private ChunkAccesses.EventNumbers eventNumbers() {
		return new ChunkAccesses.EventNumbers(typesByThread, threads, cpuSets);
	}

	@Override
	public void visitEvents(AccessQuery query, EventVisitor visitor, Progress progress) throws MemtraceException {
		if (otherEvents != null) {
			visitOthers(query, 0, Long.MAX_VALUE, visitor, progress);
			return;
		}
		progress.begin("Reading events", accesses().rowsToRead(query));
		visitEvents(query, Long.MIN_VALUE, 0, Long.MAX_VALUE, Long.MAX_VALUE, visitor, progress);
	}

	@Override
	public void visitEvents(AccessQuery query, long fromNs, long fromId, long toNs, long toId, EventVisitor visitor,
			Progress progress) throws MemtraceException {
		if (otherEvents != null) {
			visitOthers(query, fromId, toId, visitor, progress);
			return;
		}
		accesses().events(eventNumbers(), query, fromNs, fromId, toNs, toId, visitor, progress);
	}

	@Override
	public void readEvents(long[] ids, EventVisitor visitor) throws MemtraceException {
		if (otherEvents != null) {
			otherEvents.read(ids, visitor);
			return;
		}
		accesses().events(eventNumbers(), ids, visitor);
	}

	@Override
	public List<String> eventParameters(long[] ids) throws MemtraceException {
		return otherEvents != null ? otherEvents.parameters(ids) : accesses().parameters(eventNumbers(), ids);
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
