// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.model.Progress;

/**
 * The engine, which leaves out what cannot be best and uses what other p have shown, against the programme as it is written in
 * docs/aggregation.md, which looks at every node, interval and cut: the same blocks, also where several partitions are equally good.
 */
class PlainProgrammeTest {
	private static final double MARGIN = 1e-9;

	/** One p by the book. */
	private static final class Plain {
		final SpatiotemporalAggregator a;
		final BlockTree tree;
		final int slices;
		final double q;
		/** Best value of (i, j) at [n][i][j], start of its last block, and whether (i, j) is better divided than one block. */
		final long[][][] best;
		final int[][][] cut;
		final boolean[][][] divided;

		Plain(SpatiotemporalAggregator a, double p) {
			this.a = a;
			this.tree = a.tree();
			this.slices = a.model().sliceCount();
			this.q = 1 - Math.min(1 - MARGIN, Math.max(MARGIN, p));
			this.best = new long[tree.size()][slices][slices];
			this.cut = new int[tree.size()][slices][slices];
			this.divided = new boolean[tree.size()][slices][slices];
			for (int n = tree.size() - 1; n >= 0; n--) {
				solve(n);
			}
		}

		private void solve(int n) {
			long[][] base = new long[slices][slices];
			if (a.sum(n, 0, slices) == 0) {
				return;
			}
			boolean calm = a.calm(n, q);
			long[][] blocks = a.blockValues(n, q);
			for (int j = 0; j < slices; j++) {
				for (int i = 0; i <= j; i++) {
					if (a.sum(n, i, j + 1) == 0) {
						continue; // nothing is lost or gained
					}
					long block = blocks[j][i];
					long children = Long.MIN_VALUE;
					if (!tree.isLeaf(n) && !calm) {
						children = 0;
						for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
							children += a.idle(m) ? 0 : best[m][i][j];
						}
					}
					base[i][j] = Math.max(block, children);
					divided[n][i][j] = block < base[i][j] - a.tie();
				}
			}
			for (int j = 0; j < slices; j++) {
				for (int i = j; i >= 0; i--) {
					long most = base[i][j];
					int start = i;
					for (int c = i + 1; c <= j && !calm; c++) {
						long value = best[n][i][c - 1] + base[c][j];
						if (value > most) {
							most = value;
							start = c;
						}
					}
					best[n][i][j] = most;
					cut[n][i][j] = base[i][j] >= most - a.tie() ? i : start;
				}
			}
		}

		List<String> blocks() {
			List<String> found = new ArrayList<>();
			walk(0, 0, slices - 1, found);
			return found;
		}

