// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/** The type of a structure as it is declared, without the dimensions: of an array that of its elements. */
final class ElementTypes extends OfMemory {
	ElementTypes() {
		super("type_name", "Type", "Types", Type.TEXT, "Type of the structure; of an array or a block that of its elements: double, struct particle", Use.ALL);
	}

	@Override
	public boolean isOfSums() {
		return true;
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		List<Structure> structures = table.structures();
		List<String> types = new ArrayList<>();
		Map<String, Integer> index = new HashMap<>();
		int[] type = new int[structures.size()];
		for (int s = 0; s < type.length; s++) {
			String text = structures.get(s).elementType();
			type[s] = text.isEmpty() ? -1 : index.computeIfAbsent(text, t -> {
				types.add(t);
				return types.size() - 1;
			});
		}
		return new ProducerValues(types.size(), producer -> {
			int s = tree.structure(producer);
			return s < 0 || s >= type.length ? DimensionValues.UNKNOWN : type[s];
		}, value -> types.get((int) value));
	}
}
