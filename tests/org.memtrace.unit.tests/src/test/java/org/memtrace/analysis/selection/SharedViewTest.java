// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.SavedFilters;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.RecentTraces.Recent;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.AddressSpace;

/** What is asked for on the command line and sent in links is found in a trace, and errors say what is not. */
class SharedViewTest {
	private static final long START_NS = 1_000_000;
	private static final long END_NS = 51_000_000;

	private static final Instant RECORDED = Instant.parse("2026-11-20T05:30:00.123456Z");

	private static MadeTrace made(String alias, Instant recorded, Map<String, String> properties, String... structures) {
		return MadeTrace.of(START_NS, END_NS, alias, recorded, properties, structures);
	}

	private static MadeTrace trace(String... structures) {
		return made("mat & mul = 100 %", RECORDED, Map.of(), structures);
	}

	@Test
	void linksAndFilesComeBackInTheSameTraceOfAnotherName() throws Exception {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		Dimension[] views = { Dimensions.find("type", Dimension.Use.COLOUR), Dimensions.find("thread", Dimension.Use.COLOUR) };
		for (int round = 0; round < 200; round++) {
			MadeTrace from = trace("A", "B +1/2", "\u00e4 \u2260 %41&");
			MadeTrace to = made("another name", Instant.ofEpochSecond(RECORDED.getEpochSecond()), Map.of(), "A", "more", "B +1/2",
					"\u00e4 \u2260 %41&");
			ViewState state = from.selection().initial().withViewpoint(views[random.nextInt(2)]);
			long start = START_NS + random.nextLong(END_NS - START_NS - 1);
			state = state.withWindow(start, start + 1 + random.nextLong(END_NS - start));
			int producer = random.nextInt(from.producers().size());
			state = state.withProducer(producer).withP(random.nextBoolean() ? ViewState.AUTOMATIC_P : random.nextDouble());
			if (random.nextBoolean()) {
				state = state.withFilters(FilterSet.of(TraceFilter.only(Condition.thread(random.nextInt(4)))));
			}
			from.selection().go(state);
			from.selection().markAll(producer, 2);
			SharedView view = SharedView.of(from, AddressSpace.VIRTUAL, "gantt");
			assertEquals(view, SharedView.parse(view.toLink()), "seed " + seed);
			assertEquals(view, SharedView.parse(view.toJson()), "seed " + seed);
			assertEquals(1, view.toLink().lines().count());
			assertTrue(view.toLink().matches("[!-~]+"), "one word of ASCII: " + view.toLink());
			assertTrue(view.isOf(to.info()), "seed " + seed);
			ViewState there = view.state(to);
			assertEquals(from.producers().name(producer), to.producers().name(there.producer()), "seed " + seed);
			assertEquals(state, there.withProducer(producer), "seed " + seed);
			assertArrayEquals(java.util.stream.IntStream.of(from.selection().marks()).mapToObj(from.producers()::name).sorted().toArray(),
					java.util.stream.IntStream.of(view.marks(to)).mapToObj(to.producers()::name).sorted().toArray(), "seed " + seed);
		}
	}

	@Test
	void whatIsAnotherTraceIsNotTaken() throws Exception {
		SharedView view = SharedView.of(trace("A"), AddressSpace.VIRTUAL, "");
		assertFalse(view.isOf(made("mat & mul = 100 %", RECORDED.plusSeconds(1), Map.of(), "A").info()));
		assertTrue(view.describeTrace().contains("2026-11-20 05:30:00 UTC on host a&b=c?"), view.describeTrace());
		MadeTrace without = trace("other");
		SharedView zoomed = new SharedView(view.trace(), view.host(), view.recordedAt(), view.startNs(), view.endNs(), view.space(),
				Map.of("producer", "A", "producer_id", "1"), List.of(), "");
		assertTrue(assertThrows(MemtraceException.class, () -> zoomed.state(without)).getMessage().contains("A"));
	}