		private void walk(int n, int i, int j, List<String> found) {
			if (a.sum(n, i, j + 1) == 0) {
				found.add(n + " " + i + " " + (j + 1));
				return;
			}
			for (int end = j; end >= i;) {
				int c = cut[n][i][end];
				if (divided[n][c][end]) {
					for (int m = n + 1; m < tree.end(n); m = tree.end(m)) {
						walk(m, c, end, found);
					}
				} else {
					found.add(n + " " + c + " " + (end + 1));
				}
				end = c - 1;
			}
		}
	}

	private static List<String> blocks(Partition e) {
		List<String> found = new ArrayList<>();
		for (int b = 0; b < e.blockCount(); b++) {
			found.add(e.treeNode(b) + " " + e.firstSlice(b) + " " + e.endSlice(b));
		}
		return found;
	}

	/** Phases and groups, as programs have them, with a little or no noise; or anything. */
	private static double[][][] values(Random random, int leaves, int slices, int types) {
		if (random.nextInt(4) == 0) {
			return RandomModels.values(random, leaves, slices, types);
		}
		int phases = 1 + random.nextInt(5);
		int groups = 1 + random.nextInt(6);
		double noise = random.nextInt(3) == 0 ? 0 : Math.pow(10, -4 * random.nextDouble());
		boolean whole = random.nextInt(3) == 0;
		double[][][] level = new double[groups][phases][types];
		for (double[][] group : level) {
			for (double[] phase : group) {
				for (int k = 0; k < types; k++) {
					phase[k] = random.nextInt(3) == 0 ? 0 : 1 << random.nextInt(6);
				}
			}
		}
		double[][][] v = new double[leaves][slices][types];
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					double x = level[l * groups / leaves][t * phases / slices][k] * (1 + noise * random.nextDouble());
					v[l][t][k] = whole ? Math.rint(x) : x;
				}
			}
		}
		return v;
	}

	private static Hierarchy tree(Random random, int nodes) {
		if (random.nextBoolean()) {
			return Hierarchy.of(RandomModels.tree(random, nodes));
		}
		int children = 2 + random.nextInt(4);
		int[] parents = new int[nodes];
		for (int n = 0; n < nodes; n++) {
			parents[n] = n == 0 ? -1 : (n - 1) / children;
		}
		return Hierarchy.of(parents);
	}

	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	void everyPartitionIsThatOfThePlainProgramme(long seed) throws Exception {
		Random random = new Random(seed);
		int slices = new int[] {1, 2, 5, 8, 13, 20, 25, 130}[(int) (seed % 8)];
		Hierarchy h = tree(random, slices == 130 ? 9 : 2 + random.nextInt(seed % 3 == 0 ? 30 : 150));
		double[][][] v = values(random, h.leafCount(), slices, 1 + random.nextInt(3));
		TimeSlices time = new TimeSlices(0, 1000L * slices, slices);
		if (seed % 3 == 1) {
			TreeSet<Long> bounds = new TreeSet<>(List.of(0L, 1_000_000L));
			while (bounds.size() <= slices) {
				bounds.add(1 + (long) (999_998 * Math.pow(random.nextDouble(), 3)));
			}
			time = TimeSlices.of(bounds.stream().mapToLong(x -> x).toArray());
		}
		MicroscopicModel m = MicroscopicModel.ofDense(h, time, RandomModels.types(v[0][0].length), Metric.ACCESSES, null, v);
		SpatiotemporalAggregator used = SpatiotemporalAggregator.prepare(m);
		List<Double> ps = new ArrayList<>(List.of(0.0, 1.0, 0.5, 0.25));
		for (int i = 0; i < 6; i++) {
			ps.add(i % 3 == 0 ? random.nextDouble() : Math.pow(random.nextDouble(), 5));
		}
		Collections.shuffle(ps, random);
		for (double p : ps) {
			List<String> plain = new Plain(used, p).blocks();
			String where = "seed " + seed + ", p " + p + " of " + ps;
			assertSame(plain, SpatiotemporalAggregator.prepare(m).partition(p), where + ", first");
			assertAsGood(used, plain, used.partition(p), where + ", later");
		}
		// close to each other, where most is left out
		double middle = ps.get(random.nextInt(ps.size()));
		for (int i = 0; i < 6; i++) {
			double p = Math.min(1, Math.max(0, middle * (1 + 0.2 * (random.nextDouble() - 0.5))));
			assertAsGood(used, new Plain(used, p).blocks(), used.partition(p), "seed " + seed + ", p " + p + " beside " + middle);
		}
		// the levels were found by the same programmes
		for (SignificantLevels.Level level : SignificantLevels.compute(used, Progress.NONE).levels()) {
			assertAsGood(used, new Plain(used, level.p()).blocks(), used.partition(level.p()), "seed " + seed + ", level " + level.p());
		}
	}

	/**
	 * The same or, as a p between two with the same partition gets that without a programme, one that is as good to the last digits.
	 */
	private static void assertAsGood(Aggregator a, List<String> plain, Partition found, String where) {
		if (plain.size() == found.blockCount() && plain.containsAll(blocks(found))) {
			return;
		}
		double gain = 0;
		double loss = 0;
		for (String block : plain) {
			String[] b = block.split(" ");
			gain += a.gain(Integer.parseInt(b[0]), Integer.parseInt(b[1]), Integer.parseInt(b[2]));
			loss += a.loss(Integer.parseInt(b[0]), Integer.parseInt(b[1]), Integer.parseInt(b[2]));
		}
		double p = Math.min(1 - MARGIN, Math.max(MARGIN, found.p()));
		assertEquals(p * gain - (1 - p) * loss, p * found.gain() - (1 - p) * found.loss(), 1e-12 * (a.rootGain() + a.rootLoss()), where);
	}

	private static void assertSame(List<String> plain, Partition found, String where) {
		String[] a = plain.toArray(String[]::new);
		String[] b = blocks(found).toArray(String[]::new);
		Arrays.sort(a);
		Arrays.sort(b);
		assertEquals(Arrays.toString(a), Arrays.toString(b), where);
	}
}
