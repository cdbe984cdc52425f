// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessBatch;

/** Brings rows that came out of order into the order of their start: sorted pieces, then one merge. Stable. */
public final class RowSorter {
	private static final int PIECE_ROWS = 1 << 19;

	private final Path directory;
	private final RowSpill.Budget budget;

	public RowSorter(Path directory, RowSpill.Budget budget) {
		this.directory = directory;
		this.budget = budget;
	}

	private record Source(RowSpill.Cursor cursor, int piece) {
	}

	/** The sorted rows; the unsorted ones are closed. */
	public RowSpill sort(RowSpill unsorted, Progress progress) throws MemtraceException {
		progress.begin("Sorting accesses by time", unsorted.rows());
		List<RowSpill> pieces = new ArrayList<>();
		RowSpill result = new RowSpill(directory, budget);
		boolean ok = false;
		try (unsorted) {
			AccessBatch buffer = new AccessBatch((int) Math.min(PIECE_ROWS, Math.max(1, unsorted.rows())));
			RowSpill.Cursor all = unsorted.read();
			while (all.next()) {
				if (buffer.isFull()) {
					pieces.add(piece(buffer, progress));
				}
				SpilledRow r = all.row;
				buffer.add(r.startNs, r.endNs, r.leaf, r.thread, r.cpuSet, r.reads, r.writes, 1, r.node, r.flags, r.ip,
						r.readOffset, r.writeOffset, r.firstNs);
			}
			pieces.add(piece(buffer, progress));
			PriorityQueue<Source> queue = new PriorityQueue<>(
					Comparator.comparingLong((Source s) -> s.cursor.row.startNs).thenComparingInt(Source::piece));
			for (int i = 0; i < pieces.size(); i++) {
				Source source = new Source(pieces.get(i).read(), i);
				if (source.cursor.next()) {
					queue.add(source);
				}
			}
			for (long n = 1; !queue.isEmpty(); n++) {
				Source source = queue.poll();
				result.add(source.cursor.row);
				if (source.cursor.next()) {
					queue.add(source);
				}
				if (n % 8192 == 0) {
					progress.check();
					progress.worked(8192);
				}
			}
			result.finish();
			ok = true;
			return result;
		} finally {
			pieces.forEach(RowSpill::close);
			if (!ok) {
				result.close();
			}
		}
	}

	private RowSpill piece(AccessBatch buffer, Progress progress) throws MemtraceException {
		progress.check();
		Integer[] order = new Integer[buffer.count];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, Comparator.comparingLong(i -> buffer.startNs[i]));
		RowSpill piece = new RowSpill(directory, budget);
		SpilledRow r = new SpilledRow();
		for (int i : order) {
			r.startNs = buffer.startNs[i];
			r.endNs = buffer.endNs[i];
			r.leaf = buffer.producer[i];
			r.thread = buffer.thread[i];
			r.cpuSet = buffer.cpuSet[i];
			r.reads = buffer.reads[i];
			r.writes = buffer.writes[i];
			r.ip = (int) buffer.ip[i];
			r.node = buffer.node[i];
			r.flags = buffer.flags[i];
			r.readOffset = buffer.readOffset[i];
			r.writeOffset = buffer.writeOffset[i];
			r.firstNs = buffer.firstNs[i];
			piece.add(r);
		}
		piece.finish();
		buffer.count = 0;
		return piece;
	}
}
