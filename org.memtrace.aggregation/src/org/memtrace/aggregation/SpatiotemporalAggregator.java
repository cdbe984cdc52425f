// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Best partition of hierarchy x time into blocks (node x interval), by the dynamic programme of docs/aggregation.md, in fixed point. Cost
 * of one p: at most nodes x T^3 / 6 additions and comparisons, on all processors, less where programmes of other p are known. Memory: per
 * node that has values, 4 T^2 bytes for gains (rows: 3 T^2), and T^2 / 2 bytes for cuts (T^2 when T > 127) for each p that is kept.
 */
public final class SpatiotemporalAggregator implements Aggregator {
	/** p is moved into [1e-9, 1 - 1e-9], which decides ties at 0 and 1 by the other criterion. */
	private static final double P_MARGIN = 1e-9;

	/** Bits of a value of the programme: its largest is below 2^50 units. */
	private static final int VALUE_BITS = 50;
	/** p whose programmes are kept, at most. */
	private static final int MOST_ANCHORS = 24;
	/** Bytes for the cuts of kept programmes: as much as the gains take, between these. */
	private static final long LEAST_ANCHOR_BYTES = 64_000_000;
	private static final long MOST_ANCHOR_BYTES = 400_000_000;
	/** Intervals after which it is seen whether few are open. */
	private static final int ASK = 20_000;
	/** 2^52: a double between this and twice this has a whole number in its low bits. */
	private static final double WHOLE = 0x1p52;
	private static final long WHOLE_BITS = Double.doubleToRawLongBits(WHOLE);

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
	/** log2 of the length of slices i to j at [j][i]. */
	private final double[][] logLengths;
	private final boolean small;
	/** Programmes that are kept, by increasing p. */
	private final ArrayList<Anchor> anchors = new ArrayList<>();
	private final int mostAnchors;
	private final ArrayDeque<Table> pool = new ArrayDeque<>();
	private final ArrayDeque<Scratch> scratches = new ArrayDeque<>();

	/**
	 * What the programme of one p chose: for (n, i, j) the start c of the last block or, when that is divided among the children, ~c,
	 * at j (j + 1) / 2 + i; bytes or shorts. Nodes with the same choices as at a neighbouring p share an array. Leaves have none
	 * when there is no room to keep programmes.
	 */
	private static final class Anchor {
		final double p;
		final byte[][] bytes;
		final short[][] shorts;
		Partition partition;

		Anchor(double p, int nodes, boolean small) {
			this.p = p;
			this.bytes = small ? new byte[nodes][] : null;
			this.shorts = small ? null : new short[nodes][];
		}

		boolean has(int n) {
			return bytes != null ? bytes[n] != null : shorts[n] != null;
		}

		int cut(int n, int at) {
			return bytes != null ? bytes[n][at] : shorts[n][at];
		}

		void copy(int n, Anchor other, int at, int count) {
			if (bytes != null) {
				System.arraycopy(other.bytes[n], at, bytes[n], at, count);
			} else {
				System.arraycopy(other.shorts[n], at, shorts[n], at, count);
			}
		}

		/** Writes cuts from {@code at} on. */
		void set(int n, int at, int[] cuts, int count) {
			if (bytes != null) {
				byte[] to = bytes[n];
				for (int i = 0; i < count; i++) {
					to[at + i] = (byte) cuts[i];
				}
			} else {
				short[] to = shorts[n];
				for (int i = 0; i < count; i++) {
					to[at + i] = (short) cuts[i];
				}
			}
		}

		/** Reads cuts from {@code at} on. */
		void get(int n, int at, int[] cuts, int count) {
			if (bytes != null) {
				byte[] from = bytes[n];
				for (int i = 0; i < count; i++) {
					cuts[i] = from[at + i];
				}
			} else {
				short[] from = shorts[n];
				for (int i = 0; i < count; i++) {
					cuts[i] = from[at + i];
				}
			}
		}

		/** Whether two programmes chose the same for some intervals. */
		boolean same(int n, Anchor other, int at, int count) {
			return bytes != null ? Arrays.equals(bytes[n], at, at + count, other.bytes[n], at, at + count)
					: Arrays.equals(shorts[n], at, at + count, other.shorts[n], at, at + count);
		}

		void make(int n, int size) {
			if (bytes != null) {
				bytes[n] = new byte[size];
			} else {
				shorts[n] = new short[size];
			}
		}

