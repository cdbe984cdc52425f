// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import org.memtrace.analysis.findings.Finding;

/**
 * What became of a finding about a structure. It is there on a side when more than half of the runs have it.
 *
 * @param structure its name
 * @param before the finding before, null when there was none
 * @param after the finding after, null when there is none
 * @param inA number of runs before with it
 * @param inB number of runs after with it
 * @param text why it is gone, or what changed: a sentence without its full stop
 * @param conditionsGone whether the conditions of the finding were measured again and do not hold any more
 * @param worked whether the advice worked: its conditions do not hold any more, and the program is not slower ({@link Verdict})
 */
public record FindingDiff(State state, String structure, Finding before, Finding after, int inA, int inB, String text,
		boolean conditionsGone, boolean worked) {
	/** In the order in which they are told. */
	public enum State {
		NEW, CHANGED, GONE, SAME;

		/** For options and programs. */
		public String id() {
			return name().toLowerCase(java.util.Locale.ROOT);
		}
	}

	/** The finding, the newer one of two. */
	public Finding finding() {
		return after != null ? after : before;
	}

	/** New, or another one that is more severe. */
	public boolean isWorse() {
		return state == State.NEW || state == State.CHANGED && after.severity().compareTo(before.severity()) > 0;
	}
}
