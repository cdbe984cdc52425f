// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.ProducerTree;

/** A text that a structure has; structures with the same text are together, those without are unknown. */
abstract class OfStructureText extends OfMemory {
	private final Function<Structure, String> text;

	/** See {@link org.memtrace.aggregation.Dimension#Dimension}; text of a structure, empty if unknown. */
	OfStructureText(String id, String title, String choice, String meaning, Function<Structure, String> text) {
		super(id, title, choice, Type.TEXT, meaning, Use.ALL);
		this.text = text;
	}

	@Override
	public boolean isOfSums() {
		return true;
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		List<Structure> structures = table.structures();
		List<String> texts = new ArrayList<>();
		Map<String, Integer> index = new HashMap<>();
		int[] value = new int[structures.size()];
		for (int s = 0; s < value.length; s++) {
			String own = text.apply(structures.get(s));
			value[s] = own.isEmpty() ? -1 : index.computeIfAbsent(own, t -> {
				texts.add(t);
				return texts.size() - 1;
			});
		}
		return new ProducerValues(texts.size(), producer -> {
			int s = tree.structure(producer);
			return s < 0 || s >= value.length ? DimensionValues.UNKNOWN : value[s];
		}, v -> texts.get((int) v));
	}
}
