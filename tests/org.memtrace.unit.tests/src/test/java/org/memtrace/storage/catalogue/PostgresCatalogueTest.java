// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.catalogue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.PostgresServer;
import org.memtrace.storage.StoreContract;
import org.memtrace.storage.Stores;
import org.memtrace.storage.dbms.Postgres;
import org.memtrace.storage.dbms.Sqlite;

/** What only a server has: roles, several users at a time, connections that end. */
class PostgresCatalogueTest {
	/** As docs/howto/catalogue.md says it. */
	private static final String[] ROLES = { "CREATE ROLE %1$s_reader", "CREATE ROLE %1$s_writer",
			"CREATE ROLE %1$s_rita LOGIN IN ROLE %1$s_reader",
			"CREATE ROLE %1$s_walt LOGIN IN ROLE %1$s_writer", "CREATE ROLE %1$s_wanda LOGIN IN ROLE %1$s_writer", "CREATE ROLE %1$s_eve LOGIN",
			"GRANT CREATE ON DATABASE %1$s TO %1$s_writer", "GRANT USAGE ON SCHEMA soctrace_system_db TO %1$s_reader, %1$s_writer",
			"GRANT SELECT ON ALL TABLES IN SCHEMA soctrace_system_db TO %1$s_reader, %1$s_writer",
			"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA soctrace_system_db TO %1$s_writer" };

	private final PostgresServer server = PostgresServer.get();
	private CataloguePlace place;
	private final List<String> notices = new ArrayList<>();

	@BeforeEach
	void open() throws Exception {
		place = server.newDatabase();
		as(PostgresServer.OWNER).close();
	}

	private TraceCatalogue as(String user) throws MemtraceException {
		return Stores.openCatalogue(user.equals(PostgresServer.OWNER) ? place : server.place(place.database() + "_" + user, place.database()),
				DatabaseKind.SQLITE, notices::add);
	}

	private void grant() throws Exception {
		for (String sql : ROLES) {
			server.execute(place.database(), String.format(sql, place.database()));
		}
	}

	private static TraceInfo write(TraceWriter created, String alias) throws MemtraceException {
		try (TraceWriter writer = created) {
			writer.threads(StoreContract.THREADS);
			writer.cpuSets(StoreContract.CPU_SETS);
			writer.producers(StoreContract.tree(8));
			writer.accesses(StoreContract.batch(StoreContract.SMALL));
			writer.note("made", new byte[] { 1 });
			TraceInfo i = StoreContract.INFO;
			return writer.commit(new TraceInfo(-1, alias, "", i.type(), i.application(), i.host(), i.operatingSystem(), i.cpus(), 0, 0, i.startNs(),
					i.endNs(), i.recordedAt(), i.pageSizeBytes(), i.description(), i.properties()), null, Progress.NONE);
		}
	}

	private static String refusal(Action action) {
		String message = assertThrows(StoreException.class, action::run).getMessage();
		assertEquals(1, message.lines().count(), message);
		return message;
	}

	private interface Action {
		void run() throws MemtraceException;
	}

	@Test
	void aReaderReadsAndIsToldWhatSheMayNot() throws Exception {
		grant();
		TraceInfo info;
		try (TraceCatalogue walt = as("walt")) {
			info = write(walt.create("app"), "app");
		}
		try (TraceCatalogue rita = as("rita"); TraceStore store = rita.open(rita.find("app").id())) {
			assertEquals(StoreContract.SMALL, StoreContract.accesses(store, AccessQuery.ALL));
			assertArrayEquals(new byte[] { 1 }, store.readNote("made").orElseThrow());
			List<String> problems = new ArrayList<>();
			store.verify(problems::add, Progress.NONE);
			assertEquals(List.of(), problems);
			store.writeCache("a", new byte[] { 1 }); // silently not
			assertTrue(store.readCache("a").isEmpty());
			for (Action action : List.<Action>of(() -> store.writeNote("mine", new byte[] { 2 }), () -> rita.rename(info.id(), "other"),
					() -> rita.describe(info.id(), "other"), () -> rita.setProperty(info.id(), "p", "v"), () -> rita.delete(info.id()),
					() -> rita.create("new").close(), () -> rita.group().create("new"))) {
				String message = refusal(action);
				assertTrue(message.contains("the user has no right to do this"), message);
				assertTrue(message.startsWith("postgresql://" + place.database() + "_rita@127.0.0.1:"), message);
			}
			assertEquals(List.of(info), rita.list());
		}
		assertTrue(refusal(() -> as("eve")).contains("no right"));
	}

