// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.AccessCube;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.build.Preparation;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.memory.MemoryArea;
import org.memtrace.model.memory.MemoryLayout;
import org.memtrace.model.memory.PageCells;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.MemoryTrees;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.model.tree.ProducerTreeBuilder;

/** What every store must do. */
public abstract class StoreContract {
	static final int PAGE = 4096;
	TraceCatalogue catalogue;

	abstract TraceCatalogue openCatalogue() throws Exception;

	/** The name under which a store keeps a database of this name. */
	String file(String databaseName) {
		return databaseName;
	}

	@BeforeEach
	void open() throws Exception {
		catalogue = openCatalogue();
	}

	@AfterEach
	void close() {
		catalogue.close();
	}

	/** An access in a list, for comparing. */
	public record Row(long start, long end, int producer, int thread, int cpuSet, long reads, long writes, int sharing,
			int node, int flags, long ip) {
	}

	record Event(int type, int producer, long start, long end, double value, int cpu) {
	}

	public static ProducerTree tree(int pages) {
		ProducerTreeBuilder b = new ProducerTreeBuilder(PAGE);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		b.begin(ProducerKind.STRUCTURE, "A", 0x10000, 0x10000 + (long) pages * PAGE, 0);
		for (int i = 0; i < pages; i++) {
			b.leaf(ProducerKind.PAGE, null, 0x10000 + (long) i * PAGE, 0x10000 + (long) (i + 1) * PAGE, 0);
		}
		b.end();
		b.begin(ProducerKind.RANGE, "ffffffffff600000 (1 page)", 0xffffffffff600000L, 0xffffffffff601000L, -1);
		b.leaf(ProducerKind.PAGE, null, 0xffffffffff600000L, 0xffffffffff601000L, -1);
		b.end();
		b.end();
		return b.build();
	}

	public static final List<ThreadInfo> THREADS = List.of(
			new ThreadInfo(0, 0, 4711, "app", 100, Long.MAX_VALUE, "", true),
			new ThreadInfo(1, 0, 4712, "worker 1", 120, 900, "work", false),
			new ThreadInfo(2, 1, 4711, "child", 100, Long.MAX_VALUE, "", true));
	public static final ThreadTimes TIMES = new ThreadTimes.Builder().add(1, 300, 150).add(0, 200, 20).add(0, 150, 10).build();
	public static final List<Structure> STRUCTURES = List.of(new Structure(0, 0, StructureKind.HEAP, "A", 0x10000, 0x18000,
			100, Long.MAX_VALUE, 4711, 7, "main.c:42", "double[64][64]", "8", 5L << 32, 4096));
	public static final TraceInfo INFO = new TraceInfo(-1, "my app", "", TraceInfo.TYPE_MEMTRACE, "app", "host", "Linux 6",
			4, 0, 0, 100, 2000, Instant.parse("2024-05-06T07:08:09.123Z"), PAGE, "what for",
			Map.of("command", "app -n 3", "losses", "0"));

	static BitSet cpus(int... bits) {
		BitSet set = new BitSet();
		for (int bit : bits) {
			set.set(bit);
		}
		return set;
	}

	public static final List<BitSet> CPU_SETS = List.of(cpus(), cpus(3), cpus(0, 65));

	public static AccessBatch batch(List<Row> rows) {
		AccessBatch batch = new AccessBatch(Math.max(1, rows.size()));
		for (Row r : rows) {
			batch.add(r.start, r.end, r.producer, r.thread, r.cpuSet, r.reads, r.writes, r.sharing, r.node, r.flags,
					r.ip);
		}
		return batch;
	}

	TraceInfo write(String name, List<Row> rows, int pages) throws MemtraceException {
		return write(catalogue.create(name), rows, pages);
	}

	private static TraceInfo write(TraceWriter created, List<Row> rows, int pages) throws MemtraceException {
		try (TraceWriter writer = created) {
			writer.threads(THREADS);
			writer.structures(STRUCTURES);
			writer.stack(7, List.of(new CallFrame(0xabc, "app", "main", "main.c", 42), new CallFrame(-1L, "libc", "", "", 0)));
			writer.cpuSets(CPU_SETS);
			writer.producers(tree(pages));
			for (int i = 0; i < rows.size(); i += 1000) {
				writer.accesses(batch(rows.subList(i, Math.min(rows.size(), i + 1000))));
			}
			writer.intervals(List.of(MEASURED,
					new Interval(1, 100, 150, 50, 0, 0, 0, "")));
			writer.threadTimes(TIMES);
			writer.note("of the writer", new byte[] { 7, 0, 9 });
			return writer.commit(INFO, "{\"rows\":1}", Progress.NONE);
		}
	}

