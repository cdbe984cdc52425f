// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.chunks;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.columns.AccessRows;
import org.memtrace.model.columns.DamagedChunkException;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.storage.chunks.ByteReader.FormatError;

import com.github.luben.zstd.Zstd;

/** The chunks of a trace, by cell. Safe for all threads: bytes are decoded by whoever asks. */
public final class StoredChunks {
	/** Largest number of bytes of a column before it is compressed: more cannot come from an encoder. */
	private static final int MOST_BYTES = ChunkEntry.MOST_ROWS * 20 + 1024;
	/** The sets of CPUs in what {@link #notInRows} gives. */
	public static final int CPU_SETS = 1 << StoredColumn.CPU_SET.ordinal();
	private static final Set<AccessColumn> NOTHING = EnumSet.noneOf(AccessColumn.class);

	private final String file;
	private final Blobs blobs;
	/** What has the columns that are not in {@link #blobs}; null when all are. */
	private final AccessRows rows;
	/** Which columns of a chunk are in {@link #rows}, of chunks that were looked at: a bit for each. */
	private final AtomicIntegerArray elsewhere;
	private final ChunkEntry[] entries;
	private final ChunkEntry.Columns[] columns;
	private final long[] firstRow;
	/** 1 for a chunk whose columns were all found to be what their checksums say. */
	private final AtomicIntegerArray checked;
	/** Why a chunk is damaged, of those that were found to be: they are not read again at each question. */
	private final ConcurrentHashMap<Integer, String> bad = new ConcurrentHashMap<>();

	/**
	 * @param file where the chunks are, for messages
	 * @param index in the order of the chunks
	 */
	public StoredChunks(String file, List<ChunkEntry> index, Blobs blobs) {
		this(file, index, blobs, null);
	}

	/**
	 * Chunks of which some columns are elsewhere.
	 *
	 * @param rows has all columns that are not in {@code blobs}, but for leaves and cells; null when all are there
	 */
	public StoredChunks(String file, List<ChunkEntry> index, Blobs blobs, AccessRows rows) {
		this.file = file;
		this.blobs = blobs;
		this.rows = rows;
		elsewhere = new AtomicIntegerArray(rows == null ? 0 : index.size());
		entries = index.toArray(ChunkEntry[]::new);
		columns = new ChunkEntry.Columns[entries.length];
		checked = new AtomicIntegerArray(entries.length);
		firstRow = new long[entries.length + 1];
		for (int c = 0; c < entries.length; c++) {
			firstRow[c + 1] = firstRow[c] + Math.max(0, entries[c].rows());
			try {
				if (entries[c].rows() >= 1 && entries[c].rows() <= ChunkEntry.MOST_ROWS) {
					columns[c] = entries[c].unpack();
				}
			} catch (FormatError e) {
				// such a chunk is damaged, which reading it says
			}
		}
	}

	/** Number of chunks. */
	public int size() {
		return entries.length;
	}

	/** What the index says. */
	public ChunkEntry entry(int chunk) {
		return entries[chunk];
	}

	/** Number of rows in the chunks before; of all for the number of chunks. */
	public long firstRow(int chunk) {
		return firstRow[chunk];
	}

	/** The chunk of a row by its number among all rows. */
	public int chunkOf(long row) {
		int at = Arrays.binarySearch(firstRow, row);
		if (at < 0) {
			return -at - 2;
		}
		while (at < entries.length && entries[at].rows() <= 0) {
			at++;
		}
		return at;
	}

	/**
	 * Reads columns of a chunk; {@link AccessChunk#leaf} is the first cell of each leaf. Columns that were read before and are not
	 * wanted now keep what they have. The first time the checksums of all columns are compared, also of those that are not wanted: so
	 * whatever is asked, a damaged chunk is left out, and different questions get answers about the same accesses.
	 *
	 * @param cells gets the cell of each row; may be null
	 * @throws DamagedChunkException when something of it is not what was written
	 */
	public void read(int chunk, Set<AccessColumn> wanted, AccessChunk into, ChunkCells cells) throws MemtraceException {
		boolean ok = false;
		try {
			String why = bad.get(chunk);
			if (why != null) {
				throw damaged(chunk, why);
			}
			if (columns[chunk] == null) {
				throw new FormatError("its entry in the index is not one");
			}
			Reader reader = new Reader(chunk, into);
			if (checked.get(chunk) == 0) {
				reader.checkAll();
			}
			reader.read(wanted, cells);
			checked.set(chunk, 1);
			ok = true;
		} catch (FormatError e) {
			bad.put(chunk, e.getMessage());
			throw damaged(chunk, e.getMessage());
		} catch (IndexOutOfBoundsException | ArithmeticException e) {
			bad.put(chunk, "its columns do not fit together");
			throw damaged(chunk, "its columns do not fit together");
		} finally {
			if (!ok) {
				into.rows = 0;
				into.leaves = 0;
				into.times = 0;
			}
		}
	}