		void share(int n, Anchor other) {
			if (bytes != null) {
				bytes[n] = other.bytes[n];
			} else {
				shorts[n] = other.shorts[n];
			}
		}

		/** Whether two programmes chose the same for every interval of a node. */
		boolean same(int n, Anchor other) {
			return bytes != null ? bytes[n] == other.bytes[n] || Arrays.equals(bytes[n], other.bytes[n])
					: shorts[n] == other.shorts[n] || Arrays.equals(shorts[n], other.shorts[n]);
		}
	}

	/** Sums over the children of a node of the best values of all intervals, and which of them are not settled. */
	private static final class Table {
		/** Best value of (i, j) at [j][i], summed over children. */
		final long[][] sum;
		/** Bit i at [j]: some child has to compute (i, j), see {@link #column}. */
		final long[][] open;
		boolean anyOpen;

		Table(int slices) {
			sum = new long[slices][];
			open = new long[slices][];
			for (int j = 0; j < slices; j++) {
				sum[j] = new long[j + 1];
				open[j] = new long[j / 64 + 1];
			}
		}

		void clear() {
			for (int j = 0; j < sum.length; j++) {
				Arrays.fill(sum[j], 0);
				Arrays.fill(open[j], 0);
			}
			anyOpen = false;
		}

		void add(Table other) {
			for (int j = 0; j < sum.length; j++) {
				SpatiotemporalAggregator.add(sum[j], other.sum[j], 0, j + 1);
				for (int w = 0; other.anyOpen && w < open[j].length; w++) {
					open[j][w] |= other.open[j][w];
				}
			}
			anyOpen |= other.anyOpen;
		}
	}

	/** Work space of one thread. */
	private static final class Scratch {
		/** Best value of (i, j) of the node at [j][i]. */
		final long[][] best;
		/** Bit i at [j]: (i, j) had to be computed. */
		final long[][] open;
		/** Values of the blocks that end in a column, then of block or children. */
		final long[] block;
		final long[] base;
		/** Best value and, below, the start of the last block. */
		final long[] column;
		final double[] loss;
		/** Starts of blocks that are not better divided in time. */
		final int[] starts;
		final int[] cuts;
		final int[] otherCuts;
		/** Intervals that were asked for and those of them that were open, to see whether asking is worth it. */
		long asked;
		long found;

		Scratch(int slices) {
			best = new long[slices][];
			open = new long[slices][];
			for (int j = 0; j < slices; j++) {
				best[j] = new long[j + 1];
				open[j] = new long[j / 64 + 1];
			}
			block = new long[slices];
			base = new long[slices];
			column = new long[slices];
			loss = new double[slices];
			starts = new int[slices];
			cuts = new int[slices];
			otherCuts = new int[slices];
		}
	}

	private SpatiotemporalAggregator(MicroscopicModel model, BlockTree tree, Qualities qualities) {
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
		this.logLengths = new double[slices][];
		for (int j = 0; j < slices; j++) {
			logLengths[j] = new double[j + 1];
			for (int i = 0; i <= j; i++) {
				logLengths[j][i] = qualities.lengths.log(i, j + 1);
			}
		}
		int nodes = 0;
		for (int n = 0; n < tree.size(); n++) {
			nodes += idle(n) ? 0 : 1;
		}
		long bytes = Math.max(1, nodes * (long) (slices * (slices + 1) / 2) * (small ? 1 : 2));
		long room = Math.min(MOST_ANCHOR_BYTES, Math.max(LEAST_ANCHOR_BYTES, qualities.memoryBytes()));
		this.mostAnchors = (int) Math.min(MOST_ANCHORS, room / bytes);
	}

