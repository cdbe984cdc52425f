// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.SharingGaps;

/**
 * What partitions lose inside of parts of memory, such as data structures, in per cent of what one block for such a part alone would
 * lose: the loss of the whole picture says little of a part with few of the accesses. Of a block that holds several parts the loss of
 * one is Σ v log2 (v / m) - (v - m) / ln 2 over its cells, where m is what the mean of the block says: never less than 0, and over all
 * parts the loss of the block. Immutable and safe for all threads; made once for a model, then asked for many partitions.
 */
public final class PartLosses {
	/** Part of gain and loss of everything that is the least loss which others are compared with. */
	static final double LEAST = 1e-9;

	private final MicroscopicModel model;
	private final int[] leafFrom;
	private final int[] leafTo;
	/** For each part and bound of a slice: sums before it of v log2 (v / cell size), then of each type. */
	private final double[][] before;
	private final double[] alone;
	/** What values are multiplied by, by type. */
	private final double[] scale;
	/** Size of the slices before each one, in those of a mean slice. */
	private final double[] size;

	private PartLosses(MicroscopicModel model, int[] nodes, boolean equalTypes) {
		this.model = model;
		this.scale = AggregationOptions.typeScales(model, equalTypes);
		int slices = model.sliceCount();
		int k = model.typeCount();
		this.leafFrom = new int[nodes.length];
		this.leafTo = new int[nodes.length];
		this.before = new double[nodes.length][];
		this.alone = new double[nodes.length];
		double[] w = model.sliceWeights();
		this.size = new double[slices + 1];
		for (int t = 0; t < slices; t++) {
			size[t + 1] = size[t] + (w == null ? 1 : w[t]);
		}
		for (int i = 0; i < nodes.length; i++) {
			leafFrom[i] = model.hierarchy().leafFrom(nodes[i]);
			leafTo[i] = model.hierarchy().leafTo(nodes[i]);
			double[] b = new double[(slices + 1) * (k + 1)];
			for (int leaf = leafFrom[i]; leaf < leafTo[i]; leaf++) {
				double rows = model.hierarchy().leafWeight(leaf);
				for (int c = model.cellFrom(leaf); c < model.cellTo(leaf); c++) {
					double v = model.value(c) * scale[model.type(c)];
					int slice = model.key(c) / k;
					if (v > 0) {
						double cell = rows * (w == null ? 1 : w[slice]);
						b[(slice + 1) * (k + 1)] += model.isGrouped() ? model.information(c, scale[model.type(c)]) - (cell == 1 ? 0 : v * Entropy.log2(cell))
								: cell == 1 ? Entropy.f(v) : v * Entropy.log2(v / cell);
						b[(slice + 1) * (k + 1) + 1 + model.type(c)] += v;
					}
				}
			}
			for (int x = k + 1; x < b.length; x++) {
				b[x] += b[x - k - 1];
			}
			before[i] = b;
			alone[i] = loss(i, 0, slices, sums(leafFrom[i], leafTo[i], 0, slices), model.hierarchy().weight(leafFrom[i], leafTo[i]));
		}
	}

	/**
	 * For some nodes of the hierarchy of a model, none in another.
	 *
	 * @param equalTypes whether each type is divided by its total, as for the partitions that will be asked for
	 */
	public static PartLosses of(MicroscopicModel model, int[] nodes, boolean equalTypes) {
		return new PartLosses(SharingGaps.closed(model), nodes, equalTypes);
	}

	private double[] sums(int leafFrom, int leafTo, int first, int end) {
		double[] sums = model.sums(leafFrom, leafTo, first, end);
		for (int k = 0; k < sums.length; k++) {
			sums[k] *= scale[k];
		}
		return sums;
	}

	/** Number of parts. */
	public int count() {
		return alone.length;
	}

	/** Rows of a part. */
	public long rows(int part) {
		return model.hierarchy().weight(leafFrom[part], leafTo[part]);
	}

	/**
	 * Loss of a part under a block that holds it.
	 *
	 * @param sums sums of the block over its slices, by type
	 * @param rows rows of the block
	 */
	private double loss(int part, int first, int end, double[] sums, double rows) {
		int k = model.typeCount();
		double[] b = before[part];
		int from = first * (k + 1);
		int to = end * (k + 1);
		double cells = size[end] - size[first];
		double own = model.hierarchy().weight(leafFrom[part], leafTo[part]) * cells;
		double loss = b[to] - b[from];
		for (int x = 0; x < k; x++) {
			double v = b[to + 1 + x] - b[from + 1 + x];
			if (sums[x] > 0) {
				double mean = sums[x] / (rows * cells);
				loss -= v * Entropy.log2(mean) + (v - mean * own) / Math.log(2);
			}
		}
		return Math.max(0, loss);
	}

