// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Best partition of one hierarchy x another one: memory x machine. A block is a node of the hierarchy of the model (rows) x a node of a
 * second hierarchy, whose leaves are the slices of the model (columns), so that a node of it is an interval of slices. A pair that is no
 * block is divided among the children of one of its two nodes:
 *
 * <pre>best(a, b) = max(block(a, b), sum of best(child of a, b), sum of best(a, child of b))</pre>
 *
 * Values are in fixed point, as in {@link SpatiotemporalAggregator}. Two steps for each pair of nodes; memory: {@link
 * AggregationOptions#bytesPerRow} for each node of the rows that has values. docs/how/aggregation.md, "Two hierarchies".
 */
public final class TwoTreeAggregator implements Aggregator {
	/** gain + loss of the root is below 2^50 units: sums of values of pairs stay in a long. */
	private static final int VALUE_BITS = 50;
	private static final byte BLOCK = 0;
	private static final byte BY_ROWS = 1;
	private static final byte BY_COLUMNS = 2;

	private final MicroscopicModel model;
	private final Hierarchy hierarchy;
	private final BlockTree tree;
	private final boolean equalTypes;
	// nodes of the columns; of nodes with the same leaves only the uppermost
	private final int columns;
	private final int[] columnNode;
	private final int[] columnParent;
	private final int[] columnFrom;
	private final int[] columnTo;
	private final boolean[] columnIsLeaf;
	/** first slice << 16 | end slice, ascending, and the column that has it. */
	private final int[] intervals;
	private final int[] columnOfInterval;
	private final double[] logColumns;
	/** For each row node and column; null for a node without values. */
	private final Qualities.Gains[] gain;
	private final double[][] sum;
	private final double[] logRows;
	private final int exponent;
	private final double perUnit;
	private final long tie;

	private TwoTreeAggregator(MicroscopicModel model, Hierarchy second, AggregationOptions options, Progress progress)
			throws CancelledException {
		this.model = model;
		this.hierarchy = second;
		this.tree = options.tree(model.hierarchy());
		this.equalTypes = options.equalTypes();
		int[] node = new int[second.size()];
		int[] parent = new int[second.size()];
		int[] at = new int[second.size()];
		int count = 0;
		for (int n = 0; n < second.size(); n++) {
			int p = second.parent(n);
			if (p >= 0 && second.leafFrom(p) == second.leafFrom(n) && second.leafTo(p) == second.leafTo(n)) {
				at[n] = at[p];
				continue;
			}
			at[n] = count;
			node[count] = n;
			parent[count++] = p < 0 ? -1 : at[p];
		}
		this.columns = count;
		this.columnNode = Arrays.copyOf(node, count);
		this.columnParent = Arrays.copyOf(parent, count);
		this.columnFrom = new int[count];
		this.columnTo = new int[count];
		this.columnIsLeaf = new boolean[count];
		this.logColumns = new double[count];
		long[] order = new long[count];
		for (int c = 0; c < count; c++) {
			columnFrom[c] = second.leafFrom(columnNode[c]);
			columnTo[c] = second.leafTo(columnNode[c]);
			columnIsLeaf[c] = columnTo[c] - columnFrom[c] == 1;
			logColumns[c] = Entropy.log2(columnTo[c] - columnFrom[c]);
			order[c] = (long) (columnFrom[c] << 16 | columnTo[c]) << 32 | c;
		}
		Arrays.sort(order);
		this.intervals = Arrays.stream(order).mapToInt(o -> (int) (o >>> 32)).toArray();
		this.columnOfInterval = Arrays.stream(order).mapToInt(o -> (int) o).toArray();
		this.gain = new Qualities.Gains[tree.size()];
		this.sum = new double[tree.size()][];
		this.logRows = new double[tree.size()];
		qualities(progress);
		double most = Math.max(rootGain() + rootLoss(), Double.MIN_NORMAL);
		this.exponent = Math.max(Double.MIN_EXPONENT, Math.getExponent(most) + 1 - VALUE_BITS);
		this.perUnit = Math.scalb(1.0, -exponent);
		this.tie = Math.max(1, Math.round(TOLERANCE * most * perUnit));
	}

	/**
	 * Computes the qualities of all pairs.
	 *
	 * @param columns a hierarchy with a leaf for each slice of the model, of weight 1
	 * @throws IllegalArgumentException if it has another number of leaves, or slices are not equal
	 */
	public static TwoTreeAggregator prepare(MicroscopicModel model, Hierarchy columns, AggregationOptions options, Progress progress)
			throws CancelledException {
		if (columns.leafCount() != model.sliceCount() || columns.weight(0) != model.sliceCount() || model.sliceWeights() != null) {
			throw new IllegalArgumentException(columns.leafCount() + " leaves of the second hierarchy for " + model.sliceCount()
					+ " slices, which have to be equal");
		}
		return new TwoTreeAggregator(model, columns, options, progress);
	}

	/** {@link #prepare(MicroscopicModel, Hierarchy, AggregationOptions, Progress)} without limit and progress. */
	public static TwoTreeAggregator prepare(MicroscopicModel model, Hierarchy columns) {
		try {
			return prepare(model, columns, AggregationOptions.EXACT, Progress.NONE);
		} catch (CancelledException e) {
			throw new IllegalStateException(e);
		}
	}

	/** Upper bound of the bytes of the tables with these options. */
	public static long tableBytes(Hierarchy rows, Hierarchy columns, AggregationOptions options) {
		return options.tree(rows).size() * AggregationOptions.bytesPerRow(columns.size());
	}

	/** Children come after their parents, so from the last node on all parts of a sum are there. */
	private void qualities(Progress progress) throws CancelledException {
		double[] scale = AggregationOptions.typeScales(model, equalTypes);
		int types = model.typeCount() * (model.hasNegativeValues() ? 2 : 1);
		int information = types * columns;
		double[][] sums = new double[tree.size()][];
		int[] leafColumn = new int[model.sliceCount()];
		for (int c = 0; c < columns; c++) {
			if (columnIsLeaf[c]) {
				leafColumn[columnFrom[c]] = c;
			}
		}
		progress.begin("Computing gains", tree.size());
		for (int n = tree.size() - 1; n >= 0; n--) {
			progress.check();
			progress.worked(1);
			logRows[n] = Entropy.log2(tree.weight(n));
			double[] s = sums[n];
			sums[n] = null;
			if (tree.isLeaf(n)) {
				s = leaf(n, scale, leafColumn, information);
			}
			if (s == null) {
				continue;
			}
			double[] g = new double[columns];
			double[] total = new double[columns];
			for (int k = 0; k < types; k++) {
				for (int c = 0; c < columns; c++) {
					double v = s[k * columns + c];
					if (v > 0) {
						g[c] += Entropy.gain(v, s[information + k * columns + c]);
						total[c] += v;
					}
				}
			}
			gain[n] = new Qualities.NodeGains(g);
			sum[n] = total;
			int p = tree.parent(n);
			if (p >= 0 && sums[p] == null) {
				sums[p] = s;
			} else if (p >= 0) {
				double[] to = sums[p];
				for (int i = 0; i < to.length; i++) {
					to[i] += s[i];
				}
			}
		}
	}

	/** Sums of a leaf of the rows for each type and column and, {@code information} further, of v log2 v; null when there are none. */
	private double[] leaf(int n, double[] scale, int[] leafColumn, int information) {
		double[] s = new double[2 * information];
		Qualities.Cells cells = new Qualities.Cells(model, tree, n, scale);
		boolean any = false;
		while (cells.next()) {
			int at = cells.type * columns + leafColumn[cells.slice];
			s[at] += cells.value;
			s[information + at] += cells.information;
			any = true;
		}
		if (!any) {
			return null;
		}
		for (int from = 0; from < s.length; from += columns) {
			for (int c = columns - 1; c > 0; c--) {
				s[from + columnParent[c]] += s[from + c];
			}
		}
		return s;
	}

	@Override
	public MicroscopicModel model() {
		return model;
	}

	@Override
	public boolean equalTypes() {
		return equalTypes;
	}

	@Override
	public BlockTree tree() {
		return tree;
	}

	/** The second hierarchy. */
	public Hierarchy columns() {
		return hierarchy;
	}

	@Override
	public int columnNode(int firstSlice, int endSlice) {
		return columnNode[column(firstSlice, endSlice)];
	}

	private int column(int firstSlice, int endSlice) {
		int at = Arrays.binarySearch(intervals, firstSlice << 16 | endSlice);
		if (at < 0) {
			throw new IllegalArgumentException("slices [" + firstSlice + ", " + endSlice + ") are no node of the second hierarchy");
		}
		return columnOfInterval[at];
	}

	@Override
	public double rootGain() {
		return gainAt(0, 0);
	}

	@Override
	public double rootLoss() {
		return lossAt(0, 0);
	}

	/** {@inheritDoc} The slices are those of a node of the second hierarchy. */
	@Override
	public double gain(int i, int firstSlice, int endSlice) {
		return gainAt(i, column(firstSlice, endSlice));
	}

	/** {@inheritDoc} The slices are those of a node of the second hierarchy. */
	@Override
	public double loss(int i, int firstSlice, int endSlice) {
		return lossAt(i, column(firstSlice, endSlice));
	}

	private double gainAt(int n, int c) {
		return gain[n] == null ? 0 : gain[n].at(c);
	}

	/** Gain and loss together: S log2 c. */
	private double total(int n, int c) {
		return sum[n] == null ? 0 : sum[n][c] * (logRows[n] + logColumns[c]);
	}

	private double lossAt(int n, int c) {
		return Math.max(0, total(n, c) - gainAt(n, c));
	}

	/** Sums over the children of a node that are done: best values, and how many blocks they take. */
	private static final class Below {
		final long[] value;
		final int[] blocks;

		Below(int columns) {
			value = new long[columns];
			blocks = new int[columns];
		}
	}

	@Override
	public Partition partition(double p, Progress progress) throws CancelledException {
		if (!(p >= 0 && p <= 1)) {
			throw new IllegalArgumentException("p is " + p + ", not in 0..1");
		}
		double q = 1 - Math.min(1 - P_MARGIN, Math.max(P_MARGIN, p));
		byte[][] decision = new byte[tree.size()][];
		Below[] below = new Below[tree.size()];
		int[] idleChildren = new int[tree.size()];
		progress.begin("Finding the best partition", tree.size());
		for (int n = tree.size() - 1; n >= 0; n--) {
			progress.check();
			progress.worked(1);
			int parent = tree.parent(n);
			if (gain[n] == null) {
				if (parent >= 0) {
					idleChildren[parent]++; // one block each, worth nothing
				}
				continue;
			}
			Below own = below[n];
			below[n] = null;
			if (parent >= 0 && below[parent] == null) {
				below[parent] = new Below(columns);
			}
			decision[n] = solve(n, q, own, idleChildren[n], parent < 0 ? null : below[parent]);
		}
		return read(p, decision);
	}

	/**
	 * Decides for one node of the rows and all columns.
	 *
	 * @param own sums of its children; null for a leaf
	 * @param idle children without values
	 * @param to gets the best values of the node
	 */
	private byte[] solve(int n, double q, Below own, int idle, Below to) {
		byte[] decision = new byte[columns];
		Below byColumns = new Below(columns);
		for (int c = columns - 1; c >= 0; c--) {
			long value = gain[n].units(c, exponent) - (long) Math.rint(q * total(n, c) * perUnit);
			int blocks = 1;
			byte chosen = BLOCK;
			long best = value;
			if (own != null) {
				best = Math.max(best, own.value[c]);
			}
			if (!columnIsLeaf[c]) {
				best = Math.max(best, byColumns.value[c]);
			}
			if (value < best - tie) { // of equal ones the one with the fewest blocks
				blocks = Integer.MAX_VALUE;
				if (own != null && own.value[c] >= best - tie) {
					blocks = own.blocks[c] + idle;
					chosen = BY_ROWS;
				}
				if (!columnIsLeaf[c] && byColumns.value[c] >= best - tie && byColumns.blocks[c] < blocks) {
					blocks = byColumns.blocks[c];
					chosen = BY_COLUMNS;
				}
			}
			decision[c] = chosen;
			if (columnParent[c] >= 0) {
				byColumns.value[columnParent[c]] += best;
				byColumns.blocks[columnParent[c]] += blocks;
			}
			if (to != null) {
				to.value[c] += best;
				to.blocks[c] += blocks;
			}
		}
		return decision;
	}

	/** The blocks of a decision for each pair, from the pair of both roots on. */
	private Partition read(double p, byte[][] decision) {
		int[] nodes = new int[64];
		int[] found = new int[64];
		int count = 0;
		int[] stack = new int[64];
		int depth = 0;
		stack[depth++] = 0;
		stack[depth++] = 0;
		while (depth > 0) {
			int c = stack[--depth];
			int n = stack[--depth];
			byte chosen = decision[n] == null ? BLOCK : decision[n][c];
			if (chosen == BLOCK) {
				if (count == nodes.length) {
					nodes = Arrays.copyOf(nodes, 2 * count);
					found = Arrays.copyOf(found, 2 * count);
				}
				nodes[count] = n;
				found[count++] = columnFrom[c] << 16 | columnTo[c];
				continue;
			}
			int end = chosen == BY_ROWS ? tree.end(n) : columnTo[c];
			int child = chosen == BY_ROWS ? n + 1 : c + 1;
			while (chosen == BY_ROWS ? child < end : child < columns && columnFrom[child] < end) {
				if (depth + 2 > stack.length) {
					stack = Arrays.copyOf(stack, 2 * stack.length);
				}
				stack[depth++] = chosen == BY_ROWS ? child : n;
				stack[depth++] = chosen == BY_ROWS ? c : child;
				child = chosen == BY_ROWS ? tree.end(child) : nextColumn(child);
			}
		}
		return new Partition(this, p, nodes, found, count);
	}

	/** The column after the subtree of one. */
	private int nextColumn(int column) {
		int next = column + 1;
		while (next < columns && columnFrom[next] < columnTo[column]) {
			next++;
		}
		return next;
	}
}
