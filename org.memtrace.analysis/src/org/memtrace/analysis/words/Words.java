// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.words;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A question in words, as it is written; what it means in a trace is {@link WordsMeaning}. Immutable.
 *
 * @param terms all of them must be true of an access
 * @param limits all of them must be true of a group
 * @param by fields to group by
 * @param every length of windows of time, null without
 * @param show counts to show; empty for the usual ones
 * @param top number of groups that are shown; 0 for all
 * @param vs another trace to compare with, null without
 */
public record Words(List<Term> terms, List<Limit> limits, List<String> by, String every, List<WordCount> show, int top, String vs) {
	/** Words that stand alone. */
	public enum Adjective {
		/** Reads. */
		READ("the access is a read"),
		/** Writes. */
		WRITTEN("the access is a write"),
		/** By one thread, for certain. */
		PRIVATE("no other thread used the page at that time"),
		/** By several. */
		SHARED("several threads used the page at that time"),
		/** Not known which. */
		UNKNOWN("one thread was seen on the page, and it is not known whether others were there"),
		/** On the node of the CPU. */
		LOCAL("the page is on the NUMA node of the CPU"),
		/** On another node. */
		REMOTE("the page is on another NUMA node than the CPU"),
		/** First touch. */
		FIRST("the record is the one in which its page was touched first");

		private final String meaning;

		Adjective(String meaning) {
			this.meaning = meaning;
		}

		/** How it is written. */
		public String word() {
			return name().toLowerCase(Locale.ROOT);
		}

		/** Whether it is about NUMA nodes. */
		boolean isOfNodes() {
			return this == LOCAL || this == REMOTE;
		}

		/** What is true of an access. */
		public String meaning() {
			return meaning;
		}
	}

	/** Something that is true of an access. */
	sealed interface Term {
		/** Whether instead it must not be true. */
		boolean not();
	}

	/** At least one of some words is true of it. */
	record Adjectives(boolean not, List<Adjective> words) implements Term {
	}

	/** A field has at least one of some values. */
	record Field(boolean not, String field, List<Value> values) implements Term {
	}

	/** A count of its page, over the whole trace, is in at least one of some ranges. */
	record PageCount(boolean not, WordCount count, List<Value> ranges) implements Term {
	}

	/** Something that is no word. It may be a name of the trace, which the message tells then. */
	record Bare(boolean not, String text, String before) implements Term {
	}

	/** A count of a group is in at least one of some ranges. */
	record Limit(boolean not, WordCount count, List<Value> ranges) {
	}

	/**
	 * What stands behind a field or a count.
	 *
	 * @param text without quotes
	 * @param pattern whether a star in it stands for any letters
	 * @param quoted whether it was in quotes: a name, never a number
	 */
	record Value(String text, boolean pattern, boolean quoted) {
		/** Whether it is a name in this pattern. */
		boolean matches(String name) {
			if (!pattern) {
				return name.equals(text);
			}
			int at = 0;
			String[] parts = text.split("\\*", -1);
			for (int i = 0; i < parts.length; i++) {
				boolean last = i == parts.length - 1;
				int found = i == 0 ? name.startsWith(parts[0]) ? 0 : -1
						: last ? name.length() - parts[i].length() >= at && name.endsWith(parts[i]) ? name.length() - parts[i].length() : -1
						: name.indexOf(parts[i], at);
				if (found < 0) {
					return false;
				}
				at = found + parts[i].length();
			}
			return true;
		}
	}

	/** Fields of the language, in the order in which a person sees them; other dimensions that filter are fields, too. */
	public static final List<String> FIELDS = List.of("structure", "thread", "time", "region", "phase", "function", "source", "site", "type",
			"kind", "node", "cpu", "level", "page", "image", "offset");
	/** Words with something behind them that is no term. */
	public static final List<String> CLAUSES = List.of("by", "every", "show", "top", "vs");

	/** All words that stand alone. */
	public static List<String> adjectives() {
		return Stream.of(Adjective.values()).map(Adjective::word).toList();
	}

	/** Whether nothing but terms is in it, so that it can filter. */
	boolean isFilter() {
		return limits.isEmpty() && by.isEmpty() && every == null && show.isEmpty() && top == 0 && vs == null;
	}
}
