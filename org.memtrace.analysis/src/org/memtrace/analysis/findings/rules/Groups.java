// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Arrays;
import java.util.BitSet;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.PageEntries;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.source.TickShares;

/** What several rules ask about a group. */
final class Groups {
	/** Of each two pages one was written at least once: complete looks see the first write to each. */
	private static final double WRITES = 0.5;
	private static final int FIRST_LINE = 0;
	private static final int LAST_LINE = 63;
	private static final int ENTRIES = 64;
	/**
	 * A thread works in an interval if it has the CPU for so much of the time that a thread of the team has it on average: on a machine with
	 * much else to do that is little.
	 */
	private static final double ACTIVE = 0.05;
	/** Share of which need not be told that it is not all. */
	private static final double MOST = 0.99;
	/** Share of the run that is not worth a change. */
	private static final double NEGLIGIBLE = 0.01;
	/** Of structures that cost something together: the part of one that counts. */
	private static final double PART = 0.1;
	/** What a page fault takes that clears a page, where it takes long (in a virtual machine); without one it is a fourth of that. */
	private static final long FAULT_NS = 4000;

	private Groups() {
	}

	/** Data of the program: static, heap or mapped. */
	static boolean isData(GroupFacts g) {
		return g.isData();
	}

	/** Whether it has a share of the trace that matters. */
	static boolean isRelevant(GroupFacts g, Thresholds th) {
		return g.weight >= th.get(Threshold.RELEVANT);
	}

	/** Relevant data of the program that is used after its first touch. */
	static boolean isUsedData(GroupFacts g, Thresholds th) {
		return isData(g) && isRelevant(g, th) && g.lateParts > 0;
	}

	/** Pages of which a share is told: all of them, or those of which is known what is told. */
	static String known(String pages, long known, long all, String what) {
		return known > MOST * all ? pages
				: "those of " + pages + " whose " + what + " is known (" + Words.percent((double) known / Math.max(1, all)) + ")";
	}

	/** Threads with more than 2 % of the late writes, or a quarter of an equal share when there are many. */
	static int writers(GroupFacts g) {
		double least = g.lateWrites() * Math.min(0.02, 0.25 / Math.max(1, g.users()));
		return (int) Arrays.stream(g.lateWritesByThread).filter(w -> w > least).count();
	}

	/** What work is measured by. */
	enum Unit {
		/** Samples of the CPU clock in the functions that use the group and that most of the team run. */
		TICKS,
		/** CPU time in the intervals in which the group is used. */
		CPU,
		/** Late accesses to own pages. */
		ACCESSES
	}

	/**
	 * What each thread of the team had to do while the group was worked on, in the order of the team.
	 *
	 * @param byThread ticks, CPU time in ns, or late accesses
	 */
	record Work(double[] byThread, Unit unit) {
		/** The busiest thread divided by the mean; 0 without any work. */
		double busiestOverMean() {
			double sum = Arrays.stream(byThread).sum();
			return sum == 0 ? 0 : Arrays.stream(byThread).max().orElse(0) * byThread.length / sum;
		}

		/** What {@link #busiestOverMean} is at least: of samples the lower end of its 95 % interval. */
		double least() {
			double sum = Arrays.stream(byThread).sum();
			if (unit != Unit.TICKS || sum == 0) {
				return busiestOverMean();
			}
			long most = (long) Arrays.stream(byThread).max().orElse(0);
			return busiestOverMean() - byThread.length * TickShares.halfWidthPercent(most, (long) sum) / 100;
		}

		/** Place of the busiest thread in the team. */
		int busiest() {
			int best = 0;
			for (int k = 1; k < byThread.length; k++) {
				best = byThread[k] > byThread[best] ? k : best;
			}
			return best;
		}
	}

