// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.memtrace.aggregation.AccessCursor;
import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.FewValues;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.time.AccessTimes;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;

/** A memory trace: each access record is a count that holds for its interval. */
final class GanttAccesses extends GanttSource {
	/** Sums by interval and slot that are made densely. */
	private static final int MAX_DENSE = 1 << 21;

	private static final Set<AccessColumn> COLUMNS = EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD, AccessColumn.CPU_SET,
			AccessColumn.READS, AccessColumn.WRITES, AccessColumn.SHARING, AccessColumn.NODE);

	private final AccessTable table;
	private final boolean byCpu;
	private final DimensionValues values;
	private final int unknown;
	private final long[] rowsBefore;
	/** All different times, in order of start; null when there are so many that a record may have its own. */
	private final AccessTimes times;
	/** A cursor for each thread. */
	private final ThreadLocal<AccessCursor> cursors;

	private GanttAccesses(AccessTable table, Dimension viewpoint, DimensionValues values, List<GanttType> types, long[] rowsBefore,
			AccessTimes times, ThreadLocal<AccessCursor> cursors) {
		super(table.info(), table.producers(), types, (int) rowsBefore[rowsBefore.length - 1]);
		this.table = table;
		this.byCpu = viewpoint == BasicDimensions.CPU;
		this.values = values;
		this.unknown = types.size() - 1;
		this.rowsBefore = rowsBefore;
		this.times = times;
		this.cursors = cursors;
	}

	static GanttAccesses make(AccessTable table, Dimension viewpoint, Progress progress) throws MemtraceException {
		if (table.records() > Integer.MAX_VALUE - 64) {
			throw new MemtraceException("the Gantt chart shows at most " + (Integer.MAX_VALUE - 64) + " accesses, but there are "
					+ table.records() + "; filters leave fewer");
		}
		DimensionValues values = FewValues.of(viewpoint, table, progress);
		List<GanttType> types = new ArrayList<>();
		for (long v = 0; v < values.size(); v++) {
			types.add(type(values.type(v)));
		}
		if (values.kind() != DimensionValues.Kind.BY_DIRECTION) {
			types.add(type(values.type(DimensionValues.UNKNOWN)));
		}
		int producers = table.producers().size();
		long[] rowsBefore = new long[producers + 1];
		for (int p = 0; p <= producers; p++) {
			rowsBefore[p] = table.rowsBefore(p, progress);
		}
		AccessTimes times = table.times(MAX_DENSE / types.size(), progress);
		EnumSet<AccessColumn> columns = EnumSet.copyOf(COLUMNS);
		columns.addAll(viewpoint.columns());
		AccessCursor first = table.cursor(columns, values, progress); // what it needs is made now, and can be cancelled
		ThreadLocal<AccessCursor> cursors = ThreadLocal.withInitial(first::another);
		return new GanttAccesses(table, viewpoint, values, types, rowsBefore, times, cursors);
	}

	private static GanttType type(ModelType type) {
		return new GanttType(type.name(), GanttType.Kind.ACCESS, type);
	}

	/** The row, for the thread that asks. */
	AccessCursor at(int row) {
		AccessCursor cursor = cursors.get();
		try {
			cursor.at(row);
		} catch (MemtraceException e) {
			throw new ReadFailedException(e);
		}
		return cursor;
	}

	AccessTable table() {
		return table;
	}

	@Override
	int slots() {
		return types().size();
	}

	@Override
	public int slotType(int slot) {
		return slot;
	}

	@Override
	int slotLayer(int slot) {
		return 0;
	}

	@Override
	public List<String> groups(Grouping grouping) {
		List<String> names = new ArrayList<>();
		switch (grouping) {
		case PRODUCER -> names.add("all");
		case THREAD -> {
			for (ThreadInfo thread : table.threads()) {
				names.add(ModelType.thread(thread).name());
			}
			names.add("no thread (kernel)");
		}
		case CPU -> {
			for (int cpu = 0; cpu <= table.maxCpu(); cpu++) {
				names.add("CPU " + cpu);
			}
			names.add("unknown CPU");
		}
		}
		return names;
	}

	@Override
	public boolean knows(Grouping grouping) {
		return switch (grouping) {
		case PRODUCER -> true;
		case THREAD -> !table.threads().isEmpty();
		case CPU -> table.maxCpu() >= 0;
		};
	}

	@Override
	int firstRow(int producer) {
		return (int) rowsBefore[producer];
	}

	@Override
	long start(int row) {
		return at(row).startNs();
	}

	@Override
	long end(int row) {
		return at(row).endNs();
	}

	@Override
	void groupsOf(int row, Grouping grouping, BitSet groups) {
		switch (grouping) {
		case PRODUCER -> groups.set(ALL);
		case THREAD -> groups.set(threadGroup(at(row).thread()));
		case CPU -> {
			int[] cpus = table.cpus(at(row).cpuSet());
			for (int cpu : cpus) {
				groups.set(cpu);
			}
			if (cpus.length == 0) {
				groups.set(table.maxCpu() + 1);
			}
		}
		}
	}

	private int threadGroup(int thread) {
		return thread < 0 || thread >= table.threads().size() ? table.threads().size() : thread;
	}

	/** Share of a record that belongs to a group: one that saw several CPUs is divided among them. */
	private double share(int thread, int cpuSet, Grouping grouping, int group) {
		switch (grouping) {
		case THREAD:
			return threadGroup(thread) == group ? 1 : 0;
		case CPU:
			int[] cpus = table.cpus(cpuSet);
			if (cpus.length == 0) {
				return group > table.maxCpu() ? 1 : 0;
			}
			for (int cpu : cpus) {
				if (cpu == group) {
					return 1.0 / cpus.length;
				}
			}
			return 0;
		default:
			return 1;
		}
	}

	/** One amount of a record. */
	@FunctionalInterface
	private interface Parts {
		void add(int slot, double amount);
	}

	@Override
	void event(int row, Grouping grouping, int group, GanttSink sink) {
		AccessCursor r = at(row);
		long start = r.startNs();
		long end = r.endNs();
		double share = grouping == Grouping.PRODUCER ? 1 : share(r.thread(), r.cpuSet(), grouping, group);
		parts(r.property(), r.reads(), r.writes(), share, grouping, group,
				(slot, amount) -> sink.event(row, start, end, slot, amount));
	}

	private void parts(long property, long reads, long writes, double share, Grouping grouping, int group, Parts to) {
		if (share == 0) {
			return;
		}
		double both = (double) reads + writes;
		switch (values.kind()) {
		case BY_DIRECTION -> {
			if (reads > 0) {
				to.add((int) property, share * reads);
			}
			if (writes > 0) {
				to.add((int) property + 1, share * writes);
			}
		}
		case SINGLE -> to.add(property < 0 || property >= unknown ? unknown : (int) property, share * both);
		case SHARES -> {
			int[] members = values.members(property);
			if (members.length == 0) {
				to.add(unknown, both);
			} else if (byCpu && grouping == Grouping.CPU) {
				to.add(group, share * both);
			} else {
				for (int member : members) {
					to.add(member, share * both / members.length);
				}
			}
		}
		}
	}

	@Override
	GanttSeries series(int producer, Grouping grouping, int group, Progress progress) throws MemtraceException {
		int count = records(producer);
		int slots = slots();
		if (times == null || count < 4096 && count < times.count()) {
			// few records, or so many times that each record may have its own
			if (count <= GanttSeries.MAX_EXACT) {
				GanttSeries exact = GanttSeries.exact(count + count / 2, sink -> visit(producer, grouping, group, Long.MIN_VALUE,
						Long.MAX_VALUE, sink, progress));
				if (exact != null) {
					return joined(exact);
				}
			}
			return binned(producer, grouping, group, info().startNs(), info().endNs(),
					GanttSeries.bins(slots), progress);
		}
		Sums all = null;
		for (Sums part : table.scan().run(table.query(producer, Long.MIN_VALUE, Long.MAX_VALUE), COLUMNS, "Gantt chart", progress,
				(from, to) -> new Sums(grouping, group))) {
			if (all == null) {
				all = part;
			} else {
				all.add(part);
			}
		}
		GanttSeries exact = all.series();
		return exact.size() <= GanttSeries.MAX_EXACT ? exact
				: GanttSeries.binned(slots, info().startNs(), info().endNs(), GanttSeries.bins(slots), sink -> {
					for (int i = 0; i < exact.size(); i++) {
						sink.event(0, exact.start[i], exact.end[i], exact.slot[i], exact.amount[i]);
					}
				});
	}

	/** Cells of the same time and slot become one. */
	private GanttSeries joined(GanttSeries s) {
		int n = s.size();
		long[] start = new long[n];
		long[] end = new long[n];
		short[] slot = new short[n];
		double[] amount = new double[n];
		int[] records = new int[n];
		int count = 0;
		int sameFrom = 0;
		for (int i = 0; i < n; i++) {
			if (count > 0 && start[count - 1] != s.start[i]) {
				sameFrom = count;
			}
			int at = sameFrom;
			while (at < count && (slot[at] != s.slot[i] || end[at] != s.end[i])) {
				at++;
			}
			if (at == count) {
				start[at] = s.start[i];
				end[at] = s.end[i];
				slot[at] = s.slot[i];
				count++;
			}
			amount[at] += s.amount[i];
			records[at]++;
		}
		return new GanttSeries(Arrays.copyOf(start, count), Arrays.copyOf(end, count), Arrays.copyOf(slot, count),
				Arrays.copyOf(amount, count), Arrays.copyOf(records, count), 0);
	}

	/** Sums by time (in order of start) and slot. */
	private final class Sums implements Parts, AccessScan.Part {
		private final Grouping grouping;
		private final int group;
		private final int slots = slots();
		private double[] amount = new double[0];
		private int[] records = new int[0];
		private long[] property = new long[0];
		private int time;

		Sums(Grouping grouping, int group) {
			this.grouping = grouping;
			this.group = group;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			if (amount.length == 0) {
				amount = new double[times.count() * slots];
				records = new int[times.count() * slots];
			}
			int[] number = times.of(c);
			if (property.length < c.rows) {
				property = new long[c.time.length];
			}
			values.read(c, leafFrom, leafTo, property);
			int to = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < to; row++) {
				time = number[c.time[row]];
				parts(property[row], c.reads[row], c.writes[row], share(c.thread[row], c.cpuSet[row], grouping, group), grouping,
						group, this);
			}
		}

		@Override
		public void end() {
			property = null;
		}

		@Override
		public void add(int slot, double a) {
			int at = time * slots + slot;
			amount[at] += a;
			records[at]++;
		}

		void add(Sums o) {
			if (amount.length == 0) {
				amount = o.amount;
				records = o.records;
				return;
			}
			for (int i = 0; i < o.amount.length; i++) {
				amount[i] += o.amount[i];
				records[i] += o.records[i];
			}
		}

		GanttSeries series() {
			int n = 0;
			for (int r : records) {
				n += r > 0 ? 1 : 0;
			}
			long[] start = new long[n];
			long[] end = new long[n];
			short[] slot = new short[n];
			double[] sum = new double[n];
			int[] count = new int[n];
			int at = 0;
			for (int i = 0; i < records.length; i++) {
				if (records[i] > 0) {
					start[at] = times.startNs(i / slots);
					end[at] = times.endNs(i / slots);
					slot[at] = (short) (i % slots);
					sum[at] = amount[i];
					count[at++] = records[i];
				}
			}
			return new GanttSeries(start, end, slot, sum, count, 0);
		}
	}

	@Override
	int[] linkRows() {
		return new int[0];
	}

	@Override
	int linkEnd(int row) {
		return -1;
	}

	@Override
	int linkType(int row) {
		return -1;
	}
}
