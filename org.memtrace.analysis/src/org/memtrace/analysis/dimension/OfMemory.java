// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.IntToLongFunction;
import java.util.function.LongFunction;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** A dimension that only depends on the memory that is accessed: the same for all accesses of an event producer. */
public abstract class OfMemory extends Dimension {
	/** See {@link Dimension#Dimension}. */
	protected OfMemory(String id, String title, String choice, Type type, String meaning, Set<Use> uses) {
		super(id, title, choice, type, meaning, uses);
	}

	@Override
	public final Set<AccessColumn> columns() {
		return EnumSet.noneOf(AccessColumn.class);
	}

	@Override
	public abstract ProducerValues values(AccessTable table, Progress progress) throws MemtraceException;

	/** Values by event producer. */
	public static class ProducerValues extends DimensionValues {
		private final long size;
		private final IntToLongFunction value;
		private final LongFunction<String> name;

		/**
		 * Values.
		 *
		 * @param size number of values, -1 without limit
		 * @param value value of an event producer
		 * @param name name of a value, which is known
		 */
		public ProducerValues(long size, IntToLongFunction value, LongFunction<String> name) {
			this.size = size;
			this.value = value;
			this.name = name;
		}

		@Override
		public long size() {
			return size;
		}

		@Override
		public String name(long v) {
			return v == UNKNOWN ? "" : name.apply(v);
		}

		@Override
		public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
			for (int l = leafFrom; l < leafTo; l++) {
				Arrays.fill(out, c.leafFrom[l], c.leafFrom[l + 1], value.applyAsLong(c.leaf[l]));
			}
		}
	}
}
