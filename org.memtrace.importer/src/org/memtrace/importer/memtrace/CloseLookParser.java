// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.CloseLook;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;

/** Reads zoom.csv of an image (docs/reference/trace-files.md): the samples of {@code record --zoom}. */
public final class CloseLookParser {
	private static final List<String> REQUIRED = List.of("Time", "TaskId", "@Virt", "Access");
	private static final int CANCEL_MASK = 0xffff;
	private static final int DECIMAL = 10;
	private static final int HEX = 16;

	private final byte[][] fields = new byte[REQUIRED.size()][];

	/**
	 * Adds the samples of an image, if there are any. A row that cannot be used is counted.
	 *
	 * @param image whose file is read
	 */
	public void read(TraceDirectory.Image image, CloseLook.Builder to, SkipCounter skips, Progress progress)
			throws MemtraceException {
		Path file = image.directory().resolve("zoom.csv");
		String name = image.fileName("zoom.csv");
		if (!Files.exists(file)) {
			return;
		}
		try (InputStream in = RegularFile.open(file)) {
			progress.begin("Reading the close look", -1);
			read(in, name, image, to, skips, progress);
		} catch (IOException e) {
			throw new TraceFormatException(name, 0, "cannot be read: " + e.getMessage());
		}
	}

	private void read(InputStream in, String name, TraceDirectory.Image image, CloseLook.Builder to, SkipCounter skips, Progress progress)
			throws IOException, MemtraceException {
		ByteLines lines = new ByteLines(in);
		int[] column = null;
		while (lines.next()) {
			if ((lines.line() & CANCEL_MASK) == 0) {
				progress.check();
			}
			if (column == null) {
				column = columns(new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.UTF_8), name, lines.line());
				continue;
			}
			String error = lines.tooLong() ? ByteLines.TOO_LONG : sample(lines, column, image, to);
			if (error != null) {
				skips.skip(name, lines.line(), error);
			}
		}
		if (lines.incomplete()) {
			skips.incomplete(name, lines.line() + 1);
		}
	}

	private static int[] columns(String header, String name, long line) throws TraceFormatException {
		List<String> found = Arrays.asList(header.split(",", -1));
		int[] column = new int[found.size()];
		Arrays.fill(column, -1);
		for (int r = 0; r < REQUIRED.size(); r++) {
			int at = found.indexOf(REQUIRED.get(r));
			if (at < 0) {
				throw new TraceFormatException(name, line, "the column " + REQUIRED.get(r) + " is missing");
			}
			column[at] = r;
		}
		return column;
	}

	/** What is wrong with the row; null: nothing. */
	private String sample(ByteLines lines, int[] column, TraceDirectory.Image image, CloseLook.Builder to) {
		int from = lines.start;
		for (int c = 0; c < column.length; c++) {
			int end = from;
			while (end < lines.end && lines.buffer()[end] != ',') {
				end++;
			}
			if (end == lines.end != (c == column.length - 1)) {
				return "wrong number of columns";
			}
			if (column[c] >= 0) {
				fields[column[c]] = Arrays.copyOfRange(lines.buffer(), from, end);
			}
			from = end + 1;
		}
		long timeNs = number(fields[0], DECIMAL);
		long task = number(fields[1], DECIMAL);
		long address = number(fields[2], HEX);
		boolean read = has('r') || has('?');
		boolean write = has('w');
		if (timeNs < 0 || task < 0 || address < 0) {
			return "not a number";
		}
		if (!read && !write) {
			return "neither a read nor a write";
		}
		return to.add(image.index(), task, address, timeNs + image.clockShiftNs(), read, write) ? null : "too many threads";
	}

	private boolean has(char access) {
		for (byte b : fields[3]) {
			if (b == access) {
				return true;
			}
		}
		return false;
	}

	/** Addresses of programs are positive; -1: not a number, or too large. */
	private static long number(byte[] digits, int base) {
		long v = 0;
		for (byte b : digits) {
			int d = Character.digit(b, base);
			if (d < 0 || v > (Long.MAX_VALUE - d) / base) {
				return -1;
			}
			v = v * base + d;
		}
		return digits.length == 0 ? -1 : v;
	}
}
