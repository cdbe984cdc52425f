// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/**
 * A small structure that several threads write all the time, in a trace without byte addresses: false sharing or a variable that all need,
 * which cannot be told apart.
 */
public final class SmallShared implements Rule {
	@Override
	public String id() {
		return "small-shared";
	}

	@Override
	public String title() {
		return "small and written by several";
	}

	@Override
	public Severity severity() {
		return Severity.LOW;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && !t.hasOffsets() && g.lateParts > 0;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		return List.of(Check.atMost("pages", g.parts, th.get(Threshold.FALSE_PAGES)),
				Check.atLeast("threads that write it", Groups.writers(g), 2),
				Check.atLeast("intervals in which it is shared and written", g.sharedIntervals.cardinality(),
						Math.max(th.get(Threshold.LASTING_LEAST), th.get(Threshold.LASTING) * t.intervals(g))));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		return new Statement(Groups.writers(g) + " threads write its " + Words.count(g.parts, "page") + "; it is shared and written in "
				+ g.sharedIntervals.cardinality() + " of " + Words.count(t.intervals(g), "interval")
				+ "; byte addresses are not known in this trace, so false sharing cannot be told from a common variable",
				"if the threads write different variables, give the data of each thread a cache line of its own").fix(Fix.align(g, t)).view("sharing")
				.figure("intervals", g.sharedIntervals.cardinality()).sharedTime();
	}
}
