// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.tables;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.TraceInfo;

/** A {@link TraceInfo} as rows of MT_PROPERTY. */
public final class InfoProperties {
	/** Counts the changes of what the trace tells (a trigger of some tables). */
	public static final String CONTENT_STAMP = "content_stamp";
	public static final String ACCESSES = "accesses";
	public static final String LONGEST_NS = "longest_interval_ns";
	/** Whether event types tell the thread: 1 or 0. */
	public static final String TYPES_BY_THREAD = "event_types_by_thread";
	/** In a database whose accesses are in the Parquet folder that it is in: 1. */
	public static final String IN_FOLDER = "accesses_in_folder";
	/** Prefix of the trace's own properties. */
	private static final String OWN = "property.";

	private InfoProperties() {
	}

	/** All rows. */
	public static Map<String, String> all(Connection db) throws SQLException {
		Map<String, String> map = new HashMap<>();
		try (Statement statement = db.createStatement();
				ResultSet rows = statement.executeQuery("SELECT NAME, VALUE FROM MT_PROPERTY")) {
			while (rows.next()) {
				map.put(rows.getString(1), rows.getString(2));
			}
		}
		return map;
	}

	public static Map<String, String> of(TraceInfo info) {
		Map<String, String> map = new TreeMap<>();
		map.put("alias", info.alias());
		map.put("type", info.type());
		map.put("application", info.application());
		map.put("host", info.host());
		map.put("operating_system", info.operatingSystem());
		map.put("cpus", Integer.toString(info.cpus()));
		map.put("events", Long.toString(info.events()));
		map.put("producers", Integer.toString(info.producers()));
		map.put("start_ns", Long.toString(info.startNs()));
		map.put("end_ns", Long.toString(info.endNs()));
		map.put("recorded_at", info.recordedAt().toString());
		map.put("page_size_bytes", Integer.toString(info.pageSizeBytes()));
		map.put("description", info.description());
		info.properties().forEach((key, value) -> map.put(OWN + key, value));
		return map;
	}

	public static TraceInfo read(Map<String, String> map, String databaseName) {
		Map<String, String> own = new TreeMap<>();
		map.forEach((key, value) -> {
			if (key.startsWith(OWN)) {
				own.put(key.substring(OWN.length()), value);
			}
		});
		return new TraceInfo(-1, text(map, "alias", databaseName), databaseName, text(map, "type", "unknown"),
				text(map, "application", "unknown"), text(map, "host", "unknown"),
				text(map, "operating_system", "unknown"), (int) number(map, "cpus"), number(map, "events"),
				(int) number(map, "producers"), number(map, "start_ns"), number(map, "end_ns"),
				instant(map.get("recorded_at")), (int) number(map, "page_size_bytes"), text(map, "description", ""),
				own);
	}

	static Instant instant(String text) {
		try {
			return text == null ? Instant.EPOCH : Instant.parse(text);
		} catch (DateTimeException e) {
			return Instant.EPOCH;
		}
	}

	private static String text(Map<String, String> map, String key, String otherwise) {
		return map.getOrDefault(key, otherwise);
	}

	public static long number(Map<String, String> map, String key) {
		try {
			return Long.parseLong(map.getOrDefault(key, "0"));
		} catch (NumberFormatException e) {
			return 0;
		}
	}
}
