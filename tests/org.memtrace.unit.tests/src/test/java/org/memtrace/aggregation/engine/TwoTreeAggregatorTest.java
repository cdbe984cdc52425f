// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** The engine for two hierarchies, against all partitions of small ones; the seed is the argument of the test and so in its name. */
class TwoTreeAggregatorTest {
	private static final double[] PS = {0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1};

	/** A partition of everything into node x node blocks: its value and its blocks. */
	private record Best(double value, int blocks) {
	}

	/** The best of all covers by blocks, whatever their structure: the first free cell is the corner of each block that can come next. */
	private static Best search(Hierarchy a, Hierarchy b, double[][][] v, double p, boolean[][] taken) {
		for (int l = 0; l < a.leafCount(); l++) {
			for (int t = 0; t < b.leafCount(); t++) {
				if (taken[l][t]) {
					continue;
				}
				Best best = new Best(Double.NEGATIVE_INFINITY, 0);
				for (int n = 0; n < a.size(); n++) {
					for (int c = 0; c < b.size(); c++) {
						if (a.leafFrom(n) != l || b.leafFrom(c) != t || !Cells.isFree(taken, a.leafFrom(n), a.leafTo(n), b.leafFrom(c), b.leafTo(c))) {
							continue;
						}
						Cells.take(taken, a.leafFrom(n), a.leafTo(n), b.leafFrom(c), b.leafTo(c), true);
						double[] q = Cells.quality(v, a.leafFrom(n), a.leafTo(n), b.leafFrom(c), b.leafTo(c));
						Best rest = search(a, b, v, p, taken);
						Cells.take(taken, a.leafFrom(n), a.leafTo(n), b.leafFrom(c), b.leafTo(c), false);
						Best found = new Best(p * q[0] - (1 - p) * q[1] + rest.value, rest.blocks + 1);
						boolean equal = Math.abs(found.value - best.value) < 1e-9;
						best = equal ? found.blocks < best.blocks ? found : best : found.value > best.value ? found : best;
					}
				}
				return best;
			}
		}
		return new Best(0, 0);
	}

	/** Compares value, gain, loss and number of blocks at many p, and checks the laws. */
	private static void check(Hierarchy a, Hierarchy b, double[][][] v, boolean all) {
		TwoTreeAggregator engine = TwoTreeAggregator.prepare(RandomModels.model(a, v), b);
		double[] whole = Cells.quality(v, 0, a.leafCount(), 0, b.leafCount());
		double scale = 1e-9 * (whole[0] + whole[1]) + 1e-12;
		assertEquals(whole[0], engine.rootGain(), scale);
		assertEquals(whole[1], engine.rootLoss(), scale);
		for (int n = 0; n < a.size(); n++) {
			for (int c = 0; c < b.size(); c++) {
				double[] q = Cells.quality(v, a.leafFrom(n), a.leafTo(n), b.leafFrom(c), b.leafTo(c));
				assertEquals(q[0], engine.gain(n, b.leafFrom(c), b.leafTo(c)), scale, "gain of " + n + " x " + c);
				assertEquals(q[1], engine.loss(n, b.leafFrom(c), b.leafTo(c)), scale, "loss of " + n + " x " + c);
			}
		}
		Partition last = null;
		for (double p : PS) {
			Partition e = engine.partition(p);
			AggregationLawsTest.assertCover(e);
			double gain = 0;
			double loss = 0;
			for (int i = 0; i < e.blockCount(); i++) {
				double[] q = Cells.quality(v, e.leafFrom(i), e.leafTo(i), e.firstSlice(i), e.endSlice(i));
				gain += q[0];
				loss += q[1];
				int c = engine.columnNode(e.firstSlice(i), e.endSlice(i));
				assertEquals(b.leafFrom(c), e.firstSlice(i));
				assertEquals(b.leafTo(c), e.endSlice(i));
			}
			assertEquals(gain, e.gain(), scale);
			assertEquals(loss, e.loss(), scale);
			if (all && p > 0 && p < 1) {
				Best best = search(a, b, v, p, new boolean[a.leafCount()][b.leafCount()]);
				assertEquals(best.value, p * e.gain() - (1 - p) * e.loss(), 10 * scale, "value at p = " + p);
				assertEquals(best.blocks, e.blockCount(), "blocks at p = " + p);
			}
			if (last != null) {
				assertTrue(e.gain() >= last.gain() - scale, "gain falls at p = " + p);
				assertTrue(e.loss() >= last.loss() - scale, "loss falls at p = " + p);
			}
			last = e;
		}
		assertEquals(whole[0], last.gain(), scale, "all gain at p = 1"); // one block, or several where empty parts cost nothing
		assertEquals(0, engine.partition(0).loss(), scale, "no loss at p = 0");
	}

