// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.export.ParquetExport;
import org.memtrace.analysis.export.ParquetFolder;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.sql.EngineForTests;
import org.memtrace.sql.FolderRows;
import org.memtrace.storage.dbms.Sqlite;

/** A Parquet folder as a trace answers what the database answers that it was exported from. */
class FolderStoreTest {
	private static final List<BitSet> FEW = List.of(StoreContract.cpus(1), StoreContract.cpus(3), StoreContract.cpus(0, 65));
	/** So many that they are not numbered by the engine. */
	private static final List<BitSet> MANY = Stream.concat(FEW.stream(), IntStream.range(100, 400).mapToObj(i -> StoreContract.cpus(i)))
			.toList();

	@TempDir
	Path directory;
	private Path engine;
	private int folders;

	@BeforeEach
	void engine() {
		engine = EngineForTests.find();
	}

	private Path export(TraceStore store) throws Exception {
		Path folder = Files.createDirectory(directory.resolve("folder" + folders++));
		assertTrue(ParquetExport.byMemory(store, AccessTable.load(store, Progress.NONE), AccessFilter.of(AccessQuery.ALL), folder, true,
				Progress.NONE));
		return folder;
	}

	private TraceStore open(Path folder) throws MemtraceException {
		ParquetFolder f = ParquetFolder.open(folder);
		return Stores.openFolder(folder.resolve(ParquetFolder.REST), new FolderRows(engine, directory.resolve("cache"), f.path(),
				f.info().pageSizeBytes()));
	}

	private TraceCatalogue catalogue() throws Exception {
		return Stores.openCatalogue(directory.resolve("a catalogue"), notice -> {
			throw new AssertionError(notice);
		});
	}

	private interface Filler {
		void fill(TraceWriter writer) throws MemtraceException;
	}

	private static TraceInfo write(TraceCatalogue catalogue, Filler filler) throws MemtraceException {
		try (TraceWriter writer = catalogue.create("app")) {
			filler.fill(writer);
			return writer.commit(StoreContract.INFO, "{\"rows\":1}", Progress.NONE);
		}
	}

	/** With each kind of what rows of Parquet files do not have: places of writes after reads, levels of memory, cells of one page. */
	private static void accesses(TraceWriter writer, List<BitSet> cpuSets) throws MemtraceException {
		writer.threads(StoreContract.THREADS);
		writer.structures(StoreContract.STRUCTURES);
		writer.cpuSets(cpuSets);
		writer.threadTimes(StoreContract.TIMES);
		writer.trees(StoreContract.LAYOUT, StoreContract.trees());
		List<StoreContract.Row> rows = StoreContract.random(3, 4000);
		AccessBatch batch = new AccessBatch(rows.size());
		for (StoreContract.Row r : rows) {
			int n = batch.count;
			int read = r.reads() == 0 || n % 5 == 0 ? -1 : n % StoreContract.PAGE;
			int write = r.writes() == 0 || n % 3 == 0 ? -1 : n * 7 % StoreContract.PAGE;
			batch.add(r.start(), r.end(), r.producer() % 5, r.thread(), r.cpuSet(), r.reads(), r.writes(), n % 6 == 0 ? 0 : r.sharing(), r.node(),
					r.flags() | (n % 11 == 0 ? 16 : 0), r.ip(), read, write, n % 4 == 0 ? -1 : n * 13L);
		}
		writer.accesses(batch);
	}

	private static String told(TraceStore store) throws MemtraceException {
		StringBuilder b = new StringBuilder();
		TraceInfo i = store.info();
		b.append(i.alias()).append(i.properties()).append(i.recordedAt()).append(i.cpus()).append(i.description()).append(i.events());
		b.append(store.threads()).append(store.structures()).append(store.cpuSets()).append(store.intervals()).append(store.eventTypes())
				.append(store.importReport()).append(store.accessCount()).append(store.addressSpaces()).append(store.threadTimes().size())
				.append(store.stack(7)).append(store.layout().map(l -> l.rules().toString()));
		for (AddressSpace space : store.addressSpaces()) {
			TraceStore in = store.in(space);
			for (int p = 0; p < in.producers().size(); p++) {
				b.append(in.producers().name(p)).append(in.producers().parent(p));
			}
			b.append(java.util.Arrays.toString(in.producersOfCells()));
			b.append(StoreContract.accesses(in, AccessQuery.ALL)).append(StoreContract.events(in, AccessQuery.ALL));
			b.append(StoreContract.accesses(in, new AccessQuery(200, 260, 0, 5)));
			columns(in.accessSource(Progress.NONE), b);
			in.visitAccesses(AccessQuery.ALL, 300, 17, 500, 40, batch -> b.append(java.util.Arrays.toString(
					java.util.Arrays.copyOf(batch.id, batch.count))), Progress.NONE);
			in.readAccesses(new int[] {3999, 0, 77, 1 << 20}, batch -> b.append(batch.count).append(batch.id[0]).append(batch.writeOffset[1]));
		}
		return b.append(store.eventParameters(new long[] { 0, 1, 2, 5, 7 })).toString();
	}

