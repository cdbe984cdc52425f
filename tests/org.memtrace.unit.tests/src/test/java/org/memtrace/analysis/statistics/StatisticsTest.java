// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.AccessDetails;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.colour.Colours;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.statistics.PieModel.Kind;
import org.memtrace.analysis.statistics.PieModel.Slice;
import org.memtrace.analysis.statistics.Statistics.Item;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** Sums, pies and histograms of one trace. */
class StatisticsTest {
	private static final long NS = 10_000_000;
	private static AccessTable table;
	private static EventTable events;
	private static ProducerTree tree;
	private static long start;
	private static long end;

	@BeforeAll
	static void load() throws Exception {
		TraceStore store = SyntheticTrace.matrixMultiplication(64, 30);
		table = AccessTable.load(store, Progress.NONE);
		events = EventTable.load(store, Progress.NONE);
		tree = table.producers();
		start = table.info().startNs();
		end = table.info().endNs();
	}

	private static int producer(String name) {
		for (int id = 0; id < tree.size(); id++) {
			if (tree.name(id).equals(name)) {
				return id;
			}
		}
		throw new AssertionError(name);
	}

	private static double total(List<Item> items) {
		return items.stream().mapToDouble(Item::value).sum();
	}

	/** However it is divided, the whole is the same: that of {@link AccessTable#details}, which is computed otherwise. */
	@Test
	void allDivisionsHaveTheSameWhole() throws Exception {
		for (long[] window : new long[][] {{start, end}, {start + 3 * NS / 2, start + 17 * NS + 123}}) {
			for (int producer : new int[] {-1, 0, producer("B"), producer("B") + 1}) {
				AccessDetails d = table.details(Math.max(0, producer), tree.subtreeEnd(Math.max(0, producer)), window[0], window[1]);
				for (Dimension by : Statistics.keysOfAccesses()) {
					assertEquals(d.accesses(), total(of(Sum.ACCESSES, by, window, producer)), 1e-6 * d.accesses(), by.id());
					assertEquals(d.reads(), total(of(Sum.READS, by, window, producer)), 1e-6 * d.reads() + 1e-9, by.id());
					assertEquals(d.writes(), total(of(Sum.WRITES, by, window, producer)), 1e-6 * d.writes() + 1e-9, by.id());
					if (by != BasicDimensions.TYPE && by != BasicDimensions.READ_WRITE && by != BasicDimensions.CPU) {
						assertEquals(d.records(), total(of(Sum.RECORDS, by, window, producer)), by.id());
					}
				}
			}
		}
	}

	private static List<Item> of(Sum sum, Dimension by, long[] window, int producer) throws MemtraceException {
		return Statistics.of(table, sum, by, window[0], window[1], producer, Progress.NONE);
	}

	@Test
	void partsAreStructuresAndThenTheirParts() throws Exception {
		long[] all = {start, end};
		List<String> names = of(Sum.ACCESSES, Statistics.structures(), all, 0).stream().map(Item::name).toList();
		assertTrue(names.containsAll(List.of("A", "B", "C")), names.toString());
		int b = producer("B");
		AccessDetails d = table.details(b);
		Item item = of(Sum.ACCESSES, Statistics.structures(), all, 0).stream().filter(i -> i.producer() == b).findFirst().orElseThrow();
		assertEquals(d.accesses(), item.value(), 1e-6);
		List<Item> inside = of(Sum.ACCESSES, Statistics.structures(), all, b);
		assertTrue(inside.size() > 1);
		assertTrue(inside.stream().allMatch(i -> tree.parent(i.producer()) == b));
		int leaf = b;
		while (!tree.isLeaf(leaf)) {
			leaf = tree.firstChild(leaf);
		}
		assertEquals(List.of(leaf), of(Sum.ACCESSES, Statistics.structures(), all, leaf).stream().map(Item::producer).toList());
	}

