// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.Progress;

/**
 * Partitions between known p, from what is left there, against those of an aggregator that knows no other p. The models are such that
 * hundreds of blocks are best at most p, so that nearly all programmes of a list are of what is left.
 */
class SurvivorsTest {
	/**
	 * A band that moves through memory, with values that many cells share, rows that are kept whole, empty rows and a few huge values; from
	 * seed 13 on areas of equal values that are no binary fractions, where rounding would decide.
	 */
	private static MicroscopicModel model(Random random, long seed, int leaves, int slices) {
		Hierarchy h = Hierarchy.of(seed % 2 == 0 ? RandomModels.tree(random, 2 * leaves) : binary(leaves));
		if (seed % 3 == 1) {
			int[] weights = new int[h.leafCount()];
			for (int l = 0; l < weights.length; l++) {
				weights[l] = 1 + random.nextInt(3);
			}
			h = h.withLeafWeights(weights);
		}
		int rows = h.leafCount();
		int types = 1 + random.nextInt(4);
		double[][][] v = new double[rows][slices][types];
		for (int l = 0; l < rows; l++) {
			for (int t = 0; t < slices; t++) {
				boolean inside = Math.abs(l * (double) slices / rows - t) < slices / 5.0;
				if (inside && (seed > 12 || random.nextInt(3) > 0) || random.nextInt(40) == 0) {
					v[l][t][random.nextInt(5) > 0 ? l * types / rows : random.nextInt(types)] = seed > 12 ? l % 7 < 4 ? 0.1 : 1.0 / 3
							: switch ((int) (seed % 4)) {
					case 0 -> 1 + random.nextInt(4);
					case 1 -> 1L << random.nextInt(12);
					case 2 -> random.nextInt(60) == 0 ? 1e9 : 1 + random.nextInt(3);
					default -> 0.5 + random.nextDouble();
					};
				}
			}
		}
		TimeSlices time = new TimeSlices(0, 1000L * slices, slices);
		if (seed % 5 == 4) {
			TreeSet<Long> bounds = new TreeSet<>(List.of(0L, 1_000_000L));
			while (bounds.size() <= slices) {
				bounds.add(1 + (long) (999_998 * Math.pow(random.nextDouble(), 3)));
			}
			time = TimeSlices.of(bounds.stream().mapToLong(x -> x).toArray());
		}
		return MicroscopicModel.ofDense(h, time, RandomModels.types(types), Metric.ACCESSES, null, v);
	}

	/** Parents of a tree in which each node has two halves. */
	private static int[] binary(int leaves) {
		List<Integer> parents = new ArrayList<>();
		divide(parents, -1, leaves);
		return parents.stream().mapToInt(i -> i).toArray();
	}

	private static void divide(List<Integer> parents, int parent, int leaves) {
		int n = parents.size();
		parents.add(parent);
		if (leaves > 1) {
			divide(parents, n, leaves / 2);
			divide(parents, n, leaves - leaves / 2);
		}
	}

	private static void same(Partition wanted, Partition found, String where) {
		if (!wanted.sameBlocks(found)) {
			// equals may go to either side by rounding, but never by more
			assertEquals(value(wanted), value(found), 1e-9 * (wanted.source().rootGain() + wanted.source().rootLoss()), where);
			fail(where + ": " + found.blockCount() + " blocks, not " + wanted.blockCount());
		}
	}

	private static double value(Partition e) {
		return e.p() * e.gain() - (1 - e.p()) * e.loss();
	}

