// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.example.rule;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Severity;
import org.memtrace.analysis.findings.rules.Statement;
import org.memtrace.analysis.findings.rules.Thresholds;
import org.memtrace.model.memory.StructureKind;

/** A large block on the heap of which nearly all pages are used: huge pages would save entries of the TLB. */
public final class HugePages implements Rule {
	private static final double BYTES = 64 << 20;
	private static final double TOUCHED = 0.9;
	private static final double WANTED = 0.5;

	@Override
	public String id() {
		return "huge-pages";
	}

	@Override
	public String title() {
		return "huge pages would fit";
	}

	@Override
	public Severity severity() {
		return Severity.LOW;
	}

	@Override
	public boolean concerns(GroupFacts group, TraceFacts trace, Thresholds thresholds) {
		return group.kind == StructureKind.HEAP && !group.library;
	}

	@Override
	public List<Check> checks(GroupFacts group, TraceFacts trace, Thresholds thresholds) {
		return List.of(Check.atLeast("bytes", group.bytes, BYTES),
				Check.atLeast("share of its pages that are touched", touched(group, trace), TOUCHED),
				Check.atMost("share of it that the program wants in huge pages already", wanted(group, trace), WANTED));
	}

	/** What the program advised is in the trace: what it has done is no advice. */
	private static double wanted(GroupFacts group, TraceFacts trace) {
		double bytes = 0;
		double all = 0;
		for (int id : group.structures) {
			bytes += Math.max(0, trace.structures().get(id).hugeBytes());
			all += trace.structures().get(id).sizeBytes();
		}
		return all == 0 ? 0 : bytes / all;
	}

	private static double touched(GroupFacts group, TraceFacts trace) {
		return group.bytes == 0 ? 0 : Math.min(1, (double) group.parts * trace.info().pageSizeBytes() / group.bytes);
	}

	@Override
	public Statement state(GroupFacts group, TraceFacts trace, Thresholds thresholds) {
		return new Statement("of its " + Words.bytes(group.bytes) + " nearly all is touched, " + Words.count(group.parts, "page"),
				"give it huge pages: one entry of the TLB then holds for 2 MiB")
				.fix("Let the block begin at a multiple of 2 MiB, and call madvise with MADV_HUGEPAGE for it before it is written.").figure("bytes", group.bytes)
				.figure("pages", group.parts);
	}
}
