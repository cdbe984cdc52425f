// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** Two threads write the same pages in turn. Spec: insight.md 3.2, rule 6. */
public final class PingPong implements Rule {
	@Override
	public String id() {
		return "ping-pong";
	}

	@Override
	public String title() {
		return "ping-pong";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public Set<String> covers() {
		// pages that two threads write in turn have no owner to be placed for
		return Set.of("all-to-all", "page-shared", "first-touch", "remote-mapping", "remote-share");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && Groups.isRelevant(g, th) && g.lateOrder().length >= 2;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		int[] order = g.lateOrder();
		double late = g.late();
		double first = g.lateByThread[order[0]] / late;
		double second = g.lateByThread[order[1]] / late;
		return List.of(Check.atLeast("threads of the team", g.team.length, 3),
				Check.atLeast("share of the " + t.unit() + " of two threads", first + second, th.get(Threshold.PING_PONG)),
				Check.atLeast("share of the second of them", second, th.get(Threshold.PING_PONG_SECOND)),
				Check.atLeast("share of the pages that two or more use", g.usedByAtLeast(2), 0.5),
				// blocks that a pool of threads deals out change hands, too, but from round to round
				Check.atLeast("share of (page, interval) pairs that are shared and written", g.pairs == 0 ? 0 : (double) g.sharedPairs / g.pairs,
						th.get(Threshold.PING_PONG_PAIRS)),
				Check.atLeast("intervals in which it is shared and written", g.sharedIntervals.cardinality(),
						Math.max(th.get(Threshold.LASTING_LEAST), th.get(Threshold.LASTING) * g.intervals.cardinality())).counter(),
				Check.atLeast("share of writes", g.lateWrites() / late, 0.02),
				Check.atLeast("pages that are used after their first interval", g.lateParts, 4));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		int[] order = g.lateOrder();
		double late = g.late();
		return new Statement("two threads, " + t.thread(order[0]) + " (" + Words.percent(g.lateByThread[order[0]] / late)
				+ ") and " + t.thread(order[1]) + " ("
				+ Words.percent(g.lateByThread[order[1]] / late) + "), make nearly all of its " + t.unit() + ", both on "
				+ Words.percent(g.usedByAtLeast(2))
				+ " of its " + Words.count(g.lateParts, "page") + "; it is shared and written in " + g.sharedIntervals.cardinality() + " of "
				+ Words.count(g.intervals.cardinality(), "interval"),
				"use two buffers that change places, or larger batches, or bind both threads to one NUMA node").fix(Fix.bindTogether(g, t, order[0], order[1]))
				.view("thread").thread(order[0]).thread(order[1]).figure("intervals", g.sharedIntervals.cardinality()).sharedTime();
	}
}
