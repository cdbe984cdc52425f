// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/**
 * On a machine with several NUMA nodes: pages lie on another node than the threads that use them, and not because of who touched them
 * first. What all nodes use is always remote for most of them, so pages count that one thread or one node uses nearly alone.
 */
public final class RemoteShare implements Rule {
	/** Of less nothing follows. */
	private static final double KNOWN = 0.5;

	@Override
	public String id() {
		return "remote-share";
	}

	@Override
	public String title() {
		return "data on another node";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isUsedData(g, th);
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		return List.of(Check.atLeast("NUMA nodes", t.nodes(), 2),
				Check.atLeast("share of its later " + t.unit() + " for which the nodes of thread and page are known",
						g.late() == 0 ? 0 : g.placed / g.late(), KNOWN),
				Check.atLeast("share of these whose page is on another node than the thread", share(g), th.get(Threshold.REMOTE_SHARE)),
				Check.atLeast("share of its pages that one thread or node uses nearly alone, from another node",
						g.placedParts == 0 ? 0 : (double) g.misplacedParts / g.placedParts, th.get(Threshold.REMOTE_PAGES)),
				Check.atLeast("pages", g.parts, th.get(Threshold.PAGES)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		double pages = (double) g.misplacedParts / g.placedParts;
		return new Statement(Words.percent(share(g)) + " of its later " + t.unit() + " are of a page on another NUMA node than the thread; "
				+ Words.percent(pages) + " of its " + Words.count(g.parts, "page") + " are used nearly only by one thread or node, and mostly from another node",
				"keep threads on the node of their data: bind them; or move its pages to the threads that use them").fix(Fix.nodes(g, t))
				.view("thread").figure("remote", share(g)).figure("misplaced_pages", pages);
	}

	@Override
	public boolean folds() {
		return true;
	}

	private static double share(GroupFacts g) {
		return g.placed == 0 ? 0 : g.remote / g.placed;
	}
}
