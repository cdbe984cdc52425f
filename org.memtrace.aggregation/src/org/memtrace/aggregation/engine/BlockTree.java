// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

import org.memtrace.aggregation.model.Hierarchy;

/**
 * The tree whose nodes can become blocks: the hierarchy itself, or, below a resolution limit, a coarser tree in which small
 * subtrees and runs of small siblings are leaves. Numbered like {@link Hierarchy}: depth-first, root 0.
 * <p>
 * With a limit of m rows, a subtree with fewer than m rows is a leaf of this tree. Neighbouring siblings that are that small
 * are put together, from the first to the last, until a group has at least m rows; such a group is a leaf with the
 * {@link #node} of the parent but only a part of its rows. What is lost inside of these leaves is part of the loss of every
 * partition.
 */
public final class BlockTree {
	private final Hierarchy hierarchy;
	private final boolean limited;
	private final int[] parent;
	private final int[] end;
	private final int[] node;
	private final int[] leafFrom;
	private final int[] leafTo;

	private BlockTree(Hierarchy hierarchy, boolean limited, int[] parent, int[] end, int[] node, int[] leafFrom,
			int[] leafTo) {
		this.hierarchy = hierarchy;
		this.limited = limited;
		this.parent = parent;
		this.end = end;
		this.node = node;
		this.leafFrom = leafFrom;
		this.leafTo = leafTo;
	}

	/** What is compared with the limit: a measure of a range of leaves that is additive, such as a height in a picture. */
	@FunctionalInterface
	public interface Measure {
		double of(int leafFrom, int leafTo);
	}

	/**
	 * The coarser tree of a hierarchy.
	 *
	 * @param minRows smallest number of rows below which nothing is divided; 0 or 1 for no limit
	 */
	public static BlockTree of(Hierarchy hierarchy, int minRows) {
		return of(hierarchy, hierarchy::weight, minRows, minRows > 1);
	}

	/**
	 * The coarser tree for a picture whose rows need not be equally high.
	 *
	 * @param height height of a range of leaves
	 * @param minHeight smallest height below which nothing is divided
	 */
	public static BlockTree of(Hierarchy hierarchy, Measure height, double minHeight) {
		return of(hierarchy, height, minHeight, minHeight > 0);
	}

	private static BlockTree of(Hierarchy hierarchy, Measure measure, double min, boolean limited) {
		return new Builder(hierarchy, measure, min, limited).build();
	}

	/** A tree while it grows, from the root: nodes are added in the order of a walk, with a stack instead of recursion. */
	private static final class Builder {
		private final Hierarchy hierarchy;
		private final Measure measure;
		private final double min;
		private final boolean limited;
		private int[] parent = new int[1024];
		private int[] node = new int[1024];
		private int[] leafFrom = new int[1024];
		private int[] leafTo = new int[1024];
		private int count;
		/** What is still to be added, last first: (node of the hierarchy that it is or is a group of, first leaf, end, parent here). */
		private int[] stack = new int[256];
		private int depth;
		/** Children of the node that was added last, as (node, from, to); a group of small ones has their parent as its node. */
		private int[] children = new int[64];
		private int parts;

		Builder(Hierarchy hierarchy, Measure measure, double min, boolean limited) {
			this.hierarchy = hierarchy;
			this.measure = measure;
			this.min = min;
			this.limited = limited;
		}

		BlockTree build() {
			push(0, 0, hierarchy.leafCount(), -1);
			while (depth > 0) {
				depth -= 4;
				int n = stack[depth];
				int from = stack[depth + 1];
				int to = stack[depth + 2];
				int self = add(n, from, to, stack[depth + 3]);
				if (isWhole(n, from, to)) {
					continue;
				}
				divide(n);
				if (parts == 1 && children[0] == n) {
					continue; // everything is one group: the node itself
				}
				for (int i = parts - 1; i >= 0; i--) {
					push(children[3 * i], children[3 * i + 1], children[3 * i + 2], self);
				}
			}
			return new BlockTree(hierarchy, limited || hierarchy.isGrouped(), Arrays.copyOf(parent, count), ends(), Arrays.copyOf(node, count),
					Arrays.copyOf(leafFrom, count), Arrays.copyOf(leafTo, count));
		}

		private void push(int n, int from, int to, int above) {
			if (depth == stack.length) {
				stack = Arrays.copyOf(stack, 2 * depth);
			}
			stack[depth++] = n;
			stack[depth++] = from;
			stack[depth++] = to;
			stack[depth++] = above;
		}

