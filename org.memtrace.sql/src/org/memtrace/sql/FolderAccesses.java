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
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessSource;
import org.memtrace.model.columns.ChunkInfo;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.sql.FolderFiles.Group;

/**
 * The accesses of a Parquet folder that is divided by memory, read by DuckDB: chunks are row groups of its files. How many rows, pages and
 * times a row group has is in the footers, so opening reads no accesses. All threads; each reads with a connection of its own.
 */
final class FolderAccesses implements AccessSource, AutoCloseable {
	/** As many runs as a scan makes at most; a file is what one of them had. */
	private static final int RUNS = 64;

	private final FolderFiles files;
	private final List<Chunk> chunks = new ArrayList<>();
	private final long rows;
	private final CpuColumn cpus;
	private final int pageSizeBytes;

	/** Rows of a file. */
	private record Chunk(String file, long rowFrom, long rowTo, ChunkInfo info) {
	}

	/**
	 * Opens the files.
	 *
	 * @param folder path of the folder
	 * @param cpuSets number of each text of the column {@code cpu}
	 */
	FolderAccesses(Path driver, Path cache, String folder, Map<String, Integer> cpuSets, int pageSizeBytes) throws MemtraceException {
		this.files = new FolderFiles(driver, cache, folder);
		this.pageSizeBytes = pageSizeBytes;
		cpus = new CpuColumn(cpuSets);
		List<List<Group>> groups = files.groups();
		rows = groups.stream().flatMap(List::stream).mapToLong(Group::rows).sum();
		long least = Math.max(1, Math.ceilDiv(rows, RUNS));
		long first = 0;
		for (List<Group> file : groups) {
			first += divide(file, least, first);
		}
		for (int c = 1; c < chunks.size(); c++) {
			if (chunks.get(c).info.producerFrom() < chunks.get(c - 1).info.producerTo() - 1) {
				throw new StoreException(files.folder + " is not divided by memory: export the trace again, with --partition memory");
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
			at += file.get(g).rows();
			if (g + 1 == file.size() || at < least) {
				List<Group> some = file.subList(begin, g + 1);
				chunks.add(new Chunk(some.getFirst().file(), from, at, new ChunkInfo((int) (at - from),
						some.stream().mapToInt(Group::producerFrom).min().orElse(0), some.stream().mapToInt(Group::producerTo).max().orElse(0),
						some.stream().mapToLong(Group::startNs).min().orElse(0), some.stream().mapToLong(Group::endNs).max().orElse(0),
						ChunkInfo.NOT_KNOWN, ChunkInfo.NOT_KNOWN, firstRow + from)));
				from = at;
				begin = g + 1;
			}
		}
		return at;
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

	@Override
	public void read(int number, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
		Chunk chunk = chunks.get(number);
		boolean offsets = wanted.contains(AccessColumn.READ_OFFSET) || wanted.contains(AccessColumn.WRITE_OFFSET);
		boolean times = wanted.contains(AccessColumn.TIME);
		List<AccessColumn> read = files.stored(wanted);
		String sql = "SELECT producer" + FolderFiles.names(read, times, offsets, cpus, pageSizeBytes) + " FROM read_parquet("
				+ SqlText.files(chunk.file) + ", hive_partitioning = false, file_row_number = true) WHERE file_row_number >= " + chunk.rowFrom
				+ " AND file_row_number < " + chunk.rowTo;
		int n = chunk.info.rows();
		into.reserve(n, n, times ? n : 0);
		Arrays.fill(into.firstNs, 0, n, AccessBatch.NO_FIRST);
		long[] start = times ? new long[n] : null;
		long[] end = times ? new long[n] : null;
		Connection connection = files.connection();
		try (Statement s = connection.createStatement(); ResultSet r = s.executeQuery(sql)) {
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
					FolderFiles.value(c, r, column++, cpus, into, row);
				}
				if (offsets) {
					FolderFiles.place(r, column, true, true, into, row);
				}
			}
			if (row != n) {
				throw new StoreException(chunk.file + " has fewer rows than it says");
			}
			into.leafFrom[into.leaves] = n;
			into.rows = n;
			if (times) {
				FolderFiles.number(start, end, into);
			}
		} catch (SQLException e) {
			into.rows = 0;
			into.leaves = 0;
			throw new StoreException(chunk.file + " cannot be read: " + SqlText.sentence(e), e);
		} finally {
			files.back(connection);
		}
	}

	@Override
	public void close() {
		files.close();
	}
}
