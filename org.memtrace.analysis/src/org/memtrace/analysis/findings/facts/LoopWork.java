// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.memtrace.analysis.source.TickShares;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.Ticks;

/**
 * How the loops that use a group are divided among threads, by samples of the CPU clock: a tick is in a function, and so tells what a
 * thread does while others wait, or while one thread works alone elsewhere.
 *
 * @param functions for each function that uses the group in a tenth of the ticks at it or more: its ticks by thread
 */
public record LoopWork(List<long[]> functions) {
	/** Share of the ticks at a group from which on a function is one of its loops. */
	private static final double LOOP = 0.1;

	private record Function(int image, String object, String name, String file) {
	}

	/** The loops of each group: null without ticks, no functions with ticks elsewhere only. */
	static LoopWork[] of(TickShares ticks, List<ThreadInfo> threads, int groups, int[] groupOf) {
		LoopWork[] of = new LoopWork[groups];
		if (ticks.isEmpty()) {
			return of;
		}
		Map<Function, long[]> all = new HashMap<>();
		Map<Integer, Map<Function, Long>> uses = new HashMap<>();
		for (TickShares.Row r : ticks.rows()) {
			// code of nobody, of the recorder, and of libraries, which is called by many, is no loop
			if (r.own() || r.place().mode() != Ticks.Mode.USER || r.frame().function().isEmpty() || Ownership.isLibrary(r.frame().object())) {
				continue;
			}
			Function f = new Function(r.place().image(), r.frame().object(), r.frame().function(), r.frame().file());
			threads.stream().filter(t -> t.image() == f.image() && t.taskId() == r.place().taskId()).findFirst()
					.ifPresent(t -> all.computeIfAbsent(f, k -> new long[threads.size()])[t.index()] += r.ticks());
			int g = r.structure() == null ? -1 : groupOf[r.structure().id()];
			if (g >= 0) {
				uses.computeIfAbsent(g, k -> new HashMap<>()).merge(f, r.ticks(), Long::sum);
			}
		}
		for (int g = 0; g < groups; g++) {
			Map<Function, Long> its = uses.getOrDefault(g, Map.of());
			double least = LOOP * its.values().stream().mapToLong(Long::longValue).sum();
			Set<Function> loops = new HashSet<>(its.keySet());
			loops.removeIf(f -> its.get(f) < least || !all.containsKey(f));
			of[g] = new LoopWork(loops.stream().map(all::get).toList());
		}
		return of;
	}

	/**
	 * Ticks of each thread of a team in the functions that most of it run: what one thread does alone is not divided.
	 *
	 * @param most least number of its threads
	 */
	public long[] byThread(int[] team, double most) {
		long[] sum = new long[team.length];
		for (long[] f : functions) {
			if (Arrays.stream(team).filter(t -> f[t] > 0).count() >= most) {
				for (int k = 0; k < team.length; k++) {
					sum[k] += f[team[k]];
				}
			}
		}
		return sum;
	}
}
