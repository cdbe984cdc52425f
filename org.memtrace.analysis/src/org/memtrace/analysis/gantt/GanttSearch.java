// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.regex.Pattern;

import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerTree;

/** Finds rows by name: also producers whose rows are folded away or hidden, which {@link GanttFold#reveal} then shows. */
public final class GanttSearch {
	/**
	 * A row that was found.
	 *
	 * @param wrapped whether the search went round the end
	 */
	public record Found(int group, int producer, boolean wrapped) {
	}

	private GanttSearch() {
	}

	/**
	 * The next or previous row whose name contains a pattern.
	 *
	 * @param group group of the row from which the search goes on
	 * @param producer producer of that row, -1 to begin at the start
	 * @return null when no row has such a name
	 */
	public static Found next(GanttRows rows, Pattern pattern, int group, int producer, boolean forward, Progress progress)
			throws CancelledException {
		GanttRows.Request r = rows.request();
		ProducerTree tree = r.source().producers();
		int from = Math.max(0, r.root());
		int to = r.root() < 0 ? tree.size() : tree.subtreeEnd(r.root());
		int n = to - from;
		int groups = r.grouping() == Grouping.PRODUCER ? 1 : r.source().groups(r.grouping()).size();
		long all = (long) n * groups;
		long at = producer < 0 ? forward ? -1 : all : (long) (r.grouping() == Grouping.PRODUCER ? 0 : group) * n + producer - from;
		progress.begin("Searching rows", -1);
		String[] names = r.source().groups(r.grouping()).toArray(String[]::new);
		boolean[] groupFits = new boolean[groups];
		for (int g = 0; g < groups; g++) {
			groupFits[g] = r.grouping() != Grouping.PRODUCER && pattern.matcher(names[g]).find();
		}
		for (long step = 1; step <= all; step++) {
			long i = Math.floorMod(at + (forward ? step : -step), all);
			int g = (int) (i / n);
			int p = from + (int) (i % n);
			if ((step & 0xfff) == 0) {
				progress.check();
			}
			if (r.hideEmpty() && !r.source().has(p, r.grouping(), g)) {
				continue;
			}
			// the row of a group has the name of the group
			boolean top = p == from && r.grouping() != Grouping.PRODUCER;
			if (top && groupFits[g] || (!top || r.root() < 0) && pattern.matcher(tree.name(p)).find()) {
				return new Found(r.grouping() == Grouping.PRODUCER ? GanttSource.ALL : g, p, forward ? i <= at : i >= at);
			}
		}
		return null;
	}
}
