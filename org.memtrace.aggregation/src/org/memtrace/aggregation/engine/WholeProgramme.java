// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** The programme over all nodes that can matter at one p, and the partition that it finds. Not for several threads at a time. */
final class WholeProgramme {
	private final BlockValues values;
	private final BlockTree tree;
	private final Qualities qualities;
	private final int slices;
	private final boolean small;
	private final boolean[] busy;
	private final char[][] dividedUpTo;
	/** Sums of children that are all 0. */
	private final Table zeros;
	/**
	 * Of the programme that ran last: for (n, i, j) the start of the last block and, in the highest bit, whether (n, i, j) itself is
	 * better divided among the children than one block, at j (j + 1) / 2 + i. Rows have none.
	 */
	private final byte[][] byteCuts;
	private final short[][] shortCuts;
	private final ArrayDeque<Table> pool = new ArrayDeque<>();

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
				Columns.add(sum[j], other.sum[j], 0, j + 1);
			}
		}
	}

	WholeProgramme(BlockValues values, NodeBounds bounds) {
		this.values = values;
		this.tree = values.tree;
		this.qualities = values.qualities;
		this.slices = values.slices;
		this.small = slices <= 127;
		this.busy = bounds.busy;
		this.dividedUpTo = bounds.dividedUpTo;
		this.byteCuts = small ? new byte[tree.size()][] : null;
		this.shortCuts = small ? null : new short[tree.size()][];
		this.zeros = new Table(slices);
	}

	/** What was kept to be faster is forgotten. */
	void forget() {
		pool.clear();
		if (small) {
			Arrays.fill(byteCuts, null);
		} else {
			Arrays.fill(shortCuts, null);
		}
	}

	long memoryBytes() {
		long bytes = 0;
		for (int n = 0; n < tree.size(); n++) {
			bytes += small ? byteCuts[n] == null ? 0 : byteCuts[n].length : shortCuts[n] == null ? 0 : 2L * shortCuts[n].length;
		}
		return bytes;
	}

	/** Returns how many nodes were solved. */
	long solve(KnownPartition found, Scope scope, Progress progress) throws CancelledException {
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
			if (outside < 0 || scope.childFrom[outside] != null) {
				solved.add(solveChunk(c, found, scope, tables, partial, progress));
			}
		});
		solved.add(solveTop(found, scope, tables, partial, progress));
		// what deficits have left out is worth no more than the line less what was allowed
		if (found.deficits != null && (scope.above != null || scope.below != null)) {
			found.deficits.cap = Deficits.down(found.value - scope.line + scope.allowed - 0.5 * KnownPartitions.MARGIN);
		}
		return solved.sum();
	}

	/**
	 * Solves the nodes of a chunk, from its end on.
	 *
	 * @param partial sums for the node that all of the chunk are below, by chunk
	 */
	private int solveChunk(int c, KnownPartition found, Scope scope, Table[] tables, Table[] partial, Progress progress)
			throws CancelledException {
		Chunks chunks = qualities.chunks;
		for (int n = chunks.from[c]; n < chunks.to[c]; n++) {
			if (!scope.isZero(n)) {
				scope.look(n, scope.from(n));
			}
		}
		BlockValues.Scratch scratch = values.takeScratch();
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
				Table[] sums = parent == chunks.parent[c] ? partial : tables;
				int at = parent == chunks.parent[c] ? c : parent;
				if (sums[at] == null) {
					sums[at] = takeTable();
				}
				sum = sums[at];
			}
			solveNode(n, found, scope, from, tables[n], sum, scratch);
			giveTable(tables[n]);
			tables[n] = null;
		}
		values.giveScratch(scratch);
		return count;
	}

	/** Solves the nodes above the chunks. */
	private int solveTop(KnownPartition found, Scope scope, Table[] tables, Table[] partial, Progress progress) throws CancelledException {
		Chunks chunks = qualities.chunks;
		BlockValues.Scratch scratch = values.takeScratch();
		int count = 0;
		int chunk = chunks.count() - 1;
		for (int t = chunks.top.length - 1; t >= 0; t--) {
			progress.check();
			int n = chunks.top[t];
			for (; chunk >= 0 && chunks.from[chunk] > n; chunk--) {
				join(tables, chunks.parent[chunk], partial[chunk]);
				partial[chunk] = null;
			}
			int[] from = scope.isZero(n) ? null : scope.from(n);
			if (from != null) {
				int parent = tree.parent(n);
				if (parent >= 0 && tables[parent] == null) {
					tables[parent] = takeTable();
				}
				solveNode(n, found, scope, from, tables[n], parent < 0 ? null : tables[parent], scratch);
				count++;
				giveTable(tables[n]);
				tables[n] = null;
			}
		}
		values.giveScratch(scratch);
		return count;
	}

	private void join(Table[] tables, int parent, Table part) {
		if (part == null) {
			return;
		}
		if (tables[parent] == null) {
			tables[parent] = part;
		} else {
			tables[parent].add(part);
			giveTable(part);
		}
	}

	/**
	 * One node of the programme: best(n, i, j) for the intervals that are needed, added to the table of the parent.
	 *
	 * @param from first slice of the intervals that are needed, by last slice, not decreasing
	 * @param sums of the children; null when all of them are 0, or none is needed
	 * @param sum table of the parent, null at the root
	 */
	private void solveNode(int n, KnownPartition found, Scope scope, int[] from, Table sums, Table sum, BlockValues.Scratch scratch) {
		Table children = sums == null ? zeros : sums;
		double q = 1 - found.p;
		boolean leaf = tree.isLeaf(n);
		boolean calm = values.calm(n, q);
		int[] childFrom = scope.childFrom[n];
		boolean closed = busy[n] && scope.opened != null && !scope.opened[n];
		char[] gaps = busy[n] ? gaps(found, n) : null;
		if (!leaf) {
			makeCuts(n);
		}
		long[] keep = scope.keep(n);
		long[] block = scratch.block;
		long[] column = scratch.column;
		for (int j = 0; j < slices; j++) {
			int first = from[j];
			if (first > j) {
				continue;
			}
			values.blocks(n, q, j, first, scratch);
			int divided = !busy[n] ? leaf ? j + 1 : first : childFrom == null ? j + 1 : Math.min(childFrom[j], j + 1);
			if (closed) {
				values.bounds(n, found.p, j, first, scratch);
			}
			long[] base = calm || !closed && divided > j ? block : scratch.base;
			if (base != block && closed) {
				Columns.optimistic(base, block, scratch.bound, values.tie, dividedUpTo[n], j * (j + 1) / 2, scope.here, first, j + 1);
			} else if (base != block) {
				System.arraycopy(block, first, base, first, divided - first);
				Columns.max(base, block, children.sum[j], divided, j + 1);
			}
			Columns.orMask(column, base, values.mask, first, j + 1);
			if (!calm) {
				values.column(j, first, base, scratch);
			}
			if (!leaf) {
				choices(n, j, first, base, scratch);
			}
			long[] best = scratch.best[j];
			finish(best, column, sum, j, first);
			if (keep != null) {
				System.arraycopy(best, 0, keep, j * (j + 1) / 2, j + 1);
			}
			if (gaps != null && closed) {
				Columns.differences(gaps, j * (j + 1) / 2, best, scratch.bound, values.perShiftedUnit, first, j + 1);
			} else if (gaps != null && first < divided) {
				leftOut(n, found.p, j, first, divided, gaps, scratch);
			}
			if (gaps != null && n > 0 && divided <= j) {
				Columns.differences(gaps, j * (j + 1) / 2, best, children.sum[j], values.perShiftedUnit, divided, j + 1);
			}
		}
		if (sum != null) {
			sum.filled = true;
		} else {
			root(found, gaps, childFrom, children, scratch);
		}
	}

	private void root(KnownPartition found, char[] gaps, int[] childFrom, Table children, BlockValues.Scratch scratch) {
		found.value = scratch.best[slices - 1][0] * values.perShiftedUnit;
		if (gaps != null) {
			rootDeficits(gaps, childFrom, children, scratch);
		}
	}

	private char[] gaps(KnownPartition found, int n) {
		if (found.deficits == null) {
			return null;
		}
		char[] gaps = found.deficits.lower[n] != null ? found.deficits.lower[n] : new char[slices * (slices + 1) / 2];
		found.deficits.lower[n] = gaps;
		return gaps;
	}

	/** The best values of a column, also for the parent. */
	private void finish(long[] best, long[] column, Table sum, int j, int first) {
		if (sum == null) {
			Columns.finish(best, column, values.mask, first, j + 1);
		} else if (sum.filled) {
			Columns.finishAndAdd(best, column, values.mask, sum.sum[j], first, j + 1);
		} else {
			Columns.finishAndCopy(best, column, values.mask, sum.sum[j], first, j + 1);
		}
	}

	/** By how much one block is better than any division, for from <= i < end; where that is not sure, the division is too bad elsewhere. */
	private void leftOut(int n, double p, int j, int from, int end, char[] gaps, BlockValues.Scratch scratch) {
		values.bounds(n, p, j, from, scratch);
		int at = j * (j + 1) / 2;
		for (int i = from; i < end; i++) {
			long gap = scratch.block[i] - scratch.bound[i];
			gaps[at + i] = gap > 0 ? Deficits.down(gap * values.perShiftedUnit) : Deficits.INFINITE;
		}
	}

	/** The best of everything less the best with (i, j) divided among the children of the root. */
	private void rootDeficits(char[] to, int[] childFrom, Table children, BlockValues.Scratch scratch) {
		long[][] best = scratch.best;
		long most = best[slices - 1][0];
		for (int j = 0; j < slices; j++) {
			for (int i = 0; i <= j; i++) {
				long outside = (i == 0 ? 0 : best[i - 1][0]) + (j == slices - 1 ? 0 : best[slices - 1][j + 1]);
				int at = j * (j + 1) / 2 + i;
				if (childFrom != null && i >= childFrom[j]) {
					to[at] = Deficits.down((most - outside - children.sum[j][i]) * values.perShiftedUnit);
				} else if (to[at] < Deficits.INFINITE) {
					to[at] = Deficits.down((most - outside - best[j][i]) * values.perShiftedUnit + Deficits.value(to[at]));
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

	/** The choices of a column, from its values. */
	private void choices(int n, int j, int from, long[] base, BlockValues.Scratch scratch) {
		int at = j * (j + 1) / 2;
		if (small) {
			Columns.choices(byteCuts[n], at, scratch.column, base, scratch.block, values.mask, values.tie, from, j + 1);
		} else {
			Columns.choices(shortCuts[n], at, scratch.column, base, scratch.block, values.mask, values.tie, from, j + 1);
		}
	}

	private int cut(int n, int i, int j) {
		int at = j * (j + 1) / 2 + i;
		return small ? byteCuts[n][at] & 0x7f : shortCuts[n][at] & 0x7fff;
	}

	private boolean divided(int n, int i, int j) {
		int at = j * (j + 1) / 2 + i;
		return (small ? byteCuts[n][at] : shortCuts[n][at]) < 0;
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

	/** Blocks of a partition: nodes of the tree, and first << 16 | end. */
	record Blocks(Chunks.IntList nodes, Chunks.IntList intervals) {
		void add(int n, int interval) {
			nodes.add(n);
			intervals.add(interval);
		}
	}

	/** Intervals of nodes that are still to be read, the last one first. */
	private static final class Stack {
		private int[] at = new int[64];
		private int depth;

		void push(int n, int interval) {
			if (depth + 2 > at.length) {
				at = Arrays.copyOf(at, 2 * at.length);
			}
			at[depth++] = n;
			at[depth++] = interval;
		}

		void children(BlockTree tree, int n, int interval) {
			for (int child = n + 1; child < tree.end(n); child = tree.end(child)) {
				push(child, interval);
			}
		}
	}

	/**
	 * Reads the partition from the cuts; those of leaves are computed again. Where it has a division of which only a bound is known, that node
	 * is opened.
	 *
	 * @return null when there was one
	 */
	Blocks read(double inside, Scope scope, Progress progress) throws CancelledException {
		BlockValues.Scratch scratch = values.takeScratch();
		boolean guessed = false;
		Blocks blocks = new Blocks(new Chunks.IntList(), new Chunks.IntList());
		Stack stack = new Stack();
		stack.push(0, slices); // first << 16 | end, first = 0
		while (stack.depth > 0) {
			int interval = stack.at[--stack.depth];
			int n = stack.at[--stack.depth];
			int first = interval >>> 16;
			int end = interval & 0xffff;
			if (qualities.before[n] == null || qualities.sum(n, first, end) == 0) {
				blocks.add(n, interval);
				continue;
			}
			if (scope.isZero(n)) {
				progress.check();
				readZero(n, interval, 1 - inside, blocks, stack);
				continue;
			}
			boolean leaf = tree.isLeaf(n);
			if (leaf) {
				progress.check();
				values.leafCuts(n, 1 - inside, first, end, scratch);
			}
			while (end > first) {
				int c = leaf ? scratch.cuts[end - 1] : cut(n, first, end - 1);
				if (leaf || !divided(n, c, end - 1)) {
					blocks.add(n, c << 16 | end);
				} else if (scope.childFrom[n] == null && busy[n]) {
					guessed = true;
					if (scope.opened != null) {
						scope.opened[n] = true;
					}
				} else {
					stack.children(tree, n, c << 16 | end);
				}
				end = c;
			}
		}
		values.giveScratch(scratch);
		return guessed ? null : blocks;
	}

	/** An interval of a node whose best values are all 0. */
	private void readZero(int n, int interval, double q, Blocks blocks, Stack stack) {
		int first = interval >>> 16;
		int end = interval & 0xffff;
		if (tree.isLeaf(n)) {
			values.readRow(n, q, first, end, blocks.nodes, blocks.intervals);
		} else if (values.blockValue(n, first, end - 1, q) >= -values.tie) {
			blocks.add(n, interval); // one cell, of a node that has one row
		} else {
			stack.children(tree, n, interval);
		}
	}
}
