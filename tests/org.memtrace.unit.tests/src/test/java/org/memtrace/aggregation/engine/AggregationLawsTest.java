// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** Laws of docs/how/aggregation.md on random models; the seed is the argument of the test and so in its name. */
class AggregationLawsTest {
	private static final double[] PS = {0, 0.01, 0.1, 0.25, 0.4, 0.5, 0.6, 0.8, 0.95, 1};

	static void assertCover(Partition e) {
		MicroscopicModel m = e.model();
		int[][] covered = new int[m.hierarchy().leafCount()][m.sliceCount()];
		for (int b = 0; b < e.blockCount(); b++) {
			assertTrue(e.firstSlice(b) < e.endSlice(b) && e.leafFrom(b) < e.leafTo(b));
			for (int l = e.leafFrom(b); l < e.leafTo(b); l++) {
				for (int t = e.firstSlice(b); t < e.endSlice(b); t++) {
					covered[l][t]++;
					assertEquals(b, e.blockAt(l, t), "block at (" + l + ", " + t + ")");
				}
			}
		}
		for (int[] row : covered) {
			for (int c : row) {
				assertEquals(1, c, "every cell is in one block");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	void coverIdentityMonotony(long seed) {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 2 + random.nextInt(60)));
		double[][][] v = RandomModels.values(random, h.leafCount(), 1 + random.nextInt(14), 1 + random.nextInt(3));
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, v));
		double scale = a.rootGain() + a.rootLoss() + 1e-300;
		Partition last = null;
		for (double p : PS) {
			Partition e = a.partition(p);
			assertCover(e);
			double gain = 0;
			double loss = 0;
			for (int b = 0; b < e.blockCount(); b++) {
				double[] q = Cells.quality(v, e.leafFrom(b), e.leafTo(b), e.firstSlice(b), e.endSlice(b));
				assertEquals(q[0], e.gain(b), 1e-9 * scale);
				assertEquals(q[1], e.loss(b), 1e-9 * scale);
				double sum = Arrays.stream(e.model().sums(e.leafFrom(b), e.leafTo(b), e.firstSlice(b), e.endSlice(b))).sum();
				double cells = (e.leafTo(b) - e.leafFrom(b)) * (double) (e.endSlice(b) - e.firstSlice(b));
				assertEquals(sum * Math.log(cells) / Math.log(2), e.gain(b) + e.loss(b), 1e-9 * scale, "gain + loss = S log2 c");
				gain += q[0];
				loss += q[1];
			}
			assertEquals(gain, e.gain(), 1e-9 * scale);
			assertEquals(loss, e.loss(), 1e-9 * scale);
			assertTrue(e.lossPercent() >= 0 && e.lossPercent() <= 100);
			if (last != null) {
				assertTrue(e.gain() >= last.gain() - 1e-9 * scale, "gain falls at p = " + p);
				assertTrue(e.loss() >= last.loss() - 1e-9 * scale, "loss falls at p = " + p);
			}
			last = e;
		}
		assertEquals(1, last.blockCount(), "one block at p = 1");
		assertEquals(0, a.partition(0).loss(), 1e-9 * scale, "no loss at p = 0");
	}

	/** Enumerates all partitions into (node x interval) blocks, without any assumption about their structure. */
	private static double bestOfAll(SpatiotemporalAggregator a, double p) {
		Hierarchy h = a.model().hierarchy();
		return search(a, p, new boolean[h.leafCount()][a.model().sliceCount()], 0);
	}

	private static double search(SpatiotemporalAggregator a, double p, boolean[][] taken, double value) {
		Hierarchy h = a.model().hierarchy();
		int slices = a.model().sliceCount();
		for (int l = 0; l < h.leafCount(); l++) {
			for (int t = 0; t < slices; t++) {
				if (taken[l][t]) {
					continue;
				}
				double best = Double.NEGATIVE_INFINITY;
				for (int n = 0; n < h.size(); n++) {
					if (h.leafFrom(n) != l) {
						continue;
					}
					for (int end = t + 1; end <= slices && Cells.isFree(taken, h.leafFrom(n), h.leafTo(n), t, end); end++) {
						Cells.take(taken, h.leafFrom(n), h.leafTo(n), t, end, true);
						double block = p * a.gain(n, t, end) - (1 - p) * a.loss(n, t, end);
						best = Math.max(best, search(a, p, taken, value + block));
						Cells.take(taken, h.leafFrom(n), h.leafTo(n), t, end, false);
					}
				}
				return best;
			}
		}
		return value;
	}

	@ParameterizedTest
	@ValueSource(longs = {21, 22, 23, 24, 25, 26, 27, 28})
	void optimalAmongAllPartitions(long seed) {
		Random random = new Random(seed);
		Hierarchy h;
		do {
			h = Hierarchy.of(RandomModels.tree(random, 3 + random.nextInt(4)));
		} while (h.leafCount() > 4);
		double[][][] v = RandomModels.values(random, h.leafCount(), h.leafCount() > 3 ? 3 : 4, 2);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, v));
		double scale = a.rootGain() + a.rootLoss() + 1e-300;
		for (double p : new double[] {0.05, 0.2, 0.45, 0.7}) {
			assertEquals(bestOfAll(a, p), a.partition(p).value(), 1e-9 * scale, "p = " + p);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = {31, 32, 33})
	void scalingChangesNothing(long seed) {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 30));
		double[][][] v = RandomModels.values(random, h.leafCount(), 10, 2);
		double[][][] scaled = new double[v.length][10][2];
		for (int l = 0; l < v.length; l++) {
			for (int t = 0; t < 10; t++) {
				for (int k = 0; k < 2; k++) {
					scaled[l][t][k] = v[l][t][k] * 1024;
				}
			}
		}
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, v));
		SpatiotemporalAggregator b = SpatiotemporalAggregator.prepare(RandomModels.model(h, scaled));
		for (double p : PS) {
			assertEquals(a.partition(p).value() * 1024, b.partition(p).value(), 1e-8 * (b.rootGain() + b.rootLoss()));
		}
	}

	@ParameterizedTest
	@ValueSource(longs = {41, 42, 43, 44})
	void levelsAreThoseOfPlainHalving(long seed) throws Exception {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 40));
		double[][][] v = RandomModels.values(random, h.leafCount(), 9, 2);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, v));
		SignificantLevels levels = SignificantLevels.compute(a, Progress.NONE);
		double tolerance = 1e-9 * (a.rootGain() + a.rootLoss());
		List<Double> expected = new ArrayList<>();
		Partition last = null;
		for (int i = 0; i <= 1024; i++) {
			Partition e = a.partition(i / 1024.0);
			if (last == null || Math.abs(e.gain() - last.gain()) > tolerance || Math.abs(e.loss() - last.loss()) > tolerance) {
				expected.add(i / 1024.0);
			}
			last = e;
		}
		assertEquals(expected, levels.levels().stream().map(SignificantLevels.Level::p).toList());
		assertTrue(levels.programmes() < 400, "programmes: " + levels.programmes());
		// every breakpoint is where two neighbours are equally good
		List<SignificantLevels.Level> exact = levels.breakpoints();
		for (int i = 1; i < exact.size(); i++) {
			double p = exact.get(i).p();
			Partition x = exact.get(i - 1).partition();
			Partition y = exact.get(i).partition();
			assertEquals(p * x.gain() - (1 - p) * x.loss(), p * y.gain() - (1 - p) * y.loss(), tolerance);
			assertTrue(p >= exact.get(i - 1).p());
		}
		// the short cut finds what the list holds
		SignificantLevels.Level balanced = SignificantLevels.balanced(a, Progress.NONE);
		Partition best = levels.levels().get(levels.initial(InitialLevel.BALANCED)).partition();
		assertEquals(best.gain(), balanced.partition().gain(), tolerance);
		assertEquals(best.loss(), balanced.partition().loss(), tolerance);
		for (InitialLevel strategy : InitialLevel.values()) {
			int index = levels.initial(strategy);
			assertTrue(index >= 0 && index < levels.levels().size(), strategy.name());
		}
	}

	/** The search for the first level, done plainly: halving, first for the closest level, then for the last one that loses little. */
	private static double plainBalancedP(SpatiotemporalAggregator a) {
		double g = a.rootGain();
		double l = a.rootLoss();
		int low = 0;
		int high = 1024;
		while (high - low > 1 && !a.partition(low / 1024.0).sameBlocks(a.partition(high / 1024.0))) {
			int m = (low + high) / 2;
			double p = m / 1024.0;
			Partition e = a.partition(p);
			if (-(1 - e.gain() / g) / g + e.loss() / l / l * (p / (1 - p)) < 0) {
				low = m;
			} else {
				high = m;
			}
		}
		Partition atLow = a.partition(low / 1024.0);
		Partition atHigh = a.partition(high / 1024.0);
		int closest = Math.pow(1 - atLow.gain() / g, 2) + Math.pow(atLow.loss() / l, 2) <= Math.pow(1 - atHigh.gain() / g, 2)
				+ Math.pow(atHigh.loss() / l, 2) ? low : high;
		int calm = closest;
		for (double share : new double[] {InitialLevel.MOST_LOSS, InitialLevel.MOST_LOSS_OF_MANY}) {
			double finest = a.partition(0).loss();
			double allowed = finest + share * Math.max(0, l - finest);
			calm = closest;
			while (calm > 0 && a.partition(calm / 1024.0).loss() > allowed) {
				calm--;
			}
			if (a.partition(calm / 1024.0).blockCount() <= InitialLevel.MOST_BLOCKS) {
				break;
			}
		}
		return calm / 1024.0;
	}

	@Test
	void firstLevelIsThatOfThePlainSearchWithFewerProgrammes() throws Exception {
		Random random = new Random(52);
		int programmes = 0;
		int rounds = 24;
		for (int round = 0; round < rounds; round++) {
			Hierarchy h = Hierarchy.of(RandomModels.tree(random, 20 + 12 * round));
			SpatiotemporalAggregator a = SpatiotemporalAggregator
					.prepare(RandomModels.model(h, RandomModels.values(random, h.leafCount(), 3 + round / 2, 1 + round % 3)));
			SignificantLevels.First first = SignificantLevels.first(a, Progress.NONE);
			assertEquals(plainBalancedP(a), first.initial().p(), "round " + round);
			assertTrue(first.initial().partition().sameBlocks(a.partition(first.initial().p())), "round " + round);
			programmes += first.levels().programmes();
		}
		assertTrue(programmes <= 11 * rounds, programmes + " programmes in " + rounds + " rounds");
	}

	/** Work that moves through memory, a diagonal: very many levels, and the closest loses little. */
	private static SpatiotemporalAggregator diagonal(Random random, int depth, int slices) throws Exception {
		int[] parents = new int[(2 << depth) - 1];
		for (int n = 0; n < parents.length; n++) {
			parents[n] = n == 0 ? -1 : (n - 1) / 2;
		}
		double[][][] values = new double[1 << depth][slices][2];
		int band = values.length / 8;
		for (int t = 0; t < slices; t++) {
			int from = t * (values.length - band) / (slices - 1);
			for (int leaf = from; leaf < from + band; leaf++) {
				values[leaf][t][0] = random.nextInt(8);
				values[leaf][t][1] = random.nextInt(3);
			}
		}
		return SpatiotemporalAggregator.prepare(RandomModels.model(Hierarchy.of(parents), values), AggregationOptions.EXACT.withMinRows(8),
				Progress.NONE);
	}

	@Test
	void firstLevelAmongVeryManyIsThatOfThePlainSearchToo() throws Exception {
		Random random = new Random(53);
		int programmes = 0;
		int rounds = 8;
		for (int round = 0; round < rounds; round++) {
			SpatiotemporalAggregator a = diagonal(random, 9, 12 + 3 * round);
			SignificantLevels.First first = SignificantLevels.first(a, Progress.NONE);
			assertEquals(plainBalancedP(a), first.initial().p(), "round " + round);
			programmes += first.levels().programmes();
		}
		assertTrue(programmes <= 11 * rounds, programmes + " programmes in " + rounds + " rounds");
	}

	@Test
	void normalisedListIsTheSamePartitionsOnAnotherAxis() throws Exception {
		Random random = new Random(51);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 40));
		SpatiotemporalAggregator a = SpatiotemporalAggregator
				.prepare(RandomModels.model(h, RandomModels.values(random, h.leafCount(), 9, 2)));
		SignificantLevels normalised = SignificantLevels.compute(a, 0.001, true, Progress.NONE);
		for (SignificantLevels.Level level : normalised.levels()) {
			double value = level.p() * level.partition().gain() / a.rootGain()
					- (1 - level.p()) * level.partition().loss() / a.rootLoss();
			for (SignificantLevels.Level other : normalised.levels()) {
				double others = level.p() * other.partition().gain() / a.rootGain()
						- (1 - level.p()) * other.partition().loss() / a.rootLoss();
				assertTrue(value >= others - 1e-9, "a better partition at p' = " + level.p());
			}
		}
	}

	@Test
	void equalCellsAreOneBlockWithoutLoss() {
		Hierarchy h = Hierarchy.of(new int[] {-1, 0, 0, 1, 1, 2, 2});
		double[][][] v = new double[4][6][1];
		for (double[][] leaf : v) {
			for (double[] cell : leaf) {
				cell[0] = 0.1;
			}
		}
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, v));
		for (double p : PS) {
			assertEquals(1, a.partition(p).blockCount(), "p = " + p);
		}
		TemporalAggregator t = TemporalAggregator.prepare(RandomModels.model(h, v));
		assertEquals(1, t.partition(0).blockCount());
	}

	@Test
	void weightedLeafIsItsEqualRows() {
		Hierarchy small = Hierarchy.of(new int[] {-1, 0, 0}).withLeafWeights(new int[] {3, 1});
		Hierarchy large = Hierarchy.of(new int[] {-1, 0, 1, 1, 1, 0});
		double[][][] few = {{{6}, {0}, {9}}, {{1}, {2}, {3}}};
		double[][][] many = {{{2}, {0}, {3}}, {{2}, {0}, {3}}, {{2}, {0}, {3}}, {{1}, {2}, {3}}};
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(small, few));
		SpatiotemporalAggregator b = SpatiotemporalAggregator.prepare(RandomModels.model(large, many));
		assertEquals(b.rootGain(), a.rootGain(), 1e-9);
		assertEquals(b.rootLoss(), a.rootLoss(), 1e-9);
		for (double p : PS) {
			assertEquals(b.partition(p).value(), a.partition(p).value(), 1e-9, "p = " + p);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = {61, 62, 63})
	void resolutionLimit(long seed) throws Exception {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 300));
		double[][][] v = RandomModels.values(random, h.leafCount(), 8, 2);
		MicroscopicModel m = RandomModels.model(h, v);
		SpatiotemporalAggregator exact = SpatiotemporalAggregator.prepare(m);
		SpatiotemporalAggregator limited = SpatiotemporalAggregator.prepare(m, AggregationOptions.EXACT.withMinRows(5),
				Progress.NONE);
		double scale = exact.rootGain() + exact.rootLoss();
		assertEquals(exact.rootLoss(), limited.rootLoss(), 1e-9 * scale, "the limit hides no loss");
		BlockTree tree = limited.tree();
		assertTrue(tree.size() < h.size());
		for (int i = 0; i < tree.size(); i++) {
			if (!tree.isLeaf(i)) {
				assertTrue(tree.weight(i) >= 5);
			}
		}
		for (double p : PS) {
			Partition e = limited.partition(p);
			assertCover(e);
			double loss = 0;
			for (int b = 0; b < e.blockCount(); b++) {
				loss += Cells.quality(v, e.leafFrom(b), e.leafTo(b), e.firstSlice(b), e.endSlice(b))[1];
			}
			assertEquals(loss, e.loss(), 1e-9 * scale);
			assertTrue(e.value() <= exact.partition(p).value() + 1e-9 * scale, "better than the optimum at p = " + p);
		}
	}

	@Test
	void negativeValuesAreASeparateDimension() {
		Hierarchy h = Hierarchy.of(new int[] {-1, 0, 0});
		double[][][] v = {{{-2}, {3}, {0}}, {{-2}, {3}, {1}}};
		double[][][] parts = {{{0, 2}, {3, 0}, {0, 0}}, {{0, 2}, {3, 0}, {1, 0}}};
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, v));
		SpatiotemporalAggregator b = SpatiotemporalAggregator.prepare(RandomModels.model(h, parts));
		TemporalAggregator ta = TemporalAggregator.prepare(RandomModels.model(h, v));
		TemporalAggregator tb = TemporalAggregator.prepare(RandomModels.model(h, parts));
		for (double p : PS) {
			assertTrue(a.partition(p).sameBlocks(b.partition(p)) || a.partition(p).blockCount() == b.partition(p).blockCount());
			assertEquals(b.partition(p).loss(), a.partition(p).loss(), 1e-12);
			assertEquals(tb.partition(p).gain(), ta.partition(p).gain(), 1e-12);
		}
		double[][][] wrong = {{{Double.NaN}, {3}, {0}}, {{-2}, {3}, {1}}};
		assertThrows(IllegalArgumentException.class, () -> RandomModels.model(h, wrong));
	}

	@Test
	void spatialIsOneSlice() throws Exception {
		Random random = new Random(71);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 40));
		double[][][] v = RandomModels.values(random, h.leafCount(), 7, 2);
		double[][][] summed = new double[v.length][1][2];
		for (int l = 0; l < v.length; l++) {
			for (double[] cell : v[l]) {
				summed[l][0][0] += cell[0];
				summed[l][0][1] += cell[1];
			}
		}
		SpatialAggregator a = SpatialAggregator.prepare(RandomModels.model(h, v), AggregationOptions.EXACT, Progress.NONE);
		SpatiotemporalAggregator b = SpatiotemporalAggregator.prepare(RandomModels.model(h, summed));
		for (double p : PS) {
			assertEquals(b.partition(p).value(), a.partition(p).value(), 1e-6);
		}
	}

	/** A chain of 200,000 nodes and a comb: no recursion anywhere. */
	@Test
	void anyDepth() {
		int[] chain = new int[200_000];
		for (int i = 0; i < chain.length; i++) {
			chain[i] = i - 1;
		}
		Hierarchy h = Hierarchy.of(chain);
		assertEquals(1, h.leafCount());
		assertEquals(chain.length - 1, h.level(h.leafNode(0)));
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(h, new double[][][] {{{1}, {5}}}));
		assertEquals(2, a.partition(0).blockCount());
		assertEquals(1, a.partition(1).blockCount());
		int[] comb = new int[4001];
		comb[0] = -1;
		for (int i = 1; i < comb.length; i += 2) {
			comb[i] = i == 1 ? 0 : i - 1;
			comb[i + 1] = i == 1 ? 0 : i - 1;
		}
		Hierarchy c = Hierarchy.of(comb);
		Partition e = SpatiotemporalAggregator.prepare(RandomModels.model(c,
				RandomModels.values(new Random(5), c.leafCount(), 3, 1))).partition(0.3);
		assertCover(e);
	}

	/** 250,000 pages below 400 structures, and one flat level of as many: the limit bounds time and memory. */
	@Test
	void manyLeaves() throws Exception {
		for (boolean flat : new boolean[] {false, true}) {
			int leaves = 250_000;
			int structures = flat ? 0 : 400;
			int[] parents = new int[1 + structures + leaves];
			parents[0] = -1;
			for (int s = 1; s <= structures; s++) {
				parents[s] = 0;
			}
			for (int l = 0; l < leaves; l++) {
				parents[1 + structures + l] = flat ? 0 : 1 + l / (leaves / structures);
			}
			Hierarchy h = Hierarchy.of(parents);
			MicroscopicModel.Appender cells = new MicroscopicModel.Appender(leaves);
			for (int l = 0; l < leaves; l++) {
				cells.add(l * 7 / leaves * 4, 1 + l % 3);
				cells.add(30, 2);
				cells.endLeaf();
			}
			MicroscopicModel m = new MicroscopicModel(h, new TimeSlices(0, 1 << 20, 40), RandomModels.types(1), Metric.ACCESSES,
					null, cells.from, cells.key, cells.value);
			AggregationOptions options = AggregationOptions.forPicture(h, null, leaves / 300.0, 40, 100_000_000);
			SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, options, Progress.NONE);
			assertTrue(a.tree().size() < 3000, "blocks tree: " + a.tree().size());
			assertTrue(a.memoryBytes() < 100_000_000);
			Partition e = a.partition(0.4);
			long rows = 0;
			for (int b = 0; b < e.blockCount(); b++) {
				rows += (long) (e.leafTo(b) - e.leafFrom(b)) * (e.endSlice(b) - e.firstSlice(b));
			}
			assertEquals(leaves * 40L, rows);
			assertTrue(a.partition(0.01).blockCount() > 7, "blocks at p = 0.01: " + a.partition(0.01).blockCount());
		}
	}

	@Test
	void forestAndOwnEvents() {
		Hierarchy h = Hierarchy.of(new int[] {-1, -1, 0, 0, 1});
		assertEquals(6, h.size());
		assertTrue(h.isArtificial(0));
		assertEquals(Hierarchy.NO_PRODUCER, h.producer(0));
		assertEquals(3, h.leafCount());
		int[] producers = new int[3];
		for (int l = 0; l < 3; l++) {
			producers[l] = h.producer(h.leafNode(l));
		}
		assertArrayEquals(new int[] {2, 3, 4}, producers);
		assertEquals(1, h.nodeOf(0));
		assertFalse(h.isLeaf(h.nodeOf(1)));
	}

	@Test
	void cancelled() {
		Random random = new Random(81);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 500));
		MicroscopicModel m = RandomModels.model(h, RandomModels.values(random, h.leafCount(), 20, 2));
		AtomicInteger asked = new AtomicInteger();
		Progress impatient = Progress.cancelledWhen(() -> asked.incrementAndGet() > 10);
		assertThrows(CancelledException.class, () -> SpatiotemporalAggregator.prepare(m, AggregationOptions.EXACT, impatient));
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m);
		Partition before = a.partition(0.3);
		asked.set(0);
		assertThrows(CancelledException.class, () -> a.partition(0.2, impatient));
		Partition after = a.partition(0.2);
		assertTrue(before.sameBlocks(a.partition(0.3)), "a cancelled call leaves nothing behind");
		assertTrue(after.sameBlocks(SpatiotemporalAggregator.prepare(m).partition(0.2)), "a cancelled call leaves nothing behind");
	}

	/** Rows keep their gains in 6 bytes: as good as doubles for values of any size. */
	@ParameterizedTest
	@ValueSource(doubles = {1, 1e-200, 1e12, 1e290})
	void gainsOfRowsAreExact(double unit) {
		Random random = new Random(17);
		double[][][] v = new double[2][40][3];
		for (double[][] row : v) {
			for (double[] slice : row) {
				for (int k = 0; k < 3; k++) {
					slice[k] = random.nextInt(3) == 0 ? 0 : unit * Math.exp(12 * random.nextDouble());
				}
			}
		}
		v[1] = v[0];
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(Hierarchy.of(new int[] {-1, 0, 0}), v));
		double largest = Cells.quality(v, 0, 1, 0, 40)[0];
		for (int i = 0; i < 40; i++) {
			for (int end = i + 1; end <= 40; end++) {
				double[] q = Cells.quality(v, 0, 1, i, end);
				// the reference sums cell by cell: up to 120 roundings of f
				assertEquals(q[0], a.gain(1, i, end), 1e-12 * (Math.abs(Cells.f(1e6 * unit)) + largest), i + ".." + end);
				assertEquals(a.gain(1, i, end), a.gain(2, i, end), 0, "equal rows");
				if (end == i + 1) {
					assertEquals(0, a.gain(1, i, end), 0);
				}
			}
		}
	}

	/** Rows whose largest gain is a power of two or just below: none of them overflows. */
	@ParameterizedTest
	@CsvSource({"4, 2, 2", "32, 2, 2", "2, 4, 4", "16, 4, 4", "32, 4, 4", "4, 16, 16", "8, 16, 16", "1, 2, 2", "8, 2, 7", "10, 2, 2"})
	void gainsOfEqualValuesAreExact(double value, int slices, int window) {
		double[][][] v = new double[2][window][1];
		for (int t = 0; t < slices; t++) {
			v[0][t][0] = value;
			v[1][window - 1 - t][0] = 3 * value;
		}
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(RandomModels.model(Hierarchy.of(new int[] {-1, 0, 0}), v));
		double gain = Cells.f(value * slices) - slices * Cells.f(value);
		assertEquals(gain, a.gain(1, 0, slices), 1e-13 * gain);
		assertEquals(0, a.loss(1, 0, slices), 1e-13 * gain);
		assertEquals(gain * 3, a.gain(2, window - slices, window), 3e-13 * gain);
		Partition e = a.partition(0);
		assertEquals(0, e.loss(), 1e-12 * gain, "equal cells are one block without loss");
	}
}
