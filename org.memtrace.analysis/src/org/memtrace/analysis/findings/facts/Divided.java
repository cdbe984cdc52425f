// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;

/** How much of a group is memory that is divided among threads: {@link GroupFacts#dividedParts}. */
final class Divided {
	private Divided() {
	}

	static int parts(GroupFacts g, List<Structure> structures, List<ThreadInfo> threads, TraceInfo info) {
		BitSet users = new BitSet();
		Set<Long> allocators = new HashSet<>();
		int several = 0;
		int rows = 0;
		int given = 0;
		long run = info.endNs() - info.startNs();
		for (Map.Entry<Integer, GroupFacts.Users> e : g.usersOfBlocks.entrySet()) {
			Structure s = structures.get(e.getKey());
			int user = e.getValue().thread;
			if (user == GroupFacts.Users.SEVERAL) {
				several += e.getValue().parts;
			} else if (Math.min(s.deathNs(), info.endNs()) - s.birthNs() >= run / 2) {
				rows += e.getValue().parts;
				given += threads.get(user).taskId() == s.taskId() ? 0 : e.getValue().parts;
				users.set(user);
				allocators.add(s.taskId());
			}
		}
		return several + (users.cardinality() < 2 ? 0 : allocators.size() == 1 ? rows : given);
	}
}
