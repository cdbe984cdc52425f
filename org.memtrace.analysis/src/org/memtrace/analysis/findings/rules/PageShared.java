// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** Several threads write the same pages, but each its own cache lines. Spec: insight.md 3.2, rules 7 and 3.3. */
public final class PageShared implements Rule {
	/** Of lines that are seen once each nothing follows: threads that go anywhere hardly meet in a sample. */
	private static final double REPEATED = 0.5;

	@Override
	public String id() {
		return "page-shared";
	}

	@Override
	public String title() {
		return "shared by page only";
	}

	@Override
	public Severity severity() {
		return Severity.LOW;
	}

	@Override
	public Set<String> covers() {
		// of what all threads share the special case that lines are private; and such pages have no owner to be placed for
		return Set.of("all-to-all", "first-touch", "remote-mapping", "remote-share");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isUsedData(g, th) && t.hasOffsets() && g.lines >= 16;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		int team = g.team.length;
		double shared = g.pairs == 0 ? 0 : (double) g.sharedPairs / g.pairs;
		double lines = g.lines == 0 ? 1 : (double) g.sharedLines / g.lines;
		return List.of(Check.atLeast("threads of the team", team, 2),
				Check.atLeast("share of its pages that two or more use", g.usedByAtLeast(2), th.get(Threshold.EVERYWHERE)),
				Check.atLeast("share of (page, interval) pairs that are shared and written", shared, th.get(Threshold.SHARED_PAIRS)),
				Check.atLeast("intervals in which it is shared and written", g.sharedIntervals.cardinality(),
						Math.max(th.get(Threshold.LASTING_LEAST), th.get(Threshold.LASTING) * g.intervals.cardinality())),
				Check.atLeast("threads that write it", Groups.writers(g), 2),
				Check.atMost("share of its lines that several threads use", lines, th.get(Threshold.LINES_PRIVATE)).counter(),
				Check.atLeast("share of the first addresses in a line in which there is another one",
						g.lineRecords == 0 ? 0 : (double) g.repeatedRecords / g.lineRecords, REPEATED).counter(),
				Check.atLeast("pages that are used after their first interval", g.lateParts, 4));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		return new Statement(Words.percent(g.usedByAtLeast(2)) + " of its " + Words.count(g.lateParts, "page")
				+ " are used by several threads, and "
				+ Words.percent((double) g.sharedPairs / g.pairs) + " of the (page, interval) pairs are shared and written; but only "
				+ Words.percent((double) g.sharedLines / g.lines) + " of " + Words.count(g.lines, "line") + " with samples have several threads",
				"cache lines do not travel, so it matters only where pages lie on several NUMA nodes: there give each thread whole pages")
				.fix(Fix.pages(g, t)).view("thread").figure("shared_lines", (double) g.sharedLines / g.lines).sharedTime();
	}
}