		private int add(int n, int from, int to, int above) {
			if (count == parent.length) {
				parent = Arrays.copyOf(parent, 2 * count);
				node = Arrays.copyOf(node, 2 * count);
				leafFrom = Arrays.copyOf(leafFrom, 2 * count);
				leafTo = Arrays.copyOf(leafTo, 2 * count);
			}
			parent[count] = above;
			node[count] = n;
			leafFrom[count] = from;
			leafTo[count] = to;
			return count++;
		}

		/** Whether it is not divided: a group, a leaf, what is too small, or what is in one group of the hierarchy. */
		private boolean isWhole(int n, int from, int to) {
			boolean group = from != hierarchy.leafFrom(n) || to != hierarchy.leafTo(n);
			return group || hierarchy.isLeaf(n) || limited && measure.of(from, to) < min
					|| hierarchy.isGrouped() && to - from > 1 && hierarchy.groupEnd(from) >= to;
		}

		/** Finds the {@link #children} of a node. */
		private void divide(int n) {
			parts = 0;
			int runStart = -1; // index in children of the first part of the current run of small siblings
			for (int c = n + 1; c < hierarchy.end(n); c = hierarchy.end(c)) {
				int cf = hierarchy.leafFrom(c);
				int ct = hierarchy.leafTo(c);
				boolean small = limited && measure.of(cf, ct) < min;
				// what is in one group is never divided, and small siblings are one until together they are large enough
				if (!hierarchy.startsGroup(cf) || small && runStart >= 0 && isLastSmall()) {
					int last = 3 * (parts - 1);
					children[last] = n;
					children[last + 2] = ct;
					continue;
				}
				if (!small) {
					mergeTail(runStart, n);
					runStart = -1;
				} else if (runStart < 0) {
					runStart = parts;
				}
				if (children.length < 3 * parts + 3) {
					children = Arrays.copyOf(children, 2 * children.length);
				}
				children[3 * parts] = c;
				children[3 * parts + 1] = cf;
				children[3 * parts + 2] = ct;
				parts++;
			}
			mergeTail(runStart, n);
		}

		private boolean isLastSmall() {
			int last = 3 * (parts - 1);
			return measure.of(children[last + 1], children[last + 2]) < min;
		}

		/** Joins the last group of a run to the one before it when it stayed too small. */
		private void mergeTail(int runStart, int n) {
			if (runStart < 0 || parts - runStart < 2 || !isLastSmall()) {
				return;
			}
			int last = 3 * (parts - 1);
			children[last - 3] = n;
			children[last - 1] = children[last + 2];
			parts--;
		}

		private int[] ends() {
			int[] end = new int[count];
			for (int i = count - 1; i >= 0; i--) {
				end[i] = Math.max(end[i], i + 1);
				if (parent[i] >= 0) {
					end[parent[i]] = Math.max(end[parent[i]], end[i]);
				}
			}
			return end;
		}
	}

	/** A tree of the root only: whole rows, for the temporal aggregation. */
	static BlockTree rootOnly(Hierarchy hierarchy) {
		return new BlockTree(hierarchy, false, new int[] {-1}, new int[] {1}, new int[] {0}, new int[] {0},
				new int[] {hierarchy.leafCount()});
	}

	public Hierarchy hierarchy() {
		return hierarchy;
	}

	/** Whether a resolution limit was set when it was made. */
	public boolean hasLimit() {
		return limited;
	}

	/** Number of leaves of this tree that stand for several rows because of the limit. */
	public int limitedCount() {
		int count = 0;
		for (int i = 0; limited && i < parent.length; i++) {
			count += isLimited(i) ? 1 : 0;
		}
		return count;
	}

	public int size() {
		return parent.length;
	}

	public int parent(int i) {
		return parent[i];
	}

	public int end(int i) {
		return end[i];
	}

	public boolean isLeaf(int i) {
		return end[i] == i + 1;
	}

	/** Node of the hierarchy; for a group of siblings their parent. */
	public int node(int i) {
		return node[i];
	}

	public int leafFrom(int i) {
		return leafFrom[i];
	}

	public int leafTo(int i) {
		return leafTo[i];
	}

	/** Whether it is a group of siblings and not a node. */
	public boolean isGroup(int i) {
		return leafFrom[i] != hierarchy.leafFrom(node[i]) || leafTo[i] != hierarchy.leafTo(node[i]);
	}

	/** Whether it is kept whole because of the limit. */
	public boolean isLimited(int i) {
		return limited && isLeaf(i) && leafTo[i] - leafFrom[i] > 1;
	}

	/** Rows. */
	public long weight(int i) {
		return hierarchy.weight(leafFrom[i], leafTo[i]);
	}
}
