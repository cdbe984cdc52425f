// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.model.tree.ProducerTree;

/**
 * The structure that each leaf is part of. Where a trace has so many blocks that the tree has one producer for several of them, a leaf
 * has none of its own: then it is one of those blocks that are in it, if all are of one group. What is in it the cells tell.
 */
public final class LeafStructures {
	/** Not yet, and blocks of several groups. */
	private static final int NONE = -1;
	private static final int SEVERAL = -2;

	private LeafStructures() {
	}

	/**
	 * By producer; -1 for those that are no leaf, of no structure, or of several groups.
	 *
	 * @param structureOfCell structure of each cell, or -1
	 * @param leafOfCell producer of each cell; may have more cells
	 * @param groupOf group of each structure
	 */
	public static int[] of(ProducerTree tree, int[] structureOfCell, int[] leafOfCell, int[] groupOf) {
		int[] of = new int[tree.size()];
		Arrays.setAll(of, p -> tree.isLeaf(p) ? tree.structure(p) : NONE);
		for (int cell = 0; cell < structureOfCell.length; cell++) {
			int structure = structureOfCell[cell];
			int leaf = leafOfCell[cell];
			if (structure >= 0 && leaf >= 0 && tree.structure(leaf) < 0 && tree.isLeaf(leaf)) {
				of[leaf] = of[leaf] == NONE ? structure : of[leaf] == SEVERAL || groupOf[of[leaf]] != groupOf[structure] ? SEVERAL : of[leaf];
			}
		}
		Arrays.setAll(of, p -> Math.max(NONE, of[p]));
		return of;
	}

	/**
	 * Of the leaves that stand for several blocks of one group, or for another one than {@code structureOf} says: these blocks, ascending.
	 *
	 * @param structureOf what {@link #of} says
	 */
	static Map<Integer, int[]> blocks(ProducerTree tree, int[] structureOfCell, int[] leafOfCell, int[] structureOf) {
		int[] count = new int[tree.size()];
		BitSet several = new BitSet();
		for (int cell = 0; cell < structureOfCell.length; cell++) {
			int leaf = leafOfCell[cell];
			if (structureOfCell[cell] >= 0 && leaf >= 0 && structureOf[leaf] >= 0) {
				count[leaf]++;
				several.set(leaf, several.get(leaf) || structureOfCell[cell] != structureOf[leaf]);
			}
		}
		Map<Integer, int[]> blocks = new HashMap<>();
		for (int cell = 0; cell < structureOfCell.length; cell++) {
			int leaf = leafOfCell[cell];
			if (structureOfCell[cell] >= 0 && leaf >= 0 && several.get(leaf)) {
				blocks.computeIfAbsent(leaf, l -> new int[count[l]])[--count[leaf]] = structureOfCell[cell];
			}
		}
		// a page that was in several page frames has a cell of the block for each
		blocks.replaceAll((leaf, some) -> Arrays.stream(some).sorted().distinct().toArray());
		return blocks;
	}
}
