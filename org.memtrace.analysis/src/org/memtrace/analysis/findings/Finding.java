// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import java.util.List;
import java.util.Map;

import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.findings.price.Price;
import org.memtrace.analysis.findings.rules.Fix;
import org.memtrace.analysis.findings.rules.Severity;

/**
 * A problem that was found, with what proves it and what to do.
 *
 * @param rule id of the rule that found it
 * @param title what it is, in two or three words
 * @param names names of the structures; several when the same is true of several
 * @param structures ids of the structures
 * @param threads indices of the threads that are named
 * @param fromNs start of the time in which it holds
 * @param toNs end of that time
 * @param leafFrom first leaf that it is about
 * @param leafTo leaf after the last
 * @param leaves the pages themselves, when they are not all of the structures; in order
 * @param figures numbers by name, for programs
 * @param evidence what was seen, with figures: one sentence without its full stop
 * @param advice what to do: one sentence without its full stop
 * @param fix what to change in words, and a command and code to paste where there are any
 * @param check how to see that it worked
 * @param notes blind spots that touch it
 * @param severity how much it may cost: from the price where that is known, else what the rule says
 * @param confidence how sure it is
 * @param weight share of all accesses or pages that it concerns, 0 to 1
 * @param view view that shows it: a picture by thread, by sharing, …
 * @param firstWritten the code that writes most of its pages first; null when it is not known
 * @param used the code that uses it most after that; null when it is not known
 * @param price what a repair should gain here
 */
public record Finding(String rule, String title, List<String> names, List<Integer> structures, List<Integer> threads, long fromNs,
		long toNs,
		int leafFrom, int leafTo, List<Integer> leaves, Map<String, Double> figures, String evidence, String advice, Fix fix, String check,
		List<String> notes, Severity severity, Confidence confidence, double weight, String view, Place firstWritten, Place used,
		Price price) {
	private static final double MUCH = 0.2;
	private static final double SOME = 0.05;

	/** This finding with its price, which is its severity where it is known. */
	Finding with(Price p) {
		Severity s = !p.isKnown() ? severity : p.share() >= MUCH ? Severity.HIGH : p.share() >= SOME ? Severity.MEDIUM : Severity.LOW;
		return new Finding(rule, title, names, structures, threads, fromNs, toNs, leafFrom, leafTo, leaves, figures, evidence, advice, fix, check,
				notes, s, confidence, weight, view, firstWritten, used, p);
	}

	/** What it costs, in words: the price, or the severity where that is not known. */
	public String worth() {
		return price.isKnown() || price.isSmall() ? price.text()
				: price.kind() == Price.Kind.AT_MOST ? "severity " + severity.id() + ", " + price.text() : "severity " + severity.id();
	}

	/** The same in one to five words: "62 % (48 to 75)", "high". */
	public String label() {
		return price.isKnown() || price.isSmall() ? price.brief() : severity.id();
	}

	/** The structures in one text. */
	public String name() {
		int n = names.size();
		if (n <= 3) {
			return String.join(", ", names);
		}
		return names.get(0) + ", " + names.get(1) + " and " + (n - 2) + " more";
	}
}
