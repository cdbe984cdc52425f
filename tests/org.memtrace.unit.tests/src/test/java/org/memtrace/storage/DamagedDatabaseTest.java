// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessScan;
import org.memtrace.model.CallFrame;
import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventVisitor;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Sqlite;

/**
 * Whatever happens to the bytes of a database: the same answer, or one that says what is wrong; never another answer or another exception.
 */
class DamagedDatabaseTest {
	@TempDir
	Path directory;

	private static void write(TraceWriter created) throws MemtraceException {
		try (TraceWriter writer = created) {
			writer.threads(StoreContract.THREADS);
			writer.structures(StoreContract.STRUCTURES);
			writer.stack(7, List.of(new CallFrame(0x401000, "/bin/app", "main", "main.c", 7)));
			writer.intervals(List.of(new Interval(0, 0, 100, 100, 5, 1, 0, "")));
			writer.threadTimes(StoreContract.TIMES);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.trees(StoreContract.LAYOUT, StoreContract.trees());
			List<StoreContract.Row> rows = new ArrayList<>();
			for (StoreContract.Row r : StoreContract.random(1, 2000)) {
				rows.add(new StoreContract.Row(r.start(), r.end(), r.producer() % 5, r.thread(), r.cpuSet(), r.reads(), r.writes(), r.sharing(),
						r.node(), r.flags(), r.ip()));
			}
			writer.note("topology.xml", "<machine/>".getBytes(java.nio.charset.StandardCharsets.UTF_8));
			writer.accesses(StoreContract.batch(rows));
			writer.commit(StoreContract.INFO, "{\"imported\": 2000}", Progress.NONE);
		}
	}

	/** All that can be asked, as text. */
	private static String answers(TraceStore store) throws MemtraceException {
		StringBuilder b = new StringBuilder();
		b.append(store.info()).append(store.threads()).append(store.structures()).append(store.stack(7)).append(store.cpuSets())
				.append(store.intervals()).append(store.eventTypes()).append(store.importReport())
				.append(store.accessCount()).append(store.addressSpaces());
		for (int i = 0; i < store.threadTimes().size(); i++) {
			b.append(store.threadTimes().thread(i)).append(' ').append(store.threadTimes().timeNs(i)).append(' ')
					.append(store.threadTimes().cpuNs(i));
		}
		store.layout().ifPresent(l -> b.append(l.areas()).append(l.images()).append(l.rules()).append(l.fanout())
				.append(Arrays.toString(l.cells().address())).append(Arrays.toString(l.cells().structure())));
		for (AddressSpace space : store.addressSpaces()) {
			TraceStore in = store.in(space);
			ProducerTree tree = in.producers();
			for (int p = 0; p < tree.size(); p++) {
				b.append(tree.kind(p)).append(tree.name(p)).append(tree.parent(p)).append(tree.startAddress(p)).append(tree.structure(p));
			}
			AccessScan scan = AccessScan.of(in, Progress.NONE);
			long[] hash = {0};
			scan.run(AccessQuery.ALL, java.util.EnumSet.allOf(AccessColumn.class), "", Progress.NONE, (from, to) -> (chunk, first, last) -> {
				for (int l = first; l < last; l++) {
					for (int r = chunk.leafFrom[l]; r < chunk.leafFrom[l + 1]; r++) {
						long h = Arrays.hashCode(new long[] {chunk.leaf[l], chunk.startNs(r), chunk.endNs(r), chunk.thread[r], chunk.cpuSet[r],
								chunk.reads[r], chunk.writes[r], chunk.sharing[r], chunk.node[r], chunk.flags[r], chunk.ip[r],
								chunk.readOffset[r], chunk.writeOffset[r]});
						synchronized (hash) {
							hash[0] += h * h;
						}
					}
				}
			});
			b.append(hash[0]);
			b.append(StoreContract.accesses(in, AccessQuery.ALL));
		}
		return b.toString();
	}

	private interface Question {
		String answers(TraceStore store) throws MemtraceException;
	}

	/** @return whether something was told */
	private static boolean same(Path file, Question question, String answers, String about) {
		try (TraceStore store = Stores.openFile(file)) {
			String got = question.answers(store);
			if (!got.equals(answers)) {
				int at = Arrays.mismatch(got.toCharArray(), answers.toCharArray());
				assertTrue(!store.losses().isNone(), () -> about + ": another answer without a word, "
						+ got.substring(Math.min(got.length(), at), Math.min(got.length(), at + 80)));
				return true;
			}
			return false;
		} catch (MemtraceException e) {
			assertTrue(e.getMessage() != null && !e.getMessage().isBlank(), about);
			return true;
		} catch (RuntimeException e) {
			return fail(about + ": " + e, e);
		}
	}

