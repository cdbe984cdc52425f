// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.MemoryLevel;

/** Where the processor found the data of a sampled access. */
final class MemoryLevels extends Dimension {
	MemoryLevels() {
		super("level", "Level", "Levels of memory", Type.TEXT,
				"Where the processor found the data: a cache, the memory of a node, a line that another core had written; of sampled accesses",
				Use.ALL);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.FLAGS);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		return new NamedValues(Arrays.stream(MemoryLevel.values()).map(MemoryLevel::label).toList()) {
			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					MemoryLevel level = MemoryLevel.of(c.flags[row]);
					out[row] = level == null ? UNKNOWN : level.ordinal();
				}
			}
		};
	}
}
