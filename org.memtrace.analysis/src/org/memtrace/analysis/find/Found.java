// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.find;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.analysis.find.FindHit.Kind;
import org.memtrace.analysis.text.Units;

/**
 * What was found in one place. Immutable.
 *
 * @param hits the best ones, the best first
 * @param totals how many there are of each kind, also of those that are not among the hits; a kind without any is not there
 */
public record Found(List<FindHit> hits, Map<Kind, Integer> totals) {
	public static final Found NOTHING = new Found(List.of(), Map.of());

	public Found {
		hits = hits.stream().sorted(FindHit.ORDER).toList();
		totals = Map.copyOf(totals);
	}

	/** Both together. */
	public Found with(Found other) {
		List<FindHit> all = new ArrayList<>(hits);
		all.addAll(other.hits);
		Map<Kind, Integer> sums = new EnumMap<>(Kind.class);
		totals.forEach((k, n) -> sums.merge(k, n, Integer::sum));
		other.totals.forEach((k, n) -> sums.merge(k, n, Integer::sum));
		return new Found(all, sums);
	}

	/** Says what is not among the hits, such as {@code 12 of 3,400 structures}; empty when all are. */
	public String more() {
		Map<Kind, Integer> shown = new EnumMap<>(Kind.class);
		hits.forEach(h -> shown.merge(h.kind(), 1, Integer::sum));
		return String.join(", ", totals.entrySet().stream().filter(e -> e.getValue() > shown.getOrDefault(e.getKey(), 0))
				.sorted(Comparator.comparing(e -> e.getKey())).map(e -> String.format(Locale.ROOT, "%,d of %s", shown.getOrDefault(e.getKey(), 0),
						Units.plural(e.getValue(), e.getKey().title().toLowerCase(Locale.ROOT)))).toList());
	}
}
