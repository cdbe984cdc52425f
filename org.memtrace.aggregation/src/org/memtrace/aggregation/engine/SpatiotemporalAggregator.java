// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;


import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Best partition of hierarchy x time into blocks (node x interval), by the dynamic programme of docs/how/aggregation.md, in fixed point.
 * Cost of one p: at most nodes x T^3 / 6 additions and comparisons, on all processors; nodes and intervals that cannot be part of the
 * best partition are left out, the more of them the closer p is to one that is known. Memory: per node that has values, 4 T^2 bytes for
 * gains (rows: 3 T^2); per node that is not a row T^2 bytes for deficits at p = 1, T^2 / 2 for cuts (T^2 when T > 127), and T^2 for each p
 * that is kept, for the nodes that were needed. Where many p are asked for (see {@link #expectMany}) programmes are of what is left between
 * two known p ({@link Survivors}), and for a short time there are 4 T^2 bytes more per node.
 */
public final class SpatiotemporalAggregator implements Aggregator {
	/** Where many p are asked for, programmes with everything from this one on find all deficits. */
	private static final int FIRST_WHOLE = 2;
	/** With more slices values would have no room for one that is none. */
	private static final int MOST_SLICES = 1000;
	/** With fewer it is not worth while to look which are left at each side of a p. */
	private static final int FEW_ELEMENTS = 48;
	/** Below it deficits are too small to tell anything. */
	private static final double LEAST_TELLING_P = 1e-6;
	/** With so few nodes whose children can matter all are solved at once. */
	private static final int FEW_NODES = 16;
	/** Nodes are opened one after the other while this part of what a programme with all nodes solves is enough for it; then all are. */
	private static final double MOST_TRIED = 0.06;

	private final MicroscopicModel model;
	private final BlockTree tree;
	private final Qualities qualities;
	private final BlockValues values;
	private final NodeBounds bounds;
	private final KnownPartitions known;
	private final WholeProgramme programme;
	private final int slices;
	/** Of the partition into all leaves and slices. */
	private final double finestGain;
	private final double finestLoss;
	/** Whether many more p will be asked for. */
	private boolean many;
	/** Programmes that looked at all nodes since then. */
	private int wholeProgrammes;
	private int programmesOfSurvivors;
	/** Nodes that have values, and bytes of all values of a programme with everything. */
	private final int active;
	private final long allBytes;
	/** The largest p at which opening nodes one after the other was of no use. */
	private double allUpTo;

	private SpatiotemporalAggregator(MicroscopicModel model, BlockTree tree, Qualities qualities, Progress progress)
			throws CancelledException {
		this.model = model;
		this.tree = tree;
		this.qualities = qualities;
		this.slices = model.sliceCount();
		this.values = new BlockValues(tree, qualities, slices);
		int some = 0;
		for (int n = 0; n < tree.size(); n++) {
			some += values.idle(n) ? 0 : 1;
		}
		this.active = some;
		this.allBytes = active * (4L * slices * (slices + 1) + 16);
		double gain = 0;
		double loss = 0;
		for (int n = 0; n < tree.size(); n++) {
			for (int t = 0; t < slices && tree.isLeaf(n) && !values.idle(n); t++) {
				gain += qualities.gain(n, t, t + 1);
				loss += qualities.loss(n, t, t + 1);
			}
		}
		this.finestGain = gain;
		this.finestLoss = loss;
		this.known = new KnownPartitions(values, active / 6.0 * slices * slices * slices);
		this.bounds = new NodeBounds(values, progress);
		this.programme = new WholeProgramme(values, bounds);
	}

	/** Computes the qualities of all candidates. */
	public static SpatiotemporalAggregator prepare(MicroscopicModel model, AggregationOptions options, Progress progress)
			throws CancelledException {
		BlockTree tree = options.tree(model.hierarchy());
		return new SpatiotemporalAggregator(model, tree, Qualities.compute(model, tree, options, progress), progress);
	}

	/** {@link #prepare(MicroscopicModel, AggregationOptions, Progress)} without limit and progress. */
	public static SpatiotemporalAggregator prepare(MicroscopicModel model) {
		try {
			return prepare(model, AggregationOptions.EXACT, Progress.NONE);
		} catch (CancelledException e) {
			throw new IllegalStateException(e);
		}
	}

	@Override
	public MicroscopicModel model() {
		return model;
	}

	@Override
	public boolean equalTypes() {
		return qualities.equalTypes;
	}

	@Override
	public BlockTree tree() {
		return tree;
	}

	@Override
	public double rootGain() {
		return qualities.gain(0, 0, slices);
	}

	@Override
	public double rootLoss() {
		return qualities.loss(0, 0, slices);
	}

	@Override
	public double gain(int i, int firstSlice, int endSlice) {
		return qualities.gain(i, firstSlice, endSlice);
	}

	@Override
	public double loss(int i, int firstSlice, int endSlice) {
		return qualities.loss(i, firstSlice, endSlice);
	}

	/** Bytes that this object keeps between two values of p. */
	public synchronized long memoryBytes() {
		return qualities.memoryBytes() + 20L * tree.size() + known.memoryBytes() + bounds.memoryBytes() + programme.memoryBytes();
	}

	BlockValues values() {
		return values;
	}

	/** How many partitions were found from what is left between two known p, for tests. */
	synchronized int programmesOfSurvivors() {
		return programmesOfSurvivors;
	}

	@Override
	public synchronized void expectMany() {
		many = true;
	}

	/** The partitions stay. */
	@Override
	public synchronized void expectFew() {
		many = false;
		wholeProgrammes = 0;
		known.forgetDeficits();
		values.forget();
		programme.forget();
	}

	@Override
	public synchronized Partition partition(double p, Progress progress) throws CancelledException {
		if (!(p >= 0 && p <= 1)) {
			throw new IllegalArgumentException("p is " + p + ", not in 0..1");
		}
		double inside = Math.min(1 - P_MARGIN, Math.max(P_MARGIN, p));
		int at = known.at(inside);
		KnownPartition above = known.get(at);
		if (above != null && above.p == inside) {
			return above.partition.at(p);
		}
		KnownPartition below = known.get(at - 1);
		// what is best at two p is best between them, and one block is best up to 1
		if (below != null && (above == null ? below.partition.blockCount() == 1 : below.partition.sameBlocks(above.partition))) {
			return below.partition.at(p);
		}
		KnownPartition.Left left = below == null || above == null ? null : known.left(below, above);
		KnownPartition found;
		if (left != null && left.survivors().span.isFarEnough((inside - left.low().p) / (left.high().p - left.low().p))) {
			found = solveLeft(left, inside, p, below, progress);
			known.add(at, found);
		} else {
			found = solveAll(inside, p, at, progress);
			if (below != null) {
				found.left = below.left; // that between the two is left for each part of it
				below.tooMuch = false;
			}
			known.add(at, found);
			known.leave(at);
		}
		known.forget(found);
		return found.partition;
	}

	/** The programme of all nodes that can matter, from what is known at the next p below and above that tell something. */
	private KnownPartition solveAll(double inside, double p, int at, Progress progress) throws CancelledException {
		KnownPartition below = known.get(at - 1);
		KnownPartition above = known.get(at);
		KnownPartition low = known.withDeficits(at - 1, false);
		KnownPartition high = known.withDeficits(at, true);
		if (low != null) {
			low.deficits.finish(tree, qualities.chunks, slices);
		}
		if (high != null) {
			high.deficits.finish(tree, qualities.chunks, slices);
		}
		KnownPartition found = new KnownPartition(inside);
		if (inside >= LEAST_TELLING_P) {
			found.deficits = new Deficits(tree.size());
		}
		// the best is at least one block, and the finest partition: that is less than 0 where rows are kept whole
		double best = Math.max(inside * finestGain - (1 - inside) * finestLoss, inside * rootGain() - (1 - inside) * rootLoss()) / values.scale;
		Scope scope = new Scope(bounds, values, inside, low, high, known.best(inside, best));
		long nodes = open(scope, below, above);
		long most = (long) (MOST_TRIED * nodes);
		long solved = 0;
		while (true) {
			if (scope.opened == null && many && 2 * nodes > active && wholeProgrammes++ >= FIRST_WHOLE && slices <= MOST_SLICES
					&& allBytes <= 2 * known.room()) {
				scope.all = new long[tree.size()][];
				found.deficits = null;
			}
			long last = programme.solve(found, scope, progress);
			solved += last;
			WholeProgramme.Blocks blocks = programme.read(inside, scope, progress);
			if (blocks != null) {
				found.partition = new Partition(this, p, blocks.nodes().toArray(), blocks.intervals().toArray(), blocks.nodes().size());
				break;
			}
			// the next try solves more than the last one
			if (solved + last > most || scope.count() > most) {
				scope.opened = null;
				allUpTo = Math.max(allUpTo, inside);
			}
		}
		if (scope.all != null) {
			found.deficits = deficits(found, below, above, scope.all, progress);
		}
		return found;
	}

	/**
	 * Deficits of all blocks and divisions, from the top to the base: what is outside of an interval of a node, at best, is what is outside of
	 * an interval around it that the parent divides, the best of the other children there, and the best of the node before and behind it. What
	 * is worse than matters to both neighbours is not followed.
	 *
	 * @param all best values of all intervals
	 */
	private Deficits deficits(KnownPartition found, KnownPartition below, KnownPartition above, long[][] all, Progress progress)
			throws CancelledException {
		double most = Math.max(
				below == null ? Double.POSITIVE_INFINITY : limit(known.span(below, below.isExact(), found, true), true),
				above == null ? Double.POSITIVE_INFINITY : limit(known.span(found, true, above, above.isExact()), false)) * 1.01
				+ 2 * KnownPartitions.MARGIN;
		long best = all[0][all[0].length - slices];
		// a value that is less than this is not followed
		long least = most / values.perShiftedUnit < 0x1p61 ? Math.max(Survivors.NONE / 2, best - (long) (most / values.perShiftedUnit))
				: Survivors.NONE / 2;
		char cap = Deficits.down(most);
		char[][] blocks = new char[tree.size()][];
		char[][] divisions = new char[tree.size()][];
		Chunks chunks = qualities.chunks;
		OutsideDeficits top = new OutsideDeficits(values, bounds.busy, found.p, all, best, least, cap, blocks, divisions);
		// best partitions with a division of an interval, for nodes above the chunks
		long[][] with = new long[tree.size()][];
		for (int n : chunks.top) {
			progress.check();
			if (!values.idle(n)) {
				int parent = tree.parent(n);
				with[n] = top.node(n, parent < 0 ? null : with[parent], parent < 0);
			}
		}
		Parallel.run(chunks.count(), progress, c -> {
			OutsideDeficits part = new OutsideDeficits(values, bounds.busy, found.p, all, best, least, cap, blocks, divisions);
			long[][] mine = new long[chunks.to[c] - chunks.from[c]][];
			for (int n = chunks.from[c]; n < chunks.to[c]; n++) {
				progress.check();
				int parent = tree.parent(n);
				if (!values.idle(n)) {
					mine[n - chunks.from[c]] = part.node(n, parent < 0 ? null : parent < chunks.from[c] ? with[parent] : mine[parent - chunks.from[c]],
							parent < 0);
				}
			}
		});
		return new Deficits(divisions, blocks);
	}

	/** What is worse than this at one end is left out, whatever is known of the other. */
	private static double limit(Survivors.Span span, boolean high) {
		return span.allowed() / (high ? span.weight() : 1 - span.weight());
	}

	/** The programme of what is left between two known p. */
	private KnownPartition solveLeft(KnownPartition.Left between, double inside, double p, KnownPartition below, Progress progress)
			throws CancelledException {
		programmesOfSurvivors++;
		Survivors left = between.survivors();
		left.solve(inside, progress);
		Chunks.IntList nodes = new Chunks.IntList();
		Chunks.IntList intervals = new Chunks.IntList();
		left.read(nodes, intervals, progress);
		KnownPartition found = new KnownPartition(inside);
		found.value = left.value() * values.perShiftedUnit;
		found.partition = new Partition(this, p, nodes.toArray(), intervals.toArray(), nodes.size());
		found.left = between;
		if (left.size() > FEW_ELEMENTS) {
			float[] blocks = new float[left.size()];
			float[] divisions = new float[left.size()];
			left.deficits(blocks, divisions, progress);
			KnownPartition low = between.low();
			KnownPartition high = between.high();
			if (!low.partition.sameBlocks(found.partition)) {
				below.left = new KnownPartition.Left(low, found,
						left.within(known.span(low, left.span.lowKnown(), found, true), true, blocks, divisions));
			}
			if (!high.partition.sameBlocks(found.partition)) {
				found.left = new KnownPartition.Left(found, high,
						left.within(known.span(found, true, high, left.span.highKnown()), false, blocks, divisions));
			}
		}
		return found;
	}

	/**
	 * Chooses the nodes whose children are solved at once: all when it is few of them that can matter, or when all were needed at a larger p,
	 * else those that the partition at the next larger p divides, and that at the next smaller one where these are few.
	 *
	 * @return how many nodes are solved when all are opened
	 */
	private long open(Scope scope, KnownPartition below, KnownPartition above) {
		int inner = 0;
		long all = 0;
		for (int n = 0; n < tree.size(); n++) {
			if (!scope.isZero(n)) {
				int[] from = scope.from(n);
				scope.look(n, from);
				all += from == null ? 0 : 1;
				inner += scope.childFrom[n] == null ? 0 : 1;
			}
		}
		if (inner > FEW_NODES && scope.p > allUpTo) {
			scope.opened = new boolean[tree.size()];
			divided(above, scope.opened);
			boolean[] fewer = scope.opened.clone();
			if (below != null && below.p >= LEAST_TELLING_P) {
				divided(below, scope.opened);
			}
			if (scope.count() > MOST_TRIED * inner) {
				scope.opened = fewer;
			}
			if (scope.count() > MOST_TRIED * inner) {
				scope.opened = null;
			}
		}
		return all;
	}

	/** Adds the nodes that a known partition divides. */
	private void divided(KnownPartition other, boolean[] opened) {
		for (int b = 0; other != null && b < other.partition.blockCount(); b++) {
			for (int n = tree.parent(other.partition.treeNode(b)); n >= 0 && !opened[n]; n = tree.parent(n)) {
				opened[n] = true;
			}
		}
	}
}
