// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.util.ArrayList;
import java.util.List;

/**
 * Words for questions that many ask: units of time, who uses a page most, what threads share, how much is in use. They read the table
 * {@code access}, wherever it comes from. docs/reference/sql.md, "Words for questions"
 */
final class SqlMacros {
	private static final String BY_USE = "accesses DESC, thread_index";

	private SqlMacros() {
	}

	/**
	 * Statements that make them.
	 *
	 * @param pageSizeBytes of the trace
	 * @param database whether the extension reads a database
	 */
	static List<String> of(int pageSizeBytes, boolean database) {
		List<String> all = new ArrayList<>(List.of(
				// as a filter by region; a slash in a name is written as in Regions.inPath
				"MACRO in_region(path, region) AS contains('/' || path || '/', '/' || replace(region, '/', '\u2215') || '/')",
				// numbers of ns do not fit into DuckDB's INTEGER
				"MACRO s(x) AS CAST(round(x * 1000000000::DOUBLE) AS BIGINT)", "MACRO ms(x) AS CAST(round(x * 1000000::DOUBLE) AS BIGINT)",
				"MACRO us(x) AS CAST(round(x * 1000::DOUBLE) AS BIGINT)",
				"MACRO page_user(from_ns, to_ns) AS TABLE SELECT producer, first(structure ORDER BY " + BY_USE + ") AS structure,"
						+ " first(thread_index ORDER BY " + BY_USE + ") AS thread_index, first(accesses ORDER BY " + BY_USE + ") AS accesses,"
						+ " CAST(sum(accesses) AS BIGINT) AS all_accesses FROM (SELECT a.producer, any_value(a.structure) AS structure,"
						+ " a.thread_index, CAST(sum(a.reads + a.writes) AS BIGINT) AS accesses FROM access a WHERE a.start_ns >= from_ns"
						+ " AND a.start_ns < to_ns AND a.thread_index IS NOT NULL GROUP BY a.producer, a.thread_index) GROUP BY producer",
				"MACRO working_set(width_ns) AS TABLE SELECT CAST(a.time_ns // width_ns * width_ns AS BIGINT) AS from_ns,"
						+ " count(DISTINCT a.page_start // " + pageSizeBytes + ") * " + pageSizeBytes
						+ " AS bytes, count(DISTINCT a.thread_index) AS threads FROM access a GROUP BY 1 ORDER BY 1",
				"MACRO thread_pair() AS TABLE WITH used AS (SELECT producer, thread_index, bool_or(writes > 0) AS writes FROM access"
						+ " WHERE thread_index IS NOT NULL GROUP BY ALL) SELECT x.thread_index AS a, y.thread_index AS b, count(*) AS pages,"
						+ " count(*) * " + pageSizeBytes + " AS bytes, count(*) FILTER (x.writes OR y.writes) AS written_pages"
						+ " FROM used x JOIN used y ON x.producer = y.producer AND x.thread_index < y.thread_index GROUP BY ALL"));
		if (database) {
			String sums = "SELECT structure, sum(reads)::BIGINT AS reads, sum(writes)::BIGINT AS writes, count(DISTINCT thread_index) AS threads,"
					+ " count(DISTINCT thread_index) FILTER (writes > 0) AS writers, count(DISTINCT producer) AS pages FROM ";
			StringBuilder columns = new StringBuilder("coalesce(x.structure::VARCHAR, y.structure::VARCHAR) AS structure");
			for (String c : List.of("reads", "writes", "threads", "writers", "pages")) {
				columns.append(", coalesce(x.").append(c).append(", 0) AS ").append(c).append(", coalesce(y.").append(c).append(", 0) AS other_")
						.append(c);
			}
			all.add("MACRO compare(other) AS TABLE SELECT " + columns + " FROM (" + sums + "access GROUP BY structure) x FULL JOIN (" + sums
					+ "memtrace_access(other) GROUP BY structure) y ON x.structure::VARCHAR IS NOT DISTINCT FROM y.structure::VARCHAR"
					+ " ORDER BY abs(coalesce(x.reads, 0) + coalesce(x.writes, 0) - coalesce(y.reads, 0) - coalesce(y.writes, 0)) DESC, 1");
		}
		return all.stream().map(m -> "CREATE " + m).toList();
	}
}
