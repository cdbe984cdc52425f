// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.store.AccessBatch;

/** Stored chunks with the event producers of a tree in whose order they are. */
public final class ChunkSource implements AccessSource {
	private final StoredChunks chunks;
	private final int[] producerOfCell;
	private final Damage damage;
	private final ChunkInfo[] infos;

	/**
	 * @param producerOfCell does not descend
	 * @param damage gets the chunks that cannot be read
	 */
	public ChunkSource(StoredChunks chunks, int[] producerOfCell, Damage damage) {
		this.chunks = chunks;
		this.producerOfCell = producerOfCell;
		this.damage = damage;
		infos = new ChunkInfo[chunks.size()];
		int last = producerOfCell.length - 1;
		for (int c = 0; c < infos.length; c++) {
			ChunkEntry e = chunks.entry(c);
			infos[c] = new ChunkInfo(e.rows(), producerOfCell[Math.clamp(e.cellFrom(), 0, last)],
					producerOfCell[Math.clamp(e.cellTo() - 1L, 0, last)] + 1, e.startNs(), e.endNs(), e.reads(), e.writes(),
					chunks.firstRow(c));
		}
	}

	/**
	 * A source for a tree in another order: all rows are sorted anew into chunks that live as long as {@code scratch}.
	 *
	 * @param producerOfCell of the tree
	 * @param producers number of event producers of it
	 * @param directory for temporary files
	 */
	public static ChunkSource reordered(StoredChunks chunks, int[] producerOfCell, int producers, ScratchBlobs scratch, Path directory,
			String file, Damage damage, Progress progress) throws MemtraceException {
		int[] same = new int[producers];
		for (int p = 0; p < producers; p++) {
			same[p] = p;
		}
		progress.begin("Ordering accesses by this tree", chunks.firstRow(chunks.size()));
		try (RowSorter sorter = new RowSorter(same, producers, directory)) {
			AccessChunk chunk = new AccessChunk();
			ChunkCells cells = new ChunkCells();
			AccessBatch row = new AccessBatch(1);
			for (int c = 0; c < chunks.size(); c++) {
				progress.check();
				try {
					chunks.read(c, EnumSet.allOf(AccessColumn.class), chunk, cells);
					if (chunks.entry(c).cellTo() > producerOfCell.length) {
						throw chunks.damaged(c, "it has a page that is not known");
					}
				} catch (DamagedChunkException e) {
					damage.accept(e);
					continue;
				}
				for (int r = 0; r < chunk.rows; r++) {
					row.count = 0;
					row.add(chunk.startNs(r), chunk.endNs(r), producerOfCell[cells.cell[r]], chunk.thread[r], chunk.cpuSet[r],
							chunk.reads[r], chunk.writes[r], chunk.sharing[r], chunk.node[r], chunk.flags[r], chunk.ip[r],
							chunk.readOffset[r], chunk.writeOffset[r], chunk.firstNs[r]);
					sorter.add(row, 0);
				}
				progress.worked(chunk.rows);
			}
			sorter.finish(progress, scratch);
		}
		return new ChunkSource(new StoredChunks(file, scratch.index(), scratch), same, damage);
	}

	@Override
	public int chunks() {
		return infos.length;
	}

	@Override
	public ChunkInfo info(int chunk) {
		return infos[chunk];
	}

	@Override
	public long rows() {
		return chunks.firstRow(infos.length);
	}

	@Override
	public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
		try {
			chunks.read(chunk, wanted, into, null);
			if (chunks.entry(chunk).cellTo() > producerOfCell.length) {
				into.rows = 0;
				into.leaves = 0;
				throw chunks.damaged(chunk, "it has a page that is not known");
			}
		} catch (DamagedChunkException e) {
			damage.accept(e);
			throw e;
		}
		for (int l = 0; l < into.leaves; l++) {
			into.leaf[l] = producerOfCell[into.leaf[l]];
		}
	}

	@Override
	public Losses losses() {
		return damage.losses();
	}
}
