// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.input;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Lines of a byte stream, as ranges of a buffer. LF ends a line, a CR before it does not belong to it. A last line without LF
 * is not delivered: the file was being written when its writer died.
 */
public final class ByteLines {
	/** A line that is longer is not delivered as a whole. */
	public static final int LONGEST = 1 << 20;
	/** Why it is skipped. */
	public static final String TOO_LONG = "line longer than 1 MiB";
	private static final int BUFFER = 1 << 18;

	private final InputStream in;
	private byte[] buffer = new byte[BUFFER];
	private int position;
	private int limit;
	private boolean atEnd;
	private long line;
	private long bytes;
	private boolean tooLong;
	private boolean incomplete;

	/** First byte of the current line in {@link #buffer()}. */
	public int start;
	/** End of the current line. */
	public int end;

	public ByteLines(InputStream in) {
		this.in = in;
	}

	public byte[] buffer() {
		return buffer;
	}

	/** Number of the current line, from 1. */
	public long line() {
		return line;
	}

	/** Bytes taken from the stream so far. */
	public long bytes() {
		return bytes;
	}

	/** Whether the current line was longer than {@link #LONGEST}; its content is not there. */
	public boolean tooLong() {
		return tooLong;
	}

	/** After the end: whether the stream ended within a line. */
	public boolean incomplete() {
		return incomplete;
	}

	/** Goes to the next line; false at the end. */
	public boolean next() throws IOException {
		tooLong = false;
		start = position;
		int scanned = 0;
		while (true) {
			byte[] b = buffer;
			int scan = start + scanned;
			while (scan < limit && b[scan] != '\n') {
				scan++;
			}
			if (scan < limit) {
				line++;
				end = scan > start && b[scan - 1] == '\r' ? scan - 1 : scan;
				if (end - start > LONGEST) {
					tooLong = true;
				}
				end = tooLong ? start : end;
				position = scan + 1;
				return true;
			}
			scanned = limit - start;
			if (scanned > LONGEST) {
				tooLong = true;
				limit = start; // forget what there is, go on to the LF
				scanned = 0;
			}
			if (!fill()) {
				incomplete = limit > start || tooLong;
				position = limit;
				return false;
			}
		}
	}

	/** Moves the current line to the front and reads more. */
	private boolean fill() throws IOException {
		if (atEnd) {
			return false;
		}
		if (start > 0) {
			System.arraycopy(buffer, start, buffer, 0, limit - start);
			limit -= start;
			start = 0;
		}
		if (limit == buffer.length) {
			buffer = Arrays.copyOf(buffer, buffer.length * 2);
		}
		int n = in.read(buffer, limit, buffer.length - limit);
		if (n < 0) {
			atEnd = true;
			return false;
		}
		limit += n;
		bytes += n;
		return true;
	}
}
