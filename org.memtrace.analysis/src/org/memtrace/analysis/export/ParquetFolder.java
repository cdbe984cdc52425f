// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;

/**
 * A folder that {@link ParquetExport} wrote, by its {@code meta.json}. docs/reference/parquet.md
 *
 * @param path the folder: a path of a file system, or an address that the reader of the files knows
 * @param trace name of the trace
 * @param timeUnit {@code ns} or {@code tick}
 * @param info what is known of the trace; without its recording time, its operating system and the number of CPUs
 * @param tables in alphabetical order
 */
public record ParquetFolder(String path, String trace, String timeUnit, TraceInfo info, List<Table> tables) {
	/** Version of what {@code meta.json} and the tables look like; it grows when something is no longer as it was. */
	public static final int SCHEMA_VERSION = 2;
	/** What tells that a folder is one. */
	public static final String META = "meta.json";
	/** What the tables do not have of a trace, for {@link org.memtrace.model.store.TraceStore}; a folder of a part of a trace has none. */
	public static final String REST = "trace.db";
	/** After the name of a folder without {@link #REST}: a sentence without its end. */
	public static final String NOT_WHOLE = " cannot stand for a trace, as it has no " + REST + ": it is of an earlier memtrace, of a part of a"
			+ " trace, or divided by time; export the whole trace again";
	/** In a folder on this machine that stands for one in object storage: its address. */
	public static final String ADDRESS = "address";

	/**
	 * A table.
	 *
	 * @param name name of the table, such as {@code accesses}
	 * @param files its files: a path, in which * stands for any name
	 * @param columns meaning of each column
	 * @param addresses columns of addresses
	 */
	public record Table(String name, String files, Map<String, String> columns, List<String> addresses) {
	}

	/** Whether it looks like such a folder. */
	public static boolean isFolder(Path path) {
		return Files.isRegularFile(path.resolve(META))
				&& (Files.isDirectory(path.resolve("accesses")) || Files.isRegularFile(path.resolve(ADDRESS)));
	}

	private static TraceInfo info(JsonObject o) {
		Map<String, String> properties = new LinkedHashMap<>();
		o.getAsJsonObject("properties").entrySet().forEach(p -> properties.put(p.getKey(), p.getValue().getAsString()));
		JsonObject producers = o.getAsJsonObject("tables").getAsJsonObject("producers");
		return new TraceInfo(-1, o.get("trace").getAsString(), "", TraceInfo.TYPE_MEMTRACE, o.get("application").getAsString(),
				o.get("host").getAsString(), "", 0, 0, producers.get("rows").getAsInt(), o.get("start_ns").getAsLong(), o.get("end_ns").getAsLong(),
				Instant.EPOCH, o.get("page_size_bytes").getAsInt(), "", properties);
	}

	/** {@link #timeUnit} of a trace that is no folder. */
	public static String timeUnit(TraceInfo info) {
		return info.properties().getOrDefault("time_unit", "ns");
	}

	/** Reads what is in a folder, or in the one in object storage that it stands for. */
	public static ParquetFolder open(Path path) throws MemtraceException {
		Path meta = path.resolve(META);
		try {
			Path address = path.resolve(ADDRESS);
			return parse(Files.isRegularFile(address) ? RegularFile.text(address).strip() : path.toString(), RegularFile.text(meta));
		} catch (IOException e) {
			throw new StoreException(meta + " cannot be read: " + e.getMessage(), e);
		}
	}

	/** Where the text for {@link #parse} is. */
	public static String meta(String path) {
		return path + "/" + META;
	}

	/**
	 * A folder that is in no file system.
	 *
	 * @param path without a slash at its end
	 * @param text what is in its {@code meta.json}
	 */
	public static ParquetFolder parse(String path, String text) throws MemtraceException {
		String meta = meta(path);
		try {
			JsonObject o = JsonParser.parseString(text).getAsJsonObject();
			if (!o.get("schema").getAsString().equals("memtrace-export")) {
				throw new StoreException(meta + " does not describe an export of memtrace");
			}
			int version = o.get("schema_version").getAsInt();
			if (version != SCHEMA_VERSION) {
				throw new StoreException(path + " has version " + version + " of the tables, this memtrace knows "
						+ SCHEMA_VERSION
						+ "; export the trace again");
			}
			List<Table> tables = new ArrayList<>();
			for (Map.Entry<String, JsonElement> t : o.getAsJsonObject("tables").entrySet()) {
				Map<String, String> columns = new LinkedHashMap<>();
				List<String> addresses = new ArrayList<>();
				for (JsonElement e : t.getValue().getAsJsonObject().getAsJsonArray("columns")) {
					JsonObject c = e.getAsJsonObject();
					columns.put(c.get("name").getAsString(), c.get("description").getAsString());
					if (c.get("type").getAsString().equals("uint64")) {
						addresses.add(c.get("name").getAsString());
					}
				}
				String files = t.getKey().equals("accesses") ? "accesses/*/*.parquet" : t.getKey() + ".parquet";
				tables.add(new Table(t.getKey(), path + "/" + files, columns, addresses));
			}
			return new ParquetFolder(path, o.get("trace").getAsString(), o.get("time_unit").getAsString(), info(o), tables);
		} catch (JsonParseException | IllegalStateException | NullPointerException | ClassCastException e) {
			throw new StoreException(meta + " cannot be read: " + e.getMessage(), e);
		}
	}
}
