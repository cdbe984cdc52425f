// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.memtrace.model.memory.Structure;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.Losses;
import org.memtrace.model.ThreadTimes;
import org.memtrace.model.TraceInfo;

/**
 * Facts about a trace, from one pass over its accesses.
 *
 * @param info the trace
 * @param threads threads by index
 * @param structures structures by id
 * @param groups groups of blocks with accesses
 * @param team threads with 2 % of all accesses or more, or a quarter of an equal share when there are many: those that do the work
 * @param numbers the monitoring intervals
 * @param intervalStartNs starts of the monitoring intervals by their number
 * @param intervalEndNs their ends
 * @param accesses all accesses
 * @param parts all parts of pages
 * @param nodes NUMA nodes of the recorded machine, 0 not known
 * @param cpu CPU time of the threads
 * @param hasOffsets whether byte addresses are known
 * @param lost accesses that the recorder or the store lost
 * @param damaged what of it is in damaged chunks of the store
 */
public record TraceFacts(TraceInfo info, List<ThreadInfo> threads, List<Structure> structures, List<GroupFacts> groups, int[] team,
		IntervalNumbers numbers, long[] intervalStartNs, long[] intervalEndNs, double accesses, long parts, int nodes, ThreadTimes cpu,
		boolean hasOffsets, long lost, Losses damaged) {
	/** Name of a thread for a person. */
	public String thread(int index) {
		if (index < 0 || index >= threads.size()) {
			return "an unknown thread";
		}
		ThreadInfo t = threads.get(index);
		return t.name().isEmpty() ? "thread " + index : t.name() + " #" + index;
	}

	/** Number of intervals of all processes. */
	public int intervals() {
		return numbers.count();
	}

	/** Number of intervals in which the process of a group was recorded: others say nothing about it. */
	public int intervals(GroupFacts g) {
		return numbers.count(g.image);
	}

	/** How long some intervals are together. */
	public double lengthNs(BitSet some) {
		return some.stream().mapToDouble(i -> (double) intervalEndNs[i] - intervalStartNs[i]).sum();
	}

	/** Median length of an interval. */
	public long intervalNs() {
		return numbers.lengthNs();
	}

	/** What its numbers count, in the plural. */
	public String unit() {
		return info.counts().plural();
	}

	/** A property of the trace. */
	public String property(String key) {
		Map<String, String> p = info.properties();
		return p.getOrDefault(key, "");
	}

	/** Threads that lived for less than two intervals. */
	public long briefThreads() {
		return threads.stream().filter(x -> x.deathNs() != Long.MAX_VALUE && x.deathNs() - x.birthNs() < 2 * intervalNs()).count();
	}
}
