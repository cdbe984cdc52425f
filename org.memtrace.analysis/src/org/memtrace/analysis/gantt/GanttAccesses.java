// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.ModelType.Role;
import org.memtrace.aggregation.Parallel;
import org.memtrace.aggregation.Viewpoint;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;

/** A memory trace: each access record is a count that holds for its interval. */
final class GanttAccesses extends GanttSource {
	/** Sums by interval and slot that are made densely. */
	private static final int MAX_DENSE = 1 << 21;
	private static final int PARALLEL_FROM = 1 << 19;

	private final AccessTable table;
	private final Viewpoint viewpoint;
	private final int unknown;
	/** Position of each interval in order of start, and the intervals in that order. */
	private final int[] rank;
	private final int[] byRank;

	GanttAccesses(AccessTable table, Viewpoint viewpoint) {
		super(table.info(), table.producers(), types(table, viewpoint), table.size());
		this.table = table;
		this.viewpoint = viewpoint;
		this.unknown = types().size() - 1;
		int n = table.intervalCount();
		long[] starts = new long[n];
		for (int i = 0; i < n; i++) {
			starts[i] = table.intervalStart(i);
		}
		byRank = GanttSeries.order(starts);
		rank = new int[n];
		for (int r = 0; r < n; r++) {
			rank[byRank[r]] = r;
		}
	}

	private static List<GanttType> types(AccessTable table, Viewpoint viewpoint) {
		List<ModelType> list = new ArrayList<>();
		switch (viewpoint) {
		case SHARING, TYPE -> {
			list.add(new ModelType("Private_Read", Role.PRIVATE_READ, 0));
			list.add(new ModelType("Private_Write", Role.PRIVATE_WRITE, 0));
			list.add(new ModelType("Shared_Read", Role.SHARED_READ, 0));
			list.add(new ModelType("Shared_Write", Role.SHARED_WRITE, 0));
		}
		case READ_WRITE -> {
			list.add(new ModelType("Read", Role.READ, 0));
			list.add(new ModelType("Write", Role.WRITE, 0));
		}
		case THREAD -> {
			for (ThreadInfo thread : table.threads()) {
				list.add(ModelType.thread(thread));
			}
		}
		case CPU -> {
			for (int cpu = 0; cpu <= table.maxCpu(); cpu++) {
				list.add(ModelType.cpu(cpu));
			}
		}
		case NODE -> {
			for (int node = 0; node <= table.maxNode(); node++) {
				list.add(ModelType.node(node));
			}
		}
		}
		if (viewpoint == Viewpoint.THREAD || viewpoint == Viewpoint.CPU || viewpoint == Viewpoint.NODE) {
			list.add(new ModelType("unknown", Role.UNKNOWN, 0));
		}
		return list.stream().map(t -> new GanttType(t.name(), GanttType.Kind.ACCESS, t)).toList();
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
		return producer == producers().size() ? table.size() : table.rowFrom(producer);
	}

	@Override
	long start(int row) {
		return table.intervalStart(table.interval(row));
	}

	@Override
	long end(int row) {
		return table.intervalEnd(table.interval(row));
	}

	@Override
	void groupsOf(int row, Grouping grouping, BitSet groups) {
		switch (grouping) {
		case PRODUCER -> groups.set(ALL);
		case THREAD -> groups.set(threadGroup(row));
		case CPU -> {
			int[] cpus = table.cpus(row);
			for (int cpu : cpus) {
				groups.set(cpu);
			}
			if (cpus.length == 0) {
				groups.set(table.maxCpu() + 1);
			}
		}
		}
	}

	private int threadGroup(int row) {
		int thread = table.thread(row);
		return thread < 0 || thread >= table.threads().size() ? table.threads().size() : thread;
	}

