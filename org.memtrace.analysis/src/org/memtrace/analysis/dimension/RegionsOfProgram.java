// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.Regions;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/**
 * The innermost region of the program in the middle of the time of an access: of those of its thread or, when this thread never was in one,
 * of those of the first thread of its image that was.
 */
final class RegionsOfProgram extends Dimension {
	RegionsOfProgram() {
		super("region", "Region", "Regions of the program", Type.TEXT,
				"innermost region that the program named with memtrace_begin(), or state of a joined trace, of the thread or else of the first thread"
						+ " that has one", Use.ALL);
	}

	@Override
	public Set<AccessColumn> columns() {
		return EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD);
	}

	/** Which region is the innermost one from each bound on. */
	private record Line(long[] bound, int[] value) {
		static Line of(List<Regions.Region> regions, Map<String, Integer> values) {
			TreeSet<Long> cuts = new TreeSet<>();
			regions.forEach(r -> cuts.addAll(List.of(r.fromNs(), r.toNs())));
			long[] bound = cuts.stream().mapToLong(Long::longValue).toArray();
			int[] value = new int[bound.length];
			Arrays.fill(value, (int) DimensionValues.UNKNOWN);
			// outer ones come first, and inner ones over them
			List<Regions.Region> order = new ArrayList<>(regions);
			order.sort(Comparator.comparingLong(Regions.Region::fromNs).thenComparing(Regions.Region::toNs, Comparator.reverseOrder()));
			for (Regions.Region r : order) {
				int from = Arrays.binarySearch(bound, r.fromNs());
				int to = Arrays.binarySearch(bound, r.toNs());
				Arrays.fill(value, from, Math.max(from, to), values.get(r.name()));
			}
			return new Line(bound, value);
		}

		int at(long ns) {
			int i = Arrays.binarySearch(bound, ns);
			int at = i >= 0 ? i : -i - 2;
			return at < 0 ? (int) DimensionValues.UNKNOWN : value[at];
		}
	}

	@Override
	public DimensionValues values(AccessTable table, Progress progress) throws MemtraceException {
		byte[] note = table.store().readNote(Regions.NOTE).orElse(null);
		Regions regions = note == null ? Regions.NONE : Regions.parse(note);
		List<String> names = regions.names();
		Map<String, Integer> values = new HashMap<>();
		names.forEach(n -> values.put(n, values.size()));
		Map<String, List<Regions.Region>> byTask = new HashMap<>();
		Map<Integer, String> firstTask = new HashMap<>();
		for (Regions.Region r : regions.all()) {
			String task = r.image() + " " + r.taskId();
			byTask.computeIfAbsent(task, t -> new ArrayList<>()).add(r);
			firstTask.putIfAbsent(r.image(), task);
		}
		Map<String, Line> lines = new HashMap<>();
		byTask.forEach((task, list) -> lines.put(task, Line.of(list, values)));
		List<ThreadInfo> threads = table.threads();
		Line[] ofThread = new Line[threads.size()];
		for (int t = 0; t < ofThread.length; t++) {
			ThreadInfo thread = threads.get(t);
			Line own = lines.get(thread.image() + " " + thread.taskId());
			ofThread[t] = own != null ? own : lines.get(firstTask.get(thread.image()));
		}
		return new NamedValues(names) {
			@Override
			public void read(AccessChunk c, int leafFrom, int leafTo, long[] out) {
				for (int row = c.leafFrom[leafFrom]; row < c.leafFrom[leafTo]; row++) {
					int thread = c.thread[row];
					Line line = thread < 0 || thread >= ofThread.length ? null : ofThread[thread];
					long start = c.timeStartNs[c.time[row]];
					out[row] = line == null ? UNKNOWN : line.at(start + (c.timeEndNs[c.time[row]] - start) / 2);
				}
			}
		};
	}
}
