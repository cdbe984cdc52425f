// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.aggregation.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.engine.TemporalAggregator;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What the recorder happened to find out is no phase of the program. */
class SharingGapsTest {
	private static final int K = 6;
	private static final int PRIVATE = 0;
	private static final int SHARED = 2;
	private static final int UNKNOWN = 4;
	private static final List<ModelType> TYPES = List.of(new ModelType("Private_Read", Role.PRIVATE_READ, 0),
			new ModelType("Private_Write", Role.PRIVATE_WRITE, 0), new ModelType("Shared_Read", Role.SHARED_READ, 0),
			new ModelType("Shared_Write", Role.SHARED_WRITE, 0), new ModelType("NotKnown_Read", Role.NOT_KNOWN_READ, 0),
			new ModelType("NotKnown_Write", Role.NOT_KNOWN_WRITE, 0));

	/** Rows of a model: for each slice the type of its reads, or of its writes one more; each has the value 10. */
	private static MicroscopicModel model(int[]... rows) {
		ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
		tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		for (int i = 0; i < rows.length; i++) {
			tree.leaf(ProducerKind.PAGE, null, 4096L * i, 4096L * (i + 1), -1);
		}
		tree.end();
		int slices = rows[0].length;
		double[][][] values = new double[rows.length][slices][K];
		for (int r = 0; r < rows.length; r++) {
			for (int t = 0; t < slices; t++) {
				if (rows[r][t] >= 0) {
					values[r][t][rows[r][t]] = 10;
				}
			}
		}
		return MicroscopicModel.ofDense(Hierarchy.of(tree.build()), new TimeSlices(0, 100L * slices, slices), TYPES, Metric.ACCESSES,
				BasicDimensions.TYPE, values);
	}

	private static int[] types(MicroscopicModel model, int leaf) {
		int[] found = new int[model.sliceCount()];
		for (int t = 0; t < found.length; t++) {
			found[t] = -1;
			for (int x = 0; x < K; x++) {
				if (model.value(leaf, t, x) != 0) {
					assertEquals(10, model.value(leaf, t, x));
					found[t] = x;
				}
			}
		}
		return found;
	}

	@Test
	void gapsAreWhatIsKnownNearestInTime() {
		MicroscopicModel closed = SharingGaps.closed(model(new int[] {UNKNOWN, SHARED, UNKNOWN, UNKNOWN, PRIVATE, UNKNOWN},
				new int[] {UNKNOWN + 1, -1, UNKNOWN, SHARED + 1, UNKNOWN + 1, UNKNOWN}, new int[] {UNKNOWN, UNKNOWN, -1, UNKNOWN, UNKNOWN, UNKNOWN},
				new int[] {PRIVATE, UNKNOWN, SHARED, UNKNOWN, SHARED, -1}));
		assertArrayEquals(new int[] {SHARED, SHARED, SHARED, PRIVATE, PRIVATE, PRIVATE}, types(closed, 0));
		assertArrayEquals(new int[] {SHARED + 1, -1, SHARED, SHARED + 1, SHARED + 1, SHARED}, types(closed, 1), "reads stay reads");
		assertArrayEquals(new int[] {UNKNOWN, UNKNOWN, -1, UNKNOWN, UNKNOWN, UNKNOWN}, types(closed, 2), "nothing is known, nothing is guessed");
		assertArrayEquals(new int[] {PRIVATE, PRIVATE, SHARED, SHARED, SHARED, -1}, types(closed, 3), "of equal distances the earlier");
	}

	@Test
	void amountsOfOneTypeAddUp() {
		MicroscopicModel both = MicroscopicModel.ofDense(model(new int[] {0, 0}).hierarchy(), new TimeSlices(0, 200, 2), TYPES,
				Metric.ACCESSES, BasicDimensions.TYPE, new double[][][] {{{1, 0, 3, 0, 5, 7}, {0, 0, 0, 0, 2, 0}}});
		MicroscopicModel closed = SharingGaps.closed(both);
		assertArrayEquals(new double[] {1, 0, 8, 7, 0, 0}, closed.sums(0, 1, 0, 1));
		assertArrayEquals(new double[] {0, 0, 2, 0, 0, 0}, closed.sums(0, 1, 1, 2));
	}

	@Test
	void whatIsKnownStaysTheSameObject() {
		MicroscopicModel known = MicroscopicModel.ofDense(model(new int[] {0, 0}).hierarchy(), new TimeSlices(0, 200, 2), TYPES.subList(0, 4),
				Metric.ACCESSES, BasicDimensions.TYPE, new double[][][] {{{1, 0, 3, 0}, {0, 0, 0, 0}}});
		assertSame(known, SharingGaps.closed(known));
	}

	/** A steady program of which two looks saw the second thread by chance. */
	@Test
	void aSteadyProgramIsOneBlock() {
		MicroscopicModel steady = model(new int[] {UNKNOWN, SHARED, UNKNOWN, UNKNOWN}, new int[] {SHARED, UNKNOWN, UNKNOWN, SHARED});
		for (double p : new double[] {1e-9, 0.1, 0.5}) {
			Partition partition = SpatiotemporalAggregator.prepare(steady).partition(p);
			assertEquals(1, partition.blockCount(), "p " + p);
			assertEquals(1, TemporalAggregator.prepare(steady).partition(p).blockCount(), "p " + p);
		}
		assertArrayEquals(new double[] {0, 0, 30, 0, 50, 0}, SpatiotemporalAggregator.prepare(steady).model().sums(0, 2, 0, 4),
				"pictures have the values of the model");
		MicroscopicModel phases = model(new int[] {PRIVATE, PRIVATE, SHARED, SHARED}, new int[] {PRIVATE, UNKNOWN, UNKNOWN, SHARED});
		assertEquals(2, TemporalAggregator.prepare(phases).partition(0.1).blockCount(), "what is known to change is a phase");
	}
}