	private interface Contents {
		void write(TraceWriter writer) throws MemtraceException;
	}

	private void mutate(DatabaseKind kind, Contents contents, Question question, int flips, int cuts) throws Exception {
		Path file = directory.resolve("t" + Dbms.of(kind).suffix());
		contents.write(Stores.createFile(file, kind, notice -> {
		}));
		byte[] good = Files.readAllBytes(file);
		String answers;
		try (TraceStore store = Stores.openFile(file)) {
			answers = question.answers(store);
			List<String> problems = new ArrayList<>();
			store.verify(problems::add, Progress.NONE);
			assertEquals(List.of(), problems);
		}
		Random random = new Random(20261122);
		int told = 0;
		for (int i = 0; i < flips + cuts; i++) {
			byte[] bad = good.clone();
			String about = kind + ", number " + i;
			if (i < flips) {
				for (int k = 1 << random.nextInt(3); k > 0; k--) {
					int bit = random.nextInt(bad.length * 8);
					bad[bit / 8] ^= (byte) (1 << bit % 8);
					about += ", bit " + bit;
				}
			} else {
				bad = Arrays.copyOf(bad, random.nextInt(bad.length));
				about += ", cut to " + bad.length;
			}
			Path damaged = Files.createDirectories(directory.resolve("d" + i)).resolve(file.getFileName());
			Files.write(damaged, bad);
			told += same(damaged, question, answers, about) ? 1 : 0;
			Files.deleteIfExists(damaged);
		}
		assertTrue(told > (flips + cuts) / 10, told + " told");
	}

	@Test
	void sqlite() throws Exception {
		mutate(DatabaseKind.SQLITE, DamagedDatabaseTest::write, DamagedDatabaseTest::answers, 300, 60);
	}

	@Test
	void h2() throws Exception {
		mutate(DatabaseKind.H2, DamagedDatabaseTest::write, DamagedDatabaseTest::answers, 40, 20);
	}

	/** A database in SQLite that somebody changed. */
	private Path changed(Contents contents, String... sql) throws Exception {
		Path file = directory.resolve("t.db");
		Files.deleteIfExists(file);
		contents.write(Stores.createFile(file, notice -> {
		}));
		try (Connection db = Sqlite.change(file)) {
			Sqlite.execute(db, sql);
		}
		return file;
	}

	private static final int EVENTS = 3000;

	/** States, links, instants and variables, some with parameters. */
	private static void writeEvents(TraceWriter created) throws MemtraceException {
		Random random = new Random(11);
		try (TraceWriter writer = created) {
			writer.eventTypes(OtherEventsContract.TYPES);
			writer.producers(OtherEventsContract.tree());
			EventBatch batch = new EventBatch(EVENTS);
			for (int i = 0; i < EVENTS; i++) {
				int type = random.nextInt(OtherEventsContract.TYPES.size());
				long start = random.nextInt(100_000);
				long end = switch (OtherEventsContract.TYPES.get(type).category()) {
				case PUNCTUAL -> start;
				default -> start + random.nextInt(1000);
				};
				batch.add(-1, type, random.nextInt(OtherEventsContract.PRODUCERS), start, end, random.nextInt(OtherEventsContract.PRODUCERS), 0);
				batch.setParameters(writer.parameters(type, i % 7 == 0 ? Map.of("size", Integer.toString(random.nextInt(20))) : Map.of()));
			}
			writer.events(batch);
			writer.commit(OtherEventsContract.INFO, "{}", Progress.NONE);
		}
	}

	/** All events, those of a window of one producer, of a range of numbers, and single ones, in this order. */
	private static String eventAnswers(TraceStore store) throws MemtraceException {
		StringBuilder b = new StringBuilder().append(store.info()).append(store.eventTypes());
		EventVisitor visitor = batch -> {
			for (int i = 0; i < batch.count; i++) {
				b.append(batch.id[i]).append(' ').append(batch.type[i]).append(' ').append(batch.producer[i]).append(' ').append(batch.startNs[i])
						.append(' ').append(batch.endNs[i]).append(' ').append(batch.value[i]).append('\n');
			}
		};
		store.readEvents(new long[] {1700, 3, 2999}, visitor);
		store.visitEvents(AccessQuery.ALL, 0, 700, 0, 1500, visitor, Progress.NONE);
		store.visitEvents(AccessQuery.ALL.window(20_000, 50_000), visitor, Progress.NONE);
		store.visitEvents(AccessQuery.ALL, visitor, Progress.NONE);
		return b.toString();
	}

