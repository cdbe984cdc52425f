// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

import org.memtrace.model.RegularFile;
import org.memtrace.model.StoreException;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.SQLiteOpenMode;

/**
 * Opens SQLite files and explains their errors.
 *
 * <p>Finished files keep the rollback journal ("delete") and not WAL: a trace is written once, under a temporary name, and
 * then only read; without WAL it is one file that can be copied, and that can be read in a directory where nobody may write.
 */
public final class Sqlite {
	private static final int BUSY_TIMEOUT_MS = 10_000;
	/** Where the driver unpacks its library. */
	private static final String PLACE = "org.sqlite.tmpdir";
	private static final byte[] MAGIC = "SQLite format 3\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

	/** Kept: a logger that nobody holds forgets its level. */
	private static final Logger DRIVER_LOG = Logger.getLogger("org.sqlite.SQLiteJDBCLoader");

	static {
		// two processes at a time remove what a killed one has left in /tmp, and the later one prints a stack trace about it;
		// a library that cannot be loaded is an exception, too
		DRIVER_LOG.setLevel(Level.OFF);
		load();
	}

	private Sqlite() {
	}

	/**
	 * Loads the library of the driver, which unpacks it into the temporary folder and removes it when the process exits: of a killed one it
	 * stayed for ever. It is not needed once it is loaded, so it goes to a folder of its own, which is removed at once. Windows cannot remove
	 * what is loaded; a place that the user has named is the user's.
	 */
	private static void load() {
		if (File.separatorChar == '\\' || System.getProperty(PLACE) != null || System.getProperty("org.sqlite.lib.path") != null) {
			return;
		}
		try {
			Path folder = Files.createTempDirectory("memtrace-sqlite");
			System.setProperty(PLACE, folder.toString());
			try {
				SQLiteJDBCLoader.initialize();
			} finally {
				System.clearProperty(PLACE);
				try (Stream<Path> files = Files.list(folder)) {
					for (Path file : files.toList()) {
						Files.delete(file);
					}
				}
				Files.delete(folder);
			}
		} catch (Exception e) { // what the driver declares
			DRIVER_LOG.log(Level.FINE, "the first connection tries again, and says what is wrong", e);
		}
	}

	/** Opens a file that must exist. */
	public static Connection read(Path file) throws StoreException {
		return open(file, true, false);
	}

	/** Opens a file that must exist, for changes. */
	public static Connection change(Path file) throws StoreException {
		return open(file, false, false);
	}

	/** Opens a file and makes it when it is not there. */
	public static Connection make(Path file) throws StoreException {
		return open(file, false, true);
	}

	private static Connection open(Path file, boolean readOnly, boolean create) throws StoreException {
		if (!create && !Files.isRegularFile(file)) {
			String kind = RegularFile.otherKind(file);
			throw new StoreException(file + (kind == null ? " does not exist" : " " + kind + ", no database"));
		}
		SQLiteConfig config = new SQLiteConfig();
		config.setReadOnly(readOnly);
		if (!readOnly && !create) {
			config.resetOpenMode(SQLiteOpenMode.CREATE);
		}
		config.setBusyTimeout(BUSY_TIMEOUT_MS);
		config.setGetGeneratedKeys(false); // would be asked for after each insert
		try {
			return config.createConnection("jdbc:sqlite:" + file.toAbsolutePath().toUri());
		} catch (SQLException e) {
			throw explain(file, e);
		}
	}

	public static boolean isSqlite(Path file) {
		try (var in = RegularFile.open(file)) {
			return java.util.Arrays.equals(MAGIC, in.readNBytes(MAGIC.length));
		} catch (java.io.IOException e) {
			return false;
		}
	}

	/** One sentence that names the file and the reason. */
	public static StoreException explain(Path file, SQLException e) {
		String reason = "cannot be used: " + e.getMessage();
		if (e instanceof SQLiteException s) {
			int primary = s.getResultCode().code & 0xff;
			if (primary == SQLiteErrorCode.SQLITE_FULL.code) {
				return StoreException.deviceFull(file + " cannot be written: no space left on the device", e);
			} else if (primary == SQLiteErrorCode.SQLITE_BUSY.code || primary == SQLiteErrorCode.SQLITE_LOCKED.code) {
				reason = "is locked by another process";
			} else if (primary == SQLiteErrorCode.SQLITE_READONLY.code || primary == SQLiteErrorCode.SQLITE_PERM.code) {
				reason = "cannot be written: no permission";
			} else if (primary == SQLiteErrorCode.SQLITE_CANTOPEN.code) {
				reason = "cannot be opened";
			} else if (primary == SQLiteErrorCode.SQLITE_NOTADB.code) {
				reason = "is not an SQLite database";
			} else if (primary == SQLiteErrorCode.SQLITE_CORRUPT.code) {
				reason = "is damaged";
			} else if (primary == SQLiteErrorCode.SQLITE_IOERR.code) {
				reason = "cannot be read or written: input/output error (is the device full?)";
			}
		}
		return new StoreException(file + " " + reason, e);
	}

	public static void execute(Connection db, String... statements) throws SQLException {
		try (Statement statement = db.createStatement()) {
			for (String sql : statements) {
				statement.execute(sql);
			}
		}
	}

	/** First column of the first row, or {@code otherwise} when there is none or it is NULL. */
	public static long number(Connection db, long otherwise, String sql, Object... values) throws SQLException {
		try (PreparedStatement statement = db.prepareStatement(sql)) {
			bind(statement, values);
			try (ResultSet rows = statement.executeQuery()) {
				if (!rows.next()) {
					return otherwise;
				}
				long value = rows.getLong(1);
				return rows.wasNull() ? otherwise : value;
			}
		}
	}

	/** Runs a statement that changes something; returns the number of rows. */
	public static int update(Connection db, String sql, Object... values) throws SQLException {
		try (PreparedStatement statement = db.prepareStatement(sql)) {
			bind(statement, values);
			return statement.executeUpdate();
		}
	}

	private static void bind(PreparedStatement statement, Object... values) throws SQLException {
		for (int i = 0; i < values.length; i++) {
			statement.setObject(i + 1, values[i]);
		}
	}

	public static boolean hasTable(Connection db, String name) throws SQLException {
		return number(db, 0, "SELECT COUNT(*) FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?", name) > 0;
	}
}
