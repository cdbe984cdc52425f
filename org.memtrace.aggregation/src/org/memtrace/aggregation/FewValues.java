// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;

/**
 * The values of a dimension for pictures. A person tells no more colours apart than {@link #MOST}: of a dimension with more values those
 * with the most accesses stay, the rest is one value, "others". Threads, CPUs and nodes keep all of theirs.
 */
public final class FewValues extends DimensionValues {
	/** Values that stay. */
	public static final int MOST = 40;

	private final DimensionValues all;
	/** Of each value its number here. */
	private final int[] place;
	/** Values that stay, ascending. */
	private final int[] kept;

	private FewValues(DimensionValues all, int[] place, int[] kept) {
		this.all = all;
		this.place = place;
		this.kept = kept;
	}

	/** The values that have a colour in a picture of some accesses. */
	public static DimensionValues of(Dimension dimension, AccessTable table, Progress progress) throws MemtraceException {
		DimensionValues all = dimension.values(table, progress);
		long size = all.size();
		if (size < 0) {
			throw new IllegalArgumentException(dimension + " has no colours");
		}
		if (size <= MOST || all.kind() != Kind.SINGLE || all.type(0).role() != Role.OTHER && all.type(0).role() != Role.STRUCTURE) {
			return all;
		}
		long[] sums = sums(dimension, all, table, progress);
		Integer[] order = new Integer[sums.length];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, Comparator.comparingLong((Integer i) -> sums[i]).reversed());
		int[] kept = Arrays.stream(order).limit(MOST).mapToInt(Integer::intValue).sorted().toArray();
		int[] place = new int[sums.length];
		Arrays.fill(place, MOST);
		for (int i = 0; i < kept.length; i++) {
			place[kept[i]] = i;
		}
		return new FewValues(all, place, kept);
	}

	/** Accesses of each value: from the sums that are saved with the trace where they tell, else from all accesses. */
	private static long[] sums(Dimension dimension, DimensionValues all, AccessTable table, Progress progress) throws MemtraceException {
		int size = Math.toIntExact(all.size());
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		columns.addAll(dimension.columns());
		AccessQuery query = table.query(-1, Long.MIN_VALUE, Long.MAX_VALUE);
		if (dimension.isOfSums() && !columns.contains(AccessColumn.TIME)) {
			AccessCube.Rows saved = table.rows(query, false, false, progress);
			if (saved != null) {
				Sums part = new Sums(all, size);
				part.chunk(saved.chunk(), 0, saved.chunk().leaves);
				return part.sums;
			}
		}
		long[] sums = new long[size];
		for (Sums part : table.scan().run(query, columns, "Accesses by " + dimension.label(), progress, (from, to) -> new Sums(all, size))) {
			for (int i = 0; i < size; i++) {
				sums[i] += part.sums[i];
			}
		}
		return sums;
	}

	private static final class Sums implements AccessScan.Part {
		private final DimensionValues values;
		private final long[] sums;
		private long[] value = {};

		Sums(DimensionValues values, int size) {
			this.values = values;
			this.sums = new long[size];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			if (value.length < c.rows) {
				value = new long[c.time.length];
			}
			values.read(c, leafFrom, leafTo, value);
			for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
				if (value[row] >= 0) {
					sums[(int) value[row]] += c.reads[row] + c.writes[row];
				}
			}
		}
	}

	@Override
	public long size() {
		return MOST + 1;
	}

	@Override
	public String name(long value) {
		return value == UNKNOWN ? "" : value == MOST ? place.length - MOST + " others" : all.name(kept[(int) value]);
	}

	@Override
	public ModelType type(long value) {
		return value == UNKNOWN ? unknownType()
				: value == MOST ? new ModelType(name(value), Role.UNKNOWN, 1) : all.type(kept[(int) value]);
	}

	@Override
	public void read(AccessChunk chunk, int leafFrom, int leafTo, long[] out) {
		all.read(chunk, leafFrom, leafTo, out);
		for (int row = chunk.leafFrom[leafFrom]; row < chunk.leafFrom[leafTo]; row++) {
			out[row] = out[row] == UNKNOWN ? UNKNOWN : place[(int) out[row]];
		}
	}

	/** Values that stay, for tests. */
	public List<String> names() {
		List<String> names = new ArrayList<>();
		for (int v : kept) {
			names.add(all.name(v));
		}
		return names;
	}
}
