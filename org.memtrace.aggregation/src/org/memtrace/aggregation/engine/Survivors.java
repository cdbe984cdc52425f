// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;
import java.util.BitSet;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * The programme between two known p, on what can be part of a best partition there (docs/how/aggregation.md, "What is left between two p").
 * Elements are blocks (n, i, j) and divisions of (n, i, j) among the children of n. The best partition with an element is worse than the
 * best of all by its deficit, which is known at one or both ends. The value of the best one with it is convex in p, and that of the best of
 * all is not below the partitions of both ends: where they meet is the p at which an element has its best chance. What is worse there is
 * left out. Values are those of {@link SpatiotemporalAggregator}, bit by bit, and so are the rules for equals: no cut before a cut, a block
 * before a division, of exact equals the earliest cut.
 * <p>
 * Two divisions beside each other are never better than the one of both, and a division beside a block without values is as good as one
 * that contains it. So a division begins where an interval that its parent divides begins or behind a block that is left, and ends
 * likewise.
 * <p>
 * Not for several threads. The deficits of a span are not changed once it is made.
 */
final class Survivors {
	/** A value that no partition has: further from 0 than two sums of values, and it can be added to two. */
	static final long NONE = -(1L << 62);
	private static final long HARDLY = NONE >> 1;
	private static final float NEVER = Float.POSITIVE_INFINITY;
	/** Of so many nodes one is looked at to estimate how much is left. */
	private static final int SAMPLED = 8;
	/** With fewer nodes too few of them would be looked at, and to find all elements takes little time. */
	private static final int LEAST_NODES = 256;
	/** An estimate is trusted when it is so many times too much. */
	private static final double SURELY_TOO_MUCH = 1.5;

	private final BlockValues values;
	private final BlockTree tree;
	private final Qualities qualities;
	private final int slices;
	/** Tree node of each node that is left, in the order of the tree, and its parent here; -1 for the root. */
	private int[] node = new int[64];
	private int[] parent = new int[64];
	/** Elements of node x: [from[x], from[x + 1]), by last slice, then by first. */
	private int[] from = new int[65];
	/** Of each node: in slices without values the first of those that follow each other, else -1. */
	private short[][] emptyFrom = new short[64][];
	private int nodes;
	private int elements;
	/** First and last slice of each element. */
	private short[] first = new short[256];
	private short[] last = new short[256];
	/** Deficits at both ends of the span; {@link #NEVER} for what is not an element. */
	private float[] blockLow = new float[256];
	private float[] blockHigh = new float[256];
	private float[] divisionLow = new float[256];
	private float[] divisionHigh = new float[256];

	/** Of the p that was solved last. */
	private long[] block;
	private long[] division;
	/** The better of both. */
	private long[] base;
	private double solvedP;
	private long solvedValue;
	private final long[] prefix;
	private final short[] choice;

	/**
	 * What is asked of an element between two p.
	 *
	 * @param weight where both partitions are equally good: 0 at the lower end, 1 at the upper one
	 * @param allowed what is worse there by more than this is left out
	 * @param margin and by more than this at an end of which deficits are known
	 */
	record Span(double weight, double allowed, boolean lowKnown, boolean highKnown, double margin) {
		boolean keeps(float low, float high) {
			return (1 - weight) * low + weight * high <= allowed || lowKnown && low <= margin || highKnown && high <= margin;
		}

		/**
		 * Whether what was left out is surely worse than what counts as equal. Beside an end of which nothing is known it may be the best there.
		 *
		 * @param place where in the span, 0 to 1
		 */
		boolean isFarEnough(double place) {
			return (lowKnown || place >= weight / NEAR) && (highKnown || 1 - place >= (1 - weight) / NEAR);
		}
	}

	/** See {@link Span#isFarEnough}; so many times the margin is allowed then. */
	static final double NEAR = 64;

	/** What was asked of elements. */
	final Span span;