	/** Computes the qualities of all candidates. */
	public static SpatiotemporalAggregator prepare(MicroscopicModel model, AggregationOptions options, Progress progress)
			throws CancelledException {
		BlockTree tree = options.tree(model.hierarchy());
		return new SpatiotemporalAggregator(model, tree, Qualities.compute(model, tree, options, progress));
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
	public boolean equalTypes() {
		return qualities.equalTypes;
	}

	@Override
	public MicroscopicModel model() {
		return model;
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

	/** Bytes that this object keeps between two values of p; the cuts of kept programmes at most. */
	public synchronized long memoryBytes() {
		long cuts = 0;
		for (Anchor a : anchors) {
			for (int n = 0; n < tree.size(); n++) {
				cuts += !a.has(n) ? 0 : small ? a.bytes[n].length : 2L * a.shorts[n].length;
			}
		}
		return qualities.memoryBytes() + 16L * tree.size() + cuts;
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
		Anchor found = new Anchor(inside, tree.size(), small);
		solve(found, below, above, progress);
		found.partition = read(found, p, progress);
		if (mostAnchors >= 2) {
			anchors.add(at, found);
			if (anchors.size() > mostAnchors) {
				dropNearest(found);
			}
		}
		return found.partition;
	}

	/** Forgets the programme whose neighbours are closest to each other. */
	private void dropNearest(Anchor but) {
		int drop = -1;
		double least = Double.POSITIVE_INFINITY;
		for (int a = 0; a < anchors.size(); a++) {
			double from = a == 0 ? 0 : anchors.get(a - 1).p;
			double to = a == anchors.size() - 1 ? 1 : anchors.get(a + 1).p;
			if (anchors.get(a) != but && to - from < least) {
				least = to - from;
				drop = a;
			}
		}
		anchors.remove(drop);
	}

	private void solve(Anchor found, Anchor below, Anchor above, Progress progress) throws CancelledException {
		Chunks chunks = qualities.chunks;
		Table[] partial = new Table[chunks.count()];
		Table[] tables = new Table[tree.size()];
		Parallel.run(chunks.count(), progress, c -> {
			Scratch scratch = takeScratch();
			scratch.asked = 0;
			scratch.found = 0;
			int outside = chunks.parent[c];
			for (int n = chunks.to[c] - 1; n >= chunks.from[c]; n--) {
				progress.check();
				if (idle(n)) {
					continue;
				}
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
				solveNode(n, found, below, above, tables[n], sum, scratch);
				giveTable(tables[n]);
				tables[n] = null;
			}
			giveScratch(scratch);
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
			if (!idle(n)) {
				int parent = tree.parent(n);
				if (parent >= 0 && tables[parent] == null) {
					tables[parent] = takeTable();
				}
				solveNode(n, found, below, above, tables[n], parent < 0 ? null : tables[parent], scratch);
				giveTable(tables[n]);
				tables[n] = null;
			}
		}
		giveScratch(scratch);
	}

	/**
	 * Nodes whose best value is 0 for every interval: nothing below, or a row with one value per type. Several rows that are kept whole can
	 * have no gain either, when one of them has all values, but they lose something in every interval.
	 */
	private boolean idle(int n) {
		return qualities.before[n] == null || qualities.gainless(n) && qualities.isRow(n);
	}

	/**
	 * One node of the programme: best(n, i, j) for all intervals, added to the table of the parent.
	 *
	 * @param below programme of a smaller p, or null
	 * @param above programme of a larger p; when there is one below but none above, everything is one block at p = 1
	 * @param children sums over the children; null when all of them are 0
	 * @param sum table of the parent, null at the root
	 */
	private void solveNode(int n, Anchor found, Anchor below, Anchor above, Table children, Table sum, Scratch scratch) {
		double q = 1 - found.p;
		boolean keep = !tree.isLeaf(n) || mostAnchors >= 2;
		boolean same = below != null && below.has(n) && above != null && below.same(n, above) && (children == null || !children.anyOpen);
		if (same) {
			found.share(n, below);
		} else if (keep) {
			found.make(n, slices * (slices + 1) / 2);
		}
		boolean calm = q * qualities.total(n, 0, slices) * perUnit <= tie >> indexBits;
		boolean known = same || below != null && below.has(n) && (above == null || above.has(n)) && !calm
				&& (scratch.asked < ASK || 2 * scratch.found < scratch.asked);
		boolean anyOpen = !known;
		for (int j = 0; j < slices; j++) {
			int at = j * (j + 1) / 2;
			int open = same ? 0 : known ? open(n, j, below, above, children, anyOpen, scratch) : slices;
			anyOpen |= open > 0;
			blocks(n, q, j, 0, scratch);
			if (calm) {
				whole(j, scratch);
			} else {
				base(n, j, 0, children, scratch);
			}
			if (calm) {
				// no loss is more than what counts as equal: one block
			} else if (open == 0) {
				if (same) {
					below.get(n, at, scratch.cuts, j + 1);
				}
				settled(j, scratch);
			} else if (4 * open < j) {
				pull(j, scratch);
			} else {
				column(j, 0, scratch);
			}
			if (!same && keep) {
				if (open == 0) {
					found.copy(n, below, at, j + 1);
				} else {
					choices(j, tree.isLeaf(n), scratch);
					found.set(n, at, scratch.cuts, j + 1);
				}
			}
			finish(scratch.best[j], scratch.column, mask, 0, j + 1);
			if (sum != null) {
				add(sum.sum[j], scratch.best[j], 0, j + 1);
				if (open > 0) {
					long[] to = sum.open[j];
					if (known) {
						for (int w = 0; w < to.length; w++) {
							to[w] |= scratch.open[j][w];
						}
					} else {
						Arrays.fill(to, -1);
					}
				}
			}
		}
		if (sum != null) {
			sum.anyOpen |= anyOpen;
		}
	}

	/**
	 * Which intervals that end in slice j have to be computed: not those for which the programmes below and above chose the same all the
	 * way down, as their value is linear in p then and the same is best in between.
	 *
	 * @return how many
	 */
	private int open(int n, int j, Anchor below, Anchor above, Table children, boolean anyOpen, Scratch scratch) {
		long[] open = scratch.open[j];
		Arrays.fill(open, 0);
		long[] childrenOpen = children != null && children.anyOpen ? children.open[j] : null;
		int at = j * (j + 1) / 2;
		int[] cuts = scratch.cuts;
		below.get(n, at, cuts, j + 1);
		scratch.asked += j + 1;
		if (!anyOpen && childrenOpen == null && above != null && below.same(n, above, at, j + 1)) {
			return 0;
		}
		int[] other = scratch.otherCuts;
		if (above != null) {
			above.get(n, at, other, j + 1);
		}
		int count = 0;
		for (int i = 0; i <= j; i++) {
			int cut = cuts[i];
			boolean settled = cut == (above == null ? i : other[i]);
			int c = cut ^ cut >> 31;
			if (settled && c > i) {
				settled = (scratch.open[c - 1][i >> 6] >>> i & 1) == 0;
			}
			if (settled && cut < 0 && childrenOpen != null) {
				settled = (childrenOpen[c >> 6] >>> c & 1) == 0;
			}
			if (!settled) {
				open[i >> 6] |= 1L << i;
				count++;
			}
		}
		scratch.found += count;
		return count;
	}

	/** Values of the blocks (n, i, j) for from <= i <= j: gain - q * S * log2 c. */
	private void blocks(int n, double q, int j, int from, Scratch scratch) {
		qualities.copyGains(n, j, from, exponent, scratch.block);
		double[] before = qualities.before[n];
		if (qualities.weighted == null) {
			losses(scratch.loss, before, logLengths[j], before[j + 1], qualities.logRows[n], q * perUnit, from, j + 1);
		} else {
			unequal(scratch.loss, before, logLengths[j], before[j + 1], qualities.logRows[n], qualities.weighted[n], q * perUnit, from,
					j + 1);
		}
		subtract(scratch.block, scratch.loss, indexBits, from, j + 1);
	}

	private static void losses(double[] loss, double[] before, double[] logLength, double end, double logRows, double q, int from,
			int to) {
		for (int i = from; i < to; i++) {
			loss[i] = q * ((end - before[i]) * (logLength[i] + logRows)) + WHOLE;
		}
	}

	/** The same with slices of different lengths; what rounding makes less than nothing is nothing. */
	private static void unequal(double[] loss, double[] before, double[] logLength, double end, double logRows, double[] weighted,
			double q, int from, int to) {
		double weightedEnd = weighted[to];
		for (int i = from; i < to; i++) {
			loss[i] = Math.max(0, q * ((end - before[i]) * (logLength[i] + logRows) - (weightedEnd - weighted[i]))) + WHOLE;
		}
	}

	private static void subtract(long[] block, double[] loss, int bits, int from, int to) {
		for (int i = from; i < to; i++) {
			block[i] = block[i] - (Double.doubleToRawLongBits(loss[i]) - WHOLE_BITS) << bits;
		}
	}

	/** Block or children, whichever is better. */
	private void base(int n, int j, int from, Table children, Scratch scratch) {
		if (tree.isLeaf(n)) {
			System.arraycopy(scratch.block, from, scratch.base, from, j + 1 - from);
		} else if (children == null) {
			max(scratch.base, scratch.block, 0, from, j + 1);
		} else {
			max(scratch.base, scratch.block, children.sum[j], from, j + 1);
		}
	}

	private static void max(long[] to, long[] a, long least, int from, int end) {
		for (int i = from; i < end; i++) {
			to[i] = Math.max(a[i], least);
		}
	}

	private static void max(long[] to, long[] a, long[] b, int from, int end) {
		for (int i = from; i < end; i++) {
			to[i] = Math.max(a[i], b[i]);
		}
	}

	/** One block for each interval. */
	private void whole(int j, Scratch scratch) {
		for (int i = 0; i <= j; i++) {
			scratch.base[i] = scratch.block[i];
			scratch.column[i] = scratch.block[i] | mask;
		}
	}

	/** The choices of a column, from its values. */
	private void choices(int j, boolean leaf, Scratch scratch) {
		long[] column = scratch.column;
		long[] base = scratch.base;
		long[] block = scratch.block;
		int[] cuts = scratch.cuts;
		for (int i = 0; i <= j; i++) {
			cuts[i] = start(column[i], base[i], i);
		}
		if (leaf) {
			return;
		}
		for (int i = 0; i <= j; i++) {
			int c = cuts[i];
			cuts[i] = c ^ (int) (block[c] - (base[c] - tie) >> 63); // ~c when the children are better
		}
	}

	/** Start of the last block of the best of (i, j): no cut before a cut; of exact equals the earliest. */
	private int start(long value, long base, int i) {
		return base >= (value & ~mask) - tie ? i : (int) (mask - (value & mask));
	}

	/** A column whose choices are known. */
	private void settled(int j, Scratch scratch) {
		long[] column = scratch.column;
		int[] cuts = scratch.cuts;
		for (int i = 0; i <= j; i++) {
			column[i] = value(i, cuts[i] ^ cuts[i] >> 31, scratch);
		}
	}

	/** The value of (i, j) when its last block begins in slice c, with that start below. */
	private long value(int i, int c, Scratch scratch) {
		return c == i ? scratch.base[i] | mask
				: scratch.best[c - 1][i] + scratch.base[c] + (mask - c);
	}

	/** A column of which few intervals have to be computed: each looks at the starts of blocks that are not better divided. */
	private void pull(int j, Scratch scratch) {
		int[] cuts = scratch.cuts;
		long[] open = scratch.open[j];
		long[] column = scratch.column;
		int[] starts = scratch.starts;
		int count = 0;
		for (int i = j; i >= 0; i--) {
			long value;
			if ((open[i >> 6] >>> i & 1) == 0) {
				value = value(i, cuts[i] ^ cuts[i] >> 31, scratch);
			} else {
				value = scratch.base[i] | mask;
				for (int x = 0; x < count; x++) {
					value = Math.max(value, value(i, starts[x], scratch));
				}
			}
			column[i] = value;
			if ((value & mask) == mask) {
				starts[count++] = i;
			}
		}
	}

	/**
	 * best(i, j) for from <= i <= j: base(i, j), or best(i, c - 1) + base(c, j) where that is more. A start c of which the block (c, j) is
	 * better divided again is never needed. Up to four starts wait until they are applied together, along i: all arrays have the same
	 * index, so that the compiler uses vector instructions. What c itself needs of those that wait is done at once.
	 */
	private void column(int j, int from, Scratch scratch) {
		long[] column = scratch.column;
		long[] base = scratch.base;
		long[][] best = scratch.best;
		orMask(column, base, mask, from, j + 1);
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

	/** Reads the partition from the cuts; those of leaves that have none are computed again. */
	private Partition read(Anchor found, double p, Progress progress) throws CancelledException {
		Scratch scratch = takeScratch();
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
			boolean cuts = found.has(n);
			if (!cuts) {
				progress.check();
				leafCuts(n, 1 - found.p, first, end, scratch);
			}
			while (end > first) {
				int cut = cuts ? found.cut(n, (end - 1) * end / 2 + first) : scratch.cuts[end - 1];
				int c = cut < 0 ? ~cut : cut;
				if (cut >= 0) {
					nodes.add(n);
					intervals.add(c << 16 | end);
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
		return new Partition(this, p, nodes.toArray(), intervals.toArray(), nodes.size());
	}

	/** cuts[j] for j in [first, end): start of the last block of (n, first, j) of a leaf. */
	private void leafCuts(int n, double q, int first, int end, Scratch scratch) {
		for (int j = first; j < end; j++) {
			blocks(n, q, j, first, scratch);
			base(n, j, first, null, scratch);
			column(j, first, scratch);
			finish(scratch.best[j], scratch.column, mask, first, j + 1);
			scratch.cuts[j] = start(scratch.column[first], scratch.base[first], first);
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
		table.clear();
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
