// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What is drawn are the exact sums of the records. */
class GanttSeriesTest {
	private static final long SEED = 20261120;

	static List<Dimension> viewpoints() {
		return Dimensions.of(Dimension.Use.COLOUR);
	}

	/** The model of the aggregation is made by other code: both must agree. */
	@ParameterizedTest
	@MethodSource("viewpoints")
	void sumsAreThoseOfTheMicroscopicModel(Dimension viewpoint) throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(40, 30)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			GanttModel gantt = new GanttModel(GanttSources.of(table, viewpoint, Progress.NONE));
			long start = table.info().startNs();
			long d = table.info().durationNs();
			Random random = new Random(SEED);
			for (int i = 0; i < 20; i++) {
				long from = start + (long) (random.nextDouble() * 0.8 * d);
				long to = from + 1 + (long) (random.nextDouble() * (start + d - from - 1));
				int producer = random.nextInt(table.producers().size());
				MicroscopicModel m = new AccessModels(table).model(new ModelRequest(viewpoint, Metric.ACCESSES, 1, from, to, producer, null),
						Progress.NONE);
				double[] wanted = new double[gantt.source().types().size()];
				for (int k = 0; k < m.types().size(); k++) {
					for (int t = 0; t < wanted.length; t++) {
						if (gantt.source().types().get(t).name().equals(m.types().get(k).name())) {
							wanted[t] = m.sums(0, m.hierarchy().leafCount(), 0, 1)[k];
						}
					}
				}
				String message = "seed " + SEED + " step " + i;
				assertArrayEquals(wanted, gantt.sums(Grouping.PRODUCER, 0, producer, from, to, Progress.NONE), 1e-6, message);
				GanttSeries s = gantt.whole(Grouping.PRODUCER, 0, producer, Progress.NONE);
				assertTrue(s.isExact());
				assertArrayEquals(wanted, s.sums(wanted.length, from, to), 1e-6, message);
			}
		}
	}

	@ParameterizedTest
	@EnumSource(Grouping.class)
	void groupsAreAPartitionOfAll(Grouping grouping) throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(20, 18)) {
			for (Dimension v : new Dimension[] {BasicDimensions.TYPE, BasicDimensions.CPU, BasicDimensions.THREAD}) {
				GanttModel m = new GanttModel(GanttSources.of(AccessTable.load(store, Progress.NONE), v, Progress.NONE));
				double[] all = m.sums(Grouping.PRODUCER, 0, 0, Long.MIN_VALUE / 2, Long.MAX_VALUE / 2, Progress.NONE);
				double[] parts = new double[all.length];
				for (int g = 0; g < m.source().groups(grouping).size(); g++) {
					double[] one = m.sums(grouping, g, 0, Long.MIN_VALUE / 2, Long.MAX_VALUE / 2, Progress.NONE);
					double[] cells = m.whole(grouping, g, 0, Progress.NONE).sums(all.length, Long.MIN_VALUE / 2, Long.MAX_VALUE / 2);
					assertArrayEquals(one, cells, 1e-6);
					Arrays.setAll(parts, i -> parts[i] + one[i]);
				}
				assertArrayEquals(all, parts, 1e-6);
			}
		}
	}

	/** More records than are kept one by one: bins, whose sums are still those of the records. */
	@Test
	void binsKeepTheSums() throws Exception {
		int n = GanttSeries.MAX_EXACT + 5_000;
		Random random = new Random(SEED);
		ProducerTree tree = ProducerTreeBuilder.flat("a", "b");
		SyntheticEvents events = new SyntheticEvents();
		long end = 1_000_000_000L;
		for (int i = 0; i < n; i++) {
			long start = (long) (random.nextDouble() * (end - 100_000));
			events.add(random.nextInt(2), i % 2, start, start + random.nextInt(100_000), 0, 0);
		}
		EventTable table = events.table(tree, 0, end);
		GanttModel m = new GanttModel(GanttSources.of(table));
		GanttSeries all = m.whole(Grouping.PRODUCER, 0, -1, Progress.NONE);
		assertFalse(all.isExact());
		assertTrue(all.size() <= GanttSeries.MAX_EXACT);
		double[] sums = m.sums(Grouping.PRODUCER, 0, -1, 0, end, Progress.NONE);
		assertArrayEquals(sums, Arrays.copyOf(all.sums(m.source().slots(), 0, end + 1), sums.length), 1e-3);
		// a bin is longer than a pixel: the records in the window are read
		GanttSeries window = m.series(Grouping.PRODUCER, 0, -1, end / 2, end / 2 + 1_000_000, 1000, Progress.NONE);
		assertTrue(window.isExact());
		assertArrayEquals(m.sums(Grouping.PRODUCER, 0, -1, end / 2, end / 2 + 1_000_000, Progress.NONE),
				Arrays.copyOf(window.sums(m.source().slots(), end / 2, end / 2 + 1_000_000), sums.length), 1e-3);
		assertEquals(2, m.whole(Grouping.PRODUCER, 0, 0, Progress.NONE).used.cardinality());
	}

	@Test
	void nextAndPreviousRecord() throws Exception {
		ProducerTree tree = ProducerTreeBuilder.flat("a", "b");
		GanttModel m = new GanttModel(GanttSources.of(new SyntheticEvents().add(SyntheticEvents.RUN, 0, 10, 20, 0, 0)
				.add(SyntheticEvents.WAIT, 0, 10, 30, 1, 0).add(SyntheticEvents.TICK, 0, 25, 25, 0, 0)
				.add(SyntheticEvents.RUN, 1, 12, 13, 0, 0).table(tree, 0, 100)));
		assertEquals(new GanttModel.Piece(10, 30), m.next(Grouping.PRODUCER, 0, 0, 0, true, Progress.NONE));
		assertEquals(new GanttModel.Piece(25, 25), m.next(Grouping.PRODUCER, 0, 0, 10, true, Progress.NONE));
		assertNull(m.next(Grouping.PRODUCER, 0, 0, 25, true, Progress.NONE));
		assertEquals(new GanttModel.Piece(25, 25), m.next(Grouping.PRODUCER, 0, 0, 100, false, Progress.NONE));
		assertEquals(new GanttModel.Piece(10, 30), m.next(Grouping.PRODUCER, 0, 0, 25, false, Progress.NONE));
		assertNull(m.next(Grouping.PRODUCER, 0, 0, 10, false, Progress.NONE));
		assertEquals(new GanttModel.Piece(12, 13), m.next(Grouping.PRODUCER, 0, -1, 10, true, Progress.NONE));
	}
}
