// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.tree;

/**
 * The hierarchy of event producers. Ids are dense, {@code 0 .. size()-1}, in depth-first order: a parent comes before its
 * children, and the subtree of {@code id} is the range {@code [id, subtreeEnd(id))}. Siblings are in display order
 * (by address in memory traces). Immutable and safe for all threads.
 */
public interface ProducerTree {
	/** Parent of a root. */
	int NO_PARENT = -1;

	/** Number of producers. */
	int size();

	/** Parent of a producer, {@link #NO_PARENT} for a root. */
	int parent(int id);

	/** End of the id range of the subtree that begins with {@code id}. */
	int subtreeEnd(int id);

	ProducerKind kind(int id);

	/** First address, unsigned; 0 when the producer is not a piece of memory. */
	long startAddress(int id);

	/** Address after the last byte, unsigned; 0 when the producer is not a piece of memory. */
	long endAddress(int id);

	/** Id of the {@link org.memtrace.model.memory.Structure} that the producer is or is a part of, -1 if none. */
	int structure(int id);

	/** What a person reads, unique in the trace, such as {@code key_array [pages 0-1023]}. May be computed on demand. */
	String name(int id);

	/** Whether the producer has no children. */
	default boolean isLeaf(int id) {
		return subtreeEnd(id) == id + 1;
	}

	/** First child, or -1. */
	default int firstChild(int id) {
		return isLeaf(id) ? -1 : id + 1;
	}

	/** Next sibling (or next root), or -1. */
	default int nextSibling(int id) {
		int next = subtreeEnd(id);
		int parent = parent(id);
		int end = parent == NO_PARENT ? size() : subtreeEnd(parent);
		return next < end ? next : -1;
	}

	/** Distance to the root, 0 for a root. */
	default int level(int id) {
		int level = 0;
		for (int p = parent(id); p != NO_PARENT; p = parent(p)) {
			level++;
		}
		return level;
	}
}