	private static Hierarchy tree(Random random, int mostLeaves) {
		while (true) {
			Hierarchy h = Hierarchy.of(RandomModels.tree(random, 1 + random.nextInt(2 * mostLeaves)));
			if (h.leafCount() <= mostLeaves) {
				return h;
			}
		}
	}

	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	void asGoodAsTheBestOfAllPartitions(long seed) {
		Random random = new Random(seed);
		Hierarchy a = tree(random, 4);
		Hierarchy b = tree(random, a.leafCount() == 4 ? 3 : 4);
		// small whole numbers: many equal cells and zeros, so that ties matter
		double[][][] v = new double[a.leafCount()][b.leafCount()][1 + random.nextInt(2)];
		for (double[][] row : v) {
			for (double[] cell : row) {
				Arrays.setAll(cell, k -> random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(5));
			}
		}
		check(a, b, v, true);
	}

	@ParameterizedTest
	@ValueSource(longs = {41, 42, 43, 44, 45, 46, 47, 48})
	void lawsOfLargerTrees(long seed) {
		Random random = new Random(seed);
		Hierarchy a = Hierarchy.of(RandomModels.tree(random, 2 + random.nextInt(60)));
		Hierarchy b = Hierarchy.of(RandomModels.tree(random, 2 + random.nextInt(30)));
		check(a, b, RandomModels.values(random, a.leafCount(), b.leafCount(), 1 + random.nextInt(3)), false);
	}

	@Test
	void oneCell() {
		Hierarchy one = Hierarchy.of(new int[] {-1});
		check(one, one, new double[][][] {{{7, 0}}}, true);
		assertEquals(1, TwoTreeAggregator.prepare(RandomModels.model(one, new double[][][] {{{7}}}), one).partition(0).blockCount());
	}

	@Test
	void withoutValuesOneBlock() {
		Hierarchy a = Hierarchy.of(new int[] {-1, 0, 0});
		Hierarchy b = Hierarchy.of(new int[] {-1, 0, 0, 0});
		check(a, b, new double[2][3][1], true);
		assertEquals(1, TwoTreeAggregator.prepare(RandomModels.model(a, new double[2][3][1]), b).partition(0).blockCount());
	}

	/** Rows that are 0 are one block over all columns, and equal cells are one block at every p. */
	@Test
	void zerosAndEquals() {
		Hierarchy a = Hierarchy.of(new int[] {-1, 0, 0, 0});
		Hierarchy b = Hierarchy.of(new int[] {-1, 0, 0, 1, 1, 2, 2});
		double[][][] v = {{{5}, {5}, {5}, {5}}, {{0}, {0}, {0}, {0}}, {{8}, {8}, {0}, {0}}};
		check(a, b, v, true);
		Partition e = TwoTreeAggregator.prepare(RandomModels.model(a, v), b).partition(0);
		assertEquals(4, e.blockCount());
	}

	/** A machine whose parts are used by parts of memory: blocks are on the diagonal. */
	@Test
	void eachPartOfMemoryByItsPartOfTheMachine() {
		Hierarchy a = Hierarchy.of(new int[] {-1, 0, 0, 1, 1, 2, 2});
		Hierarchy b = Hierarchy.of(new int[] {-1, 0, 0, 1, 1, 2, 2});
		double[][][] v = new double[4][4][1];
		for (int l = 0; l < 4; l++) {
			for (int t = 0; t < 4; t++) {
				v[l][t][0] = l / 2 == t / 2 ? 64 : 0;
			}
		}
		Partition e = TwoTreeAggregator.prepare(RandomModels.model(a, v), b).partition(0.3);
		assertEquals(4, e.blockCount());
		assertEquals(0, e.loss(), 1e-9);
	}

	/** What differs by less than the tolerance is equal, and equals go to the partition with fewer blocks. */
	@Test
	void equalsGoToTheCoarserOne() {
		// two types that share no row: at p = 1 only the loss decides, and that of the small part is too small to count
		Hierarchy a = Hierarchy.of(new int[] {-1, 0, 0, 2, 2});
		Hierarchy b = Hierarchy.of(new int[] {-1, 0, 0});
		double[][][] v = {{{1e6, 0}, {3e6, 0}}, {{0, 500}, {0, 500}}, {{0, 0}, {0, 0}}};
		Partition e = TwoTreeAggregator.prepare(RandomModels.model(a, v), b).partition(1);
		assertEquals(2, e.blockCount());
		// rows without values are blocks, too: divided by rows first there are 3 + 3 + 2 blocks, by columns first 4 + 4 + 1
		Hierarchy four = Hierarchy.of(new int[] {-1, 0, 0, 0, 0});
		double[][][] w = {{{8}, {3}, {0}}, {{3}, {8}, {0}}, {{0}, {0}, {0}}, {{0}, {0}, {0}}};
		Hierarchy three = Hierarchy.of(new int[] {-1, 0, 0, 0});
		assertEquals(8, TwoTreeAggregator.prepare(RandomModels.model(four, w), three).partition(0).blockCount());
	}

