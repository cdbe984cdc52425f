// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.analysis.SyntheticEvents;
import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.table.EventRows.Query;
import org.memtrace.analysis.table.EventRows.Row;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.storage.Stores;

/** Pages of the rows of a database, against all rows in memory. */
class EventRowsTest {
	@TempDir
	static Path directory;
	private static TraceCatalogue catalogue;
	private static TraceStore store;
	private static AccessTable table;
	private static List<Row> all;
	private static long start;
	private static long end;

	@BeforeAll
	static void open() throws Exception {
		catalogue = Stores.openCatalogue(directory, notice -> { });
		try (TraceWriter w = catalogue.create("matmul")) {
			SyntheticTrace.write(w, 256, 30);
		}
		store = catalogue.open(catalogue.list().get(0).id());
		table = AccessTable.load(store, Progress.NONE);
		start = store.info().startNs();
		end = store.info().endNs();
		all = new ArrayList<>();
		rows(Map.of()).visit(all::add, Progress.NONE);
	}

	@AfterAll
	static void close() {
		store.close();
		catalogue.close();
	}

	private static Query query(Map<EventColumn, String> cells, EventColumn sort, boolean descending) {
		return new Query(start, end, -1, FilterSet.NONE, cells, sort, descending);
	}

	private static EventRows rows(Map<EventColumn, String> cells) throws MemtraceException {
		return TraceRows.of(store, table, null, query(cells, EventColumn.START, false), Progress.NONE);
	}

	private static EventRows scanned(Query query) throws MemtraceException {
		EventRows rows = TraceRows.of(store, table, null, query, Progress.NONE);
		rows.scan(Progress.NONE);
		assertTrue(rows.isComplete());
		return rows;
	}

	/** All blocks, fetched in a random order. */
	private static List<Row> paged(EventRows rows, long seed) throws MemtraceException {
		List<List<Row>> blocks = new ArrayList<>();
		List<Integer> order = new ArrayList<>();
		for (int b = 0; (long) b * EventRows.BLOCK < rows.count(); b++) {
			blocks.add(null);
			order.add(b);
		}
		Collections.shuffle(order, new Random(seed));
		for (int b : order) {
			blocks.set(b, rows.block(b));
		}
		List<Row> result = blocks.stream().flatMap(List::stream).toList();
		assertEquals(rows.count(), result.size());
		return result;
	}

	/** The first and last block and some between. */
	private static void compareSome(List<Row> wanted, EventRows rows, long seed, String message) throws MemtraceException {
		assertEquals(wanted.size(), rows.count(), message);
		int blocks = (wanted.size() + EventRows.BLOCK - 1) / EventRows.BLOCK;
		Random random = new Random(seed);
		for (int b : new int[] {0, blocks - 1, random.nextInt(blocks), random.nextInt(blocks), random.nextInt(blocks)}) {
			assertEquals(wanted.subList(b * EventRows.BLOCK, Math.min(wanted.size(), (b + 1) * EventRows.BLOCK)), rows.block(b), message);
		}
	}

	private static List<Row> expected(Predicate<Row> p) {
		return all.stream().filter(p).toList();
	}

	@Test
	void pagesHaveAllRowsInOrder() throws Exception {
		assertEquals(store.accessCount(), all.size());
		assertTrue(all.size() > 64 * EventRows.BLOCK, "enough for blocks that are spread");
		EventRows rows = scanned(query(Map.of(), EventColumn.START, false));
		assertEquals(all, paged(rows, 1));
		assertEquals(all.size(), rows.read());
		List<Row> backwards = new ArrayList<>(all);
		Collections.reverse(backwards);
		assertEquals(backwards, paged(scanned(query(Map.of(), EventColumn.START, true)), 2));
		assertEquals(List.of(), rows.block(1_000_000));
	}

