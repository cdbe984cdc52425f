// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * The innermost region of the program in the middle of the time of an access: of those of its thread or, when this thread never was in one,
 * of those of the first thread of its image that was.
 */
final class RegionsOfProgram extends Dimension {
	RegionsOfProgram() {
		super("region", "Region", "Regions of the program", Type.TEXT,
				"innermost region that the program named with memtrace_begin(), or state of a joined trace, of the thread or else of the first thread"
						+ " that has one", Use.ALL);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		byte[] note = table.store().readNote(Regions.NOTE).orElse(null);
		Regions regions = note == null ? Regions.NONE : Regions.parse(note);
		Regions.Innermost innermost = regions.innermost(table.threads());
		return new NamedValues(regions.names()) {
			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					long start = c.timeStartNs[c.time[row]];
					int region = innermost.at(c.thread[row], start + (c.timeEndNs[c.time[row]] - start) / 2);
					out[row] = region < 0 ? UNKNOWN : region;
				}
			}
		};
	}
}