	@ParameterizedTest
	@ValueSource(longs = {61, 62, 63})
	void powersOfTwoChangeNothing(long seed) {
		Random random = new Random(seed);
		Hierarchy a = tree(random, 12);
		Hierarchy b = tree(random, 9);
		double[][][] v = RandomModels.values(random, a.leafCount(), b.leafCount(), 2);
		TwoTreeAggregator plain = TwoTreeAggregator.prepare(RandomModels.model(a, v), b);
		for (int power : new int[] {-40, 3, 40}) {
			double[][][] w = new double[v.length][][];
			for (int l = 0; l < v.length; l++) {
				w[l] = new double[v[l].length][];
				for (int t = 0; t < v[l].length; t++) {
					w[l][t] = Arrays.stream(v[l][t]).map(x -> Math.scalb(x, power)).toArray();
				}
			}
			TwoTreeAggregator scaled = TwoTreeAggregator.prepare(RandomModels.model(a, w), b);
			for (double p : PS) {
				Partition e = plain.partition(p);
				Partition s = scaled.partition(p);
				assertTrue(e.sameBlocks(s), "2^" + power + " at p = " + p);
				assertEquals(e.lossPercent(), s.lossPercent(), 1e-6);
			}
		}
	}

	/** With one column it is the aggregation of the hierarchy alone; with both trees exchanged nothing changes. */
	@ParameterizedTest
	@ValueSource(longs = {71, 72, 73, 74})
	void oneColumnAndExchange(long seed) {
		Random random = new Random(seed);
		Hierarchy a = tree(random, 14);
		Hierarchy b = tree(random, 7);
		double[][][] v = RandomModels.values(random, a.leafCount(), b.leafCount(), 2);
		double[][][] turned = new double[b.leafCount()][a.leafCount()][];
		double[][][] first = new double[a.leafCount()][1][];
		for (int l = 0; l < v.length; l++) {
			first[l][0] = v[l][0];
			for (int t = 0; t < v[l].length; t++) {
				turned[t][l] = v[l][t];
			}
		}
		TwoTreeAggregator ab = TwoTreeAggregator.prepare(RandomModels.model(a, v), b);
		TwoTreeAggregator ba = TwoTreeAggregator.prepare(RandomModels.model(b, turned), a);
		TwoTreeAggregator alone = TwoTreeAggregator.prepare(RandomModels.model(a, first), Hierarchy.of(new int[] {-1}));
		SpatiotemporalAggregator known = SpatiotemporalAggregator.prepare(RandomModels.model(a, first));
		double scale = ab.rootGain() + ab.rootLoss() + 1e-300;
		for (double p : PS) {
			assertEquals(ab.partition(p).value(), ba.partition(p).value(), 1e-9 * scale);
			assertTrue(known.partition(p).sameBlocks(alone.partition(p)), "one column, p = " + p);
		}
	}

	/** Where the second tree is flat and has two leaves, it is time with two slices. */
	@ParameterizedTest
	@ValueSource(longs = {81, 82, 83})
	void twoLeavesAreTwoSlices(long seed) {
		Random random = new Random(seed);
		Hierarchy a = tree(random, 20);
		double[][][] v = RandomModels.values(random, a.leafCount(), 2, 3);
		Hierarchy two = Hierarchy.of(new int[] {-1, 0, 0});
		TwoTreeAggregator engine = TwoTreeAggregator.prepare(RandomModels.model(a, v), two);
		SpatiotemporalAggregator known = SpatiotemporalAggregator.prepare(RandomModels.model(a, v));
		double scale = known.rootGain() + known.rootLoss() + 1e-300;
		for (double p : PS) {
			assertEquals(known.partition(p).value(), engine.partition(p).value(), 1e-9 * scale);
			assertEquals(known.partition(p).lossPercent(), engine.partition(p).lossPercent(), 1e-6);
		}
	}

