// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.live;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.AccessParser;
import org.memtrace.importer.memtrace.RecordFile;
import org.memtrace.importer.rows.CpuSets;
import org.memtrace.importer.rows.LongNumbers;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.model.MemtraceException;

/**
 * Follows the files of one process image. The accesses of an interval are written before its line in {@code intervals.csv}
 * (docs/reference/trace-format.md): so that file is read first, and an interval is handed on when its line is there and the accesses are
 * read.
 */
final class LiveImage implements Closeable {
	/** Bytes of accesses that are read at once, as text. */
	private static final int MOST_READ = 16 << 20;
	/** Bytes that are read of what was there before. */
	static final int TAIL = 8 << 20;
	/** So many times the room of a record in blocks is that of it as text, or more. */
	private static final int TEXT_BYTES = 8;

	/**
	 * An interval that is over.
	 *
	 * @param told records that its line tells of
	 * @param records those that were read; less than {@code told} when the reading began later
	 */
	record Interval(long startNs, long endNs, long told, IntervalRecords records) {
	}

	private record Line(long startNs, long endNs, long records) {
	}

	private final Path directory;
	private final int index;
	private final int pageShift;
	private final SkipCounter skips = new SkipCounter(false);
	private GrowingFile intervals;
	private Growing accesses;
	/** Whether these are blocks of records. */
	private boolean blocks;
	private long chunk = -1;
	private long lineCount;
	private final Deque<Line> lines = new ArrayDeque<>();
	/** Records of intervals without a line, by the begin of their interval. */
	private final NavigableMap<Long, IntervalRecords> open = new TreeMap<>();
	private final LongNumbers taskIds = new LongNumbers();
	private int openRecords;
	private long newestStartNs = Long.MIN_VALUE;
	/** Whether the first record that was read may be within its interval. */
	private boolean beginsWithin;
	private boolean behind;

	LiveImage(Path directory, int pageShift) {
		this.directory = directory;
		this.pageShift = pageShift;
		this.index = Integer.parseInt(directory.getFileName().toString().substring(1));
	}

	Path directory() {
		return directory;
	}

	int index() {
		return index;
	}

	/** Lines of intervals that were read. */
	long lineCount() {
		return lineCount;
	}

	/** Whether the last read left something for the next one. */
	boolean isBehind() {
		return behind;
	}

	long taskId(int thread) {
		return taskIds.value(thread);
	}

	/**
	 * Reads on.
	 *
	 * @param mostRecords records of intervals without an end that are kept; those beyond are not counted
	 * @return intervals that are over, in the order of time
	 */
	List<Interval> read(int mostRecords) throws MemtraceException, InterruptedException {
		try {
			readIntervals();
			behind = !readAccesses(mostRecords);
			return finished(!behind);
		} catch (IOException e) {
			return List.of(); // the folder is gone, or not readable now: told by the state of the recording
		}
	}

	private void readIntervals() throws IOException, MemtraceException {
		if (intervals == null) {
			Path file = directory.resolve("intervals.csv");
			if (!Files.exists(file)) {
				return;
			}
			intervals = new GrowingFile(file);
			intervals.skipTo(TAIL);
		}
		for (byte[] text; (text = intervals.lines()) != null;) {
			CsvTable.read(new ByteArrayInputStream(text), directory.getFileName() + "/intervals.csv", List.of("Start", "End"), skips, row -> {
				lineCount = Math.max(lineCount + 1, row.number("Interval", 0) + 1);
				lines.add(new Line(row.number("Start", 0), row.number("End", 0), row.number("Records", 0)));
			});
		}
	}

