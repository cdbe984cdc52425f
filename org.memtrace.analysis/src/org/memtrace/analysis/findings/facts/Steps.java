// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.analysis.source.Instructions;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.TypeMembers;

/**
 * How instructions go through the structures of a group, where they were counted.
 *
 * @param most of the source lines whose accesses jump the one that makes most of these, null: none does
 * @param share accesses of the group whose line jumps, of all that instructions made
 */
public record Steps(Instructions.Row most, double share) {
	/** Gives each group its steps; without instructions nothing. A walk over large elements is no jump. */
	static void collect(List<Instructions.Row> rows, List<Structure> structures, List<GroupFacts> groups, int[] groupOf) {
		Map<String, Long> elements = new HashMap<>();
		for (Structure s : structures) {
			if (!s.members().isEmpty()) {
				TypeMembers.parse(s.members()).ifPresent(m -> elements.putIfAbsent(s.elementType(), m.bytes()));
			}
		}
		Map<Integer, long[]> sums = new HashMap<>();
		Map<Integer, Instructions.Row> most = new HashMap<>();
		for (Instructions.Row r : Instructions.byLine(rows)) {
			int g = r.structure() == null ? -1 : groupOf[r.structure().id()];
			if (g < 0) {
				continue;
			}
			long[] sum = sums.computeIfAbsent(g, k -> new long[2]);
			sum[0] += r.use().accesses();
			if (r.jumps() && Math.abs(r.use().dominant().value()) != elements.getOrDefault(r.structure().elementType(), 0L)) {
				sum[1] += r.use().accesses();
				most.putIfAbsent(g, r);
			}
		}
		sums.forEach((g, sum) -> groups.get(g).steps = new Steps(most.get(g), (double) sum[1] / sum[0]));
	}
}
