// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.build.Preparation;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.FrameSocRows;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.OtherEventsContract;
import org.memtrace.storage.PostgresServer;
import org.memtrace.storage.StoreContract;
import org.memtrace.storage.Stores;
import org.memtrace.storage.dbms.Sqlite;

/** A trace goes through all kinds of databases and comes back the same. */
class TableCopyTest {
	@TempDir
	Path directory;

	private List<CataloguePlace> places() throws Exception {
		return List.of(CataloguePlace.of(directory.resolve("sqlite")), PostgresServer.get().newDatabase(),
				CataloguePlace.of(directory.resolve("h2")),
				PostgresServer.get().newDatabase(), CataloguePlace.of(directory.resolve("again")));
	}

	private static TraceCatalogue open(CataloguePlace place) throws MemtraceException {
		return Stores.openCatalogue(place, place.toString().endsWith("h2") ? DatabaseKind.H2 : DatabaseKind.SQLITE, notice -> {
			throw new AssertionError(notice);
		});
	}

	private interface Filler {
		void fill(TraceWriter writer) throws MemtraceException;
	}

	private static TraceInfo write(TraceCatalogue catalogue, Filler filler) throws MemtraceException {
		TraceInfo info;
		try (TraceWriter writer = catalogue.create("app")) {
			filler.fill(writer);
			info = writer.commit(StoreContract.INFO, "{\"rows\":1}", Progress.NONE);
		}
		try (TraceStore store = catalogue.open(info.id())) {
			store.writeNote("markers", new byte[] { 0, 9, (byte) 200 });
		}
		catalogue.rename(info.id(), "a name, \\ 'and' \"more\"");
		catalogue.setProperty(info.id(), "who", "anna\tand\nwalt");
		return info;
	}

	private static void accesses(TraceWriter writer) throws MemtraceException {
		writer.threads(StoreContract.THREADS);
		writer.structures(StoreContract.STRUCTURES);
		writer.cpuSets(StoreContract.CPU_SETS);
		writer.intervals(List.of(new Interval(0, 100, 200, 100, 5, 1, 2, "stop")));
		writer.threadTimes(StoreContract.TIMES);
		writer.trees(StoreContract.LAYOUT, StoreContract.trees());
		List<StoreContract.Row> rows = new ArrayList<>();
		for (StoreContract.Row r : StoreContract.random(3, 4000)) {
			rows.add(new StoreContract.Row(r.start(), r.end(), r.producer() % 5, r.thread(), r.cpuSet(), r.reads(), r.writes(), r.sharing(),
					r.node(), r.flags(), r.ip()));
		}
		writer.accesses(StoreContract.batch(rows));
	}

	private static void events(TraceWriter writer) throws MemtraceException {
		writer.eventTypes(OtherEventsContract.TYPES);
		EventBatch batch = new EventBatch(1000);
		int[] sets = { 0, writer.parameters(0, Map.of("tag", "a\tb\\\n")),
				writer.parameters(0, new TreeMap<>(Map.of("x", "1", "y", "", "z", "\u00e9"))) };
		for (int i = 0; i < 1000; i++) {
			batch.add(i, 0, 2, 100 + i, 110 + i, i % 3 == 0 ? 0.1 * i : i, 0);
			batch.setParameters(sets[i % 3]);
		}
		writer.events(batch);
	}

	private static String told(TraceStore store) throws MemtraceException {
		StringBuilder b = new StringBuilder();
		b.append(store.threads()).append(store.structures()).append(store.cpuSets()).append(store.intervals()).append(store.eventTypes())
				.append(store.importReport()).append(store.accessCount()).append(store.addressSpaces()).append(store.threadTimes().size());
		for (int p = 0; p < store.producers().size(); p++) {
			b.append(store.producers().name(p)).append(store.producers().parent(p));
		}
		b.append(StoreContract.accesses(store, AccessQuery.ALL)).append(StoreContract.events(store, AccessQuery.ALL));
		b.append(store.eventParameters(new long[] { 0, 1, 2, 5, 7 }));
		return b.toString();
	}

	/** FrameSoc's tables, as any tool reads them. */
	private static List<String> rows(TraceStore store) throws Exception {
		List<String> found = new ArrayList<>();
		try (Connection db = SqlTraceStore.stored(store).database().scan()) {
			for (String table : List.of("EVENT", "EVENT_PARAM", "EVENT_TYPE", "EVENT_PARAM_TYPE", "EVENT_PRODUCER")) {
				try (ResultSet row = db.createStatement().executeQuery("SELECT * FROM " + table + " ORDER BY ID")) {
					while (row.next()) {
						StringBuilder text = new StringBuilder(table);
						for (int c = 1; c <= row.getMetaData().getColumnCount(); c++) {
							Object value = row.getObject(c);
							text.append('|').append(value instanceof Number n ? Double.toString(n.doubleValue()) : String.valueOf(value));
						}
						found.add(text.toString());
					}
				}
			}
		}
		return found;
	}

