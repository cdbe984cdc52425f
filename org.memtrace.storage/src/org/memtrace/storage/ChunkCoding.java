// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage;

import java.nio.file.Path;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessCoding;
import org.memtrace.storage.chunks.CodedChunk;
import org.memtrace.storage.chunks.RowSorter;
import org.memtrace.storage.rows.WriterRules;

/** Codes chunks that are added to a database later. */
final class ChunkCoding implements AccessCoding {
	@Override
	public int[] borders(int[] accesses) {
		return RowSorter.borders(accesses);
	}

	@Override
	public Coder coder(int[] leafOfCell, int leaves, Path scratch) {
		RowSorter sorter = new RowSorter(leafOfCell, leaves, scratch);
		return new Coder() {
			private long counted;
			private long longestNs;
			private boolean withUnknownThread;

			@Override
			public void accesses(AccessBatch batch) throws MemtraceException {
				for (int i = 0; i < batch.count; i++) {
					counted = WriterRules.check(batch, i, leafOfCell.length, Integer.MAX_VALUE, counted);
					longestNs = Math.max(longestNs, batch.endNs[i] - batch.startNs[i]);
					withUnknownThread |= batch.thread[i] == AccessBatch.NO_THREAD;
					sorter.add(batch, i);
				}
			}

			@Override
			public void finish(Sink sink, Progress progress) throws MemtraceException {
				if (sorter.rows() > 0) {
					sorter.finish(progress, (number, entry, data) -> sink
							.coded(new CodedChunk(entry, data, longestNs, withUnknownThread).bytes()));
				}
			}

			@Override
			public void close() {
				sorter.close();
			}
		};
	}
}
