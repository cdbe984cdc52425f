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
		int capacity = 1024;
		int[] parent = new int[capacity];
		int[] node = new int[capacity];
		int[] leafFrom = new int[capacity];
		int[] leafTo = new int[capacity];
		int count = 0;
		// stack of (hierarchy node or group, parent here), last first
		int[] stackNode = new int[64];
		int[] stackFrom = new int[64];
		int[] stackTo = new int[64];
		int[] stackParent = new int[64];
		int depth = 0;
		stackNode[depth] = 0;
		stackFrom[depth] = 0;
		stackTo[depth] = hierarchy.leafCount();
		stackParent[depth++] = -1;
		int[] children = new int[64];
		while (depth > 0) {
			depth--;
			int n = stackNode[depth];
			int from = stackFrom[depth];
			int to = stackTo[depth];
			if (count == capacity) {
				capacity *= 2;
				parent = Arrays.copyOf(parent, capacity);
				node = Arrays.copyOf(node, capacity);
				leafFrom = Arrays.copyOf(leafFrom, capacity);
				leafTo = Arrays.copyOf(leafTo, capacity);
			}
			int self = count++;
			parent[self] = stackParent[depth];
			node[self] = n;
			leafFrom[self] = from;
			leafTo[self] = to;
			boolean group = from != hierarchy.leafFrom(n) || to != hierarchy.leafTo(n);
			if (group || hierarchy.isLeaf(n) || limited && measure.of(from, to) < min
					|| hierarchy.isGrouped() && to - from > 1 && hierarchy.groupEnd(from) >= to) {
				continue;
			}
			// children, as (node, from, to) triples; groups of small ones
			int parts = 0;
			int runStart = -1; // index in children of the first part of the current run of small siblings
			for (int c = n + 1; c < hierarchy.end(n); c = hierarchy.end(c)) {
				int cf = hierarchy.leafFrom(c);
				int ct = hierarchy.leafTo(c);
				if (!hierarchy.startsGroup(cf)) { // what is in one group is never divided
					int last = 3 * (parts - 1);
					children[last] = n;
					children[last + 2] = ct;
					continue;
				}
				boolean small = limited && measure.of(cf, ct) < min;
				if (small && runStart >= 0) {
					int last = 3 * (parts - 1);
					boolean lastFull = measure.of(children[last + 1], children[last + 2]) >= min;
					if (!lastFull) {
						children[last] = n;
						children[last + 2] = ct;
						continue;
					}
				}
				if (!small) {
					parts = mergeTail(measure, children, parts, runStart, min, n);
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
			parts = mergeTail(measure, children, parts, runStart, min, n);
			if (parts == 1 && children[0] == n) {
				continue; // everything is one group: the node itself
			}
			for (int i = parts - 1; i >= 0; i--) {
				if (depth == stackNode.length) {
					stackNode = Arrays.copyOf(stackNode, 2 * depth);
					stackFrom = Arrays.copyOf(stackFrom, 2 * depth);
					stackTo = Arrays.copyOf(stackTo, 2 * depth);
					stackParent = Arrays.copyOf(stackParent, 2 * depth);
				}
				stackNode[depth] = children[3 * i];
				stackFrom[depth] = children[3 * i + 1];
				stackTo[depth] = children[3 * i + 2];
				stackParent[depth++] = self;
			}
		}
		parent = Arrays.copyOf(parent, count);
		int[] end = new int[count];
		for (int i = count - 1; i >= 0; i--) {
			end[i] = Math.max(end[i], i + 1);
			if (parent[i] >= 0) {
				end[parent[i]] = Math.max(end[parent[i]], end[i]);
			}
		}
		return new BlockTree(hierarchy, limited || hierarchy.isGrouped(), parent, end, Arrays.copyOf(node, count), Arrays.copyOf(leafFrom, count),
				Arrays.copyOf(leafTo, count));
	}

	/** Joins the last group of a run to the one before it when it stayed too small; returns the number of parts. */
	private static int mergeTail(Measure measure, int[] children, int parts, int runStart, double min, int n) {
		if (runStart < 0 || parts - runStart < 2) {
			return parts;
		}
		int last = 3 * (parts - 1);
		if (measure.of(children[last + 1], children[last + 2]) >= min) {
			return parts;
		}
		children[last - 3] = n;
		children[last - 1] = children[last + 2];
		return parts - 1;
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
