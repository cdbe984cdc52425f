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
		double[] sums = new double[Math.toIntExact(size)];
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		columns.addAll(dimension.columns());
		for (Sums part : table.scan().run(table.query(-1, Long.MIN_VALUE, Long.MAX_VALUE), columns, "Accesses by " + dimension.label(),
				progress, (from, to) -> new Sums(all, sums.length))) {
			for (int i = 0; i < sums.length; i++) {
				sums[i] += part.sums[i];
			}
		}
		Integer[] order = new Integer[sums.length];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, Comparator.comparingDouble((Integer i) -> sums[i]).reversed());
		int[] kept = Arrays.stream(order).limit(MOST).mapToInt(Integer::intValue).sorted().toArray();
		int[] place = new int[sums.length];
		Arrays.fill(place, MOST);
		for (int i = 0; i < kept.length; i++) {
			place[kept[i]] = i;
		}
		return new FewValues(all, place, kept);
	}

	private static final class Sums implements AccessScan.Part {
		private final DimensionValues values;
		private final double[] sums;
		private long[] value = {};

		Sums(DimensionValues values, int size) {
			this.values = values;
			this.sums = new double[size];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			if (value.length < c.rows) {
				value = new long[c.time.length];
			}
			values.read(c, leafFrom, leafTo, value);
			for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
				if (value[row] >= 0) {
					sums[(int) value[row]] += c.reads[row] + (double) c.writes[row];
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
	List<String> names() {
		List<String> names = new ArrayList<>();
		for (int v : kept) {
			names.add(all.name(v));
		}
		return names;
	}
}
