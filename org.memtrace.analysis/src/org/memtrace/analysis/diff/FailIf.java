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
 * {@code METRIC>+N%}, {@code METRIC<-N%}, with {@code METRIC of STRUCTURE} about one structure, with {@code in REGION} behind it about what
 * happened in a region of the program.
 *
 * @param text as it was given
 * @param metric null for new and none
 * @param structure null for the whole run
 * @param region null for the whole run
 */
public record FailIf(String text, Metric metric, String structure, String region, boolean above, double limit) {
	private static final Pattern CONDITION = Pattern.compile("\\s*([a-z-]+)(?:\\s+of\\s+(.+?))?(?:\\s+in\\s+(.+?))?\\s*([<>])\\s*([+-]?\\d+(?:\\.\\d+)?)\\s*%\\s*");

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
			return new FailIf(text, null, null, null, true, 0);
		}
		Matcher m = CONDITION.matcher(text);
		Metric metric = m.matches() ? Arrays.stream(Metric.values()).filter(x -> x.id().equals(m.group(1))).findAny().orElse(null) : null;
		if (metric == null) {
			throw new MemtraceException("'" + text + "' is not a condition: new, none, or METRIC>+N% or METRIC<-N% where METRIC is "
					+ Arrays.stream(Metric.values()).map(Metric::id).collect(Collectors.joining(", "))
					+ ", perhaps with \" of STRUCTURE\", \" in REGION\" or both");
		}
		return new FailIf(text, metric, m.group(2), m.group(3), m.group(4).equals(">"), Double.parseDouble(m.group(5)) / 100);
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
		RegionDiff inside = region == null ? null : diff.regions().stream().filter(r -> r.name().equals(region)).findFirst().orElse(null);
		// the name of a structure may have the word, too
		String name = region != null && inside == null && structure != null ? structure + " in " + region : structure;
		String what = region != null && inside == null && structure == null ? " in " + region
				: (name == null ? "" : " of " + name) + (inside == null ? "" : " in " + region);
		List<Comparison> all = new ArrayList<>();
		if (name != null) {
			(inside == null ? diff.structures() : inside.structures()).stream().filter(s -> s.name().equals(name)
					|| s.name().startsWith(name + ", now ")).forEach(s -> all.addAll(s.comparisons()));
		} else if (inside != null) {
			all.addAll(inside.comparisons());
		} else if (region == null) {
			all.addAll(diff.whole());
		}
		Comparison c = all.stream().filter(x -> x.metric() == metric).findFirst().orElse(null);
		if (c == null) {
			return new Outcome(this, true, metric.id() + (what.isEmpty() ? " of the run" : what) + " is not known on both sides");
		}
		boolean beyond = above ? c.change() > limit : c.change() < limit;
		boolean failed = beyond && (!c.isTested() || c.isSignificant());
		return new Outcome(this, failed, metric.id() + what + ": "
				+ DiffText.value(c.metric(), c.before()) + " to "
				+ DiffText.value(c.metric(), c.after()) + ", " + DiffText.change(c) + (beyond && !failed ? ", not significant" : "")
				+ (c.isTested() ? "" : ", not tested: fewer than " + Comparison.RUNS + " runs"));
	}
}
