// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** All threads read it and nobody writes it after its initialisation. Spec: insight.md 3.2, rule 5. */
public final class Replicate implements Rule {
	@Override
	public String id() {
		return "replicate";
	}

	@Override
	public String title() {
		return "read by all";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public Set<String> covers() {
		// a copy for each node has the pages where they are read
		return Set.of("first-touch", "remote-mapping", "remote-share");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isUsedData(g, th);
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		int team = g.team.length;
		double late = g.late();
		return List.of(Check.atLeast("threads of the team", team, 2),
				Check.atLeast("threads that use it", g.users(), th.get(Threshold.TEAM) * team),
				Check.atLeast("share of its pages that most of the team use", g.usedByAtLeast(th.get(Threshold.TEAM) * team),
						th.get(Threshold.EVERYWHERE)),
				Check.atMost("share of writes after the first interval", late == 0 ? 1 : g.lateWrites() / late, th.get(Threshold.READ_ONLY)).counter(),
				Check.atLeast("pages that are used after their first interval", g.lateParts, 4));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		int team = g.team.length;
		boolean small = g.liveBytes <= th.get(Threshold.REPLICATE_BYTES);
		double late = g.late();
		Groups.Cost cost = Groups.placement(g, t);
		return new Statement(Words.count(g.users(), "thread") + " read it, most of them "
				+ Words.percent(g.usedByAtLeast(th.get(Threshold.TEAM) * team))
				+ " of its " + Words.count(g.lateParts, "page") + "; " + Words.percent(late == 0 ? 0 : g.lateWrites() / late)
				+ " of its " + t.unit() + " after the first interval are writes; " + t.thread(g.firstToucher()) + " touches "
				+ Words.percent(g.firstTouchShare())
				+ " of its pages first" + cost.text(),
				small ? "keep a copy of it on each NUMA node (it is only read after its initialisation, and has " + Words.bytes(g.liveBytes) + ")"
						: "interleave it over the NUMA nodes: it is only read, but with " + Words.bytes(g.liveBytes) + " too large for copies")
				.fix(small ? Fix.copies(g, t) : Fix.interleave(g, t)).view("thread").severity(cost.severity()).figure("readers", g.users())
				.figure("bytes", g.liveBytes).thread(g.firstToucher()).key(t.thread(g.firstToucher()) + small);
	}

	@Override
	public boolean folds() {
		return true;
	}
}
