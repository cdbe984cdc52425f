// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** One thread touches the pages first that other threads use. Spec: insight.md 3.2, rule 8. */
public final class FirstTouch implements Rule {
	private static final double HALF = 0.5;

	@Override
	public String id() {
		return "first-touch";
	}

	@Override
	public String title() {
		return "first touch";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public Set<String> covers() {
		// the pages are where they were touched first
		return Set.of("remote-share");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isUsedData(g, th);
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		return List.of(Check.atLeast("share of its pages that one thread touches first", g.firstTouchShare(), th.get(Threshold.FIRST_TOUCH)),
				Check.atLeast("share of its pages whose main user is another thread", (double) g.handedOn / g.lateParts, th.get(Threshold.HANDED_ON)),
				Check.atLeast("pages", g.parts, th.get(Threshold.PAGES)), Check.atLeast("threads that use it", g.users(), 2),
				Groups.isPlacedByWrites(g),
				Check.atLeast("share of its pages in memory that is divided among threads", (double) g.dividedParts / g.lateParts, HALF).counter(),
				Check.atMost("share of the handed on pages that the first toucher goes on writing", g.handedOn == 0 ? 0
						: (double) g.refilled / g.handedOn, HALF).counter(),
				// a loop that is divided already: one of its threads comes to each page before the others
				Check.atMost("threads that run the line which first writes it", g.firstWriters, 1).counter(),
				Check.atLeast("share of the intervals in which a thread uses pages that another one touched first",
						(double) g.foreignIntervals.cardinality() / Math.max(1, t.intervals(g)), th.get(Threshold.FIRST_TOUCH_USED)).counter());
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		int first = g.firstToucher();
		double single = (double) g.knownSingle() / Math.max(1, g.knownParts());
		boolean own = single >= 0.5;
		Groups.Cost cost = Groups.firstTouch(g, t);
		return new Statement("one thread, " + t.thread(first) + ", touches " + Words.percent(g.firstTouchShare())
				+ " of " + Groups.known("its " + Words.count(g.parts, "page"), g.knownFirst(), g.parts, "first toucher")
				+ " first; "
				+ Words.percent((double) g.handedOn / Math.max(1, g.knownParts())) + " of "
				+ Groups.known("the pages", g.knownParts(), g.lateParts, "main user") + " are then used mainly by another thread; "
				+ Words.percent(single) + (g.knownParts() == g.lateParts ? " of the pages" : " of these") + " have one main user" + cost.text(),
				own ? "initialise it in parallel, with the schedule of the loop that uses it"
						: "interleave it over the NUMA nodes: its pages have no single main user")
				.fix(own ? Fix.parallelInit(g, t) : Fix.interleave(g, t)).view("thread").severity(cost.severity())
				.thread(first).figure("first_touch", g.firstTouchShare())
				.figure("handed_on", (double) g.handedOn / Math.max(1, g.knownParts())).figure("one_user", single).key(t.thread(first) + own);
	}

	@Override
	public boolean folds() {
		return true;
	}
}