	private Survivors(BlockValues values, Span span) {
		this.span = span;
		this.values = values;
		this.tree = values.tree;
		this.qualities = values.qualities;
		this.slices = values.slices;
		this.prefix = new long[slices + 1];
		this.choice = new short[slices + 1];
	}

	/**
	 * Chooses from everything.
	 *
	 * @param most number of steps of the programme that is still worth it
	 * @return null when it takes more
	 */
	static Survivors of(BlockValues values, Deficits lowEnd, Deficits highEnd, Span span, double most) {
		Deficits low = span.lowKnown ? lowEnd : null;
		Deficits high = span.highKnown ? highEnd : null;
		if (values.tree.size() >= LEAST_NODES && estimate(values, low, high, span) > SURELY_TOO_MUCH * most) {
			return null;
		}
		Survivors s = new Survivors(values, span);
		Builder b = s.new Builder();
		int[] local = new int[s.tree.size()];
		Arrays.fill(local, -1);
		double steps = 0;
		for (int n = 0; n < s.tree.size(); n++) {
			int p = s.tree.parent(n);
			if (values.idle(n) || p >= 0 && local[p] < 0 || !b.begin(n, p < 0 ? -1 : local[p])) {
				continue;
			}
			char[] lowBlocks = blocks(low, n);
			char[] highBlocks = blocks(high, n);
			for (int j = 0; j < s.slices; j++) {
				for (int i = b.earliest(j); i <= j; i++) {
					int at = j * (j + 1) / 2 + i;
					float l = value(lowBlocks, at);
					float h = value(highBlocks, at);
					if (span.keeps(l, h)) {
						b.block(i, j, l, h);
					}
				}
			}
			if (!s.tree.isLeaf(n)) {
				char[] lowDivisions = divisions(low, n);
				char[] highDivisions = divisions(high, n);
				b.divisions((i, j) -> {
					int at = j * (j + 1) / 2 + i;
					float l = value(lowDivisions, at);
					float h = value(highDivisions, at);
					if (span.keeps(l, h)) {
						b.division(i, j, l, h);
					}
				});
			}
			steps += b.end();
			local[n] = s.nodes - 1;
			if (steps > most) {
				return null;
			}
		}
		s.trim();
		return s;
	}

	/**
	 * About how many steps the programme of what is left takes at least, for the blocks, counted at some nodes. To find all elements, as
	 * {@link #of} does, takes up to twenty times longer.
	 */
	private static double estimate(BlockValues values, Deficits low, Deficits high, Span span) {
		BlockTree tree = values.tree;
		int slices = values.slices;
		int[] earliest = new int[slices];
		double steps = 0;
		int active = 0;
		for (int n = 0; n < tree.size(); n++) {
			if (values.idle(n) || active++ % SAMPLED != 0) {
				continue;
			}
			double[] before = values.qualities.before[n];
			int tops = tops(tree.parent(n), before, earliest, low, high, span);
			steps += tops == 0 ? 0 : (double) tops * (slices + count(n, before, earliest, low, high, span));
		}
		return SAMPLED * steps;
	}

	/**
	 * Slices in which intervals begin of which a division of the parent is left.
	 *
	 * @param earliest filled in: no such interval that ends in a slice begins before this
	 */
	private static int tops(int parent, double[] before, int[] earliest, Deficits low, Deficits high, Span span) {
		int slices = earliest.length;
		Arrays.fill(earliest, parent < 0 ? 0 : slices);
		if (parent < 0) {
			return 1;
		}
		char[] l = divisions(low, parent);
		char[] h = divisions(high, parent);
		BitSet starts = new BitSet(slices);
		int least = slices;
		for (int j = slices - 1; j >= 0; j--) {
			for (int i = 0; i <= j && before[i] != before[j + 1]; i++) {
				int at = j * (j + 1) / 2 + i;
				if (span.keeps(value(l, at), value(h, at))) {
					starts.set(i);
					least = Math.min(least, i);
				}
			}
			earliest[j] = least;
		}
		return starts.cardinality();
	}

