// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.util.Arrays;

import org.memtrace.importer.rows.PageNumbers;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.Structure;

/**
 * The distinct combinations of page, structure, page frame and NUMA node of an image, numbered in order of appearance. They become
 * the cells of the trace ({@link PageCells}). What is asked together for each row is together in memory.
 */
public final class LeafTable {
	private static final int NIL = -1;

	// of a page, two numbers: first leaf, and the structure that alone covers the page
	private static final int PER_PAGE = 2;
	private static final int SOLE = 1;
	/** The page has several structures, or parts of one. */
	private static final int SEVERAL = -2;

	// of a leaf, six numbers
	private static final int PER_LEAF = 6;
	private static final int PAGE = 0;
	private static final int STRUCTURE = 1;
	private static final int NEXT = 2;
	private static final int NODE = 3;
	private static final int FRAME_LOW = 4;
	private static final int FRAME_HIGH = 5;

	private final PageNumbers pages = new PageNumbers();
	private final int pageShift;
	private StructureIndex.Page[] candidates = new StructureIndex.Page[256];
	private int[] ofPage = new int[256 * PER_PAGE];
	private int[] ofLeaf = new int[256 * PER_LEAF];
	private int size;

	public LeafTable(int pageShift) {
		this.pageShift = pageShift;
	}

	public int size() {
		return size;
	}

	int pageCount() {
		return pages.size();
	}

	/** Number of the page of an address. */
	public int pageOf(long address, StructureIndex structures) {
		int known = pages.size();
		int number = pages.number(address >>> pageShift);
		if (number == known) {
			if (number == candidates.length) {
				candidates = Arrays.copyOf(candidates, number * 2);
				ofPage = Arrays.copyOf(ofPage, number * 2 * PER_PAGE);
			}
			long start = address >>> pageShift << pageShift;
			StructureIndex.Page page = structures.page(start, start + (1L << pageShift));
			int sole = page.sole(start, start + (1L << pageShift) - 1, SEVERAL);
			ofPage[number * PER_PAGE] = NIL;
			ofPage[number * PER_PAGE + SOLE] = sole;
			candidates[number] = sole == SEVERAL ? page : null; // most pages of a large trace need none
		}
		return number;
	}

	/** The structure of an access, or -1. */
	public int structure(int pageNumber, StructureIndex structures, long address, long startNs, long endNs) {
		int sole = ofPage[pageNumber * PER_PAGE + SOLE];
		if (sole == StructureIndex.NONE) {
			return sole;
		}
		if (sole >= 0) {
			Structure s = structures.structure(sole);
			if (s.birthNs() < endNs && s.deathNs() > startNs) {
				return sole;
			}
		}
		if (candidates[pageNumber] == null) {
			long start = address >>> pageShift << pageShift;
			candidates[pageNumber] = structures.page(start, start + (1L << pageShift));
		}
		return StructureIndex.resolve(candidates[pageNumber], address, startNs, endNs);
	}

	/**
	 * Number of the leaf of a page and a structure in a frame.
	 *
	 * @param frameNumber or {@link PageCells#NO_FRAME}
	 * @param numaNode -1 unknown
	 */
	public int leaf(int pageNumber, int structureId, long frameNumber, int numaNode) {
		int leaf = ofPage[pageNumber * PER_PAGE];
		while (leaf != NIL) {
			int at = leaf * PER_LEAF;
			if (ofLeaf[at + STRUCTURE] == structureId && ofLeaf[at + NODE] == numaNode
					&& ofLeaf[at + FRAME_LOW] == (int) frameNumber && ofLeaf[at + FRAME_HIGH] == (int) (frameNumber >> 32)) {
				return leaf;
			}
			leaf = ofLeaf[at + NEXT];
		}
		int at = size * PER_LEAF;
		if (at == ofLeaf.length) {
			ofLeaf = Arrays.copyOf(ofLeaf, size * 2 * PER_LEAF);
		}
		ofLeaf[at + PAGE] = pageNumber;
		ofLeaf[at + STRUCTURE] = structureId;
		ofLeaf[at + NEXT] = ofPage[pageNumber * PER_PAGE];
		ofLeaf[at + NODE] = numaNode;
		ofLeaf[at + FRAME_LOW] = (int) frameNumber;
		ofLeaf[at + FRAME_HIGH] = (int) (frameNumber >> 32);
		ofPage[pageNumber * PER_PAGE] = size;
		return size++;
	}

	/** Number of the page of a leaf. */
	public int page(int leaf) {
		return ofLeaf[leaf * PER_LEAF + PAGE];
	}

	/** Page number in memory: address divided by the page size. */
	public long pageIndex(int leaf) {
		return pages.page(page(leaf));
	}

	/** Structure id or -1. */
	public int structure(int leaf) {
		return ofLeaf[leaf * PER_LEAF + STRUCTURE];
	}

	/** Page frame or {@link PageCells#NO_FRAME}. */
	public long frame(int leaf) {
		return (long) ofLeaf[leaf * PER_LEAF + FRAME_HIGH] << 32 | ofLeaf[leaf * PER_LEAF + FRAME_LOW] & 0xffffffffL;
	}

	/** NUMA node or -1. */
	public int node(int leaf) {
		return ofLeaf[leaf * PER_LEAF + NODE];
	}

	/** Frees what only resolving needs. */
	public void freeCandidates() {
		candidates = new StructureIndex.Page[0];
	}
}
