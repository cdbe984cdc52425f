// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.Set;

import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * A metric of memory traces that is no part of memtrace: its names, and what an access record counts. It keeps nothing; any thread may
 * ask it. docs/extend/metric.md
 */
public interface AccessMetric {
	/** Name on the command line and in files: small letters, digits and hyphens. */
	String id();

	/** Plural noun for axes and legends. */
	String unit();

	/** What it is, for titles and lists: small letter first, no full stop. */
	String description();

	/** Columns that it reads besides those of times, reads and writes. */
	default Set<AccessColumn> columns() {
		return Set.of();
	}

	/**
	 * What the reads or the writes of a record count. The amount is spread over the slices that the interval of the record overlaps, in
	 * proportion.
	 *
	 * @param chunk has the columns
	 * @param row of the record
	 * @param writes whether its writes are asked for, else its reads
	 * @return not negative, and finite
	 */
	double of(AccessChunk chunk, int row, boolean writes);
}
