// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.rows.CpuSets;
import org.memtrace.importer.rows.RowBatch;
import org.memtrace.importer.rows.RowParser;
import org.memtrace.importer.rows.SegmentMerger;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TimeRange;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.store.AccessBatch;

/**
 * Parses access files (docs/reference/trace-format.md) and Moca's files from bytes; no object is made for a row. Rows that cannot be
 * used are counted by reason. One parser reads the chunks of one image, one after the other.
 *
 * <p>In Moca's files Nreads counts reads and writes together, CPUMask is binary, and [Start, End] is a closed interval of a
 * logical clock; the rows that are handed on are as those of our own files, with End + 1.
 */
public final class AccessParser implements RowParser {
	private static final String[] COLUMNS = { "@Virt", "Nreads", "Nwrites", "CPUMask", "Start", "End", "TaskId", "Ip",
			"Node", "Flags", "@Phy", "Shared", "ReadOffset", "WriteOffset", "First" };
	/** Names of the same columns in the older generation of Moca's full trace, without blanks. */
	private static final java.util.Map<String, String> OLD_NAMES = java.util.Map.of("VirtualAddr", "@Virt", "PhysicalAddr",
			"@Phy", "R", "Nreads", "W", "Nwrites", "StartTime", "Start", "EndTime", "End", "Task", "TaskId");
	private static final int REQUIRED = 7;
	private static final int VIRT = 0;
	private static final int READS = 1;
	private static final int WRITES = 2;
	private static final int CPUS = 3;
	private static final int START = 4;
	private static final int END = 5;
	private static final int TASK = 6;
	private static final int IP = 7;
	private static final int NODE = 8;
	private static final int FLAGS = 9;
	private static final int PHYSICAL = 10;
	private static final int SHARED = 11;
	private static final int FIRST_READ = 12;
	private static final int FIRST_WRITE = 13;
	private static final int FIRST_TIME = 14;
	/** Value of an offset whose column the file does not have. */
	private static final int NO_COLUMN = -2;
	private static final int IGNORED = -1;

	/** 16,384 CPUs. */
	private static final int MOST_CPU_DIGITS = 4096;

	private static final byte[] HEX = new byte[256];
	static {
		java.util.Arrays.fill(HEX, (byte) -1);
		for (int i = 0; i < 16; i++) {
			HEX["0123456789abcdef".charAt(i)] = (byte) i;
			HEX["0123456789ABCDEF".charAt(i)] = (byte) i;
		}
	}

	private final CpuSets cpuSets;
	private final SkipCounter skips;
	private final Sink sink;
	private RowBatch batch;
	private long rows;
	private long skipped;
	private java.util.function.LongSupplier read;
	private long readBefore;
	private final SegmentMerger segments;
	private final int pageShift;
	private InputFormat format = InputFormat.ACCESSES;

	/** Columns that were told. */
	private final java.util.Set<String> unknown = new java.util.HashSet<>();
	private final long clockShiftNs;
	// the row being parsed
	private byte[] text;
	private int p;
	private int end;
	private String error;
	private final long[] value = new long[COLUMNS.length];
	private int maskDigits;

	public AccessParser(Context context) throws MemtraceException, InterruptedException {
		cpuSets = context.cpuSets();
		skips = context.skips();
		sink = context.sink();
		batch = sink.accept(null);
		pageShift = context.pageShift();
		clockShiftNs = context.clockShiftNs();
		segments = new SegmentMerger(this::store, pageShift);
	}

	@Override
	public long skipped() {
		return skipped;
	}

	@Override
	public long merged() {
		return segments.merged();
	}

	@Override
	public boolean pagesRepeated() {
		return segments.pagesRepeated();
	}

	@Override
	public long rows() {
		return rows;
	}

	@Override
	public void finish() throws MemtraceException, InterruptedException {
		batch = sink.accept(batch);
	}

