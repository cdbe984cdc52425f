// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.time.TimeSlices;

/** Slices of different lengths: a slice of w units is as w slices of one unit with the same density. Seeds are the arguments. */
class UnequalSlicesTest {
	private static final double[] PS = {0, 0.01, 0.1, 0.25, 0.4, 0.5, 0.6, 0.8, 0.95, 1};

	/** A model of unequal slices, and the same with each slice divided into units. */
	private record Both(MicroscopicModel unequal, MicroscopicModel units, int[] start) {
	}

	private static Both models(Random random, Hierarchy h, int slices, int types, Metric metric) {
		int[] length = new int[slices];
		int[] start = new int[slices + 1];
		long[] bounds = new long[slices + 1];
		for (int t = 0; t < slices; t++) {
			length[t] = switch (random.nextInt(4)) {
			case 0 -> 1;
			case 1 -> 1 << random.nextInt(5);
			default -> 1 + random.nextInt(7);
			};
			start[t + 1] = start[t] + length[t];
			bounds[t + 1] = 1000L * start[t + 1];
		}
		double[][][] density = RandomModels.values(random, h.leafCount(), slices, types);
		double[][][] v = new double[h.leafCount()][slices][types];
		double[][][] fine = new double[h.leafCount()][start[slices]][types];
		for (int l = 0; l < v.length; l++) {
			for (int t = 0; t < slices; t++) {
				for (int k = 0; k < types; k++) {
					v[l][t][k] = density[l][t][k] * length[t];
					for (int u = start[t]; u < start[t + 1]; u++) {
						fine[l][u][k] = density[l][t][k];
					}
				}
			}
		}
		return new Both(MicroscopicModel.ofDense(h, TimeSlices.of(bounds), RandomModels.types(types), metric, null, v),
				MicroscopicModel.ofDense(h, new TimeSlices(0, bounds[slices], start[slices]), RandomModels.types(types), metric, null,
						fine), start);
	}

	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	void lossIsThatOfUnits(long seed) {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 2 + random.nextInt(30)));
		Both both = models(random, h, 1 + random.nextInt(12), 1 + random.nextInt(3), Metric.ACCESSES);
		Aggregator a = SpatiotemporalAggregator.prepare(both.unequal);
		Aggregator b = SpatiotemporalAggregator.prepare(both.units);
		compare(both, a, b);
		compare(both, TemporalAggregator.prepare(both.unequal), TemporalAggregator.prepare(both.units));
		for (double p : PS) {
			AggregationLawsTest.assertCover(a.partition(p));
		}
	}

	/** Every candidate has the loss that it has in units, and the best of all is the same partition, at every p. */
	private static void compare(Both both, Aggregator a, Aggregator b) {
		int slices = both.unequal.sliceCount();
		double scale = b.rootGain() + b.rootLoss() + 1e-300;
		double inside = 0; // gain of the slices themselves, which only the units have
		for (int n = 0; n < a.tree().size(); n++) {
			for (int i = 0; i < slices; i++) {
				for (int j = i + 1; j <= slices; j++) {
					assertEquals(b.loss(n, both.start[i], both.start[j]), a.loss(n, i, j), 1e-9 * scale, n + " " + i + ".." + j);
				}
			}
		}
		inside = b.rootGain() - a.rootGain();
		assertTrue(inside >= -1e-9 * scale);
		for (double p : PS) {
			Partition x = a.partition(p);
			Partition y = b.partition(p);
			assertEquals(y.value(), x.value() + p * inside, 1e-9 * scale, "p = " + p);
			assertEquals(y.loss(), x.loss(), 1e-9 * scale, "p = " + p);
		}
		assertEquals(0, a.partition(0).loss(), 1e-9 * scale);
	}

	/** Constant use is one block however time is cut. */
	@ParameterizedTest
	@ValueSource(longs = {21, 22, 23, 24})
	void aSteadyProgramIsOneBlock(long seed) {
		Random random = new Random(seed);
		Hierarchy h = Hierarchy.of(RandomModels.tree(random, 20));
		int slices = 2 + random.nextInt(40);
		long[] bounds = new long[slices + 1];
		for (int t = 0; t < slices; t++) {
			bounds[t + 1] = bounds[t] + 1 + (long) Math.pow(10, 9 * random.nextDouble());
		}
		double[][][] v = new double[h.leafCount()][slices][1];
		for (double[][] row : v) {
			for (int t = 0; t < slices; t++) {
				row[t][0] = 3.7e-3 * (bounds[t + 1] - bounds[t]);
			}
		}
		MicroscopicModel m = MicroscopicModel.ofDense(h, TimeSlices.of(bounds), RandomModels.types(1), Metric.ACCESSES, null, v);
		for (Aggregator a : new Aggregator[] {SpatiotemporalAggregator.prepare(m), TemporalAggregator.prepare(m)}) {
			Partition e = a.partition(1e-6);
			assertEquals(1, e.blockCount());
			assertEquals(0, e.loss(), 1e-9 * e.gain());
		}
	}

	/** A number of threads does not double when a slice is twice as long. */
	@Test
	void numbersThatAreNoAmountsCountAsTheyAre() {
		Hierarchy h = Hierarchy.of(new int[] {-1, 0, 0});
		double[][][] v = {{{4}, {4}, {4}}, {{4}, {4}, {4}}};
		MicroscopicModel m = MicroscopicModel.ofDense(h, TimeSlices.of(new long[] {0, 1, 100, 10_000}), RandomModels.types(1),
				Metric.THREADS, null, v);
		assertEquals(1, SpatiotemporalAggregator.prepare(m).partition(0.001).blockCount());
	}

	@Test
	void slicesOfGivenBounds() {
		TimeSlices s = TimeSlices.of(new long[] {-5, 0, 1, 100});
		assertEquals(3, s.count());
		int[] found = new int[] {s.sliceOf(-5), s.sliceOf(-1), s.sliceOf(0), s.sliceOf(1), s.sliceOf(99), s.sliceOf(100)};
		assertEquals("[0, 0, 1, 2, 2, 2]", Arrays.toString(found));
		assertEquals(99, s.lengthNs(2));
		assertThrows(IllegalArgumentException.class, () -> TimeSlices.of(new long[] {0, 2, 2}));
		assertThrows(IllegalArgumentException.class, () -> TimeSlices.of(new long[] {0}));
	}
}
