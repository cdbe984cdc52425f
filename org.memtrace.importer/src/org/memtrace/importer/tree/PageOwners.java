// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.tree;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import org.memtrace.importer.rows.PageNumbers;
import org.memtrace.model.memory.Structure;

/**
 * To which structure each access belongs, for accesses that come one by one: the rule of {@link StructureIndex}, which is asked once for a
 * page. What is remembered is bounded. Not safe for several threads.
 */
public final class PageOwners {
	/** Pages that are remembered: 12 MB. */
	private static final int MOST_PAGES = 1 << 20;
	/** Pages with several structures that are remembered. */
	private static final int MOST_MIXED = 1 << 14;
	private static final int MIXED = -2;
	private static final int NOT_ASKED = -3;

	private final StructureIndex index;
	private final int pageShift;
	private PageNumbers pages = new PageNumbers();
	private int[] owner = new int[1024];
	private final Map<Long, StructureIndex.Page> mixed = new HashMap<>();

	/** @param pageShift binary logarithm of the page size */
	public PageOwners(StructureIndex index, int pageShift) {
		this.index = index;
		this.pageShift = pageShift;
		Arrays.fill(owner, NOT_ASKED);
	}

	/**
	 * The structure of an access.
	 *
	 * @param firstNs when the first access was, or {@link org.memtrace.importer.rows.RowBatch#NO_TIME}
	 * @return null when there is none
	 */
	public Structure find(long address, long startNs, long endNs, long firstNs) {
		long page = address >>> pageShift;
		if (pages.size() >= MOST_PAGES) {
			pages = new PageNumbers();
			Arrays.fill(owner, NOT_ASKED);
		}
		int number = pages.number(page);
		if (number >= owner.length) {
			int before = owner.length;
			owner = Arrays.copyOf(owner, before * 2);
			Arrays.fill(owner, before, owner.length, NOT_ASKED);
		}
		if (owner[number] == NOT_ASKED) {
			owner[number] = page(page).sole(page << pageShift, (page + 1 << pageShift) - 1, MIXED);
		}
		int id = owner[number];
		if (id == MIXED) {
			if (mixed.size() >= MOST_MIXED) {
				mixed.clear();
			}
			id = StructureIndex.resolve(mixed.computeIfAbsent(page, this::page), address, startNs, endNs, firstNs);
		}
		return id == StructureIndex.NONE ? null : index.structure(id);
	}

	private StructureIndex.Page page(long page) {
		return index.page(page << pageShift, page + 1 << pageShift);
	}
}
