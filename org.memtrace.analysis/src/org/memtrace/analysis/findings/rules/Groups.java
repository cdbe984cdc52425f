// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Arrays;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.model.memory.StructureKind;

/** What several rules ask about a group. */
final class Groups {
	private static final int FIRST_LINE = 0;
	private static final int LAST_LINE = 63;
	private static final int ENTRIES = 64;

	private Groups() {
	}

	/** Data of the program: static, heap or mapped. */
	static boolean isData(GroupFacts g) {
		return !g.library && (g.kind == StructureKind.STATIC || g.kind == StructureKind.HEAP || g.kind == StructureKind.MMAP);
	}

	/** Whether it has a share of the trace that matters. */
	static boolean isRelevant(GroupFacts g, Thresholds th) {
		return g.weight >= th.get(Threshold.RELEVANT);
	}

	/** Threads with more than 2 % of the late writes, or a quarter of an equal share when there are many. */
	static int writers(GroupFacts g) {
		double least = g.lateWrites() * Math.min(0.02, 0.25 / Math.max(1, g.users()));
		return (int) Arrays.stream(g.lateWritesByThread).filter(w -> w > least).count();
	}

	/** Whether the CPU time of the team is known. */
	static boolean hasCpuTimes(TraceFacts t) {
		return t.team().length > 0 && Arrays.stream(t.team()).allMatch(i -> t.cpuNs()[i] > 0);
	}

	/** The busiest thread of the team divided by the mean: by CPU time when it is known, else by late accesses to the group. */
	static double imbalance(GroupFacts g, TraceFacts t) {
		double most = 0;
		double sum = 0;
		boolean cpu = hasCpuTimes(t);
		for (int i : t.team()) {
			double v = cpu ? t.cpuNs()[i] : g.lateByThread[i];
			most = Math.max(most, v);
			sum += v;
		}
		return sum == 0 ? 0 : most * t.team().length / sum;
	}

	/**
	 * How a group is entered: share of the entries that are neither in the first nor in the last line of a page; share of these that are in the
	 * most frequent line of their thread and interval; number of entries. Only threads and intervals with 64 entries or more.
	 */
	static double[] strides(GroupFacts g) {
		long all = 0;
		long inside = 0;
		long top = 0;
		for (int[] lines : g.entries()) {
			int n = Arrays.stream(lines).sum();
			if (n < ENTRIES) {
				continue;
			}
			int max = 0;
			for (int l = FIRST_LINE + 1; l < LAST_LINE; l++) {
				max = Math.max(max, lines[l]);
			}
			all += n;
			inside += n - lines[FIRST_LINE] - lines[LAST_LINE];
			top += max;
		}
		return new double[] {all == 0 ? 0 : (double) inside / all, inside == 0 ? 0 : (double) top / inside, all};
	}

	/** What the number of nodes means for advice about placement. */
	static String nodes(TraceFacts t) {
		return t.nodes() == 1 ? "; this machine has one NUMA node, so this costs nothing here" : "";
	}
}
