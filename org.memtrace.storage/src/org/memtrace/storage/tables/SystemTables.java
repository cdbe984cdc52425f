// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Names;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;

/** The tables of FrameSoc's System DB, {@link Schema#SYSTEM}, in whatever kind of database. Callers have a transaction for changes. */
public final class SystemTables {
	private static final int UNIT_NS = -9;
	private static final int UNIT_TICK = 2147483646;
	private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
	/** Own values that FrameSoc's row has no place for; the others of {@link TraceInfo#properties} have no dot. */
	private static final String RECORDED_AT = "memtrace.recorded_at";
	private static final String PAGE_SIZE = "memtrace.page_size_bytes";

	private SystemTables() {
	}

	/** All traces, by number. */
	public static List<TraceInfo> list(Connection db) throws SQLException {
		Map<Integer, Map<String, String>> params = new HashMap<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT p.TRACE_ID, t.NAME, p.VALUE FROM TRACE_PARAM p,"
						+ " TRACE_PARAM_TYPE t WHERE t.ID = p.TRACE_PARAM_TYPE_ID")) {
			while (rows.next()) {
				params.computeIfAbsent(rows.getInt(1), k -> new TreeMap<>()).put(rows.getString(2),
						String.valueOf(rows.getString(3)));
			}
		}
		List<TraceInfo> traces = new ArrayList<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT t.ID, t.ALIAS, t.TRACE_DB_NAME, y.NAME,"
						+ " t.TRACED_APPLICATION, t.BOARD, t.OPERATING_SYSTEM, t.NUMBER_OF_CPUS, t.NUMBER_OF_EVENTS,"
						+ " t.NUMBER_OF_PRODUCERS, t.MIN_TIMESTAMP, t.MAX_TIMESTAMP, t.TRACING_DATE, t.DESCRIPTION"
						+ " FROM TRACE t LEFT JOIN TRACE_TYPE y ON y.ID = t.TRACE_TYPE_ID ORDER BY t.ID")) {
			while (rows.next()) {
				Map<String, String> own = params.getOrDefault(rows.getInt(1), new TreeMap<>());
				String name = text(rows.getString(3));
				String alias = text(rows.getString(2));
				String recordedAt = own.remove(RECORDED_AT);
				String pageSize = own.remove(PAGE_SIZE);
				traces.add(new TraceInfo(rows.getInt(1), alias.isEmpty() || alias.equals("UNKNOWN") ? name : alias, name,
						text(rows.getString(4)), text(rows.getString(5)), text(rows.getString(6)),
						text(rows.getString(7)), rows.getInt(8), rows.getLong(9), rows.getInt(10), rows.getLong(11),
						rows.getLong(12),
						recordedAt != null ? InfoProperties.instant(recordedAt) : date(rows.getString(13)),
						pageSize != null && pageSize.matches("\\d{1,9}") ? Integer.parseInt(pageSize) : 0,
						text(rows.getString(14)), own));
			}
		}
		return traces;
	}

	private static String text(String value) {
		return value == null ? "" : value;
	}

	/** FrameSoc writes local time. */
	private static Instant date(String text) {
		try {
			return text == null || text.length() < 19 ? Instant.EPOCH
					: LocalDateTime.parse(text.substring(0, 19), DATE).atZone(ZoneId.systemDefault()).toInstant();
		} catch (DateTimeException e) {
			return Instant.EPOCH;
		}
	}

	/** The trace of a number; {@code catalogue} is what a message calls the catalogue. */
	public static TraceInfo get(List<TraceInfo> traces, int traceId, Object catalogue) throws StoreException {
		for (TraceInfo trace : traces) {
			if (trace.id() == traceId) {
				return trace;
			}
		}
		throw new StoreException("there is no trace " + traceId + " in the catalogue " + catalogue);
	}

	/** The first number that is free; traces are sorted by number. */
	public static int freeId(List<TraceInfo> traces) {
		int id = 0;
		for (TraceInfo trace : traces) {
			id += trace.id() == id ? 1 : 0;
		}
		return id;
	}

	/** The name that one of several traces should get: those that begin with the first one still do so when that had to be changed. */
	public static String wanted(TraceInfo info, TraceInfo first, List<TraceInfo> published) {
		String name = Dbms.withoutSuffix(info.databaseName());
		String prefix = Dbms.withoutSuffix(first.databaseName());
		return published.isEmpty() || !name.startsWith(prefix) ? name
				: Dbms.withoutSuffix(published.get(0).databaseName()) + name.substring(prefix.length());
	}

	/** Adds a row. */
	public static void insert(Connection db, TraceInfo info) throws SQLException {
		long type = Sqlite.number(db, -1, "SELECT ID FROM TRACE_TYPE WHERE NAME = ?", info.type());
		if (type < 0) {
			type = 0;
			while (Sqlite.number(db, -1, "SELECT ID FROM TRACE_TYPE WHERE ID = ?", type) >= 0) {
				type++;
			}
			Sqlite.update(db, "INSERT INTO TRACE_TYPE VALUES(?, ?)", type, info.type());
		}
		String date = DATE.format(info.recordedAt().atZone(ZoneId.systemDefault())) + ".0";
		Sqlite.update(db, "INSERT INTO TRACE VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", info.id(), type, date,
				info.application(), info.host(), info.operatingSystem(), info.cpus(), info.events(), "memtrace",
				info.description(), 0, info.databaseName(), info.alias(), info.startNs(), info.endNs(),
				info.isInTicks() ? UNIT_TICK : UNIT_NS,
				info.producers());
		Map<String, String> values = new TreeMap<>(info.properties());
		values.put(RECORDED_AT, info.recordedAt().toString());
		values.put(PAGE_SIZE, Integer.toString(info.pageSizeBytes()));
		for (Map.Entry<String, String> value : values.entrySet()) {
			insertProperty(db, info.id(), type, value.getKey(), value.getValue());
		}
	}

	private static void insertProperty(Connection db, int traceId, long type, String name, String value) throws SQLException {
		long param = Sqlite.number(db, -1, "SELECT ID FROM TRACE_PARAM_TYPE WHERE TRACE_TYPE_ID = ? AND NAME = ?", type, name);
		if (param < 0) {
			param = Sqlite.number(db, 0, "SELECT MAX(ID) FROM TRACE_PARAM_TYPE") + 1;
			Sqlite.update(db, "INSERT INTO TRACE_PARAM_TYPE VALUES(?, ?, ?, 'STRING')", param, type, name);
		}
		long id = Sqlite.number(db, 0, "SELECT MAX(ID) FROM TRACE_PARAM") + 1;
		Sqlite.update(db, "INSERT INTO TRACE_PARAM VALUES(?, ?, ?, ?)", id, traceId, param, value);
	}

	/** Deletes a row, and the type that nobody has any more. */
	public static void delete(Connection db, int traceId) throws SQLException {
		long type = Sqlite.number(db, -1, "SELECT TRACE_TYPE_ID FROM TRACE WHERE ID = ?", traceId);
		Sqlite.update(db, "DELETE FROM TRACE_PARAM WHERE TRACE_ID = ?", traceId);
		Sqlite.update(db, "DELETE FROM TRACE WHERE ID = ?", traceId);
		if (Sqlite.number(db, 0, "SELECT COUNT(*) FROM TRACE WHERE TRACE_TYPE_ID = ?", type) == 0) {
			Sqlite.update(db, "DELETE FROM TRACE_PARAM_TYPE WHERE TRACE_TYPE_ID = ?", type);
			Sqlite.update(db, "DELETE FROM TRACE_TYPE WHERE ID = ?", type);
		}
	}

	/** Returns how many rows there were. */
	public static int rename(Connection db, int traceId, String alias) throws SQLException {
		return Sqlite.update(db, "UPDATE TRACE SET ALIAS = ? WHERE ID = ?", alias, traceId);
	}

	/** Returns how many rows there were. */
	public static int describe(Connection db, int traceId, String description) throws SQLException {
		return Sqlite.update(db, "UPDATE TRACE SET DESCRIPTION = ? WHERE ID = ?", description, traceId);
	}

	public static void setProducers(Connection db, int traceId, int producers) throws SQLException {
		Sqlite.update(db, "UPDATE TRACE SET NUMBER_OF_PRODUCERS = ? WHERE ID = ?", producers, traceId);
	}

	/** Refuses a name that a property cannot have, or that is ours. */
	public static void checkProperty(String name) throws StoreException {
		Names.property(name);
		if (name.equals(RECORDED_AT) || name.equals(PAGE_SIZE)) {
			throw new StoreException("the property " + name + " cannot be changed");
		}
	}

	/** Null takes the property away. */
	public static void setProperty(Connection db, int traceId, String name, String value) throws SQLException {
		long type = Sqlite.number(db, -1, "SELECT TRACE_TYPE_ID FROM TRACE WHERE ID = ?", traceId);
		Sqlite.update(db, "DELETE FROM TRACE_PARAM WHERE TRACE_ID = ? AND TRACE_PARAM_TYPE_ID IN"
				+ " (SELECT ID FROM TRACE_PARAM_TYPE WHERE TRACE_TYPE_ID = ? AND NAME = ?)", traceId, type, name);
		if (value != null) {
			insertProperty(db, traceId, type, name, value);
		} else {
			Sqlite.update(db, "DELETE FROM TRACE_PARAM_TYPE WHERE TRACE_TYPE_ID = ? AND NAME = ? AND ID NOT IN"
					+ " (SELECT TRACE_PARAM_TYPE_ID FROM TRACE_PARAM)", type, name);
		}
	}
}
