// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;

/** Several threads write different words of one cache line. Spec: insight.md 3.2, rule 1. */
public final class FalseSharing implements Rule {
	@Override
	public String id() {
		return "false-sharing";
	}

	@Override
	public String title() {
		return "false sharing";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t) {
		return Groups.isData(g) && t.hasOffsets() && g.parts > 0;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		double lasting = Math.max(th.get(Threshold.LASTING_LEAST), th.get(Threshold.LASTING) * Math.max(1, g.intervals.cardinality()));
		double lines = g.lines == 0 ? 0 : (double) g.falselySharedLines / g.lines;
		double small = g.parts <= th.get(Threshold.FALSE_PAGES) && g.falselySharedLines > 0 ? 1 : lines;
		return List.of(Check.atLeast("lines that two threads or more write in different words", g.falselySharedLines, 1),
				Check.atLeast("share of its lines (1 for a small structure)", small, th.get(Threshold.FALSE_LINES)),
				Check.atLeast("intervals in which it is shared and written", g.sharedIntervals.cardinality(), lasting),
				Check.atMost("share of its words that several threads use", g.words == 0 ? 0 : (double) g.sharedWords / g.words, 0.5).counter());
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t) {
		GroupFacts.Line line = g.worst;
		StringBuilder who = new StringBuilder();
		Statement[] s = new Statement[1];
		int shown = 0;
		for (int w = line.writers.nextSetBit(0); w >= 0; w = line.writers.nextSetBit(w + 1)) {
			who.append(shown++ == 0 ? "" : ", ").append(t.thread(w)).append(" at byte ").append(line.offset[w]);
			if (shown == 4 && line.writers.cardinality() > 4) {
				who.append(", …");
				break;
			}
		}
		s[0] = new Statement(Words.count(line.writers.cardinality(), "thread") + " write different words of one 64-byte line (" + who + "); "
				+ Words.count(g.falselySharedLines, "line") + " of " + g.lines + " with samples, in " + g.sharedIntervals.cardinality() + " of "
				+ Words.count(t.intervals(), "interval"), "give the data of each thread a cache line of its own")
				.fix(Fix.align(g, t)).view("sharing").figure("lines", g.falselySharedLines).figure("lines_sampled", g.lines)
				.figure("intervals", g.sharedIntervals.cardinality()).figure("line_address", line.address).sharedTime();
		line.writers.stream().forEach(s[0]::thread);
		return s[0];
	}
}