	/** The seed is the argument, and so in the name of the test. */
	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	void partitionsAreThoseOfTheWholeProgramme(long seed) throws Exception {
		Random random = new Random(seed);
		int slices = seed == 11 ? 130 : 12 + random.nextInt(9); // more than 127 slices need wider cuts
		MicroscopicModel m = model(random, seed, seed == 11 ? 8 : 24 + random.nextInt(12), slices);
		AggregationOptions options = AggregationOptions.EXACT.withMinRows(seed % 6 == 5 ? 3 : 0);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, options, Progress.NONE);
		SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
		if (seed % 2 == 1 && seed < 13) {
			assertTrue(a.programmesOfSurvivors() > levels.programmes() / 3,
					a.programmesOfSurvivors() + " of " + levels.programmes() + " programmes are of what is left");
		}
		List<Double> ps = new ArrayList<>(List.of(1e-9, 1e-6, 0.0005, 0.999, 1 - 1e-9));
		for (SignificantLevels.Level level : levels.levels()) {
			ps.add(level.p());
		}
		for (int i = 0; i < 25; i++) {
			double p = i % 2 == 0 ? random.nextDouble() : Math.pow(random.nextDouble(), 4);
			ps.add(p);
			ps.add(Math.min(1, p * (1 + 1e-7)));
		}
		for (double p : ps) {
			SpatiotemporalAggregator fresh = SpatiotemporalAggregator.prepare(m, options, Progress.NONE);
			same(fresh.partition(p), a.partition(p).at(p), "seed " + seed + ", p = " + p);
		}
	}

	/**
	 * A subtree has no values in some slices in which its neighbours have some: then divisions of it that end before these slices and
	 * behind them
	 * are equally good, and the one with the earlier start counts. The seeds are two of 150 in which that decides.
	 */
	@ParameterizedTest
	@ValueSource(longs = {7, 124})
	void divisionsWithAnEmptyEnd(long seed) throws Exception {
		Random random = new Random(seed);
		int leaves = 4 + random.nextInt(12);
		int slices = 6 + random.nextInt(8);
		int types = 1 + random.nextInt(3);
		double[][][] v = new double[leaves][slices][types];
		int kind = random.nextInt(4);
		int from = random.nextBoolean() ? 0 : leaves / 2;
		int to = from == 0 ? leaves / 2 : leaves;
		int gap = 2 + random.nextInt(slices - 4);
		int gapEnd = gap + 1 + random.nextInt(3);
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				boolean empty = l >= from && l < to && t >= gap && t < gapEnd;
				boolean inside = (l * 3 / leaves + t * 3 / slices) % 2 == 0;
				if (!empty && (inside && random.nextInt(4) > 0 || random.nextInt(15) == 0)) {
					v[l][t][random.nextInt(types)] = switch (kind) {
					case 0 -> 1;
					case 1 -> 1 << random.nextInt(6);
					case 2 -> 1 + random.nextInt(3);
					default -> 0.5 + random.nextDouble();
					};
				}
			}
		}
		compareAfterAList(RandomModels.model(Hierarchy.of(binary(leaves)), v), random, "seed " + seed);
	}

	/**
	 * Two rows with few accesses beside rows with so many that what can be won by cutting the few counts as equal: they are not cut,
	 * also where the value of the pieces is larger by some units.
	 */
	@ParameterizedTest
	@ValueSource(longs = {3, 4, 5, 7, 10, 27})
	void whatCountsAsEqualIsNotCut(long seed) throws Exception {
		Random random = new Random(seed);
		int leaves = 8 + random.nextInt(12);
		int slices = 6 + random.nextInt(8);
		int types = 1 + random.nextInt(3);
		double[][][] v = new double[leaves][slices][types];
		int gap = 2 + random.nextInt(slices - 4);
		int gapEnd = gap + 2 + random.nextInt(3);
		double scale = Math.pow(10, 11 + random.nextInt(4));
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				if (l >= leaves - 2) {
					v[l][t][0] = t >= gap && t < gapEnd ? 1 + random.nextInt(3) : 0;
				} else if (Math.abs(l * (double) slices / leaves - t) < slices / 4.0 && random.nextInt(4) > 0
						|| random.nextInt(15) == 0) {
					v[l][t][random.nextInt(types)] = scale * (1 + random.nextInt(3));
				}
			}
		}
		compareAfterAList(RandomModels.model(Hierarchy.of(binary(leaves)), v), random, "seed " + seed);
	}

	/** Where there are many nodes it is estimated how much is left before it is looked for; what is left of a band still is. */
	@ParameterizedTest
	@ValueSource(longs = {1, 2})
	void estimatedOnManyNodes(long seed) throws Exception {
		Random random = new Random(seed);
		int leaves = 160;
		int slices = 16;
		double[][][] v = new double[leaves][slices][2];
		for (int l = 0; l < leaves; l++) {
			for (int t = 0; t < slices; t++) {
				if (Math.abs(l * (double) slices / leaves - t) < slices / 5.0 && random.nextInt(4) > 0) {
					v[l][t][random.nextInt(9) == 0 ? l / 80 : 1 - l / 80] = 1 + random.nextInt(4);
				}
			}
		}
		compareAfterAList(RandomModels.model(Hierarchy.of(binary(leaves)), v), random, "seed " + seed);
	}

	private static void compareAfterAList(MicroscopicModel m, Random random, String where) throws Exception {
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m);
		List<Double> ps = new ArrayList<>();
		for (SignificantLevels.Level level : SignificantLevels.compute(a, Progress.NONE).levels()) {
			ps.add(level.p());
		}
		for (int i = 0; i < 12; i++) {
			ps.add(i % 2 == 0 ? random.nextDouble() : Math.pow(random.nextDouble(), 4));
		}
		assertTrue(a.programmesOfSurvivors() > 0, where);
		for (double p : ps) {
			same(SpatiotemporalAggregator.prepare(m).partition(p), a.partition(p).at(p), where + ", p = " + p);
		}
		long before = a.memoryBytes();
		a.expectFew();
		assertTrue(a.memoryBytes() < before, where + ": " + a.memoryBytes() + " bytes are kept of " + before);
		for (int i = 0; i < 12; i++) {
			double p = i % 2 == 0 ? random.nextDouble() : Math.pow(random.nextDouble(), 4);
			same(SpatiotemporalAggregator.prepare(m).partition(p), a.partition(p).at(p), where + ", little is kept, p = " + p);
		}
		SignificantLevels again = SignificantLevels.compute(a, Progress.NONE);
		SignificantLevels fresh = SignificantLevels.compute(SpatiotemporalAggregator.prepare(m), Progress.NONE);
		assertEquals(fresh.levels().size(), again.levels().size(), where);
	}

	/**
	 * Deficits of all blocks and divisions, where everything is left, against their definition: the best of all less the best partition
	 * with the element, found from the root to the rows, interval by interval. Too small ones would cost time only.
	 */
	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 6, 8, 10})
	void deficitsAreHowMuchWorseTheBestWithAnElementIs(long seed) throws Exception {
		Random random = new Random(seed);
		MicroscopicModel m = model(random, seed, 10, 9);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m);
		Survivors s = Survivors.of(a.values(), null, null,
				new Survivors.Span(0.5, Double.POSITIVE_INFINITY, false, false, 0), Double.POSITIVE_INFINITY);
		for (double p : new double[] {0.05, 0.2, 0.5}) {
			Naive naive = new Naive(a, p);
			float[] blocks = new float[s.size()];
			float[] divisions = new float[s.size()];
			s.solve(p, Progress.NONE);
			s.deficits(blocks, divisions, Progress.NONE);
			int compared = 0;
			for (int e = 0; e < s.size(); e++) {
				int[] at = s.place(e);
				String where = "seed " + seed + ", p = " + p + ", node " + at[0] + ", slices " + at[1] + " to " + at[2];
				if (blocks[e] != Float.POSITIVE_INFINITY) {
					assertEquals(naive.deficit(naive.withBlock, at), blocks[e], 1e-6, where + ", block");
					compared++;
				}
				if (divisions[e] != Float.POSITIVE_INFINITY) {
					assertEquals(naive.deficit(naive.withDivision, at), divisions[e], 1e-6, where + ", division");
					compared++;
				}
			}
			assertTrue(compared > s.size() / 2, compared + " of " + s.size());
		}
	}

	/** Best partitions with each block and each division, in doubles. */
	private static final class Naive {
		final double[][][] withBlock;
		final double[][][] withDivision;
		private final double[][][] best;
		private final SpatiotemporalAggregator a;
		private final double p;
		private final int slices;

		Naive(SpatiotemporalAggregator a, double p) {
			this.a = a;
			this.p = p;
			slices = a.model().sliceCount();
			int nodes = a.tree().size();
			best = new double[nodes][slices + 1][slices + 1];
			withBlock = new double[nodes][slices][slices];
			withDivision = new double[nodes][slices][slices];
			for (int n = nodes - 1; n >= 0; n--) {
				for (int j = 0; j < slices; j++) {
					for (int i = j; i >= 0; i--) {
						withBlock[n][i][j] = Double.NEGATIVE_INFINITY;
						withDivision[n][i][j] = Double.NEGATIVE_INFINITY;
						best[n][i][j + 1] = Double.NEGATIVE_INFINITY;
						for (int c = i; c <= j; c++) {
							double base = a.tree().isLeaf(n) ? block(n, c, j) : Math.max(block(n, c, j), division(n, c, j));
							best[n][i][j + 1] = Math.max(best[n][i][j + 1], best[n][i][c] + base);
						}
					}
				}
			}
			piece(0, 0, slices - 1, 0);
			for (int n = 0; n < nodes; n++) {
				for (int i = 0; i < slices && !a.tree().isLeaf(n); i++) {
					for (int j = i; j < slices; j++) {
						for (int child = n + 1; child < a.tree().end(n); child = a.tree().end(child)) {
							piece(child, i, j, withDivision[n][i][j] - best[child][i][j + 1]);
						}
					}
				}
			}
		}

		/** What an interval of a node is worth to all elements in it, with what is outside of it. */
		private void piece(int n, int from, int to, double outside) {
			for (int i = from; i <= to; i++) {
				for (int j = i; j <= to; j++) {
					double rest = outside + best[n][from][i] + best[n][j + 1][to + 1];
					withBlock[n][i][j] = Math.max(withBlock[n][i][j], rest + block(n, i, j));
					if (!a.tree().isLeaf(n)) {
						withDivision[n][i][j] = Math.max(withDivision[n][i][j], rest + division(n, i, j));
					}
				}
			}
		}

		private double block(int n, int i, int j) {
			return p * a.gain(n, i, j + 1) - (1 - p) * a.loss(n, i, j + 1);
		}

		private double division(int n, int i, int j) {
			double sum = 0;
			for (int child = n + 1; child < a.tree().end(n); child = a.tree().end(child)) {
				sum += best[child][i][j + 1];
			}
			return sum;
		}

		double deficit(double[][][] with, int[] at) {
			return (best[0][0][slices] - with[at[0]][at[1]][at[2]]) / (a.rootGain() + a.rootLoss());
		}
	}

	/** A list of an aggregator that was asked for single p before, as in the workbench. */
	@Test
	void listAfterSinglePartitions() throws Exception {
		MicroscopicModel m = model(new Random(5), 8, 40, 24);
		SpatiotemporalAggregator plain = SpatiotemporalAggregator.prepare(m);
		SignificantLevels wanted = SignificantLevels.compute(plain, Progress.NONE);
		SpatiotemporalAggregator used = SpatiotemporalAggregator.prepare(m);
		for (double p : new double[] {0.3, 0.9, 0.05, 0.31, 0.1}) {
			used.partition(p);
		}
		SignificantLevels.first(used, Progress.NONE);
		SignificantLevels found = SignificantLevels.compute(used, Progress.NONE);
		assertEquals(wanted.levels().size(), found.levels().size());
		for (int i = 0; i < wanted.levels().size(); i++) {
			assertEquals(wanted.levels().get(i).p(), found.levels().get(i).p());
			same(wanted.levels().get(i).partition(), found.levels().get(i).partition(), "level " + i);
		}
	}

	/** Cells that differ by far are blocks of their own near p = 0, without a programme; those that are equal are not. */
	@Test
	void nearZeroEqualCellsAreOneBlock() {
		double[][][] v = {{{1}, {7}, {0}, {0}}, {{3}, {3}, {9}, {1}}};
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(Hierarchy.of(new int[] {-1, 0, 0}), v));
		Partition e = a.partition(0);
		List<String> blocks = new ArrayList<>();
		for (int b = 0; b < e.blockCount(); b++) {
			blocks.add(e.leafFrom(b) + " " + e.firstSlice(b) + ".." + e.endSlice(b));
		}
		assertEquals(List.of("0 0..1", "0 1..2", "0 2..4", "1 0..2", "1 2..3", "1 3..4"), blocks);
	}
}
