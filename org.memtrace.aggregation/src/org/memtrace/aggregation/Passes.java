// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;

import org.memtrace.aggregation.time.TimeDensity;
import org.memtrace.aggregation.time.TimeSet;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.tree.ProducerTree;

/** What passes over accesses look at that more than one question needs. */
final class Passes {
	private Passes() {
	}

	/** Adds a part of the accesses to sums of whole numbers, which are the same in whatever order it is done. */
	static final class Density implements AccessScan.Part {
		private final TimeDensity.Times times;
		private final FirstTouches touches;
		private final AtomicLongArray accesses;
		private final AtomicLongArray touched;
		/** Sums of the times of a chunk. */
		private long[] sum = new long[0];
		private int page = -1;

		Density(TimeDensity.Times times, FirstTouches touches, AtomicLongArray accesses, AtomicLongArray touched) {
			this.times = times;
			this.touches = touches;
			this.accesses = accesses;
			this.touched = touched;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			if (sum.length < c.times) {
				sum = new long[c.timeStartNs.length];
			}
			Arrays.fill(sum, 0, c.times, 0);
			for (int l = leafFrom; l < leafTo; l++) {
				for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
					sum[c.time[row]] += c.reads[row] + c.writes[row];
				}
				if (c.leaf[l] != page) {
					page = c.leaf[l];
					int at = touches.indexOf(page);
					if (at >= 0) {
						touched.incrementAndGet(times.number(touches.startNs(at), touches.endNs(at)));
					}
				}
			}
			for (int t = 0; t < c.times; t++) {
				if (sum[t] != 0) {
					accesses.addAndGet(times.number(c.timeStartNs[t], c.timeEndNs[t]), sum[t]);
				}
			}
		}
	}

	static final class Max implements AccessScan.Part {
		private final Function<AccessChunk, int[]> column;
		private int max = -1;

		Max(Function<AccessChunk, int[]> column) {
			this.column = column;
		}

		int max() {
			return max;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			int[] values = column.apply(c);
			int to = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < to; row++) {
				max = Math.max(max, values[row]);
			}
		}
	}

	static final class Times implements AccessScan.Part {
		private final int most;
		private final TimeSet set = new TimeSet();

		Times(int most) {
			this.most = most;
		}

		TimeSet set() {
			return set;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (int t = 0; t < c.times && set.size() <= most; t++) {
				set.add(c.timeStartNs[t], c.timeEndNs[t]);
			}
		}
	}

	/** What is known after all accesses were looked at for the first time. */
	static final class First implements AccessScan.Part {
		private final ProducerTree tree;
		final FirstTouches.Part touches = new FirstTouches.Part();
		final Max node = new Max(c -> c.node);
		final Max sharing = new Max(c -> c.sharing);
		final Times times = new Times(TimeDensity.GRID);
		final List<Integer> inner = new ArrayList<>();

		First(ProducerTree tree) {
			this.tree = tree;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			touches.chunk(c, leafFrom, leafTo);
			node.chunk(c, leafFrom, leafTo);
			sharing.chunk(c, leafFrom, leafTo);
			times.chunk(c, leafFrom, leafTo);
			for (int l = leafFrom; l < leafTo; l++) {
				if (!tree.isLeaf(c.leaf[l])) {
					inner.add(c.leaf[l]);
				}
			}
		}
	}
}
