// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The events of one CPU in order of time, from the pages of the kernel's ring buffer. A page is its header, with the time of its begin
 * and the number of bytes of events, and these events; it ends where they end. Each event has the time since the one before. Whatever
 * the bytes are, this ends, and tells how many bytes it could not use. Used by one thread.
 */
final class RingFile {
	private static final int PADDING = 29;
	private static final int TIME_EXTEND = 30;
	private static final int TIME_STAMP = 31;
	private static final int DELTA_BITS = 27;
	private static final int COMMIT_MASK = 0x7ffffff;
	private static final int MISSED_STORED = 1 << 30;
	private static final int MISSED = 1 << 31;
	/** Times whose upper five bits the kernel leaves out of a stamp. */
	private static final long STAMP_MASK = (1L << 59) - 1;

	/** Number of the CPU. */
	final int cpu;
	private final InputStream in;
	private final EventFormats formats;
	private final byte[] header;
	private ByteBuffer page = ByteBuffer.allocate(0);
	private int next;
	private long timeNs;
	private int at;
	private int length;
	private long missed;
	private long damagedBytes;
	private boolean missedUncounted;

	/** @param in closed by the caller */
	RingFile(InputStream in, int cpu, EventFormats formats) {
		this.in = in;
		this.cpu = cpu;
		this.formats = formats;
		header = new byte[formats.dataOffset()];
	}

	/** Goes to the next event; false at the end. */
	boolean next() throws IOException {
		while (true) {
			if (next + 4 > page.limit()) {
				damagedBytes += page.limit() - next;
				if (!readPage()) {
					return false;
				}
				continue;
			}
			int word = page.getInt(next);
			int type = word & 31;
			long delta = word >>> 5;
			int from = next + 4;
			if (type == PADDING && delta == 0) {
				next = page.limit();
				continue;
			}
			if (type >= PADDING || type == 0) {
				if (from + 4 > page.limit()) {
					damaged();
					continue;
				}
				int first = page.getInt(from);
				if (type == TIME_EXTEND) {
					timeNs += ((first & 0xffffffffL) << DELTA_BITS) + delta;
					next = from + 4;
					continue;
				}
				if (type == TIME_STAMP) {
					timeNs = timeNs & ~STAMP_MASK | ((first & 0xffffffffL) << DELTA_BITS) + delta & STAMP_MASK;
					next = from + 4;
					continue;
				}
				// padding: the length is that of an event that was taken back; else it counts itself
				int size = type == PADDING ? first : first - 4;
				int begin = type == PADDING ? from : from + 4;
				timeNs += delta;
				if (size < 0 || size > page.limit() - begin) {
					damaged();
					continue;
				}
				next = Math.min(page.limit(), begin + (size + 3 & ~3));
				if (type == PADDING) {
					continue;
				}
				at = begin;
				length = size;
				return true;
			}
			timeNs += delta;
			length = type * 4;
			at = from;
			if (length > page.limit() - at) {
				damaged();
				continue;
			}
			next = at + length;
			return true;
		}
	}

	/** The rest of a page makes no sense. */
	private void damaged() {
		damagedBytes += page.limit() - next;
		next = page.limit();
	}

	private boolean readPage() throws IOException {
		int n = in.readNBytes(header, 0, header.length);
		next = 0;
		page = ByteBuffer.allocate(0);
		if (n < header.length) {
			damagedBytes += n;
			return false;
		}
		ByteBuffer head = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
		int commit = head.getInt(formats.commitOffset());
		int size = commit & COMMIT_MASK;
		boolean lost = (commit & MISSED) != 0;
		if (size > formats.dataBytes()) { // no page: nothing behind it can be found again
			damagedBytes += header.length + in.skip(Long.MAX_VALUE);
			return false;
		}
		byte[] data = new byte[size];
		n = in.readNBytes(data, 0, size);
		if (n < size) { // the writer was stopped in the middle
			damagedBytes += header.length + n;
			return false;
		}
		if (lost && (commit & MISSED_STORED) != 0) {
			byte[] number = in.readNBytes(Long.BYTES);
			if (number.length == Long.BYTES) {
				missed += Math.max(0, ByteBuffer.wrap(number).order(ByteOrder.LITTLE_ENDIAN).getLong());
			}
		} else if (lost) {
			missedUncounted = true;
		}
		timeNs = head.getLong(0);
		page = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
		return true;
	}

	/** Of the current event, in ns. */
	long timeNs() {
		return timeNs;
	}

	/** The current event is {@code [at, at + length)} of it. */
	ByteBuffer buffer() {
		return page;
	}

	int at() {
		return at;
	}

	int length() {
		return length;
	}

	/** Format of the current event; null when it is of no kind that is known. */
	EventFormats.Format format() {
		return length < 2 ? null : formats.format(page.getShort(at) & 0xffff);
	}

	long number(EventFormats.Format format, String field, long unknown) {
		return format.number(page, at, length, field, unknown);
	}

	String text(EventFormats.Format format, String field) {
		return format.text(page, at, length, field);
	}

	/** Events that the kernel had no room for, as the pages tell them. */
	long missed() {
		return missed;
	}

	/** Whether more are missing than {@link #missed} says. */
	boolean missedUncounted() {
		return missedUncounted;
	}

	/** Bytes that make no sense. */
	long damagedBytes() {
		return damagedBytes;
	}
}
