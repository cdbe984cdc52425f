// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.example.dimension;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** What a thread does, by its name: "worker 1" and "worker 2" are both "worker". */
public final class ThreadRole extends Dimension {
	public ThreadRole() {
		super("thread_role", "Thread role", "Roles of threads", Type.TEXT, "Name of the thread without its number", Use.ALL);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.THREAD);
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) {
		List<String> roles = new ArrayList<>();
		int[] roleOf = new int[table.threads().size()];
		for (int t = 0; t < roleOf.length; t++) {
			String role = table.threads().get(t).name().replaceFirst("[ #_-]*[0-9]+$", "");
			if (!roles.contains(role)) {
				roles.add(role);
			}
			roleOf[t] = roles.indexOf(role);
		}
		return new DimensionValues() {
			@Override
			public long size() {
				return roles.size();
			}

			@Override
			public String name(long value) {
				return value == UNKNOWN ? "" : roles.get((int) value);
			}

			@Override
			public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
				for (int row = chunk.leafFrom[leafFrom]; row < chunk.leafFrom[leafTo]; row++) {
					int thread = chunk.thread[row];
					out[row] = thread >= 0 && thread < roleOf.length ? roleOf[thread] : UNKNOWN;
				}
			}
		};
	}
}