	@Test
	void windowSubtreeAndFilters() throws Exception {
		int b = 0;
		while (!store.producers().name(b).equals("B")) {
			b++;
		}
		int first = b;
		int last = store.producers().subtreeEnd(b);
		long from = start + 55_000_000;
		long to = start + 123_456_789;
		EventRows rows = scanned(new Query(from, to, b, FilterSet.NONE, Map.of(), EventColumn.START, false));
		assertEquals(expected(r -> r.startNs() < to && r.endNs() > from && r.producer() >= first && r.producer() < last),
				paged(rows, 3));
		FilterSet filters = FilterSet.of(TraceFilter.only(Condition.thread(2)), TraceFilter.hide(Condition.type("Private_Write")));
		EventRows filtered = scanned(new Query(start, end, -1, filters, Map.of(), EventColumn.START, false));
		AccessTable same = filters.apply(table, store.structures(), Progress.NONE);
		assertEquals(same.records(), filtered.count());
		long writes = 0;
		for (Row r : paged(filtered, 4)) {
			assertEquals(2, r.thread());
			writes += r.writes();
		}
		assertEquals(same.details(0).writes(), writes);
		assertEquals(filtered.count(), scanned(new Query(start, end, -1, filters, Map.of(), EventColumn.READS, true)).count());
	}

	/** The Gantt chart shows its record in the table. */
	@Test
	void recordsAreFound() throws Exception {
		EventRows rows = scanned(query(Map.of(), EventColumn.START, false));
		Random random = new Random(4711);
		for (int i = 0; i < 20; i++) {
			Row r = all.get(random.nextInt(all.size()));
			long at = rows.find(r.producer(), r.startNs(), r.endNs(), Progress.NONE);
			int wanted = 0;
			while (all.get(wanted).producer() != r.producer() || all.get(wanted).startNs() != r.startNs()) {
				wanted++;
			}
			assertEquals(wanted, at, "seed 4711, " + r);
			assertEquals(-1, rows.find(r.producer(), r.startNs(), r.endNs() + 1, Progress.NONE));
		}
		assertEquals(0, rows.find(0, all.get(0).startNs(), all.get(0).endNs(), Progress.NONE), "anything below the root");
		assertEquals(-1, rows.find(0, end + 1, end + 2, Progress.NONE));
	}

	/** The last row that has begun by a time, in both orders of time; in the order of another column there is none. */
	@Test
	void rowsOfATimeAreFound() throws Exception {
		Random random = new Random(1123);
		for (boolean descending : new boolean[] {false, true}) {
			EventRows rows = scanned(query(Map.of(EventColumn.READS, ">0"), EventColumn.START, descending));
			List<Row> inOrder = new ArrayList<>();
			rows.visit(inOrder::add, Progress.NONE);
			long first = inOrder.stream().mapToLong(Row::startNs).min().orElseThrow();
			List<Long> times = new ArrayList<>(List.of(Long.MAX_VALUE, end, first, start - 1, first - 1));
			for (int i = 0; i < 60; i++) {
				times.add(all.get(random.nextInt(all.size())).startNs() + random.nextInt(3) - 1);
			}
			for (long t : times) {
				long latest = inOrder.stream().mapToLong(Row::startNs).filter(s -> s <= t).max().orElse(Long.MIN_VALUE);
				long at = rows.lastUntil(t);
				String of = "seed 1123, " + t + (descending ? " descending" : "");
				if (latest == Long.MIN_VALUE) {
					assertEquals(-1, at, of);
					continue;
				}
				assertEquals(latest, inOrder.get((int) at).startNs(), of);
				long after = at + (descending ? -1 : 1);
				assertTrue(after < 0 || after == inOrder.size() || inOrder.get((int) after).startNs() > t, of);
			}
		}
		assertEquals(-1, scanned(query(Map.of(), EventColumn.READS, false)).lastUntil(end));
	}

