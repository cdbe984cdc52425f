// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What every store must do with events other than accesses. */
public abstract class OtherEventsContract {
	static final int PRODUCERS = 7;
	public static final List<EventType> TYPES = List.of(new EventType(0, EventCategory.STATE, "compute"),
			new EventType(1, EventCategory.LINK, "message"), new EventType(2, EventCategory.PUNCTUAL, "mark"),
			new EventType(3, EventCategory.VARIABLE, "load"), new EventType(4, EventCategory.STATE, "wait"));
	static final TraceInfo INFO = new TraceInfo(-1, "mpi run", "", "OTF2", "app", "host", "Linux 6", 4, 0, 0, 1000, 2000,
			Instant.parse("2024-05-06T07:08:09.123Z"), 0, "", Map.of("losses", "3"));

	TraceCatalogue catalogue;

	abstract TraceCatalogue openCatalogue() throws Exception;

	@BeforeEach
	void open() throws Exception {
		catalogue = openCatalogue();
	}

	@AfterEach
	void close() {
		catalogue.close();
	}

	/** An event with its parameters, for comparing. */
	record Event(int type, int producer, long start, long end, double value, int cpu, Map<String, String> parameters) {
		Event(int type, int producer, long start, long end, double value) {
			this(type, producer, start, end, value, 0, Map.of());
		}

		Event with(Map<String, String> some) {
			return new Event(type, producer, start, end, value, cpu, some);
		}
	}

	/** node, its two processes with two threads each; the root and the processes have events, too. */
	public static ProducerTree tree() {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.begin(ProducerKind.ROOT, "node", 0, 0, -1);
		for (int process = 0; process < 2; process++) {
			b.begin(ProducerKind.OTHER, "rank " + process, 0, 0, -1);
			for (int thread = 0; thread < 2; thread++) {
				b.leaf(ProducerKind.OTHER, "thread " + process + "." + thread, 0, 0, -1);
			}
			b.end();
		}
		b.end();
		return b.build();
	}

	private static void write(TraceWriter writer, List<Event> events, int batchSize) throws MemtraceException {
		EventBatch batch = new EventBatch(batchSize);
		for (Event e : events) {
			if (batch.isFull()) {
				writer.events(batch);
				batch.count = 0;
			}
			batch.add(-1, e.type, e.producer, e.start, e.end, e.value, e.cpu);
			batch.setParameters(writer.parameters(e.type, e.parameters));
		}
		writer.events(batch);
	}

	TraceInfo write(String name, List<Event> events) throws MemtraceException {
		try (TraceWriter writer = catalogue.create(name)) {
			writer.eventTypes(TYPES);
			writer.producers(tree());
			write(writer, events, 100);
			return writer.commit(INFO, "{\"events\":1}", Progress.NONE);
		}
	}

	/** With parameters as text in {@code ""}. */
	private static List<Event> read(TraceStore store, AccessQuery query) throws MemtraceException {
		List<Event> rows = new ArrayList<>();
		store.visitEvents(query, b -> {
			assertTrue(b.count > 0);
			List<String> texts = store.eventParameters(java.util.Arrays.copyOf(b.id, b.count));
			for (int i = 0; i < b.count; i++) {
				rows.add(row(b, i).with(texts.get(i).isEmpty() ? Map.of() : Map.of("", texts.get(i))));
			}
		}, Progress.NONE);
		return rows;
	}

	private static Event row(EventBatch b, int i) {
		return new Event(b.type[i], b.producer[i], b.startNs[i], b.endNs[i], b.value[i], b.cpu[i], Map.of());
	}

	/** As {@link #read} gives them: in order of start, equal ones as they were written. */
	private static List<Event> expected(List<Event> written) {
		return written.stream().sorted(Comparator.comparingLong(Event::start)).map(e -> e.with(e.parameters.isEmpty() ? Map.of()
				: Map.of("", String.join(", ", e.parameters.entrySet().stream().map(p -> p.getKey() + "=" + p.getValue()).toList())))).toList();
	}

