// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.tree;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.model.memory.PageCells;

/** The order of cells, and the frames that they were in. */
final class CellArrays {
	private CellArrays() {
	}

	/**
	 * The frame of each cell: its own, else that of the page, if the page was in one frame only whenever it was looked at.
	 */
	static long[] frames(PageCells cells) {
		long[] frame = cells.frame().clone();
		Map<Long, Long> only = new HashMap<>(); // of a page; NO_FRAME if there are several
		int[] order = identity(frame.length);
		for (int image : IntStream.of(cells.image()).distinct().toArray()) {
			only.clear();
			for (int cell : order) {
				if (cells.image()[cell] == image && frame[cell] != PageCells.NO_FRAME) {
					only.merge(cells.address()[cell], frame[cell],
							(a, b) -> a.longValue() == b.longValue() ? a : Long.valueOf(PageCells.NO_FRAME));
				}
			}
			for (int cell : order) {
				if (cells.image()[cell] == image && frame[cell] == PageCells.NO_FRAME) {
					frame[cell] = only.getOrDefault(cells.address()[cell], PageCells.NO_FRAME);
				}
			}
		}
		return frame;
	}

	static int[] identity(int n) {
		int[] identity = new int[n];
		for (int i = 0; i < n; i++) {
			identity[i] = i;
		}
		return identity;
	}

	/** Stable. */
	static int[] countingSort(int[] items, int[] key, int keys) {
		int[] position = new int[keys + 1];
		for (int item : items) {
			position[key[item] + 1]++;
		}
		for (int k = 0; k < keys; k++) {
			position[k + 1] += position[k];
		}
		int[] result = new int[items.length];
		for (int item : items) {
			result[position[key[item]]++] = item;
		}
		return result;
	}
}
