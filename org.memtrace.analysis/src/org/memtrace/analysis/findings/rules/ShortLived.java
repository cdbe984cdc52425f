// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.memory.StructureKind;

/** Large blocks are allocated and freed again and again; each time their pages are touched anew. */
public final class ShortLived implements Rule {
	@Override
	public String id() {
		return "short-lived";
	}

	@Override
	public String title() {
		return "short-lived blocks";
	}

	@Override
	public Severity severity() {
		return Severity.LOW;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return g.kind == StructureKind.HEAP && Groups.isRelevant(g, th) && g.structures.size() > 1;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		Blocks b = Blocks.of(g, t);
		return List.of(Check.atLeast("blocks from this place", b.count(), th.get(Threshold.SHORT_LIVED_BLOCKS)),
				Check.atLeast("mean bytes of a block", (double) g.bytes / b.count(), th.get(Threshold.SHORT_LIVED_BYTES)),
				Check.atMost("median life in intervals", b.medianLifeNs() / t.intervalNs(), 2));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		Blocks b = Blocks.of(g, t);
		return new Statement(Words.count(b.count(), "block") + " of " + Words.bytes(g.bytes / b.count()) + " (mean) live for "
				+ org.memtrace.analysis.text.Units.duration(t.info(), (long) b.medianLifeNs()) + " each (median), at "
				+ b.addresses() + (b.addresses() == 1 ? " address" : " addresses") + "; if the allocator gives their pages back to the kernel in between, which a trace does"
				+ " not tell, each block has all its page faults anew", "allocate one buffer and use it again").fix(Fix.keepBuffer(g, t)).view("rw")
				.figure("blocks", b.count()).figure("addresses", b.addresses());
	}

	@Override
	public boolean folds() {
		return true;
	}
}
