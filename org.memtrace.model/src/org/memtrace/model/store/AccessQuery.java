// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import org.memtrace.model.tree.ProducerTree;

/**
 * Which accesses: those whose interval overlaps {@code [fromNs, toNs)} and whose producer id is in
 * {@code [producerFrom, producerTo)} (a subtree is such a range). Further filters are applied by the visitor.
 *
 * @param fromNs start of the window
 * @param toNs end of the window
 * @param producerFrom first producer id
 * @param producerTo producer id after the last
 */
public record AccessQuery(long fromNs, long toNs, int producerFrom, int producerTo) {
	/** Everything. */
	public static final AccessQuery ALL = new AccessQuery(Long.MIN_VALUE, Long.MAX_VALUE, 0, Integer.MAX_VALUE);

	public AccessQuery window(long from, long to) {
		return new AccessQuery(from, to, producerFrom, producerTo);
	}

	public AccessQuery subtree(ProducerTree tree, int id) {
		return new AccessQuery(fromNs, toNs, id, tree.subtreeEnd(id));
	}
}
