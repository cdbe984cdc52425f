// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.importer.rows.PageNumbers;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.Structure;

/**
 * The distinct combinations of page, structure, page frame and NUMA node of an image, numbered in order of appearance. They become
 * the cells of the trace ({@link PageCells}). What is asked together for each row is together in memory.
 */
public final class LeafTable {
	private static final int NIL = -1;

	// of a page, two numbers: the structure that alone covers the page, and its number for sharing
	private static final int PER_PAGE = 2;
	private static final int SOLE = 0;
	private static final int SHARED_AS = 1;
	/** The page has several structures, or parts of one. */
	private static final int SEVERAL = -2;

	// of a leaf, seven numbers
	private static final int PER_LEAF = 7;
	private static final int PAGE = 0;
	private static final int STRUCTURE = 1;
	private static final int NEXT = 2;
	private static final int NODE = 3;
	private static final int FRAME_LOW = 4;
	private static final int FRAME_HIGH = 5;
	private static final int SHARING = 6;

	private final PageNumbers pages = new PageNumbers();
	private final int pageShift;
	private StructureIndex.Page[] candidates = new StructureIndex.Page[256];
	private int[] ofPage = new int[256 * PER_PAGE];
	private int[] ofLeaf = new int[256 * PER_LEAF];
	private int size;
	private int sharingPages;
	/** Leaves by all that tells them apart: the first of each bucket, the others by NEXT. */
	private int[] buckets = filled(256);
	/** Numbers for sharing of the other groups of lives, by page and group. */
	private final Map<Long, Integer> otherLives = new HashMap<>();

	public LeafTable(int pageShift) {
		this.pageShift = pageShift;
	}

	private static int[] filled(int length) {
		int[] all = new int[length];
		Arrays.fill(all, NIL);
		return all;
	}

	private static int hash(int pageNumber, int structureId, int numaNode, int frameLow, int frameHigh) {
		int h = ((((pageNumber * 31 + structureId) * 31 + numaNode) * 31 + frameLow) * 31 + frameHigh) * 0x9e3779b9;
		return h ^ h >>> 15;
	}

	private void grow() {
		buckets = filled(2 * buckets.length);
		for (int leaf = 0; leaf < size; leaf++) {
			int at = leaf * PER_LEAF;
			int bucket = hash(ofLeaf[at + PAGE], ofLeaf[at + STRUCTURE], ofLeaf[at + NODE], ofLeaf[at + FRAME_LOW], ofLeaf[at + FRAME_HIGH])
					& buckets.length - 1;
			ofLeaf[at + NEXT] = buckets[bucket];
			buckets[bucket] = leaf;
		}
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
			ofPage[number * PER_PAGE + SOLE] = sole;
			ofPage[number * PER_PAGE + SHARED_AS] = sharingPages++;
			candidates[number] = sole == SEVERAL ? page : null; // most pages of a large trace need none
		}
		return number;
	}

	/**
	 * The structure of an access, or -1.
	 *
	 * @param firstNs when the first access was, or {@link org.memtrace.importer.rows.RowBatch#NO_TIME}
	 */
	public int structure(int pageNumber, StructureIndex structures, long address, long startNs, long endNs, long firstNs) {
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
		return StructureIndex.resolve(candidates[pageNumber], address, startNs, endNs, firstNs);
	}

	/**
	 * Number of the leaf of a page and a structure in a frame.
	 *
	 * @param frameNumber or {@link PageCells#NO_FRAME}
	 * @param numaNode -1 unknown
	 */
	public int leaf(int pageNumber, int structureId, long frameNumber, int numaNode) {
		int bucket = hash(pageNumber, structureId, numaNode, (int) frameNumber, (int) (frameNumber >> 32));
		int leaf = buckets[bucket & buckets.length - 1];
		while (leaf != NIL) {
			int at = leaf * PER_LEAF;
			if (ofLeaf[at + PAGE] == pageNumber && ofLeaf[at + STRUCTURE] == structureId && ofLeaf[at + NODE] == numaNode
					&& ofLeaf[at + FRAME_LOW] == (int) frameNumber && ofLeaf[at + FRAME_HIGH] == (int) (frameNumber >> 32)) {
				return leaf;
			}
			leaf = ofLeaf[at + NEXT];
		}
		if (size == buckets.length) {
			grow();
		}
		int at = size * PER_LEAF;
		if (at == ofLeaf.length) {
			ofLeaf = Arrays.copyOf(ofLeaf, size * 2 * PER_LEAF);
		}
		ofLeaf[at + PAGE] = pageNumber;
		ofLeaf[at + STRUCTURE] = structureId;
		ofLeaf[at + NEXT] = buckets[bucket & buckets.length - 1];
		ofLeaf[at + NODE] = numaNode;
		ofLeaf[at + FRAME_LOW] = (int) frameNumber;
		ofLeaf[at + FRAME_HIGH] = (int) (frameNumber >> 32);
		ofLeaf[at + SHARING] = sharing(pageNumber, structureId);
		buckets[bucket & buckets.length - 1] = size;
		return size++;
	}

	private int sharing(int pageNumber, int structureId) {
		StructureIndex.Page page = candidates[pageNumber];
		int group = page == null || structureId < 0 ? 0 : page.group(structureId);
		return group == 0 ? ofPage[pageNumber * PER_PAGE + SHARED_AS]
				: otherLives.computeIfAbsent((long) pageNumber << Integer.SIZE | group, key -> sharingPages++);
	}

	/**
	 * Number of the page of a leaf as threads can share it: pages are numbered from 0, and where memory was used again each use of a page
	 * has a number of its own.
	 */
	public int sharingPage(int leaf) {
		return ofLeaf[leaf * PER_LEAF + SHARING];
	}

	/** Number of the page of a leaf. */
	public int page(int leaf) {
		return ofLeaf[leaf * PER_LEAF + PAGE];
	}

	/** Page number of an address, as {@link #pageIndex} tells it. */
	public long pageIndexOf(long address) {
		return address >>> pageShift;
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
