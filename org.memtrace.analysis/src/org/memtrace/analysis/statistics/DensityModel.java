// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.EventTable;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.tree.ProducerTree;

/**
 * How much happens when: a histogram of a window over equal bins, as one series or divided into several that are stacked. The
 * accesses of a record are spread evenly over its time; a record, and an event, counts where it begins. Immutable.
 */
public final class DensityModel {
	/** Into what it is divided. */
	public enum Stack {
		NONE("all as one"), TYPE("by type"),
		/** By thread; by producer for events of traces of other origin. */
		THREAD("by thread"), PRODUCER("by producer");

		private final String label;

		Stack(String label) {
			this.label = label;
		}

		public String label() {
			return label;
		}
	}

	/** Series that are told apart; the others are one. */
	public static final int MOST_SERIES = 12;
	private static final int CHECK_EVERY = 0x3ff;

	private final Sum sum;
	private final Stack stack;
	private final TraceInfo info;
	private final long fromNs;
	private final long toNs;
	private final List<ModelType> series;
	/** By series, then bin. */
	private final double[][] value;
	private final double max;

	private DensityModel(Sum sum, Stack stack, TraceInfo info, long fromNs, long toNs, List<ModelType> series, double[][] value) {
		this.sum = sum;
		this.stack = stack;
		this.info = info;
		this.fromNs = fromNs;
		this.toNs = toNs;
		this.series = List.copyOf(series);
		this.value = value;
		double most = 0;
		for (int bin = 0; bin < bins(); bin++) {
			most = Math.max(most, total(bin));
		}
		this.max = most;
	}

