// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.StoreException;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.RowsChecksum;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;
import org.memtrace.storage.rows.ChunkAccesses;

/**
 * Checksums of what is not in chunks: of each small table, of the cells as they are in each tree, and of the properties, which these
 * checksums are among. The format is in docs/reference/database-chunks.md, "Damage".
 */
public final class TableChecksums {
	/** Name of the property with the checksums of the tables: {@code NAME=number} between commas. */
	static final String TABLES_PROPERTY = "table_crc32c";
	/** Name of the property with the checksum of the version and of all properties but this and the content stamp. */
	static final String PROPERTIES_PROPERTY = "property_crc32c";
	public static final String CELL = "MT_CELL";
	public static final String TREE = "MT_TREE";
	public static final String THREAD = "MT_THREAD";
	public static final String STRUCTURE = "MT_STRUCTURE";
	public static final String FRAME = "MT_FRAME";
	public static final String CPU_SET = "MT_CPU_SET";
	public static final String INTERVAL = "MT_INTERVAL";
	public static final String REPORT = "MT_REPORT";
	public static final String EVENT_TYPE = "EVENT_TYPE";
	/** What new trees change; the other tables stay for ever. */
	private static final List<String> OF_TREES = List.of(TREE, CELL, "MT_RULE", "EVENT_PRODUCER");
	private static final List<String> OTHERS = List.of(EVENT_TYPE, "EVENT_PARAM_TYPE", CPU_SET, THREAD, Schema.THREAD_TIMES, STRUCTURE, FRAME,
			INTERVAL, "MT_AREA", "MT_IMAGE", REPORT, "MT_CONTEXT", "MT_CONTEXT_PARAM");

	private final Map<String, Long> known;

	private TableChecksums(Map<String, Long> known) {
		this.known = known;
	}

	/** Of a database that FrameSoc wrote: nothing can be checked. */
	public static TableChecksums none() {
		return new TableChecksums(Map.of());
	}

	/** Checks the properties themselves. */
	public static TableChecksums read(Database file, Map<String, String> properties) throws StoreException {
		String tables = properties.get(TABLES_PROPERTY);
		if (tables == null || !Long.toString(ofProperties(properties)).equals(properties.get(PROPERTIES_PROPERTY))) {
			throw damaged(file, "MT_PROPERTY");
		}
		Map<String, Long> known = new TreeMap<>();
		for (String one : tables.split(",")) {
			int at = one.indexOf('=');
			known.put(one.substring(0, at), Long.parseLong(one.substring(at + 1)));
		}
		return new TableChecksums(known);
	}

	/** Names of the tables that can be checked. */
	public Iterable<String> tables() {
		return known.keySet().stream().filter(name -> !name.startsWith("cells.")).toList();
	}

	/** Compares a table with its checksum, if it has one. */
	public void check(Database file, Connection db, String table) throws SQLException, StoreException {
		Long wanted = known.get(table);
		if (wanted != null && wanted != of(db, table)) {
			throw damaged(file, table);
		}
	}

	/** Compares where cells are in a tree with its checksum, if it has one. */
	public void checkCells(Database file, AddressSpace space, int[] producers) throws StoreException {
		Long wanted = known.get(cells(space));
		if (wanted != null && wanted != ChunkAccesses.orderOf(producers)) {
			throw damaged(file, CELL);
		}
	}

	private static StoreException damaged(Database file, String table) {
		return new StoreException(file + " is damaged: its table " + table + " is not what was written");
	}

	private static String cells(AddressSpace space) {
		return "cells." + space.id();
	}

	/**
	 * Adds the checksums to a database that is complete but for them.
	 *
	 * @param counted checksums of large tables, made while their rows were written
	 */
	public static void write(Connection db, Map<String, Long> counted) throws SQLException {
		Map<String, Long> all = new TreeMap<>(counted);
		for (String table : OTHERS) {
			all.put(table, of(db, table));
		}
		complete(db, all);
	}

	/** After the trees were replaced. */
	public static void rewrite(Database file, Connection db, Map<String, String> before) throws SQLException, StoreException {
		complete(db, new TreeMap<>(read(file, before).known));
	}

	/** After tables of a copy were left empty. */
	public static void rewriteEmpty(Database file, Connection db, Map<String, String> before, List<String> empty)
			throws SQLException, StoreException {
		Map<String, Long> all = new TreeMap<>(read(file, before).known);
		for (String table : empty) {
			if (all.containsKey(table)) {
				all.put(table, of(db, table));
			}
		}
		complete(db, all);
	}

	/** Completes the checksums by those of the trees. */
	private static void complete(Connection db, Map<String, Long> all) throws SQLException {
		for (String table : OF_TREES) {
			all.put(table, of(db, table));
		}
		for (AddressSpace space : AddressSpace.values()) {
			all.put(cells(space), ChunkAccesses.orderOf(TreeTables.cells(db, space).producers()));
		}
		StringBuilder text = new StringBuilder();
		all.forEach((name, crc) -> text.append(text.isEmpty() ? "" : ",").append(name).append('=').append(crc));
		replace(db, TABLES_PROPERTY, text.toString());
		replace(db, PROPERTIES_PROPERTY, Long.toString(ofProperties(InfoProperties.all(db))));
	}

	private static void replace(Connection db, String name, String value) throws SQLException {
		Sqlite.update(db, "DELETE FROM MT_PROPERTY WHERE NAME = ?", name);
		try (PreparedStatement insert = db.prepareStatement("INSERT INTO MT_PROPERTY VALUES(?, ?)")) {
			insert.setString(1, name);
			insert.setString(2, value);
			insert.executeUpdate();
		}
	}

	private static long ofProperties(Map<String, String> properties) {
		RowsChecksum crc = new RowsChecksum();
		crc.number(Schema.VERSION);
		new TreeMap<>(properties).forEach((name, value) -> {
			if (!name.equals(PROPERTIES_PROPERTY) && !name.equals(InfoProperties.CONTENT_STAMP)) {
				crc.text(name);
				crc.text(value == null ? "" : value);
			}
		});
		return crc.get();
	}

	/** Of all values of a table in the order of its first two columns. */
	private static long of(Connection db, String table) throws SQLException {
		RowsChecksum crc = new RowsChecksum();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " ORDER BY 1, 2")) {
			int columns = rows.getMetaData().getColumnCount();
			while (rows.next()) {
				for (int c = 1; c <= columns; c++) {
					crc.value(rows.getObject(c));
				}
			}
		}
		return crc.get();
	}
}