	/** True when everything was read that is there. */
	private boolean readAccesses(int mostRecords) throws IOException, MemtraceException, InterruptedException {
		NavigableMap<Long, Path> chunks = chunks();
		if (accesses == null) {
			if (chunks.isEmpty()) {
				return true;
			}
			openChunk(chunks.lastEntry().getKey(), chunks.lastEntry().getValue());
			beginsWithin = accesses.skipTo(blocks ? TAIL / TEXT_BYTES : TAIL) > 0 || chunk > 0;
		} else if (chunks.higherKey(chunk) != null && chunks.lastKey() - chunk > 1) {
			openChunk(chunks.lastKey(), chunks.lastEntry().getValue());	// more than a chunk behind: go on where the program is
			open.clear();
			openRecords = 0;
			beginsWithin = true;
		}
		long left = MOST_READ;
		while (true) {
			// asked before the end is looked for: then nothing more comes into this one
			NavigableMap<Long, Path> later = chunks().tailMap(chunk, false);
			for (byte[] text; left > 0 && (text = accesses.lines()) != null;) {
				left -= blocks ? (long) text.length * TEXT_BYTES : text.length;
				parse(text, mostRecords);
			}
			if (left <= 0) {
				return false;
			}
			if (later.isEmpty()) {
				return true;
			}
			openChunk(later.firstKey(), later.firstEntry().getValue());
		}
	}

	private void openChunk(long number, Path file) throws IOException {
		blocks = file.toString().endsWith(RecordFile.SUFFIX);
		Growing next = blocks ? new GrowingBlocks(file) : new GrowingFile(file);
		if (accesses != null) {
			accesses.close();
		}
		accesses = next;
		chunk = number;
	}

	/** Chunks that are no compressed text, by number. */
	private NavigableMap<Long, Path> chunks() throws IOException {
		NavigableMap<Long, Path> found = new TreeMap<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "accesses-*.{csv,mtr}")) {
			for (Path entry : entries) {
				String name = entry.getFileName().toString();
				if (name.matches("accesses-[0-9]{1,18}\\.(csv|mtr)")) {
					found.put(Long.parseLong(name.substring(9, name.indexOf('.'))), entry);
				}
			}
		}
		return found;
	}

	private void parse(byte[] text, int mostRecords) throws IOException, MemtraceException, InterruptedException {
		AccessParser parser = new AccessParser(new RowParser.Context(new CpuSets(), skips, pageShift, 0, batch -> {
			if (batch == null) {
				return new RowBatch();
			}
			take(batch, mostRecords);
			batch.count = 0;
			return batch;
		}));
		parser.parse(new ByteArrayInputStream(text), directory.getFileName() + "/accesses", InputFormat.ACCESSES, () -> 0);
		parser.finish();
	}

	private void take(RowBatch batch, int mostRecords) {
		for (int i = 0; i < batch.count; i++) {
			newestStartNs = Math.max(newestStartNs, batch.startNs[i]);
			if (openRecords >= mostRecords) {
				continue; // the line of the interval tells how many there were
			}
			openRecords++;
			open.computeIfAbsent(batch.startNs[i], k -> new IntervalRecords()).add(batch.address[i], batch.firstNs[i],
					batch.taskId[i] < 0 ? -1 : taskIds.number(batch.taskId[i]), batch.writes[i] > 0);
		}
	}

	private List<Interval> finished(boolean all) {
		List<Interval> done = new ArrayList<>();
		while (!lines.isEmpty() && (all || lines.peek().endNs() <= newestStartNs)) {
			Line line = lines.poll();
			IntervalRecords records = new IntervalRecords();
			NavigableMap<Long, IntervalRecords> its = open.headMap(line.endNs(), false);
			for (Map.Entry<Long, IntervalRecords> part : its.entrySet()) {
				openRecords -= part.getValue().count();
				if (part.getKey() >= line.startNs()) { // what is older has a line that was not read
					records.addAll(part.getValue());
				}
			}
			its.clear();
			if (beginsWithin && records.count() > 0) {
				beginsWithin = false;
				records = records.count() < line.records() ? new IntervalRecords() : records;
			}
			done.add(new Interval(line.startNs(), line.endNs(), line.records(), records));
		}
		return done;
	}

	@Override
	public void close() {
		for (Growing file : new Growing[] { intervals, accesses }) {
			try {
				if (file != null) {
					file.close();
				}
			} catch (IOException e) {
				// it was only read
			}
		}
	}
}
