// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.filter;

import java.util.Arrays;

import org.memtrace.aggregation.AccessMask;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.AccessVisitor;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;

/**
 * Which accesses of a trace: by window and subtree, which the store selects, and by filters, which are asked row by row. Of an access whose
 * reads or writes alone are wanted the other count is given as 0.
 *
 * @param query window and subtree
 * @param mask of filters, see {@link #with}; null for none
 */
public record AccessFilter(AccessQuery query, AccessMask mask) {
	/** Event types of an access by sharing and direction. */
	public static final String[] TYPES = { EventType.PRIVATE_READ, EventType.PRIVATE_WRITE, EventType.SHARED_READ,
			EventType.SHARED_WRITE, EventType.NOT_KNOWN_READ, EventType.NOT_KNOWN_WRITE };
	private static final String[] KNOWN = Arrays.copyOf(TYPES, 4);
	private static final int BATCH = 4096;

	/** All accesses that the store selects. */
	public static AccessFilter of(AccessQuery query) {
		return new AccessFilter(query, null);
	}

	/**
	 * This filter, and only what other filters let pass.
	 *
	 * @param all all accesses of the trace
	 */
	public AccessFilter with(FilterSet filters, AccessTable all) throws MemtraceException {
		return filters.isActive() ? new AccessFilter(query, FilterMask.of(filters, all, all.structures(), Progress.NONE)) : this;
	}

	/** A table without what does not pass; the window and the subtree are those of {@link #query}, for a scan of the table. */
	public AccessTable select(AccessTable table) {
		return mask == null ? table : table.filtered(mask);
	}

	/** Those of {@link #TYPES} that accesses of a trace may have: the first ones. */
	public static String[] types(TraceInfo info) {
		return info.isSharingKnown() ? KNOWN : TYPES;
	}

	/** Index into {@link #TYPES}. */
	public static int type(int sharing, boolean write) {
		return (sharing > 1 ? 2 : sharing == AccessBatch.SHARING_NOT_KNOWN ? 4 : 0) + (write ? 1 : 0);
	}

	/** Streams the accesses in order of their start. */
	public void visit(TraceStore store, AccessVisitor visitor, Progress progress) throws MemtraceException {
		if (mask == null) {
			store.visitAccesses(query, visitor, progress);
			return;
		}
		AccessBatch out = new AccessBatch(BATCH);
		byte[][] wanted = new byte[1][0];
		AccessVisitor passing = in -> {
			byte[] kept = mask.kept(in, wanted[0]);
			wanted[0] = kept;
			for (int i = 0; i < in.count; i++) {
				long reads = (kept[i] & AccessMask.READS) != 0 ? in.reads[i] : 0;
				long writes = (kept[i] & AccessMask.WRITES) != 0 ? in.writes[i] : 0;
				if ((reads | writes) == 0) {
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
			if (visitor.early() && out.count > 0) {
				visitor.visit(out);
				out.count = 0;
			}
		};
		store.visitAccesses(query, visitor.early() ? AccessVisitor.early(passing) : passing, progress);
		if (out.count > 0) {
			visitor.visit(out);
		}
	}
}
