// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.NumberValues;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** Windows of time of equal length, by their start: the window in which an access begins, or the first one when it has begun earlier. */
final class TimeWindows extends Dimension {
	private final Question question;

	TimeWindows() {
		this(null);
	}

	private TimeWindows(Question question) {
		super("time", "Time", "Windows of time", Type.NUMBER, "Start of the window of time in which the access begins", Set.of(Use.GROUP));
		this.question = question;
	}

	@Override
	public Dimension of(Question asked) {
		return new TimeWindows(asked);
	}

	@Override
	public boolean isOfSums() {
		return true;
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		if (question == null || question.windowNs() <= 0) {
			throw new IllegalArgumentException("windows of time have no length");
		}
		long origin = question.originNs();
		long windowNs = question.windowNs();
		return new NumberValues() {
			@Override
			public String label(long value) {
				long start = origin + value * windowNs - table.info().startNs();
				return Units.duration(table.info(), start) + " to " + Units.duration(table.info(), start + windowNs);
			}

			@Override
			public Object cell(long value) {
				return origin + value * windowNs;
			}

			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				long[] window = new long[c.times];
				for (int t = 0; t < c.times; t++) {
					window[t] = (Math.max(c.timeStartNs[t], origin) - origin) / windowNs;
				}
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					out[row] = window[c.time[row]];
				}
			}
		};
	}
}
