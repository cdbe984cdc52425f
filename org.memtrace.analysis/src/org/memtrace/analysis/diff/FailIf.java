// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.memtrace.model.MemtraceException;

/**
 * A condition under which a comparison fails: {@code new} (a finding that was not there, or a more severe one), {@code none}, or
 * {@code METRIC>+N%}, {@code METRIC<-N%}, with {@code METRIC of STRUCTURE} about one structure.
 *
 * @param text as it was given
 * @param metric null for new and none
 * @param structure null for the whole run
 */
public record FailIf(String text, Metric metric, String structure, boolean above, double limit) {
	private static final Pattern CONDITION = Pattern.compile("\\s*([a-z-]+)(?:\\s+of\\s+(.+?))?\\s*([<>])\\s*([+-]?\\d+(?:\\.\\d+)?)\\s*%\\s*");

	/**
	 * Whether a condition held.
	 *
	 * @param failed it held
	 * @param reason what was found: a sentence without its full stop
	 */
	public record Outcome(FailIf condition, boolean failed, String reason) {
	}

	/** Reads a condition. */
	public static FailIf of(String text) throws MemtraceException {
		if (text.equals("new") || text.equals("none")) {
			return new FailIf(text, null, null, true, 0);
		}
		Matcher m = CONDITION.matcher(text);
		Metric metric = m.matches() ? Arrays.stream(Metric.values()).filter(x -> x.id().equals(m.group(1))).findAny().orElse(null) : null;
		if (metric == null) {
			throw new MemtraceException("'" + text + "' is not a condition: new, none, or METRIC>+N% or METRIC<-N% where METRIC is "
					+ Arrays.stream(Metric.values()).map(Metric::id).collect(Collectors.joining(", ")) + ", perhaps with \" of STRUCTURE\"");
		}
		return new FailIf(text, metric, m.group(2), m.group(3).equals(">"), Double.parseDouble(m.group(4)) / 100);
	}

	/** Judges a comparison. With four runs or more on each side a change must be significant, too. */
	public Outcome judge(TraceDiff diff) {
		if (text.equals("none")) {
			return new Outcome(this, false, "nothing is asked for");
		}
		if (metric == null) {
			List<String> worse = diff.findings().stream().filter(FindingDiff::isWorse).map(f -> f.structure() + ": " + f.finding().title()).toList();
			return new Outcome(this, !worse.isEmpty(), worse.isEmpty() ? "no finding is new" : "new: " + String.join("; ", worse));
		}
		List<Comparison> all = new ArrayList<>();
		if (structure == null) {
			all.addAll(diff.whole());
		} else {
			diff.structures().stream().filter(s -> s.name().equals(structure)
					|| s.name().startsWith(structure + ", now ")).forEach(s -> all.addAll(s.comparisons()));
		}
		Comparison c = all.stream().filter(x -> x.metric() == metric).findFirst().orElse(null);
		if (c == null) {
			return new Outcome(this, true, metric.id() + (structure == null ? " of the run" : " of " + structure) + " is not known on both sides");
		}
		boolean beyond = above ? c.change() > limit : c.change() < limit;
		boolean failed = beyond && (!c.isTested() || c.isSignificant());
		return new Outcome(this, failed, metric.id() + (structure == null ? "" : " of " + structure) + ": "
				+ DiffText.value(c.metric(), c.before()) + " to "
				+ DiffText.value(c.metric(), c.after()) + ", " + DiffText.change(c) + (beyond && !failed ? ", not significant" : "")
				+ (c.isTested() ? "" : ", not tested: fewer than " + Comparison.RUNS + " runs"));
	}
}
