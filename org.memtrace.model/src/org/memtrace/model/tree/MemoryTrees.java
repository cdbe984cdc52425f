// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.tree;

import org.memtrace.model.memory.AddressSpace;

/**
 * The trees of a trace and where its cells are in them. The arrays must not be changed.
 *
 * @param virtual the tree of structures
 * @param virtualLeaf event producer of each cell
 * @param physical the tree of page frames, null when too little is known of them
 * @param physicalLeaf event producer of each cell in it, null when there is none
 */
public record MemoryTrees(ProducerTree virtual, int[] virtualLeaf, ProducerTree physical, int[] physicalLeaf) {
	/** A tree without cells: accesses refer to its producers. */
	public static MemoryTrees of(ProducerTree tree) {
		int[] same = new int[tree.size()];
		for (int i = 0; i < same.length; i++) {
			same[i] = i;
		}
		return new MemoryTrees(tree, same, null, null);
	}

	/** A tree, or null. */
	public ProducerTree tree(AddressSpace space) {
		return space == AddressSpace.VIRTUAL ? virtual : physical;
	}

	/** The producers of the cells in a tree, or null. */
	public int[] leaf(AddressSpace space) {
		return space == AddressSpace.VIRTUAL ? virtualLeaf : physicalLeaf;
	}
}
