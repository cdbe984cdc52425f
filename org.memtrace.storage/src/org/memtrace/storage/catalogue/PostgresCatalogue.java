// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.catalogue;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.UnsupportedVersionException;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.model.store.TraceCatalogue;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Names;
import org.memtrace.storage.dbms.PendingDatabase;
import org.memtrace.storage.dbms.Postgres;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.tables.SystemTables;
import org.memtrace.storage.trace.SqlTraceStore;
import org.memtrace.storage.trace.SqlTraceWriter;
import org.memtrace.storage.trace.TableCopy;

/**
 * A database of a PostgreSQL server: FrameSoc's System DB is the schema {@link #SYSTEM}, each trace a schema of its own. A trace is
 * written in one transaction, which also registers it, so what a killed process has written is undone by the server. Traces of a group are
 * transactions of their own; their schemas are listed in MT_PENDING until they are published, with the number of a lock that the server
 * holds as long as their process is connected. Who may do what is decided by the server alone: a new trace belongs to the role that
 * imports it, and gets the rights that others have on the table TRACE. docs/howto/catalogue.md
 */
public final class PostgresCatalogue implements TraceCatalogue {
	/** Schema of the System DB. */
	static final String SYSTEM = Names.SYSTEM_DB.toLowerCase(Locale.ROOT);
	/** How schemas begin that nobody sees. */
	private static final String PENDING = "mt_pending_";
	/** Of names, in bytes; longer ones are cut by the server. */
	private static final int LONGEST = 63;
	/** Left for a number that makes a name unique. */
	private static final int NUMBER = 6;
	/** Lock of all changes of the System DB of a database: "memtrace" in ASCII. */
	private static final long CHANGES = 0x6d656d7472616365L;
	private static final SecureRandom RANDOM = new SecureRandom();

	private final CataloguePlace place;

	public PostgresCatalogue(CataloguePlace place, Consumer<String> notices) throws MemtraceException {
		this.place = place;
		try (Connection db = connect()) {
			if (!exists(db, SYSTEM)) {
				prepare(db);
			}
			if (Sqlite.number(db, 0, "SELECT CAST(has_schema_privilege(?, 'USAGE') AS INTEGER)", SYSTEM) == 0) {
				throw explain(new SQLException("no right USAGE on its schema " + SYSTEM, "42501"));
			}
			if (!Dbms.POSTGRESQL.hasTable(db, "TRACE")) {
				throw new StoreException(place + " cannot be used: its schema " + SYSTEM + " is no catalogue");
			}
			long version = Sqlite.number(db, 0, "SELECT MAX(VERSION) FROM FRAMESOC_VERSION");
			if (version > Schema.SYSTEM_VERSION) {
				throw new UnsupportedVersionException(place.toString(), (int) version, Schema.SYSTEM_VERSION);
			}
			removeLeftovers(db, notices);
		} catch (SQLException e) {
			throw explain(e);
		}
	}

	private Connection connect() throws StoreException {
		return Postgres.connect(place, SYSTEM);
	}

	private StoreException explain(SQLException e) {
		return Postgres.explain(place, e);
	}

	private static boolean exists(Connection db, String schema) throws SQLException {
		return Sqlite.number(db, 0, "SELECT COUNT(*) FROM pg_namespace WHERE nspname = ?", schema) > 0;
	}