	/** In whatever order and behind whatever filters the rows are: of records with equal times and producers the earliest. */
	@Test
	void recordsAreFoundInAnyOrder() throws Exception {
		Random random = new Random(20261123);
		for (EventColumn sort : List.of(EventColumn.START, EventColumn.READS, EventColumn.WRITES, EventColumn.THREAD, EventColumn.PRODUCER)) {
			for (boolean descending : new boolean[] {false, true}) {
				EventRows rows = scanned(query(Map.of(EventColumn.READS, ">0"), sort, descending));
				List<Row> inOrder = new ArrayList<>();
				rows.visit(inOrder::add, Progress.NONE);
				for (int i = 0; i < 20; i++) {
					Row r = all.get(random.nextInt(all.size()));
					String of = "seed 20261123, by " + sort + (descending ? " descending, " : ", ") + r;
					Row wanted = inOrder.stream().filter(o -> o.producer() == r.producer() && o.startNs() == r.startNs() && o.endNs() == r.endNs())
							.min(Comparator.comparingLong(Row::id)).orElse(null);
					assertEquals(wanted == null ? -1 : inOrder.indexOf(wanted), rows.find(r.producer(), r.startNs(), r.endNs(), Progress.NONE), of);
					assertEquals(-1, rows.find(r.producer(), r.startNs(), r.endNs() + 1, Progress.NONE), of);
				}
				assertEquals(-1, rows.find(0, end + 1, end + 2, Progress.NONE), sort + ", no such time");
			}
		}
	}

	/** One row of a thousand: blocks keep ids. */
	@Test
	void cellsAreFiltered() throws Exception {
		List<Map<EventColumn, String>> filters = List.of(Map.of(EventColumn.PRODUCER, "^C.*page 3\\b"),
				Map.of(EventColumn.STRUCTURE, "^stack", EventColumn.THREAD, "!main"),
				Map.of(EventColumn.START, "60..80", EventColumn.TYPE, "shared read"), Map.of(EventColumn.CPU, "2"),
				Map.of(EventColumn.READS, ">1", EventColumn.NODE, ">=0"), Map.of(EventColumn.END, "> 0.2999 s"));
		EventRows any = rows(Map.of());
		for (Map<EventColumn, String> cells : filters) {
			List<Row> wanted = expected(r -> cells.entrySet().stream().allMatch(e -> {
				try {
					CellFilter f = CellFilter.parse(e.getKey(), e.getValue(), false);
					return switch (e.getKey().id()) {
					case "start_ns" -> f.test((double) (r.startNs() - start));
					case "end_ns" -> f.test((double) (r.endNs() - start));
					case "reads" -> f.test((double) r.reads());
					case "node" -> r.node() >= 0 && f.test((double) r.node());
					case "cpu" -> f.test((double) Integer.parseInt(any.text(EventColumn.CPU, r)));
					default -> f.test(any.text(e.getKey(), r));
					};
				} catch (MemtraceException x) {
					throw new AssertionError(x);
				}
			}));
			assertFalse(wanted.isEmpty() || wanted.size() == all.size(), cells + ": " + wanted.size());
			assertEquals(wanted, paged(scanned(query(cells, EventColumn.START, false)), 5), cells.toString());
		}
		assertThrows(MemtraceException.class, () -> rows(Map.of(EventColumn.THREAD, "(")));
		MemtraceException e = assertThrows(MemtraceException.class, () -> rows(Map.of(EventColumn.READS, "many")));
		assertTrue(e.getMessage().contains("'many' is no comparison"), e.getMessage());
		assertThrows(MemtraceException.class, () -> rows(Map.of(EventColumn.READS, "5 ms")));
	}

	@Test
	void otherOrders() throws Exception {
		EventRows any = rows(Map.of());
		Map<EventColumn, Comparator<Row>> orders = Map.of(EventColumn.WRITES, Comparator.comparingLong(Row::writes),
				EventColumn.PRODUCER, Comparator.comparingInt(Row::producer), EventColumn.END, Comparator.comparingLong(Row::endNs),
				EventColumn.STRUCTURE, Comparator.comparing(r -> any.text(EventColumn.STRUCTURE, r), String.CASE_INSENSITIVE_ORDER),
				EventColumn.THREAD, Comparator.comparing(r -> any.text(EventColumn.THREAD, r), String.CASE_INSENSITIVE_ORDER));
		for (Map.Entry<EventColumn, Comparator<Row>> e : orders.entrySet()) {
			for (boolean down : new boolean[] {false, true}) {
				List<Row> wanted = new ArrayList<>(all);
				wanted.sort((down ? e.getValue().reversed() : e.getValue()).thenComparingLong(Row::id));
				EventRows rows = scanned(query(Map.of(), e.getKey(), down));
				compareSome(wanted, rows, 6, e.getKey() + " " + down);
				EventRows few = TraceRows.of(store, table, null, query(Map.of(), e.getKey(), down), 3000, Progress.NONE);
				few.scan(Progress.NONE);
				assertEquals(all.size(), few.matched());
				compareSome(wanted.subList(0, 3000), few, 7, e.getKey() + " of many");
			}
		}
	}

