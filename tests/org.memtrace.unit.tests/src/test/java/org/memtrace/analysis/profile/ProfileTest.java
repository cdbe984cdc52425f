// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.profile.Profile.By;
import org.memtrace.analysis.profile.Profile.Group;
import org.memtrace.analysis.profile.Profile.Order;
import org.memtrace.analysis.profile.Profile.Request;
import org.memtrace.analysis.profile.Profile.Row;
import org.memtrace.analysis.profile.ProfileTable.Place;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.text.NamePattern;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

class ProfileTest {
	private static final String[] REGIONS = {"main", "f", "g"};

	/** @param states type, producer, start and end in turn */
	private static EventTable table(int producers, long end, List<long[]> states) throws Exception {
		try (TraceCatalogue catalogue = Stores.inMemory(); TraceWriter writer = catalogue.create("states")) {
			List<EventType> types = new ArrayList<>();
			for (int t = 0; t < REGIONS.length; t++) {
				types.add(new EventType(t, EventCategory.STATE, REGIONS[t]));
			}
			types.add(new EventType(REGIONS.length, EventCategory.PUNCTUAL, "tick"));
			writer.eventTypes(types);
			String[] names = new String[producers];
			for (int p = 0; p < producers; p++) {
				names[p] = "thread " + p;
			}
			writer.producers(ProducerTreeBuilder.flat(names));
			EventBatch batch = new EventBatch(states.size() + 1);
			states.stream().sorted((a, b) -> Long.compare(a[2], b[2])).forEach(s -> batch.add(0, (int) s[0], (int) s[1], s[2], s[3], 0, 0));
			batch.add(0, REGIONS.length, 0, end / 2, end / 2, 0, 0);
			writer.events(batch);
			TraceInfo info = writer.commit(new TraceInfo(-1, "states", "", "events", "", "", "", 0, 0, 0, 0, end, Instant.EPOCH, 0, "", Map.of()),
					null, Progress.NONE);
			try (TraceStore store = catalogue.open(info.id())) {
				return EventTable.load(store, Progress.NONE);
			}
		}
	}

	private static Profile profile(EventTable table, By by, boolean contexts) throws Exception {
		return Profile.of(table, new Request(by, contexts, Order.EXCLUSIVE, table.info().startNs(), table.info().endNs(), -1, 0.1),
				Progress.NONE);
	}

	private static Row row(Group group, String... path) {
		return group.rows().stream().filter(r -> r.path().equals(List.of(path))).findFirst().orElseThrow();
	}

	/** A function that calls itself and another one (spec/systems.md, case P1, smaller). */
	@Test
	void nested() throws Exception {
		EventTable t = table(2, 3000, List.of(new long[] {0, 0, 0, 3000}, new long[] {1, 0, 100, 500}, new long[] {1, 0, 200, 300},
				new long[] {2, 0, 320, 340}, new long[] {2, 0, 600, 640}, new long[] {1, 1, 0, 1000}));
		Profile flat = profile(t, By.THREAD, false);
		assertEquals(List.of("thread 0", "thread 1"), flat.groups().stream().map(Group::name).toList());
		Group first = flat.groups().get(0);
		assertEquals(List.of("main", "f", "g"), first.rows().stream().map(Row::region).toList());
		Row f = row(first, "f");
		assertEquals(2, f.count());
		assertEquals(400, f.inclusiveNs()); // the inner call is a part of the outer one
		assertEquals(380, f.exclusiveNs());
		assertEquals(100, f.minNs());
		assertEquals(280, f.maxNs());
		assertEquals(190, f.meanNs());
		assertEquals(380.0 / 3000, f.share());
		assertTrue(Double.isNaN(f.sci()));
		assertEquals(2560, row(first, "main").exclusiveNs());
		assertEquals(3000, row(first, "main").inclusiveNs());
		assertEquals(0, first.inNoneNs());
		assertEquals(2000, flat.groups().get(1).inNoneNs());

		Group contexts = profile(t, By.ALL, true).groups().get(0);
		assertEquals(List.of(List.of("main"), List.of("main", "f"), List.of("main", "f", "f"), List.of("main", "f", "g"), List.of("main", "g"),
				List.of("f")), contexts.rows().stream().map(Row::path).toList());
		assertEquals(280, row(contexts, "main", "f").exclusiveNs());
		assertEquals(40, row(contexts, "main", "g").exclusiveNs());
		assertEquals(1000, row(contexts, "f").exclusiveNs());
		assertEquals(2, contexts.producers());
		assertEquals(6000, contexts.timeNs());
		assertEquals("""
				all;main 2560
				all;main;f 280
				all;main;f;f 100
				all;main;f;g 20
				all;main;g 40
				all;f 1000
				""", ProfileText.folded(profile(t, By.ALL, true)));
	}

