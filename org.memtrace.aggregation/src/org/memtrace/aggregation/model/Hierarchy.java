// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntToLongFunction;

import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * The tree that is aggregated, as arrays. Nodes are numbered in depth-first order from the root, which is node 0: a parent
 * comes before its children, siblings are in display order, and the subtree of {@code n} is {@code [n, end(n))}. Leaves are
 * numbered in the same order; the leaves of {@code n} are {@code [leafFrom(n), leafTo(n))}: the rows of the picture.
 * <p>
 * It always has one root and values only at leaves. A forest gets an artificial root; a producer that has children and
 * events of its own gets an artificial leaf as its first child. Immutable.
 */
public final class Hierarchy {
	/** {@link #producer} of an artificial root. */
	public static final int NO_PRODUCER = -1;

	private final int[] parent;
	private final int[] end;
	private final int[] leafFrom;
	private final int[] leafNode;
	private final int[] producer;
	private final BitSet artificial;
	/** Sum of the weights of the leaves before leaf i; null when every leaf weighs 1. */
	private final long[] weightBefore;
	/** Leaves that begin a group; null when each leaf is one. */
	private final BitSet groupStart;

	/** Hierarchies with more leaves than these can be grouped. */
	public static final int MOST_SINGLE_LEAVES = 16_384;
	/** Pictures with more rows than these need the pages. */
	public static final int MOST_ROWS_OF_GROUPS = 1_000;
	/** Leaves of a group are at most this part of all. */
	private static final int GROUPS = 4_096;
	/** A section has at least so many groups, if there are not too many sections. */
	private static final int MOST_IN_SECTION = 128;
	private static final int LEAST_IN_SECTION = 16;

	private Hierarchy(int[] parent, int[] end, int[] leafFrom, int[] leafNode, int[] producer, BitSet artificial,
			long[] weightBefore) {
		this(parent, end, leafFrom, leafNode, producer, artificial, weightBefore, null);
	}

	private Hierarchy(int[] parent, int[] end, int[] leafFrom, int[] leafNode, int[] producer, BitSet artificial,
			long[] weightBefore, BitSet groupStart) {
		this.groupStart = groupStart;
		this.parent = parent;
		this.end = end;
		this.leafFrom = leafFrom;
		this.leafNode = leafNode;
		this.producer = producer;
		this.artificial = artificial;
		this.weightBefore = weightBefore;
	}

	/** The whole tree of producers, all of whose events are at leaves. */
	public static Hierarchy of(ProducerTree tree) {
		return of(tree, 0, tree.size(), new BitSet());
	}

	/** The subtree of one producer. */
	public static Hierarchy of(ProducerTree tree, int subtree) {
		return of(tree, subtree, tree.subtreeEnd(subtree), new BitSet());
	}

	/**
	 * Part of a tree of producers.
	 *
	 * @param from first producer
	 * @param to producer after the last; no subtree may be cut
	 * @param own producers with events of their own
	 */
	public static Hierarchy of(ProducerTree tree, int from, int to, BitSet own) {
		int[] parents = new int[to - from];
		int[] ids = new int[to - from];
		for (int id = from; id < to; id++) {
			int p = tree.parent(id);
			parents[id - from] = p < from ? -1 : p - from;
			ids[id - from] = id;
		}
		BitSet shifted = from == 0 ? own : own.get(from, Math.max(from, own.length()));
		return of(parents, ids, shifted);
	}

	/**
	 * Some producers of a part of a tree.
	 *
	 * @param kept which; with each the ones above it, down from {@code from}
	 */
	public static Hierarchy of(ProducerTree tree, int from, int to, BitSet own, BitSet kept) {
		int n = kept.get(from, to).cardinality();
		int[] parents = new int[n];
		int[] ids = new int[n];
		int[] place = new int[to - from];
		BitSet ownPlaces = new BitSet();
		int at = 0;
		for (int id = kept.nextSetBit(from); id >= 0 && id < to; id = kept.nextSetBit(id + 1)) {
			int p = tree.parent(id);
			parents[at] = p < from ? -1 : place[p - from];
			ownPlaces.set(at, own.get(id));
			place[id - from] = at;
			ids[at++] = id;
		}
		return of(parents, ids, ownPlaces);
	}

