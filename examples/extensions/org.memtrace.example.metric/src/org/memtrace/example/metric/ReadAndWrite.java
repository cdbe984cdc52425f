// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.example.metric;

import org.memtrace.aggregation.AccessMetric;
import org.memtrace.model.columns.AccessChunk;

/** Accesses of a thread to a page that it both read and wrote in an interval: data that is changed in place. */
public final class ReadAndWrite implements AccessMetric {
	@Override
	public String id() {
		return "read-and-write";
	}

	@Override
	public String unit() {
		return "accesses in place";
	}

	@Override
	public String description() {
		return "accesses to what is read and written";
	}

	@Override
	public double of(AccessChunk chunk, int row, boolean writes) {
		if (chunk.reads[row] == 0 || chunk.writes[row] == 0) {
			return 0;
		}
		return writes ? chunk.writes[row] : chunk.reads[row];
	}
}
