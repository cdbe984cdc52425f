// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** A loop jumps from page to page: each access is on another one. Spec: insight.md 3.2, rule 11. */
public final class Strided implements Rule {
	@Override
	public String id() {
		return "strided";
	}

	@Override
	public String title() {
		return "strided sweep";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && Groups.isRelevant(g, th) && t.hasOffsets() && g.lateParts > 0;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		double[] s = Groups.strides(g);
		return List.of(Check.atLeast("share of its pages with one main user", (double) g.singleParts / g.lateParts, th.get(Threshold.EVERYWHERE)),
				Check.atLeast("share of the pages that are entered neither in their first nor in their last line", s[0], th.get(Threshold.STRIDE_MASS)),
				Check.atLeast("share of these entries in one line per thread and interval", s[1], th.get(Threshold.STRIDE_TOP)).counter(),
				Check.atLeast("entries", s[2], 64), Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		double[] s = Groups.strides(g);
		return new Statement(Words.percent(s[0]) + " of its pages are entered in the middle, " + Words.percent(s[1])
				+ " of these at the same place in the page: consecutive accesses of the loop are on different pages",
				"exchange the loops, or use tiles, so that the innermost loop walks along memory").fix(Fix.tiles(g, t)).view("rw")
				.figure("entered_inside", s[0]).figure("same_line", s[1]).atMostMedium();
	}
}
