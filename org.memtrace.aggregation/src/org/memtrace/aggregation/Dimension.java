// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Set;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessColumn;

/** A property of accesses, by which they can be told apart. Immutable; the values in a trace are {@link #values}. */
public interface Dimension {
	/** Columns from which the values are made. */
	Set<AccessColumn> columns();

	/**
	 * The values in a trace.
	 *
	 * @param table the accesses whose values are wanted
	 * @param progress for dimensions that have to look at all accesses first
	 */
	DimensionValues values(AccessTable table, Progress progress) throws MemtraceException;

	/** What colours accesses by a viewpoint. */
	static Dimension of(Viewpoint viewpoint) {
		return BasicDimensions.of(viewpoint);
	}
}