	/** An exception that names the chunk. */
	public DamagedChunkException damaged(int chunk, String why) {
		return new DamagedChunkException(chunk,
				file + ": chunk " + chunk + " with " + entries[chunk].rows() + " accesses is damaged: " + why);
	}

	/**
	 * Which columns of a chunk {@link AccessRows} cannot give: a bit for each number of a column. Rows have one place, that of the first read
	 * if there is one, and no level of memory in their flags.
	 */
	public int notInRows(int chunk, AccessChunk scratch) throws MemtraceException {
		int bits = 0;
		for (StoredColumn column : StoredColumn.ALL) {
			bits |= column.of() == null ? 1 << column.ordinal() : 0;
		}
		read(chunk, EnumSet.of(AccessColumn.READ_OFFSET, AccessColumn.WRITE_OFFSET), scratch, null);
		if (columns[chunk].max()[StoredColumn.FLAGS.ordinal()] > AccessBatch.FLAGS) {
			bits |= 1 << StoredColumn.FLAGS.ordinal();
		}
		for (int r = 0; r < scratch.rows; r++) {
			if (scratch.reads[r] > 0 && scratch.writeOffset[r] >= 0) {
				bits |= 1 << StoredColumn.WRITE_OFFSET.ordinal() | (scratch.readOffset[r] < 0 ? 1 << StoredColumn.READ_OFFSET.ordinal() : 0);
			}
		}
		return bits;
	}

	/** Reads the whole chunk and compares everything that is known of it. */
	public void verify(int chunk, AccessChunk into, ChunkCells cells) throws MemtraceException {
		read(chunk, EnumSet.allOf(AccessColumn.class), into, cells);
		try {
			new Verifier(entries[chunk], columns[chunk], into, cells).check();
		} catch (FormatError e) {
			throw damaged(chunk, e.getMessage());
		}
	}

	private final class Reader {
		private final int chunk;
		private final ChunkEntry.Columns known;
		private final AccessChunk into;
		private final int n;
		/** The bytes of all columns when they were just checked. */
		private byte[][] all;

		Reader(int chunk, AccessChunk into) {
			this.chunk = chunk;
			this.into = into;
			known = columns[chunk];
			n = entries[chunk].rows();
		}

		void checkAll() throws MemtraceException {
			byte[][] found = blobs.readAll(chunk);
			int outside = 0;
			for (StoredColumn column : StoredColumn.ALL) {
				int c = column.ordinal();
				if (known.length()[c] > 0 && found[c] == null && rows != null && column.of() != null) {
					outside |= 1 << c;
				} else if (known.length()[c] > 0) {
					check(column, found[c]);
				}
			}
			if (rows != null) {
				elsewhere.set(chunk, outside);
			}
			all = found;
		}

		/** Of what is wanted the columns that are elsewhere. Of the places of a row either both are, or one is the same in all rows. */
		private EnumSet<AccessColumn> outside(Set<AccessColumn> wanted) {
			EnumSet<AccessColumn> outside = EnumSet.noneOf(AccessColumn.class);
			for (StoredColumn column : StoredColumn.IN_ROWS) {
				if (isElsewhere(column) && wanted.contains(column.of())) {
					outside.add(column.of());
				}
			}
			return outside;
		}

		private boolean isElsewhere(StoredColumn column) {
			return rows != null && (elsewhere.get(chunk) & 1 << column.ordinal()) != 0;
		}

		/** Reads them, and compares them with the index as far as it tells: whoever wrote them may have written others since. */
		private void rows(EnumSet<AccessColumn> outside) throws MemtraceException {
			rows.read(firstRow[chunk], n, outside, into);
			if (outside.contains(AccessColumn.TIME) && into.times != known.times()) {
				throw new FormatError("it has " + into.times + " different times in " + rows.name());
			}
			for (StoredColumn column : StoredColumn.IN_ROWS) {
				if (outside.contains(column.of()) && column != StoredColumn.TIMES && sum(column) != known.sum()[column.ordinal()]) {
					throw new FormatError("its column " + column + " is another one in " + rows.name());
				}
			}
		}

