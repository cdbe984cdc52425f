// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

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
		return Groups.isUsedData(g, th);
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		Groups.Work work = Groups.work(g, t);
		return List.of(Check.atLeast("threads of the team", g.team.length, 3),
				Check.atLeast("threads that use it", g.users(), th.get(Threshold.TEAM) * g.team.length),
				Check.atLeast("share of its pages with one main user", (double) g.singleParts / g.lateParts, th.get(Threshold.EVERYWHERE)),
				Check.atLeast("busiest thread divided by the mean, by " + unit(work, t), work.busiestOverMean(), th.get(Threshold.IMBALANCE)),
				Check.atLeast("share of its pages in memory that is divided among threads", (double) g.dividedParts / g.lateParts,
						th.get(Threshold.EVERYWHERE)).counter(),
				Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		Groups.Work work = Groups.work(g, t);
		double[] by = work.byThread();
		double all = Arrays.stream(by).sum();
		int[] order = IntStream.range(0, by.length).boxed().sorted((a, b) -> Double.compare(by[b], by[a])).mapToInt(Integer::intValue).toArray();
		StringBuilder shares = new StringBuilder();
		for (int i = 0; i < Math.min(4, order.length); i++) {
			shares.append(i == 0 ? "" : ", ").append(t.thread(g.team[order[i]])).append(' ').append(Words.percent(by[order[i]] / all));
		}
		Statement s = new Statement("the busiest of " + Words.count(by.length, "thread") + " does " + Words.ratio(work.busiestOverMean())
				+ " times the mean by " + unit(work, t) + " (" + shares + (order.length > 4 ? ", …" : "") + "); "
				+ Words.percent((double) g.singleParts / g.lateParts) + " of its " + Words.count(g.parts, "page") + " have one main user"
				+ (work.cpu() ? "" : "; the CPU time of the threads is not known"),
				"divide the work by its cost: small chunks in turn, or a dynamic schedule").fix(Fix.schedule(g, t)).view("thread")
				.figure("busiest_over_mean", work.busiestOverMean()).figure("by_cpu_time", work.cpu() ? 1 : 0).thread(g.team[order[0]]).key("");
		return work.cpu() ? s : s.atMostMedium();
	}

	private static String unit(Groups.Work work, TraceFacts t) {
		return work.cpu() ? "CPU time while it is used" : t.unit();
	}

	@Override
	public boolean folds() {
		return true;
	}
}