	/** What has been read stays when the rest is not wanted. */
	@Test
	void rowsAreThereBeforeAllAreRead() throws Exception {
		EventRows rows = rows(Map.of());
		boolean[] stop = new boolean[1];
		assertThrows(CancelledException.class, () -> rows.scan(new Progress() {
			@Override
			public boolean isCancelled() {
				if (rows.count() > 1000) {
					try {
						assertEquals(all.subList(256, 512), rows.block(1));
					} catch (MemtraceException e) {
						throw new AssertionError(e);
					}
					stop[0] = true;
				}
				return stop[0];
			}

			@Override
			public void begin(String step, long units) {
			}

			@Override
			public void worked(long units) {
			}
		}));
		assertFalse(rows.isComplete());
		assertTrue(rows.count() > 1000);
		assertEquals(all.subList(0, (int) rows.count()), paged(rows, 8));
		assertEquals(0, TraceRows.of(store, table, null, query(Map.of(), EventColumn.READS, true), Progress.NONE).count());
	}

	@Test
	void findsTimesAndWritesCsv() throws Exception {
		EventRows rows = scanned(query(Map.of(EventColumn.THREAD, "worker"), EventColumn.START, false));
		long at = rows.firstFrom(start + 100_000_000);
		Row row = rows.block(at / EventRows.BLOCK).get((int) (at % EventRows.BLOCK));
		assertTrue(row.startNs() >= start + 100_000_000);
		List<Row> before = paged(rows, 9).subList(0, (int) at);
		assertTrue(before.stream().allMatch(r -> r.startNs() < start + 100_000_000));
		assertEquals(-1, rows.firstFrom(end + 1));
		for (EventColumn sort : new EventColumn[] {EventColumn.START, EventColumn.READS}) {
			EventRows some = scanned(query(Map.of(EventColumn.STRUCTURE, "^A$"), sort, false));
			StringBuilder csv = new StringBuilder();
			some.toCsv(List.of(EventColumn.START, EventColumn.STRUCTURE, EventColumn.READS, EventColumn.THREAD), csv, Progress.NONE);
			List<String> lines = csv.toString().lines().toList();
			assertEquals("start_ns,structure,reads,thread", lines.get(0));
			assertEquals(some.count() + 1, lines.size());
			Row first = some.block(0).get(0);
			assertEquals(first.startNs() + ",A," + first.reads() + "," + some.text(EventColumn.THREAD, first), lines.get(1));
		}
	}

	/** FrameSoc's events of the same database: other columns, parameters. */
	@Test
	void eventsOfOtherTraces() throws Exception {
		OtherRows rows = new OtherRows(store, query(Map.of(EventColumn.EVENT_TYPE, "shared_read"), EventColumn.START, false), null, 100,
				Progress.NONE);
		rows.scan(Progress.NONE);
		assertEquals(EventColumn.OF_EVENTS, rows.columns());
		List<Row> read = paged(rows, 10);
		assertTrue(read.size() > EventRows.BLOCK);
		assertTrue(read.stream().allMatch(r -> rows.text(EventColumn.EVENT_TYPE, r).startsWith("Shared_Read")));
		assertEquals("Variable", rows.text(EventColumn.CATEGORY, read.get(0)));
		assertTrue(read.get(0).parameters().contains("="), read.get(0).parameters());
		OtherRows sorted = new OtherRows(store, query(Map.of(), EventColumn.VALUE, true), null, 100, Progress.NONE);
		sorted.scan(Progress.NONE);
		List<Row> top = paged(sorted, 11);
		assertEquals(100, top.size());
		double most = all.stream().mapToLong(r -> Math.max(r.reads(), r.writes())).max().orElseThrow();
		assertEquals(most, top.get(0).value());
		OtherRows parameters = new OtherRows(store, query(Map.of(EventColumn.PARAMETERS, "!."), EventColumn.START, false), null, 100,
				Progress.NONE);
		parameters.scan(Progress.NONE);
		assertEquals(0, parameters.count(), "all have parameters");
	}