		private long sum(StoredColumn column) {
			return switch (column) {
			case TIME -> sum(into.time, null);
			case THREAD -> sum(into.thread, null);
			case CPU_SET -> sum(into.cpuSet, null);
			case READS -> Arrays.stream(into.reads, 0, n).sum();
			case WRITES -> Arrays.stream(into.writes, 0, n).sum();
			case SHARING -> sum(into.sharing, null);
			case NODE -> sum(into.node, null);
			case FLAGS -> sum(into.flags, null);
			case IP -> Arrays.stream(into.ip, 0, n).sum();
			case READ_OFFSET -> sum(into.readOffset, into.reads);
			case WRITE_OFFSET -> sum(into.writeOffset, into.writes);
			case FIRST -> Arrays.stream(into.firstNs, 0, n).sum();
			default -> throw new IllegalArgumentException(column.name());
			};
		}

		/** @param count only rows with one are counted; null: all are */
		private long sum(int[] values, long[] count) {
			long sum = 0;
			for (int r = 0; r < n; r++) {
				sum += count == null || count[r] > 0 ? values[r] : 0;
			}
			return sum;
		}

		private void check(StoredColumn column, byte[] bytes) {
			int c = column.ordinal();
			if (bytes == null) {
				throw new FormatError("its column " + column + " is missing");
			}
			if (bytes.length != known.length()[c] || ChunkEncoder.crc(bytes) != known.crc()[c]) {
				throw new FormatError("the checksum of its column " + column + " does not fit");
			}
		}

		void read(Set<AccessColumn> wanted, ChunkCells cells) throws MemtraceException {
			EnumSet<AccessColumn> all = EnumSet.noneOf(AccessColumn.class);
			all.addAll(wanted);
			if (all.contains(AccessColumn.READ_OFFSET)) {
				all.add(AccessColumn.READS);
			}
			if (all.contains(AccessColumn.WRITE_OFFSET)) {
				all.add(AccessColumn.WRITES);
			}
			if (all.contains(AccessColumn.CPU_SET)) {
				all.add(AccessColumn.THREAD);
			}
			EnumSet<AccessColumn> outside = outside(all);
			into.reserve(n, known.leaves(), outside.contains(AccessColumn.TIME) ? n : known.times());
			into.rows = n;
			leaves();
			if (cells != null) {
				cells(cells);
			}
			if (!outside.isEmpty()) {
				rows(outside);
				all.removeAll(outside);
			}
			if (all.contains(AccessColumn.TIME)) {
				times();
			}
			if (all.contains(AccessColumn.THREAD)) {
				ints(StoredColumn.THREAD, into.thread);
			}
			if (all.contains(AccessColumn.CPU_SET)) {
				cpuSets();
			}
			if (all.contains(AccessColumn.READS)) {
				longs(StoredColumn.READS, into.reads);
			}
			if (all.contains(AccessColumn.WRITES)) {
				longs(StoredColumn.WRITES, into.writes);
			}
			if (all.contains(AccessColumn.SHARING)) {
				ints(StoredColumn.SHARING, into.sharing);
			}
			if (all.contains(AccessColumn.NODE)) {
				ints(StoredColumn.NODE, into.node);
			}
			if (all.contains(AccessColumn.FLAGS)) {
				ints(StoredColumn.FLAGS, into.flags);
			}
			if (all.contains(AccessColumn.IP)) {
				longs(StoredColumn.IP, into.ip);
			}
			if (all.contains(AccessColumn.READ_OFFSET)) {
				offsets(StoredColumn.READ_OFFSET, into.reads, into.readOffset);
			}
			if (all.contains(AccessColumn.WRITE_OFFSET)) {
				offsets(StoredColumn.WRITE_OFFSET, into.writes, into.writeOffset);
			}
			if (all.contains(AccessColumn.FIRST)) {
				longs(StoredColumn.FIRST, into.firstNs);
			}
		}

		/** The bytes of a column as they were before they were compressed; null for one without. */
		private ByteReader open(StoredColumn column) throws MemtraceException {
			int c = column.ordinal();
			if (known.length()[c] == 0) {
				return null;
			}
			byte[] bytes = all != null ? all[c] : blobs.read(chunk, c);
			if (all == null) {
				check(column, bytes);
			}
			if (bytes[0] == ChunkEncoder.RAW) {
				return new ByteReader(bytes, 1, bytes.length);
			}
			ByteReader head = new ByteReader(bytes, 1, bytes.length);
			int size = head.count(MOST_BYTES);
			byte[] plain = new byte[size];
			long got = Zstd.decompressByteArray(plain, 0, size, bytes, head.position, bytes.length - head.position);
			if (got != size) {
				throw new FormatError("its column " + column + " cannot be decompressed");
			}
			return new ByteReader(plain, 0, size);
		}

