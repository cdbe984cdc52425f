// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.memory;

import java.util.List;
import java.util.Map;

/**
 * What the trees of a trace are made from, besides its structures; kept with the trace, so that they can be made again.
 *
 * @param cells parts of pages, as accesses refer to them
 * @param areas memory maps
 * @param images names of the process images that have accesses, by index; empty when there is one, which has no node of its own. In a
 *            trace of a parallel job the names of the levels above stand before it, each followed by {@link #LEVEL}
 * @param pageSizeBytes size of a page
 * @param fanout parts into which a range of pages is divided
 * @param rules merging rules that were applied, in order, as text
 */
public record MemoryLayout(PageCells cells, List<MemoryArea> areas, Map<Integer, String> images, int pageSizeBytes, int fanout,
		List<String> rules) {
	/** Separates the levels in the name of an image. */
	public static final String LEVEL = "\t";

	public MemoryLayout {
		areas = List.copyOf(areas);
		images = Map.copyOf(images);
		rules = List.copyOf(rules);
	}

	/** This layout with other rules for the tree. */
	public MemoryLayout withRules(List<String> newRules) {
		return new MemoryLayout(cells, areas, images, pageSizeBytes, fanout, newRules);
	}
}