	/** Blocks with values that are left. */
	private static int count(int n, double[] before, int[] earliest, Deficits low, Deficits high, Span span) {
		char[] l = blocks(low, n);
		char[] h = blocks(high, n);
		int count = 0;
		for (int j = 0; j < earliest.length; j++) {
			for (int i = earliest[j]; i <= j && before[i] != before[j + 1]; i++) {
				int at = j * (j + 1) / 2 + i;
				count += span.keeps(value(l, at), value(h, at)) ? 1 : 0;
			}
		}
		return count;
	}

	private static char[] blocks(Deficits d, int n) {
		return d == null ? null : d.blocks[n];
	}

	private static char[] divisions(Deficits d, int n) {
		return d == null ? null : d.lower[n];
	}

	private static float value(char[] deficits, int at) {
		return deficits == null ? 0 : Deficits.value(deficits[at]);
	}

	/**
	 * Chooses from what is left here, for one side of the p that was solved last.
	 *
	 * @param below whether for the smaller p
	 * @param blockNow deficits at that p, see {@link #deficits}
	 */
	Survivors within(Span part, boolean below, float[] blockNow, float[] divisionNow) {
		Survivors s = new Survivors(values, part);
		Builder b = s.new Builder();
		int[] local = new int[nodes];
		int[] place = new int[slices * (slices + 1) / 2];
		Arrays.fill(local, -1);
		for (int x = 0; x < nodes; x++) {
			if (parent[x] >= 0 && local[parent[x]] < 0 || !b.begin(node[x], parent[x] < 0 ? -1 : local[parent[x]])) {
				continue;
			}
			for (int e = from[x]; e < from[x + 1]; e++) {
				float l = below ? blockLow[e] : blockNow[e];
				float h = below ? blockNow[e] : blockHigh[e];
				if (first[e] >= b.earliest(last[e]) && blockLow[e] != NEVER && part.keeps(l, h)) {
					b.block(first[e], last[e], l, h);
				}
				place[last[e] * (last[e] + 1) / 2 + first[e]] = e + 1;
			}
			b.divisions((i, j) -> {
				int e = place[j * (j + 1) / 2 + i] - 1;
				if (e >= 0 && divisionLow[e] != NEVER) {
					float l = below ? divisionLow[e] : divisionNow[e];
					float h = below ? divisionNow[e] : divisionHigh[e];
					if (part.keeps(l, h)) {
						b.division(i, j, l, h);
					}
				}
			});
			for (int e = from[x]; e < from[x + 1]; e++) {
				place[last[e] * (last[e] + 1) / 2 + first[e]] = 0;
			}
			b.end();
			local[x] = s.nodes - 1;
		}
		s.trim();
		return s;
	}

	/** Adds the division of (i, j) when it is left. */
	private interface Chosen {
		void take(int i, int j);
	}

	/** Adds nodes in the order of the tree. */
	private final class Builder {
		/** No interval that the parent divides, and that ends in a slice, begins before this. */
		private final int[] earliest = new int[slices];
		/** Slices in which a division of the node may begin and end. */
		private final boolean[] starts = new boolean[slices + 1];
		private final boolean[] ends = new boolean[slices + 1];
		/** Slices in which intervals begin. */
		private int tops;
		/** The first division of the node; blocks are before it. */
		private int firstDivision;

