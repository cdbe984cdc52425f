// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;

import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.memory.StructureKind;

/** Threads work on data on the stack of another thread, where nobody can place it. Spec: insight.md 3.2, rule 2. */
public final class SharedStack implements Rule {
	@Override
	public String id() {
		return "shared-stack";
	}

	@Override
	public String title() {
		return "stack used by others";
	}

	@Override
	public Severity severity() {
		return Severity.HIGH;
	}

	@Override
	public boolean concerns(GroupFacts g, TraceFacts t, Thresholds th) {
		return g.kind == StructureKind.STACK && g.parts > 0;
	}

	@Override
	public List<Check> checks(GroupFacts g, TraceFacts t, Thresholds th) {
		double main = 0;
		double all = 0;
		for (double a : g.byThread) {
			main = Math.max(main, a);
			all += a;
		}
		return List.of(Check.atLeast("pages that other threads use", foreignPages(g, t), th.get(Threshold.STACK_PAGES)),
				Check.atLeast("share of the " + t.unit() + " that are not by its main user", all == 0 ? 0
				: 1 - main / all, th.get(Threshold.STACK_FOREIGN)));
	}

	@Override
	public Statement state(GroupFacts g, TraceFacts t, Thresholds th) {
		double main = 0;
		double all = 0;
		for (double a : g.byThread) {
			main = Math.max(main, a);
			all += a;
		}
		return new Statement(Words.count(g.users(), "thread") + " use it, others than its own " + foreignPages(g, t) + " of the "
				+ Words.count(g.parts, "touched page") + "; " + Words.percent(1 - main / all) + " of its " + t.unit() + " are not by its main user",
				"the data of a stack cannot be placed: move the shared array to the heap and initialise it in parallel").fix(Fix.heap(g, t))
				.view("thread").figure("pages", foreignPages(g, t)).figure("foreign", 1 - main / all);
	}

	/** Pages that several threads use, or that another thread than that of the stack uses most. */
	private static int foreignPages(GroupFacts g, TraceFacts t) {
		long owner = t.structures().get(g.structures.get(0)).taskId();
		int own = 0;
		for (ThreadInfo thread : t.threads()) {
			if (thread.image() == g.image && thread.taskId() == owner) {
				own += g.mainUser[thread.index()];
			}
		}
		return Math.max(g.multiUserParts, own == 0 && owner < 0 ? 0 : g.lateParts - own);
	}
}
