// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.memory;

/**
 * What the leaves of every tree are made of, as columns: cell {@code i} is the part of a page that belongs to a structure while the
 * page is in one page frame. Accesses are stored by cell, so that trees can be made and changed without touching them. The arrays
 * must not be changed.
 *
 * @param image process image
 * @param address first address of the page
 * @param structure {@link Structure#id}, or -1
 * @param frame number of the page frame (physical address divided by the page size), or {@link #NO_FRAME}
 * @param node NUMA node of the page, -1 unknown
 */
public record PageCells(int[] image, long[] address, int[] structure, long[] frame, int[] node) {
	/** The physical address is not known. */
	public static final long NO_FRAME = -1;

	/** No cells. */
	public static final PageCells NONE = of(0);

	/** Columns to be filled in. */
	public static PageCells of(int count) {
		return new PageCells(new int[count], new long[count], new int[count], new long[count], new int[count]);
	}

	public int count() {
		return image.length;
	}

	/** Sets one cell of new columns. */
	public void set(int i, int imageIndex, long pageAddress, int structureId, long frameNumber, int numaNode) {
		image[i] = imageIndex;
		address[i] = pageAddress;
		structure[i] = structureId;
		frame[i] = frameNumber;
		node[i] = numaNode;
	}
}
