// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.FirstTouches;
import org.memtrace.aggregation.NumberValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** Whether a record is the one in which its page was touched first in the whole trace, whatever filters hide: 1, else 0. */
final class FirstTouchOfPage extends Dimension {
	FirstTouchOfPage() {
		super("first_touch", "First touch", "First touches", Type.NUMBER, "1 for the record in which its page was touched first, else 0",
				Set.of(Use.FILTER, Use.GROUP));
	}

	@Override
	public boolean looksAtAll() {
		return true;
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.FIRST);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		FirstTouches touches = table.firstTouches(progress);
		return new NumberValues() {
			@Override
			public long size() {
				return 2;
			}

			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int l = leafFrom; l < leafTo; l++) {
					int i = touches.indexOf(c.leaf[l]);
					for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
						out[row] = i >= 0 && c.thread[row] == touches.thread(i) && c.startNs(row) == touches.startNs(i)
								&& c.endNs(row) == touches.endNs(i) && (!touches.isKnown(i) || c.beginNs(row) == touches.atNs(i)) ? 1 : 0;
					}
				}
			}
		};
	}
}
