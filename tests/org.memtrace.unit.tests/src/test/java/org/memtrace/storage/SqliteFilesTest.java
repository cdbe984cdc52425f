// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.AccessScan;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.tables.ContentStamp;
import org.memtrace.storage.tables.PackedTree;
import org.memtrace.storage.trace.SqlTraceWriter;

/** What only files can suffer: killed and concurrent processes, other versions, other programs, missing permissions. */
class SqliteFilesTest {
	@TempDir
	Path directory;
	private final List<String> notices = new ArrayList<>();

	private TraceCatalogue open() throws MemtraceException {
		return Stores.openCatalogue(directory.resolve("c"), notices::add);
	}

	private List<String> files() throws Exception {
		try (Stream<Path> files = Files.list(directory.resolve("c"))) {
			return files.map(f -> f.getFileName().toString()).sorted().toList();
		}
	}

	static TraceInfo write(TraceWriter writer, int rows) throws MemtraceException {
		try (writer) {
			writer.threads(StoreContract.THREADS);
			writer.structures(StoreContract.STRUCTURES);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.producers(StoreContract.tree(64));
			writer.accesses(StoreContract.batch(StoreContract.random(1, rows)));
			return writer.commit(StoreContract.INFO, "{}", Progress.NONE);
		}
	}

	/** Three traces that belong together. */
	private static void writeThree(TraceGroup group, String name) throws MemtraceException {
		for (String part : List.of("", "_a", "_b")) {
			write(group.create(name + part), 2000);
		}
		group.publish();
	}

	/** The program that is killed: imports for ever. */
	public static final class Importer {
		private Importer() {
		}

		public static void main(String[] args) throws Exception {
			try (TraceCatalogue catalogue = Stores.openCatalogue(Path.of(args[0]), System.out::println)) {
				System.out.println("ready");
				for (int i = 0; args.length > 1; i++) {
					try (TraceGroup group = args[1].equals("files")
							? Stores.createFiles(Path.of(args[0], ".."), DatabaseKind.SQLITE, System.out::println) : catalogue.group()) {
						writeThree(group, "t" + System.nanoTime());
					}
				}
				for (int i = 0;; i++) {
					TraceInfo info = write(catalogue.create("trace"), 20_000);
					if (i % 2 == 1) {
						catalogue.delete(info.id());
					}
				}
			}
		}
	}

	private Process importer(String... what) throws Exception {
		return importer(Path.of(System.getProperty("java.io.tmpdir")), what);
	}