	/** All columns of all chunks. */
	private static void columns(AccessSource source, StringBuilder b) throws MemtraceException {
		AccessChunk c = new AccessChunk();
		for (AccessColumn column : AccessColumn.values()) { // each alone: what belongs to it is found without the others
			for (int k = 0; k < source.chunks(); k++) {
				source.read(k, java.util.EnumSet.of(column), c);
				for (int r = 0; r < c.rows; r++) {
					b.append(switch (column) {
					case TIME -> c.startNs(r) * 31 + c.endNs(r);
					case THREAD -> c.thread[r];
					case CPU_SET -> c.cpuSet[r];
					case READS -> c.reads[r];
					case WRITES -> c.writes[r];
					case SHARING -> c.sharing[r];
					case NODE -> c.node[r];
					case FLAGS -> c.flags[r];
					case IP -> c.ip[r];
					case READ_OFFSET -> c.readOffset[r];
					case WRITE_OFFSET -> c.writeOffset[r];
					case FIRST -> c.firstNs[r];
					}).append(' ');
				}
			}
		}
		b.append(source.losses());
	}

	@Test
	void aFolderAnswersWhatItsDatabaseAnswers() throws Exception {
		try (TraceCatalogue catalogue = catalogue()) {
			for (List<BitSet> cpuSets : List.of(StoreContract.CPU_SETS, FEW, MANY)) {
				TraceInfo info = write(catalogue, w -> accesses(w, cpuSets));
				catalogue.rename(info.id(), "another name");
				catalogue.setProperty(info.id(), "who", "anna");
				try (TraceStore store = catalogue.open(info.id())) {
					store.writeNote("markers", new byte[] {1, 2, 3});
					store.writeCache("sums", new byte[] {4});
					Path folder = export(store);
					try (TraceStore found = open(folder)) {
						String wanted = told(store);
						assertTrue(wanted.length() > 100_000, "there is something to compare");
						assertEquals(wanted, told(found));
						assertEquals(List.of(1, 2, 3), bytes(found.readNote("markers").orElseThrow()));
						assertEquals(List.of(4), bytes(found.readCache("sums").orElseThrow()));
						assertEquals(store.contentStamp(), found.contentStamp(), "what is derived belongs to the same accesses");
						List<String> problems = new ArrayList<>();
						found.verify(problems::add, Progress.NONE);
						assertEquals(List.of(), problems);
						found.writeNote("filters", new byte[] {9});
					}
					try (TraceStore again = open(folder)) {
						assertEquals(List.of(9), bytes(again.readNote("filters").orElseThrow()), "notes are kept in the folder");
						Path second = export(again); // of a folder, again
						try (TraceStore copy = open(second)) {
							assertEquals(told(again), told(copy));
						}
					}
				}
			}
		}
	}

	private static List<Integer> bytes(byte[] bytes) {
		List<Integer> list = new ArrayList<>();
		for (byte x : bytes) {
			list.add((int) x);
		}
		return list;
	}

