// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.memtrace.storage.chunks.ChunkEntry;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Sqlite;

/**
 * What tells one content of a database from another. In SQLite it is a number that triggers increase whenever a row changes that accesses
 * are read from, whoever changes it with whatever tool. What was derived from accesses belongs to the number that was read before them, and
 * to no other.
 */
public final class ContentStamp {
	private static final List<String> TABLES = List.of("MT_CHUNK", "MT_COLUMN", "MT_CELL");
	private static final List<String> ACTIONS = List.of("INSERT", "UPDATE", "DELETE");

	private ContentStamp() {
	}

	/** In the words in which SQLite gives them back. */
	static List<String> triggers() {
		List<String> all = new ArrayList<>();
		for (String table : TABLES) {
			for (String action : ACTIONS) {
				all.add("CREATE TRIGGER " + name(table, action) + " AFTER " + action + " ON " + table
						+ " BEGIN UPDATE MT_PROPERTY SET VALUE = VALUE + 1 WHERE NAME = '" + InfoProperties.CONTENT_STAMP + "'; END");
			}
		}
		return all;
	}

	private static String name(String table, String action) {
		return "STAMP_" + table + "_" + action;
	}

	/**
	 * The number; empty when it may have missed a change, because a trigger is not there or is another one (they vanish with a table
	 * that is made anew, and follow one that is renamed).
	 */
	private static String read(Connection db) throws SQLException {
		Set<String> missing = new HashSet<>(triggers());
		try (Statement statement = db.createStatement()) {
			try (ResultSet rows = statement.executeQuery("SELECT sql FROM sqlite_master WHERE type = 'trigger'")) {
				while (rows.next()) {
					missing.remove(rows.getString(1));
				}
			}
			if (!missing.isEmpty()) {
				return "";
			}
			try (ResultSet rows = statement.executeQuery("SELECT VALUE FROM MT_PROPERTY WHERE NAME = '" + InfoProperties.CONTENT_STAMP + "'")) {
				return rows.next() && rows.getString(1) != null ? rows.getString(1) : "";
			}
		}
	}

	/**
	 * See {@link org.memtrace.model.store.TraceStore#contentStamp}. The number where changes are counted; else made of the index of the
	 * chunks, which has a checksum of each column, and of the checksums of the other tables. Rows that do not fit them are damaged, and are
	 * not read; so another content has another stamp.
	 */
	public static String of(Dbms dbms, Connection db) throws SQLException {
		if (dbms.countsChanges()) {
			return read(db);
		}
		if (!dbms.hasTable(db, "MT_CHUNK")) {
			return ""; // of FrameSoc
		}
		String tables = null;
		try (PreparedStatement select = db.prepareStatement("SELECT VALUE FROM MT_PROPERTY WHERE NAME = ?")) {
			select.setString(1, TableChecksums.TABLES_PROPERTY);
			try (ResultSet rows = select.executeQuery()) {
				tables = rows.next() ? rows.getString(1) : null;
			}
		}
		if (tables == null) {
			return "";
		}
		List<ChunkEntry> index = ChunkTables.index(db);
		return index.size() + " " + Long.toHexString(ChunkTables.checksum(index)) + " " + tables;
	}

	/**
	 * Makes what is missing, in a transaction of the caller.
	 *
	 * @param first a number that was surely not used before
	 */
	public static void make(Connection db, long first) throws SQLException {
		for (String table : TABLES) {
			for (String action : ACTIONS) {
				Sqlite.execute(db, "DROP TRIGGER IF EXISTS " + name(table, action));
			}
		}
		Sqlite.update(db, "DELETE FROM MT_PROPERTY WHERE NAME = ?", InfoProperties.CONTENT_STAMP);
		try (PreparedStatement insert = db.prepareStatement("INSERT INTO MT_PROPERTY VALUES(?, ?)")) {
			insert.setString(1, InfoProperties.CONTENT_STAMP);
			insert.setString(2, Long.toString(first));
			insert.executeUpdate();
		}
		Sqlite.execute(db, triggers().toArray(String[]::new));
	}
}
