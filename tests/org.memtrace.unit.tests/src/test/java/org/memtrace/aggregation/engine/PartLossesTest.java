// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.Progress;

/** Losses of parts of memory add up to that of the picture. Seeds are the arguments. */
class PartLossesTest {
	/** A cover of all leaves by nodes. */
	private static int[] cover(Random random, Hierarchy h) {
		List<Integer> nodes = new ArrayList<>();
		for (int n = 0; n < h.size();) {
			if (h.isLeaf(n) || n > 0 && random.nextInt(3) > 0) {
				nodes.add(n);
				n = h.end(n);
			} else {
				n++;
			}
		}
		return nodes.stream().mapToInt(i -> i).toArray();
	}

	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	void partsAddUp(long seed) throws Exception {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 3 + random.nextInt(60)));
		int slices = 1 + random.nextInt(12);
		long[] bounds = new long[slices + 1];
		for (int t = 0; t < slices; t++) {
			bounds[t + 1] = bounds[t] + 1 + random.nextInt(random.nextBoolean() ? 1 : 1000);
		}
		double[][][] v = RandomModels.values(random, h.leafCount(), slices, 1 + random.nextInt(3));
		MicroscopicModel m = MicroscopicModel.ofDense(h, TimeSlices.of(bounds), RandomModels.types(v[0][0].length), Metric.ACCESSES, null, v);
		boolean equalTypes = seed % 2 == 0;
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, AggregationOptions.EXACT.withEqualTypes(equalTypes), Progress.NONE);
		assertEquals(equalTypes, a.partition(0.5).equalTypes());
		int[] nodes = cover(random, h);
		PartLosses losses = PartLosses.of(m, nodes, equalTypes);
		double[] alone = new double[nodes.length];
		for (int i = 0; i < nodes.length; i++) {
			alone[i] = a.loss(nodes[i], 0, slices);
		}
		double scale = a.rootLoss() + a.rootGain() + 1e-300;
		for (double p : new double[] {0, 0.1, 0.3, 0.6, 0.9, 1}) {
			Partition e = a.partition(p);
			double sum = 0;
			for (int i = 0; i < nodes.length; i++) {
				double percent = losses.percent(e, i);
				assertTrue(percent >= 0);
				sum += percent / 100 * Math.max(alone[i], PartLosses.LEAST * (a.rootGain() + a.rootLoss()));
			}
			assertEquals(e.loss(), sum, 1e-9 * scale, "p = " + p);
		}
	}

	/** Where all cells are alike nothing is lost, whatever rounding makes of it. */
	@ParameterizedTest
	@ValueSource(doubles = {0.1, 1.0 / 3, 7, 1e9 + 0.3, 1e-7})
	void picturesThatLoseNothingSayNothing(double value) {
		Hierarchy h = Hierarchy.of(new int[] {-1, 0, 1, 1, 1, 0, 5, 5});
		double[][][] v = new double[h.leafCount()][7][1];
		for (double[][] leaf : v) {
			for (double[] cell : leaf) {
				cell[0] = value;
			}
		}
		MicroscopicModel m = RandomModels.model(h, v);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m);
		PartLosses losses = PartLosses.of(m, new int[] {1, 5}, false);
		for (double p : new double[] {0, 0.5, 1}) {
			for (int part = 0; part < 2; part++) {
				assertEquals(0, losses.percent(a.partition(p), part), 1e-3, "part " + part + ", p = " + p);
				assertEquals(0, losses.leastPercent(a.partition(p), part), 1e-3, "part " + part + ", p = " + p);
			}
		}
	}

	/** What rows that are kept whole lose at every level is no reason to give the bound up. */
	@ParameterizedTest
	@ValueSource(longs = {41, 42, 43})
	void boundHoldsWhereRowsAreKeptWhole(long seed) throws Exception {
		Random random = new Random(seed);
		int[] parents = new int[1 + 2 + 200];
		parents[0] = -1;
		for (int n = 1; n < parents.length; n++) {
			parents[n] = n <= 2 ? 0 : 1 + n % 2;
		}
		Hierarchy h = Hierarchy.of(parents);
		double[][][] v = new double[h.leafCount()][20][1];
		for (int leaf = 0; leaf < v.length; leaf++) {
			for (int t = 0; t < 20; t++) {
				// single pages at random, and much more of even use elsewhere
				v[leaf][t][0] = leaf < 100 ? random.nextInt(8) == 0 ? 1 + t : 0 : 3000 + random.nextInt(3000);
			}
		}
		MicroscopicModel m = RandomModels.model(h, v);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m, AggregationOptions.EXACT.withMinRows(10), Progress.NONE);
		PartLosses losses = PartLosses.of(m, new int[] {1, h.end(1)}, false);
		assertTrue(losses.percent(a.partition(0), 0) > 50, "kept whole: " + losses.percent(a.partition(0), 0));
		for (int part = 0; part < 2; part++) {
			assertEquals(losses.percent(a.partition(0), part), losses.leastPercent(a.partition(0.7), part), 1e-6, "at every p");
			assertEquals(0, losses.leastPercent(SpatiotemporalAggregator.prepare(m).partition(0.7), part), 1e-9, "nothing is kept whole");
		}
		Partition chosen = SignificantLevels.balanced(a, losses, Progress.NONE).partition();
		double worst = losses.worst(chosen, a.partition(0), InitialLevel.LEAST_PART);
		assertTrue(worst <= 100 * InitialLevel.MOST_LOSS_OF_PART, "worst " + worst);
		Partition unbounded = SignificantLevels.balanced(a, Progress.NONE).partition();
		assertTrue(losses.worst(unbounded, a.partition(0), InitialLevel.LEAST_PART) > worst, "without the bound it is more");
	}

	/** The automatic level: no part with more than 1 % of the rows loses more than half, whatever weight it has. */
	@ParameterizedTest
	@ValueSource(longs = {31, 32, 33, 34, 35, 36})
	void automaticLevelBoundsParts(long seed) throws Exception {
		Random random = new Random(seed);
		int[] parents = new int[1 + 5 + 100];
		parents[0] = -1;
		for (int n = 1; n < parents.length; n++) {
			parents[n] = n <= 5 ? 0 : 1 + n % 5;
		}
		Hierarchy h = Hierarchy.of(parents);
		double[][][] v = RandomModels.values(random, h.leafCount(), 20, 2);
		for (int leaf = 0; leaf < v.length; leaf++) {
			double weight = Math.pow(10, leaf / 20); // of parts one after the other
			for (double[] cell : v[leaf]) {
				cell[0] *= weight;
				cell[1] *= weight;
			}
		}
		MicroscopicModel m = RandomModels.model(h, v);
		SpatiotemporalAggregator a = SpatiotemporalAggregator.prepare(m);
		int[] nodes = new int[5];
		for (int n = 1, i = 0; n < h.size(); n = h.end(n)) {
			nodes[i++] = n;
		}
		PartLosses losses = PartLosses.of(m, nodes, false);
		double worst = losses.worst(SignificantLevels.balanced(a, losses, Progress.NONE).partition(), a.partition(0),
				InitialLevel.LEAST_PART);
		assertTrue(worst <= 100 * InitialLevel.MOST_LOSS_OF_PART, "worst " + worst);
	}
}