	/** Producers of a range of a tree that have rows, or have them below; all of them when none has. */
	public static BitSet withRows(ProducerTree tree, int from, int to, IntToLongFunction rowsBefore) {
		BitSet kept = new BitSet();
		for (int p = from; p < to; p++) {
			kept.set(p, rowsBefore.applyAsLong(tree.subtreeEnd(p)) > rowsBefore.applyAsLong(p));
		}
		if (kept.isEmpty()) {
			kept.set(from, to);
		}
		return kept;
	}

	/**
	 * A tree or forest given by parents, in any order in which a parent comes before its children; siblings are displayed
	 * in the order of their index. Producer ids are the indices.
	 *
	 * @param parents index of the parent, -1 for a root
	 */
	public static Hierarchy of(int[] parents) {
		int[] ids = new int[parents.length];
		Arrays.setAll(ids, i -> i);
		return of(parents, ids, new BitSet());
	}

	/**
	 * Children of all nodes as lists.
	 *
	 * @param first first child of each; -1 for none
	 * @param next sibling of each that comes next; -1 for none
	 * @param inner nodes with children that have values of their own
	 */
	private record Children(int[] first, int[] next, int firstRoot, int roots, int inner) {
		static Children of(int[] parents, BitSet own) {
			int[] first = new int[parents.length];
			int[] next = new int[parents.length];
			Arrays.fill(first, -1);
			int firstRoot = -1;
			int roots = 0;
			int inner = 0;
			for (int i = parents.length - 1; i >= 0; i--) {
				int p = parents[i];
				if (p >= i) {
					throw new IllegalArgumentException("the parent of producer " + i + " does not come before it");
				}
				if (p < 0) {
					next[i] = firstRoot;
					firstRoot = i;
					roots++;
				} else {
					next[i] = first[p];
					first[p] = i;
				}
				if (own.get(i) && first[i] >= 0) {
					inner++;
				}
			}
			return new Children(first, next, firstRoot, roots, inner);
		}
	}

	private static Hierarchy of(int[] parents, int[] ids, BitSet own) {
		int n = parents.length;
		if (n == 0) {
			throw new IllegalArgumentException("a hierarchy needs at least one producer");
		}
		Children of = Children.of(parents, own);
		int[] first = of.first;
		int[] next = of.next;
		boolean forest = of.roots > 1;
		int size = n + of.inner + (forest ? 1 : 0);
		int[] parent = new int[size];
		int[] end = new int[size];
		int[] leafFrom = new int[size];
		int[] leafNode = new int[size];
		int[] producer = new int[size];
		BitSet artificial = new BitSet();
		int count = 0;
		int leaves = 0;
		int top = -1;
		if (forest) {
			parent[0] = -1;
			producer[0] = NO_PRODUCER;
			artificial.set(0);
			count = 1;
			top = 0;
		}
		int at = of.firstRoot;
		while (at >= 0) {
			int node = count++;
			parent[node] = top;
			producer[node] = ids[at];
			leafFrom[node] = leaves;
			if (first[at] >= 0) {
				if (own.get(at)) {
					int leaf = count++;
					parent[leaf] = node;
					producer[leaf] = ids[at];
					leafFrom[leaf] = leaves;
					leafNode[leaves++] = leaf;
					end[leaf] = count;
					artificial.set(leaf);
				}
				top = node;
				at = first[at];
				continue;
			}
			leafNode[leaves++] = node;
			end[node] = count;
			// up to the nearest ancestor with another child
			while (next[at] < 0 && parents[at] >= 0) {
				at = parents[at];
				end[top] = count;
				top = parent[top];
			}
			at = next[at];
		}
		end[0] = count;
		return new Hierarchy(parent, end, leafFrom, Arrays.copyOf(leafNode, leaves), producer, artificial, null);
	}

