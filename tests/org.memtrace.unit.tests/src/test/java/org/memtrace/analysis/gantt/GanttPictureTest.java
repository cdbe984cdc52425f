// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.gantt.GanttPicture.Area;
import org.memtrace.analysis.gantt.GanttPlot.Bar;
import org.memtrace.analysis.gantt.GanttRows.Order;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What a Gantt chart shows, and where. */
class GanttPictureTest {
	private static final long SEED = 4711;

	private static GanttRows rows(GanttSource s, GanttFold fold) throws Exception {
		int root = s.producers().subtreeEnd(0) == s.producers().size() ? 0 : -1;
		return GanttRows.of(new GanttRows.Request(s, Grouping.PRODUCER, root, fold, Order.ADDRESS, false), Progress.NONE);
	}

	private static GanttOptions options(long from, long to) {
		GanttOptions o = new GanttOptions();
		o.fromNs = from;
		o.toNs = to;
		return o;
	}

	private static GanttPicture draw(GanttSource s, GanttRows rows, GanttOptions o) throws Exception {
		return GanttPicture.build(new GanttModel(s), rows, o, Progress.NONE);
	}

	/** Every record in the window has a bar of its type in its row at its pixels, however many there are. */
	@ParameterizedTest
	@ValueSource(ints = {20, 3_000})
	void everyEventIsDrawn(int n) throws Exception {
		Random random = new Random(SEED);
		ProducerTree tree = ProducerTreeBuilder.flat("a", "b", "c", "d");
		SyntheticEvents events = new SyntheticEvents();
		for (int i = 0; i < n; i++) {
			long start = random.nextInt(100_000);
			int type = new int[] {SyntheticEvents.RUN, SyntheticEvents.WAIT, SyntheticEvents.TICK,
				SyntheticEvents.POWER}[random.nextInt(4)];
			events.add(type, random.nextInt(4), start, type == SyntheticEvents.TICK ? start : start + random.nextInt(2_000),
					type == SyntheticEvents.POWER ? random.nextInt(9) : 0, 0);
		}
		GanttSource s = GanttSources.of(events.table(tree, 0, 102_000));
		for (long[] w : new long[][] {{0, 102_000}, {30_000, 33_000}, {50_000, 50_100}}) {
			GanttOptions o = options(w[0], w[1]);
			o.rowHeight = 40;
			GanttPicture p = draw(s, rows(s, GanttFold.folded()), o);
			for (SyntheticEvents.Event e : events.events) {
				if (e.start() >= w[1] || e.end() < w[0] || e.end() == w[0]) {
					continue;
				}
				String name = new String[] {"Run", "Wait", "Tick", "Message", "Power"}[e.type()];
				double x1 = Math.max(p.plotX(), p.xOf(e.start()));
				double x2 = Math.min(p.plotX() + p.plotWidth(), p.xOf(e.end()));
				assertTrue(p.bars.stream().anyMatch(b -> b.row() == e.producer() && s.types().get(b.type()).name().equals(name)
						&& b.x() <= Math.max(x1, x2 - 1) + 1 && b.x() + b.width() >= Math.min(x1 + 1, x2) - 1), "seed " + SEED + " " + e);
			}
		}
	}

	@Test
	void barsAreWhereTheirTimesAre() throws Exception {
		ProducerTree tree = ProducerTreeBuilder.flat("a", "b");
		GanttSource s = GanttSources.of(new SyntheticEvents().add(SyntheticEvents.RUN, 0, 0, 500, 0, 0)
				.add(SyntheticEvents.WAIT, 0, 500, 1000, 0, 0).add(SyntheticEvents.RUN, 1, 250, 750, 0, 0).table(tree, 0, 1000));
		GanttOptions o = options(0, 1000);
		o.minimap = false;
		GanttPicture p = draw(s, rows(s, GanttFold.folded()), o);
		assertEquals(3, p.bars.size());
		for (Bar b : p.bars) {
			long from = Math.round((b.x() - p.plotX()) / p.plotWidth() * 1000);
			long to = Math.round((b.x() + b.width() - p.plotX()) / p.plotWidth() * 1000);
			assertTrue(Math.min(Math.abs(from), Math.min(Math.abs(from - 500), Math.abs(from - 250))) <= 1, b.toString());
			assertTrue(Math.min(Math.abs(to - 500), Math.min(Math.abs(to - 750), Math.abs(to - 1000))) <= 1, b.toString());
		}
		GanttPicture.Hit hit = p.hit(p.xOf(600), p.yOf(0) + 8);
		assertEquals(Area.PLOT, hit.area());
		assertEquals("Wait", s.types().get(hit.type()).name());
		assertTrue(hit.fromNs() <= 600 && 600 <= hit.toNs() && hit.toNs() - hit.fromNs() <= 2, hit.toString());
		GanttDetails details = GanttDetails.of(p, hit, List.of(), null, Progress.NONE);
		assertEquals(new GanttDetails(0, 500, 1000, 1, List.of("a", "500 ns – 1 µs (500 ns)", "Wait: state")), details);
		// at the border between both
		for (int x = -3; x <= 3; x++) {
			GanttPicture.Hit near = p.hit(p.xOf(500) + x, p.yOf(0) + 8);
			assertEquals(s.types().get(near.type()).name(),
					GanttDetails.of(p, near, List.of(), null, Progress.NONE).lines().get(2).replace(": state", ""));
		}
		assertEquals(-1, p.hit(p.xOf(900), p.yOf(1) + 8).type());
		assertEquals(1, p.hit(p.xOf(900), p.yOf(1) + 8).row());
		assertEquals(Area.LABEL, p.hit(p.plotX() - 3, p.yOf(1) + 8).area());
		assertEquals(-1, p.hit(p.xOf(10), p.yOf(2) + 8).row());
	}

