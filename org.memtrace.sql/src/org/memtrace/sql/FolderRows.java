// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessRows;
import org.memtrace.sql.FolderFiles.Group;

/**
 * The accesses of a Parquet folder that is divided by memory, by their number: the files follow each other in the order of their pages.
 * Opening reads the footers, and a question the row groups that have its rows. All threads.
 */
public final class FolderRows implements AccessRows {
	private final FolderFiles files;
	private final int pageSizeBytes;
	/** In the order of the rows. */
	private final Group[] groups;
	/** Number of the first row of each group, and of all rows. */
	private final long[] firstRow;
	/** The same within its file. */
	private final long[] firstInFile;
	private volatile CpuColumn cpus = new CpuColumn(Map.of());

	/**
	 * Opens the files.
	 *
	 * @param driver the library, see {@link DuckDbLibrary}
	 * @param cache folder for what DuckDB needs
	 * @param folder path of the folder, or its address in {@link ObjectStorage}
	 */
	public FolderRows(Path driver, Path cache, String folder, int pageSizeBytes) throws MemtraceException {
		files = new FolderFiles(driver, cache, folder);
		this.pageSizeBytes = pageSizeBytes;
		List<List<Group>> byFile = files.groups();
		groups = byFile.stream().flatMap(List::stream).toArray(Group[]::new);
		firstRow = new long[groups.length + 1];
		firstInFile = new long[groups.length];
		for (int g = 0; g < groups.length; g++) {
			firstRow[g + 1] = firstRow[g] + groups[g].rows();
			if (g > 0 && groups[g].file().equals(groups[g - 1].file())) {
				firstInFile[g] = firstInFile[g - 1] + groups[g - 1].rows();
			}
			if (g > 0 && groups[g].producerFrom() < groups[g - 1].producerTo() - 1) {
				files.close();
				throw new StoreException(folder + " is not divided by memory: export the trace again, with --partition memory");
			}
		}
	}

	@Override
	public String name() {
		return files.folder;
	}

	@Override
	public long rows() {
		return firstRow[groups.length];
	}

	@Override
	public void cpuSets(List<BitSet> sets) {
		Map<String, Integer> numbers = new HashMap<>();
		for (int i = 0; i < sets.size(); i++) {
			numbers.putIfAbsent(sets.get(i).stream().mapToObj(Integer::toString).collect(Collectors.joining(" ")), i);
		}
		cpus = new CpuColumn(numbers);
	}

	@Override
	public void read(long from, int count, Set<AccessColumn> wanted, AccessChunk into) throws MemtraceException {
		boolean times = wanted.contains(AccessColumn.TIME);
		long[] start = times ? new long[count] : null;
		long[] end = times ? new long[count] : null;
		Connection connection = files.connection();
		try (Statement s = connection.createStatement()) {
			int g = Arrays.binarySearch(firstRow, from);
			g = g < 0 ? -g - 2 : g;
			for (int done = 0; done < count;) {
				int last = g; // as many groups of one file as are needed
				while (firstRow[last + 1] < from + count && last + 1 < groups.length && groups[last + 1].file().equals(groups[g].file())) {
					last++;
				}
				int n = (int) (Math.min(from + count, firstRow[last + 1]) - from - done);
				part(s, g, last, from + done - firstRow[g] + firstInFile[g], n, done, wanted, start, end, into);
				done += n;
				g = last + 1;
			}
		} catch (SQLException e) {
			throw new StoreException(files.folder + ": accesses cannot be read: " + SqlText.sentence(e), e);
		} finally {
			files.back(connection);
		}
		if (times) {
			FolderFiles.number(start, end, into);
		}
	}

	/** Rows of one file, whose groups are found by the pages in their footers. */
	private void part(Statement s, int firstGroup, int lastGroup, long rowFrom, int n, int at, Set<AccessColumn> wanted, long[] start,
			long[] end, AccessChunk into) throws SQLException, StoreException {
		CpuColumn sets = cpus; // the same one in the statement and in its rows
		List<AccessColumn> read = files.stored(wanted);
		boolean places = wanted.contains(AccessColumn.READ_OFFSET) || wanted.contains(AccessColumn.WRITE_OFFSET);
		boolean readPlaces = wanted.contains(AccessColumn.READ_OFFSET);
		boolean writePlaces = wanted.contains(AccessColumn.WRITE_OFFSET);
		String sql = "SELECT file_row_number" + FolderFiles.names(read, start != null, places, sets, pageSizeBytes) + " FROM read_parquet("
				+ SqlText.files(groups[firstGroup].file()) + ", hive_partitioning = false, file_row_number = true) WHERE producer >= "
				+ groups[firstGroup].producerFrom() + " AND producer < " + groups[lastGroup].producerTo() + " AND file_row_number >= " + rowFrom
				+ " AND file_row_number < " + (rowFrom + n);
		try (ResultSet r = s.executeQuery(sql)) {
			int row = at;
			for (; r.next(); row++) {
				if (row == at + n || r.getLong(1) != rowFrom + row - at) {
					throw new StoreException(groups[firstGroup].file() + " has other rows than it says");
				}
				int column = 2;
				if (start != null) {
					start[row] = r.getLong(column++);
					end[row] = r.getLong(column++);
				}
				for (AccessColumn c : read) {
					FolderFiles.value(c, r, column++, sets, into, row);
				}
				if (places) {
					FolderFiles.place(r, column, readPlaces, writePlaces, into, row);
				}
			}
			if (row != at + n) {
				throw new StoreException(groups[firstGroup].file() + " has fewer rows than it says");
			}
		}
	}

	@Override
	public void close() {
		files.close();
	}
}
