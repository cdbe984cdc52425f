// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.text.Lines;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;

/** Labels of structures over time as text for a terminal. */
public final class PatternText {
	private static final int MOST_STRUCTURES = 40;
	private static final int MOST_SPANS = 12;
	private static final int BRIEF = 8;
	private static final int MOST_LABELS = 3;
	/** Labels with less of the accesses are not told in one line. */
	private static final double LEAST_SHARE = 0.05;
	/** Structures with less of all accesses are not told in a summary. */
	private static final double RELEVANT = 0.01;

	private PatternText() {
	}

	/** The section of a summary: one line for each structure that has a label at all; empty without one. */
	public static String brief(AccessTable table, Patterns patterns) {
		StringBuilder b = new StringBuilder();
		List<PatternUse> uses = PatternUse.of(table, patterns);
		double all = uses.stream().mapToDouble(PatternUse::accesses).sum();
		uses.stream().limit(BRIEF).filter(u -> u.accesses() >= RELEVANT * all && u.labelled(patterns, LEAST_SHARE))
				.forEach(u -> Lines.wrap(b, "* " + u.name() + ": " + line(u.shares(patterns)), "  "));
		return b.isEmpty() ? "" : "\nHow structures are used (shares of their "
				+ CountUnit.of(table.info().type(), table.info().properties()).plural() + ")\n\n" + b;
	}

	/** The labels with most of the accesses in one line. */
	public static String line(Map<String, Double> shares) {
		List<String> parts = new ArrayList<>();
		shares.forEach((label, share) -> {
			if (parts.size() < MOST_LABELS && share >= LEAST_SHARE) {
				parts.add(label + " " + Words.percent(share));
			}
		});
		return String.join(", ", parts);
	}

	/**
	 * Each structure with its labels over time, the index, and the conditions.
	 *
	 * @param explain also the conditions of the labels that do not hold
	 */
	public static String text(AccessTable table, Patterns patterns, boolean explain) {
		StringBuilder b = new StringBuilder(table.info().alias()).append(": how structures are used\n");
		List<PatternUse> uses = PatternUse.of(table, patterns);
		List<PatternUse> shown = uses.stream().filter(u -> explain || u.labelled(patterns, LEAST_SHARE)).toList();
		for (PatternUse u : shown.subList(0, Math.min(MOST_STRUCTURES, shown.size()))) {
			b.append('\n').append(u.name()).append(u.structures().size() > 1
					? " (" + u.structures().size() + " blocks; times are of the busiest one)" : "")
					.append(": ").append(line(u.shares(patterns))).append('\n');
			List<Patterns.Span> spans = patterns.spans(u.busiest());
			for (Patterns.Span s : spans.subList(0, Math.min(MOST_SPANS, spans.size()))) {
				span(b, table, s, explain);
			}
			if (spans.size() > MOST_SPANS) {
				b.append("  and ").append(spans.size() - MOST_SPANS).append(" more parts of the run\n");
			}
		}
		if (shown.size() > MOST_STRUCTURES) {
			b.append("\nand ").append(Words.count(shown.size() - MOST_STRUCTURES, "structure")).append(" more\n");
		}
		if (uses.size() > shown.size()) {
			b.append('\n');
			Lines.wrap(b, Words.count(uses.size() - shown.size(), "structure") + " with no pattern: --explain has the conditions.", "");
		}
		return b.toString();
	}

	private static void span(StringBuilder b, AccessTable table, Patterns.Span s, boolean explain) {
		PatternReading r = s.reading();
		long origin = table.info().startNs();
		b.append("  ").append(Units.duration(table.info(), s.fromNs() - origin)).append(" to ").append(Units.duration(table.info(),
				s.toNs() - origin)).append(": ")
				.append(Patterns.title(r.pattern(), r.strideBytes()));
		b.append(r.pattern() == null ? "\n" : String.format(Locale.ROOT, ", index %.2f%n", r.index()));
		r.checks().forEach((pattern, checks) -> {
			if (pattern == r.pattern() || explain) {
				if (explain) {
					b.append("    ").append(pattern.title()).append('\n');
				}
				for (Check c : checks) {
					b.append(String.format(Locale.ROOT, "      %s %-78s %10s, needs %s%s%n", c.holds() ? "yes"
							: "no ", c.text(), c.shown(c.value()), c.need(), c.evidence() || c.holds() ? "" : "   speaks against it"));
				}
			}
		});
	}
}
