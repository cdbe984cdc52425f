// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.source.Instructions;

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
		return Groups.isUsedData(g, th) && (g.steps != null || t.hasOffsets());
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		List<Check> all = new ArrayList<>();
		if (g.steps != null) {	// known, not guessed from where pages are entered
			all.add(Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
			all.add(Check.atLeast("share of its accesses by source lines that jump over cache lines, by one and the same distance",
					g.steps.share(), th.get(Threshold.STRIDE_INSTRUCTIONS)));
			return all;
		}
		double[] s = Groups.strides(g);
		all.add(Check.atLeast("share of its pages with one main user", (double) g.knownSingle() / g.lateParts, th.get(Threshold.EVERYWHERE)));
		all.add(Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
		all.add(Check.atLeast("share of the pages that are entered neither in their first nor in their last line", s[0],
				th.get(Threshold.STRIDE_MASS)));
		if (bySteps(g, th)) {
			all.addAll(RowSteps.of(g, th).checks(g, t));
		} else {
			all.add(Check.atLeast("share of these entries in one line per thread and interval", s[1], th.get(Threshold.STRIDE_TOP)).counter());
			all.add(Check.atLeast("entries", s[2], 64));
		}
		return all;
	}

	/** Whether its rows are no multiple of a page: their length tells a sweep, while each page is entered in another line. */
	private static boolean bySteps(GroupFacts g, Thresholds th) {
		return Groups.strides(g)[1] < th.get(Threshold.STRIDE_TOP) && RowSteps.of(g, th).explains();
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		if (g.steps != null) {
			Instructions.Row most = g.steps.most();
			return new Statement("the code at " + most.where()
					+ (most.use().write() ? " writes it " : " reads it ") + most.stride() + "; such jumps make "
					+ Words.percent(g.steps.share()) + " of its accesses: consecutive accesses of the loop are in different lines or pages",
					"exchange the loops, or use tiles, so that the innermost loop walks along memory").fix(Fix.tiles(g, t)).view("rw")
					.figure("stride_bytes", most.use().dominant().value()).figure("jumping", g.steps.share());
		}
		double[] s = Groups.strides(g);
		if (bySteps(g, th)) {
			RowSteps rows = RowSteps.of(g, th);
			return new Statement(Words.percent(s[0]) + " of its pages are entered in the middle, and " + Words.percent(rows.share()) + " of "
					+ Words.count(rows.steps(), "step") + " from one such place to the next are multiples of "
					+ Words.count(rows.rowBytes(), "byte") + ": consecutive accesses of the loop are in different rows",
					"exchange the loops, or use tiles, so that the innermost loop walks along memory").fix(Fix.tiles(g, t)).view("rw")
					.figure("entered_inside", s[0]).figure("row_bytes", rows.rowBytes()).figure("steps", rows.share()).atMostMedium();
		}
		return new Statement(Words.percent(s[0]) + " of its pages are entered in the middle, " + Words.percent(s[1])
				+ " of these at the same place in the page: consecutive accesses of the loop are on different pages",
				"exchange the loops, or use tiles, so that the innermost loop walks along memory").fix(Fix.tiles(g, t)).view("rw")
				.figure("entered_inside", s[0]).figure("same_line", s[1]).atMostMedium();
	}
}
