// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;

/**
 * What is priced.
 *
 * @param rule id of the rule
 * @param structures ids of the structures
 * @param figures numbers of the finding by name
 */
public record Priced(String rule, List<Integer> structures, Map<String, Double> figures) {
	/** The groups that it is about. */
	List<GroupFacts> groups(TraceFacts facts) {
		Set<Integer> ids = new HashSet<>(structures);
		return facts.groups().stream().filter(g -> g.structures.stream().anyMatch(ids::contains)).toList();
	}
}
