// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

import org.memtrace.aggregation.model.MicroscopicModel;

/**
 * A set of blocks (node x interval of slices) that covers every cell of a model once. Blocks are ordered by first row, then by
 * time. Immutable; 8 bytes per block.
 */
public final class Partition {
	/**
	 * A block, for those who want one as an object.
	 *
	 * @param node node of the hierarchy; for a group of small siblings (see {@link BlockTree}) their parent
	 * @param leafFrom first row
	 * @param leafTo row after the last
	 * @param firstSlice first slice
	 * @param endSlice slice after the last
	 * @param gain complexity reduction
	 * @param loss information loss
	 */
	public record Block(int node, int leafFrom, int leafTo, int firstSlice, int endSlice, double gain, double loss) {
	}

	private final BlockSource source;
	private final double p;
	private final int[] tree;
	private final int[] interval;
	private final double gain;
	private final double loss;

	/**
	 * @param tree tree node of each block, in any order
	 * @param interval first slice << 16 | end slice
	 */
	Partition(BlockSource source, double p, int[] tree, int[] interval, int count) {
		this.source = source;
		this.p = p;
		int slices = source.model().sliceCount();
		BlockTree t = source.tree();
		// (first row, first slice) is unique; packed with the index into one number: 35 + 28 bits
		if (count >= 1 << 28 || (long) source.model().hierarchy().leafCount() * slices >= 1L << 35) {
			throw new IllegalStateException("partition with " + count + " blocks is too large");
		}
		long[] order = new long[count];
		for (int i = 0; i < count; i++) {
			order[i] = ((long) t.leafFrom(tree[i]) * slices + (interval[i] >>> 16)) << 28 | i;
		}
		Arrays.sort(order);
		this.tree = new int[count];
		this.interval = new int[count];
		double g = 0;
		double l = 0;
		for (int i = 0; i < count; i++) {
			int from = (int) order[i] & (1 << 28) - 1;
			this.tree[i] = tree[from];
			this.interval[i] = interval[from];
			int first = interval[from] >>> 16;
			int end = interval[from] & 0xffff;
			g += source.gain(tree[from], first, end);
			l += source.loss(tree[from], first, end);
		}
		this.gain = g;
		this.loss = l;
	}

	private Partition(Partition blocks, double p) {
		this.source = blocks.source;
		this.p = p;
		this.tree = blocks.tree;
		this.interval = blocks.interval;
		this.gain = blocks.gain;
		this.loss = blocks.loss;
	}

	/** These blocks for another p at which they are best, too. */
	Partition at(double otherP) {
		return otherP == p ? this : new Partition(this, otherP);
	}

	/** The p that it is best for, between 0 and 1. */
	public double p() {
		return p;
	}

	/** What found it. */
	BlockSource source() {
		return source;
	}

	/** Whether gains and losses are those of types divided by their totals. */
	public boolean equalTypes() {
		return source.equalTypes();
	}

	/** The model that is divided. */
	public MicroscopicModel model() {
		return source.model();
	}

	public BlockTree tree() {
		return source.tree();
	}

	public int blockCount() {
		return tree.length;
	}

	/** Node of {@link #tree()} of block {@code i}. */
	public int treeNode(int i) {
		return tree[i];
	}

	/** Node of the hierarchy of block {@code i}; for a group of siblings their parent. */
	public int node(int i) {
		return source.tree().node(tree[i]);
	}

	public int leafFrom(int i) {
		return source.tree().leafFrom(tree[i]);
	}

	public int leafTo(int i) {
		return source.tree().leafTo(tree[i]);
	}

	public int firstSlice(int i) {
		return interval[i] >>> 16;
	}

	/** Slice after the last. */
	public int endSlice(int i) {
		return interval[i] & 0xffff;
	}

	/** Node of the second hierarchy of block {@code i}, of a partition of two hierarchies ({@link TwoTreeAggregator}); else -1. */
	public int columnNode(int i) {
		return source.columnNode(firstSlice(i), endSlice(i));
	}

	public double gain(int i) {
		return source.gain(tree[i], firstSlice(i), endSlice(i));
	}

	public double loss(int i) {
		return source.loss(tree[i], firstSlice(i), endSlice(i));
	}

	public Block block(int i) {
		return new Block(node(i), leafFrom(i), leafTo(i), firstSlice(i), endSlice(i), gain(i), loss(i));
	}

	/** Block that holds a cell. */
	public int blockAt(int leaf, int slice) {
		BlockTree t = source.tree();
		// blocks that hold the cell begin at or before the row; ancestors' blocks begin earlier
		int node = 0;
		while (!t.isLeaf(node)) {
			int found = find(t.leafFrom(node), slice, node);
			if (found >= 0) {
				return found;
			}
			int child = node + 1;
			while (t.leafTo(child) <= leaf) {
				child = t.end(child);
			}
			node = child;
		}
		int found = find(t.leafFrom(node), slice, node);
		if (found < 0) {
			throw new IllegalArgumentException("no cell (" + leaf + ", " + slice + ")");
		}
		return found;
	}

	private int find(int row, int slice, int node) {
		int low = 0;
		int high = tree.length - 1;
		while (low <= high) {
			int mid = (low + high) >>> 1;
			int r = leafFrom(mid);
			if (r < row || r == row && endSlice(mid) <= slice) {
				low = mid + 1;
			} else if (r > row || firstSlice(mid) > slice) {
				high = mid - 1;
			} else {
				return tree[mid] == node ? mid : -1;
			}
		}
		return -1;
	}

	/** Index of the first block whose first row is at least {@code leaf}. */
	public int firstBlockFrom(int leaf) {
		int low = 0;
		int high = tree.length;
		while (low < high) {
			int mid = (low + high) >>> 1;
			if (leafFrom(mid) < leaf) {
				low = mid + 1;
			} else {
				high = mid;
			}
		}
		return low;
	}

	/** Complexity reduction: sum over all blocks. */
	public double gain() {
		return gain;
	}

	/** Information loss: sum over all blocks. */
	public double loss() {
		return loss;
	}

	/** Loss of the single block that is everything: 100 %. */
	public double rootLoss() {
		return source.rootLoss();
	}

	/** Gain of the single block. */
	public double rootGain() {
		return source.rootGain();
	}

	/** p * gain - (1 - p) * loss. */
	public double value() {
		return p * gain - (1 - p) * loss;
	}

	/** Information loss in per cent of that of the single block. */
	public double lossPercent() {
		return source.rootLoss() > 0 ? Math.min(100, Math.max(0, 100 * loss / source.rootLoss())) : 0;
	}

	/** Complexity reduction in per cent of that of the single block. */
	public double reductionPercent() {
		return source.rootGain() > 0 ? Math.min(100, Math.max(0, 100 * gain / source.rootGain())) : 100;
	}

	/** Whether the blocks are the same (p may differ). */
	public boolean sameBlocks(Partition other) {
		return Arrays.equals(tree, other.tree) && Arrays.equals(interval, other.interval);
	}

	/** Part of {@link #loss} that is inside of blocks that the resolution limit keeps whole. */
	public double limitedLoss() {
		double sum = 0;
		for (int i = 0; i < tree.length; i++) {
			if (source.tree().isLimited(tree[i])) {
				sum += loss(i);
			}
		}
		return sum;
	}
}