		/** Whether the parent has a division. */
		boolean begin(int n, int up) {
			Arrays.fill(earliest, slices);
			Arrays.fill(starts, false);
			Arrays.fill(ends, false);
			boolean some = false;
			tops = 0;
			if (up < 0) {
				earliest[slices - 1] = 0;
				starts[0] = true;
				ends[slices - 1] = true;
				some = true;
				tops = 1;
			} else {
				for (int e = from[up]; e < from[up + 1]; e++) {
					if (divisionLow[e] != NEVER && qualities.sum(n, first[e], last[e] + 1) != 0) {
						earliest[last[e]] = Math.min(earliest[last[e]], first[e]);
						tops += starts[first[e]] ? 0 : 1;
						starts[first[e]] = true;
						ends[last[e]] = true;
						some = true;
					}
				}
			}
			if (!some) {
				return false;
			}
			for (int j = slices - 2; j >= 0; j--) {
				earliest[j] = Math.min(earliest[j], earliest[j + 1]);
			}
			if (nodes == node.length) {
				node = Arrays.copyOf(node, 2 * nodes);
				parent = Arrays.copyOf(parent, 2 * nodes);
				from = Arrays.copyOf(from, 2 * nodes + 1);
				emptyFrom = Arrays.copyOf(emptyFrom, 2 * nodes);
			}
			node[nodes] = n;
			parent[nodes] = up;
			from[nodes] = elements;
			firstDivision = -1;
			short[] empty = new short[slices];
			for (int t = 0; t < slices; t++) {
				empty[t] = qualities.sum(n, t, t + 1) != 0 ? -1 : t > 0 && empty[t - 1] >= 0 ? empty[t - 1] : (short) t;
			}
			emptyFrom[nodes++] = empty;
			return true;
		}

		/** No interval that ends in slice j, and is needed, begins before. */
		int earliest(int j) {
			return earliest[j];
		}

		void block(int i, int j, float low, float high) {
			if (emptyFrom[nodes - 1][j] >= 0 && emptyFrom[nodes - 1][j] <= i) {
				return; // without values: is always there
			}
			add(i, j);
			blockLow[elements - 1] = low;
			blockHigh[elements - 1] = high;
			if (j + 1 < slices) {
				starts[j + 1] = true;
			}
			if (i > 0) {
				ends[i - 1] = true;
			}
		}

		private void add(int i, int j) {
			if (elements == first.length) {
				first = Arrays.copyOf(first, 2 * elements);
				last = Arrays.copyOf(last, 2 * elements);
				blockLow = Arrays.copyOf(blockLow, 2 * elements);
				blockHigh = Arrays.copyOf(blockHigh, 2 * elements);
				divisionLow = Arrays.copyOf(divisionLow, 2 * elements);
				divisionHigh = Arrays.copyOf(divisionHigh, 2 * elements);
			}
			first[elements] = (short) i;
			last[elements] = (short) j;
			blockLow[elements] = NEVER;
			blockHigh[elements] = NEVER;
			divisionLow[elements] = NEVER;
			divisionHigh[elements] = NEVER;
			elements++;
		}

		/** Asks for the divisions that can be needed, after all blocks were added. */
		void divisions(Chosen chosen) {
			short[] empty = emptyFrom[nodes - 1];
			firstDivision = elements;
			for (int j = 0; j < slices; j++) {
				for (int i = earliest[j]; ends[j] && i <= j; i++) {
					if (starts[i] && !(empty[j] >= 0 && empty[j] <= i)) {
						chosen.take(i, j);
					}
				}
			}
		}

		void division(int i, int j, float low, float high) {
			add(i, j);
			divisionLow[elements - 1] = low;
			divisionHigh[elements - 1] = high;
		}

		/** Puts the blocks and the divisions of a node together, both of which are in order; returns how many steps the node takes. */
		double end() {
			int at = from[nodes - 1];
			if (firstDivision >= 0 && firstDivision < elements) {
				merge(at, firstDivision - at, elements - at);
			}
			from[nodes] = elements;
			return (double) tops * (elements - at + slices);
		}

