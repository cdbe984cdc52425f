// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.Structure;

/**
 * Lives and addresses of the blocks of a group.
 *
 * @param count number of blocks
 * @param allocators threads that allocated one
 * @param addresses distinct start addresses
 * @param handedOver share of the blocks at addresses that several threads got
 * @param medianLifeNs median life
 */
record Blocks(int count, int allocators, int addresses, double handedOver, double medianLifeNs) {
	static Blocks of(GroupFacts g, TraceFacts t) {
		Map<Long, Set<Long>> byAddress = new HashMap<>();
		Set<Long> allocators = new HashSet<>();
		double[] lives = new double[g.structures.size()];
		int n = 0;
		for (int id : g.structures) {
			Structure s = t.structures().get(id);
			byAddress.computeIfAbsent(s.startAddress(), k -> new HashSet<>()).add(s.taskId());
			allocators.add(s.taskId());
			lives[n++] = Math.min(s.deathNs(), t.info().endNs()) - (double) s.birthNs();
		}
		Arrays.sort(lives);
		long handed = g.structures.stream().filter(id -> byAddress.get(t.structures().get(id).startAddress()).size() > 1).count();
		return new Blocks(n, allocators.size(), byAddress.size(), (double) handed / n, lives[n / 2]);
	}
}
