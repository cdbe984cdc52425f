// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The column of sets of CPUs, texts in the files. Where few sets are known, DuckDB gives the number of each, so that no text comes for each
 * row. Immutable.
 */
final class CpuColumn {
	/** With more of them a statement would be longer than what it saves. */
	private static final int FEW = 256;

	private final Map<String, Integer> numbers;
	/** Number of the set of each code that DuckDB gives; null: the column has texts. */
	private final int[] ofCode;
	private final String sql;

	/** @param numbers number of each text */
	CpuColumn(Map<String, Integer> numbers) {
		this.numbers = Map.copyOf(numbers);
		if (numbers.isEmpty() || numbers.size() > FEW) {
			ofCode = null;
			sql = "cpu";
			return;
		}
		String[] texts = numbers.keySet().toArray(String[]::new);
		ofCode = new int[texts.length];
		for (int i = 0; i < texts.length; i++) {
			ofCode[i] = numbers.get(texts[i]);
		}
		sql = "enum_code(TRY_CAST(cpu AS ENUM(" + Arrays.stream(texts).map(SqlText::text).collect(Collectors.joining(",")) + ")))";
	}

	/** What a statement asks for. */
	String sql() {
		return sql;
	}

	/** The number of the set of the current row; -1: none, or one that is not known. */
	int value(ResultSet r, int column) throws SQLException {
		if (ofCode != null) {
			int code = (int) r.getLong(column);
			return r.wasNull() ? -1 : ofCode[code];
		}
		String cpus = r.getString(column);
		return cpus == null ? -1 : numbers.getOrDefault(cpus, -1);
	}
}
