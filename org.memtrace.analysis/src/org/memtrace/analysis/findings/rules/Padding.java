// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.ElementPadding;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** Most of each element of a large array is padding: memory, cache and bandwidth hold what nobody uses. The type tells it. */
public final class Padding implements Rule {
	/** First addresses that must be known, to say that none is in the padding. */
	private static final int ENTRIES = 16;
	private static final double IN_PADDING = 0.01;

	@Override
	public String id() {
		return "padding";
	}

	@Override
	public String title() {
		return "padding";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return Groups.isData(g) && Groups.isRelevant(g, th) && g.padding != null;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		return List.of(Check.atLeast("share of an element that is padding, in whole cache lines", g.padding.share(),
						th.get(Threshold.PADDING_SHARE)),
				Check.atLeast("bytes of padding", Math.round(wasted(g)), th.get(Threshold.PADDING_BYTES)),
				Check.atLeast("first addresses in pages that are known", g.elementEntries, ENTRIES),
				Check.atMost("share of these that are in the padding",
						g.elementEntries == 0 ? 0 : (double) g.paddingEntries / g.elementEntries, IN_PADDING).counter());
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		ElementPadding p = g.padding;
		return new Statement("an element (" + g.elementType + ") has " + Words.count(p.bytes, "byte") + ", of which its members use "
				+ Words.count(p.members, "byte") + ": " + Words.percent(p.share()) + " of its " + Words.bytes(g.liveBytes)
				+ " are padding, also when whole cache lines count as used; "
				+ (g.paddingEntries == 0 ? "none" : Words.percent((double) g.paddingEntries / g.elementEntries)) + " of "
				+ Words.count(g.elementEntries, "first address") + " in its pages " + (g.paddingEntries == 0 ? "is" : "are") + " in the padding",
				"take the padding away: only neighbours that different threads write need a line of their own").fix(Fix.pack(g)).view("rw")
				.figure("element_bytes", p.bytes).figure("member_bytes", p.members).figure("wasted_bytes", wasted(g))
				.figure("padding_share", p.share());
	}

	private static double wasted(GroupFacts g) {
		return g.padding.share() * g.liveBytes;
	}
}