	/** Shares of the time of producers: an instant is in the innermost state or in none. */
	@Test
	void timeOfProducersIsDividedByInnermostStates() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "a", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "b", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "idle", 0, 0, -1);
		b.end();
		EventTable t = new SyntheticEvents().add(SyntheticEvents.WAIT, 1, 0, 10, 1, 0).add(SyntheticEvents.RUN, 1, 0, 80, 0, 0)
				.add(SyntheticEvents.WAIT, 1, 20, 50, 1, 0).add(SyntheticEvents.TICK, 2, 60, 60, 0, 0).table(b.build(), 0, 100);
		assertEquals("{Run=40.0, Wait=40.0, in no state=320.0}", times(t, Sum.TIME_OF_ALL, BasicDimensions.EVENT_TYPE, 0, 100));
		assertEquals("{Run=40.0, Wait=40.0, in no state=220.0}", times(t, Sum.TIME_OF_LEAVES, BasicDimensions.EVENT_TYPE, 0, 100));
		assertEquals("{Run=40.0, Wait=40.0, in no state=120.0}", times(t, Sum.TIME_OF_ACTIVE, BasicDimensions.EVENT_TYPE, 0, 100));
		assertEquals("{a=80.0, in no state=120.0}", times(t, Sum.TIME_OF_ACTIVE, BasicDimensions.EVENT_PRODUCER, 0, 100));
		assertEquals("{Run=10.0, Wait=20.0}", times(t, Sum.TIME_OF_ACTIVE, BasicDimensions.EVENT_TYPE, 30, 60), "the tick comes later");
		assertEquals("{Run=40.0, Wait=40.0}", times(t, Sum.STATE_TIME, BasicDimensions.EVENT_TYPE, 0, 100), "the innermost");
		assertEquals("{Run=80.0, Wait=40.0}", times(t, Sum.STATE_DURATION, BasicDimensions.EVENT_TYPE, 0, 100), "as FrameSoc counts");
		PieModel pie = PieModel.of(Sum.TIME_OF_LEAVES, BasicDimensions.EVENT_TYPE,
				Statistics.of(t, Sum.TIME_OF_LEAVES, BasicDimensions.EVENT_TYPE, 0, 100, -1, Progress.NONE), PieRules.NONE);
		assertEquals("300 ns", pie.text(pie.total()));
		assertEquals(List.of(Sum.EVENTS, Sum.STATE_TIME, Sum.STATE_DURATION, Sum.TIME_OF_ALL, Sum.TIME_OF_LEAVES, Sum.TIME_OF_ACTIVE),
				Statistics.sumsOfEvents(t));
	}

	private static String times(EventTable t, Sum sum, Dimension by, long from, long to) throws CancelledException {
		java.util.Map<String, Double> map = new java.util.TreeMap<>();
		Statistics.of(t, sum, by, from, to, -1, Progress.NONE).forEach(i -> map.put(i.name(), i.value()));
		return map.toString();
	}

	/** Against each instant by itself, also where states overlap without being nested. */
	@Test
	void innermostStatesOfManyThatOverlap() throws Exception {
		for (long seed = 1; seed <= 20; seed++) {
			java.util.Random random = new java.util.Random(seed);
			SyntheticEvents e = new SyntheticEvents();
			java.util.Set<Integer> starts = new java.util.TreeSet<>();
			while (starts.size() < 25) {
				starts.add(random.nextInt(200));
			}
			for (int s : starts) {
				e.add(random.nextBoolean() ? SyntheticEvents.RUN : SyntheticEvents.WAIT, 0, s, s + 1 + random.nextInt(60), 0, 0);
			}
			EventTable t = e.table(ProducerTreeBuilder.flat("a"), 0, 300);
			long from = random.nextInt(100);
			long to = from + 1 + random.nextInt(200);
			java.util.Map<String, Double> wanted = new java.util.TreeMap<>();
			for (long ns = from; ns < to; ns++) {
				String name = "in no state";
				for (int row = t.rowFrom(0); row < t.rowTo(0); row++) {
					name = t.start(row) <= ns && ns < t.end(row) ? t.typeNames().get(t.type(row)) : name; // rows are in order of start
				}
				wanted.merge(name, 1.0, Double::sum);
			}
			assertEquals(wanted.toString(), times(t, Sum.TIME_OF_ALL, BasicDimensions.EVENT_TYPE, from, to), "seed " + seed);
		}
	}

	@Test
	void typesAndThreadsAreThoseOfTheDetails() throws Exception {
		long[] all = {start, end};
		AccessDetails d = table.details(0);
		List<Item> types = of(Sum.ACCESSES, BasicDimensions.TYPE, all, -1);
		assertEquals(d.sharedReads(), types.stream().filter(i -> i.name().equals("shared read")).mapToDouble(Item::value).sum(), 1e-6);
		for (Item i : of(Sum.ACCESSES, BasicDimensions.THREAD, all, -1)) {
			assertEquals(i.index() < 0 ? d.unattributed() : d.accessesByThread()[i.index()], i.value(), 1e-6, i.name());
		}
		assertEquals(List.of(), of(Sum.ACCESSES, BasicDimensions.TYPE, new long[] {end, end + 1}, -1));
		assertThrows(IllegalArgumentException.class, () -> of(Sum.EVENTS, BasicDimensions.TYPE, all, -1));
	}

	/** FrameSoc's operator: events by type and by producer. */
	@Test
	void eventsAreCounted() throws Exception {
		List<Item> types = Statistics.of(events, Sum.EVENTS, BasicDimensions.EVENT_TYPE, start, end, -1, Progress.NONE);
		assertEquals(events.size(), total(types), 0);
		assertEquals(events.size(), total(Statistics.of(events, Sum.EVENTS, BasicDimensions.EVENT_PRODUCER, start, end, -1, Progress.NONE)), 0);
		assertEquals(List.of(Sum.EVENTS), Statistics.sumsOfEvents(events), "variables only");
		int b = producer("B");
		int inB = 0;
		for (int id = b; id < tree.subtreeEnd(b); id++) {
			inB += events.rowTo(id) - events.rowFrom(id);
		}
		assertEquals(inB, total(Statistics.of(events, Sum.EVENTS, BasicDimensions.EVENT_TYPE, start, end, b, Progress.NONE)), 0);
	}

	/** States and links of other traces: time within the window; punctual events where they are. */
	@Test
	void timesOfStatesAndLinks() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
		int first = b.leaf(ProducerKind.OTHER, "core 1", 0, 0, -1);
		int second = b.leaf(ProducerKind.OTHER, "core 2", 0, 0, -1);
		b.end();
		EventTable t = new SyntheticEvents().add(SyntheticEvents.RUN, first, 0, 40, 0, 0).add(SyntheticEvents.WAIT, first, 40, 100, 0, 0)
				.add(SyntheticEvents.RUN, second, 10, 30, 0, 0).add(SyntheticEvents.MESSAGE, first, 20, 25, second, 0)
				.add(SyntheticEvents.TICK, second, 50, 50, 0, 0).table(b.build(), 0, 100);
		assertEquals(List.of(Sum.EVENTS, Sum.STATE_TIME, Sum.TIME_OF_ALL, Sum.TIME_OF_LEAVES, Sum.TIME_OF_ACTIVE,
				Sum.LINK_TIME), Statistics.sumsOfEvents(t));
		assertEquals(List.of("Run=60.0", "Wait=10.0"), texts(Statistics.of(t, Sum.STATE_TIME, BasicDimensions.EVENT_TYPE, 0, 50, -1,
				Progress.NONE)));
		assertEquals(List.of("core 1=100.0", "core 2=20.0"), texts(Statistics.of(t, Sum.STATE_TIME, BasicDimensions.EVENT_PRODUCER, 0, 100, 0,
				Progress.NONE)));
		assertEquals(List.of("Message=3.0"), texts(Statistics.of(t, Sum.LINK_TIME, BasicDimensions.EVENT_TYPE, 22, 100, -1, Progress.NONE)));
		assertEquals(List.of("Tick=1.0"), texts(Statistics.of(t, Sum.EVENTS, BasicDimensions.EVENT_TYPE, 50, 60, second, Progress.NONE)));
		DensityModel m = DensityModel.of(t, BasicDimensions.EVENT_TYPE, 0, 100, -1, 10, Progress.NONE);
		assertEquals(1, m.total(0));
		assertEquals(1, m.total(5));
		assertEquals(0, m.total(9));
	}

	private static List<String> texts(List<Item> items) {
		return items.stream().map(i -> i.name() + "=" + i.value()).toList();
	}

	@Test
	void cancels() {
		assertThrows(CancelledException.class,
				() -> Statistics.of(table, Sum.ACCESSES, BasicDimensions.THREAD, start, end, -1, Progress.cancelledWhen(() -> true)));
	}

	private static Item item(String name, double value) {
		return new Item("K" + name, name, new ModelType(name, ModelType.Role.OTHER, name.charAt(0)), -1, 0, value);
	}

	private static PieModel pie(PieRules rules, Item... items) {
		return PieModel.of(Sum.ACCESSES, Statistics.structures(), List.of(items), rules);
	}

	@Test
	void smallOnesAreFolded() {
		List<Item> items = new ArrayList<>(List.of(item("b", 300), item("a", 680)));
		for (int i = 0; i < 10; i++) {
			items.add(item("tiny " + i, 2));
		}
		PieModel m = pie(PieRules.NONE, items.toArray(Item[]::new));
		assertEquals(List.of("a", "b", "10 below 1 % each"), m.slices().stream().map(Slice::name).toList());
		assertEquals(Kind.SMALL, m.slices().get(2).kind());
		assertEquals(2, m.slices().get(2).percent(), 1e-9);
		assertEquals(10, m.slices().get(2).parts().size());
		assertEquals(1000, m.total(), 1e-9);
		assertEquals(13, m.toCsv().lines().count(), "CSV has all");
		PieModel one = pie(PieRules.NONE, item("a", 999), item("b", 1));
		assertEquals(List.of("a", "b"), one.slices().stream().map(Slice::name).toList(), "a single small one has its name");
	}

	@Test
	void rulesMergeExcludeAndRestore() {
		Item[] items = {item("a", 50), item("b", 30), item("c", 20)};
		PieRules rules = PieRules.NONE.merge("b and\tc", 0xff123456, List.of("Kb", "Kc")).exclude(List.of("Ka"));
		PieModel m = pie(rules, items);
		assertEquals(List.of("b and\tc"), m.slices().stream().map(Slice::name).toList());
		assertEquals(100, m.slices().get(0).percent(), 1e-9);
		assertEquals(0xff123456, m.color(m.slices().get(0), Palette.LIGHT));
		assertEquals(List.of("b", "c"), m.slices().get(0).items().stream().map(Item::name).toList());
		assertEquals(50, m.excluded());
		assertEquals(1, m.excludedCount());
		assertTrue(m.toCsv().contains("b,b and\tc,30,60.0000"), m.toCsv());
		assertEquals(rules, PieRules.parse(rules.toText()));
		assertEquals(2, pie(rules.restore(), items).slices().size());
		assertEquals(2, pie(rules.restore(List.of("Ka")), items).slices().size());
		assertEquals(rules, rules.exclude(List.of("Kz")).restore(List.of("Kz")));
		assertEquals(3, pie(rules.restore().unmerge(List.of("b and\tc")), items).slices().size());
		PieRules moved = rules.merge("other", 0, List.of("Kc"));
		assertEquals(Set.of("Kb"), moved.groups().get(0).keys());
		assertEquals(List.of(), pie(PieRules.NONE.exclude(List.of("Ka", "Kb", "Kc")), items).slices());
		assertEquals(PieRules.NONE, PieRules.parse("what\never\nmerge\tx\n"));
	}

	/** Names whose own colours are the same get others, the smaller ones; what the user chose stays, and a name alone has its own. */
	@Test
	void slicesAreToldApart() {
		Random random = new Random(16);
		for (int round = 0; round < 60; round++) {
			int n = 2 + random.nextInt(24);
			Item[] items = new Item[n];
			String twin = "array " + random.nextInt(1000);
			int place = Palette.structurePlace(twin);
			for (int i = 0; i < n; i++) {
				String name = "array " + random.nextInt(100_000);
				while (i % 3 > 0 && Palette.structurePlace(name) != place) {
					name = "array " + random.nextInt(100_000);
				}
				items[i] = new Item("K" + i, name, new ModelType("", ModelType.Role.OTHER, 0), i, -1, 100 - i);
			}
			PieModel m = pie(PieRules.NONE, items);
			for (Palette palette : List.of(Palette.LIGHT, Palette.DARK)) {
				assertEquals(palette.structure(m.slices().get(0).name()), m.color(m.slices().get(0), palette), "the largest has its own");
				for (int i = 0; i < n; i++) {
					for (int j = 0; j < i; j++) {
						boolean beside = j == i - 1 || i == n - 1 && j == 0;
						double d = Palette.difference(m.color(m.slices().get(i), palette), m.color(m.slices().get(j), palette));
						assertTrue(d >= (beside ? PieModel.NEIGHBOURS : PieModel.TOLD_APART), "round " + round + ", " + n + " slices: " + j + " and " + i
								+ " differ by " + d);
					}
				}
			}
			for (Item item : items) {
				PieModel alone = pie(PieRules.NONE, item);
				assertEquals(Palette.LIGHT.structure(item.name()), alone.color(alone.slices().get(0), Palette.LIGHT));
			}
		}
		Colours colours = new Colours();
		colours.choose(Palette.Kind.STRUCTURE, "b", Palette.LIGHT.structure("a"));
		PieModel m = pie(PieRules.NONE, new Item("a", "a", new ModelType("", ModelType.Role.OTHER, 0), 0, -1, 2),
				new Item("b", "b", new ModelType("", ModelType.Role.OTHER, 0), 1, -1, 1));
		assertEquals(Palette.LIGHT.structure("a"), m.color(m.slices().get(1), colours.palette(false)), "chosen");
		assertTrue(Palette.difference(m.color(m.slices().get(0), colours.palette(false)), Palette.LIGHT.structure("a")) >= PieModel.NEIGHBOURS);
		assertEquals(100, Palette.difference(0xff000000, 0xffffffff), 0.01);
		assertEquals(Math.hypot(Math.hypot(53.24, 80.09), 67.2), Palette.difference(0xff000000, 0xffff0000), 0.05,
				"red is L 53.24, a 80.09, b 67.2");
	}

	/** As in a low view, beside the table. */
	@Test
	void theSumInASmallPieIsNotCutOff() {
		PieModel m = pie(PieRules.NONE, item("a", 232_206), item("b", 230_955));
		for (int size : new int[] {130, 160, 190, 400}) {
			List<String> texts = PiePicture.build(m, Set.of(), false, size, size, Palette.LIGHT, TextMeter.DEFAULT, 13).scene().shapes()
					.stream().filter(s -> s instanceof Shape.Text).map(s -> ((Shape.Text) s).text()).toList();
			assertTrue(texts.contains("463,161"), size + ": " + texts);
		}
	}

	@Test
	void thePieKnowsItsSlices() {
		PieModel m = pie(PieRules.NONE, item("a", 50), item("b", 30), item("c", 20));
		PiePicture p = PiePicture.build(m, Set.of("Kb"), false, 300, 300, Palette.LIGHT, TextMeter.DEFAULT, 12);
		double r = 110; // between hole and edge
		assertEquals("a", p.sliceAt(150 + r, 150).name(), "the first half turn, from the top to the right");
		assertEquals("b", p.sliceAt(150 - r * 0.7, 150 + r * 0.7).name());
		assertEquals("c", p.sliceAt(150 - r * 0.7, 150 - r * 0.7).name());
		assertNull(p.sliceAt(150, 150));
		assertNull(p.sliceAt(1, 1));
		List<Shape.Polygon> rings = p.scene().shapes().stream().filter(s -> s instanceof Shape.Polygon).map(s -> (Shape.Polygon) s)
				.toList();
		assertEquals(3, rings.size());
		assertTrue(rings.get(0).contains(150 + r, 150));
		assertFalse(rings.get(0).contains(150 - r, 150));
		assertTrue(p.scene().shapes().stream().anyMatch(s -> s instanceof Shape.Text t && t.text().equals("50.0 %")));
		PieModel whole = pie(PieRules.NONE, item("a", 1));
		assertSame(whole.slices().get(0), PiePicture.build(whole, Set.of(), true, 400, 200, Palette.DARK, TextMeter.DEFAULT, 12)
				.sliceAt(90 + 60, 100));
	}

	/** Nothing is lost between the bins, and each bin has what the sums say of its time. */
	@Test
	void densityKeepsAll() throws Exception {
		long from = start + 3 * NS / 2;
		long to = start + 17 * NS + 123;
		for (Dimension stack : DensityModel.stacksOfAccesses()) {
			for (Sum sum : Statistics.sumsOfAccesses()) {
				DensityModel m = DensityModel.of(table, sum, stack, from, to, -1, 97, Progress.NONE);
				double all = 0;
				for (int bin = 0; bin < m.bins(); bin++) {
					all += m.total(bin);
				}
				double expected = total(Statistics.of(table, sum, stack == null ? BasicDimensions.THREAD : stack, from, to, -1,
						Progress.NONE));
				assertEquals(expected, all, 1e-6 * expected, stack + " " + sum);
				assertEquals(98, m.toCsv().lines().count());
				if (sum != Sum.RECORDS) {
					double inBin = total(Statistics.of(table, sum, BasicDimensions.NODE, m.boundNs(40), m.boundNs(41), -1, Progress.NONE));
					assertEquals(inBin, m.total(40), 1e-6 * inBin + 1e-9);
				}
			}
		}
		DensityModel e = DensityModel.of(events, BasicDimensions.EVENT_TYPE, start, end, -1, 50, Progress.NONE);
		double all = 0;
		for (int bin = 0; bin < e.bins(); bin++) {
			all += e.total(bin);
		}
		assertEquals(events.size(), all, 0);
		DensityModel p = DensityModel.of(events, BasicDimensions.EVENT_PRODUCER, start, end, -1, 50, Progress.NONE);
		assertEquals(DensityModel.MOST_SERIES, p.series().size());
		assertTrue(p.series().get(DensityModel.MOST_SERIES - 1).name().endsWith(" others"));
	}

	@Test
	void densityPictureAnswers() throws Exception {
		DensityModel m = DensityModel.of(table, Sum.ACCESSES, BasicDimensions.TYPE, start, end, -1, 100, Progress.NONE);
		DensityPicture p = DensityPicture.build(m, 600, 200, Palette.LIGHT, TextMeter.DEFAULT, 12);
		assertEquals(start, p.timeAt(p.plotX()));
		assertEquals(end, p.timeAt(1e6));
		assertEquals((start + end) / 2.0, p.timeAt(p.xOf((start + end) / 2)), 1);
		double x = p.xOf(m.boundNs(60)) + 1;
		int s = p.seriesAt(x, p.plotY() + p.plotHeight() - 1);
		assertTrue(s >= 0 && m.value(s, 60) > 0, "at the bottom is the first series of the bin");
		assertEquals(60, p.binAt(x, p.plotY() + 1));
		String text = p.textAt(x, p.plotY() + p.plotHeight() - 1);
		assertTrue(text.contains("records") && text.contains("▸ " + m.series().get(s).name().replace('_',
				' ').toLowerCase(java.util.Locale.ROOT)), text);
		assertEquals("", p.textAt(0, 0));
		assertEquals(-1, p.seriesAt(x, p.plotY() - 5));
		for (Shape shape : p.scene().shapes()) {
			if (shape instanceof Shape.Polygon poly) {
				for (int i = 1; i < poly.points().length; i += 2) {
					assertTrue(poly.points()[i] >= p.plotY() - 1e-6 && poly.points()[i] <= p.plotY() + p.plotHeight() + 1e-6, "within");
				}
			}
		}
		assertEquals(0.45, DensityPicture.niceTop(0.43), 1e-12);
		assertEquals(1000, DensityPicture.niceTop(1000), 1e-9);
		assertEquals(1200, DensityPicture.niceTop(1001), 1e-9);
	}
}
