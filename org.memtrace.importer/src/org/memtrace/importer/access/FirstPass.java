// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.access;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.FirstAccesses;
import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.importer.tree.LeafTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.store.AccessBatch;

/** Takes the parsed rows of one image. */
final class FirstPass {
	private final ImageData data;
	private final SharedSegments shared;
	private final ContextTables context;
	private final LongNumbers addresses;
	private final ImportCounts counts;
	/** Threads by task id; several when the system gave the id of a dead thread to another one. */
	private final Map<Long, int[]> threads = new HashMap<>();
	private final SpilledRow row = new SpilledRow();
	private long lastTask = AccessBatch.NO_THREAD;
	private int lastThread = AccessBatch.NO_THREAD;
	private long previousStartNs = Long.MIN_VALUE;
	private boolean sorted = true;
	private long firstStartNs;
	private long added;
	private final long[] accessesByKind;
	private final int pageShift;
	private final boolean mocaPhysical;
	/** Null when records tell their own. */
	private final FirstAccesses first;

	FirstPass(ImageData data, SharedSegments shared, ContextTables context, LongNumbers addresses, ImportCounts counts, int pageShift,
			FirstAccesses first) {
		this.first = first;
		this.data = data;
		this.shared = shared;
		this.pageShift = pageShift;
		this.mocaPhysical = data.image().directory() == null;
		this.context = context;
		this.addresses = addresses;
		this.counts = counts;
		this.accessesByKind = counts.accessesByKind;
		context.threads().stream().filter(t -> t.image() == data.index())
				.forEach(t -> threads.merge(t.taskId(), new int[] { t.index() }, (a, b) -> {
					int[] both = Arrays.copyOf(a, a.length + 1);
					both[a.length] = b[0];
					return both;
				}));
	}

	void add(RowBatch batch) throws MemtraceException {
		if (data.rows().rows() > Integer.MAX_VALUE - RowBatch.CAPACITY) {
			throw new StoreException("an image with more than " + Integer.MAX_VALUE + " accesses cannot be imported");
		}
		LeafTable leaves = data.leaves();
		RowSpill rows = data.rows();
		batch.sorted = 0;
		if (added == 0 && batch.count > 0) {
			firstStartNs = batch.startNs[0];
		}
		added += batch.count;
		for (int i = 0; i < batch.count; i++) {
			long start = batch.startNs[i];
			long end = batch.endNs[i];
			if (start < previousStartNs) {
				sorted = false;
				counts.unsorted.merge(data.index(), 1L, Long::sum);
			}
			previousStartNs = start;
			if (first != null && batch.firstNs[i] == RowBatch.NO_TIME) {
				batch.firstNs[i] = first.within(batch.address[i], batch.taskId[i], start, end);
			}
			int page = leaves.pageOf(batch.address[i], data.structures());
			int structure = leaves.structure(page, data.structures(), batch.address[i], start, end,
					batch.firstNs[i] == RowBatch.NO_TIME ? RowBatch.NO_TIME : Math.min(batch.firstNs[i], end - 1));
			row.thread = thread(batch.taskId[i], start, end);
			row.startNs = start;
			row.endNs = end;
			SharedSegments.Target target = shared.target(structure);
			row.leaf = target == null ? leaves.leaf(page, structure, frame(batch.physical[i], batch.address[i]), batch.node[i])
					: sharedLeaf(target, batch, i);
			if (sorted) {
				batch.page[i] = target == null ? leaves.sharingPage(row.leaf) : -1;
				batch.thread[i] = row.thread;
				batch.sorted = i + 1;
			}
			row.cpuSet = batch.cpuSet[i];
			row.reads = batch.reads[i];
			row.writes = batch.writes[i];
			row.ip = batch.ip[i] == 0 ? 0 : addresses.number(batch.ip[i]) + 1;
			row.node = batch.node[i];
			row.flags = batch.flags[i];
			row.readOffset = batch.readOffset[i];
			row.writeOffset = batch.writeOffset[i];
			row.firstNs = batch.firstNs[i] == RowBatch.NO_TIME ? AccessBatch.NO_FIRST : batch.firstNs[i] - start;
			(target == null ? rows : target.data().rows()).add(row);
			counts.read(row);
			int kind = structure < 0 ? accessesByKind.length - 1
					: context.structures().get(structure).kind().ordinal();
			accessesByKind[kind] += row.reads + row.writes;
		}
	}

	/** No more rows come. */
	void end() {
		data.read(added, firstStartNs, previousStartNs);
	}

	/** The leaf of a row in the memory that several images have. */
	private int sharedLeaf(SharedSegments.Target target, RowBatch batch, int i) {
		long address = batch.address[i] + target.toShared();
		LeafTable leaves = target.data().leaves();
		int page = leaves.pageOf(address, target.data().structures());
		int structure = leaves.structure(page, target.data().structures(), address, batch.startNs[i], batch.endNs[i], RowBatch.NO_TIME);
		return leaves.leaf(page, structure, frame(batch.physical[i], batch.address[i]), batch.node[i]);
	}

	/** A physical address of 0 is not known; Moca writes the virtual one when it knows none. */
	private long frame(long physical, long address) {
		return physical == 0 || mocaPhysical && physical >>> pageShift == address >>> pageShift ? PageCells.NO_FRAME
				: physical >>> pageShift;
	}

	private int thread(long taskId, long startNs, long endNs) {
		if (taskId == lastTask) {
			return lastThread;
		}
		if (taskId == AccessBatch.NO_THREAD) {
			lastTask = taskId;
			lastThread = AccessBatch.NO_THREAD;
			return lastThread;
		}
		int[] same = threads.computeIfAbsent(taskId, key -> new int[] { context.addThread(data.image(), key) });
		if (same.length == 1) {
			lastTask = taskId;
			lastThread = same[0];
			return lastThread;
		}
		int best = same[0];
		for (int candidate : same) {
			best = overlap(candidate, startNs, endNs) > overlap(best, startNs, endNs) ? candidate : best;
		}
		return best;
	}

	/** How long a thread lived within an interval; negative is the distance. */
	private long overlap(int thread, long startNs, long endNs) {
		ThreadInfo t = context.threads().get(thread);
		return Math.min(endNs, t.deathNs()) - Math.max(startNs, t.birthNs());
	}
}