	/** Share of a record that belongs to a group: one that saw several CPUs is divided among them. */
	private double share(int row, Grouping grouping, int group) {
		switch (grouping) {
		case THREAD:
			return threadGroup(row) == group ? 1 : 0;
		case CPU:
			int[] cpus = table.cpus(row);
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
		void add(int row, int slot, double amount);
	}

	@Override
	void event(int row, Grouping grouping, int group, Sink sink) {
		int interval = table.interval(row);
		long start = table.intervalStart(interval);
		long end = table.intervalEnd(interval);
		parts(row, grouping, group, (r, slot, amount) -> sink.event(r, start, end, slot, amount));
	}

	private void parts(int row, Grouping grouping, int group, Parts to) {
		double share = grouping == Grouping.PRODUCER ? 1 : share(row, grouping, group);
		if (share == 0) {
			return;
		}
		long reads = table.reads(row);
		long writes = table.writes(row);
		switch (viewpoint) {
		case SHARING, READ_WRITE, TYPE -> {
			int base = viewpoint != Viewpoint.READ_WRITE && table.shared(row) ? 2 : 0;
			if (reads > 0) {
				to.add(row, base, share * reads);
			}
			if (writes > 0) {
				to.add(row, base + 1, share * writes);
			}
		}
		case THREAD -> {
			int thread = table.thread(row);
			to.add(row, thread < 0 || thread >= unknown ? unknown : thread, share * ((double) reads + writes));
		}
		case NODE -> {
			int node = table.node(row);
			to.add(row, node < 0 || node >= unknown ? unknown : node, share * ((double) reads + writes));
		}
		case CPU -> {
			int[] cpus = table.cpus(row);
			double both = (double) reads + writes;
			if (cpus.length == 0) {
				to.add(row, unknown, both);
			} else if (grouping == Grouping.CPU) {
				to.add(row, group, share * both);
			} else {
				for (int cpu : cpus) {
					to.add(row, cpu, share * both / cpus.length);
				}
			}
		}
		}
	}

	@Override
	GanttSeries series(int producer, Grouping grouping, int group, Progress progress) throws CancelledException {
		int from = from(producer);
		int count = records(producer);
		int slots = slots();
		if ((long) rank.length * slots > MAX_DENSE || count < 4096 && count < rank.length) {
			// few records, or so many intervals that each record may have its own
			if (count <= GanttSeries.MAX_EXACT) {
				GanttSeries exact = GanttSeries.exact(count + count / 2, sink -> visit(producer, grouping, group, Long.MIN_VALUE,
						Long.MAX_VALUE, sink, progress));
				if (exact != null) {
					return joined(exact);
				}
			}
			return GanttSeries.binned(this, producer, grouping, group, info().startNs(), info().endNs(),
					GanttSeries.bins(slots), progress);
		}
		int parts = count < PARALLEL_FROM ? 1 : Math.min(8, Parallel.threads());
		Sums[] sums = new Sums[parts];
		Parallel.run(parts, progress, part -> {
			Sums s = new Sums(rank.length * slots);
			int to = from + (int) ((long) count * (part + 1) / parts);
			int at = from + (int) ((long) count * part / parts);
			while (at < to) {
				progress.check();
				int stop = (int) Math.min(to, at + 65536L);
				for (; at < stop; at++) {
					parts(at, grouping, group, s);
				}
			}
			sums[part] = s;
		});
		for (int i = 1; i < parts; i++) {
			sums[0].add(sums[i]);
		}
		GanttSeries exact = sums[0].series();
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

	/** Sums by interval (in order of start) and slot. */
	private final class Sums implements Parts {
		private final double[] amount;
		private final int[] records;

		Sums(int n) {
			amount = new double[n];
			records = new int[n];
		}

		@Override
		public void add(int row, int slot, double a) {
			int at = rank[table.interval(row)] * slots() + slot;
			amount[at] += a;
			records[at]++;
		}

		void add(Sums o) {
			for (int i = 0; i < amount.length; i++) {
				amount[i] += o.amount[i];
				records[i] += o.records[i];
			}
		}

		GanttSeries series() {
			int slots = slots();
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
					int interval = byRank[i / slots];
					start[at] = table.intervalStart(interval);
					end[at] = table.intervalEnd(interval);
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
