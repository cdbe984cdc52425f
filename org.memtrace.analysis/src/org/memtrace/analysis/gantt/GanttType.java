// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.text.ModelText;

/**
 * What a bar of a Gantt chart is.
 *
 * @param name what a person reads; colours are keyed by it
 * @param kind how it is drawn
 * @param model for the colour
 */
public record GanttType(String name, Kind kind, ModelType model) {
	/** How the events of a type are drawn. */
	public enum Kind {
		/** Accesses of pages: a count that holds for an interval. */
		ACCESS,
		/** Holds for an interval. */
		STATE,
		/** An instant. */
		PUNCTUAL,
		/** A value that holds for an interval. */
		VARIABLE,
		/** An arrow between two rows. */
		LINK
	}

	/** Name as in legends: {@code private read} for {@code Private_Read}. */
	public String displayName() {
		return ModelText.type(model);
	}
}
