// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.events;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.AggregationOptions;
import org.memtrace.aggregation.engine.SpatiotemporalAggregator;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** From events of any origin to values. */
class EventModelTest {
	private static final int STATE = 0;
	private static final int VARIABLE = 1;
	private static final int PUNCTUAL = 2;
	private static final int LINK = 3;
	/** Another type with the name of the first. */
	private static final int STATE_AGAIN = 4;
	private static final int STATE_OTHER = 5;
	private long begin;
	private long finish = 100;

	private record Event(int type, int producer, long start, long end, double value) {
	}

	private final List<Event> events = new ArrayList<>();

	private void add(int type, int producer, long start, long end, double value) {
		events.add(new Event(type, producer, start, end, value));
	}

	/** Producers: machine 0 with events of its own, cores 1 and 2, and a second root 3. */
	private EventTable table() throws MemtraceException {
		ProducerTreeBuilder tree = new ProducerTreeBuilder(0);
		tree.begin(ProducerKind.OTHER, "machine", 0, 0, -1);
		tree.leaf(ProducerKind.OTHER, "core 1", 0, 0, -1);
		tree.leaf(ProducerKind.OTHER, "core 2", 0, 0, -1);
		tree.end();
		tree.leaf(ProducerKind.OTHER, "network", 0, 0, -1);
		ProducerTree producers = tree.build();
		List<EventType> types = List.of(new EventType(STATE, EventCategory.STATE, "Running"),
				new EventType(VARIABLE, EventCategory.VARIABLE, "Power"), new EventType(PUNCTUAL, EventCategory.PUNCTUAL, "Tick"),
				new EventType(LINK, EventCategory.LINK, "Message"), new EventType(STATE_AGAIN, EventCategory.STATE, "Running"),
				new EventType(STATE_OTHER, EventCategory.STATE, "Waiting"));
		TraceInfo info = new TraceInfo(0, "foreign", "foreign", "paje", "", "", "", 0, events.size(), 4, begin, finish,
				Instant.EPOCH, 0, "", Map.of());
		events.sort(Comparator.comparingLong(Event::start));
		InvocationHandler store = (proxy, method, arguments) -> switch (method.getName()) {
		case "info" -> info;
		case "producers" -> producers;
		case "eventTypes" -> types;
		case "visitEvents" -> {
			EventBatch batch = new EventBatch(7);
			for (Event e : events) {
				if (batch.isFull()) {
					((EventVisitor) arguments[1]).visit(batch);
					batch.count = 0;
				}
				batch.add(0, e.type, e.producer, e.start, e.end, e.value, 0);
			}
			((EventVisitor) arguments[1]).visit(batch);
			yield null;
		}
		default -> throw new UnsupportedOperationException(method.getName());
		};
		return EventTable.load((TraceStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] {TraceStore.class}, store), Progress.NONE);
	}

	private MicroscopicModel model(Metric metric, int slices, long from, long to) throws Exception {
		return table().model(new ModelRequest(BasicDimensions.EVENT_TYPE, metric, slices, from, to, -1, null), Progress.NONE);
	}

	private static int leaf(MicroscopicModel m, int producer) {
		for (int l = 0; l < m.hierarchy().leafCount(); l++) {
			if (m.hierarchy().producer(m.hierarchy().leafNode(l)) == producer) {
				return l;
			}
		}
		throw new AssertionError("no leaf " + producer);
	}

	private static double[] row(MicroscopicModel m, int producer, int type) {
		double[] row = new double[m.sliceCount()];
		for (int t = 0; t < row.length; t++) {
			row[t] = m.value(leaf(m, producer), t, type);
		}
		return row;
	}

	/** The reference drops a state that starts on a boundary of a slice, and those that follow it in no slice. */
	@Test
	void statesThatStartOnABoundary() throws Exception {
		add(STATE, 1, 11, 20, 0);
		add(STATE, 1, 20, 57, 0);
		MicroscopicModel m = model(Metric.STATE_DURATION, 10, 0, 100);
		assertArrayEquals(new double[] {0, 9, 10, 10, 10, 7, 0, 0, 0, 0}, row(m, 1, 0));
		assertEquals(List.of("Running"), m.types().stream().map(ModelType::name).toList());
	}

	@Test
	void moreSlicesThanTicks() throws Exception {
		finish = 10;
		add(STATE, 1, 3, 7, 0);
		add(VARIABLE, 1, 3, 7, 2.5);
		add(PUNCTUAL, 1, 5, 5, 0);
		assertEquals(4, model(Metric.STATE_DURATION, 64, 0, 10).totals()[0]);
		MicroscopicModel m = model(Metric.VARIABLE_MEAN, 64, 0, 10);
		assertEquals(2.5, m.value(leaf(m, 1), m.slices().sliceOf(5), 0));
		// 4 of 10 ns at 2.5
		assertEquals(1, m.values(leaf(m, 1), leaf(m, 1) + 1, 0, 64)[0], 1e-12);
		assertEquals(3, model(Metric.EVENTS, 64, 0, 10).totals().length);
		MicroscopicModel means = model(Metric.STATE_MEAN, 64, 0, 10);
		for (int first = 0; first <= means.slices().sliceOf(3); first++) {
			assertEquals(4, means.values(leaf(means, 1), leaf(means, 1) + 1, first, 64)[0], "from slice " + first);
		}
		// it begins in a slice without duration in which the state is
		assertEquals(5, means.slices().boundNs(32));
		assertEquals(2, means.values(leaf(means, 1), leaf(means, 1) + 1, 32, 64)[0]);
		assertEquals(2, means.values(leaf(means, 1), leaf(means, 1) + 1, 33, 64)[0], "5 ns is bound 33 too");
	}

	/** The reference ignores variables that begin before a zoomed window. */
	@Test
	void variablesAcrossTheBorderOfAZoom() throws Exception {
		add(VARIABLE, 2, 5, 45, 8);
		add(VARIABLE, 2, 45, 50, 2);
		MicroscopicModel m = model(Metric.VARIABLE_MEAN, 4, 10, 50);
		assertArrayEquals(new double[] {8, 8, 8, 5}, row(m, 2, 0));
		assertEquals(7.25, m.values(leaf(m, 2), leaf(m, 2) + 1, 0, 4)[0], 1e-12);
		// a state likewise
		add(STATE, 2, 0, 100, 0);
		assertArrayEquals(new double[] {10, 10, 10, 10}, row(model(Metric.STATE_DURATION, 4, 10, 50), 2, 0));
	}

	@Test
	void eventsCountOnceAtTheirStart() throws Exception {
		add(STATE, 1, 0, 60, 0);
		add(STATE, 1, 50, 100, 0);
		add(LINK, 1, 50, 80, 2);
		add(PUNCTUAL, 1, 49, 49, 0);
		add(PUNCTUAL, 1, 50, 50, 0);
		add(PUNCTUAL, 1, 100, 100, 0);
		MicroscopicModel m = model(Metric.EVENTS, 2, 0, 100);
		assertEquals(List.of("Running", "Tick", "Message"), m.types().stream().map(ModelType::name).toList());
		assertArrayEquals(new double[] {1, 1}, row(m, 1, 0));
		assertArrayEquals(new double[] {1, 2}, row(m, 1, 1), "the end of the trace belongs to the last slice");
		assertArrayEquals(new double[] {0, 1}, row(m, 1, 2));
		// windows divide the events: none is lost, none counted twice
		double sum = 0;
		for (long from = 0; from < 100; from += 25) {
			for (double t : model(Metric.EVENTS, 3, from, from + 25).totals()) {
				sum += t;
			}
		}
		assertEquals(6, sum);
	}

	/** In the reference the mean depends on the 900 slices of its cache: means of means. */
	@ParameterizedTest
	@ValueSource(longs = {1, 2, 3})
	void meansDoNotDependOnTheGrouping(long seed) throws Exception {
		Random random = new Random(seed);
		finish = 1000;
		for (int i = 0; i < 300; i++) {
			long start = random.nextInt(990);
			add(random.nextInt(5) == 0 ? STATE_AGAIN : STATE, random.nextInt(4), start,
					start + random.nextInt(1 + random.nextInt(200)), 0);
			events.set(events.size() - 1, clipped(events.get(events.size() - 1)));
		}
		MicroscopicModel fine = model(Metric.STATE_MEAN, 60, 100, 900);
		for (int groups : new int[] {1, 2, 5, 12, 30, 60}) {
			MicroscopicModel coarse = model(Metric.STATE_MEAN, groups, 100, 900);
			int n = 60 / groups;
			for (int leaf = 0; leaf < fine.hierarchy().leafCount(); leaf++) {
				for (int g = 0; g < groups; g++) {
					assertTrue(fine.slices().boundNs(g * n) == coarse.slices().boundNs(g));
					double expected = mean(fine.hierarchy().producer(fine.hierarchy().leafNode(leaf)), coarse.slices().boundNs(g),
							coarse.slices().boundNs(g + 1));
					assertEquals(expected, coarse.value(leaf, g, 0), 1e-12, "seed " + seed + ", group " + g);
					assertEquals(expected, fine.values(leaf, leaf + 1, g * n, (g + 1) * n)[0], 1e-12);
				}
			}
		}
		assertEquals(mean(-1, 100, 900), fine.values(0, 4, 0, 60)[0], 1e-12, "all producers");
	}

	private Event clipped(Event e) {
		return new Event(e.type, e.producer, e.start, Math.min(e.end, finish), e.value);
	}

	/** Mean over states that overlap a window, by definition. */
	private double mean(int producer, long from, long to) {
		long duration = 0;
		int count = 0;
		for (Event e : events) {
			if (producer >= 0 && e.producer != producer) {
				continue;
			}
			long overlap = Math.min(to, e.end) - Math.max(from, e.start);
			if (overlap > 0 || e.start == e.end && e.start >= from && e.start < to) {
				duration += Math.max(0, overlap);
				count++;
			}
		}
		return count == 0 ? 0 : (double) duration / count;
	}

	/** Integers: sums do not depend on slices, far from 0 and beyond 2^53. */
	@Test
	void durationsAreExact() throws Exception {
		begin = 1L << 60;
		finish = begin + 1_000_003;
		long sum = 0;
		Random random = new Random(5);
		for (int i = 0; i < 500; i++) {
			long start = begin + random.nextInt(1_000_000);
			long end = Math.min(finish, start + 1 + random.nextInt(3000));
			sum += end - start;
			add(STATE, 1 + random.nextInt(3), start, end, 0);
		}
		for (int slices : new int[] {1, 7, 100, 399}) {
			assertEquals(sum, model(Metric.STATE_DURATION, slices, begin, finish).totals()[0], 0, slices + " slices");
		}
	}

	/** Of nested states the innermost counts, as in the summary; the whole is never more than the time there is. */
	@Test
	void nestedStatesCountForTheInnermost() throws Exception {
		add(STATE, 1, 0, 100, 0);
		add(STATE_OTHER, 1, 20, 90, 1);
		add(STATE, 1, 40, 50, 2);
		assertTrue(table().statesNest());
		assertEquals(Metric.STATE_TIME, table().defaultMetric());
		MicroscopicModel m = model(Metric.STATE_TIME, 10, 0, 100);
		assertArrayEquals(new double[] {10, 10, 0, 0, 10, 0, 0, 0, 0, 10}, row(m, 1, 0));
		assertArrayEquals(new double[] {0, 0, 10, 10, 0, 10, 10, 10, 10, 0}, row(m, 1, 1));
		assertEquals(180, Arrays.stream(model(Metric.STATE_DURATION, 10, 0, 100).totals()).sum(), "nested ones count each");
		MicroscopicModel window = model(Metric.STATE_TIME, 2, 35, 45);
		assertArrayEquals(new double[] {0, 5}, row(window, 1, 0));
		assertArrayEquals(new double[] {5, 0}, row(window, 1, 1));
	}

	/** For random states, nested or not: the sum over types is the time in any state. */
	@Test
	void innermostStatesFillTheTimeInAnyState() throws Exception {
		long seed = 20261122;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		boolean[] in = new boolean[1000];
		for (int i = 0; i < 60; i++) {
			int start = random.nextInt(1000);
			int end = Math.min(1000, start + random.nextInt(1 << random.nextInt(8)));
			add(random.nextBoolean() ? STATE : STATE_OTHER, 1, start, end, 0);
			Arrays.fill(in, start, end, true);
		}
		finish = 1000;
		int inAny = 0;
		for (boolean b : in) {
			inAny += b ? 1 : 0;
		}
		for (int slices : new int[] {1, 8, 37, 300}) {
			assertEquals(inAny, Arrays.stream(model(Metric.STATE_TIME, slices, 0, 1000).totals()).sum(), 0, slices + " slices");
		}
	}

	@Test
	void innerProducersAndForestsAndNegativeValues() throws Exception {
		add(VARIABLE, 0, 0, 100, -3);
		add(VARIABLE, 3, 0, 50, 4);
		MicroscopicModel m = model(Metric.VARIABLE_MEAN, 2, 0, 100);
		assertEquals(4, m.hierarchy().leafCount());
		assertTrue(m.hasNegativeValues());
		assertTrue(m.hierarchy().isArtificial(m.hierarchy().leafNode(leaf(m, 0))));
		assertArrayEquals(new double[] {-3, -3}, row(m, 0, 0));
		assertArrayEquals(new double[] {4, 0}, row(m, 3, 0));
		assertEquals(-0.25, m.values(0, 4, 0, 2)[0], 1e-12);
		// |-3| + |-3| and 4 as two types: f(6) - 2 f(3) = 6
		assertEquals(6, SpatiotemporalAggregator.prepare(m, AggregationOptions.EXACT, Progress.NONE).rootGain(), 1e-12);
	}

	@Test
	void typesAreSelectedByName() throws Exception {
		add(STATE, 1, 0, 10, 0);
		add(STATE_AGAIN, 1, 10, 30, 0);
		add(PUNCTUAL, 2, 10, 10, 0);
		EventTable t = table();
		ModelRequest r = new ModelRequest(BasicDimensions.EVENT_TYPE, Metric.EVENTS, 2, 0, 100, -1, Pattern.compile("^Run"));
		assertArrayEquals(new double[] {2}, t.model(r, Progress.NONE).totals(), "types of one name are one");
		assertEquals(1, t.model(r.withProducer(2).withTypes(null), Progress.NONE).totals()[0]);
		assertEquals(Metric.STATE_DURATION, t.defaultMetric());
		assertNull(Metric.byId("nothing"));
		assertEquals(Metric.STATE_MEAN, Metric.byId("state-mean"));
		assertThrows(IllegalArgumentException.class, () -> t.model(r.withMetric(Metric.READS), Progress.NONE));
		assertThrows(IllegalArgumentException.class, () -> t.model(r.withViewpoint(BasicDimensions.CPU), Progress.NONE));
	}

	@Test
	void valuesThatAreNoNumbersAreRefused() {
		add(VARIABLE, 1, 0, 10, Double.NaN);
		assertThrows(MemtraceException.class, this::table);
	}
}