	/**
	 * Counts accesses.
	 *
	 * @param producer root of the subtree, negative for all
	 * @param bins number of bins; fewer when the window has fewer nanoseconds
	 */
	public static DensityModel of(AccessTable table, Sum sum, Stack stack, long fromNs, long toNs, int producer, int bins,
			Progress progress) throws MemtraceException {
		if (!sum.ofAccesses()) {
			throw new IllegalArgumentException("accesses have no " + sum);
		}
		int n = switch (stack) {
		case NONE, PRODUCER -> 1;
		case TYPE -> 4;
		case THREAD -> table.threads().size() + 1;
		};
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES);
		if (stack == Stack.TYPE) {
			columns.add(AccessColumn.SHARING);
		} else if (stack == Stack.THREAD) {
			columns.add(AccessColumn.THREAD);
		}
		double[][] sums = new double[n][];
		for (Histogram part : table.scan().run(table.query(producer, fromNs, toNs), columns, "Density", progress,
				(from, to) -> new Histogram(sum, stack, n, fromNs, toNs, new Bins(fromNs, toNs, bins)))) {
			for (int s = 0; s < n; s++) {
				if (sums[s] == null) {
					sums[s] = part.sums[s];
				} else if (part.sums[s] != null) {
					for (int i = 0; i < sums[s].length; i++) {
						sums[s][i] += part.sums[s][i];
					}
				}
			}
		}
		List<ModelType> types = new ArrayList<>();
		List<double[]> values = new ArrayList<>();
		for (int s = 0; s < n; s++) {
			if (sums[s] == null) {
				continue;
			}
			types.add(switch (stack) {
			case TYPE -> new ModelType(AccessFilter.TYPES[s], Statistics.TYPE_ROLES[s], 0);
			case THREAD -> s == n - 1 ? new ModelType("unknown", ModelType.Role.UNKNOWN, 0)
					: ModelType.thread(table.threads().get(s));
			default -> new ModelType(sum.label(table.info().counts()), ModelType.Role.THREAD, 0);
			});
			values.add(sums[s]);
		}
		return limited(sum, stack, table.info(), fromNs, toNs, types, values);
	}

	/** The bins of some pages. */
	private static final class Histogram implements AccessScan.Part {
		private final Sum sum;
		private final Stack stack;
		private final int n;
		private final long fromNs;
		private final long toNs;
		private final Bins bins;
		private final double[][] sums;
		/** Sums by time of the chunk, of which there are few, by series. */
		private double[][] byTime;

		Histogram(Sum sum, Stack stack, int n, long fromNs, long toNs, Bins bins) {
			this.sum = sum;
			this.stack = stack;
			this.n = n;
			this.fromNs = fromNs;
			this.toNs = toNs;
			this.bins = bins;
			sums = new double[n][];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			boolean[] inside = new boolean[c.times];
			for (int i = 0; i < inside.length; i++) {
				inside[i] = c.timeStartNs[i] < toNs && c.timeEndNs[i] > fromNs;
			}
			byTime = new double[n][];
			int end = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < end; row++) {
				int time = c.time[row];
				if (!inside[time]) {
					continue;
				}
				double reads = sum == Sum.WRITES ? 0 : c.reads[row];
				double writes = sum == Sum.READS ? 0 : c.writes[row];
				if (sum == Sum.RECORDS) {
					reads = stack == Stack.TYPE && c.reads[row] == 0 ? 0 : 1;
					writes = stack == Stack.TYPE && c.writes[row] > 0 ? 1 : 0;
				}
				if (stack == Stack.TYPE) {
					int base = c.sharing[row] > 1 ? 2 : 0;
					add(base, time, reads, c.times);
					add(base + 1, time, writes, c.times);
				} else {
					int thread = stack == Stack.THREAD ? c.thread[row] : 0;
					add(thread < 0 || thread >= n ? n - 1 : thread, time, reads + writes, c.times);
				}
			}
			for (int s = 0; s < n; s++) {
				if (byTime[s] == null) {
					continue;
				}
				if (sums[s] == null) {
					sums[s] = new double[bins.count];
				}
				for (int i = 0; i < c.times; i++) {
					if (byTime[s][i] != 0) {
						bins.add(sums[s], c.timeStartNs[i], c.timeEndNs[i], byTime[s][i], sum == Sum.RECORDS);
					}
				}
			}
		}

		private void add(int series, int time, double amount, int times) {
			if (amount != 0) {
				if (byTime[series] == null) {
					byTime[series] = new double[times];
				}
				byTime[series][time] += amount;
			}
		}

		@Override
		public void end() {
			byTime = null;
		}
	}

	/** Counts events where they begin. */
	public static DensityModel of(EventTable table, Stack stack, long fromNs, long toNs, int producer, int bins,
			Progress progress) throws CancelledException {
		ProducerTree tree = table.producers();
		int from = Math.max(0, producer);
		int to = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
		Bins b = new Bins(fromNs, toNs, bins);
		double[][] sums = new double[stack == Stack.TYPE ? table.typeNames().size() : stack == Stack.NONE ? 1 : to - from][];
		progress.begin("Density", to - from);
		for (int id = from; id < to; id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
				progress.worked(CHECK_EVERY + 1);
			}
			for (int row = table.rowFrom(id); row < table.rowTo(id) && table.start(row) < toNs; row++) {
				long start = table.start(row);
				if (start >= fromNs) {
					int s = stack == Stack.TYPE ? table.type(row) : stack == Stack.NONE ? 0 : id - from;
					if (sums[s] == null) {
						sums[s] = new double[b.count];
					}
					sums[s][b.of(start)]++;
				}
			}
		}
		List<ModelType> all = ModelType.ofEvents(table.typeNames());
		List<ModelType> types = new ArrayList<>();
		List<double[]> values = new ArrayList<>();
		for (int s = 0; s < sums.length; s++) {
			if (sums[s] != null) {
				types.add(stack == Stack.TYPE ? all.get(s) : new ModelType(stack == Stack.NONE ? "Events" : tree.name(from + s),
						ModelType.Role.OTHER, s));
				values.add(sums[s]);
			}
		}
		return limited(Sum.EVENTS, stack, table.info(), fromNs, toNs, types, values);
	}

	/** Keeps the series with most; the others are one. */
	private static DensityModel limited(Sum sum, Stack stack, TraceInfo info, long fromNs, long toNs, List<ModelType> types,
			List<double[]> values) {
		if (types.size() > MOST_SERIES) {
			Integer[] order = new Integer[types.size()];
			double[] all = new double[order.length];
			for (int i = 0; i < order.length; i++) {
				order[i] = i;
				all[i] = Arrays.stream(values.get(i)).sum();
			}
			Arrays.sort(order, Comparator.comparingDouble((Integer i) -> -all[i]));
			List<Integer> kept = new ArrayList<>(Arrays.asList(order).subList(0, MOST_SERIES - 1));
			kept.sort(null);
			double[] others = new double[values.get(0).length];
			for (int i = MOST_SERIES - 1; i < order.length; i++) {
				double[] v = values.get(order[i]);
				for (int bin = 0; bin < others.length; bin++) {
					others[bin] += v[bin];
				}
			}
			int rest = order.length - kept.size();
			List<ModelType> fewTypes = new ArrayList<>();
			List<double[]> fewValues = new ArrayList<>();
			for (int i : kept) {
				fewTypes.add(types.get(i));
				fewValues.add(values.get(i));
			}
			fewTypes.add(new ModelType(rest + " others", ModelType.Role.UNKNOWN, 0));
			fewValues.add(others);
			types = fewTypes;
			values = fewValues;
		}
		return new DensityModel(sum, stack, info, fromNs, toNs, types, values.toArray(double[][]::new));
	}

	/** Equal bins; bounds are whole nanoseconds. */
	private static final class Bins {
		final long from;
		final long length;
		final int count;

		Bins(long from, long to, int wanted) {
			this.from = from;
			this.length = to - from;
			this.count = (int) Math.max(1, Math.min(wanted, length));
		}

		long bound(int bin) {
			return from + (long) ((double) length * bin / count);
		}

		int of(long ns) {
			int bin = (int) Math.min(count - 1, (double) (ns - from) * count / length);
			while (bin + 1 < count && bound(bin + 1) <= ns) {
				bin++;
			}
			while (bin > 0 && bound(bin) > ns) {
				bin--;
			}
			return bin;
		}

		/** @param atStart whether the amount counts where the time begins, in the first bin when that was earlier */
		void add(double[] sums, long start, long end, double amount, boolean atStart) {
			int first = of(Math.max(start, from));
			if (atStart || end <= start) {
				sums[first] += amount;
				return;
			}
			double perNs = amount / (end - start);
			for (int bin = first; bin < count && bound(bin) < end; bin++) {
				sums[bin] += perNs * Math.max(0, Math.min(end, bound(bin + 1)) - Math.max(start, bound(bin)));
			}
		}
	}

	/** What is counted, as the start of a line. */
	public String counted() {
		return sum.label(info.counts());
	}

	public Sum sum() {
		return sum;
	}

	public Stack stack() {
		return stack;
	}

	/** Start of the trace, where times count from. */
	public long originNs() {
		return info.startNs();
	}

	/** Whether times are ticks of a logical clock. */
	boolean isInTicks() {
		return info.isInTicks();
	}

	/** A length of time for a person. */
	public String duration(double time) {
		return Units.duration(info, time);
	}

	public long fromNs() {
		return fromNs;
	}

	public long toNs() {
		return toNs;
	}

	/** What is stacked, from below. */
	public List<ModelType> series() {
		return series;
	}

	/** Number of bins; 1 when there is nothing. */
	public int bins() {
		return value.length == 0 ? 1 : value[0].length;
	}

	/** Start of a bin. */
	public long boundNs(int bin) {
		return fromNs + (long) ((double) (toNs - fromNs) * bin / bins());
	}

	public double value(int whichSeries, int bin) {
		return value[whichSeries][bin];
	}

	/** All series of a bin. */
	public double total(int bin) {
		double t = 0;
		for (double[] v : value) {
			t += v[bin];
		}
		return t;
	}

	/** Largest total of a bin. */
	public double max() {
		return max;
	}

	/** A line for each bin, a column for each series; times in the unit of the trace. */
	public String toCsv() {
		StringBuilder b = new StringBuilder(info.timeUnit().column("from_ns") + "," + info.timeUnit().column("to_ns"));
		series.forEach(s -> b.append(',').append(Csv.cell(s.name().toLowerCase(Locale.ROOT))));
		b.append('\n');
		for (int bin = 0; bin < bins(); bin++) {
			b.append(boundNs(bin)).append(',').append(boundNs(bin + 1));
			for (double[] v : value) {
				b.append(',').append(Csv.number(v[bin]));
			}
			b.append('\n');
		}
		return b.toString();
	}
}