	@Test
	void nestedStatesLieAboveTheirParents() throws Exception {
		ProducerTree tree = ProducerTreeBuilder.flat("a");
		GanttSource s = GanttSources.of(new SyntheticEvents().add(SyntheticEvents.RUN, 0, 0, 1000, 0, 0)
				.add(SyntheticEvents.WAIT, 0, 400, 600, 1, 0).table(tree, 0, 1000));
		GanttPicture p = draw(s, rows(s, GanttFold.folded()), options(0, 1000));
		double y = p.yOf(0);
		assertEquals("Wait", s.types().get(p.hit(p.xOf(500), y + 12).type()).name());
		assertEquals("Run", s.types().get(p.hit(p.xOf(500), y + 3).type()).name());
		assertEquals("Run", s.types().get(p.hit(p.xOf(300), y + 12).type()).name());
	}

	@Test
	void hiddenTypesAreNotDrawnAndTheLegendSaysSo() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(8, 12)) {
			GanttSource s = GanttSources.of(AccessTable.load(store, Progress.NONE), BasicDimensions.TYPE, Progress.NONE);
			GanttOptions o = options(s.info().startNs(), s.info().endNs());
			GanttRows rows = rows(s, GanttFold.initial(s.producers()));
			GanttPicture all = draw(s, rows, o);
			assertTrue(all.bars.stream().anyMatch(b -> b.type() == 1));
			o.hiddenTypes.set(1);
			GanttPicture p = draw(s, rows, o);
			assertTrue(p.bars.stream().noneMatch(b -> b.type() == 1));
			assertTrue(p.bars.stream().anyMatch(b -> b.type() == 0));
			GanttPlot.Entry entry = p.entries.get(1);
			GanttPicture.Hit hit = p.hit(entry.x() + 4, entry.y() + 4);
			assertEquals(Area.LEGEND, hit.area());
			assertEquals(1, hit.type());
		}
	}

	@Test
	void linksAreArrowsAndVeryManyAreThinned() throws Exception {
		ProducerTree tree = ProducerTreeBuilder.flat("a", "b", "c");
		SyntheticEvents few = new SyntheticEvents().add(SyntheticEvents.MESSAGE, 0, 100, 300, 2, 0)
				.add(SyntheticEvents.MESSAGE, 2, 5_000, 6_000, 1, 0).add(SyntheticEvents.RUN, 1, 0, 10, 0, 0);
		GanttSource s = GanttSources.of(few.table(tree, 0, 10_000));
		GanttPicture p = draw(s, rows(s, GanttFold.folded()), options(0, 1_000));
		assertEquals(1, p.linksThere());
		GanttPlot.Arrow arrow = p.arrows.get(0);
		assertEquals(p.xOf(100), arrow.x1(), 1);
		assertEquals(p.yOf(0) + 9, arrow.y1(), 1);
		assertEquals(p.yOf(2) + 9, arrow.y2(), 1);
		assertTrue(p.hit((arrow.x1() + arrow.x2()) / 2, (arrow.y1() + arrow.y2()) / 2).link() >= 0);
		String note = "links: with rows of producers";
		assertFalse(texts(p).toString().contains(note));
		p = draw(s, GanttRows.of(new GanttRows.Request(s, Grouping.CPU, -1, GanttFold.folded(), GanttRows.Order.ADDRESS, false),
				Progress.NONE), options(0, 1_000));
		assertEquals(0, p.linksThere());
		assertTrue(texts(p).toString().contains(note), texts(p).toString());
		SyntheticEvents many = new SyntheticEvents();
		for (int i = 0; i < 4 * GanttModel.MAX_ARROWS; i++) {
			many.add(SyntheticEvents.MESSAGE, i % 3, i, i + 5, (i + 1) % 3, 0);
		}
		s = GanttSources.of(many.table(tree, 0, 10_000));
		p = draw(s, rows(s, GanttFold.folded()), options(0, 10_000));
		assertEquals(4 * GanttModel.MAX_ARROWS, p.linksThere());
		assertEquals(GanttModel.MAX_ARROWS, p.linksShown());
		assertTrue(texts(p).stream().anyMatch(t -> t.contains("25.0 % of links shown")), texts(p).toString());
	}

	private static List<String> texts(GanttPicture p) {
		return p.scene().shapes().stream().filter(Shape.Text.class::isInstance).map(t -> ((Shape.Text) t).text()).toList();
	}

	@Test
	void manyEventsInAPixelAreMarked() throws Exception {
		ProducerTree tree = ProducerTreeBuilder.flat("a");
		SyntheticEvents events = new SyntheticEvents();
		for (int i = 0; i < 100; i++) {
			events.add(i % 2, 0, i, i + 1, 0, 0);
		}
		GanttSource s = GanttSources.of(events.table(tree, 0, 1_000_000));
		GanttPicture p = draw(s, rows(s, GanttFold.folded()), options(0, 1_000_000));
		assertTrue(p.bars.stream().allMatch(Bar::shared));
		assertEquals(2, p.bars.size());
		assertTrue(texts(p).stream().anyMatch(t -> t.contains("several in a pixel")));
		GanttPicture near = draw(s, rows(s, GanttFold.folded()), options(0, 100));
		assertTrue(near.bars.stream().noneMatch(Bar::shared));
		assertEquals(100, near.bars.size());
	}

	@Test
	void markersAreFlags() throws Exception {
		ProducerTree tree = ProducerTreeBuilder.flat("a");
		GanttSource s = GanttSources.of(new SyntheticEvents().add(SyntheticEvents.RUN, 0, 0, 10, 0, 0).table(tree, 0, 1000));
		GanttOptions o = options(0, 500);
		Marker here = new Marker("here", 0xff0000, 250, 250, Marker.NO_PRODUCER, false);
		o.markers = List.of(here, new Marker("later", 0xff00, 600, 700, Marker.NO_PRODUCER, false));
		GanttPicture p = draw(s, rows(s, GanttFold.folded()), o);
		assertEquals(1, p.flags.size());
		assertEquals(p.xOf(250), p.flags.get(0).x() + 3, 1);
		GanttPicture.Hit hit = p.hit(p.flags.get(0).x() + 6, p.flags.get(0).y() + 5);
		assertEquals(here, hit.marker());
		assertTrue(texts(p).contains("here"));
		assertNotNull(p.scene());
	}

	@Test
	void detailsOfARecordAndOfMany() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(16, 12)) {
			GanttSource s = GanttSources.of(AccessTable.load(store, Progress.NONE), BasicDimensions.TYPE, Progress.NONE);
			long start = s.info().startNs();
			GanttRows rows = rows(s, GanttFold.initial(s.producers()).withSubtree(s.producers(), 0, 0, true));
			GanttOptions o = options(start, s.info().endNs());
			o.height = 4_000;
			GanttPicture p = draw(s, rows, o);
			// page 0 of A: written by main in the first interval, read by worker 1 in the third
			int row = 0;
			while (!rows.name(row).equals("A [page 0]")) {
				row++;
			}
			GanttDetails d = GanttDetails.of(p, p.hit(p.xOf(start + 5_000_000), p.yOf(row) + 9), store.structures(), store, Progress.NONE);
			assertEquals(List.of("A [page 0]", "0 ns – 10 ms (10 ms)", "1 record: 0 reads, 1 write", "private",
					"thread main #0 (4000)", "CPU 0", "NUMA node 0", "heap A, 64.0 KiB, matmul.c:48"), d.lines());
			GanttDetails all = GanttDetails.of(p, p.hit(p.xOf(start + 5_000_000), p.yOf(0) + 9), store.structures(), store, Progress.NONE);
			double[] sums = new GanttModel(s).sums(Grouping.PRODUCER, 0, 0, start, start + 10_000_000, Progress.NONE);
			long accesses = Math.round(sums[0] + sums[1] + sums[2] + sums[3]);
			assertTrue(all.lines().get(2).startsWith(accesses + " records: " + Math.round(sums[0] + sums[2]) + " reads"),
					all.lines().toString());
			GanttDetails nothing = GanttDetails.of(p, p.hit(p.xOf(start + 105_000_000), p.yOf(row) + 9), List.of(), null, Progress.NONE);
			assertEquals(0, nothing.records());
		}
	}

	/** A record is one record, though the row above shows it too and its reads and writes are two bars. */
	@Test
	void recordsAreCountedOnce() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(16, 12)) {
			AccessTable table = AccessTable.load(store, Progress.NONE);
			GanttSource s = GanttSources.of(table, BasicDimensions.TYPE, Progress.NONE);
			GanttOptions o = options(s.info().startNs(), s.info().endNs());
			o.height = 4_000;
			GanttRows unfolded = rows(s, GanttFold.initial(s.producers()).withSubtree(s.producers(), 0, 0, true));
			for (GanttRows rows : List.of(rows(s, GanttFold.folded()), rows(s, GanttFold.initial(s.producers())), unfolded)) {
				assertEquals(table.records(), draw(s, rows, o).records(Progress.NONE), rows.count() + " rows");
			}
			o.firstRow = 2;
			o.height = 200;
			long some = draw(s, unfolded, o).records(Progress.NONE);
			assertTrue(some > 0 && some < table.records(), "what is scrolled away is not drawn: " + some);
			o.firstRow = 0;
			o.hiddenTypes.set(0, 4);
			assertEquals(0, draw(s, unfolded, o).records(Progress.NONE), "hidden types");
		}
	}

	@Test
	void searchFindsWhatIsFoldedAway() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(16, 12)) {
			GanttSource s = GanttSources.of(AccessTable.load(store, Progress.NONE), BasicDimensions.TYPE, Progress.NONE);
			GanttRows rows = rows(s, GanttFold.initial(s.producers()));
			Pattern page = Pattern.compile("\\[page 3\\]");
			GanttSearch.Found a = GanttSearch.next(rows, page, 0, -1, true, Progress.NONE);
			assertEquals("A [page 3]", s.producers().name(a.producer()));
			GanttRows revealed = rows(s, GanttFold.initial(s.producers()).reveal(s.producers(), 0, a.producer()));
			assertEquals(a.producer(), revealed.producer(revealed.rowOf(0, a.producer())));
			GanttSearch.Found b = GanttSearch.next(rows, page, 0, a.producer(), true, Progress.NONE);
			assertEquals("B [page 3]", s.producers().name(b.producer()));
			assertEquals(a, GanttSearch.next(rows, page, 0, b.producer(), false, Progress.NONE));
			GanttSearch.Found stack = GanttSearch.next(rows, page, 0, a.producer(), false, Progress.NONE);
			assertTrue(stack.wrapped());
			assertEquals("stack of main [page 3]", s.producers().name(stack.producer()));
			assertNull(GanttSearch.next(rows, Pattern.compile("no such row"), 0, -1, true, Progress.NONE));
		}
	}

	/** Rows above and below the picture cost nothing and are not there. */
	@Test
	void onlyVisibleRowsAreDrawn() throws Exception {
		try (TraceStore store = SyntheticTrace.matrixMultiplication(64, 12)) {
			GanttSource s = GanttSources.of(AccessTable.load(store, Progress.NONE), BasicDimensions.TYPE, Progress.NONE);
			GanttOptions o = options(s.info().startNs(), s.info().endNs());
			o.firstRow = 100;
			o.height = 300;
			GanttRows rows = rows(s, GanttFold.initial(s.producers()).withSubtree(s.producers(), 0, 0, true));
			GanttPicture p = draw(s, rows, o);
			assertEquals(100, p.bars.get(0).row());
			assertTrue(p.bars.stream().allMatch(b -> b.row() >= 100 && b.row() < 100 + Math.ceil(p.plotHeight() / 18)));
			assertEquals(100, p.rowAt(p.plotY() + 1));
		}
	}

	@Test
	void aLineIsCutToARectangle() {
		double[] line = {-10, 5, 20, 5};
		assertTrue(GanttLinks.clip(line, 0, 0, 10, 10));
		assertEquals(List.of(0.0, 5.0, 10.0, 5.0), List.of(line[0], line[1], line[2], line[3]));
		assertTrue(!GanttLinks.clip(new double[] {-10, -5, 20, -5}, 0, 0, 10, 10));
	}
}
