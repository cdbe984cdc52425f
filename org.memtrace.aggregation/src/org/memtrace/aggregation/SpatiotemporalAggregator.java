// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayDeque;
import java.util.Arrays;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Best partition of hierarchy x time into blocks (node x interval), by the dynamic programme of docs/aggregation.md. Cost of
 * one p: nodes x T^3 / 6 additions and comparisons, on all processors. Memory: per node that has values, 4 T^2 bytes for gains (rows:
 * 3 T^2) and, for inner nodes while a p is computed, T^2 / 2 bytes for cuts (T^2 when T > 127).
 */
public final class SpatiotemporalAggregator implements Aggregator {
	/** p is moved into [1e-9, 1 - 1e-9], which decides ties at 0 and 1 by the other criterion. */
	private static final double P_MARGIN = 1e-9;

	private final MicroscopicModel model;
	private final BlockTree tree;
	private final Qualities qualities;
	private final int slices;
	private final double tolerance;
	/** Start of the last block of (n, i, j), as c or, when it is divided among the children, ~c; bytes or shorts. */
	private final byte[][] cutByte;
	private final short[][] cutShort;
	private final double[][][] split;
	/** log2(j - i + 1) at [i][j]. */
	private final double[][] logLengths;
	private final ArrayDeque<double[][]> pool = new ArrayDeque<>();
	private final ArrayDeque<Scratch> scratches = new ArrayDeque<>();

	/** Work space of one thread. */
	private static final class Scratch {
		final double[][] block;
		final double[][] base;
		final double[] row;
		final double[] sumTo;

		Scratch(int slices) {
			block = new double[slices][slices];
			base = new double[slices][slices];
			row = new double[slices];
			sumTo = new double[slices];
		}
	}

