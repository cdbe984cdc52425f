// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.BitSet;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.model.tree.ProducerTree;

/**
 * What a hierarchy of producers depends on besides the tree.
 *
 * @param inner producers with accesses of their own that have others below them
 * @param kept producers that are in it; null for all
 */
record Leaves(BitSet inner, BitSet kept) {
	Hierarchy hierarchy(ProducerTree tree, int producer) {
		int from = Math.max(0, producer);
		int to = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
		return kept == null ? Hierarchy.of(tree, from, to, inner) : Hierarchy.of(tree, from, to, inner, kept);
	}
}
