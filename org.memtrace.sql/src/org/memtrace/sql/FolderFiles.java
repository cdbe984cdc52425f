// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;

/**
 * The files of accesses of a Parquet folder that is divided by memory, and the connections of DuckDB that read them: one for each thread
 * that reads, kept for the next one. How many rows, pages and times a row group has is in the footers. All threads.
 */
final class FolderFiles implements AutoCloseable {
	private static final Map<AccessColumn, String> COLUMNS = Map.of(AccessColumn.THREAD, "thread_index", AccessColumn.CPU_SET, "cpu",
			AccessColumn.READS, "reads", AccessColumn.WRITES, "writes", AccessColumn.SHARING, "sharing", AccessColumn.NODE, "node",
			AccessColumn.FLAGS, "flags", AccessColumn.IP, "ip", AccessColumn.FIRST, "first_access_ns - start_ns");

	/** What a connection may use: the row groups that it reads are some MB. */
	private static final String MEMORY = "256MiB";

	final String folder;
	private final Path driver;
	private final Path cache;
	private final ConcurrentLinkedDeque<Connection> spare = new ConcurrentLinkedDeque<>();
	private volatile boolean closed;
	/** Whether the files tell first accesses: those of an earlier memtrace do not. */
	private volatile boolean first;

	/** A row group as the footer of a file tells it. */
	record Group(String file, long rows, int producerFrom, int producerTo, long startNs, long endNs) {
	}

	/**
	 * @param driver the library, see {@link DuckDbLibrary}
	 * @param cache folder for what DuckDB needs
	 * @param folder path of the folder, or its address in {@link ObjectStorage}
	 */
	FolderFiles(Path driver, Path cache, String folder) {
		this.driver = driver;
		this.cache = cache;
		this.folder = folder;
	}

	/** The row groups of each file that has rows, in the order of the pages. */
	List<List<Group>> groups() throws MemtraceException {
		String sql = "SELECT file_name, row_group_id, any_value(row_group_num_rows),"
				+ " min(TRY_CAST(stats_min_value AS BIGINT)) FILTER (path_in_schema = 'producer'),"
				+ " max(TRY_CAST(stats_max_value AS BIGINT)) FILTER (path_in_schema = 'producer'),"
				+ " min(TRY_CAST(stats_min_value AS BIGINT)) FILTER (path_in_schema = 'start_ns'),"
				+ " max(TRY_CAST(stats_max_value AS BIGINT)) FILTER (path_in_schema = 'end_ns'), bool_or(path_in_schema = 'first_access_ns')"
				+ " FROM parquet_metadata(" + SqlText.files(folder + SqlText.ACCESSES) + ") GROUP BY ALL ORDER BY ALL";
		Map<String, List<Group>> byFile = new HashMap<>();
		Connection connection = connection();
		try (Statement s = connection.createStatement(); ResultSet r = s.executeQuery(sql)) {
			while (r.next()) {
				long n = r.getLong(3);
				int from = (int) r.getLong(4);
				boolean known = !r.wasNull();
				Group group = new Group(r.getString(1), n, from, (int) r.getLong(5) + 1, r.getLong(6), r.getLong(7));
				if (!known || r.wasNull()) {
					throw new StoreException(group.file + " does not tell which pages it has: export the trace again");
				}
				byFile.computeIfAbsent(group.file, f -> new ArrayList<>()).add(group);
				first |= r.getBoolean(8);
			}
		} catch (SQLException e) {
			throw new StoreException(folder + ": its accesses cannot be read: " + SqlText.sentence(e), e);
		} finally {
			back(connection);
		}
		return byFile.values().stream().sorted(Comparator.comparingInt((List<Group> f) -> f.getFirst().producerFrom)
				.thenComparingInt(f -> f.getFirst().producerTo)).toList();
	}

	/** For one thread, until {@link #back}. */
	Connection connection() throws MemtraceException {
		Connection known = spare.poll();
		if (known != null) {
			return known;
		}
		Properties properties = new Properties();
		properties.setProperty("jdbc_stream_results", "true");
		try {
			Connection made = DuckDbLibrary.driver(driver, cache.resolve("duckdb")).connect("jdbc:duckdb:", properties);
			try (Statement s = made.createStatement()) {
				SqlSession.prepare(s, folder);
				s.execute("SET threads = 1"); // chunks are read in parallel
				s.execute("SET memory_limit = '" + MEMORY + "'"); // else what was read of the files is kept, up to most of the machine
				return made;
			} catch (SQLException e) {
				made.close();
				throw e;
			}
		} catch (SQLException e) {
			throw new StoreException(driver + ": the SQL engine does not start: " + SqlText.sentence(e), e);
		}
	}

	/** Gives a connection back. */
	void back(Connection connection) {
		spare.push(connection);
		if (closed) {
			close();
		}
	}