	@Test
	void writersShareNotesButEachDeletesHerOwn() throws Exception {
		grant();
		int id;
		try (TraceCatalogue walt = as("walt")) {
			id = write(walt.create("app"), "app").id();
		}
		try (TraceCatalogue wanda = as("wanda")) {
			try (TraceStore store = wanda.open(id)) {
				store.writeNote("markers", new byte[] { 3 });
				store.writeCache("c", new byte[] { 4 });
				assertArrayEquals(new byte[] { 4 }, store.readCache("c").orElseThrow());
			}
			wanda.rename(id, "better");
			assertTrue(refusal(() -> wanda.delete(id)).contains("no right"));
			assertEquals("better", wanda.list().get(0).alias(), "nothing was half done");
		}
		try (TraceCatalogue walt = as("walt")) {
			try (TraceStore store = walt.open(id)) {
				assertArrayEquals(new byte[] { 3 }, store.readNote("markers").orElseThrow());
			}
			walt.delete(id);
			assertEquals(List.of(), walt.list());
		}
		try (Connection db = server.connect(place.database())) {
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'app'"));
		}
	}

	@Test
	void nobodyMakesACatalogueWithoutTheRight() throws Exception {
		CataloguePlace empty = server.newDatabase();
		server.execute(empty.database(), "CREATE ROLE " + empty.database() + "_eve LOGIN");
		assertTrue(refusal(() -> Stores.openCatalogue(server.place(empty.database() + "_eve", empty.database()), DatabaseKind.SQLITE,
				notices::add)).contains("no right"));
	}

	/** Same names at the same time: each import gets a name and a number of its own. */
	@Test
	void manyImportsAtATime() throws Exception {
		grant();
		int imports = 8;
		ExecutorService threads = Executors.newFixedThreadPool(imports);
		try {
			List<Future<TraceInfo>> running = new ArrayList<>();
			for (int i = 0; i < imports; i++) {
				String user = i % 2 == 0 ? "walt" : "wanda";
				Callable<TraceInfo> one = () -> {
					try (TraceCatalogue own = as(user)) {
						return write(own.create("app"), "app");
					}
				};
				running.add(threads.submit(one));
			}
			List<String> names = new ArrayList<>();
			for (Future<TraceInfo> one : running) {
				names.add(one.get().databaseName());
			}
			try (TraceCatalogue catalogue = as("rita")) {
				List<TraceInfo> all = catalogue.list();
				assertEquals(imports, all.size());
				assertEquals(java.util.stream.IntStream.range(0, imports).boxed().toList(), all.stream().map(TraceInfo::id).toList());
				assertEquals(names.stream().sorted().toList(), all.stream().map(TraceInfo::databaseName).sorted().toList());
				assertEquals(imports, all.stream().map(TraceInfo::databaseName).distinct().count());
				for (TraceInfo info : all) {
					try (TraceStore store = catalogue.open(info.id())) {
						assertEquals(StoreContract.SMALL, StoreContract.accesses(store, AccessQuery.ALL));
					}
				}
			}
		} finally {
			threads.shutdownNow();
		}
		assertEquals(List.of(), notices);
	}

	private long connections(String activity) throws Exception {
		try (Connection db = server.connect("postgres")) {
			return Sqlite.number(db, -1, "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = ? AND pid <> pg_backend_pid()" + activity,
					place.database());
		}
	}

