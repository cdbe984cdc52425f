// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessCube;
import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension.Question;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues.Kind;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;

/**
 * Counts and sums of accesses, grouped by any dimensions that can group. One pass over the
 * chunks, in parallel; memory for the groups only. An access counts once: in the window of time in which it begins, or in the first one
 * when it has begun earlier.
 */
public final class AccessGroups {
	/**
	 * A group.
	 *
	 * @param keys one value for each key: texts or numbers, null for not known
	 * @param records access records with reads or writes in this group
	 */
	public record Group(List<Object> keys, long records, long reads, long writes) {
	}

	/** More groups than these are refused. */
	public static final int MOST_GROUPS = 1_000_000;

	private final AccessTable table;
	private final List<Dimension> keys;
	private final List<DimensionValues> values;
	private final AccessQuery query;

	private AccessGroups(AccessTable table, AccessQuery query, List<Dimension> keys, long windowNs, Progress progress)
			throws MemtraceException {
		this.table = table;
		this.query = query;
		Question question = new Question(query.producerFrom(), Math.max(query.fromNs(), table.info().startNs()), windowNs, false);
		this.keys = keys.stream().map(k -> k.of(question)).toList();
		List<DimensionValues> all = new ArrayList<>();
		for (Dimension key : this.keys) {
			all.add(key.values(table, progress));
		}
		this.values = all;
	}

	/**
	 * Groups accesses.
	 *
	 * @param windowNs length of the windows of time, for a dimension that has such; the first begins with the trace, or with the filter's
	 *     window
	 * @return groups in the order of their keys
	 */
	public static List<Group> of(AccessTable table, AccessFilter filter, List<Dimension> keys, long windowNs, Progress progress)
			throws MemtraceException {
		return new AccessGroups(filter.select(table), filter.query(), keys, windowNs, progress).run(progress);
	}

	private Set<AccessColumn> columns() {
		EnumSet<AccessColumn> columns = EnumSet.of(AccessColumn.READS, AccessColumn.WRITES);
		if (isWindow()) {
			columns.add(AccessColumn.TIME);
		}
		keys.forEach(key -> columns.addAll(key.columns()));
		return columns;
	}

	private boolean isWindow() {
		return query.fromNs() > table.info().startNs() || query.toNs() < table.info().endNs();
	}

	/** The groups from sums that are saved with the trace; null when the accesses have to be read. */
	private GroupSums saved(Progress progress) throws MemtraceException {
		if (!keys.stream().allMatch(Dimension::isOfSums)) {
			return null;
		}
		boolean byTime = keys.stream().anyMatch(k -> k.columns().contains(AccessColumn.TIME));
		AccessCube.Rows rows = table.rows(query, false, byTime, progress);
		if (rows == null) {
			return null;
		}
		AccessChunk c = rows.chunk();
		Sums part = new Sums();
		part.values(c, 0, c.leaves);
		if (byTime) { // accesses of one sum may have begun at different times
			long[] starts = c.timeStartNs;
			long[][] earliest = Arrays.stream(part.value).map(v -> Arrays.copyOf(v, c.rows)).toArray(long[][]::new);
			c.timeStartNs = rows.latestStartNs();
			part.values(c, 0, c.leaves);
			c.timeStartNs = starts;
			for (int k = 0; k < earliest.length; k++) {
				if (!Arrays.equals(earliest[k], 0, c.rows, part.value[k], 0, c.rows)) {
					return null;
				}
			}
		}
		for (int row = 0; row < c.rows; row++) {
			part.row(c, row, rows.records().all()[row], rows.records().withReads()[row], rows.records().withWrites()[row]);
		}
		return part.sums;
	}

	private List<Group> run(Progress progress) throws MemtraceException {
		GroupSums all = saved(progress);
		if (all == null) {
			all = new GroupSums(keys.size(), MOST_GROUPS);
			for (Sums part : table.scan().run(query, columns(), "Groups", progress, (from, to) -> new Sums())) {
				all.addAll(part.sums);
			}
		}
		List<Group> result = new ArrayList<>();
		GroupSums sums = all;
		for (int group : sums.sorted()) {
			List<Object> labels = new ArrayList<>();
			for (int k = 0; k < keys.size(); k++) {
				labels.add(values.get(k).cell(sums.key(group, k)));
			}
			result.add(new Group(labels, sums.records(group), sums.reads(group), sums.writes(group)));
		}
		return result;
	}

	/** The groups of some pages. */
	private final class Sums implements AccessScan.Part {
		private final GroupSums sums = new GroupSums(keys.size(), MOST_GROUPS);
		/** Keys for which reads and writes are of different values. */
		private final int[] byDirection = IntStream.range(0, keys.size()).filter(k -> values.get(k).kind() == Kind.BY_DIRECTION)
				.toArray();
		private final long[][] value = new long[keys.size()][0];
		private final long[] group = new long[keys.size()];

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) throws MemtraceException {
			values(c, leafFrom, leafTo);
			boolean window = isWindow();
			int to = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < to; row++) {
				if (window && (c.startNs(row) >= query.toNs() || c.endNs(row) <= query.fromNs())) {
					continue;
				}
				row(c, row, 1, c.reads[row] > 0 ? 1 : 0, c.writes[row] > 0 ? 1 : 0);
			}
		}

		private void values(AccessChunk c, int leafFrom, int leafTo) {
			for (int k = 0; k < value.length; k++) {
				if (value[k].length < c.rows) {
					value[k] = new long[Math.max(c.rows, 2 * value[k].length)];
				}
				values.get(k).read(c, leafFrom, leafTo, value[k]);
			}
		}

		/** Adds a row that stands for some records, of which some have reads and some have writes. */
		private void row(AccessChunk c, int row, long records, long withReads, long withWrites) throws MemtraceException {
			for (int k = 0; k < group.length; k++) {
				group[k] = value[k][row];
			}
			if (byDirection.length == 0) {
				sums.add(group, records, c.reads[row], c.writes[row]);
				return;
			}
			if (withReads > 0) {
				sums.add(group, withReads, c.reads[row], 0);
			}
			if (withWrites > 0) {
				for (int k : byDirection) {
					group[k]++; // the value of writes follows that of reads
				}
				sums.add(group, withWrites, 0, c.writes[row]);
			}
		}
	}
}
