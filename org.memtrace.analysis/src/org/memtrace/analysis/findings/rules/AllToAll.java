// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** All threads write all pages: no thread owns a page. Spec: insight.md 3.2, rule 7. */
public final class AllToAll implements Rule {
	/** Where most pages have a main user, these own them. */
	private static final double ALONE = 0.5;

	@Override
	public String id() {
		return "all-to-all";
	}

	@Override
	public String title() {
		return "all-to-all";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public Set<String> covers() {
		// interleaving, its advice, is that for pages without an owner
		return Set.of("first-touch", "remote-mapping", "remote-share");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isUsedData(g, th);
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		int team = g.team.length;
		double shared = g.pairs == 0 ? 0 : (double) g.sharedPairs / g.pairs;
		// one thread writes a part, another one reads it, and of n^2 such parts n have the same writer and reader
		Check everywhere = exchanged(g, th)
				? Check.atLeast("share of its pages that two threads or more use, where each two meet", g.usedByAtLeast(2),
						th.get(Threshold.EVERYWHERE) * (1 - 1.0 / team))
				: Check.atLeast("share of its pages that most of the team use", g.usedByAtLeast(th.get(Threshold.TEAM) * team),
						th.get(Threshold.EVERYWHERE));
		return List.of(Check.atLeast("threads of the team", team, 2),
				everywhere,
				Check.atLeast("share of (page, interval) pairs that are shared and written", shared, th.get(Threshold.SHARED_PAIRS)),
				Check.atLeast("intervals in which it is shared and written", g.sharedIntervals.cardinality(),
						Math.max(th.get(Threshold.LASTING_LEAST), th.get(Threshold.LASTING) * g.intervals.cardinality())),
				Check.atLeast("threads that write it", Groups.writers(g), 2),
				Check.atMost("share of its pages that one thread uses nearly alone, as far as was seen", (double) g.singleParts / g.lateParts, ALONE).counter(),
				Check.atLeast("pages that are used after their first interval", g.lateParts, 4));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		String use = exchanged(g, th)
				? Words.percent(g.usedByAtLeast(2)) + " of its " + Words.count(g.lateParts, "page") + " are used by two threads or more, and each two"
						+ " of its " + Words.count(g.users(), "thread") + " meet in some; "
				: Words.count(g.users(), "thread") + " use " + Words.percent(g.usedByAtLeast(th.get(Threshold.TEAM) * g.team.length))
						+ " of its " + Words.count(g.lateParts, "page") + ", ";
		return new Statement(use + Groups.writers(g) + " of them write; "
				+ Words.percent((double) g.sharedPairs / g.pairs) + " of the (page, interval) pairs are shared and written, in "
				+ g.sharedIntervals.cardinality() + " of " + Words.count(g.intervals.cardinality(), "interval")
				+ (g.lines >= 16 ? "; " + Words.percent((double) g.sharedLines / g.lines) + " of its lines have several threads" : ""),
				"no thread owns a page: interleave it over the NUMA nodes, exchange in blocks, or give each thread fixed parts (a dynamic schedule hands "
						+ "every part to every thread)").fix(Fix.interleave(g, t)).view("sharing").figure("pairs", (double) g.sharedPairs / g.pairs)
				.figure("writers", Groups.writers(g)).sharedTime();
	}

	/** Pages have few users each, but other ones from page to page, such that each thread meets the others. */
	private static boolean exchanged(GroupFacts g, Thresholds th) {
		return g.usedByAtLeast(th.get(Threshold.TEAM) * g.team.length) < th.get(Threshold.EVERYWHERE)
				&& g.meetings(g.team) >= th.get(Threshold.TEAM);
	}
}
