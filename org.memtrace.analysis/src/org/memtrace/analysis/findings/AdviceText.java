// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.List;
import java.util.Locale;

import org.memtrace.analysis.text.Lines;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.price.Price;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;

/** Findings and explanations as text for a terminal. */
public final class AdviceText {

	/** A smaller share of the accesses that no rule is asked about is the C library of every program, and not told. */
	private static final double LEAST_NOT_JUDGED = 0.05;

	private AdviceText() {
	}

	/** All findings with evidence, advice and fix. */
	public static String text(Advisor advisor) {
		StringBuilder b = new StringBuilder();
		TraceFacts t = advisor.facts();
		List<Finding> findings = advisor.findings();
		b.append(t.info().alias()).append(": ").append(Words.count(findings.size(), "finding")).append('\n');
		if (t.lost() > 0) {
			Lines.wrap(b, Words.count(t.lost(), t.info().counts().noun()) + " were lost; what follows is about the rest.", "");
		}
		if (!t.info().windows().isEmpty()) {
			Lines.wrap(b, capital(t.info().windows()) + ".", "");
		}
		if (!TraceSummary.unseen(t.info()).isEmpty()) {
			Lines.wrap(b, capital(TraceSummary.unseen(t.info())) + ": no finding can be about it.", "");
		}
		if (!TraceSummary.unreached(t.info()).isEmpty()) {
			Lines.wrap(b, capital(TraceSummary.unreached(t.info())) + ".", "");
		}
		if (!TraceSummary.maybeUntouched(t.info()).isEmpty()) {
			Lines.wrap(b, TraceSummary.maybeUntouched(t.info()) + ": what is said about reads and about sharing is exact to such a group only.", "");
		}
		if (advisor.notJudged() >= LEAST_NOT_JUDGED) {
			Lines.wrap(b, notJudged(advisor), "");
		}
		if (findings.isEmpty()) {
			Lines.wrap(b, advisor.small().isEmpty() ? "No rule holds. \"memtrace advise --explain\" shows each condition with its value."
					: "Nothing costs 1 % of the run or more.", "");
		}
		int n = 0;
		for (Finding f : findings) {
			b.append('\n');
			Lines.wrap(b, ++n + ". " + head(advisor, f), "   ");
			Lines.wrap(b, "   " + f.evidence() + ".", "   ");
			Lines.wrap(b, "   > " + capital(f.advice()) + ".", "     ");
			if (!f.fix().words().isEmpty()) {
				Lines.wrap(b, "     " + f.fix().words(), "     ");
			}
			if (!f.fix().command().isEmpty()) {
				b.append("       $ ").append(f.fix().command()).append('\n');
			}
			f.fix().code().lines().forEach(l -> b.append("       ").append(l).append('\n'));
			if (f.price().kind() != Price.Kind.NOT_KNOWN || advisor.notPriced().isEmpty()) {
				Lines.wrap(b, "   Price: " + f.price().brief() + ": " + f.price().why() + ".", "     ");
			}
			for (String note : f.notes()) {
				Lines.wrap(b, "   Note: " + note + ".", "     ");
			}
			Lines.wrap(b, "   Check: " + f.check() + ".", "     ");
		}
		small(b, advisor);
		return b.toString();
	}

	/** What costs less than 1 % of the run here, in a line each: name, rule, and why. */
	public static List<String> small(Advisor advisor) {
		return advisor.small().stream().map(f -> f.name() + ": " + f.title() + ": " + f.price().why()).toList();
	}

	/** What costs little here, in a line each, and why prices are not known. */
	private static void small(StringBuilder b, Advisor advisor) {
		if (!advisor.small().isEmpty()) {
			b.append("\nSmall here, less than 1 % of the run (--all tells all of it; on another machine it may be more):\n");
			small(advisor).forEach(line -> Lines.wrap(b, "- " + line, "  "));
		}
		if (!advisor.notPriced().isEmpty() && !advisor.findings().isEmpty()) {
			b.append('\n');
			Lines.wrap(b, "What findings cost here is not known: " + advisor.notPriced() + ".", "");
		}
	}

	/** What no rule is asked about, as a sentence. */
	static String notJudged(Advisor advisor) {
		String share = Words.percent(advisor.notJudged()) + " of its " + advisor.facts().unit() + " are to memory of ";
		return advisor.judgesOthers() ? share + "libraries that are installed, which is not judged."
				: share + "installed programs, run time systems and allocators, which is not judged (--set others=1 judges installed programs).";
	}

	/** The section of a summary: the first findings in some lines each. */
	public static String brief(Advisor advisor, int most) {
		StringBuilder b = new StringBuilder("\nWhat stands out\n\n");
		List<Finding> findings = advisor.findings();
		if (advisor.notJudged() >= LEAST_NOT_JUDGED) {
			Lines.wrap(b, notJudged(advisor), "");
		}
		if (findings.isEmpty()) {
			Lines.wrap(b, advisor.small().isEmpty() ? "Nothing: no rule holds. \"memtrace advise --explain\" shows the conditions with their values."
					: "Nothing that costs 1 % of the run or more; what is small here: memtrace advise --all", "");
		}
		for (Finding f : findings.subList(0, Math.min(most, findings.size()))) {
			Lines.wrap(b, "* " + head(advisor, f) + ": " + f.evidence() + ".", "  ");
			Lines.wrap(b, "  > " + capital(f.advice()) + ".", "    ");
		}
		if (!findings.isEmpty()) {
			int more = findings.size() - most;
			Lines.wrap(b, (more > 0 ? Words.count(more, "more finding") + ", " : "") + (more > 0 ? "what" : "What")
					+ " to change, and proofs: memtrace advise", "");
		}
		return b.toString();
	}

	private static String head(Advisor advisor, Finding f) {
		return f.name() + (advisor.mainOf(f) == null ? ": " : ": also ") + f.title() + " (" + f.worth()
				+ ", confidence " + f.confidence().id() + ")";
	}

	/** Each condition of some rules with its value and threshold, for each group that they are asked about. */
	public static String explain(Advisor advisor, List<Rule> rules) {
		StringBuilder b = new StringBuilder();
		for (Rule rule : rules) {
			b.append(b.isEmpty() ? "" : "\n").append(rule.id()).append(": ").append(rule.title()).append('\n');
			List<Advisor.Verdict> verdicts = advisor.explain(rule);
			if (verdicts.isEmpty()) {
				b.append("  no structure that it is about\n");
			}
			for (Advisor.Verdict v : verdicts) {
				b.append("  ").append(v.group().label).append(v.group().site.isEmpty() ? "" : " (" + v.group().site + ")")
						.append(v.holds() ? ": holds" : ": does not hold").append('\n');
				for (Check c : v.checks()) {
					b.append(String.format(Locale.ROOT, "    %s %-78s %10s %s %s%n", c.holds() ? "yes" : "no ", c.text(), number(c.value()),
							c.least() ? ">=" : "<=", number(c.threshold()) + (c.evidence() || c.holds() ? "" : "   speaks against it")));
				}
			}
		}
		return b.toString();
	}

	/** A value of a check: whole numbers as such, others with three digits. */
	static String number(double v) {
		if (v == Math.rint(v) && Math.abs(v) < 1e15) {
			return String.format(Locale.ROOT, "%,d", (long) v);
		}
		return String.format(Locale.ROOT, "%.3g", v);
	}

	private static String capital(String s) {
		return s.isEmpty() ? s : s.substring(0, 1).toUpperCase(Locale.ROOT) + s.substring(1);
	}
}