		private void merge(int at, int blocks, int count) {
			short[] f = Arrays.copyOfRange(first, at, elements);
			short[] l = Arrays.copyOfRange(last, at, elements);
			float[] bl = Arrays.copyOfRange(blockLow, at, at + blocks);
			float[] bh = Arrays.copyOfRange(blockHigh, at, at + blocks);
			float[] dl = Arrays.copyOfRange(divisionLow, at + blocks, elements);
			float[] dh = Arrays.copyOfRange(divisionHigh, at + blocks, elements);
			int to = at;
			int b = 0;
			int d = blocks;
			while (b < blocks || d < count) {
				int order = b == blocks ? 1 : d == count ? -1 : l[b] != l[d] ? l[b] - l[d] : f[b] - f[d];
				int e = order <= 0 ? b : d;
				first[to] = f[e];
				last[to] = l[e];
				blockLow[to] = order <= 0 ? bl[b] : NEVER;
				blockHigh[to] = order <= 0 ? bh[b] : NEVER;
				divisionLow[to] = order >= 0 ? dl[d - blocks] : NEVER;
				divisionHigh[to] = order >= 0 ? dh[d - blocks] : NEVER;
				b += order <= 0 ? 1 : 0;
				d += order >= 0 ? 1 : 0;
				to++;
			}
			elements = to;
		}
	}

	private void trim() {
		first = Arrays.copyOf(first, elements);
		last = Arrays.copyOf(last, elements);
		blockLow = Arrays.copyOf(blockLow, elements);
		blockHigh = Arrays.copyOf(blockHigh, elements);
		divisionLow = Arrays.copyOf(divisionLow, elements);
		divisionHigh = Arrays.copyOf(divisionHigh, elements);
	}

	/** Number of elements. */
	int size() {
		return elements;
	}

	/** Tree node, first and last slice of an element, for tests. */
	int[] place(int e) {
		int x = 0;
		while (from[x + 1] <= e) {
			x++;
		}
		return new int[] {node[x], first[e], last[e]};
	}

	/** Bytes of the tables, without what a programme needs. */
	long memoryBytes() {
		return 20L * elements + nodes * (32L + 2L * slices);
	}

	/** Solves one p; {@link #value} and {@link #read} are of it. */
	void solve(double p, Progress progress) throws CancelledException {
		block = new long[elements];
		division = new long[elements];
		base = new long[elements];
		solvedP = p;
		double q = 1 - p;
		Sweep sweep = new Sweep();
		for (int x = nodes - 1; x >= 0; x--) {
			progress.check();
			int n = node[x];
			for (int e = from[x]; e < from[x + 1]; e++) {
				block[e] = blockLow[e] == NEVER ? NONE : values.blockValue(n, first[e], last[e], q);
				division[e] = divisionLow[e] == NEVER ? NONE : division[e];
				base[e] = Math.max(block[e], division[e]);
			}
			if (x == 0) {
				solvedValue = value(x, 0, slices - 1, q);
				continue;
			}
			int up = parent[x];
			boolean calm = values.calm(n, q);
			if (!calm) {
				sweep.begin(x);
				for (int e = from[up]; e < from[up + 1]; e++) {
					if (isDivided(up, e, n)) {
						sweep.need(first[e], last[e]);
					}
				}
				sweep.forward();
			}
			for (int e = from[up]; e < from[up + 1]; e++) {
				if (isDivided(up, e, n)) {
					division[e] = calm ? division[e] + values.blockValue(n, first[e], last[e], q)
							: Math.max(NONE, division[e] + sweep.before[first[e]][last[e] + 1]);
				}
			}
		}
	}

	/** Whether element e of the parent is a division, and its child n has values there. */
	private boolean isDivided(int up, int e, int n) {
		return divisionLow[e] != NEVER && qualities.sum(n, first[e], last[e] + 1) != 0;
	}

