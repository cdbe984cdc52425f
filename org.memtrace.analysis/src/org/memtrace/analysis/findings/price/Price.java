// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.price;

import java.util.Locale;

import com.google.gson.JsonObject;

/**
 * What a repair should gain here, as shares of one; immutable.
 *
 * @param kind what is known
 * @param share the best guess; NaN when it is not known
 * @param low a bound that holds mostly; NaN when not even that is known
 * @param high the same from above; NaN when not even that is known
 * @param elapsed whether it is of the time from begin to end, as threads would wait for each other less; else of the time in which the
 *            program runs
 * @param why how it is computed, or why it is not known: a sentence without its full stop
 */
public record Price(Kind kind, double share, double low, double high, boolean elapsed, String why) {
	/** A finding that costs less is none here. */
	public static final double SMALL = 0.01;
	/** A price that is not known stands where one of so much would, and of one with a bound a part of that. */
	private static final double NOT_KNOWN = 0.05;
	private static final double PART_OF_BOUND = 0.25;

	/** What is known of a price. */
	public enum Kind {
		/** Share and interval. */
		KNOWN,
		/** Only that it is not more. */
		AT_MOST,
		/** Nothing. */
		NOT_KNOWN;

		/** Name for programs. */
		public String id() {
			return name().toLowerCase(Locale.ROOT);
		}
	}

	/** A share with its interval, cut to 0 to 1. */
	static Price known(double share, double low, double high, boolean elapsed, String why) {
		double value = Math.clamp(share, 0, 1);
		return new Price(Kind.KNOWN, value, Math.clamp(Math.min(low, value), 0, 1), Math.clamp(Math.max(high, value), 0, 1), elapsed, why);
	}

	/** It costs nothing here, for a reason. */
	static Price nothing(String why) {
		return new Price(Kind.KNOWN, 0, 0, 0, false, why);
	}

	/** Nobody knows how much it is, but not more than this. */
	static Price atMost(double high, String why) {
		return new Price(Kind.AT_MOST, Double.NaN, 0, Math.clamp(high, 0, 1), false, why);
	}

	/** Nobody knows, for a reason. */
	public static Price notKnown(String why) {
		return new Price(Kind.NOT_KNOWN, Double.NaN, Double.NaN, Double.NaN, false, why);
	}

	/** Whether it is known that it costs less than 1 %. */
	public boolean isSmall() {
		return kind != Kind.NOT_KNOWN && high < SMALL;
	}

	public boolean isKnown() {
		return kind == Kind.KNOWN;
	}

	/** What findings are ordered by, more first. */
	public double order() {
		return switch (kind) {
		case KNOWN -> share;
		case AT_MOST -> PART_OF_BOUND * high;
		case NOT_KNOWN -> NOT_KNOWN;
		};
	}

	private static String percent(double share) {
		double p = 100 * share;
		return p == 0 ? "0" : p < 1 ? "< 1" : String.format(Locale.ROOT, "%.0f", p);
	}

	/** In two or four words, for a list: "62 % (48 to 75)". */
	public String brief() {
		return switch (kind) {
		case KNOWN -> isSmall() ? "< 1 %" : percent(share) + " % (" + percent(low) + " to " + percent(high) + ")";
		case AT_MOST -> isSmall() ? "< 1 %" : "at most " + percent(high) + " %";
		case NOT_KNOWN -> "not known";
		};
	}

	/** In words: "costs 62 % of its running time here (48 to 75 %)". */
	public String text() {
		String of = elapsed ? " of its elapsed time" : " of its running time";
		return switch (kind) {
		case KNOWN -> isSmall() ? "costs less than 1 % here"
				: "costs " + percent(share) + " %" + of + " here (" + percent(low) + " to " + percent(high) + " %)";
		case AT_MOST -> isSmall() ? "costs less than 1 % here" : "cost not known, at most " + percent(high) + " %" + of;
		case NOT_KNOWN -> "cost not known";
		};
	}

	/** docs/reference/json-analysis.md. */
	public JsonObject toJson() {
		JsonObject o = new JsonObject();
		o.addProperty("kind", kind.id());
		o.addProperty("share", Double.isNaN(share) ? null : share);
		o.addProperty("low", Double.isNaN(low) ? null : low);
		o.addProperty("high", Double.isNaN(high) ? null : high);
		o.addProperty("of", elapsed ? "elapsed" : "running");
		o.addProperty("why", why);
		return o;
	}
}
