// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.rows;

import java.util.Arrays;

/**
 * Gives each page a number, in order of appearance. Looked up once for each row, mostly in memory that is in no cache of the
 * processor: so neighbours share a line of it, and the table that leads there is small.
 */
public final class PageNumbers {
	/** Pages whose entries are together: 64 bytes. */
	private static final int BLOCK_BITS = 4;
	private static final int IN_BLOCK = (1 << BLOCK_BITS) - 1;

	private final LongNumbers blocks = new LongNumbers();
	/** Number + 1 of each page of each block, 0 for none. */
	private int[] entry = new int[1 << 10];
	private long[] page = new long[256];
	private int size;

	public int size() {
		return size;
	}

	/** The page of a number: address divided by the page size. */
	public long page(int number) {
		return page[number];
	}

	/** The number of a page; a new one is {@link #size()} before the call. */
	public int number(long pageIndex) {
		int at = (blocks.number(pageIndex >>> BLOCK_BITS) << BLOCK_BITS) + (int) (pageIndex & IN_BLOCK);
		if (at >= entry.length) {
			entry = Arrays.copyOf(entry, Math.max(at + 1, entry.length * 2));
		}
		if (entry[at] == 0) {
			if (size == page.length) {
				page = Arrays.copyOf(page, size * 2);
			}
			page[size++] = pageIndex;
			entry[at] = size;
		}
		return entry[at] - 1;
	}
}
