// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/** Single pages, or the part of one that belongs to a structure: leaves of the tree, in the order of memory. */
final class Pages extends OfMemory {
	Pages() {
		super("page", "Page", "Pages", Type.TEXT, "The page, or the part of a page that belongs to one structure", Use.UNCOLOURED);
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		return new ProducerValues(tree.size(), producer -> producer, value -> tree.name((int) value)) {
			@Override
			public int producer(long value) {
				return (int) value;
			}
		};
	}
}