	/** A chain of nodes with the same leaves is one node, the uppermost. */
	@Test
	void chains() {
		Hierarchy chain = Hierarchy.of(new int[] {-1, 0, 1, 1, 2, 3});
		double[][][] v = {{{1}, {9}}, {{4}, {4}}};
		check(Hierarchy.of(new int[] {-1, 0, 0}), chain, v, true);
		TwoTreeAggregator engine = TwoTreeAggregator.prepare(RandomModels.model(Hierarchy.of(new int[] {-1, 0, 0}), v), chain);
		assertEquals(0, engine.columnNode(0, 2));
		assertEquals(2, engine.columnNode(0, 1));
		assertThrows(IllegalArgumentException.class, () -> engine.columnNode(1, 1));
	}

	/** With a limit the figures are those of the full model: what is lost inside of rows that are kept whole is counted. */
	@Test
	void resolutionLimitAndEqualTypes() throws CancelledException {
		Random random = new Random(91);
		Hierarchy a = Hierarchy.of(RandomModels.tree(random, 90));
		Hierarchy b = tree(random, 9);
		double[][][] v = RandomModels.values(random, a.leafCount(), b.leafCount(), 2);
		MicroscopicModel m = RandomModels.model(a, v);
		TwoTreeAggregator full = TwoTreeAggregator.prepare(m, b);
		TwoTreeAggregator coarse = TwoTreeAggregator.prepare(m, b, AggregationOptions.EXACT.withMinRows(8), Progress.NONE);
		double scale = full.rootGain() + full.rootLoss();
		assertTrue(coarse.tree().size() < full.tree().size());
		assertEquals(full.rootLoss(), coarse.rootLoss(), 1e-9 * scale);
		assertEquals(full.rootGain(), coarse.rootGain(), 1e-9 * scale);
		Partition finest = coarse.partition(0);
		assertTrue(finest.loss() > 1e-6 * scale);
		assertEquals(finest.loss(), finest.limitedLoss(), 1e-9 * scale);
		for (double p : PS) {
			assertTrue(coarse.partition(p).value() <= full.partition(p).value() + 1e-9 * scale);
		}
		double[][][] large = new double[v.length][][];
		for (int l = 0; l < v.length; l++) {
			large[l] = Arrays.stream(v[l]).map(cell -> new double[] {1024 * cell[0], cell[1]}).toArray(double[][]::new);
		}
		AggregationOptions equal = AggregationOptions.EXACT.withEqualTypes(true);
		for (double p : PS) {
			assertEquals(TwoTreeAggregator.prepare(m, b, equal, Progress.NONE).partition(p).lossPercent(),
					TwoTreeAggregator.prepare(RandomModels.model(a, large), b, equal, Progress.NONE).partition(p).lossPercent(), 1e-6);
		}
	}

	/** Levels are found with the same search; each is the best at its p, and losses rise. */
	@Test
	void significantLevels() throws CancelledException {
		Random random = new Random(95);
		Hierarchy a = tree(random, 20);
		Hierarchy b = tree(random, 8);
		TwoTreeAggregator engine = TwoTreeAggregator.prepare(
				RandomModels.model(a, RandomModels.values(random, a.leafCount(), b.leafCount(), 2)), b);
		List<SignificantLevels.Level> levels = SignificantLevels.compute(engine, 0.001, false, Progress.NONE).levels();
		assertTrue(levels.size() > 3);
		for (int i = 0; i < levels.size(); i++) {
			Partition e = levels.get(i).partition();
			assertEquals(engine.partition(e.p()).value(), e.value(), 1e-9 * (engine.rootGain() + engine.rootLoss()));
			assertTrue(i == 0 || e.loss() >= levels.get(i - 1).partition().loss());
			assertSame(engine, e.source());
		}
	}

	@Test
	void whatDoesNotFitIsRefusedAndCancelled() {
		Hierarchy a = Hierarchy.of(new int[] {-1, 0, 0});
		MicroscopicModel m = RandomModels.model(a, new double[][][] {{{1}, {2}}, {{3}, {4}}});
		assertThrows(IllegalArgumentException.class, () -> TwoTreeAggregator.prepare(m, Hierarchy.of(new int[] {-1, 0, 0, 0})));
		TwoTreeAggregator engine = TwoTreeAggregator.prepare(m, a);
		assertThrows(IllegalArgumentException.class, () -> engine.partition(1.1));
		Progress cancelled = Progress.cancelledWhen(() -> true);
		assertThrows(CancelledException.class, () -> engine.partition(0.5, cancelled));
		assertThrows(CancelledException.class, () -> TwoTreeAggregator.prepare(m, a, AggregationOptions.EXACT, cancelled));
	}
}