	/**
	 * The same tree whose leaves stand for several equal rows each: a cell of weight {@code w} with value {@code x} counts as
	 * {@code w} cells of {@code x / w}.
	 *
	 * @param weights at least 1, for each leaf
	 */
	public Hierarchy withLeafWeights(int[] weights) {
		if (weights.length != leafCount()) {
			throw new IllegalArgumentException(weights.length + " weights for " + leafCount() + " leaves");
		}
		long[] before = new long[weights.length + 1];
		for (int i = 0; i < weights.length; i++) {
			if (weights[i] < 1) {
				throw new IllegalArgumentException("weight of leaf " + i + " is " + weights[i]);
			}
			before[i + 1] = before[i] + weights[i];
		}
		return new Hierarchy(parent, end, leafFrom, leafNode, producer, artificial, before);
	}

	/**
	 * The same tree whose leaves are in groups that blocks do not divide, so that what is known of a group is enough: what a picture of some
	 * hundred rows shows of millions of pages. A group is a small subtree or a run of small siblings; it lies in one data structure, and
	 * small structures have more groups than their share. How leaves are grouped depends on the tree only. Without many leaves it is this
	 * tree.
	 *
	 * @param tree of the producers
	 */
	public Hierarchy grouped(ProducerTree tree) {
		return grouped(tree, MOST_SINGLE_LEAVES);
	}

	/** This tree with groups, if it has more than {@code mostSingle} leaves. With fewer leaves there are fewer groups, too. */
	public Hierarchy grouped(ProducerTree tree, int mostSingle) {
		int all = (int) Math.max(1, (long) GROUPS * mostSingle / MOST_SINGLE_LEAVES);
		if (leafCount() <= mostSingle || weightBefore != null || groupStart != null) {
			return this;
		}
		BitSet sections = new BitSet();
		ProducerKind top = kind(tree, 0);
		boolean inside = top != ProducerKind.ROOT && top != ProducerKind.IMAGE;
		int n = 0;
		while (n < size()) {
			ProducerKind kind = kind(tree, n);
			if (!isLeaf(n) && (kind == ProducerKind.ROOT || kind == ProducerKind.IMAGE || kind == ProducerKind.NODE
					|| inside && weight(n) * 6 > weight(0))) {
				n++;
			} else {
				sections.set(n);
				n = end(n);
			}
		}
		int least = Math.min(LEAST_IN_SECTION, all);
		int parts = Math.clamp(2L * all / sections.cardinality(), least, Math.max(least, Math.min(MOST_IN_SECTION, all / 2)));
		BitSet starts = new BitSet();
		for (int s = sections.nextSetBit(0); s >= 0; s = sections.nextSetBit(s + 1)) {
			starts.set(leafFrom(s));
			long most = Math.max(1, Math.min(leafCount() / all, weight(s) / parts));
			if (weight(s) > most) {
				group(s, most, starts);
			}
		}
		return new Hierarchy(parent, end, leafFrom, leafNode, producer, artificial, null, starts);
	}

	private ProducerKind kind(ProducerTree tree, int node) {
		return producer[node] < 0 ? ProducerKind.ROOT : tree.kind(producer[node]);
	}

	/** Divides a node with more than {@code most} leaves; its depth is that of the tree. */
	private void group(int node, long most, BitSet starts) {
		long run = most; // nothing fits to what is before the first child
		for (int c = firstChild(node); c >= 0; c = nextSibling(c)) {
			long w = weight(c);
			if (w > most) {
				starts.set(leafFrom(c));
				group(c, most, starts);
				run = most;
			} else if (run + w > most) {
				starts.set(leafFrom(c));
				run = w;
			} else {
				run += w;
			}
		}
	}

	/** Whether leaves are in groups that blocks do not divide. */
	public boolean isGrouped() {
		return groupStart != null;
	}