	/**
	 * The best values of all intervals of one node that the parent divides: before each slice of them, and behind it. Elements of a node are
	 * gone through once for each slice in which such an interval begins, and once for each in which one ends.
	 */
	private final class Sweep {
		/** Best of [i, t) at [i][t], for slices i in which an interval begins, up to the last one that ends; {@link #NONE} for none. */
		final long[][] before = new long[slices][slices + 1];
		/** Best of [t, j] at [t][k], where j is the k-th slice in which an interval ends. */
		private final long[][] behind = new long[slices + 1][slices];
		/** What is outside of an interval from slice c to an end j, at best, at [c][k]. */
		private final long[][] outside = new long[slices][slices];
		/** The last end of the intervals that begin in a slice, -1 for none, and the first start of those that end in one. */
		private final int[] until = new int[slices];
		private final int[] since = new int[slices];
		/** Slices in which intervals end, and for each slice the number of them before it. */
		private final int[] ends = new int[slices];
		private final int[] endsBefore = new int[slices + 1];
		private int endCount;
		/** For each last slice the first element that does not begin before the slice that is looked at. */
		private final int[] at = new int[slices];
		private final int[] to = new int[slices];
		private final int[] firstAt = new int[slices + 1];
		private int[] byFirst = new int[256];
		private int x;

		void begin(int of) {
			x = of;
			Arrays.fill(until, -1);
			Arrays.fill(since, slices);
			int e = from[x];
			for (int t = 0; t < slices; t++) {
				at[t] = e;
				while (e < from[x + 1] && last[e] == t) {
					e++;
				}
				to[t] = e;
			}
		}

		/** An interval that the parent divides; they come by last slice. */
		void need(int i, int j) {
			until[i] = j;
			since[j] = Math.min(since[j], i);
		}

		/** Finds {@link #before}. */
		void forward() {
			short[] empty = emptyFrom[x];
			for (int i = 0; i < slices; i++) {
				if (until[i] < 0) {
					continue;
				}
				long[] best = before[i];
				best[i] = 0;
				for (int t = i; t <= until[i]; t++) {
					long most = empty[t] >= 0 ? best[t] : NONE; // a slice without values is worth nothing
					int e = at[t];
					int end = to[t];
					while (e < end && first[e] < i) {
						e++;
					}
					at[t] = e; // the slices that follow need no more
					for (; e < end; e++) {
						most = Math.max(most, best[first[e]] + base[e]);
					}
					best[t + 1] = most > HARDLY ? most : NONE;
				}
			}
		}

		/** Finds {@link #behind}. */
		void backward() {
			order();
			short[] empty = emptyFrom[x];
			int least = slices;
			endCount = 0;
			for (int j = 0; j < slices; j++) {
				endsBefore[j] = endCount;
				if (since[j] < slices) {
					least = Math.min(least, since[j]);
					ends[endCount++] = j;
				}
			}
			endsBefore[slices] = endCount;
			for (int t = slices; t >= least; t--) {
				Arrays.fill(behind[t], 0, endCount, NONE);
				if (t > 0 && since[t - 1] < slices) {
					behind[t][endsBefore[t - 1]] = 0;
				}
				if (t == slices) {
					continue;
				}
				long[] best = behind[t];
				int some = endsBefore[t]; // ends before t have nothing behind
				if (empty[t] >= 0) {
					max(best, behind[t + 1], 0, some, endCount);
				}
				for (int k = firstAt[t]; k < firstAt[t + 1]; k++) {
					int e = byFirst[k];
					if (base[e] > HARDLY) {
						max(best, behind[last[e] + 1], base[e], endsBefore[last[e]], endCount);
					}
				}
				for (int k = some; k < endCount; k++) {
					best[k] = best[k] > HARDLY ? best[k] : NONE;
				}
			}
		}

		/** Elements of the node by first slice. */
		private void order() {
			Arrays.fill(firstAt, 0);
			for (int e = from[x]; e < from[x + 1]; e++) {
				firstAt[first[e]]++;
			}
			int sum = 0;
			for (int t = 0; t <= slices; t++) {
				sum += firstAt[t];
				firstAt[t] = sum;
			}
			byFirst = byFirst.length < sum ? new int[Math.max(sum, 2 * byFirst.length)] : byFirst;
			for (int e = from[x + 1] - 1; e >= from[x]; e--) {
				byFirst[--firstAt[first[e]]] = e;
			}
		}

