// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.EnumSet;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.NumberValues;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.MemoryLevel;

/** How long a sampled access took. */
final class Latencies extends Dimension {
	Latencies() {
		super("latency", "Latency", "Latencies", Type.NUMBER,
				"Cycles that a sampled access took, as the processor told it; 65535 stands for that many or more", Use.UNCOLOURED);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.FLAGS);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		return new NumberValues() {
			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					int cycles = MemoryLevel.latencyCycles(c.flags[row]);
					out[row] = cycles == 0 ? UNKNOWN : cycles;
				}
			}
		};
	}
}
