// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.Pipeline;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowSpill;
import org.memtrace.importer.sharing.SharingSweep;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.AccessBatch;

/**
 * The second pass: rows of all images in order of their start, with their cell and their sharing. Rows with the same
 * start are ordered by end and cell, so that neighbours in the database are neighbours in memory.
 */
final class RowMerge {
	private static final int GROUP = 1 << 16;
	private static final int INDEX_BITS = 16;
	private static final int PRODUCER_BITS = 31;

	private record Source(int image, RowSpill.Cursor cursor, SharingSweep sharing, int[] cellOfLeaf, int[] number) {
	}

	private final LongNumbers addresses;
	private final ImportCounts counts;
	private final Pipeline<AccessBatch> out;
	private AccessBatch batch;
	private final AccessBatch group = new AccessBatch(GROUP);
	private final long[] keys = new long[GROUP];
	private final long[] ends = new long[1 << 12];

	RowMerge(LongNumbers addresses, ImportCounts counts, Pipeline<AccessBatch> out) throws InterruptedException {
		this.addresses = addresses;
		this.counts = counts;
		this.out = out;
		batch = out.exchange(null);
	}

	void run(List<ImageData> images) throws MemtraceException, InterruptedException {
		PriorityQueue<Source> queue = new PriorityQueue<>(
				Comparator.comparingLong((Source s) -> s.cursor.row.startNs).thenComparingInt(Source::image));
		for (ImageData image : images) {
			Source source = new Source(image.index(), image.rows().read(), image.sharing(), image.cellOfLeaf(),
					new int[1]);
			if (source.cursor.next()) {
				queue.add(source);
			}
		}
		while (!queue.isEmpty()) {
			Source source = queue.poll();
			Source other = queue.peek();
			do { // as long as no other image is earlier
				add(source);
				if (!source.cursor.next()) {
					source = null;
				}
			} while (source != null && (other == null || source.cursor.row.startNs < other.cursor.row.startNs));
			if (source != null) {
				queue.add(source);
			}
		}
		flush();
		out.exchange(batch);
	}

	private void add(Source source) throws InterruptedException {
		RowSpill.Row r = source.cursor.row;
		if (group.isFull() || group.count > 0 && group.startNs[0] != r.startNs) {
			flush();
		}
		int sharing = source.sharing.sharing(source.number[0]++);
		if ((r.flags & RowBatch.SHARED_FLAGS) != 0) {
			boolean shared = (r.flags & RowBatch.FLAG_SHARED_MANY) != 0
					|| counts.sharedIsFlag && (r.flags & RowBatch.FLAG_SHARED_ONE) != 0;
			counts.sharedDiffers += shared != sharing > 1 ? 1 : 0;
		}
		group.add(r.startNs, r.endNs, source.cellOfLeaf[r.leaf], r.thread, r.cpuSet, r.reads, r.writes, sharing,
				r.node, r.flags & ~RowBatch.SHARED_FLAGS, r.ip == 0 ? 0 : addresses.value(r.ip - 1));
	}

	private void flush() throws InterruptedException {
		int n = group.count;
		int distinct = distinctEnds(n);
		for (int i = 0; i < n; i++) {
			long rank = distinct == 1 ? 0 : Math.max(0, Arrays.binarySearch(ends, 0, distinct, group.endNs[i]));
			keys[i] = (rank << PRODUCER_BITS | group.producer[i]) << INDEX_BITS | i;
		}
		Arrays.sort(keys, 0, n);
		for (int k = 0; k < n; k++) {
			if (batch.isFull()) {
				batch = out.exchange(batch);
			}
			batch.addFrom(group, (int) (keys[k] & (1 << INDEX_BITS) - 1));
		}
		group.count = 0;
	}

	/** Sorts the distinct ends of the group into {@link #ends}; ends that do not fit are not ordered, which costs only speed. */
	private int distinctEnds(int n) {
		int distinct = 0;
		long previous = 0;
		for (int i = 0; i < n && distinct < ends.length; i++) {
			long end = group.endNs[i];
			if (distinct > 0 && end == previous) {
				continue;
			}
			previous = end;
			int at = Arrays.binarySearch(ends, 0, distinct, end);
			if (at < 0) {
				System.arraycopy(ends, -at - 1, ends, -at, distinct++ + at + 1);
				ends[-at - 1] = end;
			}
		}
		return distinct;
	}
}
