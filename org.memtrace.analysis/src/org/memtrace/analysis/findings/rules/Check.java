// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.rules;

import java.util.List;
import java.util.Locale;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.findings.facts.Words;

/**
 * One condition of a rule with its value.
 *
 * @param text what is measured, without the value
 * @param value what was found
 * @param least whether the value must be at least the threshold, else at most
 * @param threshold the value it is compared with
 * @param evidence false for counter-evidence: something that forbids the finding
 */
public record Check(String text, double value, boolean least, double threshold, boolean evidence) {
	private static final double CLEAR = 1.5;
	/** Doubles up to here are exact whole numbers. */
	private static final double WHOLE = 1e15;

	/** The value must not be less. */
	public static Check atLeast(String text, double value, double threshold) {
		return new Check(text, value, true, threshold, true);
	}

	/** The value must not be more. */
	public static Check atMost(String text, double value, double threshold) {
		return new Check(text, value, false, threshold, true);
	}

	/** This condition as counter-evidence: it speaks against the finding when it does not hold. */
	public Check counter() {
		return new Check(text, value, least, threshold, false);
	}

	/** Its value or threshold for a person: a percentage for a share. */
	public String shown(double v) {
		if (text.startsWith("share")) {
			return Words.percent(v);
		}
		return v == Math.rint(v) && Math.abs(v) < WHOLE ? String.format(Locale.ROOT, "%,d", (long) v) : Words.ratio(v);
	}

	/** The threshold for a person. */
	public String need() {
		return (least ? "at least " : "at most ") + shown(threshold);
	}

	/** Whether it holds. */
	public boolean holds() {
		return least ? value >= threshold : value <= threshold;
	}

	/** Whether it holds by far: by a factor of 1.5, for a share near one by as much of what is missing. */
	public boolean holdsByFar() {
		if (!least) {
			return value <= threshold / CLEAR;
		}
		boolean share = threshold > 0.5 && threshold <= 1;
		return share ? 1 - value <= (1 - threshold) / CLEAR : value >= threshold * CLEAR;
	}

	/** Conditions with their values; docs/reference/json-analysis.md. */
	public static JsonArray toJson(List<Check> all) {
		JsonArray checks = new JsonArray();
		for (Check c : all) {
			JsonObject k = new JsonObject();
			k.addProperty("condition", c.text());
			k.addProperty("value", c.value());
			k.addProperty("comparison", c.least() ? ">=" : "<=");
			k.addProperty("threshold", c.threshold());
			k.addProperty("holds", c.holds());
			k.addProperty("counter_evidence", !c.evidence());
			checks.add(k);
		}
		return checks;
	}
}