	/** The columns of a statement for some columns of a chunk. */
	static String names(List<AccessColumn> columns, boolean times, boolean places, CpuColumn cpus, int pageSizeBytes) {
		StringBuilder sql = new StringBuilder();
		if (times) {
			sql.append(", start_ns, end_ns");
		}
		columns.forEach(c -> sql.append(", ").append(c == AccessColumn.CPU_SET ? cpus.sql() : COLUMNS.get(c)));
		if (places) {
			sql.append(", CAST(address % ").append(pageSizeBytes).append(" AS BIGINT), reads > 0");
		}
		return sql.toString();
	}

	/** Those of some columns that are columns of the files. */
	List<AccessColumn> stored(Set<AccessColumn> wanted) {
		return COLUMNS.keySet().stream().filter(wanted::contains).filter(c -> c != AccessColumn.FIRST || first).toList();
	}

	/** A value of the current row. */
	static void value(AccessColumn c, ResultSet r, int column, CpuColumn cpus, AccessChunk into, int row) throws SQLException {
		switch (c) {
		case THREAD -> into.thread[row] = known(r, column);
		case NODE -> into.node[row] = known(r, column);
		case CPU_SET -> into.cpuSet[row] = cpus.value(r, column);
		case READS -> into.reads[row] = r.getLong(column);
		case WRITES -> into.writes[row] = r.getLong(column);
		case SHARING -> into.sharing[row] = (int) r.getLong(column);
		case FLAGS -> into.flags[row] = (int) r.getLong(column);
		case FIRST -> {
			long first = r.getLong(column);
			into.firstNs[row] = r.wasNull() ? AccessBatch.NO_FIRST : first;
		}
		default -> into.ip[row] = address(r, column);
		}
	}

	/** The place of a row in its page, from column {@code column} on. */
	static void place(ResultSet r, int column, boolean reads, boolean writes, AccessChunk into, int row) throws SQLException {
		int offset = (int) r.getLong(column);
		offset = r.wasNull() ? AccessChunk.NO_OFFSET : offset;
		boolean ofRead = r.getBoolean(column + 1);
		if (reads) {
			into.readOffset[row] = ofRead ? offset : AccessChunk.NO_OFFSET;
		}
		if (writes) {
			into.writeOffset[row] = ofRead ? AccessChunk.NO_OFFSET : offset;
		}
	}

	/** What is not known is null there, and -1 in a chunk. */
	private static int known(ResultSet r, int column) throws SQLException {
		int value = (int) r.getLong(column);
		return r.wasNull() ? -1 : value;
	}

	/** Unsigned in the file. */
	private static long address(ResultSet r, int column) throws SQLException {
		return switch (r.getObject(column)) {
		case null -> 0L;
		case Number number -> number.longValue();
		case Object other -> Long.parseUnsignedLong(other.toString());
		};
	}

	/** Numbers the different times in their order. */
	static void number(long[] start, long[] end, AccessChunk into) {
		int n = start.length;
		List<long[]> times = new ArrayList<>();
		int[] slots = new int[256]; // of a hash table: number of a time + 1
		for (int row = 0; row < n; row++) {
			int slot = slot(slots, times, start[row], end[row]);
			if (slots[slot] == 0) {
				times.add(new long[] {start[row], end[row]});
				slots[slot] = times.size();
				if (2 * times.size() > slots.length) {
					slots = new int[2 * slots.length];
					for (int t = 0; t < times.size(); t++) {
						slots[slot(slots, times, times.get(t)[0], times.get(t)[1])] = t + 1;
					}
				}
				into.time[row] = times.size() - 1;
			} else {
				into.time[row] = slots[slot] - 1;
			}
		}
		Integer[] order = new Integer[times.size()];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, Comparator.comparingLong((Integer i) -> times.get(i)[0]).thenComparingLong(i -> times.get(i)[1]));
		int[] place = new int[order.length];
		for (int t = 0; t < order.length; t++) {
			place[order[t]] = t;
			into.timeStartNs[t] = times.get(order[t])[0];
			into.timeEndNs[t] = times.get(order[t])[1];
		}
		for (int row = 0; row < n; row++) {
			into.time[row] = place[into.time[row]];
		}
		into.times = order.length;
	}

	/** Where a time is in the table, or would be. */
	private static int slot(int[] slots, List<long[]> times, long start, long end) {
		long hash = (start * 31 + end) * 0x9E3779B97F4A7C15L;
		for (int slot = (int) (hash >>> 32) & slots.length - 1;; slot = slot + 1 & slots.length - 1) {
			if (slots[slot] == 0) {
				return slot;
			}
			long[] time = times.get(slots[slot] - 1);
			if (time[0] == start && time[1] == end) {
				return slot;
			}
		}
	}

	@Override
	public void close() {
		closed = true;
		for (Connection c = spare.poll(); c != null; c = spare.poll()) {
			try {
				c.close();
			} catch (SQLException e) {
				// nothing was written
			}
		}
	}
}
