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
		Groups.Work work = Groups.work(g, t, th);
		return List.of(Check.atLeast("threads of the team", g.team.length, 3),
				Check.atLeast("threads that use it", g.users(), th.get(Threshold.TEAM) * g.team.length),
				Check.atLeast("share of its pages with one main user", (double) g.knownSingle() / g.lateParts, th.get(Threshold.EVERYWHERE)),
				Check.atLeast("busiest thread divided by the mean, by " + unit(work, t), work.busiestOverMean(), th.get(Threshold.IMBALANCE)),
				Check.atLeast("the same at least, with 95 % certainty", work.least(), th.get(Threshold.IMBALANCE)),
				Check.atMost("busiest threads of which it is not known whether they do other work alone", alone(g, t, work), 0).counter(),
				Check.atLeast("share of its pages in memory that is divided among threads", (double) g.dividedParts / g.lateParts,
						th.get(Threshold.EVERYWHERE)).counter(),
				Check.atLeast("pages", g.parts, th.get(Threshold.HOT_PAGES)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		Groups.Work work = Groups.work(g, t, th);
		double[] by = work.byThread();
		double all = Arrays.stream(by).sum();
		int[] order = IntStream.range(0, by.length).boxed().sorted((a, b) -> Double.compare(by[b], by[a])).mapToInt(Integer::intValue).toArray();
		StringBuilder shares = new StringBuilder();
		for (int i = 0; i < Math.min(4, order.length); i++) {
			shares.append(i == 0 ? "" : ", ").append(t.thread(g.team[order[i]])).append(' ').append(Words.percent(by[order[i]] / all));
		}
		Statement s = new Statement("the busiest of " + Words.count(by.length, "thread") + " does " + Words.ratio(work.busiestOverMean())
				+ " times the mean by " + unit(work, t) + " (" + shares + (order.length > 4 ? ", …" : "") + "); "
				+ Words.percent((double) g.knownSingle() / Math.max(1, g.knownParts())) + " of "
				+ Groups.known("its " + Words.count(g.lateParts, "page"), g.knownParts(), g.lateParts, "main user") + " have one main user"
				+ (work.unit() != Groups.Unit.ACCESSES ? "" : "; the CPU time of the threads is not known"),
				"divide the work by its cost: small chunks in turn, or a dynamic schedule").fix(Fix.schedule(g, t)).view("thread")
				.figure("busiest_over_mean", work.busiestOverMean()).figure("by_cpu_time", work.unit() != Groups.Unit.ACCESSES ? 1 : 0)
				.thread(g.team[order[0]]).key("");
		if (work.unit() != Groups.Unit.ACCESSES) {
			s.figure("busiest_share", by[order[0]] / all).figure(work.unit() == Groups.Unit.CPU ? "work_ns" : "work_ticks", all)
					.figure("threads", by.length);
		}
		return work.unit() != Groups.Unit.ACCESSES ? s : s.atMostMedium();
	}

	private static String unit(Groups.Work work, TraceFacts t) {
		return switch (work.unit()) {
		case TICKS -> "CPU time in the code that uses it";
		case CPU -> "CPU time while it is used";
		case ACCESSES -> t.unit();
		};
	}

	/** CPU time of the main thread is also what it does for all while the others wait. */
	private static int alone(GroupFacts g, TraceFacts t, Groups.Work work) {
		return work.unit() == Groups.Unit.CPU && g.team.length > 0 && t.threads().get(g.team[work.busiest()]).main() ? 1 : 0;
	}

	@Override
	public boolean folds() {
		return true;
	}
}