	private void aroundTheWorld(Filler filler) throws Exception {
		List<CataloguePlace> places = places();
		TraceCatalogue first = open(places.get(0));
		int id = write(first, filler).id();
		String told;
		List<String> rows;
		try (TraceStore store = first.open(id)) {
			told = told(store);
			rows = rows(store);
		}
		assertTrue(rows.size() > 20);
		for (int i = 1; i < places.size(); i++) {
			TraceInfo copy;
			TraceInfo before = open(places.get(i - 1)).list().get(0);
			try (TraceCatalogue from = open(places.get(i - 1)); TraceCatalogue to = open(places.get(i)); TraceStore store = from.open(before.id())) {
				copy = to.add(store, Progress.NONE);
			}
			assertEquals(before.stored(0, before.alias(), copy.databaseName(), before.events(), before.producers()), copy);
			try (TraceCatalogue to = open(places.get(i)); TraceStore store = to.open(copy.id())) {
				assertEquals(List.of(copy), to.list());
				List<String> problems = new ArrayList<>();
				store.verify(problems::add, Progress.NONE);
				assertEquals(List.of(), problems);
				assertEquals(told, told(store), places.get(i).toString());
				assertEquals(rows, rows(store), places.get(i).toString());
				assertArrayEquals(new byte[] { 0, 9, (byte) 200 }, store.readNote("markers").orElseThrow());
				assertTrue(store.accessCount() == 0 || Preparation.save(store, Progress.NONE), "sums are made anew");
			}
		}
	}

	@Test
	void accessesWithRowsForFrameSoc() throws Exception {
		aroundTheWorld(TableCopyTest::accesses);
	}

	@Test
	void accessesAlone() throws Exception {
		aroundTheWorld(writer -> {
			writer.frameSocRows(FrameSocRows.NO);
			accesses(writer);
		});
	}

	@Test
	void accessesAndOtherEvents() throws Exception {
		aroundTheWorld(writer -> {
			accesses(writer);
			events(writer);
		});
	}

	@Test
	void otherEventsAlone() throws Exception {
		aroundTheWorld(writer -> {
			writer.producers(OtherEventsContract.tree());
			events(writer);
		});
	}

	/** An access without a thread adds event types. */
	@Test
	void accessesOfUnknownThreads() throws Exception {
		aroundTheWorld(writer -> {
			writer.threads(StoreContract.THREADS);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.producers(StoreContract.tree(8));
			AccessBatch batch = new AccessBatch(4);
			batch.add(100, 200, 2, AccessBatch.NO_THREAD, -1, 1, 0, 1, -1, 0, 0);
			writer.accesses(batch);
			events(writer);
		});
	}

	@Test
	void cancelledLeavesNothingAndDamageIsNotCopied() throws Exception {
		List<CataloguePlace> places = places();
		int id;
		try (TraceCatalogue catalogue = open(places.get(0))) {
			id = write(catalogue, TableCopyTest::accesses).id();
		}
		for (CataloguePlace place : places.subList(1, 3)) {
			try (TraceCatalogue from = open(places.get(0)); TraceCatalogue to = open(place); TraceStore store = from.open(id)) {
				AtomicInteger steps = new AtomicInteger();
				assertThrows(CancelledException.class, () -> to.add(store, new Progress() {
					@Override
					public void begin(String step, long total) {
						steps.incrementAndGet();
					}

					@Override
					public void worked(long units) {
						// not shown
					}

					@Override
					public boolean isCancelled() {
						return steps.get() > 30;
					}
				}));
				assertEquals(List.of(), to.list());
				Path file = places.get(0).directory().resolve(store.info().databaseName());
				try (Connection db = Sqlite.change(file)) {
					Sqlite.execute(db, "UPDATE MT_INTERVAL SET FAULTS = FAULTS + 1");
				}
				String message = assertThrows(StoreException.class, () -> to.add(store, Progress.NONE)).getMessage();
				assertTrue(message.endsWith("its table MT_INTERVAL is not what was written"), message);
				assertEquals(List.of(), to.list());
				try (Connection db = Sqlite.change(file)) {
					Sqlite.execute(db, "UPDATE MT_INTERVAL SET FAULTS = FAULTS - 1");
				}
			}
		}
		try (Stream<Path> files = Files.list(directory.resolve("h2"))) {
			assertEquals(List.of("SOCTRACE_SYSTEM_DB"), files.map(f -> f.getFileName().toString()).toList());
		}
	}

	@Test
	void aFileBecomesATraceOfTheServer() throws Exception {
		Path file = directory.resolve("own.db");
		try (TraceWriter writer = Stores.createFile(file, n -> {
		})) {
			accesses(writer);
			writer.commit(StoreContract.INFO, null, Progress.NONE);
		}
		try (TraceCatalogue to = open(PostgresServer.get().newDatabase())) {
			assertEquals("own", to.add(file, Progress.NONE).databaseName());
			try (TraceStore store = to.open(0); TraceStore original = Stores.openFile(file)) {
				assertEquals(told(original), told(store));
			}
		}
	}
}
