// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/** The part of memory directly below the event producer that is asked about. */
final class MemoryParts extends OfMemory {
	private final int root;

	MemoryParts() {
		this(0);
	}

	private MemoryParts(int root) {
		super("memory", "Memory", "Parts of memory", Type.TEXT, "The part of memory directly below the selected event producer",
				Set.of(Use.GROUP));
		this.root = root;
	}

	@Override
	public Dimension of(Question question) {
		return new MemoryParts(Math.max(0, question.producer()));
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		int[] part = new int[tree.size()];
		Arrays.fill(part, root);
		for (int child = tree.firstChild(root); child >= 0 && child < tree.subtreeEnd(root); child = tree.nextSibling(child)) {
			Arrays.fill(part, child, tree.subtreeEnd(child), child);
		}
		return new ProducerValues(-1, producer -> part[producer], value -> tree.name((int) value)) {
			@Override
			public int producer(long value) {
				return (int) value;
			}
		};
	}
}
