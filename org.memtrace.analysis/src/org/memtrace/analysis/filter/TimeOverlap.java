// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.filter;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.NumberValues;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** Whether the interval of a record overlaps a window of time: 1, else 0. In no list. */
final class TimeOverlap extends Dimension {
	private final long minNs;
	private final long maxNs;

	/** Of {@code [minNs, maxNs)} from the start of the trace. */
	TimeOverlap(long minNs, long maxNs) {
		super("time_overlap", "Time", "Times", Type.NUMBER, "Whether a record overlaps a window of time", Set.of(Use.FILTER));
		this.minNs = minNs;
		this.maxNs = maxNs;
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		long startNs = table.info().startNs();
		return new NumberValues() {
			@Override
			public long size() {
				return 2;
			}

			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					out[row] = c.endNs(row) - startNs > minNs && c.startNs(row) - startNs < maxNs ? 1 : 0;
				}
			}
		};
	}
}
