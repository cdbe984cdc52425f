// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.moca;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.UUID;

import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/**
 * Writes {@code Moca-framesoc.csv} as Moca's own sharing detection does: page after page in the order of their addresses, each
 * access cut where another one of its page begins or ends, its counts repeated in each segment, closed intervals, and
 * the number of distinct tasks of the segment as the last column. A row that equals the one before is left out.
 *
 * <p>Rows are sorted by page in pieces that fit on the heap, in a temporary file without a name, and merged; only the rows of one
 * page are kept at a time. The file gets its name when all is written and the import has succeeded.
 */
public final class MocaFramesocExport implements AutoCloseable {
	private static final String HEADER = "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Shared\n";
	private static final int PIECE_ROWS = 1 << 18;
	private static final int FIELDS = 8;
	private static final int ROW_BYTES = FIELDS * Long.BYTES;
	private static final int READ_ROWS = 1 << 10;

	private static final int VIRT = 0;
	private static final int PHYSICAL = 1;
	private static final int ACCESSES = 2;
	private static final int WRITES = 3;
	private static final int MASK = 4;
	private static final int START = 5;
	private static final int LAST = 6;
	private static final int TASK = 7;

	private final Path file;
	private final Path temporary;
	private final Path scratch;
	private final int pageShift;
	private final int cpus;
	private final int pieceRows;
	private long[][] rows = new long[1024][];
	private int count;
	private int image = -1;
	private FileChannel spill;
	/** Rows of each sorted piece in {@link #spill}, one after the other. */
	private final List<Integer> pieces = new ArrayList<>();
	private long written;

	/** @param cpus CPUs of the machine, 0 when not known */
	public MocaFramesocExport(Path file, Path scratch, int pageShift, int cpus) throws MemtraceException {
		this(file, scratch, pageShift, cpus, PIECE_ROWS);
	}

	/** For tests: with pieces of another size. */
	public MocaFramesocExport(Path file, Path scratch, int pageShift, int cpus, int pieceRows) throws MemtraceException {
		this.pieceRows = pieceRows;
		this.file = file.toAbsolutePath();
		this.scratch = scratch;
		this.pageShift = pageShift;
		this.cpus = cpus;
		if (Files.exists(file)) {
			throw new StoreException(file + " exists already");
		}
		try {
			// not createTempFile, whose files are for the owner alone
			temporary = Files.createFile(this.file.resolveSibling(".memtrace-export-" + UUID.randomUUID() + ".tmp"));
		} catch (IOException e) {
			throw failed(e);
		}
	}

	private StoreException failed(IOException e) {
		return new StoreException(file + " cannot be written: " + e.getMessage(), e);
	}

	/** Rows with half-open times; the export has the last tick in which they are. */
	public void add(RowBatch batch, int itsImage) throws MemtraceException {
		if (batch.count > 0 && image >= 0 && image != itsImage) {
			throw new StoreException(file + " cannot be written: the trace has several process images, and Moca's file has"
					+ " one address space");
		}
		image = batch.count > 0 ? itsImage : image;
		for (int i = 0; i < batch.count; i++) {
			if (count == pieceRows) {
				spillPiece();
			}
			if (count == rows.length) {
				rows = Arrays.copyOf(rows, count * 2);
			}
			rows[count++] = new long[] { batch.address[i], batch.physical[i], batch.reads[i] + batch.writes[i],
					batch.writes[i], (long) batch.maskDigits[i] << Integer.SIZE | batch.cpuSet[i] & 0xffffffffL,
					batch.startNs[i], batch.endNs[i] - 1, batch.taskId[i] };
		}
	}

	private long page(long[] row) {
		return row[VIRT] >>> pageShift;
	}

	/** Stable, so rows of a page keep their order. */
	private void sort() {
		Arrays.sort(rows, 0, count, Comparator.comparingLong(this::page));
	}

	private void spillPiece() throws MemtraceException {
		sort();
		try {
			if (spill == null) {
				Path path = Files.createTempFile(scratch, ".memtrace-spill-", ".tmp");
				spill = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
				Files.delete(path);
			}
			ByteBuffer buffer = ByteBuffer.allocate(READ_ROWS * ROW_BYTES);
			for (int i = 0; i < count; i++) {
				for (long field : rows[i]) {
					buffer.putLong(field);
				}
				if (!buffer.hasRemaining() || i + 1 == count) {
					buffer.flip();
					while (buffer.hasRemaining()) {
						spill.write(buffer);
					}
					buffer.clear();
				}
			}
		} catch (IOException e) {
			throw failed(e);
		}
		pieces.add(count);
		count = 0;
	}

	/** Reads a sorted piece. */
	private final class Piece {
		private final int number;
		private long at;
		private int left;
		private final ByteBuffer buffer = ByteBuffer.allocate(READ_ROWS * ROW_BYTES).limit(0);
		long[] row;

		/** @param number of the piece; the last one is still on the heap */
		Piece(int number, long at, int rowCount) {
			this.number = number;
			this.at = at;
			this.left = rowCount;
		}

		int number() {
			return number;
		}