	private static Map<String, String> parameters(String... namesAndValues) {
		Map<String, String> map = new LinkedHashMap<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			map.put(namesAndValues[i], namesAndValues[i + 1]);
		}
		return map;
	}

	static final List<Event> SMALL = List.of(
			new Event(0, 2, 1000, 1500, 0), // a state
			new Event(4, 2, 1100, 1200, 1), // nested
			new Event(4, 2, 1300, 1300, 1), // without duration
			new Event(1, 2, 1150, 1250, 6).with(parameters("size", "4096", "tag", "a=b, c")), // a link to a later producer
			new Event(1, 6, 1160, 1160, 2).with(parameters("size", "-1")), // and back
			new Event(2, 1, 1170, 1170, 0, 3, Map.of()), // an instant of an inner producer
			new Event(2, 0, 1170, 1170, -7.25), // with a number, of the root
			new Event(3, 5, 1000, 1400, -2.5), // variables
			new Event(3, 5, 1400, 1400, 0), new Event(3, 5, 1401, 3000, 1e300), new Event(3, 5, 900, 1000, 9_007_199_254_740_991.0),
			new Event(0, 3, -50, 10, 0.5)); // before 0, with a level that no tool writes

	/** Says where long lists differ, and not all of them. */
	static <T> void same(List<T> expected, List<T> actual, String what) {
		int at = 0;
		while (at < Math.min(expected.size(), actual.size()) && expected.get(at).equals(actual.get(at))) {
			at++;
		}
		assertEquals(expected.subList(at, Math.min(expected.size(), at + 1)), actual.subList(at, Math.min(actual.size(), at + 1)),
				what + ", at " + at + " of " + expected.size());
	}

	@Test
	void givesBackWhatWasWritten() throws Exception {
		TraceInfo written = write("small", SMALL);
		assertEquals(SMALL.size(), written.events());
		assertEquals(PRODUCERS, written.producers());
		assertEquals(-50, written.startNs());
		assertEquals(3000, written.endNs());
		assertEquals("OTF2", written.type());
		try (TraceStore store = catalogue.open(written.id())) {
			assertEquals(written, store.info());
			assertEquals(TYPES, store.eventTypes());
			assertEquals(0, store.accessCount());
			assertEquals("rank 1", store.producers().name(4));
			assertEquals(1, store.producers().parent(3));
			assertEquals(expected(SMALL), read(store, AccessQuery.ALL));
			assertEquals("{\"events\":1}", store.importReport().orElseThrow());
		}
	}

	@Test
	void windowAndSubtreeAreHalfOpen() throws Exception {
		TraceInfo info = write("t", SMALL);
		try (TraceStore store = catalogue.open(info.id())) {
			List<Event> all = expected(SMALL);
			for (AccessQuery query : List.of(AccessQuery.ALL.window(1170, 1300), AccessQuery.ALL.window(1300, 1301),
					AccessQuery.ALL.window(10, 900), AccessQuery.ALL.window(-50, -49), AccessQuery.ALL.window(3000, 4000),
					new AccessQuery(0, 5000, 4, 7), AccessQuery.ALL.subtree(store.producers(), 2), new AccessQuery(5, 5, 0, 9))) {
				assertEquals(all.stream().filter(e -> selects(query, e)).toList(), read(store, query), query.toString());
			}
			assertEquals(0, read(store, AccessQuery.ALL.window(10, 900)).size());
			assertEquals(1, read(store, AccessQuery.ALL.window(1300, 1301).subtree(store.producers(), 2)).stream()
					.filter(e -> e.start == e.end).count(), "an instant at the start of the window");
		}
	}

	private static boolean selects(AccessQuery query, Event e) {
		return query.fromNs() < query.toNs() && e.start < query.toNs() && (e.start >= query.fromNs() || e.end > query.fromNs())
				&& e.producer >= query.producerFrom() && e.producer < query.producerTo();
	}

	/** States are often known when they end: an outer one after those in it. */
	static List<Event> random(long seed, int count) {
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		List<Event> events = new ArrayList<>();
		long time = 1L << 46;
		for (int i = 0; i < count; i++) {
			time += random.nextInt(3) == 0 ? 0 : random.nextInt(1 << random.nextInt(20));
			int type = random.nextInt(TYPES.size());
			long length = type == 2 || random.nextInt(4) == 0 ? 0 : 1L << random.nextInt(random.nextInt(100) == 0 ? 40 : 16);
			double value = switch (TYPES.get(type).category()) {
			case STATE -> random.nextInt(4);
			case LINK -> random.nextInt(PRODUCERS);
			case PUNCTUAL -> 0;
			case VARIABLE -> random.nextInt(3) == 0 ? random.nextGaussian() * 1e6 : random.nextInt(200) - 100;
			};
			Map<String, String> parameters = random.nextInt(5) > 0 ? Map.of()
					: type == 1 ? parameters("size", "" + random.nextInt(10), "tag", "t" + random.nextInt(5000))
							: parameters("file", "a'b\u00e9" + random.nextInt(3));
			events.add(new Event(type, random.nextInt(PRODUCERS), time - length, time, value, random.nextInt(3) * 40, parameters));
		}
		return events;
	}

	@Test
	void manyEventsInAnyOrder() throws Exception {
		List<Event> events = random(20261122, 20_000);
		TraceInfo info = write("t", events);
		List<Event> all = expected(events);
		Random random = new Random(7);
		try (TraceStore store = catalogue.open(info.id())) {
			same(all, read(store, AccessQuery.ALL), "all");
			for (int n = 0; n < 30; n++) {
				Event a = all.get(random.nextInt(all.size()));
				Event b = all.get(random.nextInt(all.size()));
				int producer = random.nextInt(PRODUCERS);
				AccessQuery query = new AccessQuery(Math.min(a.start, b.start), Math.max(a.start, b.end) + 1, producer,
						producer + 1 + random.nextInt(PRODUCERS));
				same(all.stream().filter(e -> selects(query, e)).toList(), read(store, query), query.toString());
			}
			pages(store, all, random);
		}
	}

	private static void pages(TraceStore store, List<Event> all, Random random) throws MemtraceException {
		List<Long> ids = new ArrayList<>();
		List<Long> starts = new ArrayList<>();
		store.visitEvents(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				ids.add(b.id[i]);
				starts.add(b.startNs[i]);
			}
		}, Progress.NONE);
		assertEquals(ids.stream().sorted().distinct().toList(), ids);
		for (int n = 0; n < 20; n++) {
			int from = random.nextInt(all.size());
			int to = Math.min(all.size() - 1, from + random.nextInt(3000));
			List<Event> page = new ArrayList<>();
			store.visitEvents(AccessQuery.ALL, starts.get(from), ids.get(from), starts.get(to), ids.get(to), b -> {
				for (int i = 0; i < b.count; i++) {
					page.add(row(b, i));
				}
			}, Progress.NONE);
			same(all.subList(from, to).stream().map(e -> e.with(Map.of())).toList(), page, "page");
		}
		int[] chosen = IntStream.generate(() -> random.nextInt(all.size())).limit(50).toArray();
		List<Event> some = new ArrayList<>();
		store.readEvents(IntStream.of(chosen).mapToLong(ids::get).toArray(), b -> {
			for (int i = 0; i < b.count; i++) {
				some.add(row(b, i));
			}
		});
		assertEquals(IntStream.of(chosen).mapToObj(i -> all.get(i).with(Map.of())).toList(), some);
		assertEquals(IntStream.of(chosen).mapToObj(i -> all.get(i).parameters.getOrDefault("", "")).toList(),
				store.eventParameters(IntStream.of(chosen).mapToLong(ids::get).toArray()));
	}

	/** Producers may become known while events are read; then types, too. */
	@Test
	void producersAndTypesMayGrow() throws Exception {
		try (TraceWriter writer = catalogue.create("t")) {
			writer.eventTypes(TYPES.subList(0, 2));
			write(writer, List.of(new Event(0, 0, 10, 20, 0), new Event(1, 1, 15, 25, 0)), 10);
			writer.eventTypes(TYPES);
			write(writer, List.of(new Event(4, 1, 12, 14, 0), new Event(1, 0, 16, 26, 1)), 10);
			writer.producers(tree(), new int[] { 6, 3 });
			TraceInfo info = writer.commit(INFO, null, Progress.NONE);
			try (TraceStore store = catalogue.open(info.id())) {
				assertEquals(List.of(new Event(0, 6, 10, 20, 0), new Event(4, 3, 12, 14, 0), new Event(1, 3, 15, 25, 6),
						new Event(1, 6, 16, 26, 3)), read(store, AccessQuery.ALL));
			}
		}
	}

	@Test
	void accessesAndEventsInOneTrace() throws Exception {
		List<Event> events = List.of(new Event(0, 2, 100, 900, 0), new Event(1, 3, 150, 160, 9).with(parameters("size", "8")));
		TraceInfo info;
		try (TraceWriter writer = catalogue.create("t")) {
			writer.threads(StoreContract.THREADS);
			writer.structures(StoreContract.STRUCTURES);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.producers(StoreContract.tree(8));
			writer.eventTypes(TYPES);
			write(writer, events, 10);
			writer.accesses(StoreContract.batch(StoreContract.SMALL));
			info = writer.commit(StoreContract.INFO, "{}", Progress.NONE);
		}
		assertEquals(7 + 2, info.events(), "rows of FrameSoc's EVENT");
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(StoreContract.SMALL, StoreContract.accesses(store, AccessQuery.ALL));
			assertEquals("Private_Read", store.eventTypes().get(0).name());
			int first = store.eventTypes().size() - TYPES.size();
			assertEquals("compute", store.eventTypes().get(first).name());
			assertEquals(expected(events).stream()
					.map(e -> new Event(e.type + first, e.producer, e.start, e.end, e.value, e.cpu, e.parameters)).toList(),
					read(store, AccessQuery.ALL));
			assertThrows(StoreException.class, () -> store.replaceTrees(
					new org.memtrace.model.tree.MemoryTrees(StoreContract.tree(8), new int[12], null, null), List.of(), Progress.NONE));
			assertEquals(java.util.Set.of(AddressSpace.VIRTUAL), store.addressSpaces());
		}
	}

	@Test
	void refusesWhatCannotBe() throws Exception {
		for (Event bad : List.of(new Event(5, 2, 1, 2, 0), new Event(-1, 2, 1, 2, 0), new Event(0, 7, 1, 2, 0),
				new Event(0, -1, 1, 2, 0), new Event(0, 2, 2, 1, 0), new Event(1, 2, 1, 2, 7), new Event(1, 2, 1, 2, 0.5),
				new Event(1, 2, 1, 2, -1), new Event(3, 2, 1, 2, Double.NaN), new Event(3, 2, 1, 2, Double.NEGATIVE_INFINITY),
				new Event(2, 2, 1, 2, 0))) {
			assertThrows(StoreException.class, () -> write("bad", List.of(SMALL.get(0), bad)), bad.toString());
		}
		assertThrows(StoreException.class, () -> write("empty", List.of()));
		try (TraceWriter writer = catalogue.create("t")) {
			EventBatch batch = new EventBatch(1);
			batch.add(0, 0, 0, 1, 2, 0, 0);
			assertThrows(StoreException.class, () -> writer.events(batch), "no types");
			writer.eventTypes(TYPES);
			assertThrows(StoreException.class, () -> writer.eventTypes(TYPES.subList(0, 4)));
			assertThrows(StoreException.class, () -> writer.eventTypes(TYPES.subList(1, 5)));
			assertThrows(StoreException.class, () -> writer.parameters(5, Map.of("a", "b")));
			int set = writer.parameters(1, Map.of("a", "b"));
			batch.setParameters(set);
			assertThrows(StoreException.class, () -> writer.events(batch), "parameters of another type");
			batch.setParameters(set + 1);
			assertThrows(StoreException.class, () -> writer.events(batch), "parameters that were not made");
			batch.setParameters(0);
			writer.events(batch);
			assertThrows(StoreException.class, () -> writer.commit(INFO, null, Progress.NONE), "no producers");
		}
		assertEquals(List.of(), catalogue.list());
	}

	@Test
	void cancelledOrClosedLeavesNothing() throws Exception {
		List<Event> events = random(3, 30_000);
		try (TraceWriter writer = catalogue.create("t")) {
			writer.eventTypes(TYPES);
			writer.producers(tree());
			write(writer, events, 1000);
		}
		assertEquals(List.of(), catalogue.list());
		try (TraceWriter writer = catalogue.create("t")) {
			writer.eventTypes(TYPES);
			writer.producers(tree());
			write(writer, events, 1000);
			AtomicBoolean begun = new AtomicBoolean();
			Progress progress = new Progress() {
				@Override
				public void begin(String step, long total) {
					begun.set(true);
				}

				@Override
				public void worked(long units) {
					// counted elsewhere
				}

				@Override
				public boolean isCancelled() {
					return begun.get();
				}
			};
			assertThrows(CancelledException.class, () -> writer.commit(INFO, null, progress));
		}
		assertEquals(List.of(), catalogue.list());
		nothingIsLeft();
	}

	/** Files of what was given up. */
	void nothingIsLeft() throws Exception {
		// on the heap there are none
	}

	/** The share that is done is that of what is read. */
	@Test
	void progressEndsWhereItSaid() throws Exception {
		TraceInfo info = write("t", random(5, 20_000));
		try (TraceStore store = catalogue.open(info.id())) {
			for (AccessQuery query : List.of(AccessQuery.ALL, AccessQuery.ALL.window(info.startNs(), info.startNs() + 1000))) {
				long[] sums = new long[2];
				store.visitEvents(query, b -> {
				}, new Progress() {
					@Override
					public void begin(String step, long total) {
						sums[0] += total;
					}

					@Override
					public void worked(long units) {
						sums[1] += units;
					}

					@Override
					public boolean isCancelled() {
						return false;
					}
				});
				assertEquals(sums[0], sums[1], query.toString());
			}
		}
	}
}