		private ByteReader required(StoredColumn column) throws MemtraceException {
			ByteReader in = open(column);
			if (in == null) {
				throw new FormatError("its column " + column + " is missing");
			}
			return in;
		}

		private void ints(StoredColumn column, int[] out) throws MemtraceException {
			ByteReader in = open(column);
			if (in == null) {
				Arrays.fill(out, 0, n, (int) known.min()[column.ordinal()]);
			} else {
				Numbers.decode(in, n, out);
			}
		}

		private void longs(StoredColumn column, long[] out) throws MemtraceException {
			ByteReader in = open(column);
			if (in == null) {
				Arrays.fill(out, 0, n, known.min()[column.ordinal()]);
			} else {
				Numbers.decode(in, n, out);
			}
		}

		private void leaves() throws MemtraceException {
			ByteReader in = required(StoredColumn.LEAVES);
			int leaves = known.leaves();
			into.leaves = leaves;
			Numbers.decode(in, leaves, into.leaf);
			int[] counts = new int[leaves];
			Numbers.decode(in, leaves, counts);
			int at = 0;
			for (int l = 0; l < leaves; l++) {
				into.leafFrom[l] = at;
				at = Math.addExact(at, counts[l]);
				if (counts[l] < 1 || into.leaf[l] < 0) {
					throw new FormatError("it has a page without accesses");
				}
			}
			into.leafFrom[leaves] = at;
			if (at != n) {
				throw new FormatError("its pages have " + at + " accesses");
			}
		}

		private void cells(ChunkCells cells) throws MemtraceException {
			if (cells.cell.length < n) {
				cells.cell = new int[n];
			}
			cells.one = known.length()[StoredColumn.CELL.ordinal()] == 0;
			ints(StoredColumn.CELL, cells.cell);
			for (int l = 0; l < into.leaves; l++) {
				for (int r = into.leafFrom[l]; r < into.leafFrom[l + 1]; r++) {
					cells.cell[r] += into.leaf[l];
				}
			}
		}

		private void times() throws MemtraceException {
			ByteReader in = required(StoredColumn.TIMES);
			int times = known.times();
			into.times = times;
			Numbers.decode(in, times, into.timeStartNs);
			Numbers.decode(in, times, into.timeEndNs);
			for (int t = 0; t < times; t++) {
				into.timeEndNs[t] += into.timeStartNs[t];
			}
			ints(StoredColumn.TIME, into.time);
		}

		private void cpuSets() throws MemtraceException {
			ByteReader in = open(StoredColumn.CPU_SET);
			if (in == null) {
				Arrays.fill(into.cpuSet, 0, n, (int) known.min()[StoredColumn.CPU_SET.ordinal()]);
				return;
			}
			int threads = in.count(Integer.MAX_VALUE);
			if (threads > MOST_BYTES) {
				throw new FormatError("it has " + threads + " threads");
			}
			int[] usual = new int[threads];
			Numbers.decode(in, threads, usual);
			Numbers.decode(in, n, into.cpuSet);
			for (int r = 0; r < n; r++) {
				int set = into.cpuSet[r];
				into.cpuSet[r] = set == 0 ? usual[into.thread[r] + 1] : set - 2;
			}
		}

		private void offsets(StoredColumn column, long[] count, int[] out) throws MemtraceException {
			ByteReader in = open(column);
			if (in == null) {
				int value = (int) known.min()[column.ordinal()];
				for (int r = 0; r < n; r++) {
					out[r] = count[r] > 0 ? value : AccessChunk.NO_OFFSET;
				}
				return;
			}
			int some = 0;
			for (int r = 0; r < n; r++) {
				some += count[r] > 0 ? 1 : 0;
			}
			Numbers.decode(in, some, out);
			int k = some;
			for (int r = n - 1; r >= 0; r--) { // from the end, so that nothing is overwritten that is still to be moved
				out[r] = count[r] > 0 ? out[--k] : AccessChunk.NO_OFFSET;
			}
		}
	}

	/** An empty set of columns: only which leaves have how many rows. */
	public static Set<AccessColumn> leavesOnly() {
		return NOTHING;
	}
}
