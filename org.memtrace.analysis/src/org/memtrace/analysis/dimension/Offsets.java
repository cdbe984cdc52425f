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
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/** Where in its structure an access is: of its first read or, if that is not known, of its first write. */
final class Offsets extends Dimension {
	Offsets() {
		super("offset", "Offset", "Offsets in structures", Type.NUMBER, "Bytes from the start of the structure to the first address of the record",
				Use.UNCOLOURED);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.READ_OFFSET, AccessColumn.WRITE_OFFSET);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		List<Structure> structures = table.structures();
		long inPage = table.info().pageSizeBytes() - 1L;
		return new NumberValues() {
			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int l = leafFrom; l < leafTo; l++) {
					int s = tree.structure(c.leaf[l]);
					long toStructure = s < 0 || s >= structures.size() ? 0
							: (tree.startAddress(c.leaf[l]) & ~inPage) - structures.get(s).startAddress();
					for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
						int place = c.readOffset[row] >= 0 ? c.readOffset[row] : c.writeOffset[row];
						long offset = toStructure + place;
						out[row] = s < 0 || place < 0 || offset < 0 ? UNKNOWN : offset;
					}
				}
			}
		};
	}
}
