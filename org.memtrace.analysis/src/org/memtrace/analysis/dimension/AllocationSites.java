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

/** The source line where a structure is allocated or defined; structures of one line are together. */
final class AllocationSites extends OfMemory {
	AllocationSites() {
		super("site", "Site", "Allocation sites", Type.TEXT, "Source line where the structure is allocated or defined", Use.ALL);
	}

	@Override
	public boolean isOfSums() {
		return true;
	}

	@Override
	public ProducerValues values(AccessTable table, Progress progress) {
		ProducerTree tree = table.producers();
		List<Structure> structures = table.structures();
		List<String> sites = new ArrayList<>();
		Map<String, Integer> index = new HashMap<>();
		int[] site = new int[structures.size()];
		for (int s = 0; s < site.length; s++) {
			String text = structures.get(s).site();
			site[s] = text.isEmpty() ? -1 : index.computeIfAbsent(text, t -> {
				sites.add(t);
				return sites.size() - 1;
			});
		}
		return new ProducerValues(sites.size(), producer -> {
			int s = tree.structure(producer);
			return s < 0 || s >= site.length ? DimensionValues.UNKNOWN : site[s];
		}, value -> sites.get((int) value));
	}
}