	/** Only what is in the window counts; an execution that is cut counts with its part. */
	@Test
	void window() throws Exception {
		EventTable t = table(1, 100, List.of(new long[] {0, 0, 0, 100}, new long[] {1, 0, 10, 30}, new long[] {1, 0, 40, 50},
				new long[] {2, 0, 60, 60}, new long[] {2, 0, 90, 95}));
		Group g = Profile.of(t, new Request(By.ALL, false, Order.REGION, 20, 70, -1, 0.1), Progress.NONE).groups().get(0);
		assertEquals(List.of("f", "g", "main"), g.rows().stream().map(Row::region).toList());
		assertEquals(2, row(g, "f").count());
		assertEquals(20, row(g, "f").exclusiveNs());
		assertEquals(1, row(g, "g").count());
		assertEquals(0, row(g, "g").exclusiveNs());
		assertEquals(30, row(g, "main").exclusiveNs());
		assertEquals(50, g.timeNs());
	}

	/** SCI: 0 for equal durations; does not depend on the unit; one slow execution makes it larger (case P2). */
	@Test
	void interference() throws Exception {
		double[] sci = new double[4];
		for (int kind = 0; kind < 4; kind++) {
			List<long[]> states = new ArrayList<>();
			long unit = kind == 2 ? 1000 : 1;
			for (int i = 0; i < 12; i++) {
				long duration = kind == 3 && i == 5 ? 100 : kind == 0 ? 10 : 10 + i;
				states.add(new long[] {1, kind == 1 ? 1 : 0, 200L * i * unit, (200L * i + duration) * unit});
			}
			Row f = row(profile(table(2, 3000 * unit, states), By.ALL, false).groups().get(0), "f");
			sci[kind] = f.sci();
			assertEquals(f.sci() * f.exclusiveNs(), f.lostNs(), 1e-6);
		}
		assertEquals(0, sci[0]);
		assertTrue(sci[1] > 0 && sci[1] < 1);
		assertEquals(sci[1], sci[2], 1e-12);
		assertTrue(sci[3] > sci[1]);
		List<long[]> nine = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			nine.add(new long[] {1, 0, 10 * i, 10 * i + 1 + i});
		}
		Profile few = profile(table(1, 100, nine), By.ALL, false);
		assertTrue(Double.isNaN(few.groups().get(0).rows().get(0).sci()));
		assertTrue(ProfileText.text(few, 5).contains("n/a"));
		assertNull(ProfileText.values(few.groups().get(0), few.groups().get(0).rows().get(0))[ProfileText.COLUMNS.indexOf("sci")]);
	}

	/** Of any states, nested or not: the parts are the whole, and equal to what Statistics sums, flat and by context. */
	@Test
	void conservation() throws Exception {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		for (int round = 0; round < 60; round++) {
			int producers = 1 + random.nextInt(3);
			long end = 1L << (1 + random.nextInt(20));
			List<long[]> states = new ArrayList<>();
			for (int i = random.nextInt(60); i >= 0; i--) {
				long from = (long) (random.nextDouble() * end);
				long to = random.nextInt(6) == 0 ? from : from + (long) (random.nextDouble() * (end - from + 1));
				states.add(new long[] {random.nextInt(REGIONS.length), random.nextInt(producers), from, Math.min(end, to)});
			}
			EventTable t = table(producers, end, states);
			long from = random.nextInt(3) == 0 ? end / 4 : 0;
			long to = random.nextInt(3) == 0 ? end / 2 + 1 : end;
			Map<String, Double> expected = new TreeMap<>();
			Statistics.of(t, Statistics.Sum.STATE_TIME, BasicDimensions.EVENT_TYPE, from, to, -1, Progress.NONE)
					.forEach(i -> expected.put(i.name(), i.value()));
			for (By by : By.values()) {
				for (boolean contexts : new boolean[] {false, true}) {
					Profile p = Profile.of(t, new Request(by, contexts, Order.EXCLUSIVE, from, to, -1, 0.1), Progress.NONE);
					Map<String, Double> own = new TreeMap<>();
					Map<Long, Long> counts = new HashMap<>();
					for (Group g : p.groups()) {
						long sum = 0;
						for (Row r : g.rows()) {
							sum += r.exclusiveNs();
							own.merge(r.region(), (double) r.exclusiveNs(), Double::sum);
							counts.merge(0L, r.count(), Long::sum);
							assertTrue(r.exclusiveNs() <= r.inclusiveNs() && r.inclusiveNs() <= g.timeNs(), "seed " + seed);
							assertEquals(r.meanNs() * r.count(), r.exclusiveNs(), 1e-3);
							assertEquals(r.path().size() - 1, r.depth());
						}
						assertEquals(g.timeNs(), sum + g.inNoneNs(), "seed " + seed);
					}
					own.values().removeIf(v -> v == 0);
					assertEquals(expected, own, "seed " + seed + " " + by + contexts);
					long inWindow = states.stream().filter(s -> s[2] < to && (s[3] > from || s[2] >= from)).count();
					assertEquals(inWindow, counts.getOrDefault(0L, 0L), "seed " + seed);
					if (contexts) {
						drawn(p, seed);
					}
				}
			}
		}
	}

	/** Bars lie below the bar of what is around them, side by side, and are as wide as their time. */
	private static void drawn(Profile p, long seed) {
		FlamePicture picture = FlamePicture.build(p, 1000, 2000, Palette.LIGHT, TextMeter.DEFAULT, 12);
		double all = p.groups().stream().mapToDouble(g -> g.timeNs() - g.inNoneNs()).sum();
		Map<Row, FlamePicture.Bar> of = new HashMap<>();
		for (FlamePicture.Bar b : picture.bars()) {
			if (b.row() == null) {
				assertEquals((b.group().timeNs() - b.group().inNoneNs()) / all * 976, b.width(), 1e-6, "seed " + seed);
				continue;
			}
			of.put(b.row(), b);
			FlamePicture.Bar around = b.row().around() == null ? picture.bars().stream().filter(g -> g.row() == null
					&& g.group() == b.group()).findFirst()
					.orElseThrow() : of.get(b.row().around());
			assertTrue(b.x() >= around.x() - 1e-6 && b.x() + b.width() <= around.x() + around.width() + 1e-6, "seed " + seed);
			assertEquals(around.y() + around.height(), b.y());
			assertTrue(b.width() >= b.row().exclusiveNs() / all * 976 - 1e-6);
			assertEquals(b, picture.at(b.x() + b.width() / 2, b.y() + 1), "seed " + seed);
		}
	}

	private static EventTable nest() throws Exception {
		return table(2, 3000, List.of(new long[] {0, 0, 0, 2000}, new long[] {1, 0, 100, 500}, new long[] {1, 0, 200, 300},
				new long[] {2, 0, 320, 340}, new long[] {2, 0, 600, 640}, new long[] {1, 1, 0, 1000}));
	}

	private static List<String> lines(Profile p, ProfileColumn order, boolean descending, String search, Place... folded) {
		ProfileTable table = ProfileTable.of(p, new ProfileTable.Look(order, descending, NamePattern.of(search), Set.of(folded)));
		for (int i = 0; i < table.lines().size(); i++) {
			if (!table.lines().get(i).none()) {
				assertEquals(i, table.indexOf(table.lines().get(i).place()));
			}
		}
		return table.lines().stream().map(l -> (l.folded() ? "+" : l.parts() ? "-" : "") + " ".repeat(l.depth())
				+ table.text(ProfileColumn.REGION, l) + " " + table.text(ProfileColumn.EXCLUSIVE, l)).toList();
	}

	/** What a table shows: order in both directions, search with what is around, folding. */
	@Test
	void tableOfContexts() throws Exception {
		Profile all = profile(nest(), By.ALL, true);
		List<String> byTime = List.of("-main 1.56 µs", "- f 280 ns", "  f 100 ns", "  g 20 ns", " g 40 ns", "f 1 µs",
				"in no state 3 µs");
		assertEquals(byTime, lines(all, ProfileColumn.EXCLUSIVE, true, ""));
		assertEquals(List.of("f 1 µs", "-main 1.56 µs", " g 40 ns", "- f 280 ns", "  g 20 ns", "  f 100 ns", "in no state 3 µs"),
				lines(all, ProfileColumn.EXCLUSIVE, false, ""));
		assertEquals(List.of("-main 1.56 µs", " g 40 ns", "- f 280 ns", "  g 20 ns", "  f 100 ns", "f 1 µs", "in no state 3 µs"),
				lines(all, ProfileColumn.REGION, true, ""));
		// what is not told is last in both directions
		assertEquals(lines(all, ProfileColumn.SCI, true, ""), lines(all, ProfileColumn.SCI, false, ""));
		assertEquals(List.of("-main 1.56 µs", "- f 280 ns", "  g 20 ns", " g 40 ns"), lines(all, ProfileColumn.EXCLUSIVE, true, "G"));
		assertEquals(List.of("in no state 3 µs"), lines(all, ProfileColumn.EXCLUSIVE, true, "^in no"));
		assertEquals(List.of(), lines(all, ProfileColumn.EXCLUSIVE, true, "("));
		Place main = new Place(-1, List.of("main"));
		assertEquals(List.of("+main 1.56 µs", "f 1 µs", "in no state 3 µs"), lines(all, ProfileColumn.EXCLUSIVE, true, "", main));
		// a search looks into what is folded
		assertEquals(4, lines(all, ProfileColumn.EXCLUSIVE, true, "g", main).size());

		Profile threads = profile(nest(), By.THREAD, false);
		assertEquals(List.of("-thread 0 3 µs", " main 1.56 µs", " f 380 ns", " g 60 ns", " in no state 1 µs", "-thread 1 3 µs", " f 1 µs",
				" in no state 2 µs"), lines(threads, ProfileColumn.EXCLUSIVE, true, ""));
		assertEquals(List.of("-thread 1 3 µs", " f 1 µs", " in no state 2 µs"), lines(threads, ProfileColumn.EXCLUSIVE, true, "thread 1"));
		assertEquals(List.of("+thread 0 3 µs", "-thread 1 3 µs", " f 1 µs", " in no state 2 µs"),
				lines(threads, ProfileColumn.EXCLUSIVE, true, "", new Place(0, List.of())));
		assertEquals("""
				group,depth,region,path,count,inclusive_ns,exclusive_ns,percent,min_ns,p10_ns,median_ns,mean_ns,max_ns,sci,lost_ns
				thread 1,0,f,f,1,1000,1000,33.3333,1000,1000,1000,1000,1000,,
				thread 1,,,,,,2000,66.6667,,,,,,,
				""", ProfileText.csv(profile(nest(), By.THREAD, true)).replaceAll("(?m)^thread 0.*\n", ""));
	}

	private static FlamePicture flame(Profile p, Place root, String lit, int height) {
		return FlamePicture.build(p, new FlamePicture.Look(root, root, lit == null ? null : lit::equals), 1000, height, Palette.LIGHT,
				TextMeter.DEFAULT, 12);
	}

	private static FlamePicture.Bar bar(FlamePicture picture, String... path) {
		return picture.of(new Place(-1, List.of(path)));
	}

	/** Who lays out a large graph is told how far it is, and can stop it in the middle. */
	@Test
	void layoutTellsAndStops() throws Exception {
		int producers = 6000;
		List<long[]> states = new ArrayList<>();
		for (int p = 0; p < producers; p++) {
			states.add(new long[] {p % 3, p, p, p + 10});
		}
		Profile profile = profile(table(producers, producers + 10, states), By.THREAD, true);
		long[] told = new long[2];
		long[] asked = new long[1];
		long[] stopAt = {Long.MAX_VALUE};
		Progress progress = new Progress() {
			@Override
			public void begin(String step, long total) {
				told[0] = total;
			}

			@Override
			public void worked(long units) {
				told[1] += units;
			}

			@Override
			public boolean isCancelled() {
				return ++asked[0] > stopAt[0];
			}
		};
		FlamePicture whole = FlamePicture.build(profile, FlamePicture.Look.ALL, 1000, 400, Palette.LIGHT, TextMeter.DEFAULT, 12, progress);
		assertEquals(flame(profile, null, null, 400).bars(), whole.bars());
		assertEquals(2 * producers, told[0]);
		assertTrue(told[1] > producers && told[1] <= told[0], told[1] + " of " + told[0]);
		stopAt[0] = asked[0] + 2;
		told[1] = 0;
		assertThrows(CancelledException.class, () -> FlamePicture.build(profile, FlamePicture.Look.ALL, 1000, 400, Palette.LIGHT,
				TextMeter.DEFAULT, 12, progress));
		assertTrue(told[1] > 0 && told[1] < producers, told[1] + " rows before it was stopped");
	}

	/** A bar as wide as the picture, below what is around it; keys go from bar to bar. */
	@Test
	void flameOfAPart() throws Exception {
		Profile p = profile(nest(), By.ALL, true);
		FlamePicture all = flame(p, null, null, 400);
		assertNull(all.root());
		assertEquals(3000, bar(all).timeNs());
		assertEquals(2000, bar(all, "main").timeNs());
		assertEquals(976 * 400.0 / 3000, bar(all, "main", "f").width(), 1e-9);
		assertEquals(bar(all, "main"), all.next(bar(all), FlamePicture.Way.DOWN));
		assertEquals(bar(all, "f"), all.next(bar(all, "main"), FlamePicture.Way.RIGHT));
		assertEquals(bar(all, "main"), all.next(bar(all, "f"), FlamePicture.Way.LEFT));
		assertEquals(bar(all, "main"), all.next(bar(all, "main"), FlamePicture.Way.LEFT));
		assertEquals(bar(all, "main"), all.next(bar(all, "main", "g"), FlamePicture.Way.UP));
		assertEquals(bar(all, "main", "f", "f"), all.next(bar(all, "main", "f"), FlamePicture.Way.DOWN));
		assertEquals(bar(all), all.next(bar(all), FlamePicture.Way.UP));
		assertEquals("f: 400 ns, 13.3 % of the time in states\n280 ns of it are its own, in 1 execution of 280 ns to 280 ns, mean 280 ns\nin main",
				all.describe(bar(all, "main", "f")));

		FlamePicture part = flame(p, new Place(-1, List.of("main", "f")), null, 400);
		assertEquals(List.of("", "main", "f", "f", "g"), part.bars().stream().map(b -> b.row() == null ? "" : b.row().region()).toList());
		assertEquals(bar(part, "main", "f"), part.root());
		for (String[] wide : new String[][] {{}, {"main"}, {"main", "f"}}) {
			assertEquals(976, bar(part, wide).width(), 1e-9);
			assertEquals(wide.length * 20, bar(part, wide).y());
		}
		assertEquals(976 * 100.0 / 400, bar(part, "main", "f", "f").width(), 1e-9);
		assertEquals(60, bar(part, "main", "f", "g").y());
		assertNull(bar(part, "f"));
		assertEquals(bar(part, "main", "f"), part.at(500, 41));
		// little room: of what is around only the nearest, and what is not there is all
		assertEquals(List.of("main", "f"), flame(p, new Place(-1, List.of("main", "f")), null, 80).bars().stream()
				.map(b -> b.row() == null ? "" : b.row().region()).toList());
		assertNull(flame(p, new Place(-1, List.of("main", "h")), null, 400).root());
		assertEquals(1, flame(p, new Place(-1, List.of()), null, 400).bars().stream().filter(b -> b.row() == null).count());

		// paler, but what is searched; its share with all that it calls
		String caption = text(flame(p, null, "f", 400));
		assertTrue(caption.startsWith("3 µs in states, 46.7 % in what is searched; exclusive times"), caption);
		assertTrue(text(flame(p, new Place(-1, List.of("main", "f")), null, 400)).startsWith("400 ns of 3 µs in states"));
	}

	private static String text(FlamePicture picture) {
		return ((Shape.Text) picture.scene().shapes().getLast()).text();
	}

	@Test
	void curveOverThreads() throws Exception {
		List<Profile> profiles = new ArrayList<>();
		for (int threads = 1; threads <= 2; threads++) {
			List<long[]> states = new ArrayList<>();
			for (int p = 0; p < threads; p++) {
				for (int i = 0; i < 20; i++) {
					states.add(new long[] {1, p, 100 * i, 100 * i + (p == 0 ? 10 : 40)});
				}
			}
			states.add(new long[] {2, 0, 2000, 2001});
			profiles.add(profile(table(2, 3000, states), By.ALL, false));
		}
		List<Object[]> rows = ProfileText.curve(profiles);
		assertEquals("f", rows.get(0)[0]);
		assertEquals(0.0, rows.get(0)[1]);
		assertEquals(0.6, rows.get(0)[2]); // 20 of 40 executions take 30 longer than 10: 600 of 1,000
		assertNull(rows.get(1)[1]);
		assertEquals(1, profiles.get(0).producers());
		assertEquals(2, profiles.get(1).producers());
	}
}
