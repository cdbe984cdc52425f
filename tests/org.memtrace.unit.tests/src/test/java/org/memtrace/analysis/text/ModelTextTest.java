// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.build.AccessModels;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.overview.BlockInfo;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.overview.RowLayout;
import org.memtrace.model.CountUnit;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Words and units for a trace of another tool: two nodes with two processes each, and a sensor. */
class ModelTextTest {
	private static final long MS = 1_000_000;
	private final ProducerTree tree;
	private final EventTable events;
	private final org.memtrace.model.TraceInfo info;

	ModelTextTest() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.OTHER, "cluster", 0, 0, -1);
		int[] ranks = new int[4];
		for (int r = 0; r < 4; r++) {
			if (r % 2 == 0) {
				b.begin(ProducerKind.OTHER, "node " + r / 2, 0, 0, -1);
			}
			ranks[r] = b.leaf(ProducerKind.OTHER, "rank " + r, 0, 0, -1);
			if (r % 2 == 1) {
				b.end();
			}
		}
		int power = b.leaf(ProducerKind.OTHER, "power", 0, 0, -1);
		b.end();
		tree = b.build();
		SyntheticEvents e = new SyntheticEvents();
		for (int r : ranks) {
			e.add(SyntheticEvents.RUN, r, 0, 600 * MS, 0, 0).add(SyntheticEvents.WAIT, r, 600 * MS, 1000 * MS, 0, 0)
					.add(SyntheticEvents.TICK, r, 500 * MS, 500 * MS, 0, 0);
		}
		e.add(SyntheticEvents.POWER, power, 0, 1000 * MS, 120, 0);
		events = e.table(tree, 0, 1000 * MS);
		info = e.store(tree, 0, 1000 * MS).info();
	}

	private MicroscopicModel model(Metric metric) throws Exception {
		ModelRequest request = ModelRequest.whole(0, 1000 * MS).withViewpoint(BasicDimensions.EVENT_TYPE).withMetric(metric).withSlices(metric ==
				Metric.VARIABLE_MEAN ? 10 : 1);
		return events.model(request, Hierarchy.of(tree), Progress.NONE);
	}

	private Picture picture(MicroscopicModel m) throws Exception {
		NodeNames names = new NodeNames(m.hierarchy(), tree, List.of());
		RowLayout layout = RowLayout.of(m, names);
		return PictureBuilder.build(SpatiotemporalAggregator.prepare(m).partition(1), names, layout, new PictureOptions());
	}

	private List<String> tip(Metric metric, double down) throws Exception {
		MicroscopicModel m = model(metric);
		Picture picture = picture(m);
		Picture.Hit hit = picture.hit(picture.plotX() + 0.5 * picture.plotWidth(), picture.plotY() + down * picture.plotHeight());
		assertEquals(Picture.Area.PLOT, hit.area());
		return BlockInfo.of(picture, hit, new NodeNames(m.hierarchy(), tree, List.of())).lines(info, null, List.of());
	}

	/** One of what is counted has no plural, whatever is counted. */
	@Test
	void oneIsSingular() throws Exception {
		assertEquals("1 event", ModelText.full(model(Metric.EVENTS), 1, false, CountUnit.RECORDS));
		assertEquals("2 events", ModelText.full(model(Metric.EVENTS), 2, false, CountUnit.RECORDS));
		assertEquals("0 events", ModelText.full(model(Metric.EVENTS), 0, false, CountUnit.RECORDS));
		assertEquals("600 ms", ModelText.full(model(Metric.STATE_DURATION), 600 * MS, false, CountUnit.RECORDS));
		try (TraceStore store = SyntheticTrace.matrixMultiplication(8, 4)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			Map<Metric, String> one = Map.of(Metric.ACCESSES, "1 page fault", Metric.EVENTS, "1 record", Metric.READS, "1 read", Metric.WRITES,
					"1 write", Metric.THREADS, "1 thread use");
			for (var e : one.entrySet()) {
				AccessModels models = new AccessModels(table);
				MicroscopicModel m = models.model(models.wholeRequest().withMetric(e.getKey()), Progress.NONE);
				assertEquals(e.getValue(), ModelText.full(m, 1, false, CountUnit.PAGE_FAULTS));
				assertEquals("≈ " + e.getValue(), ModelText.full(m, 1.2, false, CountUnit.PAGE_FAULTS));
				assertEquals(e.getValue().replace("1 ", "21 ") + "s", ModelText.full(m, 21, false, CountUnit.PAGE_FAULTS));
			}
			AccessModels models = new AccessModels(table);
			MicroscopicModel m = models.model(models.wholeRequest().withMetric(Metric.ACCESSES), Progress.NONE);
			assertEquals("1 access", ModelText.full(m, 1, false, CountUnit.ACCESSES));
			assertEquals("3 accesses", ModelText.full(m, 3, false, CountUnit.ACCESSES));
			assertEquals("1 sample", ModelText.full(m, 1, false, CountUnit.SAMPLES));
		}
	}

	@Test
	void tipsSayWhatTheTraceHolds() throws Exception {
		assertEquals(List.of("cluster", "0 ns – 1 s (1 s), 5 producers", "Run: 60.0 % (2.4 s)", "Wait: 40.0 % (1.6 s)"),
				tip(Metric.STATE_DURATION, 0.5));
		assertEquals(List.of("Run: 60.0 % (600 ms each)", "Wait: 40.0 % (400 ms each)"), tip(Metric.STATE_MEAN, 0.5).subList(2, 4));
		assertTrue(tip(Metric.EVENTS, 0.5).contains("Tick: 30.8 % (4 events)"), tip(Metric.EVENTS, 0.5)::toString);
		assertEquals("Power: 100 % (120)", tip(Metric.VARIABLE_MEAN, 0.95).get(2), "the mean over the block, not the sum of its cells");
	}

	@Test
	void valuesHaveUnits() throws Exception {
		MicroscopicModel m = model(Metric.STATE_DURATION);
		assertEquals("3.36 s", ModelText.value(m, 3.36e9, false));
		assertEquals("7 ticks", ModelText.value(m, 7, true));
		assertEquals("no states", ModelText.nothing(m, CountUnit.PAGE_FAULTS));
		assertEquals("no events", ModelText.nothing(model(Metric.EVENTS), CountUnit.PAGE_FAULTS));
		assertEquals("Producers", ModelText.rows(m));
		assertEquals("Private Read T4711", ModelText.type("Private_Read_T4711"));
		assertEquals("MPI_Wait", ModelText.type("MPI_Wait"));
	}

	/** The strip has the nodes of the cluster too: clicking on one zooms to its processes. */
	@Test
	void stripShowsWhatIsAboveTheLabels() throws Exception {
		MicroscopicModel m = model(Metric.STATE_DURATION);
		Picture picture = picture(m);
		List<String> names = picture.strips().stream().filter(s -> s.width() < 20)
				.map(s -> tree.name(m.hierarchy().producer(s.node()))).toList();
		assertEquals(List.of("node 0", "node 1", "rank 0", "rank 1", "rank 2", "rank 3", "power"), names);
	}
}
