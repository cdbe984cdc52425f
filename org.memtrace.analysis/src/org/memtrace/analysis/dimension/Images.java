// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.NumberValues;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/** Process images by their numbers: that of the structure, else that of the thread. */
final class Images extends Dimension {
	Images() {
		super("image", "Image", "Process images", Type.NUMBER, "Number of the process image", Set.of(Use.FILTER, Use.GROUP));
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.THREAD);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		List<Structure> structures = table.structures();
		List<ThreadInfo> threads = table.threads();
		int most = Math.max(structures.stream().mapToInt(Structure::image).max().orElse(-1),
				threads.stream().mapToInt(ThreadInfo::image).max().orElse(-1));
		return new NumberValues() {
			@Override
			public long size() {
				return most + 1L;
			}

			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int l = leafFrom; l < leafTo; l++) {
					int s = tree.structure(c.leaf[l]);
					for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
						int t = c.thread[row];
						out[row] = s >= 0 && s < structures.size() ? structures.get(s).image()
								: t >= 0 && t < threads.size() ? threads.get(t).image() : UNKNOWN;
					}
				}
			}
		};
	}
}