	public static List<Row> accesses(TraceStore store, AccessQuery query) throws MemtraceException {
		List<Row> rows = new ArrayList<>();
		store.visitAccesses(query, b -> {
			assertTrue(b.count > 0);
			for (int i = 0; i < b.count; i++) {
				rows.add(new Row(b.startNs[i], b.endNs[i], b.producer[i], b.thread[i], b.cpuSet[i], b.reads[i],
						b.writes[i], b.sharing[i], b.node[i], b.flags[i], b.ip[i]));
			}
		}, Progress.NONE);
		return rows;
	}

	public static List<Event> events(TraceStore store, AccessQuery query) throws MemtraceException {
		List<Event> rows = new ArrayList<>();
		store.visitEvents(query, b -> {
			for (int i = 0; i < b.count; i++) {
				rows.add(new Event(b.type[i], b.producer[i], b.startNs[i], b.endNs[i], b.value[i], b.cpu[i]));
			}
		}, Progress.NONE);
		return rows;
	}

	private static final Interval MEASURED = new Interval(0, 100, 200, 100, 5, 1, 2, "stop",
			new Interval.Measured(210, 2, 3, 4L << 32, 5L << 32, 6L << 32, 7L << 32, 8, 9, 10, 11));

	public static final List<Row> SMALL = List.of(
			new Row(100, 200, 2, 0, 1, 3, 0, 1, 0, 0, 0x401000),
			new Row(100, 200, 3, 1, 2, 1, 2, 2, -1, 1, 0),
			new Row(100, 250, 11, AccessBatch.NO_THREAD, -1, 1, 0, 1, -1, 6, -4096),
			new Row(200, 300, 2, 2, 0, 0, 5_000_000_000L, 3, 1, 0, 0x401000),
			new Row(1000, 1001, 9, 0, 1, 1, 1, 1, 0, 0, 0x401004));

	@Test
	void givesBackWhatWasWritten() throws Exception {
		TraceInfo written = write("my-app", SMALL, 8);
		assertEquals(file("my_app"), written.databaseName());
		assertEquals("my app", written.alias());
		assertEquals(7, written.events());
		assertEquals(12, written.producers());
		assertEquals(INFO.recordedAt(), written.recordedAt());
		assertEquals(List.of(written), catalogue.list());
		try (TraceStore store = catalogue.open(written.id())) {
			assertEquals(written, store.info());
			assertEquals(THREADS, store.threads());
			assertEquals(STRUCTURES, store.structures());
			assertEquals(CPU_SETS, store.cpuSets());
			assertEquals("main", store.stack(7).get(0).function());
			assertEquals(-1L, store.stack(7).get(1).ip());
			assertEquals(List.of(), store.stack(8));
			assertEquals(List.of(MEASURED, new Interval(1, 100, 150, 50, 0, 0, 0, "")), store.intervals());
			assertEquals(3, store.threadTimes().size());
			assertEquals(20, store.threadTimes().total(0));
			assertEquals(10, store.threadTimes().used(0, 150, 900));
			assertEquals(150, store.threadTimes().total(1));
			assertEquals(-1, store.threadTimes().total(2));
			assertEquals("{\"rows\":1}", store.importReport().orElseThrow());
			assertEquals(5, store.accessCount());
			assertEquals(SMALL, accesses(store, AccessQuery.ALL));
			ProducerTree expected = tree(8);
			ProducerTree tree = store.producers();
			assertEquals(expected.size(), tree.size());
			for (int i = 0; i < tree.size(); i++) {
				assertEquals(expected.parent(i), tree.parent(i));
				assertEquals(expected.subtreeEnd(i), tree.subtreeEnd(i));
				assertEquals(expected.kind(i), tree.kind(i));
				assertEquals(expected.name(i), tree.name(i));
				assertEquals(expected.startAddress(i), tree.startAddress(i));
				assertEquals(expected.endAddress(i), tree.endAddress(i));
				assertEquals(expected.structure(i), tree.structure(i));
			}
		}
	}

