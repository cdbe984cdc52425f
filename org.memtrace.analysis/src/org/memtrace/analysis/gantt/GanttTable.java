// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** The numbers of a Gantt chart. */
public final class GanttTable {
	private GanttTable() {
	}

	/**
	 * A line for each visible row: its name and the sums of each type in the window. Accesses and instants are counted, states are
	 * in nanoseconds, variables are value times nanoseconds.
	 */
	public static String csv(GanttModel model, GanttPicture picture) throws MemtraceException {
		GanttRows rows = picture.rows();
		Grouping grouping = rows.request().grouping();
		StringBuilder text = new StringBuilder("row,level");
		for (GanttType type : model.source().types()) {
			text.append(',').append(quoted(type.name()));
		}
		text.append('\n');
		int end = Math.min(rows.count(), picture.firstRow() + (int) Math.ceil(picture.plotHeight() / picture.rowHeight()));
		for (int row = picture.firstRow(); row < end; row++) {
			text.append(quoted(rows.name(row))).append(',').append(rows.level(row));
			for (double sum : model.sums(grouping, rows.group(row), rows.producer(row), picture.fromNs(), picture.toNs(), Progress.NONE)) {
				text.append(',').append(sum == Math.rint(sum) && Math.abs(sum) < 1e15 ? Long.toString((long) sum) : Double.toString(sum));
			}
			text.append('\n');
		}
		return text.toString();
	}

	private static String quoted(String text) {
		return '"' + text.replace("\"", "\"\"") + '"';
	}
}