	@Test
	void whatCannotBeIsToldInOneSentence() throws Exception {
		try (TraceCatalogue catalogue = catalogue(); TraceStore store = catalogue.open(write(catalogue, w -> accesses(w, FEW)).id())) {
			Path folder = export(store);
			Path rest = folder.resolve(ParquetFolder.REST);
			assertTrue(assertThrows(StoreException.class, () -> Stores.openFile(rest)).getMessage().contains("name the folder"));
			try (TraceStore found = open(folder)) {
				assertTrue(assertThrows(StoreException.class, () -> found.replaceTrees(StoreContract.trees(), List.of(), Progress.NONE)).getMessage()
						.contains("export it again"));
				assertTrue(assertThrows(StoreException.class, () -> catalogue.add(found, Progress.NONE)).getMessage().contains("cannot be copied"));
			}
			// the physical tree has other rows
			assertFalse(store.in(AddressSpace.PHYSICAL).writeRest(directory.resolve("none.db"), Progress.NONE));
			assertFalse(Files.exists(directory.resolve("none.db")));
		}
	}

	/** Of a page with many accesses a file has several row groups, and a chunk is one of them. */
	@Test
	void aPageWithManyAccesses() throws Exception {
		int n = 300_000;
		try (TraceCatalogue catalogue = catalogue(); TraceStore store = catalogue.open(write(catalogue, w -> {
			w.threads(StoreContract.THREADS);
			w.structures(StoreContract.STRUCTURES);
			w.cpuSets(StoreContract.CPU_SETS);
			w.trees(StoreContract.LAYOUT, StoreContract.trees());
			AccessBatch batch = new AccessBatch(n);
			for (int i = 0; i < n; i++) {
				long start = 100 + i / 200;
				batch.add(start, start + 1 + i % 3, i % 1000 == 0 ? 4 : 2, i % 3, -1, 1 + i % 7, i % 2, 1, -1, 0, i);
			}
			w.accesses(batch);
		}).id())) {
			assertTrue(store.accessSource(Progress.NONE).chunks() > 2, "chunks of one page");
			try (TraceStore found = open(export(store))) {
				assertEquals(inOrderOfTime(store, n), inOrderOfTime(found, n));
			}
		}
	}

	private static long inOrderOfTime(TraceStore store, int n) throws MemtraceException {
		long[] sum = {0, 0};
		store.visitAccesses(AccessQuery.ALL, b -> {
			for (int i = 0; i < b.count; i++) {
				sum[0] = sum[0] * 31 + b.id[i] + 7 * b.startNs[i] + 13 * b.endNs[i] + 17L * b.producer[i] + 19 * b.reads[i] + 23 * b.ip[i];
				sum[1]++;
			}
		}, Progress.NONE);
		assertEquals(n, sum[1]);
		return sum[0];
	}

	/** Files of another trace, or fewer of them, are not believed. */
	@Test
	void otherAccessesAreDamage() throws Exception {
		try (TraceCatalogue catalogue = catalogue(); TraceStore store = catalogue.open(write(catalogue, w -> accesses(w, FEW)).id());
				TraceStore other = catalogue.open(write(catalogue, w -> {
					w.threads(StoreContract.THREADS);
					w.structures(StoreContract.STRUCTURES);
					w.cpuSets(StoreContract.CPU_SETS);
					w.trees(StoreContract.LAYOUT, StoreContract.trees());
					List<StoreContract.Row> rows = new ArrayList<>();
					StoreContract.random(4, 4000).forEach(r -> rows.add(new StoreContract.Row(r.start(), r.end(), r.producer() % 5, r.thread(),
							r.cpuSet(), r.reads(), r.writes(), r.sharing(), r.node(), r.flags(), r.ip())));
					w.accesses(StoreContract.batch(rows));
				}).id())) {
			Path folder = export(store);
			Path others = export(other);
			Files.move(folder.resolve("accesses"), folder.resolve("away"));
			Files.move(others.resolve("accesses"), folder.resolve("accesses"));
			try (TraceStore found = open(folder)) {
				AccessChunk c = new AccessChunk();
				AccessSource source = found.accessSource(Progress.NONE);
				assertThrows(MemtraceException.class, () -> source.read(0, java.util.EnumSet.of(AccessColumn.READS), c));
				assertEquals(4000, found.losses().accesses());
			}
			try (Connection db = Sqlite.change(others.resolve(ParquetFolder.REST))) {
				Sqlite.execute(db, "UPDATE MT_THREAD SET NAME = 'x'");
			}
			Files.move(folder.resolve("away"), others.resolve("accesses"));
			try (TraceStore found = open(others)) {
				assertTrue(assertThrows(StoreException.class, found::threads).getMessage().contains("damaged"));
			}
		}
	}
}