	/** Sums are saved with a stamp of the accesses, found again by who opens the trace later, and not used when a byte of them is another. */
	@Test
	void sumsAreSavedWithTheAccessesThatTheyCount() throws Exception {
		TraceInfo info = write("sums", SMALL, 8);
		String stamp;
		AccessCube.Rows saved;
		try (TraceStore store = catalogue.open(info.id())) {
			stamp = store.contentStamp();
			assertTrue(!stamp.isEmpty(), "the store can tell");
			assertNull(AccessTable.load(store, Progress.NONE).rows(AccessQuery.ALL, false, false, Progress.NONE));
			assertTrue(Preparation.save(store, Progress.NONE));
			assertEquals(stamp, store.contentStamp(), "what is derived is no change");
		}
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(stamp, store.contentStamp());
			saved = AccessTable.load(store, Progress.NONE).rows(AccessQuery.ALL, false, false, Progress.NONE);
			long[] sums = new long[2];
			for (int row = 0; row < saved.chunk().rows; row++) {
				sums[0] += saved.chunk().reads[row];
				sums[1] += saved.chunk().writes[row];
			}
			assertArrayEquals(new long[] {6, 5_000_000_003L}, sums);
			List<String> told = new ArrayList<>();
			Preparation.verify(store, List.of(), told::add);
			assertEquals(List.of(), told);
			byte[] totals = store.readCache("pre-aggregates/totals").orElseThrow();
			totals[totals.length / 2] ^= 4;
			store.writeCache("pre-aggregates/totals", totals);
			Preparation.verify(store, List.of(), told::add);
			assertEquals(1, told.size(), told.toString());
		}
	}

	@Test
	void windowAndSubtreeAreHalfOpen() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(List.of(), accesses(store, AccessQuery.ALL.window(0, 100)));
			assertEquals(SMALL.subList(0, 3), accesses(store, AccessQuery.ALL.window(0, 101)));
			assertEquals(SMALL.subList(2, 4), accesses(store, AccessQuery.ALL.window(200, 300)));
			assertEquals(List.of(), accesses(store, AccessQuery.ALL.window(300, 1000)));
			assertEquals(SMALL.subList(4, 5), accesses(store, AccessQuery.ALL.window(1000, 1001)));
			assertEquals(List.of(SMALL.get(2)), accesses(store, AccessQuery.ALL.subtree(store.producers(), 10)));
			assertEquals(4, accesses(store, AccessQuery.ALL.subtree(store.producers(), 1)).size());
			assertEquals(List.of(SMALL.get(0)), accesses(store, new AccessQuery(150, 200, 2, 3)));
		}
	}

	/** Any cut into ranges of ids gives all rows once, and each row can be read by its id. */
	@Test
	void pagesOfRows() throws Exception {
		long seed = 20261120;
		System.out.println("seed " + seed);
		Random random = new Random(seed);
		List<Row> rows = new ArrayList<>();
		for (int i = 0; i < 5_000; i++) {
			long start = 100 + i / 700 * 100;
			int kind = random.nextInt(3);
			rows.add(new Row(start, start + 100, 2 + random.nextInt(8), 0, 1, kind == 1 ? 0 : 1 + i % 5, kind == 0 ? 0 : 1 + i % 7,
					1, 0, 0, 0x401000));
		}
		TraceInfo info = write("t", rows, 8);
		try (TraceStore store = catalogue.open(info.id())) {
			for (AccessQuery query : List.of(AccessQuery.ALL, new AccessQuery(250, 550, 3, 7))) {
				List<Row> whole = accesses(store, query);
				List<Integer> ids = new ArrayList<>();
				List<Long> starts = new ArrayList<>();
				store.visitAccesses(query, b -> {
					for (int i = 0; i < b.count; i++) {
						assertTrue(ids.isEmpty() || starts.getLast() < b.startNs[i] || starts.getLast() == b.startNs[i] && ids.getLast() < b.id[i],
								"in order of start and id");
						ids.add(b.id[i]);
						starts.add(b.startNs[i]);
					}
				}, Progress.NONE);
				assertEquals(whole.size(), ids.size());
				List<Row> paged = new ArrayList<>();
				int at = 0;
				while (at < ids.size()) {
					int next = Math.min(ids.size(), at + 1 + random.nextInt(900));
					int first = paged.size();
					boolean end = next == ids.size();
					store.visitAccesses(query, starts.get(at), ids.get(at), end ? Long.MAX_VALUE : starts.get(next),
							end ? Integer.MAX_VALUE : ids.get(next), b -> {
						for (int i = 0; i < b.count; i++) {
							assertEquals(ids.get(paged.size()), b.id[i]);
							paged.add(row(b, i));
						}
					}, Progress.NONE);
					assertEquals(next - at, paged.size() - first);
					at = next;
				}
				assertEquals(whole, paged);
				List<Row> wanted = new ArrayList<>();
				int[] some = new int[50];
				for (int i = 0; i < some.length; i++) {
					int which = random.nextInt(whole.size());
					some[i] = ids.get(which);
					wanted.add(whole.get(which));
				}
				List<Row> read = new ArrayList<>();
				store.readAccesses(some, b -> {
					for (int i = 0; i < b.count; i++) {
						read.add(row(b, i));
					}
				});
				assertEquals(wanted, read);
			}
			List<Event> all = events(store, AccessQuery.ALL);
			List<long[]> keys = new ArrayList<>();
			store.visitEvents(AccessQuery.ALL, b -> {
				for (int i = 0; i < b.count; i++) {
					keys.add(new long[] {b.startNs[i], b.id[i]});
				}
			}, Progress.NONE);
			List<Event> part = new ArrayList<>();
			store.visitEvents(AccessQuery.ALL, keys.get(1000)[0], keys.get(1000)[1], keys.get(3000)[0], keys.get(3000)[1],
					b -> take(b, part), Progress.NONE);
			assertEquals(all.subList(1000, 3000), part);
			List<Event> two = new ArrayList<>();
			store.readEvents(new long[] {keys.get(4000)[1], keys.get(7)[1]}, b -> take(b, two));
			assertEquals(List.of(all.get(4000), all.get(7)), two);
		}
	}

	private static Row row(AccessBatch b, int i) {
		return new Row(b.startNs[i], b.endNs[i], b.producer[i], b.thread[i], b.cpuSet[i], b.reads[i], b.writes[i], b.sharing[i],
				b.node[i], b.flags[i], b.ip[i]);
	}

	static void take(EventBatch b, List<Event> to) {
		for (int i = 0; i < b.count; i++) {
			to.add(new Event(b.type[i], b.producer[i], b.startNs[i], b.endNs[i], b.value[i], b.cpu[i]));
		}
	}

	@Test
	void eventsAreVariablesOfReadsAndWrites() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		try (TraceStore store = catalogue.open(info.id())) {
			List<EventType> types = store.eventTypes();
			assertEquals(List.of("Private_Read", "Private_Write", "Shared_Read", "Shared_Write", "Private_Read_T4711"),
					types.subList(0, 5).stream().map(EventType::name).toList());
			assertEquals(types.size(), types.stream().map(EventType::name).distinct().count());
			assertTrue(types.stream().anyMatch(t -> t.name().equals("Shared_Write_T-1")));
			assertEquals(List.of(new Event(0, 2, 100, 200, 3, 3), new Event(2, 3, 100, 200, 1, 0),
					new Event(3, 3, 100, 200, 2, 0), new Event(0, 11, 100, 250, 1, 0),
					new Event(3, 2, 200, 300, 5e9, 0), new Event(0, 9, 1000, 1001, 1, 3),
					new Event(1, 9, 1000, 1001, 1, 3)), events(store, AccessQuery.ALL));
			assertEquals(1, events(store, AccessQuery.ALL.window(250, 300)).size());
		}
	}

	@Test
	void sharingThatIsNotKnownIsAValueOfItsOwn() throws Exception {
		List<Row> rows = List.of(new Row(100, 200, 2, 0, 1, 3, 0, 1, 0, 0, 0),
				new Row(100, 200, 3, 1, 2, 1, 2, AccessBatch.SHARING_NOT_KNOWN, -1, 0, 0),
				new Row(200, 300, 3, 1, 2, 1, 0, 2, -1, 0, 0));
		TraceInfo info = write("t", rows, 6);
		assertFalse(info.isSharingKnown());
		try (TraceStore store = catalogue.open(info.id())) {
			assertFalse(store.info().isSharingKnown());
			assertEquals(rows, accesses(store, AccessQuery.ALL));
			List<String> types = store.eventTypes().stream().map(EventType::name).toList();
			int first = types.indexOf("NotKnown_Read");
			assertEquals(List.of("NotKnown_Read", "NotKnown_Write", "NotKnown_Read_T4711"), types.subList(first, first + 3));
			assertEquals("NotKnown_Write_T-1", types.getLast());
			assertEquals(List.of(new Event(0, 2, 100, 200, 3, 3), new Event(first, 3, 100, 200, 1, 0),
					new Event(first + 1, 3, 100, 200, 2, 0), new Event(2, 3, 200, 300, 1, 0)), events(store, AccessQuery.ALL));
		}
		TraceInfo known = write("u", SMALL, 8);
		try (TraceStore store = catalogue.open(known.id())) {
			assertTrue(store.info().isSharingKnown());
			assertTrue(store.eventTypes().stream().noneMatch(t -> t.name().startsWith("NotKnown")));
		}
	}

	@Test
	void unsortedAccessesComeBackByStart() throws Exception {
		List<Row> rows = random(5, 3000);
		List<Row> shuffled = new ArrayList<>(rows);
		java.util.Collections.shuffle(shuffled, new Random(6));
		TraceInfo info = write("t", shuffled, 64);
		try (TraceStore store = catalogue.open(info.id())) {
			List<Row> read = accesses(store, AccessQuery.ALL);
			for (int i = 1; i < read.size(); i++) {
				assertTrue(read.get(i - 1).start <= read.get(i).start);
			}
			java.util.Comparator<Row> order = java.util.Comparator.comparing(Row::toString);
			assertEquals(rows.stream().sorted(order).toList(), read.stream().sorted(order).toList());
		}
	}

	public static List<Row> random(long seed, int count) {
		Random random = new Random(seed);
		List<Row> rows = new ArrayList<>();
		long time = 100;
		for (int i = 0; i < count; i++) {
			time += random.nextInt(20) == 0 ? random.nextInt(50) : 0;
			long reads = random.nextInt(3);
			rows.add(new Row(time, time + 1 + (random.nextInt(50) == 0 ? 400 : 30), 2 + random.nextInt(64),
					random.nextInt(4) - 1, random.nextInt(4) - 1, reads, reads == 0 ? 1 + random.nextInt(2) : random.nextInt(2),
					1 + random.nextInt(3), random.nextInt(3) - 1, random.nextInt(8), random.nextInt(5) * 4L));
		}
		return rows;
	}

	/** In the order of start and place in memory, in which a store gives them; equal ones as they were written. */
	static List<Row> inOrder(List<Row> rows) {
		return rows.stream().sorted(Comparator.comparingLong(Row::start).thenComparingInt(Row::producer).thenComparingLong(Row::end)).toList();
	}

	@Test
	void randomQueriesAgreeWithAFilter() throws Exception {
		long seed = 20240607;
		List<Row> rows = random(seed, 8000);
		TraceInfo info = write("t", rows, 64);
		Random random = new Random(seed);
		try (TraceStore store = catalogue.open(info.id())) {
			for (int i = 0; i < 40; i++) {
				long from = 90 + random.nextInt((int) (info.endNs() - 90));
				AccessQuery query = new AccessQuery(from, from + random.nextInt(500), random.nextInt(66),
						random.nextInt(70));
				List<Row> expected = rows.stream().filter(r -> r.start < query.toNs() && r.end > query.fromNs()
						&& r.producer >= query.producerFrom() && r.producer < query.producerTo()).toList();
				assertEquals(inOrder(expected), accesses(store, query), "seed " + seed + ", query " + query);
			}
		}
	}

	@Test
	void manyTracesNamesAndDeletion() throws Exception {
		TraceInfo first = write("same", SMALL, 8);
		TraceInfo second = write("same", SMALL, 8);
		assertEquals(0, first.id());
		assertEquals(1, second.id());
		assertEquals(file("same_2"), second.databaseName());
		assertEquals(second, catalogue.find("same_2"));
		assertEquals(first, catalogue.find("0"));
		assertThrows(StoreException.class, () -> catalogue.find("my app"));
		catalogue.rename(second.id(), "other");
		assertEquals(second.id(), catalogue.find("other").id());
		assertEquals("other", catalogue.list().get(1).alias());
		// a name that a person sees at another trace than the one whose file is called so
		assertEquals(first, catalogue.find("same"));
		catalogue.rename(second.id(), "same");
		String ambiguous = assertThrows(StoreException.class, () -> catalogue.find("same")).getMessage();
		assertEquals("2 traces are called \"same\"; use a number: 0, 1", ambiguous);
		catalogue.delete(first.id());
		assertEquals(1, catalogue.list().size());
		assertThrows(StoreException.class, () -> catalogue.open(first.id()));
		assertThrows(StoreException.class, () -> catalogue.delete(first.id()));
		assertThrows(StoreException.class, () -> catalogue.rename(first.id(), "x"));
		assertThrows(StoreException.class, () -> catalogue.find("nobody"));
		assertThrows(StoreException.class, () -> catalogue.rename(second.id(), " "));
		assertEquals(0, write("third", SMALL, 8).id(), "the first free number");
	}

	@Test
	void propertiesAndTextsCanBeChanged() throws Exception {
		TraceInfo first = write("one", SMALL, 8);
		TraceInfo second = write("two", SMALL, 8);
		catalogue.setProperty(first.id(), "custom.branch", "numa");
		catalogue.setProperty(first.id(), "custom.branch", "it's \"numa\"");
		catalogue.setProperty(first.id(), "losses", null);
		catalogue.setProperty(first.id(), "never there", null);
		catalogue.describe(second.id(), "the second one");
		TraceInfo changed = catalogue.list().get(0);
		assertEquals(Map.of("command", "app -n 3", "custom.branch", "it's \"numa\""), changed.properties());
		assertEquals(first.described("what for", changed.properties()), changed, "nothing else is another");
		assertEquals(INFO.properties(), catalogue.list().get(1).properties(), "other traces keep theirs");
		assertEquals("the second one", catalogue.list().get(1).description());
		try (TraceStore store = catalogue.open(first.id())) {
			assertEquals(changed, store.info());
		}
		assertThrows(StoreException.class, () -> catalogue.setProperty(7, "a", "b"));
		assertThrows(StoreException.class, () -> catalogue.describe(7, "b"));
		for (String wrong : new String[] { "", " ", " a", "x".repeat(129) }) {
			assertThrows(StoreException.class, () -> catalogue.setProperty(first.id(), wrong, "b"), wrong);
		}
	}

	@Test
	void nothingIsVisibleBeforeCommit() throws Exception {
		TraceWriter writer = catalogue.create("t");
		writer.threads(THREADS);
		writer.producers(tree(8));
		writer.cpuSets(CPU_SETS);
		writer.accesses(batch(SMALL));
		assertEquals(List.of(), catalogue.list());
		writer.close();
		assertEquals(List.of(), catalogue.list());
	}

	@Test
	void refusesWhatCannotBe() throws Exception {
		assertThrows(StoreException.class, () -> write("empty", List.of(), 8));
		Row good = SMALL.get(0);
		for (Row bad : List.of(new Row(200, 200, 2, 0, 1, 1, 0, 1, 0, 0, 0), new Row(1, 2, 12, 0, 1, 1, 0, 1, 0, 0, 0),
				new Row(1, 2, 2, 3, 1, 1, 0, 1, 0, 0, 0), new Row(1, 2, 2, 0, 1, 0, 0, 1, 0, 0, 0),
				new Row(1, 2, 2, 0, 1, 1, 0, -1, 0, 0, 0), new Row(1, 2, 2, 0, 1, -1, 3, 1, 0, 0, 0))) {
			assertThrows(StoreException.class, () -> write("bad", List.of(good, bad), 8), bad.toString());
		}
		assertEquals(List.of(), catalogue.list());
	}

	/** The share that is done, and the time that is left, are those of what is read and not of the trace. */
	@Test
	void progressEndsWhereItSaid() throws Exception {
		TraceInfo info = write("t", random(5, 30_000), 64);
		long middle = (info.startNs() + info.endNs()) / 2;
		try (TraceStore store = catalogue.open(info.id())) {
			for (AccessQuery query : List.of(AccessQuery.ALL, new AccessQuery(middle, middle + 1000, 0, Integer.MAX_VALUE),
					new AccessQuery(Long.MIN_VALUE, Long.MAX_VALUE, 5, 6), new AccessQuery(0, 1, 0, 1))) {
				long[] announced = { -1 };
				long[] worked = { 0 };
				Progress progress = new Progress() {
					@Override
					public void begin(String step, long total) {
						announced[0] = total;
					}

					@Override
					public void worked(long units) {
						worked[0] += units;
					}

					@Override
					public boolean isCancelled() {
						return false;
					}
				};
				store.visitAccesses(query, b -> {
				}, progress);
				assertTrue(Math.abs(announced[0] - worked[0]) <= 1, query + ": " + worked[0] + " of " + announced[0]);
				store.visitEvents(query, b -> {
				}, progress);
				assertTrue(Math.abs(announced[0] - worked[0] / 2) <= 1, query + ": " + worked[0] / 2 + " of " + announced[0] + " (events)");
			}
		}
	}

	/** Nothing is seen of a group before it is published, and then everything. */
	@Test
	void tracesOfAGroupAppearTogether() throws Exception {
		write("g", SMALL, 8);
		try (TraceGroup group = catalogue.group()) {
			write(group.create("g"), SMALL, 8);
			try (TraceStore store = group.open(0)) {
				assertEquals(SMALL, accesses(store, AccessQuery.ALL));
			}
			group.create("given up").close();
			write(group.create("g_Virtual"), SMALL.subList(0, 1), 8);
			assertEquals(1, catalogue.list().size());
			List<TraceInfo> published = group.publish();
			assertEquals(published, catalogue.list().subList(1, 3));
			assertEquals(List.of(file("g_2"), file("g_2_Virtual")), published.stream().map(TraceInfo::databaseName).toList());
		}
		try (TraceGroup group = catalogue.group()) {
			write(group.create("h"), SMALL, 8);
		}
		assertEquals(3, catalogue.list().size(), "not published");
		for (TraceInfo info : catalogue.list()) {
			try (TraceStore store = catalogue.open(info.id())) {
				assertEquals(info.id() == 2 ? SMALL.subList(0, 1) : SMALL, accesses(store, AccessQuery.ALL));
			}
		}
	}

	@Test
	void cacheKeepsBytes() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		try (TraceStore store = catalogue.open(info.id())) {
			assertTrue(store.readCache("k").isEmpty());
			store.writeCache("k", new byte[] { 1, 2, 3 });
			store.writeCache("k", new byte[] { 4, 0, -1 });
		}
		try (TraceStore store = catalogue.open(info.id())) {
			assertArrayEquals(new byte[] { 4, 0, -1 }, store.readCache("k").orElseThrow());
		}
	}

	@Test
	void notesAreKeptReplacedAndDeleted() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		try (TraceStore store = catalogue.open(info.id())) {
			assertArrayEquals(new byte[] { 7, 0, 9 }, store.readNote("of the writer").orElseThrow());
			assertTrue(store.readNote("k").isEmpty());
			store.writeNote("k", null); // nothing to delete
			store.writeNote("k", new byte[] { 1, 2, 3 });
			assertArrayEquals(new byte[] { 1, 2, 3 }, store.readNote("k").orElseThrow());
			store.writeNote("k", new byte[] { 4, 0, -1 });
			store.writeNote("other", new byte[0]);
			assertEquals(SMALL, accesses(store, AccessQuery.ALL));
		}
		try (TraceStore store = catalogue.open(info.id())) {
			assertArrayEquals(new byte[] { 4, 0, -1 }, store.readNote("k").orElseThrow());
			assertArrayEquals(new byte[0], store.readNote("other").orElseThrow());
			assertTrue(store.readCache("k").isEmpty(), "a note is no cache");
			store.writeNote("k", null);
			assertTrue(store.readNote("k").isEmpty());
		}
	}

	@Test
	void readingCanBeCancelled() throws Exception {
		TraceInfo info = write("t", random(1, 20_000), 64);
		AtomicBoolean cancelled = new AtomicBoolean();
		Progress progress = new Progress() {
			@Override
			public void begin(String step, long total) {
				assertEquals(20_000, total);
			}

			@Override
			public void worked(long units) {
				assertTrue(units >= 0);
			}

			@Override
			public boolean isCancelled() {
				return cancelled.get();
			}
		};
		long[] seen = { 0 };
		try (TraceStore store = catalogue.open(info.id())) {
			assertThrows(CancelledException.class, () -> store.visitAccesses(AccessQuery.ALL, b -> {
				seen[0] += b.count;
				cancelled.set(true);
			}, progress));
		}
		assertTrue(seen[0] > 0 && seen[0] < 20_000, "stopped after " + seen[0]);
	}

	@Test
	void aVisitorMayAskTheStoreAndItsErrorComesThrough() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		try (TraceStore store = catalogue.open(info.id())) {
			MemtraceException mine = new MemtraceException("mine");
			MemtraceException thrown = assertThrows(MemtraceException.class,
					() -> store.visitAccesses(AccessQuery.ALL, b -> {
						assertEquals(5, accesses(store, AccessQuery.ALL).size());
						throw mine;
					}, Progress.NONE));
			assertEquals(mine, thrown);
		}
	}

	/** Cells of {@link #tree(int)} of 4 pages, of which one was in two frames, and the trees before and after merging. */
	static final PageCells CELLS = new PageCells(new int[] { 0, 0, 0, 0, 1 },
			new long[] { 0x10000, 0x10000 + PAGE, 0x10000 + 2 * PAGE, 0x10000 + 2 * PAGE, 0xffffffffff600000L },
			new int[] { 0, 0, 0, 0, -1 }, new long[] { 7, 8, 9, 700, -1 }, new int[] { 0, 0, 1, 1, -1 });
	public static final MemoryLayout LAYOUT = new MemoryLayout(CELLS, List.of(new MemoryArea(0, 0x10000, 0x20000, "x = y"),
			new MemoryArea(1, -4096, -1, "")), Map.of(0, "p0000", 1, "p0001"), PAGE, 4, List.of("stack", "name:a'b"));

	public static MemoryTrees trees() {
		ProducerTreeBuilder physical = new ProducerTreeBuilder(PAGE);
		physical.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		physical.begin(ProducerKind.FRAMES, "frames 7-9 (3 frames)", 7 * PAGE, 10 * PAGE, 0);
		for (int frame = 7; frame < 10; frame++) {
			physical.leaf(ProducerKind.PAGE, null, frame * PAGE, (frame + 1) * PAGE, 0);
		}
		physical.end();
		physical.leaf(ProducerKind.FRAMES, "frame 2bc", 700 * PAGE, 701 * PAGE, 0);
		physical.leaf(ProducerKind.GROUP, "no known frame", 0, 0, -1);
		physical.end();
		return new MemoryTrees(tree(3), new int[] { 2, 3, 4, 4, 6 }, physical.build(), new int[] { 4, 3, 2, 5, 6 });
	}

	private TraceInfo writeBoth() throws MemtraceException {
		try (TraceWriter writer = catalogue.create("both")) {
			writer.threads(THREADS);
			writer.structures(STRUCTURES);
			writer.cpuSets(CPU_SETS);
			writer.trees(LAYOUT, trees());
			List<Row> rows = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				rows.add(new Row(100 * i, 100 * i + 50, i % 5, 0, 1, 1, i, 1, 0, 0, 0));
			}
			writer.accesses(batch(rows));
			return writer.commit(INFO, "{}", Progress.NONE);
		}
	}

	private static List<Integer> producers(TraceStore store, AccessQuery query) throws MemtraceException {
		List<Integer> events = events(store, query).stream().map(Event::producer).distinct().toList();
		List<Integer> accesses = accesses(store, query).stream().map(Row::producer).distinct().toList();
		assertEquals(accesses, events);
		return accesses;
	}

	@Test
	void bothTreesFromOneTrace() throws Exception {
		TraceInfo info = writeBoth();
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(EnumSet.allOf(AddressSpace.class), store.addressSpaces());
			assertEquals(List.of(2, 3, 4, 6), producers(store, AccessQuery.ALL));
			TraceStore physical = store.in(AddressSpace.PHYSICAL);
			assertEquals("frame 9", physical.producers().name(4));
			assertEquals(9 * PAGE, physical.producers().startAddress(4));
			assertEquals(List.of(4, 3, 2, 5, 6), producers(physical, AccessQuery.ALL));
			assertEquals(List.of(4, 3, 2), producers(physical, AccessQuery.ALL.subtree(physical.producers(), 1)));
			assertEquals(List.of(4, 2), producers(physical, AccessQuery.ALL.subtree(physical.producers(), 1).window(0, 1000)).stream()
					.filter(p -> p != 3).toList());
			assertEquals(List.of(3, 5), producers(physical, new AccessQuery(0, 1000, 3, 6)).stream().filter(p -> p != 4).toList());
			assertEquals(store.in(AddressSpace.VIRTUAL).producers().size(), physical.in(AddressSpace.VIRTUAL).producers().size());
			physical.writeCache("k", new byte[] { 1 });
			assertTrue(store.readCache("k").isEmpty(), "each tree has its own");
			assertArrayEquals(new byte[] { 1 }, physical.readCache("k").orElseThrow());
			physical.close();
			assertArrayEquals(trees().virtualLeaf(), store.producersOfCells());
			assertArrayEquals(trees().physicalLeaf(), store.in(AddressSpace.PHYSICAL).producersOfCells());
			MemoryLayout layout = store.layout().orElseThrow();
			assertEquals(LAYOUT.rules(), layout.rules());
			assertEquals(LAYOUT.areas(), layout.areas());
			assertEquals(LAYOUT.images(), layout.images());
			assertEquals(4, layout.fanout());
			assertArrayEquals(CELLS.frame(), layout.cells().frame());
			assertArrayEquals(CELLS.address(), layout.cells().address());
			assertArrayEquals(CELLS.structure(), layout.cells().structure());
			assertArrayEquals(CELLS.image(), layout.cells().image());
			assertArrayEquals(CELLS.node(), layout.cells().node());
		}
	}

	@Test
	void treesCanBeReplaced() throws Exception {
		TraceInfo info = writeBoth();
		ProducerTreeBuilder b = new ProducerTreeBuilder(PAGE);
		b.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
		b.leaf(ProducerKind.GROUP, "odd (3 blocks)", 0, 0, -1);
		b.leaf(ProducerKind.GROUP, "even (2 blocks)", 0, 0, -1);
		b.end();
		MemoryTrees merged = new MemoryTrees(b.build(), new int[] { 1, 2, 1, 2, 1 }, null, null);
		List<Row> before;
		try (TraceStore store = catalogue.open(info.id())) {
			before = accesses(store, AccessQuery.ALL);
			store.writeCache("k", new byte[] { 1 });
			Progress cancelled = Progress.cancelledWhen(() -> true);
			if (cancelsReplacement()) {
				assertThrows(CancelledException.class, () -> store.replaceTrees(merged, List.of("x"), cancelled));
			}
		}
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(before, accesses(store, AccessQuery.ALL), "cancelled: as it was");
			assertTrue(store.readCache("k").isPresent());
			store.replaceTrees(merged, List.of("one", "two"), Progress.NONE);
		}
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(List.of("one", "two"), store.layout().orElseThrow().rules());
			assertEquals(3, store.producers().size());
			assertEquals(EnumSet.of(AddressSpace.VIRTUAL), store.addressSpaces());
			assertThrows(MemtraceException.class, () -> store.in(AddressSpace.PHYSICAL));
			assertEquals(List.of(1, 2), producers(store, AccessQuery.ALL));
			assertEquals(List.of(2), producers(store, AccessQuery.ALL.subtree(store.producers(), 2)));
			List<Row> after = accesses(store, AccessQuery.ALL);
			assertEquals(before.stream().map(Row::writes).toList(), after.stream().map(Row::writes).toList());
			assertTrue(store.readCache("k").isEmpty(), "what was derived is gone");
			store.replaceTrees(trees(), List.of(), Progress.NONE);
		}
		try (TraceStore store = catalogue.open(info.id())) {
			assertEquals(before, accesses(store, AccessQuery.ALL), "undone");
			assertEquals(7, store.info().producers());
			assertEquals(EnumSet.allOf(AddressSpace.class), store.addressSpaces());
		}
	}

	/** Whether it takes long enough to be cancelled. */
	boolean cancelsReplacement() {
		return true;
	}
}
