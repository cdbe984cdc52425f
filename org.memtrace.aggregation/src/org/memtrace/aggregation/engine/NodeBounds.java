// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** What is known of the blocks of each node for all p. */
final class NodeBounds {
	private final BlockValues values;
	private final BlockTree tree;
	/** Nodes with a child that is not idle. */
	final boolean[] busy;
	/**
	 * For each node with a busy child and (i, j) at j (j + 1) / 2 + i the p above which one block is better than any division of it, in the
	 * form of {@link Deficits}: the loss divided by it and by what any division costs of the gain.
	 */
	final char[][] dividedUpTo;
	/**
	 * For each node the p below which every block of it or of a node in it, other than a cell or one without values, is worse than its cells
	 * by more than what counts as equal; 0 for rows that are kept whole. Best values are 0 then.
	 */
	final float[] cellsUpTo;
	/** Whole intervals: every end slice from the first slice on. */
	final int[] everything;

	NodeBounds(BlockValues values, Progress progress) throws CancelledException {
		this.values = values;
		this.tree = values.tree;
		this.busy = new boolean[tree.size()];
		for (int n = 1; n < tree.size(); n++) {
			busy[tree.parent(n)] |= !values.idle(n);
		}
		this.everything = new int[values.slices];
		this.cellsUpTo = new float[tree.size()];
		this.dividedUpTo = dividedUpTo(progress);
	}

	long memoryBytes() {
		long bytes = 0;
		for (char[] upTo : dividedUpTo) {
			bytes += upTo == null ? 0 : 16 + 2L * upTo.length;
		}
		return bytes;
	}

	/** A division has at most the gains of the children, and no loss. */
	private char[][] dividedUpTo(Progress progress) throws CancelledException {
		char[][] result = new char[tree.size()][];
		int size = values.slices * (values.slices + 1) / 2;
		Parallel.run((tree.size() + 255) / 256, progress, part -> {
			BlockValues.Scratch scratch = values.takeScratch();
			for (int n = 256 * part; n < Math.min(tree.size(), 256 * part + 256); n++) {
				cellsUpTo[n] = tree.isLeaf(n) && !values.qualities.isRow(n) ? 0 : 1;
				if (values.idle(n)) {
					continue;
				}
				progress.check();
				char[] to = busy[n] ? new char[size] : null;
				for (int j = 0; j < values.slices; j++) {
					values.qualities.copyGains(n, j, 0, values.exponent, scratch.block);
					values.losses(n, 1, j, 0, scratch);
					if (cellsUpTo[n] > 0) {
						cellsUpTo[n] = Math.min(cellsUpTo[n], Columns.cellsUpTo(scratch.loss, scratch.block, 8 * (values.tie >> values.indexBits),
								values.qualities.isRow(n) ? j : j + 1));
					}
					if (to != null) {
						values.bounds(n, 1, j, 0, scratch);
						Columns.upTo(to, j * (j + 1) / 2, scratch.loss, scratch.block, scratch.bound, values.indexBits, values.surely, j + 1);
					}
				}
				result[n] = to;
			}
			values.giveScratch(scratch);
		});
		for (int n = tree.size() - 1; n > 0; n--) {
			cellsUpTo[tree.parent(n)] = Math.min(cellsUpTo[tree.parent(n)], cellsUpTo[n]);
		}
		return result;
	}
}
