// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.model.TraceFormatException;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/** TOML 1.0 as collections of Java; read by tomlj. */
final class Toml {
	private Toml() {
	}

	/**
	 * Values by key: {@link String}, {@link Long}, {@link Double}, {@link Boolean}, dates and times of {@link java.time}, {@link List} of
	 * these, and a {@link Map} for each table. All in the order of the file.
	 *
	 * @param file for messages
	 * @throws TraceFormatException the first thing that is no TOML, with its line and column
	 */
	static Map<String, Object> parse(String file, String text) throws TraceFormatException {
		TomlParseResult result = org.tomlj.Toml.parse(text);
		if (result.hasErrors()) {
			TomlParseError first = result.errors().get(0);
			throw new TraceFormatException(file, 0,
					"line " + first.position().line() + ", column " + first.position().column() + ": " + first.getMessage());
		}
		return table(result);
	}

	private static Map<String, Object> table(TomlTable table) {
		Map<String, Object> values = new LinkedHashMap<>();
		for (Map.Entry<String, Object> e : table.entrySet()) {
			values.put(e.getKey(), value(e.getValue()));
		}
		return values;
	}

	private static Object value(Object value) {
		return switch (value) {
			case TomlTable table -> table(table);
			case TomlArray array -> array.toList().stream().map(Toml::value).toList();
			default -> value;
		};
	}
}
