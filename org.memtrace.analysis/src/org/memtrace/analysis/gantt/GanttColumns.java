// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Cells of one row as pixel columns: for each column and slot the amount per nanosecond. A cell that is at least a pixel wide
 * has whole columns, narrower ones share a column in proportion; everything has at least one column.
 */
final class GanttColumns {
	final int width;
	final int slots;
	/** rate[column * slots + slot]. */
	final double[] rate;
	/** How many times something that is narrower than a pixel begins in a column. */
	final int[] small;
	/** Slots that have something. */
	final BitSet used = new BitSet();
	private final BitSet present;

	GanttColumns(int width, int slots) {
		this.width = width;
		this.slots = slots;
		this.rate = new double[width * slots];
		this.small = new int[width];
		this.present = new BitSet(width * slots);
	}

	/** Whether there is anything in a column, also of the amount 0. */
	boolean has(int column, int slot) {
		return present.get(column * slots + slot);
	}

	/** Forgets everything. */
	void clear() {
		Arrays.fill(rate, 0);
		Arrays.fill(small, 0);
		present.clear();
		used.clear();
	}

	/**
	 * Adds the cells of a series that are in a window.
	 *
	 * @param wanted slots that are shown
	 */
	void add(GanttSeries s, long fromNs, long toNs, BitSet wanted) {
		double perNs = (double) width / (toNs - fromNs);
		double pixelNs = 1 / perNs;
		long smallAt = Long.MIN_VALUE;
		for (int i = s.first(fromNs); i < s.size() && s.start[i] < toNs; i++) {
			int slot = s.slot[i];
			long start = s.start[i];
			long end = s.end[i];
			if (!wanted.get(slot) || end <= fromNs && (end != start || start < fromNs)) {
				continue;
			}
			used.set(slot);
			double x1 = (start - fromNs) * perNs;
			double x2 = (end - fromNs) * perNs;
			if (x2 - x1 >= 1) {
				int c1 = (int) Math.max(0, Math.min(width - 1, Math.round(x1)));
				int c2 = (int) Math.max(c1 + 1, Math.min(width, Math.round(x2)));
				double r = s.amount[i] / (end - start);
				for (int c = c1; c < c2; c++) {
					put(c, slot, r);
				}
				continue;
			}
			int c1 = (int) Math.max(0, Math.min(width - 1, Math.floor(x1)));
			int c2 = (int) Math.max(c1, Math.min(width - 1, Math.ceil(x2) - 1));
			if (!s.isExact()) {
				small[c1] += s.records[i];
			} else if (start != smallAt) {
				small[c1]++;
				smallAt = start;
			}
			if (end == start) {
				put(c1, slot, s.amount[i] / pixelNs);
				continue;
			}
			double r = s.amount[i] / (x2 - x1) / pixelNs;
			for (int c = c1; c <= c2; c++) {
				put(c, slot, r * (Math.min(c + 1, x2) - Math.max(c, x1)));
			}
		}
	}

	private void put(int column, int slot, double r) {
		int at = column * slots + slot;
		rate[at] += r;
		present.set(at);
	}

	/** Whether two columns look the same. */
	boolean same(int a, int b) {
		if (small[a] > 1 != small[b] > 1) {
			return false;
		}
		for (int slot = used.nextSetBit(0); slot >= 0; slot = used.nextSetBit(slot + 1)) {
			double x = rate[a * slots + slot];
			double y = rate[b * slots + slot];
			if (has(a, slot) != has(b, slot) || Math.abs(x - y) > 1e-6 * Math.max(Math.abs(x), Math.abs(y))) {
				return false;
			}
		}
		return true;
	}

	/** Whether a column has nothing. */
	boolean isEmpty(int column) {
		int next = present.nextSetBit(column * slots);
		return next < 0 || next >= (column + 1) * slots;
	}
}
