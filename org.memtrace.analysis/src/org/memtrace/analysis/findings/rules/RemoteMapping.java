// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/**
 * Pages are touched first by one thread and used by another one, all over: the loops divide the work differently. Spec: insight.md 3.2,
 * rule 9.
 */
public final class RemoteMapping implements Rule {
	private static final double HALF = 0.5;

	@Override
	public String id() {
		return "remote-mapping";
	}

	@Override
	public String title() {
		return "other distribution";
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
		return List.of(Check.atMost("share of its pages that one thread touches first", g.firstTouchShare(), th.get(Threshold.REMOTE_SPREAD)),
				Check.atLeast("share of its pages that another thread than the first one uses alone", (double) g.handedOnSingle / g.lateParts,
						th.get(Threshold.REMOTE)),
				Groups.isPlacedByWrites(g),
				Check.atLeast("share of its pages in memory that is divided among threads", (double) g.dividedParts / g.lateParts, HALF).counter(),
				Check.atMost("share of the handed on pages that the first toucher goes on writing", g.handedOn == 0 ? 0
						: (double) g.refilled / g.handedOn, HALF).counter(),
				Check.atLeast("pages", g.parts, th.get(Threshold.PAGES)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		Groups.Cost cost = Groups.placement(g, t);
		double handedOn = (double) g.handedOnSingle / Math.max(1, g.knownParts());
		return new Statement(Words.percent(handedOn) + " of "
				+ Groups.known("its " + Words.count(g.lateParts, "page"), g.knownParts(), g.lateParts, "main user")
				+ " are touched first by one thread and then used nearly only by another one; no thread touches more than "
				+ Words.percent(g.firstTouchShare()) + " first" + cost.text(),
				"divide the initialisation as the computation, and bind the threads").fix(Fix.sameSchedule(g, t)).view("thread")
				.severity(cost.severity())
				.figure("handed_on", handedOn).key("");
	}

	@Override
	public boolean folds() {
		return true;
	}
}
