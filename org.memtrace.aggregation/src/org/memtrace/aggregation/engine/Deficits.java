// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.Arrays;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * How much worse than the best partition every partition at least is that divides an interval of a node among its children, at one p
 * (docs/how/aggregation.md, "Where a programme has to look"). For each inner node a triangle, (i, j) at j (j + 1) / 2 + i, of the upper
 * halves of floats, rounded down; unit: the scale of the aggregator. Written by the thread that solves a node, then read only.
 */
final class Deficits {
	/** No bound is known to be less. */
	static final char INFINITE = (char) (Float.floatToRawIntBits(Float.POSITIVE_INFINITY) >>> 16);
	/** More than the relative error of a double made a float, or of two floats added. */
	private static final float DOWN = 1 - 0x1p-22f;

	/** Deficits of node n; null where the programme did not look, see {@link #elsewhere}. */
	final char[][] lower;
	/**
	 * Where everything was looked at, the same of every block (n, i, j), for all nodes; then {@link #lower} are the deficits themselves and
	 * not less than they are. null: not known.
	 */
	final char[][] blocks;
	/** What was left out of the programme for its deficits is at least this much worse. */
	char cap = INFINITE;
	/** The least deficit of a node that was not looked at. */
	private float[] floor;
	private long bytes;

	Deficits(int nodes) {
		this.lower = new char[nodes][];
		this.blocks = null;
	}

	/** Those of a programme with everything. */
	Deficits(char[][] divisions, char[][] blocks) {
		this.lower = divisions;
		this.blocks = blocks;
		this.floor = new float[divisions.length];
	}

	/** The largest value that is stored and not more than x, 0 for negative x. */
	static char down(double x) {
		return x > 0 ? (char) (Float.floatToRawIntBits((float) x * DOWN) >>> 16) : 0;
	}

	static float value(char c) {
		return Float.intBitsToFloat(c << 16);
	}

	/**
	 * Makes deficits of what the programme has left: for the root deficits, for other nodes by how much the best of an interval is
	 * better than its division among the children. A partition that divides (n, i, j) has, in the parent, some interval around it
	 * that is divided too; its deficit and this difference add up.
	 */
	void finish(BlockTree tree, Chunks chunks, int slices) {
		if (floor != null) {
			return;
		}
		float[] least = new float[lower.length];
		int size = slices * (slices + 1) / 2;
		float[] around = new float[size];
		if (lower[0] != null) {
			bound(lower[0]);
		}
		for (int n : chunks.top) {
			passOn(n, tree, slices, around, least);
		}
		try {
			Parallel.run(chunks.count(), Progress.NONE, c -> {
				float[] mine = new float[size];
				for (int n = chunks.from[c]; n < chunks.to[c]; n++) {
					passOn(n, tree, slices, mine, least);
				}
			});
		} catch (CancelledException e) {
			throw new IllegalStateException(e); // nobody can cancel it, as it cannot be done by halves
		}
		floor = least;
	}

	private void bound(char[] d) {
		for (int x = 0; x < d.length; x++) {
			d[x] = (char) Math.min(d[x], cap);
		}
	}

	private void passOn(int n, BlockTree tree, int slices, float[] around, float[] least) {
		boolean made = false;
		float smallest = least[n];
		for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
			if (tree.isLeaf(m)) {
				continue;
			}
			if (lower[n] != null && !made) {
				around(lower[n], slices, around);
				smallest = value(cap);
				for (char c : lower[n]) {
					smallest = Math.min(smallest, value(c));
				}
				made = true;
			}
			char[] d = lower[m];
			if (d == null) {
				least[m] = smallest;
				continue;
			}
			float most = value(cap);
			for (int x = 0; x < d.length; x++) {
				float f = Math.min(most, (around[x] + value(d[x])) * DOWN);
				d[x] = (char) (Float.floatToRawIntBits(f) >>> 16);
			}
		}
	}

	/** A bound of the deficits of a node that was not looked at. */
	float elsewhere(int n) {
		return floor[n];
	}

	/** The least deficit of all intervals that contain (i, j). */
	private static void around(char[] d, int slices, float[] to) {
		for (int j = slices - 1; j >= 0; j--) {
			int at = j * (j + 1) / 2;
			float least = Float.POSITIVE_INFINITY;
			if (j == slices - 1) {
				for (int i = 0; i <= j; i++) {
					least = Math.min(least, value(d[at + i]));
					to[at + i] = least;
				}
			} else {
				for (int i = 0; i <= j; i++) {
					least = Math.min(least, value(d[at + i]));
					to[at + i] = Math.min(least, to[at + j + 1 + i]);
				}
			}
		}
	}

	/** Bytes of the tables; asked for when all are made. */
	long memoryBytes() {
		if (bytes == 0) {
			bytes = 16 + countBytes();
		}
		return bytes;
	}

	private long countBytes() {
		return bytes(lower) + (blocks == null ? 0 : bytes(blocks));
	}

	private static long bytes(char[][] d) {
		return 4L * d.length + Arrays.stream(d).mapToLong(x -> x == null ? 0 : 16 + 2L * x.length).sum();
	}
}
