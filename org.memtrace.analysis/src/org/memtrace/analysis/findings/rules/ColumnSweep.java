// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** Threads divide a matrix by its columns and walk down them: each access is in another row, and all threads are on all pages. */
public final class ColumnSweep implements Rule {
	@Override
	public String id() {
		return "column-sweep";
	}

	@Override
	public String title() {
		return "strided sweep of shared rows";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public Set<String> covers() {
		// the columns are why pages are shared, and why a loop jumps
		return Set.of("page-shared", "all-to-all", "ping-pong", "strided", "hot-page");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isUsedData(g, th) && t.hasOffsets() && g.users() > 1;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		List<Check> all = new ArrayList<>();
		all.add(Check.atLeast("share of its pages that two or more use", g.usedByAtLeast(2), th.get(Threshold.EVERYWHERE)));
		all.add(Check.atLeast("share of (page, interval) pairs that are shared", g.pairs == 0 ? 0 : 1 - (double) g.privatePairs / g.pairs,
				th.get(Threshold.SHARED_PAIRS)));
		all.add(Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
		all.add(Check.atLeast("share of the pages that are entered neither in their first nor in their last line", Groups.strides(g)[0],
				th.get(Threshold.STRIDE_MASS)));
		all.addAll(RowSteps.of(g, th).checks(g, t));
		return all;
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		RowSteps s = RowSteps.of(g, th);
		return new Statement(Words.percent(s.share()) + " of " + Words.count(s.steps(), "step") + " from page to page are multiples of "
				+ Words.count(s.rowBytes(), "byte") + ", and threads are at other places of these rows each time: a loop walks down columns; "
				+ Words.percent(g.usedByAtLeast(2)) + " of its " + Words.count(g.lateParts, "page") + " are used by several threads",
				"divide the rows instead of the columns among the threads, and let the innermost loop walk along a row").fix(Fix.rows(g, t))
				.view("thread").figure("row_bytes", s.rowBytes()).figure("steps", s.share()).atMostMedium();
	}
}
