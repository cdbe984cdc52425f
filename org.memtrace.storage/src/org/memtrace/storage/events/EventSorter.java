// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;
import org.memtrace.storage.dbms.PendingFile;

/**
 * Puts events in order of start; those with the same start keep their order. Uses a fixed amount of heap (21 MB): full buffers are
 * sorted and appended to a file without a name, from which they are merged. About 12 bytes per event in the file. Used by one thread.
 */
final class EventSorter implements AutoCloseable {
	/** Receives the events in order. */
	interface Receiver {
		void event(long start, long end, int context, int parameters, double value) throws MemtraceException;
	}

	private static final int BUFFER_ROWS = 1 << 19;
	private static final int FIRST_ROWS = 1 << 12;
	private static final int WRITE_BYTES = 1 << 20;
	private static final int LONGEST_ROW = 10 + 10 + 5 + 5 + 9;
	private static final int READ_BYTES = 1 << 17;
	private static final int PROGRESS_ROWS = 8192;

	/** A part of the file with sorted rows. */
	private record Run(long from, long to, long rows) {
	}

	private final Path directory;
	private final int limit;
	private long[] start;
	private long[] end;
	private int[] context;
	private int[] parameters;
	private double[] value;
	private int count;
	private boolean sorted = true;
	private final List<Run> runs = new ArrayList<>();
	private FileChannel file;
	private ByteBuffer out;
	private long fileSize;
	private long rows;

	/** @param directory for the file without a name */
	EventSorter(Path directory) {
		this(directory, BUFFER_ROWS);
	}

	/** For tests: with a small buffer. */
	EventSorter(Path directory, int limit) {
		this.directory = directory;
		this.limit = limit;
		allocate(Math.min(limit, FIRST_ROWS));
	}

	private void allocate(int capacity) {
		start = java.util.Arrays.copyOf(start == null ? new long[0] : start, capacity);
		end = java.util.Arrays.copyOf(end == null ? new long[0] : end, capacity);
		context = java.util.Arrays.copyOf(context == null ? new int[0] : context, capacity);
		parameters = java.util.Arrays.copyOf(parameters == null ? new int[0] : parameters, capacity);
		value = java.util.Arrays.copyOf(value == null ? new double[0] : value, capacity);
	}

	long rows() {
		return rows;
	}

	void add(long startNs, long endNs, int contextNumber, int parameterSet, double number) throws MemtraceException {
		if (count == start.length) {
			if (count == limit) {
				spill();
			} else {
				allocate(Math.min(limit, 4 * count));
			}
		}
		int i = count++;
		start[i] = startNs;
		end[i] = endNs;
		context[i] = contextNumber;
		parameters[i] = parameterSet;
		value[i] = number;
		sorted &= i == 0 || start[i - 1] <= startNs;
		rows++;
	}

	/** Rows of the buffer in order; stable. */
	private int[] order() {
		int[] order = new int[count];
		for (int i = 0; i < count; i++) {
			order[i] = i;
		}
		if (sorted) {
			return order;
		}
		int[] from = order;
		int[] to = new int[count];
		for (int width = 1; width < count; width *= 2) {
			for (int low = 0; low < count; low += 2 * width) {
				merge(from, to, low, Math.min(count, low + width), Math.min(count, low + 2 * width));
			}
			int[] swap = from;
			from = to;
			to = swap;
		}
		return from;
	}

	private void merge(int[] from, int[] to, int low, int middle, int high) {
		if (middle >= high || start[from[middle - 1]] <= start[from[middle]]) {
			System.arraycopy(from, low, to, low, high - low);
			return;
		}
		int left = low;
		int right = middle;
		for (int at = low; at < high; at++) {
			to[at] = right == high || left < middle && start[from[left]] <= start[from[right]] ? from[left++] : from[right++];
		}
	}

