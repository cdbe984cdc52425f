// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** A few pages of a large structure are written by all threads. Spec: insight.md 3.2, rule 4. */
public final class HotPage implements Rule {
	@Override
	public String id() {
		return "hot-page";
	}

	@Override
	public String title() {
		return "hot page";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public Set<String> covers() {
		// the threads meet in these pages
		return Set.of("all-to-all", "page-shared");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && g.parts > 0 && !g.hot.isEmpty();
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		List<GroupFacts.Hot> pages = hot(g, th);
		double priv = g.lateParts == 0 ? 0 : g.privateShares / g.lateParts;
		double most = Math.min(16, Math.max(2, th.get(Threshold.HOT_SHARE) * g.parts));
		return List.of(Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)),
				Check.atLeast("pages that most threads share, with writes, in most intervals", pages.size(), 1),
				Check.atMost("such pages", pages.size(), most),
				Check.atLeast("share of the uses of a page that are private, mean over all pages", priv, th.get(Threshold.EVERYWHERE)),
				Check.atLeast("intervals", g.intervals.cardinality(), th.get(Threshold.LASTING_LEAST)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		List<GroupFacts.Hot> pages = hot(g, th);
		int users = pages.stream().mapToInt(p -> p.users().length).max().getAsInt();
		double shared = pages.stream().mapToDouble(p -> (double) p.sharedIntervals() / p.intervals()).average().getAsDouble();
		return new Statement(pages.size() + " of its " + Words.count(g.parts, "page") + " (from page "
				+ pages.stream().mapToLong(GroupFacts.Hot::page).min().getAsLong() + ") "
				+ (pages.size() == 1 ? "is" : "are") + " written by or beside " + Words.count(users, "thread") + " in " + Words.percent(shared)
				+ " of the intervals; " + Words.percent(g.privateShares / Math.max(1, g.lateParts)) + " of the uses of a page are private on average",
				"give each thread a copy of what these pages hold, and reduce the copies at the end").fix(Fix.reduction(g, t)).view("sharing")
				.figure("hot_pages", pages.size()).figure("threads", users).leaves(pages.stream().mapToInt(GroupFacts.Hot::leaf)).sharedTime();
	}

	/** Of many threads an interval shows some: half of the intervals in which each would be seen if they took turns. */
	private static double inTurn(GroupFacts.Hot h, GroupFacts g, Thresholds th) {
		return Math.max(th.get(Threshold.LASTING_LEAST), 0.5 * Arrays.stream(h.userIntervals()).sum() / Math.max(1, g.team.length));
	}

	private static List<GroupFacts.Hot> hot(GroupFacts g, Thresholds th) {
		double quarter = th.get(Threshold.LASTING) * Math.max(1, g.intervals.cardinality());
		double most = th.get(Threshold.TEAM) * g.team.length;
		// once is a hand-over; pages at the border of two parts have two writers, whoever else reads them: of two threads a hot page
		// must have a line that both write
		double users = g.team.length == 2 ? 2 : Math.max(3, most);
		return g.hot.stream().filter(h -> h.sharedIntervals() >= th.get(Threshold.HOT_INTERVALS) * g.intervals.cardinality()
				&& h.persistentUsers(Math.max(2, Math.min(quarter, inTurn(h, g, th)))) >= Math.max(users, most)
				&& h.writers() >= Math.min(3, users) && (users > 2 || h.commonLines() > 0)).toList();
	}
}
