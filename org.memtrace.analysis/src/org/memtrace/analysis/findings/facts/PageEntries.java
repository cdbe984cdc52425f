// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Arrays;

/**
 * Where a thread entered the pages of a group in an interval, the pages in ascending order: the lines, and the steps, which are the
 * distances from one entry to the next. A loop that walks along memory enters pages at their first byte; one that walks down a column
 * enters the next page a multiple of the length of a row further on.
 */
public final class PageEntries {
	/** Lines of a page that are told apart. */
	public static final int LINES = 64;

	/** Index of the thread. */
	public final int thread;
	/** From each entry to the next one. */
	public final Steps steps = new Steps();
	/** Between entries that are neither in the first nor in the last line: rows that are longer than a page leave some pages to those. */
	public final Steps inside = new Steps();
	private final int[] lines = new int[LINES];
	private long entries;

	PageEntries(int thread) {
		this.thread = thread;
	}

	/**
	 * The next entry.
	 *
	 * @param address of the first byte
	 */
	void enter(long address, int pageBytes) {
		long page = address & -(long) pageBytes;
		int line = (int) Math.min(LINES - 1, (address - page) * LINES / pageBytes);
		lines[line]++;
		entries++;
		steps.enter(address, page);
		if (line > 0 && line < LINES - 1) {
			inside.enter(address, page);
		}
	}

	/** Adds the entries of another part of memory. */
	PageEntries add(PageEntries o) {
		for (int i = 0; i < LINES; i++) {
			lines[i] += o.lines[i];
		}
		entries += o.entries;
		steps.add(o.steps);
		inside.add(o.inside);
		return this;
	}

	/** Entries by line; must not be changed. */
	public int[] lines() {
		return lines;
	}

	public long entries() {
		return entries;
	}

	/**
	 * How often each step was made. The most frequent ones are kept (Misra and Gries), so counts are exact up to eight different ones,
	 * and too small beyond.
	 */
	public static final class Steps {
		private static final int KEPT = 8;

		private final long[] bytes = new long[KEPT];
		private final int[] count = new int[KEPT];
		private final long[] place = new long[KEPT];
		private long all;
		private long last = -1;

		private void enter(long address, long page) {
			if (last >= page) {
				return;
			}
			if (last >= 0) {
				all++;
				step(address - last, 1, address);
			}
			last = address;
		}

		private void step(long distance, int times, long at) {
			int free = -1;
			for (int i = 0; i < KEPT; i++) {
				if (count[i] > 0 && bytes[i] == distance) {
					count[i] += times;
					place[i] = at;
					return;
				}
				free = count[i] == 0 ? i : free;
			}
			if (free >= 0) {
				bytes[free] = distance;
				count[free] = times;
				place[free] = at;
				return;
			}
			int least = Math.min(times, Arrays.stream(count).min().orElse(0));
			for (int i = 0; i < KEPT; i++) {
				count[i] -= least;
			}
			if (times > least) {
				step(distance, times - least, at);
			}
		}

		private void add(Steps o) {
			all += o.all;
			o.forEach(this::step);
		}

		/** Number of steps, also of those that are not kept. */
		public long all() {
			return all;
		}

		/** Gets the steps that are kept. */
		public void forEach(Visitor visitor) {
			for (int i = 0; i < KEPT; i++) {
				if (count[i] > 0) {
					visitor.step(bytes[i], count[i], place[i]);
				}
			}
		}
	}

	/** Is told the steps that are kept. */
	@FunctionalInterface
	public interface Visitor {
		/**
		 * A kind of steps.
		 *
		 * @param address an address where such a step ended
		 */
		void step(long bytes, int count, long address);
	}
}
