// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;

import org.memtrace.importer.input.Json;
import org.memtrace.model.TraceInfo;

/** What an import did: every number, and why something is not in the trace. */
public final class ImportReport {
	private final Map<String, Object> values;
	private final List<String> warnings;
	private final String text;
	private TraceInfo trace;

	/**
	 * @param values numbers, texts, lists and maps by name, in the order in which they are shown; the names are those of JSON
	 * @param warnings sentences about what a user should know
	 * @param text the numbers that matter for a person, several lines, without the warnings: see {@link #line}
	 */
	public ImportReport(Map<String, Object> values, List<String> warnings, String text) {
		this.values = new LinkedHashMap<>(values);
		this.warnings = List.copyOf(warnings);
		this.values.put("warnings", this.warnings);
		StringBuilder all = new StringBuilder(text);
		warnings.forEach(warning -> line(all, "warning", "%s", warning));
		this.text = all.toString();
	}

	/** Gives it the trace as the store knows it. */
	public ImportReport stored(TraceInfo info) {
		trace = info;
		return this;
	}

	/** The trace as the store knows it. */
	public TraceInfo trace() {
		return trace;
	}

	/**
	 * A stored report for a table: what was counted, and how many, in the order of the report. Objects inside give a row for
	 * each of their values.
	 *
	 * @param json from {@link #toJson}
	 */
	public static Map<String, String> rows(String json) {
		Map<String, String> rows = new LinkedHashMap<>();
		try {
			rows("", JsonParser.parseString(json), rows);
		} catch (JsonParseException e) {
			rows.put("report", "cannot be read: " + e.getMessage());
		}
		return rows;
	}

	private static void rows(String path, JsonElement value, Map<String, String> rows) {
		if (value.isJsonObject()) {
			value.getAsJsonObject().asMap()
					.forEach((key, v) -> rows(path.isEmpty() ? key : path + ": " + key, v, rows));
		} else if (value.isJsonArray()) {
			int i = 1;
			for (JsonElement v : value.getAsJsonArray()) {
				rows(value.getAsJsonArray().size() == 1 ? path : path + " " + i++, v, rows);
			}
		} else if (!value.isJsonNull()) {
			JsonPrimitive p = value.getAsJsonPrimitive();
			boolean whole = p.isNumber() && p.getAsString().matches("-?\\d+");
			rows.put(path.replace('_', ' '), whole ? String.format(Locale.ROOT, "%,d", p.getAsLong()) : p.getAsString());
		}
	}

	/** Sentences about what a user should know. */
	public List<String> warnings() {
		return warnings;
	}

	/** The report as a JSON object. */
	public String toJson() {
		return Json.PRETTY.toJson(values);
	}

	/** The report for a person, several lines. */
	public String toText() {
		return text;
	}

	/** Appends a line of {@link #toText}: a label in a column of its own, then a formatted text. */
	public static void line(StringBuilder text, String label, String format, Object... arguments) {
		text.append(String.format(Locale.ROOT, "%-22s", label)).append(String.format(Locale.ROOT, format, arguments).strip())
				.append('\n');
	}
}