	/** As if the processes that write had been killed. */
	private void endConnections() throws Exception {
		server.execute("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + place.database() + "'");
		while (connections("") > 0) {
			Thread.onSpinWait();
		}
	}

	@Test
	void anImportThatIsKilledLeavesNothing() throws Exception {
		TraceCatalogue catalogue = as(PostgresServer.OWNER);
		TraceWriter writer = catalogue.create("app");
		writer.threads(StoreContract.THREADS);
		endConnections();
		assertThrows(StoreException.class, () -> writer.structures(StoreContract.STRUCTURES));
		writer.close();
		try (Connection db = server.connect(place.database())) {
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE 'mt%'"));
		}
		assertEquals(List.of(), catalogue.list());
		assertEquals(List.of(), notices);
	}

	@Test
	void leftoversOfAGroupAreRemovedWhenItsProcessIsGone() throws Exception {
		TraceCatalogue catalogue = as(PostgresServer.OWNER);
		TraceGroup group = catalogue.group();
		write(group.create("app"), "app");
		as(PostgresServer.OWNER).close();
		assertEquals(List.of(), notices, "its process is connected");
		try (TraceStore store = group.open(0)) {
			assertEquals(StoreContract.SMALL, StoreContract.accesses(store, AccessQuery.ALL));
		}
		assertEquals(List.of(), catalogue.list());
		endConnections();
		as(PostgresServer.OWNER).close();
		assertEquals(1, notices.size());
		assertTrue(notices.get(0).startsWith("removed what an interrupted import had left in " + place), notices.get(0));
		try (Connection db = server.connect(place.database())) {
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE 'mt%'"));
		}
		assertThrows(StoreException.class, group::publish);
		group.close();
	}

	@Test
	void aGroupThatIsGivenUpLeavesNothing() throws Exception {
		try (TraceCatalogue catalogue = as(PostgresServer.OWNER)) {
			try (TraceGroup group = catalogue.group()) {
				write(group.create("app"), "app");
			}
			assertEquals(List.of(), catalogue.list());
		}
		try (Connection db = server.connect(place.database())) {
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE 'mt%'"));
			assertEquals(0, Sqlite.number(db, -1, "SELECT COUNT(*) FROM soctrace_system_db.mt_pending"));
		}
	}

	@Test
	void damageIsTold() throws Exception {
		try (TraceCatalogue catalogue = as(PostgresServer.OWNER)) {
			TraceInfo info = write(catalogue.create("app"), "app");
			String address = place.trace("app");
			for (String sql : List.of("UPDATE app.mt_thread SET name = 'other' WHERE id = 0",
					"UPDATE app.mt_property SET value = '9' WHERE name = 'accesses'", "UPDATE app.mt_chunk SET reads = reads + 1",
					"UPDATE app.mt_column SET data = set_byte(data, 3, get_byte(data, 3) # 1)", "DELETE FROM app.mt_column WHERE id % 16 = 0",
					"UPDATE app.mt_note SET value = '\\x07' WHERE name = 'made'", "DROP TABLE app.mt_cell CASCADE")) {
				try (Connection db = server.connect(place.database())) {
					db.setAutoCommit(false);
					Sqlite.execute(db, "CREATE TABLE app.t AS SELECT 1"); // a write transaction even if nothing fits
					assertTrue(sql.startsWith("DROP") || Sqlite.update(db, sql) > 0, sql);
					if (sql.startsWith("DROP")) {
						Sqlite.execute(db, sql);
					}
					Sqlite.execute(db, "DROP TABLE app.t");
					db.commit();
				}
				List<String> problems = new ArrayList<>();
				try (TraceStore store = catalogue.open(info.id())) {
					store.verify(problems::add, Progress.NONE);
				} catch (StoreException e) {
					problems.add(e.getMessage());
				}
				assertFalse(problems.isEmpty(), sql);
				problems.forEach(problem -> assertTrue(problem.startsWith(address), sql + ": " + problem));
				catalogue.delete(info.id());
				info = write(catalogue.create("app"), "app");
			}
			try (TraceStore store = catalogue.open(info.id())) {
				server.execute(place.database(), "DROP SCHEMA app CASCADE");
				String message = refusal(store::threads);
				assertTrue(message.startsWith(address + " is not complete, or was deleted meanwhile"), message);
			}
			int id = info.id();
			assertTrue(refusal(() -> catalogue.open(id)).startsWith("the schema app of trace 0 is missing in " + place));
			catalogue.delete(id);
		}
	}

	@Test
	void anotherContentHasAnotherStamp() throws Exception {
		try (TraceCatalogue catalogue = as(PostgresServer.OWNER)) {
			int id = write(catalogue.create("app"), "app").id();
			String before;
			try (TraceStore store = catalogue.open(id)) {
				before = store.contentStamp();
				assertFalse(before.isEmpty());
			}
			server.execute(place.database(), "UPDATE app.mt_chunk SET reads = reads + 1");
			try (TraceStore store = catalogue.open(id)) {
				assertFalse(before.equals(store.contentStamp()));
			}
		}
	}

	/** Views of FrameSoc, and names without quotes. */
	@Test
	void anyoneAsksInSql() throws Exception {
		try (TraceCatalogue catalogue = as(PostgresServer.OWNER)) {
			write(catalogue.create("My App"), "app");
			assertTrue(catalogue.databaseBytes(catalogue.list().get(0)).getAsLong() > 0);
		}
		try (Connection db = server.connect(place.database());
				var rows = db.createStatement().executeQuery("SELECT * FROM my_app.event WHERE timestamp >= '200' AND page = '0' ORDER BY id")) {
			assertTrue(rows.next());
			assertEquals(List.of(4, 3, 2, 200L, 0, 0, 3, 300L, 5e9), List.of(rows.getInt(1), rows.getInt(2), rows.getInt(3), rows.getLong(4),
					rows.getInt(5), rows.getInt(6), rows.getInt(7), rows.getLong(8), rows.getDouble(9)));
		}
	}

	@Test
	void whatCannotBeReachedIsASentence() throws Exception {
		assertTrue(refusal(() -> Stores.openCatalogue(CataloguePlace.parse("postgresql://" + PostgresServer.OWNER + "@127.0.0.1:1/x"),
				DatabaseKind.SQLITE, notices::add)).contains("cannot be reached"));
		String none = refusal(() -> Stores.openCatalogue(server.place(PostgresServer.OWNER, "nowhere"), DatabaseKind.SQLITE, notices::add));
		assertTrue(none.endsWith("/nowhere does not exist: database \"nowhere\" does not exist"), none);
		CataloguePlace latin = server.newDatabase();
		server.execute("postgres", "CREATE DATABASE latin_" + latin.database() + " ENCODING 'LATIN1' TEMPLATE template0");
		assertTrue(refusal(() -> Stores.openCatalogue(server.place(PostgresServer.OWNER, "latin_" + latin.database()), DatabaseKind.SQLITE,
				notices::add)).endsWith("its encoding is LATIN1, and has to be UTF8"));
		server.execute(latin.database(), "CREATE SCHEMA soctrace_system_db", "CREATE TABLE soctrace_system_db.framesoc_version(version INTEGER)",
				"INSERT INTO soctrace_system_db.framesoc_version VALUES(7)", "CREATE TABLE soctrace_system_db.trace(id INTEGER)");
		assertThrows(UnsupportedVersionException.class, () -> Stores.openCatalogue(latin, DatabaseKind.SQLITE, notices::add));
	}

	@Test
	void thePasswordComesFromTheEnvironment() throws Exception {
		var variables = java.util.Map.of("PGPASSWORD", "secret", "PGUSER", "of the environment", "PGSSLMODE", "require", "PGHOST", "elsewhere",
				"PGPORT",
				"77", "PGDATABASE", "theirs");
		var named = Postgres.properties(CataloguePlace.parse("postgresql://anna@node:5433/team?sslmode=disable"), "s\"", variables::get);
		assertEquals(List.of("anna", "secret", "node", "5433", "team", "disable", "\"s\"\"\""), List.of(named.getProperty("user"),
				named.getProperty("password"), named.getProperty("PGHOST"), named.getProperty("PGPORT"), named.getProperty("PGDBNAME"),
				named.getProperty("sslmode"), named.getProperty("currentSchema")));
		var left = Postgres.properties(CataloguePlace.parse("postgresql:///"), "s", variables::get);
		assertEquals(List.of("of the environment", "elsewhere", "77", "theirs", "require"), List.of(left.getProperty("user"),
				left.getProperty("PGHOST"), left.getProperty("PGPORT"), left.getProperty("PGDBNAME"), left.getProperty("sslmode")));
		assertFalse(CataloguePlace.parse("postgresql://anna@node:5433/team").toString().contains("secret"));
	}
}
