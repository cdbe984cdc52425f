// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.access;

import java.util.List;

import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.tree.LeafTable;
import org.memtrace.importer.tree.MemoryTreeBuilder;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.tree.MemoryTrees;

/**
 * The trees of a new trace and its cells, which are numbered in the order of the virtual tree, so that rows of neighbours in memory are
 * neighbours in the database, and a part of the tree is a range of cells.
 */
record CellOrder(MemoryLayout layout, MemoryTrees trees) {
	/**
	 * @param images get the cells of their leaves
	 * @param template everything but the cells
	 */
	static CellOrder of(List<ImageData> images, MemoryLayout template, ContextTables context, Progress progress)
			throws MemtraceException {
		int count = images.stream().mapToInt(image -> image.leaves().size()).sum();
		PageCells found = PageCells.of(count);
		int pageShift = Integer.numberOfTrailingZeros(template.pageSizeBytes());
		int cell = 0;
		for (ImageData image : images) {
			LeafTable leaves = image.leaves();
			for (int leaf = 0; leaf < leaves.size(); leaf++) {
				found.set(cell++, image.index(), leaves.pageIndex(leaf) << pageShift, leaves.structure(leaf), leaves.frame(leaf),
						leaves.node(leaf));
			}
		}
		MemoryTrees trees = MemoryTreeBuilder.build(with(template, found), context.structures(), context.stacks()::get, progress);
		// counting sort by producer
		int[] position = new int[trees.virtual().size() + 1];
		for (int producer : trees.virtualLeaf()) {
			position[producer + 1]++;
		}
		for (int i = 1; i < position.length; i++) {
			position[i] += position[i - 1];
		}
		PageCells cells = PageCells.of(count);
		int[] virtual = new int[count];
		int[] physical = trees.physical() == null ? null : new int[count];
		int old = 0;
		for (ImageData image : images) {
			int[] cellOfLeaf = new int[image.leaves().size()];
			for (int leaf = 0; leaf < cellOfLeaf.length; leaf++, old++) {
				int now = position[trees.virtualLeaf()[old]]++;
				cellOfLeaf[leaf] = now;
				cells.set(now, found.image()[old], found.address()[old], found.structure()[old], found.frame()[old],
						found.node()[old]);
				virtual[now] = trees.virtualLeaf()[old];
				if (physical != null) {
					physical[now] = trees.physicalLeaf()[old];
				}
			}
			image.cellOfLeaf(cellOfLeaf);
		}
		return new CellOrder(with(template, cells), new MemoryTrees(trees.virtual(), virtual, trees.physical(), physical));
	}

	private static MemoryLayout with(MemoryLayout template, PageCells cells) {
		return new MemoryLayout(cells, template.areas(), template.images(), template.pageSizeBytes(), template.fanout(),
				template.rules());
	}
}