		/** Begins with nothing outside. */
		void clearOutside() {
			for (long[] o : outside) {
				Arrays.fill(o, 0, endCount, NONE);
			}
		}

		/** Adds an interval of the parent: what is outside of it, at best. */
		void outside(int i, int j, long rest) {
			long[] b = before[i];
			int k = endsBefore[j];
			for (int c = i; c <= j; c++) {
				if (b[c] > HARDLY) {
					outside[c][k] = Math.max(outside[c][k], rest + b[c]);
				}
			}
		}

		/** What is outside of an element at best, within all intervals that were added. */
		long around(int e) {
			long[] o = outside[first[e]];
			long[] b = behind[last[e] + 1];
			long most = NONE;
			for (int k = endsBefore[last[e]]; k < endCount; k++) {
				most = Math.max(most, o[k] + b[k]);
			}
			return most > HARDLY ? most : NONE;
		}
	}

	private static void max(long[] to, long[] a, long x, int from, int end) {
		for (int i = from; i < end; i++) {
			to[i] = Math.max(to[i], a[i] + x);
		}
	}

	/** Value of the best partition, as in a programme with everything. */
	long value() {
		return solvedValue;
	}

	private long value(int x, int i, int j, double q) {
		if (values.calm(node[x], q)) {
			return values.blockValue(node[x], i, j, q);
		}
		forward(x, i, j, null);
		return prefix[j + 1];
	}

	/**
	 * The best values of all intervals that begin in slice i, to slice j: {@code prefix[t]} is that of [i, t).
	 *
	 * @param cuts start of the last block, by last slice, or null
	 */
	private void forward(int x, int i, int j, short[] cuts) {
		short[] empty = emptyFrom[x];
		long[] best = prefix;
		long tie = values.tie;
		best[i] = 0;
		int e = firstEndingFrom(x, i);
		int end = from[x + 1];
		long running = NONE;
		int runningCut = i;
		for (int t = i; t <= j; t++) {
			long most = NONE;
			long whole = NONE;
			int cut = t;
			if (empty[t] >= 0) {
				// the earliest of the best starts, so an interval without values is one block from i on
				if (empty[t] == t || best[t] > running) {
					running = best[t];
					runningCut = t;
				}
				most = running;
				cut = runningCut;
			}
			for (; e < end && last[e] == t; e++) {
				int c = first[e];
				if (c < i || best[c] <= HARDLY) {
					continue;
				}
				if (base[e] <= HARDLY) {
					continue;
				}
				long v = best[c] + base[e];
				// a division with slices without values at its end is worth as much as without them, and begins earlier than those
				if (v > most || v == most && c < cut) {
					most = v;
					cut = c;
				}
				if (c == i) {
					whole = base[e];
				}
			}
			best[t + 1] = most;
			if (cuts != null) {
				cuts[t] = (short) (whole > HARDLY && whole >= most - tie ? i : cut);
			}
		}
	}

	private int firstEndingFrom(int x, int slice) {
		int low = from[x];
		int high = from[x + 1];
		while (low < high) {
			int m = (low + high) >>> 1;
			if (last[m] < slice) {
				low = m + 1;
			} else {
				high = m;
			}
		}
		return low;
	}

