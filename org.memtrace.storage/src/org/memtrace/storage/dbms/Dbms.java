// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

import org.memtrace.model.StoreException;
import org.memtrace.model.store.DatabaseKind;

/** How each {@link DatabaseKind} is opened and written. */
public enum Dbms {
	SQLITE {
		@Override
		public Connection read(Path file) throws StoreException {
			return Sqlite.read(file);
		}

		@Override
		public Connection change(Path file) throws StoreException {
			return Sqlite.change(file);
		}

		@Override
		public Connection make(Path file) throws StoreException {
			return Sqlite.make(file);
		}

		@Override
		public StoreException explain(Path file, SQLException e) {
			return Sqlite.explain(file, e);
		}

		@Override
		public boolean hasTable(Connection db, String name) throws SQLException {
			return Sqlite.hasTable(db, name);
		}

		@Override
		public boolean listsTables(Connection db) throws SQLException {
			return Sqlite.number(db, 0, """
					SELECT COUNT(*) FROM sqlite_master WHERE type NOT IN ('table', 'index', 'view', 'trigger')
					OR type IN ('table', 'view') AND (name <> tbl_name OR instr(sql, name) = 0)""") == 0;
		}

		@Override
		public String suffix() {
			return "";
		}

		@Override
		public String[] schema(String... statements) {
			return statements;
		}

		@Override
		public void prepareWriting(Connection db) throws SQLException {
			Sqlite.execute(db, "PRAGMA page_size = 4096", "PRAGMA encoding = 'UTF-8'", "PRAGMA journal_mode = OFF",
					"PRAGMA synchronous = OFF", "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA cache_size = -65536");
			db.setAutoCommit(false);
		}

		@Override
		public boolean countsChanges() {
			return true;
		}

		@Override
		public void replaceCache(Connection db, String key, byte[] value) throws SQLException {
			Sqlite.execute(db, "PRAGMA busy_timeout = " + CACHE_BUSY_MS);
			Sqlite.update(db, "INSERT OR REPLACE INTO MT_CACHE VALUES(?, ?)", key, value);
		}

		@Override
		public void waitLong(Connection db) throws SQLException {
			Sqlite.execute(db, "PRAGMA busy_timeout = " + LONG_BUSY_MS);
		}
	},
	H2 {
		@Override
		public Connection read(Path file) throws StoreException {
			return org.memtrace.storage.dbms.H2.open(file, false);
		}

		@Override
		public Connection change(Path file) throws StoreException {
			return org.memtrace.storage.dbms.H2.open(file, false);
		}

		@Override
		public Connection make(Path file) throws StoreException {
			return org.memtrace.storage.dbms.H2.open(file, true);
		}

		@Override
		public StoreException explain(Path file, SQLException e) {
			return org.memtrace.storage.dbms.H2.explain(file, e);
		}

		@Override
		public boolean hasTable(Connection db, String name) throws SQLException {
			return Sqlite.number(db, 0, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"
					+ " AND TABLE_NAME = ?", name) > 0;
		}

		@Override
		public String suffix() {
			return org.memtrace.storage.dbms.H2.SUFFIX;
		}

		@Override
		public String[] schema(String... statements) {
			return org.memtrace.storage.dbms.H2.schema(statements);
		}

		@Override
		public void prepareWriting(Connection db) throws SQLException {
			db.setAutoCommit(true); // a file that is not completed is thrown away, so nothing is ever undone
		}

		@Override
		public void replaceCache(Connection db, String key, byte[] value) throws SQLException {
			Sqlite.update(db, "MERGE INTO MT_CACHE(NAME, VALUE) KEY(NAME) VALUES(?, ?)", key, value);
		}
	},
	/** A schema of a server, see {@link Postgres}: it is no file. */
	POSTGRESQL {
		@Override
		public boolean hasTable(Connection db, String name) throws SQLException {
			return Sqlite.number(db, 0, "SELECT COUNT(*) FROM pg_class c, pg_namespace n WHERE n.oid = c.relnamespace"
					+ " AND n.nspname = current_schema() AND c.relkind IN ('r', 'v') AND c.relname = lower(?)", name) > 0;
		}

		@Override
		public String suffix() {
			return "";
		}

		@Override
		public String[] schema(String... statements) {
			return Postgres.schema(statements);
		}

		@Override
		public void prepareWriting(Connection db) throws SQLException {
			db.setAutoCommit(false); // an import is one transaction
		}

		@Override
		public void replaceCache(Connection db, String key, byte[] value) throws SQLException {
			Sqlite.update(db, "INSERT INTO MT_CACHE VALUES(?, ?) ON CONFLICT (NAME) DO UPDATE SET VALUE = excluded.VALUE", key, value);
		}
	};

	private static final int CACHE_BUSY_MS = 500;
	private static final int LONG_BUSY_MS = 5_000;

	public static Dbms of(DatabaseKind kind) {
		return valueOf(kind.name());
	}

	/** The kind of an existing file, by its content. What is no database of either kind is opened as SQLite, which says so. */
	public static Dbms of(Path file) {
		return org.memtrace.storage.dbms.H2.isH2(file) ? H2 : SQLITE;
	}

	/** A name without the suffix that its kind needs. */
	public static String withoutSuffix(String databaseName) {
		return databaseName.endsWith(H2.suffix())
				? databaseName.substring(0, databaseName.length() - H2.suffix().length()) : databaseName;
	}

	/** Opens a file that must exist. */
	public Connection read(Path file) throws StoreException {
		throw noFile();
	}

	/** Opens a file that must exist, for changes. */
	public Connection change(Path file) throws StoreException {
		throw noFile();
	}

	/** Opens a file and makes it when it is not there; its name must end in {@link #suffix}. */
	public Connection make(Path file) throws StoreException {
		throw noFile();
	}

	/** One sentence that names the file and the reason. */
	public StoreException explain(Path file, SQLException e) {
		throw noFile();
	}

	private IllegalStateException noFile() {
		return new IllegalStateException(this + " has no files");
	}

	public abstract boolean hasTable(Connection db, String name) throws SQLException;

	/** Whether the list of tables of a database of ours is well-formed, so that a table that it does not name is none. */
	public boolean listsTables(Connection db) throws SQLException {
		return true; // what is missing in others is told by whoever reads it
	}

	/** How the name of a database file ends. */
	public abstract String suffix();

	/** The statements of {@link Schema} in its own dialect. */
	public abstract String[] schema(String... statements);

	/** For a new database that one connection fills. */
	public abstract void prepareWriting(Connection db) throws SQLException;

	/**
	 * Whether changes are counted, by triggers that have to be made. H2 has no triggers in SQL; on a server they would need
	 * the owner of a table, who may be another one than who reads.
	 */
	public boolean countsChanges() {
		return false;
	}

	public abstract void replaceCache(Connection db, String key, byte[] value) throws SQLException;

	/** What follows waits some seconds for others that write: a person would rather wait than lose what she wrote. */
	public void waitLong(Connection db) throws SQLException {
		// a server, and H2 whose files have one process, need no more
	}
}
