// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.filter;

import java.util.BitSet;
import java.util.List;
import java.util.regex.Pattern;

import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;

/**
 * Which accesses of a trace: by window and subtree, which the store selects, and by thread, CPU and type, which are looked at row
 * by row. An access with reads and writes of which only one is of a wanted type is given with the other count set to 0.
 *
 * @param query window and subtree
 * @param taskId thread, or {@link #ANY}; -1 selects what belongs to no thread
 * @param cpu a CPU on which the access happened, or -1 for any
 * @param types names of event types ({@code Private_Read}, ...), matched as a whole; null for any
 * @param mask of further filters, see {@link #with}; null for none
 */
public record AccessFilter(AccessQuery query, long taskId, int cpu, Pattern types, AccessMask mask) {
	public static final long ANY = Long.MIN_VALUE;
	/** Event types of an access by sharing and direction. */
	public static final String[] TYPES = { EventType.PRIVATE_READ, EventType.PRIVATE_WRITE, EventType.SHARED_READ,
			EventType.SHARED_WRITE };
	private static final int BATCH = 4096;

	/** Without further filters. */
	public AccessFilter(AccessQuery query, long taskId, int cpu, Pattern types) {
		this(query, taskId, cpu, types, null);
	}

	/** All accesses that the store selects. */
	public static AccessFilter of(AccessQuery query) {
		return new AccessFilter(query, ANY, -1, null, null);
	}

	/**
	 * The same, and only what filters let pass.
	 *
	 * @param all all accesses of the trace
	 */
	public AccessFilter with(FilterSet filters, AccessTable all) throws MemtraceException {
		return filters.isActive()
				? new AccessFilter(query, taskId, cpu, types, FilterMask.of(filters, all, all.structures(), Progress.NONE)) : this;
	}

	/** A table without what does not pass; the window and the subtree are those of {@link #query}, for a scan of the table. */
	public AccessTable select(AccessTable table) {
		AccessMask wanted = new AccessMask();
		if (taskId != ANY) {
			List<ThreadInfo> threads = table.threads();
			wanted.keepThreads(threads.size(), t -> (t < 0 ? -1 : threads.get(t).taskId()) == taskId);
		}
		if (cpu >= 0) {
			List<BitSet> sets = table.cpuSets();
			wanted.keepCpuSets(sets.size(), set -> set >= 0 && sets.get(set).get(cpu));
		}
		for (int t = 0; t < TYPES.length; t++) {
			if (types != null && !types.matcher(TYPES[t]).matches()) {
				wanted.removeType(t >= 2, t % 2 == 1);
			}
		}
		AccessTable some = table.filtered(wanted);
		return mask == null ? some : some.filtered(mask);
	}

	/** Index into {@link #TYPES}. */
	public static int type(int sharing, boolean write) {
		return (sharing > 1 ? 2 : 0) + (write ? 1 : 0);
	}

	/** Streams the accesses in order of their start. */
	public void visit(TraceStore store, AccessVisitor visitor, Progress progress) throws MemtraceException {
		boolean[] wanted = new boolean[TYPES.length];
		boolean all = true;
		for (int t = 0; t < wanted.length; t++) {
			wanted[t] = types == null || types.matcher(TYPES[t]).matches();
			all &= wanted[t];
		}
		if (all && cpu < 0 && taskId == ANY && mask == null) {
			store.visitAccesses(query, visitor, progress);
			return;
		}
		List<ThreadInfo> threads = store.threads();
		List<BitSet> cpuSets = store.cpuSets();
		AccessBatch out = new AccessBatch(BATCH);
		byte[][] wantedByMask = new byte[1][0];
		store.visitAccesses(query, in -> {
			if (mask != null) {
				wantedByMask[0] = mask.kept(in, wantedByMask[0]);
			}
			for (int i = 0; i < in.count; i++) {
				long task = in.thread[i] < 0 ? -1 : threads.get(in.thread[i]).taskId();
				int kept = mask == null ? AccessMask.READS | AccessMask.WRITES
						: wantedByMask[0][i];
				long reads = wanted[type(in.sharing[i], false)] && (kept & AccessMask.READS) != 0 ? in.reads[i] : 0;
				long writes = wanted[type(in.sharing[i], true)] && (kept & AccessMask.WRITES) != 0 ? in.writes[i] : 0;
				if (taskId != ANY && taskId != task || reads + writes == 0
						|| cpu >= 0 && (in.cpuSet[i] < 0 || !cpuSets.get(in.cpuSet[i]).get(cpu))) {
					continue;
				}
				if (out.isFull()) {
					visitor.visit(out);
					out.count = 0;
				}
				out.addFrom(in, i);
				out.reads[out.count - 1] = reads;
				out.writes[out.count - 1] = writes;
			}
		}, progress);
		if (out.count > 0) {
			visitor.visit(out);
		}
	}
}