	/** What a part loses in a partition. */
	private double loss(Partition partition, int part) {
		double loss = 0;
		BlockTree tree = partition.tree();
		// blocks of what holds the part, then those inside
		for (int n = 0;;) {
			if (tree.leafFrom(n) >= leafFrom[part] && tree.leafTo(n) <= leafTo[part]) {
				break;
			}
			for (int b = partition.firstBlockFrom(tree.leafFrom(n)); b < partition.blockCount() && partition.leafFrom(b) == tree.leafFrom(n); b++) {
				if (partition.treeNode(b) == n) {
					int first = partition.firstSlice(b);
					int end = partition.endSlice(b);
					loss += loss(part, first, end, sums(tree.leafFrom(n), tree.leafTo(n), first, end), tree.weight(n));
				}
			}
			if (tree.isLeaf(n)) {
				break;
			}
			int child = n + 1;
			while (tree.leafTo(child) <= leafFrom[part]) {
				child = tree.end(child);
			}
			n = child;
		}
		for (int b = partition.firstBlockFrom(leafFrom[part]); b < partition.blockCount() && partition.leafFrom(b) < leafTo[part]; b++) {
			if (partition.leafTo(b) <= leafTo[part]) {
				loss += partition.loss(b);
			}
		}
		return loss;
	}

	/**
	 * What is lost inside of a part, in per cent of what one block for it alone would lose; more than 100 when the blocks it is in have
	 * means that are not its own. 0 where a part is the same everywhere and has its own blocks. {@link Double#NaN} when there are
	 * values below 0.
	 */
	public double percent(Partition partition, int part) {
		if (model.hasNegativeValues()) {
			return Double.NaN;
		}
		double loss = loss(partition, part);
		return percent(loss, partition, part);
	}

	/** Where nothing is lost, what rounding leaves of a loss is a small part of gain and loss of everything, not of another such number. */
	private double percent(double loss, Partition partition, int part) {
		double everything = partition.source().rootGain() + partition.source().rootLoss();
		return everything > 0 ? 100 * loss / Math.max(alone[part], LEAST * everything) : 0;
	}

	/**
	 * What of {@link #percent} no p can avoid: what is lost in rows that the resolution limit keeps whole, when each of them is a block for
	 * each slice. {@link Double#NaN} when there are values below 0.
	 */
	public double leastPercent(Partition partition, int part) {
		if (model.hasNegativeValues()) {
			return Double.NaN;
		}
		BlockTree tree = partition.tree();
		double loss = 0;
		for (int n = 0; n < tree.size(); n = tree.leafTo(n) <= leafFrom[part] || tree.leafFrom(n) >= leafTo[part] ? tree.end(n) : n + 1) {
			if (!tree.isLeaf(n) || tree.leafTo(n) <= leafFrom[part] || tree.leafFrom(n) >= leafTo[part]) {
				continue;
			}
			boolean inside = tree.leafFrom(n) >= leafFrom[part] && tree.leafTo(n) <= leafTo[part];
			for (int t = 0; t < model.sliceCount(); t++) {
				loss += inside ? partition.source().loss(n, t, t + 1)
						: loss(part, t, t + 1, sums(tree.leafFrom(n), tree.leafTo(n), t, t + 1), tree.weight(n));
			}
		}
		return percent(loss, partition, part);
	}

	/**
	 * The largest loss of the parts that have more than a share of the rows and some accesses, in per cent of what lies between the finest
	 * partition, where rows that are kept whole lose something already, and one block for the part alone; 0 if there are none.
	 *
	 * @param finest the partition at p = 0
	 * @param leastShare such as 0.01
	 */
	public double worst(Partition partition, Partition finest, double leastShare) {
		double worst = 0;
		double rows = leastShare * model.hierarchy().weight(0);
		for (int part = 0; part < alone.length && !model.hasNegativeValues(); part++) {
			if (rows(part) > rows && alone[part] > 0) {
				double least = percent(finest, part);
				if (least < 99) {
					worst = Math.max(worst, 100 * (percent(partition, part) - least) / (100 - least));
				}
			}
		}
		return worst;
	}
}
