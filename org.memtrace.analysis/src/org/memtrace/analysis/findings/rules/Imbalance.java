// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** One thread has much more to do than the mean. Spec: insight.md 3.2, rule 10. */
public final class Imbalance implements Rule {
	@Override
	public String id() {
		return "imbalance";
	}

	@Override
	public String title() {
		return "imbalance";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && Groups.isRelevant(g, th) && g.lateParts > 0;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		return List.of(Check.atLeast("threads of the team", t.team().length, 3),
				Check.atLeast("threads that use it", g.users(), th.get(Threshold.TEAM) * t.team().length),
				Check.atLeast("share of its pages with one main user", (double) g.singleParts / g.lateParts, th.get(Threshold.EVERYWHERE)),
				Check.atLeast("busiest thread divided by the mean", Groups.imbalance(g, t), th.get(Threshold.IMBALANCE)),
				Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		int[] order = g.lateOrder();
		StringBuilder shares = new StringBuilder();
		for (int i = 0; i < Math.min(4, order.length); i++) {
			shares.append(i == 0 ? "" : ", ").append(t.thread(order[i])).append(' ').append(Words.percent(g.lateByThread[order[i]] / g.late()));
		}
		boolean cpu = Groups.hasCpuTimes(t);
		Statement s = new Statement("the busiest thread does " + Words.ratio(Groups.imbalance(g, t)) + " times the mean by "
				+ (cpu ? "CPU time" : "recorded accesses") + " (accesses: " + shares + "); " + Words.percent((double) g.singleParts / g.lateParts)
				+ " of its " + Words.count(g.parts, "page") + " have one main user",
				"divide the work by its cost: small chunks in turn, or a dynamic schedule").fix(Fix.schedule(g, t)).view("thread")
				.figure("busiest_over_mean", Groups.imbalance(g, t)).thread(order[0]).key("");
		return cpu ? s : s.atMostMedium();
	}

	@Override
	public boolean folds() {
		return true;
	}
}
