// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.Arrays;

import org.memtrace.model.PageCells;

/**
 * The distinct combinations of page, structure, page frame and NUMA node of an image, numbered in order of appearance. They become
 * the cells of the trace ({@link org.memtrace.model.PageCells}).
 */
final class LeafTable {
	private static final int NIL = -1;

	private final LongNumbers pages = new LongNumbers();
	private final int pageShift;
	private StructureIndex.Page[] candidates = new StructureIndex.Page[256];
	private int[] firstLeaf = new int[256];
	private int[] page = new int[256];
	private int[] structure = new int[256];
	private int[] next = new int[256];
	private long[] frame = new long[256];
	private short[] node = new short[256];
	private int size;

	LeafTable(int pageShift) {
		this.pageShift = pageShift;
	}

	int size() {
		return size;
	}

	int pageCount() {
		return pages.size();
	}

	/** Number of the page of an address. */
	int pageOf(long address, StructureIndex structures) {
		int known = pages.size();
		int number = pages.number(address >>> pageShift);
		if (number == known) {
			if (number == firstLeaf.length) {
				firstLeaf = Arrays.copyOf(firstLeaf, number * 2);
				candidates = Arrays.copyOf(candidates, number * 2);
			}
			firstLeaf[number] = NIL;
			long start = address >>> pageShift << pageShift;
			candidates[number] = structures.page(start, start + (1L << pageShift));
		}
		return number;
	}

	StructureIndex.Page candidates(int pageNumber) {
		return candidates[pageNumber];
	}

	/** Number of the leaf of a page and a structure, where no frame is known. */
	int leaf(int pageNumber, int structureId) {
		return leaf(pageNumber, structureId, PageCells.NO_FRAME, -1);
	}

	/**
	 * Number of the leaf of a page and a structure in a frame.
	 *
	 * @param frameNumber or {@link PageCells#NO_FRAME}
	 * @param numaNode -1 unknown, below 2^15
	 */
	int leaf(int pageNumber, int structureId, long frameNumber, int numaNode) {
		int leaf = firstLeaf[pageNumber];
		while (leaf != NIL
				&& (structure[leaf] != structureId || frame[leaf] != frameNumber || node[leaf] != numaNode)) {
			leaf = next[leaf];
		}
		if (leaf != NIL) {
			return leaf;
		}
		if (size == page.length) {
			page = Arrays.copyOf(page, size * 2);
			structure = Arrays.copyOf(structure, size * 2);
			next = Arrays.copyOf(next, size * 2);
			frame = Arrays.copyOf(frame, size * 2);
			node = Arrays.copyOf(node, size * 2);
		}
		frame[size] = frameNumber;
		node[size] = (short) numaNode;
		page[size] = pageNumber;
		structure[size] = structureId;
		next[size] = firstLeaf[pageNumber];
		firstLeaf[pageNumber] = size;
		return size++;
	}

	/** Number of the page of a leaf. */
	int page(int leaf) {
		return page[leaf];
	}

	/** Page number in memory: address divided by the page size. */
	long pageIndex(int leaf) {
		return pages.value(page[leaf]);
	}

	/** Structure id or -1. */
	int structure(int leaf) {
		return structure[leaf];
	}

	/** Page frame or {@link PageCells#NO_FRAME}. */
	long frame(int leaf) {
		return frame[leaf];
	}

	/** NUMA node or -1. */
	int node(int leaf) {
		return node[leaf];
	}

	/** Frees what only resolving needs. */
	void freeCandidates() {
		candidates = new StructureIndex.Page[0];
	}
}
