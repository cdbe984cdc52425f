// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What can be written at a place of a text.
 *
 * @param from begin of the word that is replaced
 * @param to its end, exclusive
 * @param proposals the best first
 */
public record Completion(int from, int to, List<Proposal> proposals) {
	/**
	 * A proposal.
	 *
	 * @param text what replaces the word
	 * @param note what it means; empty when there is nothing to say
	 */
	public record Proposal(String text, String note) {
	}

	public Completion {
		proposals = List.copyOf(proposals);
	}

	/** Nothing can be written here. */
	public static Completion none(int caret) {
		return new Completion(caret, caret, List.of());
	}

	/** Collects what fits to the begin of a word. */
	public static final class Candidates {
		private final String prefix;
		private final List<Proposal> first = new ArrayList<>();
		private final List<Proposal> others = new ArrayList<>();

		/** @param written the word up to the caret; capitals or not make no difference */
		public Candidates(String written) {
			prefix = written.toLowerCase(Locale.ROOT);
		}

		/**
		 * Adds a proposal if it fits.
		 *
		 * @param word what is compared with what is written: its begin, or the begin of one of its parts behind _ or -
		 */
		public void add(String word, String text, String note) {
			String small = word.toLowerCase(Locale.ROOT);
			boolean begins = small.startsWith(prefix);
			if (!begins && !small.contains("_" + prefix) && !small.contains("-" + prefix)
					|| first.stream().anyMatch(p -> p.text().equals(text)) || others.stream().anyMatch(p -> p.text().equals(text))) {
				return;
			}
			(begins ? first : others).add(new Proposal(text, note));
		}

		/** As they were added, those that begin with what is written before the others. */
		public List<Proposal> best() {
			List<Proposal> all = new ArrayList<>(first);
			all.addAll(others);
			return all;
		}
	}
}