	@Test
	void eventsInSqlite() throws Exception {
		mutate(DatabaseKind.SQLITE, DamagedDatabaseTest::writeEvents, DamagedDatabaseTest::eventAnswers, 300, 60);
	}

	@Test
	void eventsInH2() throws Exception {
		mutate(DatabaseKind.H2, DamagedDatabaseTest::writeEvents, DamagedDatabaseTest::eventAnswers, 40, 20);
	}

	/** An event, a span or a table that is changed is named by whoever reads it and by verify; parameters by verify. */
	@Test
	void eventsAreNamed() throws Exception {
		for (String[] change : new String[][] {{"events 512 to 1023 are", "UPDATE MT_OTHER_EVENT SET OFFSET_NS = OFFSET_NS + 1 WHERE ID = 600"},
				{"events 0 to 511 are", "DELETE FROM MT_OTHER_EVENT WHERE ID = 0"},
				{"events 2560 to 2999 are", "DELETE FROM MT_OTHER_EVENT WHERE ID >= 2560"},
				{"events 1024 to 1535 are", "UPDATE MT_OTHER_EVENT SET VALUE = VALUE + 0.5 WHERE ID = 1535"},
				{"events 1024 to 1535 are", "UPDATE MT_OTHER_EVENT SET CONTEXT = (SELECT CONTEXT FROM MT_OTHER_EVENT WHERE ID = 1) WHERE ID = 1024 + 2"},
				{"table MT_OTHER_SPAN is", "UPDATE MT_OTHER_SPAN SET MAX_PRODUCER = 0 WHERE ID = 512"},
				{"table MT_OTHER_CONTEXT is", "UPDATE MT_OTHER_CONTEXT SET EVENT_TYPE_ID = 1 WHERE ID = 0"},
				{"table MT_OTHER_CHECK is", "UPDATE MT_OTHER_CHECK SET CRC32C = 1 WHERE ID = 0"},
				{"table MT_OTHER_VALUE is", "UPDATE MT_OTHER_VALUE SET VALUE = 'x' WHERE ID = 0"},
				{"table MT_OTHER_PARAM is", "DELETE FROM MT_OTHER_PARAM WHERE ID = (SELECT MAX(ID) FROM MT_OTHER_PARAM)"}}) {
			Path file = changed(DamagedDatabaseTest::writeEvents, change[1]);
			String expected = file + " is damaged: its " + change[0] + " not what was written";
			try (TraceStore store = Stores.openFile(file)) {
				List<String> problems = new ArrayList<>();
				store.verify(problems::add, Progress.NONE);
				assertTrue(problems.contains(expected), change[1] + ": " + problems);
				if (!change[0].contains("VALUE") && !change[0].contains("PARAM")) {
					assertEquals(expected, assertThrows(StoreException.class, () -> store.visitEvents(AccessQuery.ALL, b -> {
					}, Progress.NONE), change[1]).getMessage());
				}
			}
		}
	}

	/** FrameSoc's rows of accesses: nobody else reads them, so verify tells. */
	@Test
	void frameSocsRows() throws Exception {
		for (String[] change : new String[][] {{"MT_EVENT", "UPDATE MT_EVENT SET CELL = CELL + 1 WHERE ID = 5"},
				{"MT_RUN", "UPDATE MT_RUN SET END_NS = END_NS + 1 WHERE ID = 0"}, {"MT_CONTEXT", "UPDATE MT_CONTEXT SET CPU = CPU + 1 WHERE ID = 0"},
				{"MT_CONTEXT_PARAM", "DELETE FROM MT_CONTEXT_PARAM WHERE CONTEXT = 0"}}) {
			Path file = changed(DamagedDatabaseTest::write, change[1]);
			try (TraceStore store = Stores.openFile(file)) {
				List<String> problems = new ArrayList<>();
				store.verify(problems::add, Progress.NONE);
				assertEquals(List.of(file + " is damaged: its table " + change[0] + " is not what was written"), problems, change[1]);
			}
		}
	}

