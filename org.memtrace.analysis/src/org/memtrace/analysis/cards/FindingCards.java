// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.cards;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

import org.memtrace.analysis.diff.FindingDiff;
import org.memtrace.analysis.diff.TraceDiff;
import org.memtrace.analysis.findings.AdviceText;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;

/**
 * What a list of findings shows: cards, what is to be known before one believes them, and the rules that did not hold with the reason. Made
 * from what {@code advise} and {@code diff} print; nothing is judged here. Immutable.
 */
public final class FindingCards {
	/** Structures that are named for a rule that did not hold. */
	private static final int MOST_CASES = 30;

	/**
	 * A structure for which a rule does not hold.
	 *
	 * @param reason the conditions that are not met with their values, or the rule that names the cause
	 * @param checks all conditions
	 * @param unmet number of conditions that are not met
	 */
	public record Case(String structure, String reason, List<Check> checks, int unmet) {
	}

	/**
	 * A rule without a finding.
	 *
	 * @param reason in one sentence, about the structure that came nearest
	 * @param cases structures, the nearest first
	 * @param more structures that are not listed
	 */
	public record WhyNot(String rule, String title, String reason, List<Case> cases, int more) {
	}

	private final String heading;
	private final String before;
	private final String after;
	private final List<String> warnings;
	private final List<FindingCard> cards;
	private final List<WhyNot> whyNot;

	private FindingCards(String heading, String before, String after, List<String> warnings, List<FindingCard> cards, List<WhyNot> whyNot) {
		this.heading = heading;
		this.before = before;
		this.after = after;
		this.warnings = List.copyOf(warnings);
		this.cards = List.copyOf(cards);
		this.whyNot = List.copyOf(whyNot);
	}

	/** The findings of one trace; {@code name} is what the user calls it. */
	public static FindingCards of(String name, Advisor advisor) {
		List<FindingCard> cards = new ArrayList<>();
		for (Finding f : advisor.findings()) {
			cards.add(new FindingCard(null, f.name() + (advisor.mainOf(f) == null ? "" : " (also)"), null, f, "", false));
		}
		TraceFacts t = advisor.facts();
		String heading = !cards.isEmpty() ? Words.count(cards.size(), "finding")
				: advisor.small().isEmpty() ? "No finding: no rule holds" : "No finding costs 1 % of the run or more";
		List<String> warnings = blindSpots(t);
		AdviceText.small(advisor).forEach(line -> warnings.add("small here, less than 1 % of the run: " + line));
		return new FindingCards(heading, "", name, warnings, cards, whyNot(advisor));
	}

	/** What became of the findings of one trace in another; rules that did not hold are those of the second. */
	public static FindingCards of(TraceDiff diff) {
		List<FindingCard> cards = new ArrayList<>();
		for (FindingDiff f : diff.findings()) {
			cards.add(new FindingCard(f.state(), f.structure(), f.before(), f.after(), f.text(), f.worked()));
		}
		List<String> warnings = new ArrayList<>(diff.verdict().sentences().stream().map(s -> s.substring(0, s.length() - 1)).toList());
		warnings.addAll(diff.warnings());
		return new FindingCards(heading(diff), diff.before().get(0).label(), diff.after().get(0).label(), warnings, cards,
				whyNot(diff.after().get(0).advisor()));
	}

	private static String heading(TraceDiff diff) {
		List<String> parts = new ArrayList<>();
		for (FindingDiff.State s : FindingDiff.State.values()) {
			long n = diff.findings().stream().filter(f -> f.state() == s).count();
			if (n > 0) {
				parts.add(n + " " + (s == FindingDiff.State.SAME ? "as before" : s.id()));
			}
		}
		return diff.verdict().brief() + ": " + (parts.isEmpty() ? "no finding in either trace" : String.join(", ", parts));
	}

	private static List<String> blindSpots(TraceFacts t) {
		List<String> all = new ArrayList<>();
		if (t.lost() > 0) {
			all.add(Words.count(t.lost(), "access") + " were lost; what follows is about the rest");
		}
		if (!t.info().windows().isEmpty()) {
			all.add(t.info().windows());
		}
		if (!TraceSummary.unseen(t.info()).isEmpty()) {
			all.add(TraceSummary.unseen(t.info()) + ": no finding can be about it");
		}
		if (!TraceSummary.unreached(t.info()).isEmpty()) {
			all.add(TraceSummary.unreached(t.info()));
		}
		return all;
	}

	/** The rules without a finding, those that came nearest first. */
	private static List<WhyNot> whyNot(Advisor advisor) {
		List<WhyNot> all = new ArrayList<>();
		for (Rule rule : advisor.rules()) {
			if (advisor.findings().stream().anyMatch(f -> f.rule().equals(rule.id()))) {
				continue;
			}
			List<Case> cases = new ArrayList<>();
			for (Advisor.Verdict v : advisor.explain(rule)) {
				List<Check> unmet = v.checks().stream().filter(c -> !c.holds()).toList();
				String reason = unmet.isEmpty() ? covered(advisor, v) : unmet.stream().map(FindingCards::sentence).collect(Collectors.joining("; "));
				cases.add(new Case(v.group().name, reason, v.checks(), unmet.size()));
			}
			cases.sort(Comparator.comparingInt(Case::unmet)); // stable: the heaviest of equals stays first
			String reason = cases.isEmpty() ? "there is no structure that it is about"
					: "nearest: " + cases.get(0).structure() + ": " + cases.get(0).reason();
			all.add(new WhyNot(rule.id(), rule.title(), reason, List.copyOf(cases.subList(0, Math.min(MOST_CASES, cases.size()))),
					Math.max(0, cases.size() - MOST_CASES)));
		}
		all.sort(Comparator.comparingInt(w -> w.cases().isEmpty() ? Integer.MAX_VALUE : w.cases().get(0).unmet()));
		return all;
	}

	/** All conditions hold, and yet it is no finding: it costs little here, or another rule names the cause. */
	private static String covered(Advisor advisor, Advisor.Verdict v) {
		if (advisor.small().stream().anyMatch(f -> f.rule().equals(v.rule().id()) && f.structures().contains(v.group().structures.get(0)))) {
			return "all conditions hold, but it costs less than 1 % of the run here";
		}
		return advisor.findings().stream().filter(f -> f.structures().contains(v.group().structures.get(0))).findFirst()
				.map(f -> "all conditions hold, but '" + f.title() + "' names the cause")
				.orElse("all conditions hold, but another rule names the cause");
	}

	private static String sentence(Check c) {
		return c.text() + " is " + c.shown(c.value()) + ", needs " + c.need() + (c.evidence() ? "" : " (this speaks against it)");
	}

	/** One line about all of them. */
	public String heading() {
		return heading;
	}

	/** Whether two traces are compared. */
	public boolean isComparison() {
		return !before.isEmpty();
	}

	/** Name of the trace before; empty without a comparison. */
	public String before() {
		return before;
	}

	/** Name of the trace after, or of the only one. */
	public String after() {
		return after;
	}

	/** What makes them less sure: sentences without their full stop. */
	public List<String> warnings() {
		return warnings;
	}

	/** The cards, the most important first. */
	public List<FindingCard> cards() {
		return cards;
	}

	/** Rules without a finding, those that came nearest first. */
	public List<WhyNot> whyNot() {
		return whyNot;
	}
}