	@Test
	void damagedLinksAreErrors() {
		String link = SharedView.of(trace("A"), AddressSpace.VIRTUAL, "").toLink();
		for (String bad : List.of("", "x", "{}", "[]", SharedView.LINK, SharedView.LINK + "trace", link.replace("recorded=2026", "recorded=x"),
				link.replace("VIRTUAL", "NONE"), link.replaceFirst("&end_ns=\\d+", ""), "{\"format\":\"memtrace.view/1\"}",
				"{\"format\":\"memtrace.view/9\"}", SharedView.LINK + "trace=%zz")) {
			assertThrows(MemtraceException.class, () -> SharedView.parse(bad), bad);
		}
		for (int cut = 0; cut < link.length(); cut++) {
			String part = link.substring(0, cut);
			try {
				SharedView.parse(part); // what was cut behind all that is needed is still a link
			} catch (MemtraceException e) {
				assertFalse(e.getMessage().isBlank());
			}
		}
	}

	private static ViewState in(MadeTrace trace, String from, String to, String filter, String view, String structure)
			throws MemtraceException {
		return new StateRequest(from, to, filter, view, structure).in(trace,
				SavedFilters.NONE.with("workers", FilterSet.of(TraceFilter.only(Condition.thread(1)))));
	}

	@Test
	void optionsAreUnderstood() throws Exception {
		MadeTrace t = trace("matrix_a", "matrix_b", "Vector", "vec");
		assertEquals(t.selection().initial(), in(t, null, null, null, null, null));
		ViewState s = in(t, "1.5ms", "2 ms", "workers", "thread", "vector");
		assertEquals(START_NS + 1_500_000, s.fromNs());
		assertEquals(START_NS + 2_000_000, s.toNs());
		assertEquals("thread", s.viewpoint().id());
		assertEquals("Vector", t.producers().name(s.producer()));
		assertEquals(1, s.filters().filters().size());
		assertEquals(END_NS, in(t, "@" + (START_NS + 5), "9 h", null, null, null).toNs(), "beyond the end is the end");
		assertEquals(START_NS + 5, in(t, "@" + (START_NS + 5), null, null, null, null).fromNs());
		assertEquals("vec", t.producers().name(in(t, null, null, null, null, "vec").producer()), "the whole name of one, a part of another one");
		assertEquals("matrix_b [page 1]", t.producers().name(in(t, null, null, null, null, "matrix_b [page 1]").producer()));
		MadeTrace ticks = made("t", RECORDED, Map.of("time_unit", "tick"), "A");
		if (ticks.info().isInTicks()) {
			assertEquals(START_NS + 7, in(ticks, "7ticks", null, null, null, null).fromNs());
			assertThrows(MemtraceException.class, () -> in(ticks, "7ms", null, null, null, null));
		}
	}

	@Test
	void errorsNameTheOptionAndWhatWouldDo() {
		MadeTrace t = trace("matrix_a", "matrix_b");
		record Case(String from, String to, String filter, String view, String structure, String said) {
		}
		for (Case c : List.of(new Case("5", null, null, null, null, "--from is '5'; it needs a time"),
				new Case("3ms", "3ms", null, null, null, "leave nothing of the 50"), new Case("1h", null, null, null, null, "leave nothing"),
				new Case(null, "@5", null, null, null, "leave nothing"), new Case(null, null, "nope", null, null, "--filter: "),
				new Case(null, null, null, "nope", null, "--view nope"), new Case(null, null, null, null, "matrix", "matrix_a, matrix_b"),
				new Case(null, null, null, null, "nope", "no structure with 'nope'"))) {
			String said = assertThrows(MemtraceException.class, () -> in(t, c.from, c.to, c.filter, c.view, c.structure)).getMessage();
			assertTrue(said.contains(c.said), said);
		}
	}

	@Test
	void theNewestOfRecentTracesIsTheFirstAndEachIsThereOnce() {
		RecentTraces r = RecentTraces.NONE;
		for (int i = 0; i < 25; i++) {
			r = r.with(new Recent("/c", i % 13, "db" + i % 13, "name " + i));
			assertEquals("name " + i, r.traces().get(0).name());
			assertTrue(r.traces().size() <= RecentTraces.MOST);
			assertEquals(r.traces().size(), r.traces().stream().map(Recent::id).distinct().count());
			assertEquals(r, RecentTraces.parse(r.toJson()));
		}
		Recent file = new Recent("", -1, "/a/b.db", "file");
		assertEquals(file, r.with(file).traces().get(0));
		assertEquals(r.traces().size() - 1, r.with(file).without(file).traces().size(), "the oldest is forgotten");
		for (String bad : List.of("", "{", "{}", "[1]", "[{}]", "null")) {
			assertEquals(RecentTraces.NONE, RecentTraces.parse(bad), bad);
		}
	}
}
