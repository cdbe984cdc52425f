// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.memory.StructureKind;

/** A large structure of which hardly a page is touched. Spec: insight.md 3.2, rule 13. */
public final class Unused implements Rule {
	@Override
	public String id() {
		return "unused";
	}

	@Override
	public String title() {
		return "hardly used";
	}

	@Override
	public Severity severity() {
		return Severity.LOW;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		// nobody sees the pages of constants, and those that are not read are not in memory
		return (g.kind == StructureKind.HEAP || g.kind == StructureKind.STATIC) && !g.library && !g.constants;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		Blocks b = Blocks.of(g, t);
		return List.of(Check.atLeast("bytes at one time", g.liveBytes, th.get(Threshold.UNUSED_BYTES)),
				Check.atMost("share of its pages that are touched", g.touchedShare(), th.get(Threshold.UNUSED_SHARE)),
				Check.atLeast("median life in intervals", b.medianLifeNs() / t.intervalNs(), 2).counter());
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		String all = g.bytes == g.liveBytes ? "" : " at one time, " + Words.bytes(g.bytes) + " in all of its "
				+ Words.count(g.structures.size(), "block") + ",";
		return new Statement("of its " + Words.bytes(g.liveBytes) + all + " only " + Words.count(g.parts, "page") + " of "
				+ String.format(Locale.ROOT, "%,d", g.pagesOfBlocks) + (g.parts == 1 ? " is" : " are") + " touched",
				"allocate what is needed: untouched memory costs addresses and page tables, and hides what the program really uses").view("rw")
				.figure("bytes", g.liveBytes).figure("pages", g.parts).figure("pages_of", g.pagesOfBlocks);
	}
}