	/**
	 * Work of the team. Of samples of the CPU clock it is known in which function a thread was: they leave out what the main thread does
	 * alone, and threads that spin while they wait. Without them it is CPU time in the intervals in which the group was used late and the
	 * team worked. An interval in which only the main thread works is not of the team (initialisation, output, sums). When the CPU time of a
	 * thread of the team is not known: late accesses, of each thread to the pages that it uses most.
	 */
	static Work work(GroupFacts g, TraceFacts t, Thresholds th) {
		int[] team = g.team;
		if (g.loops != null) {
			return new Work(Arrays.stream(g.loops.byThread(team, th.get(Threshold.TEAM) * team.length)).asDoubleStream().toArray(), Unit.TICKS);
		}
		if (team.length == 0 || Arrays.stream(team).anyMatch(i -> t.cpu().total(i) < 0)) {
			return new Work(Arrays.stream(team).mapToDouble(i -> g.lateOfOwn[i]).toArray(), Unit.ACCESSES);
		}
		double mean = Arrays.stream(team).mapToDouble(i -> t.cpu().total(i)).sum() / team.length / Math.max(1,
				t.info().endNs() - t.info().startNs());
		double active = ACTIVE * Math.min(1, mean);
		double[] sum = new double[team.length];
		double[] now = new double[team.length];
		for (int i = g.intervals.nextSetBit(0); i >= 0; i = g.intervals.nextSetBit(i + 1)) {
			long from = t.intervalStartNs()[i];
			long to = t.intervalEndNs()[i];
			int working = 0;
			boolean onlyMain = true;
			for (int k = 0; k < team.length; k++) {
				now[k] = t.cpu().used(team[k], from, to);
				if (now[k] > 0 && now[k] >= active * (to - from)) {
					working++;
					onlyMain &= t.threads().get(team[k]).main();
				}
			}
			if (working > 1 || working == 1 && !onlyMain) {
				for (int k = 0; k < team.length; k++) {
					sum[k] += now[k];
				}
			}
		}
		return new Work(sum, Unit.CPU);
	}

	/**
	 * How a group is entered: share of the entries that are neither in the first nor in the last line of a page; share of these that are in
	 * the most frequent line of their thread and interval; number of entries. Only threads and intervals with 64 entries or more.
	 */
	static double[] strides(GroupFacts g) {
		long all = 0;
		long inside = 0;
		long top = 0;
		for (PageEntries entries : g.entries()) {
			int[] lines = entries.lines();
			long n = entries.entries();
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

	/**
	 * What a finding about placement costs on the recorded machine.
	 *
	 * @param text begins with "; ", empty when nothing is known
	 * @param severity null: that of the rule
	 */
	record Cost(String text, Severity severity) {
	}

	/** On one node no page is far; on several it is known what share of the later accesses is. */
	static Cost placement(GroupFacts g, TraceFacts t) {
		if (t.nodes() == 1) {
			return new Cost("; this machine has one NUMA node, so no page is far, and this costs nothing here", Severity.LOW);
		}
		return new Cost(g.placed == 0 ? "" : "; " + Words.percent(g.remote / g.placed) + " of its later " + t.unit()
				+ " are of a page on another NUMA node than the thread", null);
	}

	/**
	 * Memory is placed by the first write. What is only read has its contents and its place from a file that is mapped, or from before the
	 * recording: nobody can initialise it elsewhere.
	 */
	static Check isPlacedByWrites(GroupFacts g) {
		return Check.atLeast("writes for each of its pages", g.writes / Math.max(1, g.parts), WRITES).counter();
	}

	/**
	 * What it costs that one thread touches pages first. On one node these are its page faults, while the others wait. A trace does not
	 * tell how long they take: not longer than the intervals that they are in, nor than a page fault takes where it takes long.
	 */
	static Cost firstTouch(GroupFacts g, TraceFacts t) {
		if (t.nodes() != 1) {
			return placement(g, t);
		}
		int toucher = g.firstToucher();
		BitSet intervals = new BitSet();
		long pages = 0;
		for (GroupFacts other : t.groups()) {
			if (isData(other) && other.firstToucher() == toucher) {
				intervals.or(other.firstIntervals);
				pages += other.firstTouched[toucher];
			}
		}
		if (share(intervals, pages, t) < NEGLIGIBLE) {
			return new Cost("; this machine has one NUMA node, and all first touches of the thread take less than " + Words.percent(NEGLIGIBLE)
					+ " of the run, so this costs nothing here", Severity.LOW);
		}
		int own = g.firstTouched[toucher];
		double share = share(g.firstIntervals, own, t);
		boolean byFaults = share < share(g.firstIntervals, Long.MAX_VALUE, t);
		return new Cost("; this machine has one NUMA node, so no page is far; what is left are the page faults that one thread takes for all: "
				+ (byFaults ? Words.percent(share) + " of the run if each of the " + own + " takes " + FAULT_NS / 1000 + " µs"
						: Words.percent(share) + " of the run at most"),
				share < PART * NEGLIGIBLE ? Severity.LOW : Severity.MEDIUM);
	}

	/** The share of the run that first touches take at most. */
	private static double share(BitSet intervals, long pages, TraceFacts t) {
		return Math.min(t.lengthNs(intervals), (double) pages * FAULT_NS) / Math.max(1, t.info().endNs() - t.info().startNs());
	}
}