	/** Adds the blocks of the best partition, as tree nodes and first slice << 16 | end slice. */
	void read(Chunks.IntList treeNodes, Chunks.IntList intervals, Progress progress) throws CancelledException {
		double q = 1 - solvedP;
		int[] local = new int[tree.size()];
		Arrays.fill(local, -1);
		for (int x = 0; x < nodes; x++) {
			local[node[x]] = x;
		}
		int[] todo = new int[64];
		int depth = 0;
		todo[depth++] = 0;
		todo[depth++] = slices;
		while (depth > 0) {
			int interval = todo[--depth];
			int n = todo[--depth];
			int begin = interval >>> 16;
			int end = interval & 0xffff;
			if (qualities.before[n] == null || qualities.sum(n, begin, end) == 0) {
				treeNodes.add(n);
				intervals.add(interval);
				continue;
			}
			progress.check();
			if (values.idle(n)) {
				values.readRow(n, q, begin, end, treeNodes, intervals);
				continue;
			}
			if (values.calm(n, q)) {
				treeNodes.add(n);
				intervals.add(interval);
				continue;
			}
			int x = local[n];
			if (x < 0) {
				throw new IllegalStateException("node " + n + " is needed at p = " + solvedP);
			}
			forward(x, begin, end - 1, choice);
			if (prefix[end] <= HARDLY) {
				throw new IllegalStateException("node " + n + ", slices " + begin + " to " + end + " are needed at p = " + solvedP);
			}
			while (end > begin) {
				int c = choice[end - 1];
				int e = element(x, c, end - 1);
				if (e < 0 || block[e] >= base[e] - values.tie) {
					treeNodes.add(n);
					intervals.add(c << 16 | end);
				} else {
					for (int child = n + 1; child < tree.end(n); child = tree.end(child)) {
						if (depth + 2 > todo.length) {
							todo = Arrays.copyOf(todo, 2 * todo.length);
						}
						todo[depth++] = child;
						todo[depth++] = c << 16 | end;
					}
				}
				end = c;
			}
		}
	}

	private int element(int x, int i, int j) {
		for (int e = firstEndingFrom(x, j); e < from[x + 1] && last[e] == j; e++) {
			if (first[e] == i) {
				return e;
			}
		}
		return -1;
	}

	/**
	 * Deficits of all elements at the p that was solved last, not rounded: the best partition with the element is that much worse.
	 */
	void deficits(float[] ofBlock, float[] ofDivision, Progress progress) throws CancelledException {
		// what is outside of an interval that is divided, at best
		long[] outside = new long[elements];
		Arrays.fill(outside, NONE);
		Arrays.fill(ofBlock, NEVER);
		Arrays.fill(ofDivision, NEVER);
		double q = 1 - solvedP;
		Sweep sweep = new Sweep();
		for (int x = 0; x < nodes; x++) {
			progress.check();
			boolean calm = values.calm(node[x], q);
			int up = parent[x];
			sweep.begin(x);
			if (up < 0) {
				sweep.need(0, slices - 1);
			} else {
				for (int r = from[up]; r < from[up + 1]; r++) {
					if (isUsed(outside, up, r, node[x])) {
						sweep.need(first[r], last[r]);
					}
				}
			}
			sweep.forward();
			sweep.backward();
			sweep.clearOutside();
			if (up < 0) {
				sweep.outside(0, slices - 1, 0);
			} else {
				for (int r = from[up]; r < from[up + 1]; r++) {
					if (isUsed(outside, up, r, node[x])) {
						long inside = calm ? values.blockValue(node[x], first[r], last[r], q) : sweep.before[first[r]][last[r] + 1];
						if (inside > HARDLY) {
							sweep.outside(first[r], last[r], outside[r] + division[r] - inside);
						}
					}
				}
			}
			for (int e = from[x]; e < from[x + 1]; e++) {
				long most = sweep.around(e);
				if (most > HARDLY) {
					ofBlock[e] = block[e] <= HARDLY ? NEVER : down(solvedValue - most - block[e]);
					ofDivision[e] = division[e] <= HARDLY ? NEVER : down(solvedValue - most - division[e]);
					outside[e] = most;
				}
			}
		}
	}

	/** Whether element r of the parent is a division that some partition has, and its child n has values there. */
	private boolean isUsed(long[] outside, int up, int r, int n) {
		return outside[r] > HARDLY && division[r] > HARDLY && isDivided(up, r, n);
	}

	private float down(long deficit) {
		return deficit <= 0 ? 0 : (float) (deficit * values.perShiftedUnit) * (1 - 0x1p-22f);
	}
}