	private void spill() throws MemtraceException {
		try {
			if (file == null) {
				Path path = Files.createTempFile(directory, ".memtrace-spill-", ".tmp");
				file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
				Files.delete(path);
			}
			long from = fileSize;
			if (out == null) {
				out = ByteBuffer.allocate((int) Math.min(WRITE_BYTES, (long) limit * LONGEST_ROW));
			}
			long last = 0;
			for (int i : order()) {
				if (out.remaining() < LONGEST_ROW) {
					write();
				}
				unsigned(zigzag(start[i] - last));
				last = start[i];
				unsigned(end[i] - start[i]);
				unsigned(context[i]);
				unsigned(parameters[i]);
				long whole = (long) value[i];
				if (whole == value[i] && whole >= 0 && whole < 0x7f) {
					out.put((byte) whole);
				} else {
					out.put((byte) 0x7f).putDouble(value[i]);
				}
			}
			write();
			runs.add(new Run(from, fileSize, count));
		} catch (IOException e) {
			throw new StoreException("temporary data of the import cannot be written to " + directory + ": " + PendingFile.reason(e), e);
		}
		count = 0;
		sorted = true;
	}

	private void write() throws IOException {
		out.flip();
		while (out.hasRemaining()) {
			fileSize += file.write(out, fileSize);
		}
		out.clear();
	}

	private static long zigzag(long v) {
		return v << 1 ^ v >> 63;
	}

	private void unsigned(long value) {
		long v = value;
		while ((v & ~0x7fL) != 0) {
			out.put((byte) (v | 0x80));
			v >>>= 7;
		}
		out.put((byte) v);
	}

	/** Gives all events once, in order; none can be added afterwards. */
	void finish(Receiver to, Progress progress) throws MemtraceException {
		long done = 0;
		if (runs.isEmpty()) {
			for (int i : order()) {
				to.event(start[i], end[i], context[i], parameters[i], value[i]);
				if (++done % PROGRESS_ROWS == 0) {
					progress.worked(PROGRESS_ROWS);
					progress.check();
				}
			}
		} else {
			spill();
			allocate(0);
			out = null;
			PriorityQueue<Cursor> heads = new PriorityQueue<>();
			for (int i = 0; i < runs.size(); i++) {
				Cursor cursor = new Cursor(runs.get(i), i);
				if (cursor.next()) {
					heads.add(cursor);
				}
			}
			Cursor head = heads.poll();
			while (head != null) {
				to.event(head.start, head.end, head.context, head.parameters, head.value);
				if (++done % PROGRESS_ROWS == 0) {
					progress.worked(PROGRESS_ROWS);
					progress.check();
				}
				if (!head.next()) {
					head = heads.poll();
				} else if (!heads.isEmpty() && heads.peek().compareTo(head) < 0) {
					heads.add(head);
					head = heads.poll();
				}
			}
		}
		progress.worked(done % PROGRESS_ROWS);
		progress.check();
	}

	/** Reads one run. */
	private final class Cursor implements Comparable<Cursor> {
		private final int number;
		private final ByteBuffer in;
		private long at;
		private final long to;
		private long left;
		private long start;
		private long end;
		private int context;
		private int parameters;
		private double value;

		Cursor(Run run, int number) {
			this.number = number;
			this.in = ByteBuffer.allocate((int) Math.min(READ_BYTES, run.to - run.from)).flip();
			this.at = run.from;
			this.to = run.to;
			this.left = run.rows;
		}

		boolean next() throws StoreException {
			if (left-- == 0) {
				return false;
			}
			if (in.remaining() < LONGEST_ROW && at < to) {
				fill();
			}
			long delta = unsigned();
			start += delta >>> 1 ^ -(delta & 1);
			end = start + unsigned();
			context = (int) unsigned();
			parameters = (int) unsigned();
			byte small = in.get();
			value = small == 0x7f ? in.getDouble() : small;
			return true;
		}

		private void fill() throws StoreException {
			in.compact();
			in.limit((int) Math.min(in.capacity(), in.position() + to - at));
			try {
				while (in.hasRemaining()) {
					int read = file.read(in, at);
					if (read < 0) {
						throw new IOException("it became shorter");
					}
					at += read;
				}
			} catch (IOException e) {
				throw new StoreException("temporary data of the import cannot be read: " + PendingFile.reason(e), e);
			}
			in.flip();
		}

		private long unsigned() {
			long v = 0;
			for (int shift = 0;; shift += 7) {
				byte b = in.get();
				v |= (b & 0x7fL) << shift;
				if (b >= 0) {
					return v;
				}
			}
		}

		@Override
		public int compareTo(Cursor other) {
			return start != other.start ? Long.compare(start, other.start) : Integer.compare(number, other.number);
		}
	}

	@Override
	public void close() {
		if (file != null) {
			try {
				file.close();
			} catch (IOException e) {
				// it has no name any more
			}
			file = null;
		}
	}
}
