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
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;

/**
 * The accesses of a Parquet folder that is divided by memory, read by DuckDB: chunks are row groups of its files. How many rows, pages and
 * times a row group has is in the footers, so opening reads no accesses. All threads; each reads with a connection of its own.
 */
final class FolderAccesses implements AccessSource, AutoCloseable {
	/** As many runs as a scan makes at most; a file is what one of them had. */
	private static final int RUNS = 64;

	private final Path driver;
	private final Path cache;
	private final String folder;
	private final List<Chunk> chunks = new ArrayList<>();
	private final long rows;
	private final Map<String, Integer> cpuSets = new HashMap<>();
	private final int pageSizeBytes;
	private final ConcurrentLinkedDeque<Connection> spare = new ConcurrentLinkedDeque<>();

	/** Rows of a file. */
	private record Chunk(String file, long rowFrom, long rowTo, ChunkInfo info) {
	}

	/** A row group as the footer of a file tells it. */
	private record Group(String file, long rows, int producerFrom, int producerTo, long startNs, long endNs) {
	}

	/**
	 * Opens the files.
	 *
	 * @param folder path of the folder
	 * @param cpuSets number of each text of the column {@code cpu}
	 */
	FolderAccesses(Path driver, Path cache, String folder, Map<String, Integer> cpuSets, int pageSizeBytes) throws MemtraceException {
		this.driver = driver;
		this.cache = cache;
		this.folder = folder;
		this.pageSizeBytes = pageSizeBytes;
		this.cpuSets.putAll(cpuSets);
		List<List<Group>> files = files();
		rows = files.stream().flatMap(List::stream).mapToLong(Group::rows).sum();
		long least = Math.max(1, Math.ceilDiv(rows, RUNS));
		long first = 0;
		for (List<Group> file : files) {
			first += divide(file, least, first);
		}
		for (int c = 1; c < chunks.size(); c++) {
			if (chunks.get(c).info.producerFrom() < chunks.get(c - 1).info.producerTo() - 1) {
				throw new StoreException(folder + " is not divided by memory: export the trace again, with --partition memory");
			}
		}
	}

	/**
	 * Makes chunks of the row groups of a file. A file that was exported from a database is one run of a scan of it; where the rows would be
	 * enough for a run before the end of the file, the rest is one chunk. So a scan of the folder has the runs of one of the database.
	 */
	private long divide(List<Group> file, long least, long firstRow) {
		long from = 0;
		long at = 0;
		int begin = 0;
		for (int g = 0; g < file.size(); g++) {
			at += file.get(g).rows;
			if (g + 1 == file.size() || at < least) {
				List<Group> some = file.subList(begin, g + 1);
				chunks.add(new Chunk(some.getFirst().file, from, at, new ChunkInfo((int) (at - from),
						some.stream().mapToInt(Group::producerFrom).min().orElse(0), some.stream().mapToInt(Group::producerTo).max().orElse(0),
						some.stream().mapToLong(Group::startNs).min().orElse(0), some.stream().mapToLong(Group::endNs).max().orElse(0),
						ChunkInfo.NOT_KNOWN, ChunkInfo.NOT_KNOWN, firstRow + from)));
				from = at;
				begin = g + 1;
			}
		}
		return at;
	}

