// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;

/**
 * When and by whom each page of a trace was touched first: the first record of the page, of all that the recorder saw and whatever
 * filters hide. Of threads that touched it in the same monitoring interval it is the one whose access was first, as far as the trace tells
 * it, else the one whose access was recorded first. It is not known where a record without a thread may have been before. Immutable.
 */
public final class FirstTouches {
	/** Pages with accesses, ascending. */
	private final int[] producer;
	private final long[] startNs;
	private final long[] endNs;
	/** Since the start, -1 unknown. */
	private final long[] firstNs;
	/** -1 unknown. */
	private final int[] thread;

	private FirstTouches(int[] producer, long[] startNs, long[] endNs, long[] firstNs, int[] thread) {
		this.producer = producer;
		this.startNs = startNs;
		this.endNs = endNs;
		this.firstNs = firstNs;
		this.thread = thread;
	}

	/** Touches of a range of pages. */
	static final class Part implements AccessScan.Part {
		private int[] producer = new int[1024];
		private long[] startNs = new long[1024];
		private long[] endNs = new long[1024];
		private long[] firstNs = new long[1024];
		private int[] thread = new int[1024];
		private int count;

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int l = leafFrom; l < leafTo; l++) {
				int row = c.leafFrom[l];
				if (count > 0 && producer[count - 1] == c.leaf[l]) {
					doubt(c, row, c.leafFrom[l + 1]);
					continue;
				}
				int time = c.time[row];
				if (count == producer.length) {
					producer = Arrays.copyOf(producer, 2 * count);
					startNs = Arrays.copyOf(startNs, 2 * count);
					endNs = Arrays.copyOf(endNs, 2 * count);
					firstNs = Arrays.copyOf(firstNs, 2 * count);
					thread = Arrays.copyOf(thread, 2 * count);
				}
				producer[count] = c.leaf[l];
				startNs[count] = c.timeStartNs[time];
				endNs[count] = c.timeEndNs[time];
				firstNs[count] = c.firstNs[row];
				thread[count++] = c.thread[row];
				doubt(c, row, c.leafFrom[l + 1]);
			}
		}

		/** Rows of the last page in the order of their times: of one without a thread and a moment nobody knows whether it was the first. */
		private void doubt(AccessChunk c, int from, int to) {
			int last = count - 1;
			for (int row = from; row < to && thread[last] >= 0; row++) {
				if (c.timeStartNs[c.time[row]] != startNs[last] || c.timeEndNs[c.time[row]] != endNs[last]) {
					return;
				}
				if (c.thread[row] < 0 && c.firstNs[row] < 0) {
					thread[last] = -1;
					firstNs[last] = -1;
				}
			}
		}
	}

	/** Looks at all accesses. */
	static FirstTouches of(AccessScan scan, AccessQuery all, Progress progress) throws MemtraceException {
		List<Part> parts = scan.run(all, COLUMNS, "First touches", progress,
				(from, to) -> new Part());
		return of(parts);
	}

	/** Columns that parts look at. */
	static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.FIRST);

	/** Joins parts in order. */
	static FirstTouches of(List<Part> parts) {
		int n = 0;
		for (Part p : parts) {
			n = Math.addExact(n, p.count);
		}
		FirstTouches found = new FirstTouches(new int[n], new long[n], new long[n], new long[n], new int[n]);
		int at = 0;
		for (Part p : parts) {
			System.arraycopy(p.producer, 0, found.producer, at, p.count);
			System.arraycopy(p.startNs, 0, found.startNs, at, p.count);
			System.arraycopy(p.endNs, 0, found.endNs, at, p.count);
			System.arraycopy(p.firstNs, 0, found.firstNs, at, p.count);
			System.arraycopy(p.thread, 0, found.thread, at, p.count);
			at += p.count;
		}
		return found;
	}

	/** @param times all times of the trace, null when they are too many to be numbered */
	void write(SavedNumbers.Out out, AccessTimes times) {
		out.deltas(producer, producer.length).deltas(thread, thread.length).deltas(firstNs, firstNs.length);
		if (times != null) {
			int[] number = new int[producer.length];
			for (int i = 0; i < number.length; i++) {
				number[i] = times.indexOf(startNs[i], endNs[i]);
			}
			out.deltas(number, number.length);
			return;
		}
		long[] length = new long[producer.length];
		for (int i = 0; i < length.length; i++) {
			length[i] = endNs[i] - startNs[i];
		}
		out.deltas(startNs, startNs.length).unsigned(length, length.length);
	}

	static FirstTouches read(SavedNumbers.In in, AccessTimes times) throws SavedNumbers.Damaged {
		int[] producer = in.deltaInts();
		int[] thread = in.deltaInts();
		long[] firstNs = in.deltaLongs();
		long[] startNs;
		long[] endNs;
		if (times != null) {
			int[] number = in.deltaInts();
			startNs = new long[number.length];
			endNs = new long[number.length];
			for (int i = 0; i < number.length; i++) {
				startNs[i] = times.startNs(number[i]);
				endNs[i] = times.endNs(number[i]);
			}
		} else {
			startNs = in.deltaLongs();
			endNs = in.unsignedLongs();
			for (int i = 0; i < endNs.length; i++) {
				endNs[i] += startNs[i];
			}
		}
		if (thread.length != producer.length || startNs.length != producer.length || endNs.length != producer.length
				|| firstNs.length != producer.length) {
			throw new SavedNumbers.Damaged("columns are of different lengths");
		}
		return new FirstTouches(producer, startNs, endNs, firstNs, thread);
	}

	/** Number of pages with accesses. */
	public int count() {
		return producer.length;
	}

	/** Index of the first page whose producer is not before the given one; {@link #count} if there is none. */
	public int indexFrom(int producerId) {
		int at = Arrays.binarySearch(producer, producerId);
		return at >= 0 ? at : -at - 1;
	}

	/** Index of a page, negative when it has no accesses. */
	public int indexOf(int producerId) {
		return Arrays.binarySearch(producer, producerId);
	}

	/** Producer of a page. */
	public int producer(int index) {
		return producer[index];
	}

	/** Start of the monitoring interval, or time, of the first touch of a page. */
	public long startNs(int index) {
		return startNs[index];
	}

	/** When a page was touched first, as far as it is known, else the start of that interval. */
	public long atNs(int index) {
		return startNs[index] + Math.max(0, firstNs[index]);
	}

	/** Whether {@link #atNs} is the time of the touch, as far as all that may have been before tell their times. */
	public boolean isKnown(int index) {
		return firstNs[index] >= 0;
	}

	/** End of it. */
	public long endNs(int index) {
		return endNs[index];
	}

	/** Index of the thread that touched a page first, -1 when it is not known. */
	public int thread(int index) {
		return thread[index];
	}
}