		boolean next() throws IOException {
			if (left == 0) {
				return false;
			}
			if (number == pieces.size()) {
				row = rows[count - left--];
				return true;
			}
			if (!buffer.hasRemaining()) {
				buffer.clear().limit(Math.min(left, READ_ROWS) * ROW_BYTES);
				while (buffer.hasRemaining()) {
					if (spill.read(buffer, at + buffer.position()) < 0) {
						throw new IOException("temporary data became shorter");
					}
				}
				at += buffer.limit();
				buffer.flip();
			}
			row = new long[FIELDS];
			for (int f = 0; f < FIELDS; f++) {
				row[f] = buffer.getLong();
			}
			left--;
			return true;
		}
	}

	/** All rows are there: writes the file, still under a temporary name. */
	public void write(List<BitSet> cpuSets, Progress progress) throws MemtraceException {
		long total = count + pieces.stream().mapToLong(Integer::longValue).sum();
		progress.begin("Writing " + file.getFileName(), total);
		sort();
		try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(temporary), 1 << 16)) {
			PriorityQueue<Piece> queue = new PriorityQueue<>(
					Comparator.comparingLong((Piece p) -> page(p.row)).thenComparingInt(Piece::number));
			long at = 0;
			for (int i = 0; i <= pieces.size(); i++) {
				int rowCount = i < pieces.size() ? pieces.get(i) : count;
				Piece piece = new Piece(i, at, rowCount);
				at += (long) rowCount * ROW_BYTES;
				if (piece.next()) {
					queue.add(piece);
				}
			}
			out.write(HEADER.getBytes(StandardCharsets.US_ASCII));
			Map<Long, String> masks = new HashMap<>();
			List<long[]> ofPage = new ArrayList<>();
			while (!queue.isEmpty()) {
				Piece piece = queue.poll();
				if (!ofPage.isEmpty() && page(ofPage.get(0)) != page(piece.row)) {
					progress.worked(ofPage.size());
					page(ofPage, cpuSets, masks, out, progress);
					ofPage.clear();
				}
				ofPage.add(piece.row);
				if (piece.next()) {
					queue.add(piece);
				}
			}
			page(ofPage, cpuSets, masks, out, progress);
		} catch (IOException e) {
			throw failed(e);
		}
	}

	/** The sweep over one page: arrivals before departures at the same time, for the intervals are closed. */
	private void page(List<long[]> page, List<BitSet> cpuSets, Map<Long, String> masks, OutputStream out,
			Progress progress) throws IOException, MemtraceException {
		long[][] starts = page.toArray(long[][]::new);
		long[][] ends = starts.clone();
		Arrays.sort(starts, Comparator.comparingLong(row -> row[START]));
		Arrays.sort(ends, Comparator.comparingLong(row -> row[LAST]));
		// by identity: long[] has no equals of its own
		LinkedHashSet<long[]> active = new LinkedHashSet<>();
		long previous = 0;
		int s = 0;
		String lastLine = "";
		for (int e = 0; e < ends.length;) {
			progress.check();
			boolean arrival = s < starts.length && starts[s][START] <= ends[e][LAST];
			long now = arrival ? starts[s][START] : ends[e][LAST];
			if (!active.isEmpty()) {
				long tasks = active.stream().mapToLong(row -> row[TASK]).distinct().count();
				for (long[] row : active) {
					String line = line(row, previous, now, tasks, cpuSets, masks);
					if (!line.equals(lastLine)) {
						out.write(line.getBytes(StandardCharsets.US_ASCII));
						written++;
					}
					lastLine = line;
				}
			}
			previous = now;
			if (arrival) {
				active.add(starts[s++]);
			} else {
				active.remove(ends[e++]);
			}
		}
	}

	private String line(long[] row, long start, long end, long tasks, List<BitSet> cpuSets, Map<Long, String> masks) {
		String mask = masks.computeIfAbsent(row[MASK], key -> mask(key, cpuSets));
		long physical = row[PHYSICAL] == 0 ? row[VIRT] : row[PHYSICAL]; // as Moca does for pages that are not mapped
		return hex(row[VIRT]) + ',' + hex(physical) + ',' + row[ACCESSES] + ',' + row[WRITES] + ',' + mask + ',' + start + ','
				+ end + ',' + row[TASK] + ',' + tasks + '\n';
	}

	private static String hex(long address) {
		String digits = Long.toHexString(address);
		return "0".repeat(16 - digits.length()) + digits;
	}

	private String mask(long key, List<BitSet> cpuSets) {
		int set = (int) key;
		BitSet bits = set < 0 ? new BitSet() : cpuSets.get(set);
		int digits = Math.max(bits.length(), key >>> Integer.SIZE > 0 ? (int) (key >>> Integer.SIZE) : cpus + 1);
		StringBuilder text = new StringBuilder(digits);
		for (int cpu = digits - 1; cpu >= 0; cpu--) {
			text.append(bits.get(cpu) ? '1' : '0');
		}
		return text.toString();
	}

	/** Rows in the file. */
	long written() {
		return written;
	}

	/** Gives the file its name. */
	public void publish() throws MemtraceException {
		try {
			Files.move(temporary, file);
		} catch (FileAlreadyExistsException e) {
			throw new StoreException(file + " exists already", e);
		} catch (IOException e) {
			throw failed(e);
		}
	}

	@Override
	public void close() {
		rows = new long[0][];
		count = 0;
		try {
			Files.deleteIfExists(temporary);
			if (spill != null) {
				spill.close();
			}
		} catch (IOException e) {
			// nothing depends on it
		}
	}
}