	private Process importer(Path temporary, String... what) throws Exception {
		List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Djava.io.tmpdir=" + temporary,
				"--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", "-cp",
				System.getProperty("java.class.path") + java.io.File.pathSeparator
						+ Path.of(Importer.class.getProtectionDomain().getCodeSource().getLocation().toURI())
						+ java.io.File.pathSeparator
						+ Path.of(Stores.class.getProtectionDomain().getCodeSource().getLocation().toURI())
						+ java.io.File.pathSeparator
						+ Path.of(TraceInfo.class.getProtectionDomain().getCodeSource().getLocation().toURI())
						+ java.io.File.pathSeparator
						+ Path.of(com.github.luben.zstd.Zstd.class.getProtectionDomain().getCodeSource().getLocation().toURI())
						+ java.io.File.pathSeparator
						+ Path.of(org.sqlite.JDBC.class.getProtectionDomain().getCodeSource().getLocation().toURI())
						+ java.io.File.pathSeparator
						+ Path.of(Test.class.getProtectionDomain().getCodeSource().getLocation().toURI()),
				Importer.class.getName(), directory.resolve("c").toString()));
		command.addAll(List.of(what));
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String line = process.inputReader().readLine();
		while (line != null && !line.equals("ready")) {
			line = process.inputReader().readLine();
		}
		assertEquals("ready", line);
		return process;
	}

	/** Killed at random instants, the catalogue has only complete traces and no other files once it is opened again. */
	@Test
	void killedImportsLeaveNothing() throws Exception {
		Random random = new Random(99);
		int interrupted = 0;
		for (int round = 0; round < 6; round++) {
			Process process = importer();
			if (round % 2 == 0) { // certainly in the middle of a trace
				while (files().stream().noneMatch(f -> f.endsWith(".tmp"))) {
					Thread.onSpinWait();
				}
			} else {
				Thread.sleep(50 + random.nextInt(400));
			}
			process.destroyForcibly().waitFor();
			notices.clear();
			boolean leftovers = files().stream().anyMatch(f -> f.endsWith(".lock"));
			interrupted += leftovers ? 1 : 0;
			try (TraceCatalogue catalogue = open()) {
				assertEquals(leftovers, !notices.isEmpty(), notices + " for " + files());
				List<String> expected = new ArrayList<>(List.of("SOCTRACE_SYSTEM_DB"));
				for (TraceInfo info : catalogue.list()) {
					expected.add(info.databaseName());
					try (TraceStore store = catalogue.open(info.id())) {
						assertEquals(20_000, StoreContract.accesses(store, AccessQuery.ALL).size());
					}
				}
				expected.sort(null);
				// a journal that was begun and not needed is SQLite's own; it goes with the next change
				assertEquals(expected, files().stream().filter(f -> !f.equals("SOCTRACE_SYSTEM_DB-journal")).toList());
			}
		}
		assertTrue(interrupted > 0, "no kill hit an import");
	}

	/** Killed at random instants, of three traces that belong together all are there or none, in a catalogue and as files. */
	@Test
	void killedGroupsAreWholeOrGone() throws Exception {
		Random random = new Random(7);
		int groups = 0;
		for (int round = 0; round < 6; round++) {
			String kind = round % 2 == 0 ? "catalogue" : "files";
			Process process = importer(kind);
			if (round < 4) {
				Thread.sleep(150 + random.nextInt(300));
			} else { // on a busy machine too, one is there, and the next is being made: the names of a group come before it is valid
				Path place = kind.equals("files") ? directory : directory.resolve("c");
				for (long before = groups(place); groups(place) < before + 2;) {
					assertTrue(process.isAlive(), "the importer ended");
					Thread.sleep(1);
				}
			}
			process.destroyForcibly().waitFor();
			List<String> names = new ArrayList<>();
			try (TraceCatalogue catalogue = open()) {
				catalogue.list().forEach(t -> names.add(t.databaseName()));
			}
			names.add("SOCTRACE_SYSTEM_DB");
			assertEquals(names.stream().sorted().toList(),
					files().stream().filter(f -> !f.equals("SOCTRACE_SYSTEM_DB-journal")).toList());
			names.remove("SOCTRACE_SYSTEM_DB");
			Stores.createFiles(directory, DatabaseKind.SQLITE, notices::add).close();
			try (Stream<Path> files = Files.list(directory)) {
				files.map(f -> f.getFileName().toString()).filter(f -> !f.equals("c")).forEach(names::add);
			}
			for (String name : names) {
				assertTrue(name.matches("t\\d+(_[ab])?"), kind + ": " + name);
				String first = name.replaceFirst("_.", "");
				assertTrue(names.containsAll(List.of(first, first + "_a", first + "_b")), kind + ": " + name + " of " + names);
			}
			groups = names.size() / 3;
		}
		assertTrue(groups > 0, "every process was killed before it had made one");
	}

	/** The driver unpacks its library for each process; of a killed one it must not stay. */
	@Test
	void killedProcessesLeaveNoLibrary() throws Exception {
		Path temporary = Files.createDirectory(directory.resolve("temporary"));
		Process process = importer(temporary);
		try (Stream<String> maps = Files.lines(Path.of("/proc/" + process.pid() + "/maps"))) {
			assertTrue(maps.anyMatch(l -> l.contains("sqlitejdbc")), "the library is not in use");
		}
		process.destroyForcibly().waitFor();
		try (Stream<Path> files = Files.walk(temporary)) {
			assertEquals(List.of(), files.map(f -> f.getFileName().toString()).filter(f -> f.contains("sqlite")).toList());
		}
	}

	/** The driver prints a stack trace when two processes at a time remove what a killed one has left in the temporary folder. */
	@Test
	void theDriverDoesNotPrintToTheUser() throws Exception {
		open().close();
		assertFalse(java.util.logging.Logger.getLogger("org.sqlite.SQLiteJDBCLoader").isLoggable(java.util.logging.Level.SEVERE));
	}

	private static long groups(Path place) throws Exception {
		try (Stream<Path> files = Files.list(place)) {
			return files.filter(f -> f.getFileName().toString().matches("t\\d+_b")).count();
		}
	}

	/** What a kill between two steps of publishing files leaves; a file that somebody made under such a name stays. */
	@Test
	void linksOfAKilledGroupAreRemovedUnlessTheyAreValid() throws Exception {
		String id = ".memtrace-12345678-1234-1234-1234-123456789abc";
		for (boolean valid : new boolean[] { false, true }) {
			Path d = Files.createDirectory(directory.resolve("valid " + valid));
			for (int i = 1; i <= 3; i++) {
				Files.writeString(d.resolve(id + "-" + i + ".tmp"), "trace " + i);
			}
			Files.createLink(d.resolve("t"), d.resolve(id + "-1.tmp"));
			Files.createLink(d.resolve("t_a"), d.resolve(id + "-2.tmp"));
			Files.writeString(d.resolve("t_b"), "mine");
			Files.writeString(d.resolve(".memtrace-export-" + id.substring(10) + ".tmp"), "somebody is writing it");
			if (!valid) {
				Files.writeString(d.resolve(id + ".lock"), "=t\n=t_a\n=t_b");
			}
			Stores.createFiles(d, DatabaseKind.SQLITE, notices::add).close();
			try (Stream<Path> files = Files.list(d)) {
				assertEquals(valid ? "[t, t_a, t_b]" : "[t_b]",
						files.map(f -> f.getFileName().toString()).filter(f -> !f.startsWith(".memtrace-export-")).sorted().toList()
								.toString());
			}
			assertTrue(Files.exists(d.resolve(".memtrace-export-" + id.substring(10) + ".tmp")));
		}
	}

	@Test
	void anImportInProgressIsNoLeftover() throws Exception {
		Process process = importer();
		try {
			for (int i = 0; i < 5; i++) {
				try (TraceCatalogue catalogue = open()) { // its files are locked
					write(catalogue.create("mine"), 100);
				}
				Thread.sleep(50);
			}
			assertEquals(List.of(), notices);
			assertTrue(process.isAlive(), "the other process failed");
		} finally {
			process.destroyForcibly().waitFor();
		}
		try (TraceCatalogue catalogue = open()) {
			assertEquals(5, catalogue.list().stream().filter(t -> t.databaseName().startsWith("mine")).count());
			assertEquals(catalogue.list().size(), catalogue.list().stream().map(TraceInfo::id).distinct().count());
		}
	}

	@Test
	void aPublishedButUnregisteredFileIsALeftover() throws Exception {
		try (TraceCatalogue catalogue = open()) {
			write(catalogue.create("good"), 100);
		}
		// as if killed between the renaming and the end of the transaction, and after it
		Path c = directory.resolve("c");
		Files.copy(c.resolve("good"), c.resolve("orphan"));
		Files.writeString(c.resolve(".memtrace-1.lock"), "orphan");
		Files.writeString(c.resolve(".memtrace-2.lock"), "good"); // nothing but the lock to remove, and nothing to tell
		Files.writeString(c.resolve(".memtrace-4.lock"), "");
		Files.writeString(c.resolve(".memtrace-3.lock"), "../elsewhere");
		Files.writeString(c.resolve(".memtrace-3.tmp"), "half");
		Files.writeString(directory.resolve("elsewhere"), "not ours");
		try (TraceCatalogue catalogue = open()) {
			assertEquals(2, notices.size(), notices.toString());
			assertEquals(List.of("SOCTRACE_SYSTEM_DB", "good"), files());
			assertEquals(1, catalogue.list().size());
		}
		assertTrue(Files.exists(directory.resolve("elsewhere")));
	}

	@Test
	void newerVersionsAreRefusedPolitely() throws Exception {
		Path c = directory.resolve("c");
		TraceInfo info;
		try (TraceCatalogue catalogue = open()) {
			info = write(catalogue.create("t"), 100);
		}
		try (Connection db = Sqlite.change(c.resolve("t"))) {
			Sqlite.execute(db, "UPDATE MT_SCHEMA SET VERSION = 7");
		}
		try (TraceCatalogue catalogue = open()) {
			String message = assertThrows(UnsupportedVersionException.class, () -> catalogue.open(info.id())).getMessage();
			assertTrue(message.endsWith("t has format version 7, this memtrace reads up to version 4; use a newer memtrace"), message);
		}
		try (Connection db = Sqlite.change(c.resolve("SOCTRACE_SYSTEM_DB"))) {
			Sqlite.execute(db, "PRAGMA user_version = 2");
		}
		assertThrows(UnsupportedVersionException.class, this::open);
	}

	@Test
	void aFileOfItsOwnIsNeverReplaced() throws Exception {
		Path file = directory.resolve("own ?%20.db");
		TraceInfo info = write(Stores.createFile(file, notices::add), 200);
		assertEquals(-1, info.id());
		try (TraceStore store = Stores.openFile(file)) {
			assertEquals(200, store.accessCount());
			assertEquals(info, store.info());
		}
		assertThrows(StoreException.class, () -> Stores.createFile(file, notices::add));
		Path late = directory.resolve("late.db");
		TraceWriter writer = Stores.createFile(late, notices::add);
		Files.writeString(late, "somebody was faster");
		assertThrows(StoreException.class, () -> write(writer, 10));
		assertEquals("somebody was faster", Files.readString(late));
		assertThrows(StoreException.class, () -> Stores.createFile(directory.resolve("no/such/x.db"), notices::add));
		try (Stream<Path> files = Files.list(directory)) {
			assertEquals(2, files.count());
		}
	}

	@Test
	void whatIsNoTraceIsRefused() throws Exception {
		Path text = Files.writeString(directory.resolve("text"), "hello, this is no database at all".repeat(50));
		assertTrue(assertThrows(StoreException.class, () -> Stores.openFile(text)).getMessage().endsWith("is not an SQLite database"));
		Path other = directory.resolve("other.db");
		try (Connection db = Sqlite.make(other)) {
			Sqlite.execute(db, "CREATE TABLE x(a)");
		}
		assertTrue(assertThrows(StoreException.class, () -> Stores.openFile(other)).getMessage().endsWith("is not a trace database"));
		assertThrows(StoreException.class, () -> Stores.openFile(directory.resolve("nothing")));
		Path c = Files.createDirectory(directory.resolve("c"));
		Files.copy(other, c.resolve("SOCTRACE_SYSTEM_DB"));
		assertThrows(StoreException.class, this::open);
		Path own = directory.resolve("cut.db");
		write(Stores.createFile(own, notices::add), 5000);
		byte[] bytes = Files.readAllBytes(own);
		Files.write(own, java.util.Arrays.copyOf(bytes, bytes.length / 2));
		assertThrows(MemtraceException.class, () -> {
			try (TraceStore store = Stores.openFile(own)) {
				StoreContract.accesses(store, AccessQuery.ALL);
			}
		});
	}

	/** A full device: SQLite's own limit stands in for it. */
	@Test
	void aFullDiskIsOneSentenceAndLeavesNothing() throws Exception {
		try (TraceCatalogue catalogue = open()) {
			TraceWriter writer = catalogue.create("t");
			((SqlTraceWriter) writer).limitPages(60);
			String message = assertThrows(StoreException.class, () -> write(writer, 20_000)).getMessage();
			assertTrue(message.endsWith("cannot be written: no space left on the device"), message);
			assertEquals(List.of("SOCTRACE_SYSTEM_DB"), files());
			assertEquals(List.of(), catalogue.list());
		}
	}

	@Test
	void cachesOfAReadOnlyFileAreNotSaved() throws Exception {
		Path file = directory.resolve("t.db");
		write(Stores.createFile(file, notices::add), 50);
		try (TraceStore store = Stores.openFile(file); Connection other = Sqlite.change(file)) {
			Sqlite.execute(other, "BEGIN IMMEDIATE");
			store.writeCache("k", new byte[] { 1 }); // locked by another: silently not done
			Sqlite.execute(other, "ROLLBACK");
			assertTrue(store.readCache("k").isEmpty());
			store.writeCache("k", new byte[] { 1 });
			assertArrayEquals(new byte[] { 1 }, store.readCache("k").orElseThrow());
		}
	}

	/** What is derived from accesses is saved with this stamp, so it may not survive any change of them. */
	@Test
	void aChangeWithAnotherToolChangesTheStamp() throws Exception {
		Path file = directory.resolve("t.db");
		write(Stores.createFile(file, notices::add), 2000);
		try (TraceStore store = Stores.openFile(file); Connection other = Sqlite.change(file)) {
			java.util.Set<String> stamps = new java.util.LinkedHashSet<>(List.of(store.contentStamp()));
			for (String sql : List.of("UPDATE MT_CHUNK SET READS = READS + 1 WHERE ID = 0", "DELETE FROM MT_COLUMN WHERE ID = 3",
					"INSERT INTO MT_COLUMN SELECT 3, DATA FROM MT_COLUMN WHERE ID = 4",
					"INSERT OR REPLACE INTO MT_COLUMN SELECT 3, DATA FROM MT_COLUMN WHERE ID = 6",
					"UPDATE MT_COLUMN SET DATA = x'00' WHERE ID = 3", "UPDATE MT_CELL SET PRODUCER = 5 WHERE ID = 6",
					"DELETE FROM MT_CHUNK WHERE ID = 0", "DELETE FROM MT_COLUMN")) {
				Sqlite.execute(other, sql);
				assertTrue(stamps.add(store.contentStamp()), sql);
			}
			String last = store.contentStamp();
			store.writeCache("k", new byte[] { 1 });
			store.writeNote("n", new byte[] { 1 });
			Sqlite.execute(other, "INSERT INTO ANALYSIS_RESULT VALUES(1, 1, 'SEARCH', '', '')");
			assertEquals(last, store.contentStamp(), "neither of these is read with the accesses");
			for (String sql : List.of("DROP TRIGGER STAMP_MT_COLUMN_UPDATE",
					"ALTER TABLE MT_CHUNK RENAME TO X; CREATE TABLE MT_CHUNK AS SELECT * FROM X",
					"DROP TABLE X; CREATE TABLE Y AS SELECT * FROM MT_CHUNK; DROP TABLE MT_CHUNK; ALTER TABLE Y RENAME TO MT_CHUNK",
					"DELETE FROM MT_PROPERTY WHERE NAME = 'content_stamp'")) {
				for (String one : sql.split("; ")) {
					Sqlite.execute(other, one);
				}
				assertEquals("", ContentStamp.of(Dbms.SQLITE, other), sql);
				assertTrue(stamps.add(store.contentStamp()), "one that was never used, after " + sql);
				Sqlite.execute(other, "UPDATE MT_CELL SET PRODUCER = 5 WHERE ID = 6");
				assertTrue(stamps.add(store.contentStamp()), "and it counts, after " + sql);
			}
		}
	}

	/** A damaged chunk is named by verify, left out of answers, and never silently so; without rows FrameSoc's tables are empty. */
	@Test
	void damagedChunksAreNamedAndCounted() throws Exception {
		Path file = directory.resolve("t.db");
		TraceWriter writer = Stores.createFile(file, notices::add);
		writer.frameSocRows(org.memtrace.model.store.FrameSocRows.NO);
		assertEquals(0, write(writer, 3000).events());
		List<String> problems = new ArrayList<>();
		try (TraceStore store = Stores.openFile(file); Connection db = Sqlite.read(file)) {
			store.verify(problems::add, Progress.NONE);
			assertEquals(List.of(), problems);
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM EVENT"));
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM EVENT_PARAM"));
		}
		try (Connection db = Sqlite.change(file)) {
			Sqlite.execute(db, "UPDATE MT_COLUMN SET DATA = zeroblob(length(DATA)) WHERE ID = 6");
		}
		try (TraceStore store = Stores.openFile(file)) {
			store.verify(problems::add, Progress.NONE);
			assertEquals(List.of(file + ": chunk 0 with 3000 accesses is damaged: the checksum of its column READS does not fit"), problems);
			assertEquals(3000, store.losses().accesses());
			String message = assertThrows(StoreException.class, () -> StoreContract.accesses(store, AccessQuery.ALL)).getMessage();
			assertTrue(message.matches("3,000 access records with [0-9,]+ reads and [0-9,]+ writes in 1 damaged chunk are lost: .*"), message);
			assertTrue(message.contains(problems.get(0)), message);
		}
		try (TraceStore store = Stores.openFile(file)) { // a question about another column leaves the chunk out, too
			AccessScan scan = AccessScan.of(store, Progress.NONE);
			scan.run(AccessQuery.ALL, Set.of(AccessColumn.THREAD), "", Progress.NONE, (from, to) -> (chunk, leafFrom, leafTo) -> {
				throw new AssertionError("a damaged chunk");
			});
			assertEquals(3000, scan.lost().accesses());
			assertEquals(scan.lost(), store.losses());
		}
		try (Connection db = Sqlite.change(file)) {
			Sqlite.execute(db, "UPDATE MT_CHUNK SET READS = READS + 1");
		}
		try (TraceStore store = Stores.openFile(file)) {
			String message = assertThrows(StoreException.class, () -> StoreContract.accesses(store, AccessQuery.ALL)).getMessage();
			assertEquals(file + " is damaged: the index of its accesses is not what was written", message);
		}
	}

	@Test
	void aLoneDatabaseIsTakenIntoTheCatalogue() throws Exception {
		for (DatabaseKind kind : DatabaseKind.values()) {
			Path lone = Files.createDirectories(directory.resolve("elsewhere")).resolve("my trace" + (kind == DatabaseKind.H2 ? ".mv.db" : ".db"));
			write(Stores.createFile(lone, kind, notices::add), 50);
			byte[] before = Files.readAllBytes(lone);
			try (TraceCatalogue catalogue = Stores.openCatalogue(directory.resolve("catalogue" + kind), notices::add)) {
				TraceInfo added = catalogue.add(lone, Progress.NONE);
				assertEquals("my_trace" + (kind == DatabaseKind.H2 ? ".mv.db" : ""), added.databaseName());
				assertEquals(List.of(added), catalogue.list());
				TraceInfo again = catalogue.add(lone, Progress.NONE);
				assertEquals("my_trace_2" + (kind == DatabaseKind.H2 ? ".mv.db" : ""), again.databaseName());
				try (TraceStore store = catalogue.open(added.id()); TraceStore original = Stores.openFile(lone)) {
					assertEquals(StoreContract.accesses(original, AccessQuery.ALL), StoreContract.accesses(store, AccessQuery.ALL));
				}
				Progress cancelled = Progress.cancelledWhen(() -> true);
				assertThrows(CancelledException.class, () -> catalogue.add(lone, cancelled));
				Path text = Files.writeString(directory.resolve("text"), "no database");
				assertThrows(StoreException.class, () -> catalogue.add(text, Progress.NONE));
				assertEquals(2, catalogue.list().size());
				try (var files = Files.list(catalogue.directory())) {
					assertEquals(3, files.count(), "nothing is left of what failed");
				}
			}
			if (kind == DatabaseKind.SQLITE) { // H2 writes when it is opened
				assertArrayEquals(before, Files.readAllBytes(lone), "the file stays as it is");
			}
		}
	}

	@Test
	void notesOfAReadOnlyFileAreRefused() throws Exception {
		Path file = directory.resolve("t.db");
		write(Stores.createFile(file, notices::add), 50);
		try (TraceStore store = Stores.openFile(file)) {
			store.writeNote("k", new byte[] { 1 });
			assertTrue(file.toFile().setReadOnly());
			if (!Files.isWritable(file)) { // not for root
				String message = assertThrows(StoreException.class, () -> store.writeNote("k", new byte[] { 2 })).getMessage();
				assertEquals(file + " cannot be written: no permission", message);
			}
			assertArrayEquals(new byte[] { 1 }, store.readNote("k").orElseThrow());
		}
	}

	/** Saved numbers of producers give the same tree; damaged ones, or those of another tree, are not used. */
	@Test
	void packedTrees() throws Exception {
		ProducerTree tree = StoreContract.tree(50);
		byte[] packed = PackedTree.pack(tree, Progress.NONE);
		assertEquals(text(tree), text(PackedTree.unpack(new java.io.ByteArrayInputStream(packed), StoreContract.PAGE)));
		for (byte[] bad : List.of(new byte[0], java.util.Arrays.copyOf(packed, packed.length - 5), flipped(packed, 5),
				flipped(packed, packed.length / 2), flipped(packed, packed.length - 1))) {
			assertThrows(java.io.IOException.class,
					() -> PackedTree.unpack(new java.io.ByteArrayInputStream(bad), StoreContract.PAGE));
		}
		Path file = directory.resolve("p.db");
		write(Stores.createFile(file, notices::add), 50);
		for (String change : List.of("UPDATE MT_TREE SET DATA = x'00'", "DELETE FROM MT_TREE",
				"UPDATE MT_CELL SET PRODUCER = 1000000 WHERE ID = 3")) {
			Path copy = directory.resolve("copy.db");
			Files.copy(file, copy, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
			try (Connection db = Sqlite.change(copy)) {
				Sqlite.execute(db, change);
			}
			try (TraceStore store = Stores.openFile(copy)) {
				String message = assertThrows(StoreException.class, () -> StoreContract.accesses(store, AccessQuery.ALL)).getMessage();
				assertTrue(message.contains("damaged") || message.contains("has no virtual tree"), message);
			}
		}
	}

	@Test
	void aTraceOfAnEarlierVersionIsRefused() throws Exception {
		Path file = directory.resolve("old.db");
		write(Stores.createFile(file, notices::add), 50);
		try (Connection db = Sqlite.change(file)) {
			Sqlite.execute(db, "UPDATE MT_SCHEMA SET VERSION = 3");
		}
		assertEquals(file + " has format version 3 of an earlier memtrace, this one reads from version 4 on; import the trace again",
				assertThrows(UnsupportedVersionException.class, () -> Stores.openFile(file)).getMessage());
	}

	private static byte[] flipped(byte[] bytes, int at) {
		byte[] copy = bytes.clone();
		copy[at] ^= 1;
		return copy;
	}

	private static String text(ProducerTree tree) {
		StringBuilder b = new StringBuilder();
		for (int id = 0; id < tree.size(); id++) {
			b.append(tree.parent(id)).append(' ').append(tree.subtreeEnd(id)).append(' ').append(tree.kind(id)).append(' ')
					.append(tree.startAddress(id)).append(' ').append(tree.endAddress(id)).append(' ').append(tree.structure(id))
					.append(' ').append(tree.name(id)).append('\n');
		}
		return b.toString();
	}

	/** A trace that FrameSoc wrote: states, links, any ids, a cycle and an orphan among the producers. */
	@Test
	void foreignTracesAreRead() throws Exception {
		Path file = directory.resolve("foreign");
		try (Connection db = Sqlite.make(file)) {
			Sqlite.execute(db, "CREATE TABLE EVENT(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, EVENT_PRODUCER_ID INTEGER,"
					+ " TIMESTAMP BIGINT, CPU INTEGER, PAGE INTEGER, CATEGORY INTEGER, LPAR BIGINT, DPAR DOUBLE)",
					"CREATE TABLE EVENT_TYPE(ID INTEGER PRIMARY KEY, CATEGORY INTEGER, NAME VARCHAR(128) UNIQUE)",
					"CREATE TABLE EVENT_PRODUCER(ID INTEGER PRIMARY KEY, TYPE VARCHAR(128), LOCAL_ID VARCHAR(128), NAME TEXT, PARENT_ID INTEGER)",
					"INSERT INTO EVENT_TYPE VALUES(0, 1, 'Running')", "INSERT INTO EVENT_TYPE VALUES(4, 2, 'Message')",
					"INSERT INTO EVENT_PRODUCER VALUES(7, 'm', '7', 'machine', -1)",
					"INSERT INTO EVENT_PRODUCER VALUES(3, 'c', '3', 'core 10', 7)", "INSERT INTO EVENT_PRODUCER VALUES(5, 'c', '5', 'core 9', 7)",
					"INSERT INTO EVENT_PRODUCER VALUES(8, 'c', '8', 'orphan', 99)", "INSERT INTO EVENT_PRODUCER VALUES(20, 'c', '20', 'ring a', 21)",
					"INSERT INTO EVENT_PRODUCER VALUES(21, 'c', '21', 'ring b', 20)",
					"INSERT INTO EVENT VALUES(0, 0, 3, 100, 0, 0, 1, 200, 0)", "INSERT INTO EVENT VALUES(1, 4, 5, 50, 1, 0, 2, 250, 3)",
					"INSERT INTO EVENT VALUES(2, 0, 5, 300, 1, 0, 1, 400, 0)");
		}
		try (TraceStore store = Stores.openFile(file)) {
			assertEquals(List.of("", ""), store.eventParameters(new long[] {0, 1}), "without the table");
		}
		try (Connection db = Sqlite.change(file)) {
			Sqlite.execute(db, "CREATE TABLE EVENT_PARAM(ID INTEGER PRIMARY KEY, EVENT_ID INTEGER, EVENT_PARAM_TYPE_ID INTEGER, VALUE TEXT)",
					"CREATE TABLE EVENT_PARAM_TYPE(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, NAME VARCHAR(128), TYPE TEXT)",
					"INSERT INTO EVENT_PARAM_TYPE VALUES(0, 0, 'Depth', 'INTEGER')", "INSERT INTO EVENT_PARAM_TYPE VALUES(1, 0, 'Tag', 'STRING')",
					"INSERT INTO EVENT_PARAM VALUES(0, 2, 0, '3')", "INSERT INTO EVENT_PARAM VALUES(1, 2, 1, 'x')");
		}
		try (TraceStore store = Stores.openFile(file)) {
			ProducerTree tree = store.producers();
			List<String> names = new ArrayList<>();
			for (int id = 0; id < tree.size(); id++) {
				names.add("-".repeat(tree.level(id)) + tree.name(id));
			}
			assertEquals(List.of("machine", "-core 9", "-core 10", "orphan", "ring a", "-ring b"), names);
			assertEquals(EventCategory.LINK, store.eventTypes().get(1).category());
			assertEquals(List.of(new StoreContract.Event(4, 1, 50, 250, 3, 1), new StoreContract.Event(0, 2, 100, 200, 0, 0),
					new StoreContract.Event(0, 1, 300, 400, 0, 1)), StoreContract.events(store, AccessQuery.ALL));
			assertEquals(2, StoreContract.events(store, AccessQuery.ALL.window(150, 300)).size());
			assertEquals(2, StoreContract.events(store, AccessQuery.ALL.subtree(tree, 1)).size());
			assertEquals(List.of("Depth=3, Tag=x", ""), store.eventParameters(new long[] {2, 0}));
			List<StoreContract.Event> page = new ArrayList<>();
			store.visitEvents(AccessQuery.ALL, 100, 0, 300, 2, b -> StoreContract.take(b, page), Progress.NONE);
			assertEquals(List.of(new StoreContract.Event(0, 2, 100, 200, 0, 0)), page);
			page.clear();
			store.readEvents(new long[] {2, 1}, b -> StoreContract.take(b, page));
			assertEquals(List.of(300L, 50L), page.stream().map(StoreContract.Event::start).toList());
			assertEquals(0, store.accessCount());
			assertEquals(List.of(), StoreContract.accesses(store, AccessQuery.ALL));
			assertEquals(3, store.info().events());
			assertEquals(400, store.info().endNs());
		}
	}

}
