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
 * The region of the program in the middle of the time of an access, the innermost one or the path of all: of those of its thread or, when
 * this thread never was in one, of those of the first thread of its image that was.
 */
final class RegionsOfProgram extends Dimension {
	/** The innermost one. As a filter a name is at any depth: it is asked of {@link #PATH}. */
	static final RegionsOfProgram INNERMOST = new RegionsOfProgram(false, "region", "Region", "Regions of the program",
			"innermost region that the program named with memtrace_begin(), or state of a joined trace, of the thread or else of the first thread"
					+ " that has one");
	static final RegionsOfProgram PATH = new RegionsOfProgram(true, "region_path", "Region path", "Paths of regions",
			"all regions that the access is in, between slashes, the outermost first: solve/iteration 3; a filter is at any depth");

	private final boolean paths;

	private RegionsOfProgram(boolean paths, String id, String label, String plural, String meaning) {
		super(id, label, plural, Type.TEXT, meaning, Use.ALL);
		this.paths = paths;
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		byte[] note = table.store().readNote(Regions.NOTE).orElse(null);
		Regions regions = note == null ? Regions.NONE : Regions.parse(note);
		Regions.Innermost innermost = paths ? regions.paths(table.threads()) : regions.innermost(table.threads());
		return new NamedValues(innermost.names()) {
			@Override
			public boolean isNamed(long value, Set<String> wanted) {
				if (!paths || value == UNKNOWN) {
					return super.isNamed(value, wanted);
				}
				String path = "/" + name(value) + "/";
				return wanted.stream().anyMatch(w -> !w.isEmpty() && path.contains("/" + w + "/"));
			}

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
