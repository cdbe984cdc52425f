// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;

/**
 * Parses access files (docs/trace-format.md) from bytes; no object is made for a row. Rows that cannot be used are counted by
 * reason. One parser reads the chunks of one image, one after the other.
 */
final class AccessParser {
	/** Takes full batches and returns the next one to fill. */
	interface Sink {
		RowBatch accept(RowBatch full) throws MemtraceException, InterruptedException;
	}

	private static final String[] COLUMNS = { "@Virt", "Nreads", "Nwrites", "CPUMask", "Start", "End", "TaskId", "Ip",
			"Node", "Flags" };
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

	// the row being parsed
	private byte[] text;
	private int p;
	private int end;
	private String error;
	private final long[] value = new long[COLUMNS.length];

	AccessParser(CpuSets cpuSets, SkipCounter skips, Sink sink) throws MemtraceException, InterruptedException {
		this.cpuSets = cpuSets;
		this.skips = skips;
		this.sink = sink;
		batch = sink.accept(null);
	}

	/** Rows seen, used or not. */
	long rows() {
		return rows;
	}

	/** Hands on what is left. */
	void finish() throws MemtraceException, InterruptedException {
		batch = sink.accept(batch);
	}

	/**
	 * Parses one file.
	 *
	 * @param name the file as the user knows it
	 * @param consumed asked for the bytes of the file that were read, for the progress
	 */
	void parse(InputStream in, String name, java.util.function.LongSupplier consumed)
			throws IOException, MemtraceException, InterruptedException {
		ByteLines lines = new ByteLines(in);
		if (!lines.next()) {
			skips.problem(name, lines.incomplete() ? "ends within its header" : "is empty");
			return;
		}
		String header = lines.tooLong() ? ""
				: new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.UTF_8);
		int[] columns = columns(header, name);
		long before = 0;
		try {
			while (lines.next()) {
				rows++;
				text = lines.buffer();
				p = lines.start;
				end = lines.end;
				if (!parseRow(columns, lines.tooLong())) {
					if (text[lines.start] == '@' && header.equals(
							new String(text, lines.start, lines.end - lines.start, StandardCharsets.UTF_8))) {
						error = "repeated header";
					}
					skips.skip(name, lines.line(), error);
					continue;
				}
				store();
				if (batch.count == RowBatch.CAPACITY) {
					long now = consumed.getAsLong();
					batch.bytes = now - before;
					before = now;
					batch = sink.accept(batch);
				}
			}
		} catch (IOException e) {
			// a compressed file that is damaged: what came before stays
			skips.problem(name, "is damaged after line " + lines.line() + ": " + e.getMessage());
		}
		if (lines.incomplete()) {
			rows++;
			skips.incomplete(name);
		}
		batch.bytes += consumed.getAsLong() - before;
	}

	private static int[] columns(String header, String name) throws TraceFormatException {
		String[] names = header.split(",", -1);
		int[] columns = new int[names.length];
		int seen = 0;
		for (int c = 0; c < names.length; c++) {
			columns[c] = IGNORED;
			for (int f = 0; f < COLUMNS.length; f++) {
				if (COLUMNS[f].equals(names[c].strip())) {
					if ((seen >> f & 1) != 0) {
						throw new TraceFormatException(name, 1, "the column " + COLUMNS[f] + " is there twice");
					}
					columns[c] = f;
					seen |= 1 << f;
				}
			}
		}
		for (int f = 0; f < REQUIRED; f++) {
			if ((seen >> f & 1) == 0) {
				throw new TraceFormatException(name, 1, "the column " + COLUMNS[f] + " is missing");
			}
		}
		return columns;
	}

	private boolean parseRow(int[] columns, boolean tooLong) {
		if (tooLong) {
			error = "line longer than 1 MiB";
			return false;
		}
		error = null;
		value[IP] = 0;
		value[NODE] = -1;
		value[FLAGS] = 0;
		for (int c = 0; c < columns.length; c++) {
			if (c > 0) {
				if (p >= end || text[p] != ',') {
					error = p >= end ? "wrong number of columns" : "not a number";
					return false;
				}
				p++;
			}
			switch (columns[c]) {
			case VIRT, IP, FLAGS -> value[columns[c]] = hex();
			case CPUS -> value[CPUS] = cpus();
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
		if (value[READS] < 0 || value[WRITES] < 0) {
			error = "negative count";
		} else if (value[READS] == 0 && value[WRITES] == 0) {
			error = "neither reads nor writes";
		} else if (value[END] < value[START]) {
			error = "End before Start";
		} else if (value[END] == value[START]) {
			error = "End equal to Start";
		} else if (value[START] < 0 || value[TASK] < -1 || value[TASK] > Integer.MAX_VALUE || value[NODE] < -1
				|| value[NODE] > Short.MAX_VALUE || value[FLAGS] < 0 || value[FLAGS] > Integer.MAX_VALUE) {
			error = "number out of range";
		}
		return error == null;
	}

	private void store() {
		int i = batch.count++;
		batch.address[i] = value[VIRT];
		batch.reads[i] = value[READS];
		batch.writes[i] = value[WRITES];
		batch.cpuSet[i] = (int) value[CPUS];
		batch.startNs[i] = value[START];
		batch.endNs[i] = value[END];
		batch.taskId[i] = value[TASK];
		batch.ip[i] = value[IP];
		batch.node[i] = (int) value[NODE];
		batch.flags[i] = (int) value[FLAGS];
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
