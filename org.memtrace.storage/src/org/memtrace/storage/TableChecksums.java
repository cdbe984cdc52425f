// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

import org.memtrace.model.StoreException;
import org.memtrace.model.memory.AddressSpace;

/**
 * Checksums of what is not in chunks: of each small table, of the cells as they are in each tree, and of the properties, which these
 * checksums are among. The format is in docs/database-schema.md, "Damage". A database that was written before there were any has none, and is
 * not checked.
 */
final class TableChecksums {
	/** Name of the property with the checksums of the tables: {@code NAME=number} between commas. */
	static final String TABLES_PROPERTY = "table_crc32c";
	/** Name of the property with the checksum of the version and of all properties but this and the content stamp. */
	static final String PROPERTIES_PROPERTY = "property_crc32c";
	static final String CELL = "MT_CELL";
	static final String TREE = "MT_TREE";
	static final String THREAD = "MT_THREAD";
	static final String STRUCTURE = "MT_STRUCTURE";
	static final String FRAME = "MT_FRAME";
	static final String CPU_SET = "MT_CPU_SET";
	static final String INTERVAL = "MT_INTERVAL";
	static final String REPORT = "MT_REPORT";
	static final String EVENT_TYPE = "EVENT_TYPE";
	/** What new trees change; the other tables stay for ever. */
	private static final List<String> OF_TREES = List.of(TREE, CELL, "MT_RULE", "EVENT_PRODUCER");
	private static final List<String> OTHERS = List.of(EVENT_TYPE, "EVENT_PARAM_TYPE", CPU_SET, THREAD, Schema.THREAD_TIMES, STRUCTURE, FRAME,
			INTERVAL, "MT_AREA", "MT_IMAGE", REPORT);

	private final Map<String, Long> known;

	private TableChecksums(Map<String, Long> known) {
		this.known = known;
	}

	/** Checks the properties themselves. */
	static TableChecksums read(Path file, int version, Map<String, String> properties) throws StoreException {
		String tables = properties.get(TABLES_PROPERTY);
		String own = properties.get(PROPERTIES_PROPERTY);
		if (tables == null && own == null) {
			return new TableChecksums(Map.of());
		}
		if (tables == null || !Long.toString(ofProperties(version, properties)).equals(own)) {
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
	Iterable<String> tables() {
		return known.keySet().stream().filter(name -> !name.startsWith("cells.")).toList();
	}

	/** Compares a table with its checksum, if it has one. */
	void check(Path file, Connection db, String table) throws SQLException, StoreException {
		Long wanted = known.get(table);
		if (wanted != null && wanted != of(db, table)) {
			throw damaged(file, table);
		}
	}

	/** Compares where cells are in a tree with its checksum, if it has one. */
	void checkCells(Path file, AddressSpace space, int[] producers) throws StoreException {
		Long wanted = known.get(cells(space));
		if (wanted != null && wanted != ChunkAccesses.orderOf(producers)) {
			throw damaged(file, CELL);
		}
	}

	private static StoreException damaged(Path file, String table) {
		return new StoreException(file + " is damaged: its table " + table + " is not what was written");
	}

	private static String cells(AddressSpace space) {
		return "cells." + space.id();
	}

	/** Adds the checksums to a database that is complete but for them. */
	static void write(Connection db) throws SQLException {
		Map<String, Long> all = new TreeMap<>();
		for (String table : OTHERS) {
			all.put(table, of(db, table));
		}
		write(db, all);
	}

	/** After the trees were replaced; nothing when there were no checksums before. */
	static void rewrite(Path file, Connection db, Map<String, String> before, int version) throws SQLException, StoreException {
		Map<String, Long> known = read(file, version, before).known;
		if (!known.isEmpty()) {
			write(db, new TreeMap<>(known));
		}
	}

	/** Completes the checksums by those of the trees. */
	private static void write(Connection db, Map<String, Long> all) throws SQLException {
		for (String table : OF_TREES) {
			all.put(table, of(db, table));
		}
		for (AddressSpace space : AddressSpace.values()) {
			all.put(cells(space), ChunkAccesses.orderOf(TreeTables.cells(db, space).producers()));
		}
		StringBuilder text = new StringBuilder();
		all.forEach((name, crc) -> text.append(text.isEmpty() ? "" : ",").append(name).append('=').append(crc));
		replace(db, TABLES_PROPERTY, text.toString());
		int version = (int) Sqlite.number(db, 0, "SELECT MAX(VERSION) FROM MT_SCHEMA");
		replace(db, PROPERTIES_PROPERTY, Long.toString(ofProperties(version, InfoProperties.all(db))));
	}

	private static void replace(Connection db, String name, String value) throws SQLException {
		Sqlite.update(db, "DELETE FROM MT_PROPERTY WHERE NAME = ?", name);
		try (PreparedStatement insert = db.prepareStatement("INSERT INTO MT_PROPERTY VALUES(?, ?)")) {
			insert.setString(1, name);
			insert.setString(2, value);
			insert.executeUpdate();
		}
	}

	private static long ofProperties(int version, Map<String, String> properties) {
		CRC32C crc = new CRC32C();
		number(crc, version);
		new TreeMap<>(properties).forEach((name, value) -> {
			if (!name.equals(PROPERTIES_PROPERTY) && !name.equals(ContentStamp.PROPERTY)) {
				text(crc, name);
				text(crc, value);
			}
		});
		return crc.getValue();
	}

	/** Of all values of a table in the order of its first two columns. */
	private static long of(Connection db, String table) throws SQLException {
		CRC32C crc = new CRC32C();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " ORDER BY 1, 2")) {
			int columns = rows.getMetaData().getColumnCount();
			while (rows.next()) {
				for (int c = 1; c <= columns; c++) {
					switch (rows.getObject(c)) {
					case null -> crc.update('-');
					case Double d -> number(crc, Double.doubleToLongBits(d));
					case Number n -> number(crc, n.longValue());
					case byte[] b -> bytes(crc, b);
					case Blob b -> bytes(crc, rows.getBytes(c));
					case Clob t -> text(crc, rows.getString(c));
					case Object o -> text(crc, o.toString());
					}
				}
			}
		}
		return crc.getValue();
	}

	private static void number(CRC32C crc, long value) {
		crc.update('n');
		for (int shift = 0; shift < 64; shift += 8) {
			crc.update((int) (value >>> shift) & 0xff);
		}
	}

	private static void text(CRC32C crc, String text) {
		crc.update('t');
		bytes(crc, text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8));
	}

	private static void bytes(CRC32C crc, byte[] bytes) {
		number(crc, bytes.length);
		crc.update(bytes);
	}
}
