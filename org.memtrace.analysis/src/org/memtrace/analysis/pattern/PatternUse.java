// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.tree.RankNames;

/**
 * Blocks of one image, kind, name (without its number) and site, which are judged together.
 *
 * @param busiest the one with most accesses
 * @param accesses to all of them
 */
record PatternUse(String name, String site, List<Integer> structures, int busiest, double accesses) {

	/** All that were used, those with most accesses first. */
	static List<PatternUse> of(AccessTable table, Patterns patterns) {
		Map<String, PatternUse> byName = new LinkedHashMap<>();
		RankNames names = RankNames.of(table.producers(), table.structures());
		Map<Integer, Double> sums = new LinkedHashMap<>();
		for (int s : patterns.structures()) {
			Structure structure = table.structures().get(s);
			String name = names.shown(structure, RankNames.plain(structure.name()));
			double sum = patterns.spans(s).stream().mapToDouble(Patterns.Span::accesses).sum();
			sums.put(s, sum);
			byName.merge(structure.image() + " " + structure.kind() + " " + name + " " + structure.site(),
					new PatternUse(name, structure.site(), List.of(s), s, sum), (a, b) -> {
						List<Integer> all = a.structures() instanceof ArrayList ? a.structures() : new ArrayList<>(a.structures());
						all.addAll(b.structures());
						return new PatternUse(name, a.site(), all, sums.get(a.busiest()) >= sum ? a.busiest() : s, a.accesses() + b.accesses());
					});
		}
		List<PatternUse> list = new ArrayList<>(byName.values());
		list.sort(Comparator.comparingDouble((PatternUse u) -> -u.accesses()).thenComparing(PatternUse::name));
		return list;
	}

	/** Share of its accesses by label, the largest first. */
	Map<String, Double> shares(Patterns patterns) {
		return patterns.shares(structures);
	}

	/** Whether at least so much of its accesses has a label. */
	boolean labelled(Patterns patterns, double share) {
		return shares(patterns).getOrDefault(Patterns.title(null, 0), 0.0) <= 1 - share;
	}
}