	/** Each table that is changed is named, by whoever reads it and by verify. */
	@Test
	void theTableIsNamed() throws Exception {
		for (String[] change : new String[][] {{"MT_THREAD", "UPDATE MT_THREAD SET NAME = 'x' WHERE ID = 0"},
				{"MT_STRUCTURE", "UPDATE MT_STRUCTURE SET KIND = 99"}, {"MT_STRUCTURE", "DELETE FROM MT_STRUCTURE"},
				{"MT_FRAME", "UPDATE MT_FRAME SET LINE = 8"}, {"MT_CPU_SET", "UPDATE MT_CPU_SET SET CPUS = '1' WHERE ID = 2"},
				{"MT_INTERVAL", "UPDATE MT_INTERVAL SET LOST = 0"}, {"MT_REPORT", "UPDATE MT_REPORT SET JSON = '{}'"},
				{"EVENT_TYPE", "UPDATE EVENT_TYPE SET NAME = 'x' WHERE ID = 0"}, {"MT_CELL", "UPDATE MT_CELL SET PRODUCER = PRODUCER + 1 WHERE ID = 0"},
				{"MT_CELL", "UPDATE MT_CELL SET ADDRESS = ADDRESS + 1 WHERE ID = 0"}, {"MT_AREA", "UPDATE MT_AREA SET NAME = 'x'"},
				{"MT_RULE", "INSERT INTO MT_RULE VALUES(7, 'size')"}, {"MT_PROPERTY", "UPDATE MT_PROPERTY SET VALUE = VALUE + 1 WHERE NAME = 'end_ns'"},
				{"MT_PROPERTY", "DELETE FROM MT_PROPERTY WHERE NAME = 'table_crc32c'"},
				{"MT_PROPERTY", "DELETE FROM MT_PROPERTY WHERE NAME IN ('table_crc32c', 'property_crc32c')"}}) {
			Path file = changed(DamagedDatabaseTest::write, change[1]);
			String expected = file + " is damaged: its table " + change[0] + " is not what was written";
			assertEquals(expected, assertThrows(StoreException.class, () -> {
				try (TraceStore store = Stores.openFile(file)) {
					List<String> problems = new ArrayList<>();
					store.verify(problems::add, Progress.NONE);
					assertTrue(problems.contains(expected), change[1] + ": " + problems);
					answers(store);
				}
			}, change[1]).getMessage(), change[1]);
		}
	}

	/** A row of SQLite's own list of tables: the table of notes may be missing, so a damaged row of it must not look like none. */
	@Test
	void theListOfTables() throws Exception {
		// SQLite knows its words in other letters, too
		for (String change : new String[] {"type = 'Table'", "name = 'mT_NOTE'", "name = 'mT_NOTE', tbl_name = 'mT_NOTE'"}) {
			Path file = changed(DamagedDatabaseTest::write, "PRAGMA writable_schema = 1", "UPDATE sqlite_master SET " + change
					+ " WHERE name = 'MT_NOTE'");
			String told = assertThrows(StoreException.class, () -> {
				try (TraceStore store = Stores.openFile(file)) {
					store.readNote("topology.xml");
				}
			}, change).getMessage();
			assertEquals(file + " is damaged: its list of tables is not what was written", told, change);
		}
	}

	/** What only FrameSoc reads is checked by verify; a note by whoever reads it, too. */
	@Test
	void notesAndWhatFrameSocReads() throws Exception {
		for (String[] change : new String[][] {{"table EVENT_PRODUCER", "UPDATE EVENT_PRODUCER SET NAME = 'x' WHERE ID = 0"},
				{"note topology.xml", "UPDATE MT_NOTE SET VALUE = x'00' WHERE NAME = 'topology.xml'"},
				{"note topology.xml", "DELETE FROM MT_NOTE WHERE NAME = 'topology.xml'"},
				{"note topology.xml", "UPDATE MT_NOTE SET VALUE = x'31' WHERE NAME = 'crc32c.topology.xml'"}}) {
			Path file = directory.resolve("t.db");
			Files.deleteIfExists(file);
			write(Stores.createFile(file, notice -> {
			}));
			try (TraceStore store = Stores.openFile(file)) {
				store.writeNote("mine", new byte[] {1, 2});
				store.writeNote("mine", new byte[] {3});
				assertEquals(3, store.readNote("mine").orElseThrow()[0]);
				List<String> problems = new ArrayList<>();
				store.verify(problems::add, Progress.NONE);
				assertEquals(List.of(), problems);
			}
			try (Connection db = Sqlite.change(file)) {
				Sqlite.execute(db, change[1]);
			}
			String expected = file + " is damaged: its " + change[0] + " is not what was written";
			try (TraceStore store = Stores.openFile(file)) {
				List<String> problems = new ArrayList<>();
				store.verify(problems::add, Progress.NONE);
				assertEquals(List.of(expected), problems, change[1]);
				if (change[0].startsWith("note")) {
					assertEquals(expected, assertThrows(StoreException.class, () -> store.readNote("topology.xml")).getMessage(), change[1]);
				}
				assertEquals(3, store.readNote("mine").orElseThrow()[0], "other notes stay");
				assertTrue(store.readNote("none").isEmpty());
				store.writeNote("mine", null);
				assertTrue(store.readNote("mine").isEmpty());
			}
		}
	}
}
