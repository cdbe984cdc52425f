// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.selection;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.text.Units;
import org.memtrace.model.TraceInfo;

/** Says what a step to another state changes in all views, and for what. */
public final class ShownFor {
	private ShownFor() {
	}

	/**
	 * Such as "Shown for finding y8n: window 281 s from 628 ms, coloured by reads and writes, filtered", without a stop.
	 *
	 * @param what for what it is shown, such as "finding y8n"
	 * @param selection where the step begins
	 * @param next where it leads
	 */
	public static String text(String what, TraceInfo info, TraceSelection selection, ViewState next) {
		ViewState now = selection.state();
		ViewState all = selection.initial();
		List<String> changes = new ArrayList<>();
		if (next.fromNs() != now.fromNs() || next.toNs() != now.toNs()) {
			boolean whole = next.fromNs() == all.fromNs() && next.toNs() == all.toNs();
			changes.add(whole ? "the whole run" : "window " + Units.duration(info, next.durationNs()) + " from "
					+ Units.duration(info, next.fromNs() - all.fromNs()));
		}
		if (next.producer() != now.producer()) {
			changes.add(next.producer() == all.producer() ? "all memory" : "memory of " + selection.tree().name(next.producer()));
		}
		if (next.viewpoint() != now.viewpoint()) {
			changes.add("coloured by " + next.viewpoint().choiceLabel());
		}
		if (!next.filters().equals(now.filters())) {
			changes.add(next.filters().isEmpty() ? "no filter" : "filtered");
		}
		if (next.isAutomaticP() && !now.isAutomaticP()) {
			changes.add("level of detail automatic");
		}
		return "Shown for " + what + (changes.isEmpty() ? "" : ": " + String.join(", ", changes));
	}
}