	private void prepare(Connection db) throws SQLException, MemtraceException {
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery("SHOW server_encoding")) {
			rows.next();
			if (!rows.getString(1).equals("UTF8")) {
				throw new StoreException(place + " cannot be used: its encoding is " + rows.getString(1) + ", and has to be UTF8");
			}
		}
		inTransaction(db, () -> {
			if (!exists(db, SYSTEM)) { // another process may have been faster
				Sqlite.execute(db, "CREATE SCHEMA " + SYSTEM);
				Sqlite.execute(db, Postgres.schema(Schema.SYSTEM));
				Sqlite.execute(db, "CREATE TABLE FRAMESOC_VERSION(VERSION INTEGER)",
						"INSERT INTO FRAMESOC_VERSION VALUES(" + Schema.SYSTEM_VERSION + ")",
						"CREATE TABLE MT_PENDING(NAME VARCHAR(63) PRIMARY KEY, LOCK BIGINT)");
			}
			return null;
		});
	}

	private interface Action<T> {
		T run() throws SQLException, MemtraceException;
	}

	/** One change of the System DB after the other, so that what is read inside stays true until the end. */
	private static <T> T inTransaction(Connection db, Action<T> action) throws MemtraceException, SQLException {
		db.setAutoCommit(false);
		boolean ok = false;
		try {
			Postgres.limitWaiting(db);
			lockChanges(db);
			T result = action.run();
			db.commit();
			ok = true;
			return result;
		} finally {
			if (!ok) {
				db.rollback();
			}
			db.setAutoCommit(true);
		}
	}

	private static void lockChanges(Connection db) throws SQLException {
		Sqlite.execute(db, "SELECT pg_advisory_xact_lock(" + CHANGES + ")");
	}

	/** Schemas of groups whose process is not connected any more. Who has no right to remove them leaves them. */
	private void removeLeftovers(Connection db, Consumer<String> notices) throws SQLException, MemtraceException {
		try {
			if (Sqlite.number(db, 0, "SELECT COUNT(*) FROM MT_PENDING") == 0) {
				return;
			}
			int removed = inTransaction(db, () -> {
				int count = 0;
				for (Map.Entry<String, Long> pending : pending(db).entrySet()) {
					boolean dead = Sqlite.number(db, 0, "SELECT CAST(pg_try_advisory_xact_lock(?) AS INTEGER)", pending.getValue()) == 1;
					if (dead) {
						Sqlite.execute(db, "DROP SCHEMA IF EXISTS " + Postgres.quoted(pending.getKey()) + " CASCADE");
						Sqlite.update(db, "DELETE FROM MT_PENDING WHERE NAME = ?", pending.getKey());
						count++;
					}
				}
				return count;
			});
			if (removed > 0) {
				notices.accept("removed what an interrupted import had left in " + place + " (" + removed + " schemas)");
			}
		} catch (SQLException e) {
			if (!"42501".equals(e.getSQLState())) {
				throw e;
			}
		}
	}

	private static Map<String, Long> pending(Connection db) throws SQLException {
		Map<String, Long> pending = new HashMap<>();
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery("SELECT NAME, LOCK FROM MT_PENDING")) {
			while (rows.next()) {
				pending.put(rows.getString(1), rows.getLong(2));
			}
		}
		return pending;
	}

	@Override
	public Path directory() {
		return null;
	}

	@Override
	public CataloguePlace place() {
		return place;
	}

	@Override
	public List<TraceInfo> list() throws MemtraceException {
		try (Connection db = connect()) {
			return SystemTables.list(db);
		} catch (SQLException e) {
			throw explain(e);
		}
	}

	@Override
	public OptionalLong databaseBytes(TraceInfo info) throws MemtraceException {
		try (Connection db = connect()) {
			long bytes = Sqlite.number(db, -1, "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c, pg_namespace n"
					+ " WHERE n.oid = c.relnamespace AND n.nspname = ? AND c.relkind = 'r'", info.databaseName());
			return bytes < 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
		} catch (SQLException e) {
			throw explain(e);
		}
	}

	/** Lower case, so that nobody has to quote it in SQL. */
	private static String schema(String wanted) {
		String name = Names.database(wanted).toLowerCase(Locale.ROOT);
		name = name.substring(0, Math.min(name.length(), LONGEST - NUMBER));
		return name.startsWith("pg_") || name.startsWith(PENDING)
				? "db_" + name.substring(0, Math.min(name.length(), LONGEST - NUMBER - "db_".length())) : name;
	}

	@Override
	public TraceWriter create(String databaseName) throws MemtraceException {
		return new SqlTraceWriter(new Pending(null), schema(databaseName));
	}

	@Override
	public TraceGroup group() throws MemtraceException {
		return new Group();
	}

	@Override
	public TraceInfo add(Path database, Progress progress) throws MemtraceException {
		try (SqlTraceStore from = new SqlTraceStore(Database.of(database), null, producers -> {
		})) {
			String name = Dbms.withoutSuffix(database.getFileName().toString()).replaceFirst("\\.db$", "");
			return add(from, name, progress);
		}
	}

	@Override
	public TraceInfo add(TraceStore trace, Progress progress) throws MemtraceException {
		return add(SqlTraceStore.stored(trace), Dbms.withoutSuffix(trace.info().databaseName()), progress);
	}

	private TraceInfo add(SqlTraceStore from, String name, Progress progress) throws MemtraceException {
		return TableCopy.copy(from, new Pending(null), schema(name), progress);
	}

	/** The schema of a trace. */
	private final class TraceSchema extends Database {
		private final String schema;

		TraceSchema(String schema) {
			super(Dbms.POSTGRESQL);
			this.schema = schema;
		}

		@Override
		public Connection read() throws StoreException {
			return Postgres.connect(place, schema);
		}

		/** Rows are fetched bit by bit only inside of a transaction. */
		@Override
		public Connection scan() throws MemtraceException {
			Connection db = read();
			try {
				db.setReadOnly(true);
				db.setAutoCommit(false);
			} catch (SQLException e) {
				throw explain(e);
			}
			return db;
		}

		@Override
		public Connection change() throws MemtraceException {
			Connection db = read();
			try {
				Postgres.limitWaiting(db);
			} catch (SQLException e) {
				throw explain(e);
			}
			return db;
		}

		@Override
		public boolean isWritable() {
			return true;
		}

		@Override
		public StoreException explain(SQLException e) {
			return Postgres.explain(this, e);
		}

		@Override
		public String name() {
			return schema;
		}

		@Override
		public String toString() {
			return schema.startsWith(PENDING) ? place.toString() : place.trace(schema);
		}
	}

	/** A schema that is written. */
	private final class Pending implements PendingDatabase {
		/** Null for a trace of its own. */
		private final Group group;
		private final TraceSchema schema;
		private Connection db;

		Pending(Group group) {
			byte[] random = new byte[12];
			RANDOM.nextBytes(random);
			this.group = group;
			schema = new TraceSchema(PENDING + HexFormat.of().formatHex(random));
		}

		@Override
		public Database database() {
			return schema;
		}

		@Override
		public Path scratch() {
			return Path.of(System.getProperty("java.io.tmpdir"));
		}

		@Override
		public Connection begin() throws MemtraceException, SQLException {
			db = schema.read();
			db.setAutoCommit(false);
			// reading what is imported can take long, and so can writing it
			Sqlite.execute(db, "SET idle_in_transaction_session_timeout = 0", "SET statement_timeout = 0");
			Sqlite.execute(db, "CREATE SCHEMA " + Postgres.quoted(schema.schema));
			Sqlite.execute(db, Postgres.schema(Schema.NOTES));
			return db;
		}

		@Override
		public TraceInfo publish(Connection written, TraceInfo complete) throws MemtraceException, SQLException {
			TraceInfo published = complete;
			if (group != null) {
				Sqlite.update(written, "INSERT INTO " + SYSTEM + ".MT_PENDING VALUES(?, ?)", schema.schema, group.lock);
			} else {
				lockChanges(written);
				published = register(written, List.of(schema.schema), List.of(complete)).get(0);
			}
			written.commit();
			written.close();
			if (group != null) {
				group.completed(schema, complete);
			}
			return published;
		}

		/** The server undoes what was not committed. */
		@Override
		public void end() {
			if (db != null) {
				try {
					db.close();
				} catch (SQLException e) {
					// then the server notices it by itself
				}
				db = null;
			}
		}
	}

	/** Gives schemas their names, registers them, and grants what others may do. In a transaction that has {@link #lockChanges}. */
	private static List<TraceInfo> register(Connection db, List<String> schemas, List<TraceInfo> infos) throws SQLException {
		Sqlite.execute(db, "SET LOCAL search_path TO " + SYSTEM);
		List<TraceInfo> traces = new ArrayList<>(SystemTables.list(db));
		List<TraceInfo> published = new ArrayList<>();
		for (int i = 0; i < schemas.size(); i++) {
			TraceInfo info = infos.get(i);
			List<String> taken = schemas(db);
			String name = Names.unique(schema(SystemTables.wanted(info, infos.get(0), published)),
					candidate -> taken.contains(candidate) || traces.stream().anyMatch(t -> t.databaseName().equalsIgnoreCase(candidate)));
			TraceInfo named = info.stored(SystemTables.freeId(traces), info.alias(), name, info.events(), info.producers());
			Sqlite.execute(db, "ALTER SCHEMA " + Postgres.quoted(schemas.get(i)) + " RENAME TO " + Postgres.quoted(name));
			SystemTables.insert(db, named);
			grant(db, Postgres.quoted(name));
			published.add(named);
			traces.add(named);
			traces.sort(Comparator.comparingInt(TraceInfo::id));
		}
		return published;
	}

	private static List<String> schemas(Connection db) throws SQLException {
		List<String> names = new ArrayList<>();
		try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery("SELECT nspname FROM pg_namespace")) {
			while (rows.next()) {
				names.add(rows.getString(1));
			}
		}
		return names;
	}

	/** Who may read the list of traces may read the trace, who may change it may write notes. */
	private static void grant(Connection db, String schema) throws SQLException {
		List<String> grants = new ArrayList<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE CAST(CAST(a.grantee AS regrole)"
						+ " AS TEXT) END, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = CAST('" + SYSTEM
						+ ".trace' AS regclass) AND a.privilege_type IN ('SELECT', 'UPDATE')")) {
			while (rows.next()) {
				String to = " TO " + rows.getString(1);
				if (rows.getString(2).equals("SELECT")) {
					grants.add("GRANT USAGE ON SCHEMA " + schema + to);
					grants.add("GRANT SELECT ON ALL TABLES IN SCHEMA " + schema + to);
				} else {
					grants.add("GRANT INSERT, UPDATE, DELETE ON " + schema + ".MT_NOTE, " + schema + ".MT_CACHE" + to);
				}
			}
		}
		Sqlite.execute(db, grants.toArray(String[]::new));
	}

	/** Traces that are published together. */
	private final class Group implements TraceGroup {
		private final long lock = RANDOM.nextLong();
		private final Connection db;
		private final List<TraceSchema> schemas = new ArrayList<>();
		private final List<TraceInfo> infos = new ArrayList<>();
		private boolean published;

		Group() throws MemtraceException {
			db = connect();
			try {
				Sqlite.execute(db, "SELECT pg_advisory_lock(" + lock + ")");
			} catch (SQLException e) {
				close();
				throw explain(e);
			}
		}

		void completed(TraceSchema schema, TraceInfo info) {
			schemas.add(schema);
			infos.add(info);
		}

		@Override
		public TraceWriter create(String databaseName) throws MemtraceException {
			return new SqlTraceWriter(new Pending(this), schema(databaseName));
		}

		@Override
		public TraceStore open(int index) throws MemtraceException {
			return new SqlTraceStore(schemas.get(index), infos.get(index), producers -> {
			});
		}

		@Override
		public List<TraceInfo> publish() throws MemtraceException {
			try {
				List<TraceInfo> traces = inTransaction(db, () -> {
					List<TraceInfo> all = register(db, schemas.stream().map(s -> s.schema).toList(), infos);
					Sqlite.update(db, "DELETE FROM MT_PENDING WHERE LOCK = ?", lock);
					return all;
				});
				published = true;
				return traces;
			} catch (SQLException e) {
				throw explain(e);
			}
		}

		@Override
		public void close() {
			try (db) {
				if (!published && !schemas.isEmpty()) {
					inTransaction(db, () -> {
						for (TraceSchema schema : schemas) {
							Sqlite.execute(db, "DROP SCHEMA IF EXISTS " + Postgres.quoted(schema.schema) + " CASCADE");
						}
						Sqlite.update(db, "DELETE FROM MT_PENDING WHERE LOCK = ?", lock);
						return null;
					});
				}
			} catch (SQLException | MemtraceException e) {
				// a later process removes what remains: the lock ends with the connection
			}
			schemas.clear();
		}
	}

	@Override
	public TraceStore open(int traceId) throws MemtraceException {
		TraceInfo info;
		try (Connection db = connect()) {
			info = SystemTables.get(SystemTables.list(db), traceId, place);
			if (!exists(db, info.databaseName())) {
				throw new StoreException("the schema " + info.databaseName() + " of trace " + traceId + " is missing in " + place);
			}
		} catch (SQLException e) {
			throw explain(e);
		}
		return new SqlTraceStore(new TraceSchema(info.databaseName()), info, producers -> change(traceId, db -> {
			SystemTables.setProducers(db, traceId, producers);
			return 1;
		}));
	}

	private interface Change {
		/** Returns 0 when there is no such trace. */
		int run(Connection db) throws SQLException, MemtraceException;
	}

	private void change(int traceId, Change change) throws MemtraceException {
		try (Connection db = connect()) {
			if (inTransaction(db, () -> change.run(db)) == 0) {
				SystemTables.get(List.of(), traceId, place);
			}
		} catch (SQLException e) {
			throw explain(e);
		}
	}

	@Override
	public void delete(int traceId) throws MemtraceException {
		change(traceId, db -> {
			TraceInfo info = SystemTables.get(SystemTables.list(db), traceId, place);
			try {
				Sqlite.execute(db, "DROP SCHEMA IF EXISTS " + Postgres.quoted(info.databaseName()) + " CASCADE");
			} catch (SQLException e) {
				throw Postgres.explain(place.trace(info.databaseName()), e);
			}
			SystemTables.delete(db, traceId);
			return 1;
		});
	}

	@Override
	public void rename(int traceId, String alias) throws MemtraceException {
		String name = Names.alias(alias);
		change(traceId, db -> SystemTables.rename(db, traceId, name));
	}

	@Override
	public void describe(int traceId, String description) throws MemtraceException {
		change(traceId, db -> SystemTables.describe(db, traceId, description));
	}

	@Override
	public void setProperty(int traceId, String name, String value) throws MemtraceException {
		SystemTables.checkProperty(name);
		change(traceId, db -> {
			SystemTables.get(SystemTables.list(db), traceId, place);
			SystemTables.setProperty(db, traceId, name, value);
			return 1;
		});
	}

	@Override
	public TraceInfo find(String nameOrId) throws MemtraceException {
		return Names.find(list(), nameOrId);
	}

	@Override
	public void close() {
		// nothing is held
	}
}
