// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Set;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.memory.StructureKind;

/** Blocks of one place are freed and their addresses given to other threads: what looks shared is reuse. Spec: insight.md 3.2, rule 3. */
public final class RecycledHeap implements Rule {
	@Override
	public String id() {
		return "recycled-heap";
	}

	@Override
	public String title() {
		return "heap memory used again";
	}

	@Override
	public Severity severity() {
		return Severity.MEDIUM;
	}

	@Override
	public Set<String> covers() {
		// what looks shared or misplaced is the next owner of the addresses
		return Set.of("short-lived", "first-touch", "remote-mapping", "remote-share", "replicate", "all-to-all",
				"page-shared", "ping-pong", "imbalance");
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return g.kind == StructureKind.HEAP && g.structures.size() > 1;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		Blocks b = Blocks.of(g, t);
		return List.of(Check.atLeast("blocks from this place", b.count(), th.get(Threshold.RECYCLED_BLOCKS)),
				Check.atLeast("threads that allocate them", b.allocators(), 2),
				Check.atMost("distinct addresses per block", (double) b.addresses() / b.count(), th.get(Threshold.RECYCLED_REUSE)),
				Check.atLeast("share of the blocks at addresses that several threads got", b.handedOver(), th.get(Threshold.RECYCLED_REUSE)),
				Check.atMost("median life in intervals", b.medianLifeNs() / t.intervalNs(), 2).counter());
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		Blocks b = Blocks.of(g, t);
		return new Statement(Words.count(b.count(), "block") + " of " + Words.count(b.allocators(), "thread") + " lived at "
				+ Words.count(b.addresses(), "address") + ", " + Words.percent(b.handedOver())
				+ " of them at addresses that several threads got in turn, for "
				+ org.memtrace.analysis.text.Units.duration(t.info(), (long) b.medianLifeNs()) + " each (median)",
				"keep one buffer for each thread: the pages of a reused block stay on the node of its first user, and look shared")
				.fix(Fix.keepBuffer(g, t)).view("thread").figure("blocks", b.count()).figure("addresses", b.addresses());
	}
}
