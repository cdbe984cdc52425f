// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** Where the records of a Gantt chart come from. */
public final class GanttSources {
	private GanttSources() {
	}

	/** Accesses, coloured by a viewpoint. */
	public static GanttSource of(AccessTable table, Dimension viewpoint, Progress progress) throws MemtraceException {
		return GanttAccesses.make(table, viewpoint == BasicDimensions.EVENT_TYPE ? BasicDimensions.TYPE : viewpoint, progress);
	}

	/** Events of any origin, coloured by their type. */
	public static GanttSource of(EventTable table) {
		return new GanttEvents(table);
	}
}