	/** @param inputFormat ours or one of Moca's */
	@Override
	public void parse(InputStream in, String name, InputFormat inputFormat, java.util.function.LongSupplier consumed)
			throws IOException, MemtraceException, InterruptedException {
		format = inputFormat;
		boolean moca = format != InputFormat.ACCESSES;
		read = consumed;
		readBefore = 0;
		if (!moca && RecordFile.begins(in)) {
			parseRecords(in, name);
			return;
		}
		ByteLines lines = new ByteLines(in);
		boolean any = lines.next();
		while (any && moca && isComment(lines)) {
			any = lines.next();
		}
		if (!any) {
			nothing(name, lines.incomplete());
			return;
		}
		String header = lines.tooLong() ? ""
				: new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.UTF_8);
		int[] columns = columns(header, name, moca, lines.line());
		try {
			while (lines.next()) {
				if (moca && isComment(lines)) {
					continue;
				}
				rows++;
				text = lines.buffer();
				p = lines.start;
				end = lines.end;
				if (!parseRow(columns, lines.tooLong())) {
					if ((text[lines.start] == '@' || moca) && header.equals(
							new String(text, lines.start, lines.end - lines.start, StandardCharsets.UTF_8))) {
						error = "repeated header";
					}
					skipped++;
					skips.skip(name, lines.line(), error);
					continue;
				}
				if (format == InputFormat.MOCA_FRAMESOC) {
					segments.add(value, maskDigits);
				} else {
					store(value, maskDigits);
				}
			}
			segments.flush();
		} catch (IOException e) {
			// a compressed file that is damaged: what came before stays
			skips.problem(name, "is damaged after line " + lines.line() + ": " + e.getMessage());
		}
		if (lines.incomplete()) {
			rows++;
			skipped++;
			skips.incomplete(name, lines.line() + 1);
		}
		countBytes();
	}

	private void nothing(String name, boolean inHeader) throws TraceFormatException {
		if (inHeader || !name.endsWith(RecordFile.SUFFIX)) { // there no records are no bytes
			skips.problem(name, inHeader ? "ends within its header" : "is empty");
		}
	}

	/** A file of blocks. */
	private void parseRecords(InputStream in, String name) throws MemtraceException, InterruptedException {
		long[] cpuSetOf = new long[RecordBlock.MOST_RECORDS];
		try {
			new RecordFile(in, name).read(new RecordFile.Sink() {
				@Override
				public void block(RecordBlock block, long startNs, long endNs, long offset) throws MemtraceException, InterruptedException {
					for (int m = 0; m < block.maskCount; m++) {
						long[] mask = block.masks[m];
						cpuSetOf[m] = mask.length == 1 ? cpuSets.number(mask[0]) : cpuSets.number(java.util.BitSet.valueOf(mask));
					}
					for (int i = 0; i < block.count; i++) {
						parseRecord(block, i, startNs, endNs);
						value[CPUS] = cpuSetOf[block.mask[i]];
						if (valid()) {
							store(value, 0);
						} else {
							skipped++;
							skips.skip(name + ", block at offset " + offset, 0, error);
						}
					}
					rows += block.count;
				}

				@Override
				public void damaged(long offset, long bytes, long records) throws MemtraceException {
					rows += records;
					skipped += records;
					skips.damaged(name, offset, bytes, records);
				}

				@Override
				public void cut(long offset, long records) throws MemtraceException {
					rows += records;
					skipped += records;
					skips.cut(name, offset, records);
				}
			});
		} catch (IOException e) {
			skips.problem(name, "is damaged: " + e.getMessage());
		}
		countBytes();
	}

	private void parseRecord(RecordBlock block, int i, long startNs, long endNs) {
		error = null;
		value[VIRT] = block.address[i];
		value[READS] = block.reads[i];
		value[WRITES] = block.writes[i];
		value[START] = startNs;
		value[END] = endNs;
		value[TASK] = block.taskId[i];
		value[IP] = block.ip[i];
		value[NODE] = block.node[i];
		value[FLAGS] = block.flags[i];
		value[PHYSICAL] = block.physical[i];
		value[FIRST_READ] = block.readOffset[i];
		value[FIRST_WRITE] = block.writeOffset[i];
		value[FIRST_TIME] = block.firstNs[i];
		if (block.readOffset[i] >= 1 << pageShift || block.writeOffset[i] >= 1 << pageShift) {
			error = "number out of range";
		}
	}

	private void countBytes() {
		long now = read.getAsLong();
		batch.bytes += now - readBefore;
		readBefore = now;
	}

	private static boolean isComment(ByteLines lines) {
		return !lines.tooLong() && (lines.start == lines.end || lines.buffer()[lines.start] == '#');
	}

	private int[] columns(String header, String name, boolean moca, long line) throws TraceFormatException {
		String[] names = header.split(",", -1);
		int[] columns = new int[names.length];
		int seen = 0;
		for (int c = 0; c < names.length; c++) {
			columns[c] = IGNORED;
			for (int f = 0; f < COLUMNS.length; f++) {
				if (moca ? f > SHARED : f == SHARED) {
					continue;
				}
				String column = moca ? InputFormat.columns(names[c]).get(0) : names[c].strip();
				if (COLUMNS[f].equals(moca ? OLD_NAMES.getOrDefault(column, column) : column)) {
					if ((seen >> f & 1) != 0) {
						throw new TraceFormatException(name, line, "the column " + COLUMNS[f] + " is there twice");
					}
					columns[c] = f;
					seen |= 1 << f;
				}
			}
		}
		for (int c = 0; c < names.length && !moca; c++) {
			if (columns[c] == IGNORED && unknown.add(names[c].strip())) {
				skips.warn(name + ": its column " + names[c].strip() + " is not known to this version and not kept");
			}
		}
		for (int f = 0; f < REQUIRED; f++) {
			if ((seen >> f & 1) == 0) {
				throw new TraceFormatException(name, line, "the column " + COLUMNS[f] + " is missing");
			}
		}
		return columns;
	}

	private boolean parseRow(int[] columns, boolean tooLong) {
		if (tooLong) {
			error = ByteLines.TOO_LONG;
			return false;
		}
		error = null;
		value[IP] = 0;
		value[NODE] = -1;
		value[FLAGS] = 0;
		value[PHYSICAL] = 0;
		value[SHARED] = -1;
		value[FIRST_READ] = NO_COLUMN;
		value[FIRST_WRITE] = NO_COLUMN;
		value[FIRST_TIME] = -1;
		for (int c = 0; c < columns.length; c++) {
			if (c > 0) {
				if (p >= end || text[p] != ',') {
					error = p >= end ? "wrong number of columns" : "not a number";
					return false;
				}
				p++;
			}
			switch (columns[c]) {
			case VIRT, IP, FLAGS, PHYSICAL -> value[columns[c]] = hex();
			case FIRST_READ, FIRST_WRITE -> value[columns[c]] = offset();
			case FIRST_TIME -> value[FIRST_TIME] = sinceStart();
			case CPUS -> value[CPUS] = format == InputFormat.ACCESSES ? cpus() : binaryCpus();
			case IGNORED -> {
				while (p < end && text[p] != ',') {
					p++;
				}
			}
			default -> value[columns[c]] = decimal();
			}
			if (error != null) {
				return false;
			}
		}
		if (p != end) {
			error = text[p] == ',' ? "wrong number of columns" : "not a number";
			return false;
		}
		return valid();
	}

	private boolean valid() {
		if (error != null) {
			return false;
		}
		if (value[READS] < 0 || value[WRITES] < 0) {
			error = "negative count";
		} else if (value[READS] > RowBatch.LARGEST_COUNT || value[WRITES] > RowBatch.LARGEST_COUNT) {
			error = "number out of range";
		} else if (value[READS] == 0 && value[WRITES] == 0) {
			error = "neither reads nor writes";
		} else if (value[END] < value[START]) {
			error = "End before Start";
		} else if (!TimeRange.holds(value[START], value[END])
				|| !TimeRange.holds(value[START] + clockShiftNs, value[END] + clockShiftNs)) {
			error = TimeRange.REASON;
		} else if (value[FIRST_TIME] > TimeRange.LAST_NS - Math.max(value[START], value[START] + clockShiftNs)) {
			error = TimeRange.REASON;
		} else if (format != InputFormat.ACCESSES && value[WRITES] > value[READS]) {
			error = "more writes than accesses";
		} else if (format == InputFormat.ACCESSES && value[END] == value[START]) {
			error = "End equal to Start";
		} else if (value[START] < 0 || value[TASK] < -1 || value[TASK] > Integer.MAX_VALUE || value[NODE] < -1
				|| value[NODE] > Short.MAX_VALUE || value[FLAGS] < 0 || value[FLAGS] > Integer.MAX_VALUE) {
			error = "number out of range";
		} else if (format == InputFormat.MOCA_FRAMESOC && value[SHARED] < 0) {
			error = "negative count";
		} else if (format != InputFormat.ACCESSES) {
			value[READS] -= value[WRITES];
			value[END]++;
			value[FLAGS] = value[SHARED] < 0 ? 0 : value[SHARED] == 0 ? RowBatch.FLAG_SHARED_ZERO
					: value[SHARED] == 1 ? RowBatch.FLAG_SHARED_ONE : RowBatch.FLAG_SHARED_MANY;
		}
		return error == null;
	}

	private void store(long[] row, int digits) throws MemtraceException, InterruptedException {
		if (batch.count == RowBatch.CAPACITY) {
			countBytes();
			batch = sink.accept(batch);
		}
		int i = batch.count++;
		batch.address[i] = row[VIRT];
		batch.reads[i] = row[READS];
		batch.writes[i] = row[WRITES];
		batch.cpuSet[i] = (int) row[CPUS];
		batch.startNs[i] = row[START] + clockShiftNs;
		batch.endNs[i] = row[END] + clockShiftNs;
		batch.taskId[i] = row[TASK];
		batch.ip[i] = row[IP];
		batch.node[i] = (int) row[NODE];
		batch.flags[i] = (int) row[FLAGS];
		batch.physical[i] = row[PHYSICAL];
		batch.maskDigits[i] = digits;
		batch.firstNs[i] = row[FIRST_TIME] < 0 ? RowBatch.NO_TIME : row[START] + clockShiftNs + row[FIRST_TIME];
		offsets(row, i);
	}

	/**
	 * Where in its page a row begins to read and to write. Without columns for it, a row that only does one does it at its address, and
	 * of one that does both the address is kept as that of the read (see {@link AccessBatch#readOffset}).
	 */
	private void offsets(long[] row, int i) {
		long read = AccessBatch.NO_OFFSET;
		long write = AccessBatch.NO_OFFSET;
		boolean known = row[FIRST_READ] != NO_COLUMN || row[FIRST_WRITE] != NO_COLUMN;
		if (known) {
			read = Math.max(AccessBatch.NO_OFFSET, row[FIRST_READ]);
			write = Math.max(AccessBatch.NO_OFFSET, row[FIRST_WRITE]);
		} else if (format == InputFormat.ACCESSES && (row[FLAGS] & AccessBatch.FLAG_FROM_SCAN) == 0) {
			// other formats do not say which address of the page they tell, the scan of page tables knows none
			long at = row[VIRT] & (1L << pageShift) - 1;
			read = row[READS] > 0 ? at : AccessBatch.NO_OFFSET;
			write = row[READS] > 0 ? AccessBatch.NO_OFFSET : at;
		}
		batch.readOffset[i] = row[READS] > 0 ? (int) read : AccessBatch.NO_OFFSET;
		batch.writeOffset[i] = row[WRITES] > 0 ? (int) write : AccessBatch.NO_OFFSET;
	}

	/** An offset in a page; nothing is not known. */
	private long offset() {
		blanks();
		if (p >= end || text[p] == ',') {
			return AccessBatch.NO_OFFSET;
		}
		long v = hex();
		if (error == null && (v < 0 || v >= 1L << pageShift)) {
			error = "number out of range";
		}
		return v;
	}

	/** Time since the start of the row; nothing is not known. */
	private long sinceStart() {
		blanks();
		return p >= end || text[p] == ',' ? -1 : decimal();
	}

	private void blanks() {
		while (p < end && text[p] == ' ') {
			p++;
		}
	}

	private long hex() {
		blanks();
		long v = 0;
		int from = p;
		while (p < end) {
			int digit = HEX[text[p] & 0xff];
			if (digit < 0) {
				break;
			}
			if (v >>> 60 != 0) {
				error = "number out of range";
				return 0;
			}
			v = v << 4 | digit;
			p++;
		}
		if (p == from) {
			error = "not a number";
		}
		blanks();
		return v;
	}

	private long cpus() {
		blanks();
		int from = p;
		long v = 0;
		while (p < end) {
			int digit = HEX[text[p] & 0xff];
			if (digit < 0) {
				break;
			}
			v = v << 4 | digit;
			p++;
		}
		if (p == from) {
			error = "not a number";
			return 0;
		}
		if (p - from > MOST_CPU_DIGITS) {
			error = "number out of range";
			return 0;
		}
		long number = p - from <= 16 ? cpuSets.number(v) : cpuSets.number(text, from, p);
		blanks();
		return number;
	}

	/** Moca writes one digit for each CPU, the highest first. */
	private long binaryCpus() {
		blanks();
		int from = p;
		while (p < end && (text[p] == '0' || text[p] == '1')) {
			p++;
		}
		maskDigits = p - from;
		if (maskDigits == 0) {
			error = "not a number";
			return 0;
		}
		if (maskDigits > 4 * MOST_CPU_DIGITS) {
			error = "number out of range";
			return 0;
		}
		long number;
		if (maskDigits <= Long.SIZE) {
			long v = 0;
			for (int i = from; i < p; i++) {
				v = v << 1 | text[i] - '0';
			}
			number = cpuSets.number(v);
		} else {
			java.util.BitSet set = new java.util.BitSet(maskDigits);
			for (int i = from; i < p; i++) {
				set.set(p - 1 - i, text[i] == '1');
			}
			number = cpuSets.number(set);
		}
		blanks();
		return number;
	}

	private long decimal() {
		blanks();
		boolean negative = p < end && text[p] == '-';
		if (negative) {
			p++;
		}
		long v = 0;
		int from = p;
		while (p < end) {
			int digit = text[p] - '0';
			if (digit < 0 || digit > 9) {
				break;
			}
			if (v > Long.MAX_VALUE / 10 - 1) {
				error = "number out of range";
				return 0;
			}
			v = v * 10 + digit;
			p++;
		}
		if (p == from) {
			error = "not a number";
		}
		blanks();
		return negative ? -v : v;
	}
}
