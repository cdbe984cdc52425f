// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.List;

import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.Pipeline;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.AccessBatch;

/** The second pass: rows of one image after the other, each in order of its start, with their cell and their sharing. */
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

	void run(List<ImageData> images) throws MemtraceException, InterruptedException {
		for (ImageData image : images) {
			RowSpill.Cursor rows = image.rows().read();
			for (int number = 0; rows.next(); number++) {
				add(rows.row, image.cellOfLeaf(), image.sharing().sharing(number));
			}
		}
		out.exchange(batch);
	}

	private void add(RowSpill.Row r, int[] cellOfLeaf, int sharing) throws InterruptedException {
		if (batch.isFull()) {
			batch = out.exchange(batch);
		}
		if ((r.flags & RowBatch.SHARED_FLAGS) != 0) {
			boolean shared = (r.flags & RowBatch.FLAG_SHARED_MANY) != 0
					|| counts.sharedIsFlag && (r.flags & RowBatch.FLAG_SHARED_ONE) != 0;
			counts.sharedDiffers += shared != sharing > 1 ? 1 : 0;
		}
		batch.add(r.startNs, r.endNs, cellOfLeaf[r.leaf], r.thread, r.cpuSet, r.reads, r.writes, sharing, r.node,
				r.flags & ~RowBatch.SHARED_FLAGS, r.ip == 0 ? 0 : addresses.value(r.ip - 1), r.readOffset, r.writeOffset);
	}
}
