// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tabarnac;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessBatch;

/**
 * Parses TABARNAC's pages: header {@code addr,firstacc,type,T0,...}, one line for the reads (R) and one for the writes (W) of a
 * page, with the counts of each thread. There is no time in it: all accesses are in one interval of {@link #LENGTH_NS}. The
 * thread that touched a page first is handed on first.
 */
public final class TabarnacParser implements RowParser {
	/** Length of the only interval; FrameSoc limits the events in a nanosecond, so it is not one. */
	static final long LENGTH_NS = 1_000_000_000;

	private final int pageShift;
	private final SkipCounter skips;
	private final Sink sink;
	private RowBatch batch;
	private long rows;
	private long skipped;
	private LongSupplier read;
	private long readBefore;

	/** One line. */
	private record Line(long page, int firstThread, boolean write, long[] counts) {
	}

	public TabarnacParser(Context context) throws MemtraceException, InterruptedException {
		skips = context.skips();
		pageShift = context.pageShift();
		sink = context.sink();
		batch = sink.accept(null);
	}

	@Override
	public long rows() {
		return rows;
	}

	@Override
	public long skipped() {
		return skipped;
	}

	@Override
	public void finish() throws MemtraceException, InterruptedException {
		batch = sink.accept(batch);
	}

	@Override
	public void parse(InputStream in, String name, InputFormat format, LongSupplier consumed)
			throws IOException, MemtraceException, InterruptedException {
		read = consumed;
		readBefore = 0;
		ByteLines lines = new ByteLines(in);
		if (!lines.next()) {
			skips.problem(name, lines.incomplete() ? "ends within its header" : "is empty");
			return;
		}
		String header = text(lines);
		List<String> columns = InputFormat.columns(header);
		int page = required(columns, "addr", name);
		int first = required(columns, "firstacc", name);
		int type = required(columns, "type", name);
		int[] thread = threads(columns, name);
		Line held = null; // the lines of a page go out together
		try {
			while (lines.next()) {
				rows++;
				Line line = null;
				String error = lines.tooLong() ? ByteLines.TOO_LONG : null;
				if (error == null) {
					String text = text(lines);
					try {
						line = line(text.split(",", -1), page, first, type, thread);
					} catch (IllegalArgumentException e) { // also NumberFormatException
						error = text.equals(header) ? "repeated header"
								: e instanceof NumberFormatException ? "not a number" : e.getMessage();
					}
				}
				if (line == null) {
					skipped++;
					skips.skip(name, lines.line(), error);
				} else if (held == null) {
					held = line;
				} else if (held.page == line.page) {
					emit(held, line);
					held = null;
				} else {
					emit(held);
					held = line;
				}
			}
		} catch (IOException e) {
			skips.problem(name, "is damaged after line " + lines.line() + ": " + e.getMessage());
		}
		if (held != null) {
			emit(held);
		}
		if (lines.incomplete()) {
			rows++;
			skipped++;
			skips.incomplete(name, lines.line() + 1);
		}
		countBytes();
	}

	/** The thread of each column, -1 where it is none. */
	private static int[] threads(List<String> columns, String name) throws TraceFormatException {
		int[] thread = columns.stream().mapToInt(c -> c.matches("T\\d{1,6}") ? Integer.parseInt(c.substring(1)) : -1).toArray();
		if (Arrays.stream(thread).allMatch(t -> t < 0)) {
			throw new TraceFormatException(name, 1, "has no column of a thread, such as T0");
		}
		return thread;
	}

	private static String text(ByteLines lines) {
		return lines.tooLong() ? ""
				: new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.ISO_8859_1);
	}

	private static int required(List<String> columns, String column, String name) throws TraceFormatException {
		int index = columns.indexOf(column);
		if (index < 0 || columns.lastIndexOf(column) != index) {
			throw new TraceFormatException(name, 1,
					"the column " + column + (index < 0 ? " is missing" : " is there twice"));
		}
		return index;
	}

	private Line line(String[] fields, int page, int first, int type, int[] thread) {
		if (fields.length != thread.length) {
			throw new IllegalArgumentException("wrong number of columns");
		}
		String direction = fields[type].strip();
		if (!direction.equals("R") && !direction.equals("W")) {
			throw new IllegalArgumentException("type is neither R nor W");
		}
		long number = Long.parseUnsignedLong(fields[page].strip());
		if (number >>> Long.SIZE - pageShift != 0) {
			throw new IllegalArgumentException("number out of range");
		}
		int threads = Arrays.stream(thread).max().orElse(-1) + 1;
		long[] counts = new long[threads];
		for (int c = 0; c < thread.length; c++) {
			if (thread[c] >= 0) {
				long count = Long.parseLong(fields[c].strip());
				if (count < 0) {
					throw new IllegalArgumentException("negative count");
				}
				if (count > RowBatch.LARGEST_COUNT) {
					throw new IllegalArgumentException("number out of range");
				}
				counts[thread[c]] += count;
			}
		}
		long firstThread = Long.parseLong(fields[first].strip());
		if (firstThread < 0 || firstThread >= threads) {
			throw new IllegalArgumentException("unknown thread");
		}
		return new Line(number, (int) firstThread, direction.equals("W"), counts);
	}

	private void emit(Line... lines) throws MemtraceException, InterruptedException {
		int first = lines[0].firstThread;
		for (Line line : lines) {
			emit(line, first);
		}
		for (Line line : lines) {
			for (int t = 0; t < line.counts.length; t++) {
				if (t != first) {
					emit(line, t);
				}
			}
		}
	}

	private void emit(Line line, int thread) throws MemtraceException, InterruptedException {
		long count = line.counts[thread];
		if (count == 0) {
			return;
		}
		if (batch.count == RowBatch.CAPACITY) {
			countBytes();
			batch = sink.accept(batch);
		}
		int i = batch.count++;
		batch.address[i] = line.page << pageShift;
		batch.reads[i] = line.write ? 0 : count;
		batch.writes[i] = line.write ? count : 0;
		batch.cpuSet[i] = -1;
		batch.startNs[i] = 0;
		batch.endNs[i] = LENGTH_NS;
		batch.taskId[i] = thread;
		batch.ip[i] = 0;
		batch.node[i] = -1;
		batch.flags[i] = 0;
		batch.physical[i] = 0;
		batch.maskDigits[i] = 0;
		batch.firstNs[i] = RowBatch.NO_TIME;
		batch.readOffset[i] = AccessBatch.NO_OFFSET;
		batch.writeOffset[i] = AccessBatch.NO_OFFSET;
	}

	private void countBytes() {
		long now = read.getAsLong();
		batch.bytes += now - readBefore;
		readBefore = now;
	}
}
