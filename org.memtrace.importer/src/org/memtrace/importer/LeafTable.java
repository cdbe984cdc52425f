// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.util.Arrays;

/** The distinct (page, structure) pairs of an image, numbered in order of appearance. They become leaves of the tree. */
final class LeafTable {
	private static final int NIL = -1;

	private final LongNumbers pages = new LongNumbers();
	private final int pageShift;
	private StructureIndex.Page[] candidates = new StructureIndex.Page[256];
	private int[] firstLeaf = new int[256];
	private int[] page = new int[256];
	private int[] structure = new int[256];
	private int[] next = new int[256];
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

	/** Number of the leaf of a page and a structure. */
	int leaf(int pageNumber, int structureId) {
		int leaf = firstLeaf[pageNumber];
		while (leaf != NIL && structure[leaf] != structureId) {
			leaf = next[leaf];
		}
		if (leaf != NIL) {
			return leaf;
		}
		if (size == page.length) {
			page = Arrays.copyOf(page, size * 2);
			structure = Arrays.copyOf(structure, size * 2);
			next = Arrays.copyOf(next, size * 2);
		}
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

	/** Frees what only resolving needs. */
	void freeCandidates() {
		candidates = new StructureIndex.Page[0];
	}
}