	/** The filters of all views are filters of this table too, also where they need counts. */
	@Test
	void filtersOfAllViewsForEventsOfOtherTraces() throws Exception {
		EventTable events = EventTable.load(store, Progress.NONE);
		Row some = paged(other(FilterSet.NONE, null), 12).get(700);
		String name = store.producers().name(some.producer());
		for (FilterSet filters : List.of(FilterSet.of(TraceFilter.only(Condition.type("Shared_Read"))),
				FilterSet.of(TraceFilter.hide(Condition.type("Shared_Read")), TraceFilter.only(Condition.cpu(1))),
				FilterSet.of(TraceFilter.only(new Condition.Name("^" + java.util.regex.Pattern.quote(name) + "$"))),
				FilterSet.of(TraceFilter.hide(Condition.type("Private_Read")),
						TraceFilter.only(new Condition.Count(Condition.Per.PAGE, 20, 30))))) {
			int left = filters.apply(events, Progress.NONE).size();
			assertTrue(left > 0 && left < events.size(), filters + " leave " + left);
			assertEquals(left, paged(other(filters, events), 13).size(), filters.toString());
		}
	}

	private static OtherRows other(FilterSet filters, EventTable events) throws MemtraceException {
		OtherRows rows = new OtherRows(store, new Query(start, end, -1, filters, Map.of(), EventColumn.START, false), events, 100,
				Progress.NONE);
		rows.scan(Progress.NONE);
		return rows;
	}

	@Test
	void aLinkEndsAtAProducerWithAName() throws Exception {
		ProducerTreeBuilder b = new ProducerTreeBuilder(0);
		b.leaf(ProducerKind.OTHER, "rank 0", 0, 0, -1);
		b.leaf(ProducerKind.OTHER, "rank 1", 0, 0, -1);
		OtherRows rows = new OtherRows(new SyntheticEvents().store(b.build(), 0, 100),
				query(Map.of(), EventColumn.START, false), null, 100, Progress.NONE);
		assertEquals("rank 1", rows.text(EventColumn.VALUE, event(SyntheticEvents.MESSAGE, 1)));
		assertEquals("7", rows.text(EventColumn.VALUE, event(SyntheticEvents.MESSAGE, 7)), "no such producer");
		assertEquals("1", rows.text(EventColumn.VALUE, event(SyntheticEvents.POWER, 1)));
		assertEquals("", rows.text(EventColumn.VALUE, event(SyntheticEvents.TICK, 0)));
	}

	private static Row event(int type, double value) {
		return new Row(0, 10, 20, 0, -1, -1, 0, 0, 0, -1, 0, 0, -1, -1, -1, type, value, 0, "");
	}

	@Test
	void orderOfManyInLittleMemory() throws Exception {
		long seed = 7;
		Random random = new Random(seed);
		for (int range : new int[] {1, 10, Integer.MAX_VALUE}) {
			RowOrder order = new RowOrder(5000);
			long[][] rows = new long[100_000][];
			for (int i = 0; i < rows.length; i++) {
				rows[i] = new long[] {random.nextInt(range) - (long) range / 2, i};
				order.add(rows[i][0], i);
			}
			java.util.Arrays.sort(rows, Comparator.<long[]>comparingLong(r -> r[0]).thenComparingLong(r -> r[1]));
			int[] expected = java.util.Arrays.stream(rows).limit(5000).mapToInt(r -> (int) r[1]).toArray();
			assertArrayEquals(expected, order.finish(Progress.NONE), "keys in " + range);
		}
	}
}
