// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.aggregation.build.Preparation;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.tables.ContentStamp;

class H2StoreTest extends StoreContract {
	@TempDir
	Path directory;

	@Override
	TraceCatalogue openCatalogue() throws Exception {
		return Stores.openCatalogue(directory.resolve("a catalogue"), DatabaseKind.H2, notice -> {
			throw new AssertionError(notice);
		});
	}

	@Override
	String file(String databaseName) {
		return databaseName + ".mv.db";
	}

	@Test
	void tracesOfBothKindsAreInOneCatalogue() throws Exception {
		TraceInfo h2 = write("t", SMALL, 8);
		try (TraceCatalogue sqlite = Stores.openCatalogue(catalogue.directory(), n -> {
		})) {
			catalogue = sqlite;
			TraceInfo second = write("t", SMALL, 8);
			assertEquals("t_2", second.databaseName(), "the name without the suffix is unique, too");
			for (TraceInfo info : List.of(h2, second)) {
				try (TraceStore store = sqlite.open(info.id())) {
					assertEquals(SMALL, accesses(store, AccessQuery.ALL));
				}
			}
			sqlite.delete(h2.id());
			assertFalse(Files.exists(sqlite.directory().resolve("t.mv.db")));
		}
	}

	@Test
	void theViewsAreThoseOfFrameSoc() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		try (Connection db = Dbms.H2.read(catalogue.directory().resolve(info.databaseName()));
				var rows = db.createStatement().executeQuery("SELECT * FROM EVENT WHERE TIMESTAMP >= '200' AND PAGE = '0'"
						+ " ORDER BY ID")) {
			assertTrue(rows.next());
			assertEquals(List.of(4, 3, 2, 200L, 0, 0, 3, 300L, 5e9),
					List.of(rows.getInt(1), rows.getInt(2), rows.getInt(3), rows.getLong(4), rows.getInt(5), rows.getInt(6),
							rows.getInt(7), rows.getLong(8), rows.getDouble(9)));
		}
	}

	@Test
	void aFileOfItsOwn() throws Exception {
		Path file = directory.resolve("own.mv.db");
		try (TraceWriter writer = Stores.createFile(file, DatabaseKind.H2, n -> {
		})) {
			writer.threads(THREADS);
			writer.cpuSets(CPU_SETS);
			writer.producers(tree(8));
			writer.accesses(batch(SMALL));
			writer.commit(INFO, null, Progress.NONE);
		}
		assertTrue(Stores.isDatabase(file));
		try (TraceStore store = Stores.openFile(file)) {
			assertEquals(SMALL, accesses(store, AccessQuery.ALL));
		}
		try (Stream<Path> files = Files.list(directory)) {
			assertEquals(List.of("a catalogue", "own.mv.db"), files.map(f -> f.getFileName().toString()).sorted().toList());
		}
		assertTrue(assertThrows(StoreException.class, () -> Stores.createFile(directory.resolve("x.db"), DatabaseKind.H2, n -> {
		})).getMessage().endsWith("x.db cannot be made: the name of an H2 database must end in .mv.db"));
	}

	@Test
	void leftoversOfAKilledImportAreRemoved() throws Exception {
		Path home = catalogue.directory();
		Files.writeString(home.resolve(".memtrace-1.lock"), "gone.mv.db");
		Files.writeString(home.resolve(".memtrace-1.tmp.mv.db"), "half");
		Files.writeString(home.resolve("gone.mv.db"), "renamed, not registered");
		String[] notice = { "" };
		Stores.openCatalogue(home, DatabaseKind.H2, n -> notice[0] += n).close();
		assertTrue(notice[0].startsWith("removed what an interrupted import had left"), notice[0]);
		try (Stream<Path> files = Files.list(home)) {
			assertEquals(List.of("SOCTRACE_SYSTEM_DB"), files.map(f -> f.getFileName().toString()).toList());
		}
	}

	@Test
	void damageIsASentence() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		Path file = catalogue.directory().resolve(info.databaseName());
		byte[] bytes = Files.readAllBytes(file);
		java.util.Arrays.fill(bytes, 64, bytes.length, (byte) 0);
		Files.write(file, bytes);
		String message = assertThrows(StoreException.class, () -> catalogue.open(info.id())).getMessage();
		assertTrue(message.startsWith(file + " "), message);
		assertEquals(1, message.lines().count());
	}

	/** There are no triggers that count changes: the stamp is made of what is there. */
	@Test
	void anotherContentHasAnotherStamp() throws Exception {
		TraceInfo info = write("t", SMALL, 8);
		Path file = catalogue.directory().resolve(info.databaseName());
		String before;
		try (TraceStore store = catalogue.open(info.id())) {
			before = store.contentStamp();
			assertTrue(Preparation.save(store, Progress.NONE));
		}
		for (String sql : List.of("UPDATE MT_CHUNK SET READS = READS + 1", "UPDATE MT_CHUNK SET READS = READS - 1, ROWS = ROWS + 1",
				"UPDATE MT_PROPERTY SET VALUE = REPLACE(VALUE, 'MT_CELL=', 'MT_CELL=1') WHERE NAME = 'table_crc32c'")) {
			try (Connection db = Dbms.H2.change(file)) {
				Sqlite.execute(db, sql);
				assertNotEquals(before, ContentStamp.of(Dbms.H2, db), sql);
			}
		}
	}
}
