// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

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
	/** p is moved into [1e-9, 1 - 1e-9], which decides ties at 0 and 1 by the other criterion. */
	static final double P_MARGIN = 1e-9;

	/** Bits of a value of the programme: its largest is below 2^50 units. */
	private static final int VALUE_BITS = 50;
	/** p whose deficits are kept, at most. */
	private static final int MOST_ANCHORS = 64;
	/** p whose partitions are kept, at most. */
	private static final int MOST_KNOWN = 4096;
	/** Where many p are asked for, programmes with everything from this one on find all deficits. */
	private static final int FIRST_WHOLE = 2;
	/** With more slices values would have no room for one that is none. */
	private static final int MOST_SLICES = 1000;
	/** Part of the steps of a programme with everything that one with what is left may take, for the same time. */
	private static final double MOST_LEFT = 0.25;
	/** With fewer it is not worth while to look which are left at each side of a p. */
	private static final int FEW_ELEMENTS = 48;
	/** Bytes for kept deficits: as much as the gains take, between these. */
	private static final long LEAST_ANCHOR_BYTES = 64_000_000;
	private static final long MOST_ANCHOR_BYTES = 400_000_000;
	/** Below it deficits are too small to tell anything. */
	private static final double LEAST_TELLING_P = 1e-6;
	/** What is left out of a programme is worse than the best by this part of gain and loss of the root: far more than all ties together. */
	private static final double MARGIN = 1e-8;
	/**
	 * What is left out is also worse than the best known partition by this many times the gap between bounds, so that the bounds of a
	 * programme are of use for the next.
	 */
	private static final double WIDER = 3;
	/** A block is surely better than its division when it is by this part of gain and loss of the root, and what rounding makes of a cell. */
	private static final double SURELY = 1e-10;
	/** With so few nodes whose children can matter all are solved at once. */
	private static final int FEW_NODES = 16;
	/** Nodes are opened one after the other while this part of what a programme with all nodes solves is enough for it; then all are. */
	private static final double MOST_TRIED = 0.06;
	/** 2^52: a double between this and twice this has a whole number in its low bits. */
	private static final double WHOLE = 0x1p52;

	private final MicroscopicModel model;
	private final BlockTree tree;
	private final Qualities qualities;
	private final int slices;
	/** A value is a multiple of 2^exponent, shifted left by {@link #indexBits}; below it is the start of the last block. */
	private final int exponent;
	private final double perUnit;
	private final int indexBits;
	private final long mask;
	/** Values that differ by no more are equal, and equals go to the coarser partition. */
	private final long tie;
	/** {@link #SURELY} in units. */
	private final long surely;
	/** What deficits are divided by, and its unit in shifted values. */
	private final double scale;
	private final double perShiftedUnit;
	/** log2 of the length of slices i to j at [j][i]. */
	private final double[][] logLengths;
	private final boolean small;
	/** Nodes with a child that is not idle. */
	private final boolean[] busy;
	/**
	 * For each node with a busy child and (i, j) at j (j + 1) / 2 + i the p above which one block is better than any division of it, in the
	 * form of {@link Deficits}: the loss divided by it and by what any division costs of the gain.
	 */
	private final char[][] dividedUpTo;
	/**
	 * For each node the p below which every block of it or of a node in it, other than a cell or one without values, is worse than its cells
	 * by more than what counts as equal; 0 for rows that are kept whole. Best values are 0 then.
	 */
	private final float[] cellsUpTo;
	/** Sums of children that are all 0. */
	private final Table zeros;
	/** Of the partition into all leaves and slices. */
	private final double finestGain;
	private final double finestLoss;
	/** Programmes that are kept, by increasing p. */
	private final ArrayList<Anchor> anchors = new ArrayList<>();
	private final long anchorRoom;
	/** Whether many more p will be asked for. */
	private boolean many;
	/** Programmes that looked at all nodes since then. */
	private int wholeProgrammes;
	private int programmesOfSurvivors;
	/** Nodes that have values; steps of a programme with everything, and bytes of all its values. */
	private final int active;
	private final double allSteps;
	private final long allBytes;
	/** The largest p at which opening nodes one after the other was of no use. */
	private double allUpTo;
	/** Whole intervals: every end slice from the first slice on. */
	private final int[] everything;
	/**
	 * Of the programme that ran last: for (n, i, j) the start of the last block and, in the highest bit, whether (n, i, j) itself is
	 * better divided among the children than one block, at j (j + 1) / 2 + i. Rows have none.
	 */
	private final byte[][] byteCuts;
	private final short[][] shortCuts;
	private final ArrayDeque<Table> pool = new ArrayDeque<>();
	private final ArrayDeque<Scratch> scratches = new ArrayDeque<>();

	/** A p whose partition is known. */
	static final class Anchor {
		final double p;
		/** Value of the partition, divided by the scale. */
		double value;
		Partition partition;
		/** null when they would tell nothing, or there is no room. */
		Deficits deficits;
		/** What is left between this p and the next known one; null when that is not known, or too much. */
		Survivors left;
		/** Whether it is known that it is too much. */
		boolean tooMuch;

		/** Whether the deficits of all blocks and divisions are known. */
		boolean isExact() {
			return deficits != null && deficits.blocks != null;
		}

		Anchor(double p) {
			this.p = p;
		}
	}

	/** Sums over the children of a node of the best values of all intervals that were computed. */
	private static final class Table {
		/** Best value of (i, j) at [j][i], summed over children. */
		final long[][] sum;
		boolean filled;

		Table(int slices) {
			sum = new long[slices][];
			for (int j = 0; j < slices; j++) {
				sum[j] = new long[j + 1];
			}
		}

		void add(Table other) {
			for (int j = 0; j < sum.length; j++) {
				SpatiotemporalAggregator.add(sum[j], other.sum[j], 0, j + 1);
			}
		}
	}

	/** Work space of one thread. */
	private static final class Scratch {
		/** Best value of (i, j) of the node at [j][i]. */
		final long[][] best;
		/** Values of the blocks that end in a column, then of block or children. */
		final long[] block;
		final long[] base;
		/** Best value and, below, the start of the last block. */
		final long[] column;
		/** What a division is worth at most. */
		final long[] bound;
		final double[] loss;
		final int[] cuts;

		Scratch(int slices) {
			best = new long[slices][];
			for (int j = 0; j < slices; j++) {
				best[j] = new long[j + 1];
			}
			block = new long[slices];
			base = new long[slices];
			column = new long[slices];
			bound = new long[slices];
			loss = new double[slices];
			cuts = new int[slices];
		}
	}

	/**
	 * Where the programme of one p has to look: what a partition through an interval is worth at p is, as a convex function, at most what
	 * lies on the straight line between two known p.
	 */
	private final class Scope {
		final double p;
		final Deficits below;
		final Deficits above;
		final float partBelow;
		final float partAbove;
		final float most;
		/** p, rounded down. */
		final char here;
		/** Least deficit of what is left out. */
		final double line;
		final double allowed;
		/** For each node whose children are needed the first slice of the intervals that are, by last slice; beyond it: none. */
		final int[][] childFrom = new int[tree.size()][];
		/** Nodes whose children are solved; of others that need theirs a bound is used. null: all. */
		boolean[] opened;
		/** Best values of all intervals of all nodes, at j (j + 1) / 2 + i, where deficits are found from them; nothing is left out then. */
		long[][] all;

		Scope(double p, Anchor low, Anchor high) {
			this.p = p;
			double pLow = low == null ? 0 : low.p;
			double pHigh = high == null ? 1 : high.p;
			double valueLow = low == null ? 0 : low.value;
			double valueHigh = high == null ? rootGain() / scale : high.value;
			double part = (p - pLow) / (pHigh - pLow);
			below = low == null ? null : low.deficits;
			above = high == null ? null : high.deficits;
			line = (1 - part) * valueLow + part * valueHigh;
			// the best is at least one block, and the finest partition: that is less than 0 where rows are kept whole
			double known = Math.max(p * finestGain - (1 - p) * finestLoss, p * rootGain() - (1 - p) * rootLoss()) / scale;
			for (Anchor a : anchors) {
				known = Math.max(known, (p * a.partition.gain() - (1 - p) * a.partition.loss()) / scale);
			}
			double gap = Math.max(0, line - known);
			allowed = gap * (1 + WIDER) + MARGIN;
			partBelow = (float) (1 - part);
			partAbove = (float) part;
			most = (float) (allowed * (1 + 1e-5));
			here = Deficits.down(p);
		}

		/** Fills in {@link #childFrom} of a node whose parent's is known. */
		void look(int n, int[] from) {
			childFrom[n] = null;
			if (all != null) {
				childFrom[n] = busy[n] ? everything : null;
				return;
			}
			if (from == null || !busy[n] || opened != null && !opened[n]) {
				return;
			}
			char[] a = above == null ? null : above.lower[n];
			char[] b = below == null ? null : below.lower[n];
			char[] upTo = dividedUpTo[n];
			float known = (above != null && a == null ? partAbove * above.elsewhere(n) : 0)
					+ (below != null && b == null ? partBelow * below.elsewhere(n) : 0);
			int[] to = new int[slices];
			int first = slices;
			boolean some = false;
			for (int j = slices - 1; j >= 0; j--) {
				int end = Math.min(first, j + 1);
				int i = from[j];
				int at = j * (j + 1) / 2;
				while (i < end && (upTo[at + i] < here || known + (a == null ? 0 : partAbove * Deficits.value(a[at + i]))
						+ (b == null ? 0 : partBelow * Deficits.value(b[at + i])) > most)) {
					i++;
				}
				first = i < end ? i : first;
				to[j] = first;
				some |= first <= j;
			}
			childFrom[n] = some ? to : null;
		}

		int count() {
			int count = 0;
			for (int n = 0; opened != null && n < opened.length; n++) {
				count += opened[n] ? 1 : 0;
			}
			return count;
		}

		/** Whether the best values of all intervals of a node are 0. */
		boolean isZero(int n) {
			return idle(n) || all == null && p < cellsUpTo[n];
		}

		/** Whether a node with values is needed, and then for which intervals: by last slice the first slice. */
		int[] from(int n) {
			int parent = tree.parent(n);
			return parent < 0 ? everything : childFrom[parent];
		}
	}

	private SpatiotemporalAggregator(MicroscopicModel model, BlockTree tree, Qualities qualities, Progress progress)
			throws CancelledException {
		this.model = model;
		this.tree = tree;
		this.qualities = qualities;
		this.slices = model.sliceCount();
		this.small = slices <= 127;
		this.indexBits = 64 - Long.numberOfLeadingZeros(slices);
		this.mask = (1L << indexBits) - 1;
		int bits = Math.min(VALUE_BITS, 61 - indexBits);
		// gain + loss of the root is below 2^bits units; no value of a programme is further from 0, no sum of two leaves a long
		double most = Math.max(rootGain() + rootLoss(), qualities.leastScale());
		this.exponent = Math.max(Double.MIN_EXPONENT, Math.getExponent(Math.max(most, Double.MIN_NORMAL)) + 1 - bits);
		this.perUnit = Math.scalb(1.0, -exponent);
		this.tie = Math.max(1, Math.round(TOLERANCE * most * perUnit)) << indexBits;
		this.scale = Math.max(most, Double.MIN_NORMAL);
		this.perShiftedUnit = 1 / (scale * perUnit) / (1L << indexBits);
		this.surely = (long) ((SURELY + tree.weight(0) * slices * 0x1p-50) * scale * perUnit) + 1;
		this.logLengths = new double[slices][];
		for (int j = 0; j < slices; j++) {
			logLengths[j] = new double[j + 1];
			for (int i = 0; i <= j; i++) {
				logLengths[j][i] = qualities.lengths.log(i, j + 1);
			}
		}
		this.busy = new boolean[tree.size()];
		for (int n = 1; n < tree.size(); n++) {
			busy[tree.parent(n)] |= !idle(n);
		}
		this.everything = new int[slices];
		int some = 0;
		for (int n = 0; n < tree.size(); n++) {
			some += idle(n) ? 0 : 1;
		}
		this.active = some;
		this.allSteps = active / 6.0 * slices * slices * slices;
		this.allBytes = active * (4L * slices * (slices + 1) + 16);
		double gain = 0;
		double loss = 0;
		for (int n = 0; n < tree.size(); n++) {
			for (int t = 0; t < slices && tree.isLeaf(n) && !idle(n); t++) {
				gain += qualities.gain(n, t, t + 1);
				loss += qualities.loss(n, t, t + 1);
			}
		}
		this.finestGain = gain;
		this.finestLoss = loss;
		this.byteCuts = small ? new byte[tree.size()][] : null;
		this.shortCuts = small ? null : new short[tree.size()][];
		this.anchorRoom = Math.min(MOST_ANCHOR_BYTES, Math.max(LEAST_ANCHOR_BYTES, qualities.memoryBytes()));
		this.cellsUpTo = new float[tree.size()];
		this.zeros = new Table(slices);
		this.dividedUpTo = dividedUpTo(progress);
	}

	/** A division has at most the gains of the children, and no loss. */
	private char[][] dividedUpTo(Progress progress) throws CancelledException {
		char[][] result = new char[tree.size()][];
		int size = slices * (slices + 1) / 2;
		Parallel.run((tree.size() + 255) / 256, progress, part -> {
			Scratch scratch = takeScratch();
			for (int n = 256 * part; n < Math.min(tree.size(), 256 * part + 256); n++) {
				cellsUpTo[n] = tree.isLeaf(n) && !qualities.isRow(n) ? 0 : 1;
				if (idle(n)) {
					continue;
				}
				progress.check();
				char[] to = busy[n] ? new char[size] : null;
				for (int j = 0; j < slices; j++) {
					qualities.copyGains(n, j, 0, exponent, scratch.block);
					losses(n, 1, j, 0, scratch);
					if (cellsUpTo[n] > 0) {
						cellsUpTo[n] = Math.min(cellsUpTo[n], cellsUpTo(scratch.loss, scratch.block, 8 * (tie >> indexBits), qualities.isRow(n) ? j : j + 1));
					}
					if (to != null) {
						bounds(n, 1, j, 0, scratch);
						upTo(to, j * (j + 1) / 2, scratch.loss, scratch.block, scratch.bound, indexBits, surely, j + 1);
					}
				}
				result[n] = to;
			}
			giveScratch(scratch);
		});
		for (int n = tree.size() - 1; n > 0; n--) {
			cellsUpTo[tree.parent(n)] = Math.min(cellsUpTo[tree.parent(n)], cellsUpTo[n]);
		}
		return result;
	}

	/** The least p at which a block could be as good as its cells. */
	private static float cellsUpTo(double[] totals, long[] gain, long more, int end) {
		double least = 1;
		for (int i = 0; i < end; i++) {
			if (totals[i] != WHOLE) {
				double loss = totals[i] - WHOLE - gain[i] - more;
				least = loss > 0 ? Math.min(least, loss / (loss + gain[i])) : 0;
			}
		}
		return (float) least * (1 - 0x1p-22f);
	}

	private static void upTo(char[] to, int at, double[] totals, long[] gain, long[] bound, int bits, long surely, int end) {
		for (int i = 0; i < end; i++) {
			if (totals[i] == WHOLE && gain[i] == 0) {
				to[at + i] = 0; // nothing happens: one block is as good as any division, exactly
				continue;
			}
			double loss = Math.max(0, totals[i] - WHOLE - gain[i]) + surely;
			double p = loss / (loss + Math.max(0, gain[i] - (bound[i] >> bits)));
			to[at + i] = (char) (Deficits.down(p) + 2);
		}
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
		long bytes = qualities.memoryBytes() + 20L * tree.size() + anchorBytes();
		Survivors last = null;
		for (Anchor a : anchors) {
			bytes += a.left == null || a.left == last ? 0 : a.left.memoryBytes();
			last = a.left;
		}
		for (int n = 0; n < tree.size(); n++) {
			bytes += dividedUpTo[n] == null ? 0 : 16 + 2L * dividedUpTo[n].length;
			bytes += small ? byteCuts[n] == null ? 0 : byteCuts[n].length : shortCuts[n] == null ? 0 : 2L * shortCuts[n].length;
		}
		return bytes;
	}

	private long anchorBytes() {
		return anchors.stream().mapToLong(a -> a.deficits == null ? 0 : a.deficits.memoryBytes()).sum();
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
		for (Anchor a : anchors) {
			a.deficits = null;
			a.left = null;
			a.tooMuch = false;
		}
		pool.clear();
		scratches.clear();
		if (small) {
			Arrays.fill(byteCuts, null);
		} else {
			Arrays.fill(shortCuts, null);
		}
	}

	@Override
	public synchronized Partition partition(double p, Progress progress) throws CancelledException {
		if (!(p >= 0 && p <= 1)) {
			throw new IllegalArgumentException("p is " + p + ", not in 0..1");
		}
		double inside = Math.min(1 - P_MARGIN, Math.max(P_MARGIN, p));
		int at = 0;
		while (at < anchors.size() && anchors.get(at).p < inside) {
			at++;
		}
		Anchor above = at < anchors.size() ? anchors.get(at) : null;
		if (above != null && above.p == inside) {
			return above.partition.at(p);
		}
		Anchor below = at > 0 ? anchors.get(at - 1) : null;
		// what is best at two p is best between them, and one block is best up to 1
		if (below != null && (above == null ? below.partition.blockCount() == 1 : below.partition.sameBlocks(above.partition))) {
			return below.partition.at(p);
		}
		Survivors left = below == null || above == null ? null : left(below, above);
		if (left != null && left.span.isFarEnough((inside - left.low.p) / (left.high.p - left.low.p))) {
			Anchor found = solveLeft(left, inside, p, below, progress);
			anchors.add(at, found);
			forget(found);
			return found.partition;
		}
		Anchor low = null;
		for (int a = at - 1; a >= 0 && low == null; a--) {
			low = anchors.get(a).deficits != null ? anchors.get(a) : null;
		}
		Anchor high = null;
		for (int a = at; a < anchors.size() && high == null; a++) {
			high = anchors.get(a).deficits != null ? anchors.get(a) : null;
		}
		if (low != null) {
			low.deficits.finish(tree, qualities.chunks, slices);
		}
		if (high != null) {
			high.deficits.finish(tree, qualities.chunks, slices);
		}
		Anchor found = new Anchor(inside);
		if (inside >= LEAST_TELLING_P) {
			found.deficits = new Deficits(tree.size());
		}
		Scope scope = new Scope(inside, low, high);
		long nodes = open(scope, below, above);
		long most = (long) (MOST_TRIED * nodes);
		long solved = 0;
		while (true) {
			if (scope.opened == null && many && 2 * nodes > active && wholeProgrammes++ >= FIRST_WHOLE && slices <= MOST_SLICES
					&& allBytes <= 2 * anchorRoom) {
				scope.all = new long[tree.size()][];
				found.deficits = null;
			}
			long last = solve(found, scope, progress);
			solved += last;
			found.partition = read(inside, p, scope, progress);
			if (found.partition != null) {
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
		if (below != null) {
			found.left = below.left; // that between the two is left for each part of it
			below.tooMuch = false;
		}
		anchors.add(at, found);
		if (found.isExact() && below != null && above != null) {
			left(below, found);
			left(found, above);
			for (int a = at - 1; a <= at + 1; a++) {
				release(a);
			}
		}
		forget(found);
		return found.partition;
	}

	/** Frees the deficits of a known p that nobody will ask for: at both sides it is known what is left. */
	private void release(int a) {
		Anchor known = anchors.get(a);
		if (known.isExact() && (a == 0 || isLeftKnown(a - 1)) && (a == anchors.size() - 1 || isLeftKnown(a))) {
			known.deficits = null;
		}
	}

	private boolean isLeftKnown(int a) {
		return anchors.get(a).left != null || anchors.get(a).partition.sameBlocks(anchors.get(a + 1).partition);
	}

	/** Frees memory, but not what belongs to the p that was just found. */
	private void forget(Anchor found) {
		while (anchors.size() > MOST_KNOWN) {
			anchors.remove(dropNearest(found, false));
		}
		while (anchors.stream().filter(a -> a.deficits != null).count() > MOST_ANCHORS || anchorBytes() > anchorRoom) {
			int drop = dropNearest(found, true);
			if (drop < 0) {
				found.deficits = null;
				return;
			}
			anchors.get(drop).deficits = null;
		}
	}

	/** What is left between two neighbours, or null. */
	private Survivors left(Anchor below, Anchor above) {
		if (below.left != null || below.tooMuch || !below.isExact() && !above.isExact()) {
			return below.left;
		}
		below.left = Survivors.of(this, below, above, span(below, above), MOST_LEFT * allSteps);
		below.tooMuch = below.left == null;
		return below.left;
	}

	private Survivors.Span span(Anchor low, Anchor high) {
		return span(low, low.isExact(), high, high.isExact());
	}

	/** What is asked of blocks and divisions between two p, see {@link Survivors}. */
	private Survivors.Span span(Anchor low, boolean lowKnown, Anchor high, boolean highKnown) {
		double gain = high.partition.gain() - low.partition.gain();
		double loss = high.partition.loss() - low.partition.loss();
		double cross = gain + loss > 0 ? loss / (gain + loss) : 0.5;
		cross = Math.min(high.p, Math.max(low.p, cross));
		double weight = (cross - low.p) / (high.p - low.p);
		double line = (1 - weight) * low.value + weight * high.value;
		double known = Math.max(cross * low.partition.gain() - (1 - cross) * low.partition.loss(),
				cross * high.partition.gain() - (1 - cross) * high.partition.loss()) / scale;
		double allowed = Math.max(0, line - known) * (1 + 1e-5) + (lowKnown && highKnown ? 1 : Survivors.NEAR) * MARGIN;
		return new Survivors.Span(weight, allowed, lowKnown, highKnown, MARGIN);
	}

	/**
	 * Deficits of all blocks and divisions, from the top to the base: what is outside of an interval of a node, at best, is what is outside of
	 * an interval around it that the parent divides, the best of the other children there, and the best of the node before and behind it. What
	 * is worse than matters to both neighbours is not followed.
	 *
	 * @param all best values of all intervals
	 */
	private Deficits deficits(Anchor found, Anchor below, Anchor above, long[][] all, Progress progress) throws CancelledException {
		double most = Math.max(
				below == null ? Double.POSITIVE_INFINITY : limit(span(below, below.isExact(), found, true), true),
				above == null ? Double.POSITIVE_INFINITY : limit(span(found, true, above, above.isExact()), false)) * 1.01 + 2 * MARGIN;
		long best = all[0][all[0].length - slices];
		// a value that is less than this is not followed
		long least = most / perShiftedUnit < 0x1p61 ? Math.max(Survivors.NONE / 2, best - (long) (most / perShiftedUnit)) : Survivors.NONE / 2;
		char cap = Deficits.down(most);
		char[][] blocks = new char[tree.size()][];
		char[][] divisions = new char[tree.size()][];
		Chunks chunks = qualities.chunks;
		Outside top = new Outside(found.p, all, best, least, cap, blocks, divisions);
		// best partitions with a division of an interval, for nodes above the chunks
		long[][] with = new long[tree.size()][];
		for (int n : chunks.top) {
			progress.check();
			if (!idle(n)) {
				int parent = tree.parent(n);
				with[n] = top.node(n, parent < 0 ? null : with[parent], parent < 0);
			}
		}
		Parallel.run(chunks.count(), progress, c -> {
			Outside part = new Outside(found.p, all, best, least, cap, blocks, divisions);
			long[][] mine = new long[chunks.to[c] - chunks.from[c]][];
			for (int n = chunks.from[c]; n < chunks.to[c]; n++) {
				progress.check();
				int parent = tree.parent(n);
				if (!idle(n)) {
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

	/** Work space of one thread for {@link #deficits}. */
	private final class Outside {
		private final double p;
		private final long[][] all;
		private final long best;
		private final long least;
		private final char cap;
		private final char[] far;
		private final char[][] blocks;
		private final char[][] divisions;
		/** What is outside of (i, j) at [i][j], and of intervals that are used from slice i to an end j. */
		private final long[][] interval = new long[slices][slices];
		private final long[] row = new long[slices];
		/** The latter at [j][i]. */
		private final long[][] ending = new long[slices][slices];
		private final boolean[] some = new boolean[slices];
		private final long[] column = new long[slices];
		private final Scratch scratch = new Scratch(slices);

		Outside(double p, long[][] all, long best, long least, char cap, char[][] blocks, char[][] divisions) {
			this.p = p;
			this.all = all;
			this.best = best;
			this.least = least;
			this.cap = cap;
			this.blocks = blocks;
			this.divisions = divisions;
			this.far = new char[slices * (slices + 1) / 2];
			Arrays.fill(far, cap);
		}

		/**
		 * Finds the deficits of one node.
		 *
		 * @param around values of the best partitions that divide (parent, i, j), at j (j + 1) / 2 + i; null for none
		 * @return the same for this node; null for none
		 */
		long[] node(int n, long[] around, boolean root) {
			long[] mine = all[n];
			boolean any = root;
			for (int i = 0; i < slices; i++) {
				long[] to = interval[i];
				boolean here = root && i == 0;
				for (int j = i; j < slices; j++) {
					int at = j * (j + 1) / 2 + i;
					long v = around == null ? Survivors.NONE : around[at];
					boolean follow = v > Survivors.NONE / 2 && v >= least;
					to[j] = follow ? v - mine[at] : Survivors.NONE;
					here |= follow;
				}
				some[i] = here;
				any |= here;
			}
			if (!any) {
				blocks[n] = far;
				divisions[n] = far;
				return null;
			}
			if (root) {
				interval[0][slices - 1] = 0;
			}
			begin(mine);
			return end(n, mine);
		}

		/** An interval may begin before what is used of it: the best of the node is before it. */
		private void begin(long[] mine) {
			long[][] b = new long[4][];
			long[] x = new long[4];
			for (int i = 0; i < slices; i++) {
				System.arraycopy(interval[i], i, row, i, slices - i);
				int waiting = 0;
				int at = i * (i - 1) / 2; // (., i - 1)
				for (int before = 0; before < i; before++) {
					if (some[before]) {
						b[waiting] = interval[before];
						x[waiting++] = mine[at + before];
						if (waiting == 4) {
							max4(row, b[0], x[0], b[1], x[1], b[2], x[2], b[3], x[3], i, slices);
							waiting = 0;
						}
					}
				}
				if (waiting > 0) {
					apply(row, waiting, b[0], x[0], b[1], x[1], b[2], x[2], i, slices);
				}
				for (int j = i; j < slices; j++) {
					ending[j][i] = row[j];
				}
			}
		}

		/** It may end behind it as well. */
		private long[] end(int n, long[] mine) {
			long[][] b = new long[4][];
			long[] x = new long[4];
			int size = slices * (slices + 1) / 2;
			char[] ofBlocks = new char[size];
			char[] ofDivisions = tree.isLeaf(n) ? null : new char[size];
			long[] with = busy[n] ? new long[size] : null;
			for (int j = 0; j < slices; j++) {
				System.arraycopy(ending[j], 0, column, 0, j + 1);
				int waiting = 0;
				for (int last = j + 1; last < slices; last++) {
					b[waiting] = ending[last];
					x[waiting++] = mine[last * (last + 1) / 2 + j + 1];
					if (waiting == 4) {
						max4(column, b[0], x[0], b[1], x[1], b[2], x[2], b[3], x[3], 0, j + 1);
						waiting = 0;
					}
				}
				if (waiting > 0) {
					apply(column, waiting, b[0], x[0], b[1], x[1], b[2], x[2], 0, j + 1);
				}
				int at = j * (j + 1) / 2;
				blocks(n, 1 - p, j, 0, scratch);
				tell(ofBlocks, at, scratch.block, j);
				if (ofDivisions != null) {
					long[] sum = scratch.base;
					Arrays.fill(sum, 0, j + 1, 0);
					for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
						if (all[m] != null) {
							for (int i = 0; i <= j; i++) {
								sum[i] += all[m][at + i];
							}
						}
					}
					tell(ofDivisions, at, sum, j);
					for (int i = 0; with != null && i <= j; i++) {
						with[at + i] = column[i] > Survivors.NONE / 2 ? column[i] + sum[i] : Survivors.NONE;
					}
				}
			}
			blocks[n] = ofBlocks;
			divisions[n] = ofDivisions;
			return with;
		}

		private void tell(char[] to, int at, long[] value, int j) {
			for (int i = 0; i <= j; i++) {
				to[at + i] = column[i] > Survivors.NONE / 2 ? (char) Math.min(cap, Deficits.down((best - column[i] - value[i]) * perShiftedUnit)) : cap;
			}
		}
	}

	/** The programme of what is left between two known p. */
	private Anchor solveLeft(Survivors left, double inside, double p, Anchor below, Progress progress) throws CancelledException {
		programmesOfSurvivors++;
		left.solve(inside, progress);
		Chunks.IntList nodes = new Chunks.IntList();
		Chunks.IntList intervals = new Chunks.IntList();
		left.read(nodes, intervals, progress);
		Anchor found = new Anchor(inside);
		found.value = left.value() * perShiftedUnit;
		found.partition = new Partition(this, p, nodes.toArray(), intervals.toArray(), nodes.size());
		found.left = left;
		if (left.size() > FEW_ELEMENTS) {
			float[] blocks = new float[left.size()];
			float[] divisions = new float[left.size()];
			left.deficits(blocks, divisions, progress);
			Anchor low = left.low;
			Anchor high = left.high;
			if (!low.partition.sameBlocks(found.partition)) {
				below.left = left.within(span(low, left.span.lowKnown(), found, true), found, true, blocks, divisions);
			}
			if (!high.partition.sameBlocks(found.partition)) {
				found.left = left.within(span(found, true, high, left.span.highKnown()), found, false, blocks, divisions);
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
	private long open(Scope scope, Anchor below, Anchor above) {
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
	private void divided(Anchor known, boolean[] opened) {
		for (int b = 0; known != null && b < known.partition.blockCount(); b++) {
			for (int n = tree.parent(known.partition.treeNode(b)); n >= 0 && !opened[n]; n = tree.parent(n)) {
				opened[n] = true;
			}
		}
	}

	/** The known p whose neighbours are closest to each other, of those that have deficits if that is asked for; -1 when there is none. */
	private int dropNearest(Anchor but, boolean deficits) {
		int drop = -1;
		double least = Double.POSITIVE_INFINITY;
		for (int a = 0; a < anchors.size(); a++) {
			double from = a == 0 ? 0 : anchors.get(a - 1).p;
			double to = a == anchors.size() - 1 ? 1 : anchors.get(a + 1).p;
			if (anchors.get(a) != but && to - from < least && (!deficits || anchors.get(a).deficits != null)) {
				least = to - from;
				drop = a;
			}
		}
		if (drop > 0 && !deficits) {
			anchors.get(drop - 1).left = null;
			anchors.get(drop - 1).tooMuch = true;
		}
		return drop;
	}

	/** Returns how many nodes were solved. */
	private long solve(Anchor found, Scope scope, Progress progress) throws CancelledException {
		LongAdder solved = new LongAdder();
		Chunks chunks = qualities.chunks;
		Table[] partial = new Table[chunks.count()];
		Table[] tables = new Table[tree.size()];
		for (int n : chunks.top) {
			progress.check();
			if (!scope.isZero(n)) {
				scope.look(n, scope.from(n));
			}
		}
		Parallel.run(chunks.count(), progress, c -> {
			int outside = chunks.parent[c];
			if (outside >= 0 && scope.childFrom[outside] == null) {
				return;
			}
			for (int n = chunks.from[c]; n < chunks.to[c]; n++) {
				if (!scope.isZero(n)) {
					scope.look(n, scope.from(n));
				}
			}
			Scratch scratch = takeScratch();
			int count = 0;
			for (int n = chunks.to[c] - 1; n >= chunks.from[c]; n--) {
				progress.check();
				int[] from = scope.isZero(n) ? null : scope.from(n);
				if (from == null) {
					continue;
				}
				count++;
				int parent = tree.parent(n);
				Table sum = null;
				if (parent >= 0) {
					sum = parent == outside ? partial[c] : tables[parent];
					if (sum == null) {
						sum = takeTable();
						if (parent == outside) {
							partial[c] = sum;
						} else {
							tables[parent] = sum;
						}
					}
				}
				solveNode(n, found, scope, from, tables[n], sum, scratch);
				giveTable(tables[n]);
				tables[n] = null;
			}
			giveScratch(scratch);
			solved.add(count);
		});
		Scratch scratch = takeScratch();
		int chunk = chunks.count() - 1;
		for (int t = chunks.top.length - 1; t >= 0; t--) {
			progress.check();
			int n = chunks.top[t];
			for (; chunk >= 0 && chunks.from[chunk] > n; chunk--) {
				if (partial[chunk] != null) {
					int parent = chunks.parent[chunk];
					if (tables[parent] == null) {
						tables[parent] = partial[chunk];
					} else {
						tables[parent].add(partial[chunk]);
						giveTable(partial[chunk]);
					}
					partial[chunk] = null;
				}
			}
			int[] from = scope.isZero(n) ? null : scope.from(n);
			if (from != null) {
				int parent = tree.parent(n);
				if (parent >= 0 && tables[parent] == null) {
					tables[parent] = takeTable();
				}
				solveNode(n, found, scope, from, tables[n], parent < 0 ? null : tables[parent], scratch);
				solved.increment();
				giveTable(tables[n]);
				tables[n] = null;
			}
		}
		giveScratch(scratch);
		if (found.deficits != null) {
			// what deficits have left out is worth no more than the line less what was allowed
			if (scope.above != null || scope.below != null) {
				found.deficits.cap = Deficits.down(found.value - scope.line + scope.allowed - 0.5 * MARGIN);
			}
		}
		return solved.sum();
	}

	/** Whether no loss of the node is more than what counts as equal; then each interval is one block. */
	boolean calm(int n, double q) {
		return q * qualities.total(n, 0, slices) * perUnit <= tie >> indexBits;
	}

	/**
	 * Nodes whose best value is 0 for every interval: nothing below, or a row with one value per type. Several rows that are kept whole can
	 * have no gain either, when one of them has all values, but they lose something in every interval.
	 */
	boolean idle(int n) {
		return qualities.before[n] == null || qualities.gainless(n) && qualities.isRow(n);
	}

	/**
	 * One node of the programme: best(n, i, j) for the intervals that are needed, added to the table of the parent.
	 *
	 * @param from first slice of the intervals that are needed, by last slice, not decreasing
	 * @param sums of the children; null when all of them are 0, or none is needed
	 * @param sum table of the parent, null at the root
	 */
	private void solveNode(int n, Anchor found, Scope scope, int[] from, Table sums, Table sum, Scratch scratch) {
		Table children = sums == null ? zeros : sums;
		double q = 1 - found.p;
		boolean leaf = tree.isLeaf(n);
		boolean calm = calm(n, q);
		int[] childFrom = scope.childFrom[n];
		boolean closed = busy[n] && scope.opened != null && !scope.opened[n];
		char[] gaps = null;
		if (found.deficits != null && busy[n]) {
			gaps = found.deficits.lower[n] != null ? found.deficits.lower[n] : new char[slices * (slices + 1) / 2];
			found.deficits.lower[n] = gaps;
		}
		if (!leaf) {
			makeCuts(n);
		}
		long[] keep = null;
		if (scope.all != null) {
			keep = new long[slices * (slices + 1) / 2];
			scope.all[n] = keep;
		}
		long[] block = scratch.block;
		long[] column = scratch.column;
		for (int j = 0; j < slices; j++) {
			int first = from[j];
			if (first > j) {
				continue;
			}
			blocks(n, q, j, first, scratch);
			int divided = !busy[n] ? leaf ? j + 1 : first : childFrom == null ? j + 1 : Math.min(childFrom[j], j + 1);
			long[] base = block;
			if (closed) {
				bounds(n, found.p, j, first, scratch);
				if (!calm) {
					base = scratch.base;
					optimistic(base, block, scratch.bound, tie, dividedUpTo[n], j * (j + 1) / 2, scope.here, first, j + 1);
				}
			} else if (divided <= j && !calm) {
				base = scratch.base;
				System.arraycopy(block, first, base, first, divided - first);
				max(base, block, children.sum[j], divided, j + 1);
			}
			orMask(column, base, mask, first, j + 1);
			if (!calm) {
				column(j, first, base, scratch);
			}
			if (!leaf) {
				choices(n, j, first, base, scratch);
			}
			long[] best = scratch.best[j];
			if (sum == null) {
				finish(best, column, mask, first, j + 1);
			} else if (sum.filled) {
				finishAndAdd(best, column, mask, sum.sum[j], first, j + 1);
			} else {
				finishAndCopy(best, column, mask, sum.sum[j], first, j + 1);
			}
			if (keep != null) {
				System.arraycopy(best, 0, keep, j * (j + 1) / 2, j + 1);
			}
			if (gaps != null) {
				int at = j * (j + 1) / 2;
				if (closed) {
					differences(gaps, at, best, scratch.bound, perShiftedUnit, first, j + 1);
				} else if (first < divided) {
					leftOut(n, found.p, j, first, divided, gaps, scratch);
				}
				if (n > 0 && divided <= j) {
					differences(gaps, at, best, children.sum[j], perShiftedUnit, divided, j + 1);
				}
			}
		}
		if (sum != null) {
			sum.filled = true;
		} else {
			found.value = scratch.best[slices - 1][0] * perShiftedUnit;
			if (gaps != null) {
				rootDeficits(gaps, childFrom, children, scratch);
			}
		}
	}

	/** By how much one block is better than any division, for from <= i < end; where that is not sure, the division is too bad elsewhere. */
	private void leftOut(int n, double p, int j, int from, int end, char[] gaps, Scratch scratch) {
		bounds(n, p, j, from, scratch);
		int at = j * (j + 1) / 2;
		for (int i = from; i < end; i++) {
			long gap = scratch.block[i] - scratch.bound[i];
			gaps[at + i] = gap > 0 ? Deficits.down(gap * perShiftedUnit) : Deficits.INFINITE;
		}
	}

	/** What dividing (n, i, j) is worth at most: the gains of the children without loss, and what rounding makes of it. */
	private void bounds(int n, double p, int j, int from, Scratch scratch) {
		long[] bound = scratch.bound;
		Arrays.fill(bound, from, j + 1, 0);
		for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
			if (!qualities.gainless(m)) {
				qualities.copyGains(m, j, from, exponent, scratch.column);
				add(bound, scratch.column, from, j + 1);
			}
		}
		for (int i = from; i <= j; i++) {
			bound[i] = (long) (p * bound[i]) + surely << indexBits;
		}
	}

	/**
	 * The block, or what its division is worth at most where that may be more. A division is worth less than the bound by far more than what
	 * counts as equal, so where the bound is hardly above the block the block is the best; else the bound is seen to be chosen.
	 */
	private static void optimistic(long[] base, long[] block, long[] bound, long tie, char[] upTo, int at, char here, int from, int end) {
		for (int i = from; i < end; i++) {
			base[i] = upTo[at + i] < here || bound[i] <= block[i] + tie ? block[i] : bound[i];
		}
	}

	private static void differences(char[] to, int at, long[] best, long[] children, double unit, int from, int end) {
		for (int i = from; i < end; i++) {
			to[at + i] = Deficits.down((best[i] - children[i]) * unit);
		}
	}

	/** The best of everything less the best with (i, j) divided among the children of the root. */
	private void rootDeficits(char[] to, int[] childFrom, Table children, Scratch scratch) {
		long[][] best = scratch.best;
		long most = best[slices - 1][0];
		for (int j = 0; j < slices; j++) {
			for (int i = 0; i <= j; i++) {
				long outside = (i == 0 ? 0 : best[i - 1][0]) + (j == slices - 1 ? 0 : best[slices - 1][j + 1]);
				int at = j * (j + 1) / 2 + i;
				if (childFrom != null && i >= childFrom[j]) {
					to[at] = Deficits.down((most - outside - children.sum[j][i]) * perShiftedUnit);
				} else if (to[at] < Deficits.INFINITE) {
					to[at] = Deficits.down((most - outside - best[j][i]) * perShiftedUnit + Deficits.value(to[at]));
				}
			}
		}
	}

	private void makeCuts(int n) {
		int size = slices * (slices + 1) / 2;
		if (small && byteCuts[n] == null) {
			byteCuts[n] = new byte[size];
		} else if (!small && shortCuts[n] == null) {
			shortCuts[n] = new short[size];
		}
	}

	Qualities qualities() {
		return qualities;
	}

	/** See {@link #TOLERANCE}, in shifted units. */
	long tie() {
		return tie;
	}

	/** What makes of a value a part of the gain and loss of the root. */
	double perShiftedUnit() {
		return perShiftedUnit;
	}

	/** Value of the block (n, i, j), as {@link #blocks} has it. */
	long blockValue(int n, int i, int j, double q) {
		double loss = (qualities.before[n][j + 1] - qualities.before[n][i]) * (logLengths[j][i] + qualities.logRows[n]);
		loss = qualities.weighted == null ? q * perUnit * loss + WHOLE
				: Math.max(0, q * perUnit * (loss - (qualities.weighted[n][j + 1] - qualities.weighted[n][i]))) + WHOLE;
		return qualities.block(n, i, j, exponent, loss, WHOLE, indexBits);
	}

	/** Adds the blocks of a row without gains: its values one by one, where each of them is far more than what counts as equal. */
	void readRow(int n, double q, int first, int end, Chunks.IntList nodes, Chunks.IntList intervals) {
		double[] before = qualities.before[n];
		boolean plain = qualities.weighted == null;
		for (int t = first; t < end && plain; t++) {
			double v = before[t + 1] - before[t];
			plain = v == 0 || q * v * perUnit > 8 * (tie >> indexBits);
		}
		Scratch scratch = plain ? null : takeScratch();
		if (!plain) {
			leafCuts(n, q, first, end, scratch);
		}
		while (end > first) {
			int c = plain ? end - 1 : scratch.cuts[end - 1];
			while (plain && c > first && before[c + 1] == before[c] && before[c] == before[c - 1]) {
				c--;
			}
			nodes.add(n);
			intervals.add(c << 16 | end);
			end = c;
		}
		if (!plain) {
			giveScratch(scratch);
		}
	}

	/** Values of the blocks (n, i, j) for from <= i <= j: gain - q * S * log2 c. */
	private void blocks(int n, double q, int j, int from, Scratch scratch) {
		losses(n, q, j, from, scratch);
		qualities.blocks(n, j, from, exponent, scratch.loss, WHOLE, indexBits, scratch.block);
	}

	/** q * S * log2 c in units, and {@link #WHOLE}. */
	private void losses(int n, double q, int j, int from, Scratch scratch) {
		double[] before = qualities.before[n];
		if (qualities.weighted == null) {
			losses(scratch.loss, before, logLengths[j], before[j + 1], qualities.logRows[n], q * perUnit, from, j + 1);
		} else {
			unequal(scratch.loss, before, logLengths[j], before[j + 1], qualities.logRows[n], qualities.weighted[n], q * perUnit, from,
					j + 1);
		}
	}

	private static void losses(double[] loss, double[] before, double[] logLength, double end, double logRows, double q, int from,
			int to) {
		for (int i = from; i < to; i++) {
			loss[i] = q * ((end - before[i]) * (logLength[i] + logRows)) + WHOLE;
		}
	}

	/** The loss when slices have different lengths. What rounding makes negative becomes 0. */
	private static void unequal(double[] loss, double[] before, double[] logLength, double end, double logRows, double[] weighted,
			double q, int from, int to) {
		double weightedEnd = weighted[to];
		for (int i = from; i < to; i++) {
			loss[i] = Math.max(0, q * ((end - before[i]) * (logLength[i] + logRows) - (weightedEnd - weighted[i]))) + WHOLE;
		}
	}

	private static void max(long[] to, long[] a, long[] b, int from, int end) {
		for (int i = from; i < end; i++) {
			to[i] = Math.max(a[i], b[i]);
		}
	}

	/** The choices of a column, from its values. */
	private void choices(int n, int j, int from, long[] base, Scratch scratch) {
		int at = j * (j + 1) / 2;
		if (small) {
			choices(byteCuts[n], at, scratch.column, base, scratch.block, mask, tie, from, j + 1);
		} else {
			choices(shortCuts[n], at, scratch.column, base, scratch.block, mask, tie, from, j + 1);
		}
	}

	private static void choices(byte[] to, int at, long[] column, long[] base, long[] block, long mask, long tie, int from, int end) {
		for (int i = from; i < end; i++) {
			to[at + i] = (byte) (start(column[i], base[i], mask, tie, i) | (int) (block[i] - (base[i] - tie) >> 63) & 0x80);
		}
	}

	private static void choices(short[] to, int at, long[] column, long[] base, long[] block, long mask, long tie, int from, int end) {
		for (int i = from; i < end; i++) {
			to[at + i] = (short) (start(column[i], base[i], mask, tie, i) | (int) (block[i] - (base[i] - tie) >> 63) & 0x8000);
		}
	}

	/** Start of the last block of the best of (i, j): no cut before a cut; of exact equals the earliest. */
	private static int start(long value, long base, long mask, long tie, int i) {
		return base >= (value & ~mask) - tie ? i : (int) (mask - (value & mask));
	}

	/**
	 * best(i, j) for from <= i <= j: base(i, j), or best(i, c - 1) + base(c, j) where that is more. A start c of which the block (c, j) is
	 * better divided again is never needed. Up to four starts wait until they are applied together, along i: all arrays have the same
	 * index, so that the compiler uses vector instructions. What c itself needs of those that wait is done at once.
	 */
	private void column(int j, int from, long[] base, Scratch scratch) {
		long[] column = scratch.column;
		long[][] best = scratch.best;
		long m = mask;
		long[] b1 = null;
		long[] b2 = null;
		long[] b3 = null;
		long x1 = 0;
		long x2 = 0;
		long x3 = 0;
		int waiting = 0;
		int gap = 0;
		for (int c = j; c > from; c--) {
			long value = column[c];
			if (waiting > 0) {
				value = Math.max(value, x1 + b1[c]);
				if (waiting > 1) {
					value = Math.max(value, x2 + b2[c]);
					if (waiting > 2) {
						value = Math.max(value, x3 + b3[c]);
					}
				}
				column[c] = value;
			}
			if ((value & m) == m) {
				long x = base[c] + (m - c);
				long[] b = best[c - 1];
				gap = 0;
				switch (waiting++) {
				case 0 -> {
					x1 = x;
					b1 = b;
				}
				case 1 -> {
					x2 = x;
					b2 = b;
				}
				case 2 -> {
					x3 = x;
					b3 = b;
				}
				default -> {
					max4(column, b1, x1, b2, x2, b3, x3, b, x, from, c);
					waiting = 0;
				}
				}
			} else if (waiting > 0 && ++gap == 3) {
				apply(column, waiting, b1, x1, b2, x2, b3, x3, from, c);
				waiting = 0;
			}
		}
		if (waiting > 0) {
			apply(column, waiting, b1, x1, b2, x2, b3, x3, from, from + 1);
		}
	}

	private static void orMask(long[] column, long[] base, long mask, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = base[i] | mask;
		}
	}

	private static void apply(long[] column, int count, long[] b1, long x1, long[] b2, long x2, long[] b3, long x3, int from, int end) {
		switch (count) {
		case 1 -> max1(column, b1, x1, from, end);
		case 2 -> max2(column, b1, x1, b2, x2, from, end);
		default -> max3(column, b1, x1, b2, x2, b3, x3, from, end);
		}
	}

	private static void max1(long[] column, long[] b1, long x1, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(column[i], x1 + b1[i]);
		}
	}

	private static void max2(long[] column, long[] b1, long x1, long[] b2, long x2, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(Math.max(column[i], x1 + b1[i]), x2 + b2[i]);
		}
	}

	private static void max3(long[] column, long[] b1, long x1, long[] b2, long x2, long[] b3, long x3, int from, int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(Math.max(Math.max(column[i], x1 + b1[i]), x2 + b2[i]), x3 + b3[i]);
		}
	}

	private static void max4(long[] column, long[] b1, long x1, long[] b2, long x2, long[] b3, long x3, long[] b4, long x4, int from,
			int end) {
		for (int i = from; i < end; i++) {
			column[i] = Math.max(Math.max(Math.max(column[i], x1 + b1[i]), x2 + b2[i]), Math.max(x3 + b3[i], x4 + b4[i]));
		}
	}

	/** The best values without what is below them. */
	private static void finish(long[] best, long[] column, long mask, int from, int end) {
		for (int i = from; i < end; i++) {
			best[i] = column[i] & ~mask;
		}
	}

	private static void add(long[] sum, long[] x, int from, int end) {
		for (int i = from; i < end; i++) {
			sum[i] += x[i];
		}
	}

	private static void finishAndAdd(long[] best, long[] column, long mask, long[] sum, int from, int end) {
		for (int i = from; i < end; i++) {
			long v = column[i] & ~mask;
			best[i] = v;
			sum[i] += v;
		}
	}

	private static void finishAndCopy(long[] best, long[] column, long mask, long[] sum, int from, int end) {
		for (int i = from; i < end; i++) {
			long v = column[i] & ~mask;
			best[i] = v;
			sum[i] = v;
		}
	}

	/**
	 * Reads the partition from the cuts; those of leaves are computed again. Where it has a division of which only a bound is known, that node
	 * is opened.
	 *
	 * @return null when there was one
	 */
	private Partition read(double inside, double p, Scope scope, Progress progress) throws CancelledException {
		Scratch scratch = takeScratch();
		boolean guessed = false;
		Chunks.IntList nodes = new Chunks.IntList();
		Chunks.IntList intervals = new Chunks.IntList();
		int[] stack = new int[64];
		int depth = 0;
		stack[depth++] = 0;
		stack[depth++] = slices; // first << 16 | end, first = 0
		while (depth > 0) {
			int interval = stack[--depth];
			int n = stack[--depth];
			int first = interval >>> 16;
			int end = interval & 0xffff;
			if (qualities.before[n] == null || qualities.sum(n, first, end) == 0) {
				nodes.add(n);
				intervals.add(interval);
				continue;
			}
			boolean leaf = tree.isLeaf(n);
			if (scope.isZero(n)) {
				progress.check();
				if (leaf) {
					readRow(n, 1 - inside, first, end, nodes, intervals);
				} else if (blockValue(n, first, end - 1, 1 - inside) >= -tie) {
					nodes.add(n); // one cell, of a node that has one row
					intervals.add(interval);
				} else {
					for (int child = n + 1; child < tree.end(n); child = tree.end(child)) {
						if (depth + 2 > stack.length) {
							stack = Arrays.copyOf(stack, 2 * stack.length);
						}
						stack[depth++] = child;
						stack[depth++] = interval;
					}
				}
				continue;
			}
			if (leaf) {
				progress.check();
				leafCuts(n, 1 - inside, first, end, scratch);
			}
			while (end > first) {
				int c = leaf ? scratch.cuts[end - 1] : cut(n, first, end - 1);
				if (leaf || !divided(n, c, end - 1)) {
					nodes.add(n);
					intervals.add(c << 16 | end);
				} else if (scope.childFrom[n] == null && busy[n]) {
					guessed = true;
					if (scope.opened != null) {
						scope.opened[n] = true;
					}
				} else {
					for (int child = n + 1; child < tree.end(n); child = tree.end(child)) {
						if (depth + 2 > stack.length) {
							stack = Arrays.copyOf(stack, 2 * stack.length);
						}
						stack[depth++] = child;
						stack[depth++] = c << 16 | end;
					}
				}
				end = c;
			}
		}
		giveScratch(scratch);
		return guessed ? null : new Partition(this, p, nodes.toArray(), intervals.toArray(), nodes.size());
	}

	private int cut(int n, int i, int j) {
		int at = j * (j + 1) / 2 + i;
		return small ? byteCuts[n][at] & 0x7f : shortCuts[n][at] & 0x7fff;
	}

	private boolean divided(int n, int i, int j) {
		int at = j * (j + 1) / 2 + i;
		return (small ? byteCuts[n][at] : shortCuts[n][at]) < 0;
	}

	/** cuts[j] for j in [first, end): start of the last block of (n, first, j) of a leaf. */
	private void leafCuts(int n, double q, int first, int end, Scratch scratch) {
		boolean calm = calm(n, q);
		for (int j = first; j < end; j++) {
			blocks(n, q, j, first, scratch);
			orMask(scratch.column, scratch.block, mask, first, j + 1);
			if (!calm) {
				column(j, first, scratch.block, scratch);
			}
			finish(scratch.best[j], scratch.column, mask, first, j + 1);
			scratch.cuts[j] = start(scratch.column[first], scratch.block[first], mask, tie, first);
		}
	}

	private Scratch takeScratch() {
		synchronized (scratches) {
			Scratch s = scratches.poll();
			return s != null ? s : new Scratch(slices);
		}
	}

	private void giveScratch(Scratch s) {
		synchronized (scratches) {
			scratches.push(s);
		}
	}

	private Table takeTable() {
		Table table;
		synchronized (pool) {
			table = pool.poll();
		}
		if (table == null) {
			return new Table(slices);
		}
		table.filled = false;
		return table;
	}

	private void giveTable(Table table) {
		if (table == null) {
			return;
		}
		synchronized (pool) {
			if (pool.size() < 64) {
				pool.push(table);
			}
		}
	}
}