	private SpatiotemporalAggregator(MicroscopicModel model, BlockTree tree, Qualities qualities) {
		this.model = model;
		this.tree = tree;
		this.qualities = qualities;
		this.slices = model.sliceCount();
		this.tolerance = TOLERANCE * (rootGain() + rootLoss());
		boolean small = slices <= 127;
		this.cutByte = small ? new byte[tree.size()][] : null;
		this.cutShort = small ? null : new short[tree.size()][];
		this.split = new double[tree.size()][][];
		this.logLengths = new double[slices][slices];
		for (int i = 0; i < slices; i++) {
			System.arraycopy(qualities.logLength, 1, logLengths[i], i, slices - i);
		}
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

	/** Bytes that this object keeps between two values of p. */
	public long memoryBytes() {
		return qualities.memoryBytes() + 16L * tree.size();
	}

	@Override
	public synchronized Partition partition(double p, Progress progress) throws CancelledException {
		if (!(p >= 0 && p <= 1)) {
			throw new IllegalArgumentException("p is " + p + ", not in 0..1");
		}
		double q = 1 - Math.min(1 - P_MARGIN, Math.max(P_MARGIN, p));
		try {
			solve(q, progress);
			return read(p, q, progress);
		} finally {
			Arrays.fill(split, null);
			// no conditional of the two: Eclipse's compiler makes code of it that the JVM refuses
			if (cutByte != null) {
				Arrays.fill(cutByte, null);
			} else {
				Arrays.fill(cutShort, null);
			}
		}
	}

	private void solve(double q, Progress progress) throws CancelledException {
		Chunks chunks = qualities.chunks;
		double[][][] partial = new double[chunks.count()][][];
		Parallel.run(chunks.count(), progress, c -> {
			Scratch scratch = takeScratch();
			int outside = chunks.parent[c];
			for (int n = chunks.to[c] - 1; n >= chunks.from[c]; n--) {
				progress.check();
				if (idle(n)) {
					continue;
				}
				int parent = tree.parent(n);
				double[][] sum = null;
				if (parent >= 0) {
					sum = parent == outside ? partial[c] : split[parent];
					if (sum == null) {
						sum = takeTable();
						if (parent == outside) {
							partial[c] = sum;
						} else {
							split[parent] = sum;
						}
					}
				}
				solveNode(n, q, sum, scratch);
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
					if (split[parent] == null) {
						split[parent] = partial[chunk];
					} else {
						for (int i = 0; i < slices; i++) {
							addRow(split[parent][i], partial[chunk][i], i, slices);
						}
						giveTable(partial[chunk]);
					}
					partial[chunk] = null;
				}
			}
			if (!idle(n)) {
				int parent = tree.parent(n);
				if (parent >= 0 && split[parent] == null) {
					split[parent] = takeTable();
				}
				solveNode(n, q, parent < 0 ? null : split[parent], scratch);
			}
		}
		giveScratch(scratch);
	}

	/** Nodes whose best value is 0 for every interval: nothing below, or a row with one value per type. */
	private boolean idle(int n) {
		return qualities.before[n] == null || qualities.gainless(n) && tree.isLeaf(n);
	}

	/**
	 * One node of the programme: best(n, i, j) for all intervals, added to the table of the parent.
	 *
	 * @param sum table of the parent, null at the root
	 */
	private void solveNode(int n, double q, double[][] sum, Scratch scratch) {
		boolean leaf = tree.isLeaf(n);
		double[][] children = leaf ? null : split[n];
		blocks(n, q, scratch, 0, slices);
		double[][] block = scratch.block;
		double[][] base = leaf ? block : scratch.base;
		if (!leaf) {
			for (int i = 0; i < slices; i++) {
				if (children == null) {
					maxZero(base[i], block[i], i, slices);
				} else {
					max(base[i], block[i], children[i], i, slices);
				}
			}
		}
		byte[] bytes = null;
		short[] shorts = null;
		if (!leaf && cutByte != null) {
			bytes = cutByte[n] != null ? cutByte[n] : (cutByte[n] = new byte[slices * (slices + 1) / 2]);
		} else if (!leaf) {
			shorts = cutShort[n] != null ? cutShort[n] : (cutShort[n] = new short[slices * (slices + 1) / 2]);
		}
		double[] row = scratch.row;
		int at = 0;
		for (int i = 0; i < slices; i++) {
			bestRow(base, row, i, slices);
			if (sum != null) {
				addRow(sum[i], row, i, slices);
			}
			if (leaf) {
				continue;
			}
			for (int j = i; j < slices; j++, at++) {
				double enough = row[j] - tolerance;
				int c = i;
				if (base[i][j] < enough) {
					for (c = i + 1; row[c - 1] + base[c][j] < enough; c++) {
						// the first start that is as good as the best
					}
				}
				boolean whole = block[c][j] >= base[c][j] - tolerance;
				if (bytes != null) {
					bytes[at] = (byte) (whole ? c : ~c);
				} else {
					shorts[at] = (short) (whole ? c : ~c);
				}
			}
		}
		if (children != null) {
			split[n] = null;
			giveTable(children);
		}
	}

	/** Values of the blocks (n, i, j) for from <= i <= j < to: gain - q * S * log2 c. */
	private void blocks(int n, double q, Scratch scratch, int from, int to) {
		double[] before = qualities.before[n];
		double rows = qualities.logRows[n];
		double[] sumTo = scratch.sumTo;
		for (int j = from; j < to; j++) {
			sumTo[j] = before[j + 1];
		}
		for (int i = from; i < to; i++) {
			double[] block = scratch.block[i];
			qualities.copyGains(n, i, to, block);
			subtractLoss(block, sumTo, logLengths[i], i, to, q, before[i], rows);
		}
	}

	private static void subtractLoss(double[] block, double[] sumTo, double[] logLength, int from, int to, double q,
			double s0, double rows) {
		for (int j = from; j < to; j++) {
			block[j] = block[j] - q * ((sumTo[j] - s0) * (logLength[j] + rows));
		}
	}

	private static void max(double[] to, double[] a, double[] b, int from, int end) {
		for (int j = from; j < end; j++) {
			to[j] = Math.max(a[j], b[j]);
		}
	}

	private static void maxZero(double[] to, double[] a, int from, int end) {
		for (int j = from; j < end; j++) {
			to[j] = Math.max(a[j], 0.0);
		}
	}

	private static void addRow(double[] sum, double[] row, int from, int end) {
		for (int j = from; j < end; j++) {
			sum[j] += row[j];
		}
	}

	/**
	 * best(i, j) for all j: max of base(i, j) and best(i, c - 1) + base(c, j). Two starts c at once, along j: all arrays have
	 * the same index, so that the compiler uses vector instructions.
	 */
	private static void bestRow(double[][] base, double[] row, int i, int end) {
		System.arraycopy(base[i], i, row, i, end - i);
		int c = i + 1;
		for (; c + 1 < end; c += 2) {
			double x = row[c - 1];
			double[] b = base[c];
			double y = Math.max(row[c], x + b[c]);
			row[c] = y;
			max2(row, b, base[c + 1], c + 1, end, x, y);
		}
		if (c < end) {
			row[c] = Math.max(row[c], row[c - 1] + base[c][c]);
		}
	}

	private static void max2(double[] row, double[] b, double[] b2, int from, int end, double x, double y) {
		for (int j = from; j < end; j++) {
			row[j] = Math.max(Math.max(row[j], x + b[j]), y + b2[j]);
		}
	}

	/** Reads the partition from the cuts; leaves have none, their row of the programme is computed again. */
	private Partition read(double p, double q, Progress progress) throws CancelledException {
		Scratch scratch = takeScratch();
		int[] cuts = new int[slices];
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
			if (leaf) {
				progress.check();
				leafCuts(n, q, first, end, scratch, cuts);
			}
			int row = first * slices - first * (first - 1) / 2 - first;
			while (end > first) {
				int cut = leaf ? cuts[end - 1] : cutByte != null ? cutByte[n][row + end - 1] : cutShort[n][row + end - 1];
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

	/** cuts[j] for j in [first, end): start of the last block of (n, first, j). */
	private void leafCuts(int n, double q, int first, int end, Scratch scratch, int[] cuts) {
		blocks(n, q, scratch, first, end);
		double[][] base = scratch.block;
		double[] row = scratch.row;
		bestRow(base, row, first, end);
		for (int j = first; j < end; j++) {
			double enough = row[j] - tolerance;
			int c = first;
			if (base[first][j] < enough) {
				for (c = first + 1; row[c - 1] + base[c][j] < enough; c++) {
					// the first start that is as good as the best
				}
			}
			cuts[j] = c;
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

	private double[][] takeTable() {
		double[][] table;
		synchronized (pool) {
			table = pool.poll();
		}
		if (table == null) {
			return new double[slices][slices];
		}
		for (double[] row : table) {
			Arrays.fill(row, 0);
		}
		return table;
	}

	private void giveTable(double[][] table) {
		synchronized (pool) {
			if (pool.size() < 64) {
				pool.push(table);
			}
		}
	}
}
