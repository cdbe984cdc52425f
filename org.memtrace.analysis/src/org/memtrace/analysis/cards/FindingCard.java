// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.cards;

import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.diff.FindingDiff;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.rules.Severity;

/**
 * One finding, or what became of one between two traces. One of {@code before} and {@code after} is not null.
 *
 * @param state what became of it; null when there is one trace
 * @param name the structures
 * @param before the finding in the trace before; null without, or when there is one trace
 * @param after the finding in the trace after, or in the only one; null without
 * @param change why it is gone or what changed, a sentence without its full stop; empty for one trace
 * @param worked whether its conditions were measured again and do not hold any more
 */
public record FindingCard(FindingDiff.State state, String name, Finding before, Finding after, String change, boolean worked) {
	/** The finding, the newer one of two. */
	public Finding finding() {
		return after != null ? after : before;
	}

	/** How much it may cost, or might have. */
	public Severity severity() {
		return finding().severity();
	}

	/** What it is. */
	public String title() {
		Finding f = finding();
		return f.title().substring(0, 1).toUpperCase(Locale.ROOT) + f.title().substring(1);
	}

	/** One to five words in front: what it costs, or what became of it. */
	public String label() {
		return state == null ? finding().label() : state == FindingDiff.State.SAME ? "as before" : state.id();
	}

	/** The same behind a title: "costs 62 % (48 to 75)", "high severity". */
	public String worth() {
		Finding f = finding();
		return state != null ? label() : f.price().isKnown() || f.price().isSmall() ? "costs " + f.label() : f.label() + " severity";
	}

	/** One line about how much and how sure. */
	public static String figures(Finding f) {
		return f.worth() + ", confidence " + f.confidence().id() + ", " + Words.percent(f.weight())
				+ " of what was recorded";
	}

	/** All of it in one text, for a screen reader and the clipboard. */
	public String text() {
		StringBuilder b = new StringBuilder(label()).append(": ").append(name).append(": ").append(finding().title());
		if (!change.isEmpty()) {
			b.append(". ").append(change);
		}
		for (Finding f : before == null || before == after ? List.of(finding()) : after == null ? List.of(before) : List.of(before, after)) {
			b.append(". ").append(f.evidence()).append(". ").append(f.advice());
		}
		return b.append('.').toString();
	}
}
