// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

/**
 * A tree divided into pieces that can be worked on independently: runs of whole sibling subtrees, and the few nodes above
 * them. The division depends on the tree only, so that sums are added in the same order whatever the number of threads.
 */
final class Chunks {
	/** Nodes of chunk c: [from[c], to[c]), whole subtrees with the common parent parent[c] (-1: the whole tree). */
	final int[] from;
	final int[] to;
	final int[] parent;
	/** Nodes above the chunks, in order. */
	final int[] top;

	private Chunks(int[] from, int[] to, int[] parent, int[] top) {
		this.from = from;
		this.to = to;
		this.parent = parent;
		this.top = top;
	}

	static Chunks of(BlockTree tree) {
		int limit = Math.max(32, tree.size() / 48);
		IntList from = new IntList();
		IntList to = new IntList();
		IntList parent = new IntList();
		IntList top = new IntList();
		if (tree.size() <= limit) {
			return new Chunks(new int[] {0}, new int[] {tree.size()}, new int[] {-1}, new int[0]);
		}
		// a node is above the chunks when its subtree is larger than the limit
		int n = 0;
		while (n < tree.size()) {
			if (tree.end(n) - n > limit) {
				top.add(n++);
				continue;
			}
			int p = tree.parent(n);
			int start = n;
			n = tree.end(n);
			while (n < tree.end(p) && tree.end(n) - start <= limit) {
				n = tree.end(n);
			}
			from.add(start);
			to.add(n);
			parent.add(p);
		}
		return new Chunks(from.toArray(), to.toArray(), parent.toArray(), top.toArray());
	}

	int count() {
		return from.length;
	}

	/** Minimal growing list. */
	static final class IntList {
		private int[] a = new int[16];
		private int n;

		void add(int x) {
			if (n == a.length) {
				a = Arrays.copyOf(a, 2 * n);
			}
			a[n++] = x;
		}

		int size() {
			return n;
		}

		int get(int i) {
			return a[i];
		}

		int[] toArray() {
			return Arrays.copyOf(a, n);
		}
	}
}
