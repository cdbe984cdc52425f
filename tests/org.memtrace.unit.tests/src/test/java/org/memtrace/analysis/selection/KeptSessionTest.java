// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.google.gson.JsonObject;

import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.AddressSpace;

/** What was looked at, as text: comes back as it was in the same trace, and as far as possible in another one. */
class KeptSessionTest {
	private static final long START_NS = 1_000_000;
	private static final long END_NS = 2_000_000;

	private static MadeTrace trace(String... structures) {
		return MadeTrace.of(START_NS, END_NS, "a trace", Instant.EPOCH, Map.of(), structures);
	}

	private static KeptSession.Shown shown(MadeTrace trace, ViewState state) {
		return new KeptSession.Shown(1, 7, "database", AddressSpace.VIRTUAL, StateText.of(trace, state), List.of());
	}

	private static KeptSession session(KeptSession.Shown... shown) {
		return new KeptSession("/a/catalogue", List.of(shown), List.of(), List.of());
	}

	@Test
	void everyStateComesBack() throws Exception {
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		MadeTrace trace = trace("A", "all", "B \"quoted\"\n", "0");
		List<Dimension> dimensions = Dimensions.of(Dimension.Use.COLOUR);
		for (int i = 0; i < 500; i++) {
			long from = START_NS + random.nextInt(1000) * 999L;
			FilterSet filters = FilterSet.NONE;
			for (int f = random.nextInt(3); f > 0; f--) {
				filters = filters.with(new TraceFilter(Condition.thread(random.nextInt(9)), random.nextBoolean(), random.nextBoolean()));
			}
			ViewState state = new ViewState(from, from + 1 + random.nextInt(1000), random.nextInt(trace.producers().size()),
					dimensions.get(random.nextInt(dimensions.size())), List.of(ViewState.AUTOMATIC_P, 0.0, 1.0,
					random.nextDouble()).get(random.nextInt(4)), filters, List.of("", "pack:2 [numa] pu:2", "/a \"b\"/c.xml").get(random.nextInt(3)));
			KeptSession read = KeptSession.parse(session(shown(trace, state)).toJson());
			assertEquals(state, read.shown().get(0).state(trace), "seed " + seed);
		}
	}

	@Test
	void allIsKept() throws Exception {
		KeptSession kept = new KeptSession("/tmp/ä \"c\"", List.of(
				new KeptSession.Shown(1, 7, "db", AddressSpace.VIRTUAL, Map.of("from_ns", "1"), List.of(3, 0)),
				new KeptSession.Shown(4, -1, "/x/y.db", AddressSpace.PHYSICAL, Map.of(), List.of())),
				List.of(new KeptSession.Link(1, 4, SelectionLink.Time.SCALED)), List.of("/x/y.db", "/z"));
		assertEquals(kept, KeptSession.parse(kept.toJson()));
		assertEquals(KeptSession.NONE, KeptSession.parse(KeptSession.NONE.toJson()));
		assertTrue(kept.shown().get(1).isFile());
	}

	/** A producer is found by its name where it has another number, and nothing is taken that only has the number. */
	@Test
	void inAnotherTraceNamesCount() throws Exception {
		MadeTrace trace = trace("A", "B");
		MadeTrace other = trace("new", "A", "B");
		ViewState ofB = trace.selection().initial().withProducer(4);
		assertEquals("B", trace.producers().name(4));
		assertEquals("B", other.producers().name(shown(trace, ofB).state(other).producer()));
		MadeTrace without = trace("A", "C");
		assertEquals(without.selection().initial(), shown(trace, ofB).state(without), "nothing is understood by half");
		JsonObject later = new JsonObject();
		later.addProperty("from_ns", END_NS);
		later.addProperty("to_ns", END_NS + 1);
		assertThrows(MemtraceException.class, () -> StateText.read(later, trace, trace.selection().initial()));
	}

	/** Whatever stands in the file, the only error is one that says that it is not understood. */
	@Test
	void damagedTextIsRefused() {
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		MadeTrace trace = trace("A", "B");
		String whole = session(shown(trace, trace.selection().initial().withProducer(4))).toJson();
		List<String> texts = new ArrayList<>(List.of("", "null", "[]", "{}", "{\"format\":\"memtrace.session/2\"}",
				"{\"format\":\"memtrace.session/1\"}"));
		for (String t : texts) {
			assertThrows(MemtraceException.class, () -> KeptSession.parse(t), t);
		}
		for (int i = 0; i < 2000; i++) {
			StringBuilder b = new StringBuilder(whole);
			for (int n = 1 + random.nextInt(3); n > 0; n--) {
				int at = random.nextInt(b.length());
				if (random.nextBoolean()) {
					b.deleteCharAt(at);
				} else {
					b.setCharAt(at, "{}[]\",:-0x\u0000".charAt(random.nextInt(11)));
				}
			}
			try {
				KeptSession read = KeptSession.parse(b.toString());
				for (KeptSession.Shown s : read.shown()) {
					int producer = s.state(trace).producer();
					assertTrue(producer >= -1 && producer < trace.producers().size(), "seed " + seed + ": " + b);
				}
			} catch (MemtraceException e) {
				// refused
			}
		}
	}
}
