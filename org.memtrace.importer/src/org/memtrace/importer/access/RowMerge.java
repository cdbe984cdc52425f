// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.Pipeline;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.rows.SpilledRow;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.AccessBatch;

/** The second pass: the rows of all images in order of their start, with their cell and their sharing. */
final class RowMerge {
	private final LongNumbers addresses;
	private final ImportCounts counts;
	private final Pipeline<AccessBatch> out;
	private AccessBatch batch;

	RowMerge(LongNumbers addresses, ImportCounts counts, Pipeline<AccessBatch> out) throws InterruptedException {
		this.addresses = addresses;
		this.counts = counts;
		this.out = out;
		batch = out.exchange(null);
	}

	private static final class Source {
		final ImageData image;
		final RowSpill.Cursor rows;
		int number;

		Source(ImageData image) {
			this.image = image;
			rows = image.rows().read();
		}
	}

	void run(List<ImageData> images) throws MemtraceException, InterruptedException {
		PriorityQueue<Source> queue = new PriorityQueue<>(
				Comparator.comparingLong((Source s) -> s.rows.row.startNs).thenComparingInt(s -> s.image.index()));
		for (ImageData image : images) {
			Source source = new Source(image);
			if (source.rows.next()) {
				queue.add(source);
			}
		}
		while (!queue.isEmpty()) {
			Source source = queue.poll();
			long limitNs = queue.isEmpty() ? Long.MAX_VALUE : queue.peek().rows.row.startNs;
			int[] cellOfLeaf = source.image.cellOfLeaf();
			boolean more;
			do {
				add(source.rows.row, cellOfLeaf, source.image.sharing(source.number++, source.rows.row));
				more = source.rows.next();
			} while (more && source.rows.row.startNs < limitNs);
			if (more) {
				queue.add(source);
			}
		}
		out.exchange(batch);
	}

	private void add(SpilledRow r, int[] cellOfLeaf, int sharing) throws InterruptedException {
		if (batch.isFull()) {
			batch = out.exchange(batch);
		}
		if ((r.flags & RowBatch.SHARED_FLAGS) != 0) {
			boolean shared = (r.flags & RowBatch.FLAG_SHARED_MANY) != 0
					|| counts.sharedIsFlag && (r.flags & RowBatch.FLAG_SHARED_ONE) != 0;
			counts.sharedDiffers += shared != sharing > 1 ? 1 : 0;
		}
		batch.add(r.startNs, r.endNs, cellOfLeaf[r.leaf], r.thread, r.cpuSet, r.reads, r.writes, sharing, r.node,
				r.flags & ~RowBatch.SHARED_FLAGS, r.ip == 0 ? 0 : addresses.value(r.ip - 1), r.readOffset, r.writeOffset,
				r.firstNs);
	}
}
