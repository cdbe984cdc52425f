// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.text.Parts;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/** Structures, stacks and ranges outside of them. */
final class Structures extends OfMemory {
	Structures() {
		super("structure", "Structure", "Structures", Type.TEXT, "The structure, stack or range of memory", Use.ALL);
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		Parts parts = new Parts(tree, table.structures());
		return new ProducerValues(parts.count(), parts::of, value -> parts.partName((int) value)) {
			@Override
			public ModelType type(long value) {
				// several structures may have one name
				return value == UNKNOWN ? unknownType() : new ModelType(name(value) + " #" + value, Role.OTHER, (int) value);
			}
		};
	}
}