	/** The row groups of each file that has rows, in the order of the pages. */
	private List<List<Group>> files() throws MemtraceException {
		String sql = "SELECT file_name, row_group_id, any_value(row_group_num_rows),"
				+ " min(TRY_CAST(stats_min_value AS BIGINT)) FILTER (path_in_schema = 'producer'),"
				+ " max(TRY_CAST(stats_max_value AS BIGINT)) FILTER (path_in_schema = 'producer'),"
				+ " min(TRY_CAST(stats_min_value AS BIGINT)) FILTER (path_in_schema = 'start_ns'),"
				+ " max(TRY_CAST(stats_max_value AS BIGINT)) FILTER (path_in_schema = 'end_ns')"
				+ " FROM parquet_metadata(" + SqlSession.text(folder + "/accesses/*/*.parquet") + ") GROUP BY ALL ORDER BY ALL";
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
			}
		} catch (SQLException e) {
			throw new StoreException(folder + ": its accesses cannot be read: " + SqlSession.sentence(e), e);
		} finally {
			spare.push(connection);
		}
		return byFile.values().stream().sorted(Comparator.comparingInt((List<Group> f) -> f.getFirst().producerFrom)
				.thenComparingInt(f -> f.getFirst().producerTo)).toList();
	}

	private Connection connection() throws MemtraceException {
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
				return made;
			} catch (SQLException e) {
				made.close();
				throw e;
			}
		} catch (SQLException e) {
			throw new StoreException(driver + ": the SQL engine does not start: " + SqlSession.sentence(e), e);
		}
	}

	@Override
	public int chunks() {
		return chunks.size();
	}

	@Override
	public ChunkInfo info(int chunk) {
		return chunks.get(chunk).info;
	}

	@Override
	public long rows() {
		return rows;
	}

	private static final Map<AccessColumn, String> COLUMNS = Map.of(AccessColumn.THREAD, "thread_index", AccessColumn.CPU_SET, "cpu",
			AccessColumn.READS, "reads", AccessColumn.WRITES, "writes", AccessColumn.SHARING, "sharing", AccessColumn.NODE, "node",
			AccessColumn.FLAGS, "flags", AccessColumn.IP, "ip");

	@Override
	public void read(int number, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
		Chunk chunk = chunks.get(number);
		boolean offsets = wanted.contains(AccessColumn.READ_OFFSET) || wanted.contains(AccessColumn.WRITE_OFFSET);
		boolean times = wanted.contains(AccessColumn.TIME);
		List<AccessColumn> read = COLUMNS.keySet().stream().filter(wanted::contains).toList();
		StringBuilder sql = new StringBuilder("SELECT producer");
		if (times) {
			sql.append(", start_ns, end_ns");
		}
		read.forEach(c -> sql.append(", ").append(COLUMNS.get(c)));
		if (offsets) {
			sql.append(", CAST(address % ").append(pageSizeBytes).append(" AS BIGINT), reads > 0");
		}
		sql.append(" FROM read_parquet(").append(SqlSession.text(chunk.file)).append(", hive_partitioning = false, file_row_number = true)")
				.append(" WHERE file_row_number >= ").append(chunk.rowFrom).append(" AND file_row_number < ").append(chunk.rowTo);
		int n = chunk.info.rows();
		into.reserve(n, n, times ? n : 0);
		long[] start = times ? new long[n] : null;
		long[] end = times ? new long[n] : null;
		Connection connection = connection();
		try (Statement s = connection.createStatement(); ResultSet r = s.executeQuery(sql.toString())) {
			into.rows = 0;
			into.leaves = 0;
			int row = 0;
			for (; r.next(); row++) {
				if (row == n) {
					throw new StoreException(chunk.file + " has more rows than it says");
				}
				int leaf = (int) r.getLong(1);
				if (into.leaves == 0 || into.leaf[into.leaves - 1] != leaf) {
					if (into.leaves > 0 && into.leaf[into.leaves - 1] > leaf) {
						throw new StoreException(chunk.file + " is not in the order of its pages: export the trace again");
					}
					into.leaf[into.leaves] = leaf;
					into.leafFrom[into.leaves++] = row;
				}
				int column = 2;
				if (times) {
					start[row] = r.getLong(column++);
					end[row] = r.getLong(column++);
				}
				for (AccessColumn c : read) {
					value(c, r, column++, into, row);
				}
				if (offsets) {
					int offset = (int) r.getLong(column++);
					offset = r.wasNull() ? AccessChunk.NO_OFFSET : offset;
					boolean ofRead = r.getBoolean(column);
					into.readOffset[row] = ofRead ? offset : AccessChunk.NO_OFFSET;
					into.writeOffset[row] = ofRead ? AccessChunk.NO_OFFSET : offset;
				}
			}
			if (row != n) {
				throw new StoreException(chunk.file + " has fewer rows than it says");
			}
			into.leafFrom[into.leaves] = n;
			into.rows = n;
			if (times) {
				number(start, end, into);
			}
		} catch (SQLException e) {
			into.rows = 0;
			into.leaves = 0;
			throw new StoreException(chunk.file + " cannot be read: " + SqlSession.sentence(e), e);
		} finally {
			spare.push(connection);
		}
	}

	private void value(AccessColumn c, ResultSet r, int column, AccessChunk into, int row) throws SQLException {
		switch (c) {
		case THREAD -> into.thread[row] = known(r, column);
		case NODE -> into.node[row] = known(r, column);
		case CPU_SET -> {
			String cpus = r.getString(column);
			into.cpuSet[row] = cpus == null ? -1 : cpuSets.getOrDefault(cpus, -1);
		}
		case READS -> into.reads[row] = r.getLong(column);
		case WRITES -> into.writes[row] = r.getLong(column);
		case SHARING -> into.sharing[row] = (int) r.getLong(column);
		case FLAGS -> into.flags[row] = (int) r.getLong(column);
		default -> into.ip[row] = address(r, column);
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
	private static void number(long[] start, long[] end, AccessChunk into) {
		int n = start.length;
		Map<Long, Map<Long, Integer>> known = new HashMap<>();
		List<long[]> times = new ArrayList<>();
		int last = -1;
		for (int row = 0; row < n; row++) {
			if (last < 0 || times.get(last)[0] != start[row] || times.get(last)[1] != end[row]) {
				Map<Long, Integer> ends = known.computeIfAbsent(start[row], k -> new HashMap<>(2));
				Integer found = ends.get(end[row]);
				if (found == null) {
					found = times.size();
					ends.put(end[row], found);
					times.add(new long[] {start[row], end[row]});
				}
				last = found;
			}
			into.time[row] = last;
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

	@Override
	public void close() {
		for (Connection c = spare.poll(); c != null; c = spare.poll()) {
			try {
				c.close();
			} catch (SQLException e) {
				// nothing was written
			}
		}
	}
}