	/** Whether a leaf is the first one of its group. */
	public boolean startsGroup(int leaf) {
		return groupStart == null || groupStart.get(leaf);
	}

	/** Leaf after the last one of the group of a leaf. */
	public int groupEnd(int leaf) {
		if (groupStart == null) {
			return leaf + 1;
		}
		int next = groupStart.nextSetBit(leaf + 1);
		return next < 0 ? leafNode.length : next;
	}

	/** Number of nodes. */
	public int size() {
		return parent.length;
	}

	/** Number of leaves. */
	public int leafCount() {
		return leafNode.length;
	}

	/** Parent, -1 for the root. */
	public int parent(int node) {
		return parent[node];
	}

	/** Node after the last of the subtree. */
	public int end(int node) {
		return end[node];
	}

	public boolean isLeaf(int node) {
		return end[node] == node + 1;
	}

	/** First child, -1 for a leaf. */
	public int firstChild(int node) {
		return isLeaf(node) ? -1 : node + 1;
	}

	/** Next sibling, -1 for the last one. */
	public int nextSibling(int node) {
		int p = parent[node];
		return p < 0 || end[node] == end[p] ? -1 : end[node];
	}

	/** First leaf below a node (for a leaf: its own number). */
	public int leafFrom(int node) {
		return leafFrom[node];
	}

	/** Leaf after the last below a node. */
	public int leafTo(int node) {
		int e = end[node];
		return e == parent.length ? leafNode.length : leafFrom[e];
	}

	/** Node of a leaf. */
	public int leafNode(int leaf) {
		return leafNode[leaf];
	}

	/** Id in the producer tree, {@link #NO_PRODUCER} for an artificial root; an artificial leaf has the id of its parent. */
	public int producer(int node) {
		return producer[node];
	}

	/** Whether the node is not in the producer tree: the root of a forest, or the leaf for own events of an inner producer. */
	public boolean isArtificial(int node) {
		return artificial.get(node);
	}

	/** Number of rows that a leaf stands for, normally 1. */
	public long leafWeight(int leaf) {
		return weightBefore == null ? 1 : weightBefore[leaf + 1] - weightBefore[leaf];
	}

	/** Number of rows in a range of leaves. */
	public long weight(int fromLeaf, int toLeaf) {
		return weightBefore == null ? toLeaf - fromLeaf : weightBefore[toLeaf] - weightBefore[fromLeaf];
	}

	/** Number of rows below a node: |n| of the formulas. */
	public long weight(int node) {
		return weight(leafFrom[node], leafTo(node));
	}

	/** Distance to the root. */
	public int level(int node) {
		int level = 0;
		for (int p = parent[node]; p >= 0; p = parent[p]) {
			level++;
		}
		return level;
	}

	/** Whether {@code node} is {@code ancestor} or below it. */
	public boolean isIn(int node, int ancestor) {
		return node >= ancestor && node < end[ancestor];
	}

	/** Node of a producer (the real one, not its artificial leaf), or -1 when it is not in this hierarchy. */
	public int nodeOf(int producerId) {
		// producers are increasing in depth-first order when they come from a producer tree
		int low = 0;
		int high = parent.length - 1;
		while (low <= high) {
			int mid = (low + high) >>> 1;
			if (producer[mid] == producerId) {
				return mid > 0 && producer[mid - 1] == producerId ? mid - 1 : mid;
			}
			if (producer[mid] < producerId) {
				low = mid + 1;
			} else {
				high = mid - 1;
			}
		}
		for (int n = 0; n < producer.length; n++) {
			if (producer[n] == producerId) {
				return n;
			}
		}
		return -1;
	}

	/** Deepest node whose leaves are exactly or around {@code [fromLeaf, toLeaf)}: the smallest one that contains them. */
	public int smallestContaining(int fromLeaf, int toLeaf) {
		int node = leafNode[fromLeaf];
		while (leafFrom(node) > fromLeaf || leafTo(node) < toLeaf) {
			node = parent[node];
		}
		return node;
	}
}
