// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.memory.Structure;

/**
 * Sizes of all blocks of one place.
 *
 * @param count number of blocks
 * @param least bytes of the smallest
 * @param most bytes of the largest
 * @param perThread blocks that one thread had at a time, at most; of blocks whose thread is not known: that lived at a time
 */
record BlockSizes(int count, long least, long most, int perThread) {
	static BlockSizes of(GroupFacts g, TraceFacts t) {
		List<Structure> all = g.structures.stream().map(t.structures()::get).toList();
		long least = all.stream().mapToLong(Structure::sizeBytes).min().orElse(0);
		long most = all.stream().mapToLong(Structure::sizeBytes).max().orElse(0);
		Map<Long, List<Structure>> byThread = new HashMap<>();
		all.forEach(s -> byThread.computeIfAbsent(s.taskId(), k -> new ArrayList<>()).add(s));
		int perThread = byThread.values().stream().mapToInt(BlockSizes::atATime).max().orElse(0);
		return new BlockSizes(all.size(), least, most, perThread);
	}

	private static int atATime(List<Structure> some) {
		PriorityQueue<Long> deaths = new PriorityQueue<>();
		int most = 0;
		for (Structure s : some.stream().sorted(Comparator.comparingLong(Structure::birthNs)).toList()) {
			while (!deaths.isEmpty() && deaths.peek() <= s.birthNs()) {
				deaths.poll();
			}
			deaths.add(s.deathNs());
			most = Math.max(most, deaths.size());
		}
		return most;
	}

	/** "all 120 blocks of frame have 512 KiB", "the 120 blocks of frame have 33.0 MiB to 33.9 MiB", "frame has 2 MiB". */
	String of(String name) {
		if (count == 1) {
			return name + " has " + Words.bytes(most);
		}
		String number = String.format(java.util.Locale.ROOT, "%,d", count);
		return least == most ? "all " + number + " blocks of " + name + " have " + Words.bytes(most)
				: "the " + number + " blocks of " + name + " have " + Words.bytes(least) + " to " + Words.bytes(most);
	}
}
