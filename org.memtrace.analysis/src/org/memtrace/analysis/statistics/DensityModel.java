// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues.Kind;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.place.NodeTimes;
import org.memtrace.aggregation.time.TimeBins;
import org.memtrace.analysis.dimension.Dimensions;
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
	/** Series that are told apart; the others are one. */
	public static final int MOST_SERIES = 12;
	private static final int CHECK_EVERY = 0x3ff;

	private final Sum sum;
	private final Dimension stack;
	private final TraceInfo info;
	private final long fromNs;
	private final long toNs;
	private final List<ModelType> series;
	/** By series, then bin. */
	private final double[][] value;
	private final double max;

	private DensityModel(Sum sum, Dimension stack, TraceInfo info, long fromNs, long toNs, List<ModelType> series, double[][] value) {
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

	/** Into what accesses can be divided: dimensions that have colours, and null for one series. */
	public static List<Dimension> stacksOfAccesses() {
		List<Dimension> all = new ArrayList<>();
		all.add(null);
		all.addAll(Dimensions.of(Use.COLOUR));
		return all;
	}

	/** Into what events can be divided; null for one series. */
	public static List<Dimension> stacksOfEvents() {
		List<Dimension> all = new ArrayList<>();
		all.add(null);
		all.addAll(Statistics.keysOfEvents());
		return all;
	}

	/** What accesses can be counted by: all sums, and the memory that is there. */
	public static List<Sum> sumsOfAccesses() {
		List<Sum> all = new ArrayList<>(Statistics.sumsOfAccesses());
		all.add(Sum.MEMORY);
		return all;
	}

	/** Into what a sum of accesses can be divided; null for one series. Memory is divided by where it is. */
	public static List<Dimension> stacksOf(Sum sum) {
		return sum == Sum.MEMORY ? Arrays.asList(BasicDimensions.NODE, null) : stacksOfAccesses();
	}

	/** What a list offers for a division; null is none. */
	public static String label(Dimension stack) {
		return stack == null ? "all as one" : "by " + stack.label();
	}

	/**
	 * Counts accesses.
	 *
	 * @param stack a dimension that has colours, null for one series
	 * @param producer root of the subtree, negative for all
	 * @param bins number of bins; fewer when the window has fewer nanoseconds
	 */
	public static DensityModel of(AccessTable table, Sum sum, Dimension stack, long fromNs, long toNs, int producer, int bins,
			Progress progress) throws MemtraceException {
		if (sum == Sum.MEMORY) {
			return memory(table, stack, fromNs, toNs, producer, bins, progress);
		}
		if (!sum.ofAccesses() || stack != null && (!stack.can(Use.COLOUR) || stack == BasicDimensions.EVENT_TYPE)) {
			throw new IllegalArgumentException(sum + " " + label(stack) + " of accesses");
		}
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES);
		DimensionValues values = stack == null ? null : stack.values(table, progress);
		int size = 0;
		BitSet told = null;
		int others = 0;
		if (stack != null) {
			columns.addAll(stack.columns());
			size = Math.toIntExact(values.size());
			if (size > MOST_COUNTED) { // only the strongest have bins
				told = new BitSet();
				List<Statistics.Item> items = Statistics.of(table, sum, stack, fromNs, toNs, producer, progress);
				items.stream().filter(i -> i.index() >= 0).sorted(Comparator.comparingDouble((Statistics.Item i) -> -i.value())).limit(MOST_SERIES - 1L)
						.mapToInt(Statistics.Item::index).forEach(told::set);
				others = items.size() - told.cardinality();
			}
		}
		Series series = new Series(sum, values, size, told);
		double[][] sums = new double[series.count()][];
		for (Histogram part : table.scan().run(table.query(producer, fromNs, toNs), columns, "Density", progress,
				(from, to) -> new Histogram(series, fromNs, toNs, new TimeBins(fromNs, toNs, bins)))) {
			for (int s = 0; s < sums.length; s++) {
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
		List<double[]> found = new ArrayList<>();
		for (int s = 0; s < sums.length; s++) {
			if (sums[s] != null) {
				types.add(values == null ? new ModelType(sum.label(table.info().counts()), ModelType.Role.THREAD, 0)
						: s < size ? values.type(s) : told == null ? new ModelType("unknown", ModelType.Role.UNKNOWN, 0) : others(others));
				found.add(sums[s]);
			}
		}
		return limited(sum, stack, table.info(), fromNs, toNs, types, found);
	}

	/** Mean bytes of each bin on each node, or on all nodes. */
	private static DensityModel memory(AccessTable table, Dimension stack, long fromNs, long toNs, int producer, int bins, Progress progress)
			throws MemtraceException {
		if (stack != null && stack != BasicDimensions.NODE) {
			throw new IllegalArgumentException("memory " + label(stack));
		}
		NodeTimes times = NodeTimes.of(table, NodeTimes.Locality.NONE, producer, fromNs, toNs, bins, progress);
		List<ModelType> types = new ArrayList<>();
		List<double[]> found = new ArrayList<>();
		DimensionValues values = stack == null ? null : stack.values(table, progress);
		for (int k = 0; k <= times.nodeCount(); k++) {
			int node = k < times.nodeCount() ? k : -1;
			double[] bytes = new double[times.bins()];
			Arrays.setAll(bytes, bin -> times.bytes(node, bin));
			if (stack == null && !found.isEmpty()) {
				double[] all = found.get(0);
				Arrays.setAll(all, bin -> all[bin] + bytes[bin]);
			} else if (stack == null || Arrays.stream(bytes).anyMatch(b -> b > 0)) {
				types.add(stack == null ? new ModelType(Sum.MEMORY.label(table.info().counts()), ModelType.Role.THREAD, 0)
						: node >= 0 ? values.type(node) : new ModelType("unknown", ModelType.Role.UNKNOWN, 0));
				found.add(bytes);
			}
		}
		if (stack == null && found.stream().allMatch(v -> Arrays.stream(v).allMatch(b -> b == 0))) {
			types.clear();
			found.clear();
		}
		return limited(Sum.MEMORY, stack, table.info(), fromNs, toNs, types, found);
	}

	/** Values for each of which bins are counted, before the strongest are chosen. */
	private static final int MOST_COUNTED = 256;

	/**
	 * In which series a row counts: that of its value, or the last one, of what is not known or not told apart.
	 *
	 * @param values null for one series
	 * @param told values that have a series; null for all
	 */
	private record Series(Sum sum, DimensionValues values, int size, BitSet told) {
		int count() {
			return size + 1;
		}

		int of(long value) {
			return value < 0 || value >= size || told != null && !told.get((int) value) ? size : (int) value;
		}
	}

	/** The bins of some pages. */
	private static final class Histogram implements AccessScan.Part {
		private final Series series;
		private final Kind kind;
		private final long fromNs;
		private final long toNs;
		private final TimeBins bins;
		private final double[][] sums;
		/** Sums by time of the chunk, of which there are few, by series. */
		private double[][] byTime;
		private long[] value = new long[0];

		Histogram(Series series, long fromNs, long toNs, TimeBins bins) {
			this.series = series;
			this.kind = series.values == null ? Kind.SINGLE : series.values.kind();
			this.fromNs = fromNs;
			this.toNs = toNs;
			this.bins = bins;
			sums = new double[series.count()][];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			boolean[] inside = new boolean[c.times];
			for (int i = 0; i < inside.length; i++) {
				inside[i] = c.timeStartNs[i] < toNs && c.timeEndNs[i] > fromNs;
			}
			if (value.length < c.rows) {
				value = new long[Math.max(c.rows, 2 * value.length)];
			}
			if (series.values != null) {
				series.values.read(c, leafFrom, leafTo, value);
			}
			byTime = new double[sums.length][];
			int end = c.leafFrom[leafTo];
			boolean byDirection = kind == Kind.BY_DIRECTION;
			for (int row = c.leafFrom[leafFrom]; row < end; row++) {
				int time = c.time[row];
				if (!inside[time]) {
					continue;
				}
				double reads = series.sum == Sum.WRITES ? 0 : c.reads[row];
				double writes = series.sum == Sum.READS ? 0 : c.writes[row];
				if (series.sum == Sum.RECORDS) {
					reads = byDirection && c.reads[row] == 0 ? 0 : 1;
					writes = byDirection && c.writes[row] > 0 ? 1 : 0;
				}
				if (byDirection) {
					add(series.of(value[row]), time, reads, c.times);
					add(series.of(value[row] + 1), time, writes, c.times);
				} else if (kind == Kind.SHARES) {
					int[] members = series.values.members(value[row]);
					if (members.length == 0) {
						add(series.size, time, reads + writes, c.times);
					}
					for (int member : members) {
						add(series.of(member), time, (reads + writes) / members.length, c.times);
					}
				} else {
					add(series.of(value[row]), time, reads + writes, c.times);
				}
			}
			for (int s = 0; s < sums.length; s++) {
				if (byTime[s] == null) {
					continue;
				}
				if (sums[s] == null) {
					sums[s] = new double[bins.count()];
				}
				for (int i = 0; i < c.times; i++) {
					if (byTime[s][i] != 0) {
						bins.add(sums[s], c.timeStartNs[i], c.timeEndNs[i], byTime[s][i], series.sum == Sum.RECORDS);
					}
				}
			}
		}

		private void add(int to, int time, double amount, int times) {
			if (amount != 0) {
				if (byTime[to] == null) {
					byTime[to] = new double[times];
				}
				byTime[to][time] += amount;
			}
		}

		@Override
		public void end() {
			byTime = null;
			value = null;
		}
	}

	/** What stands for series that are not told apart. */
	private static ModelType others(int count) {
		return new ModelType(count + " others", ModelType.Role.UNKNOWN, 0);
	}

	/** Counts events where they begin. */
	public static DensityModel of(EventTable table, Dimension stack, long fromNs, long toNs, int producer, int bins,
			Progress progress) throws CancelledException {
		ProducerTree tree = table.producers();
		int from = Math.max(0, producer);
		int to = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
		TimeBins b = new TimeBins(fromNs, toNs, bins);
		double[][] sums = new double[stack == BasicDimensions.EVENT_TYPE ? table.typeNames().size() : stack == null ? 1 : to - from][];
		progress.begin("Density", to - from);
		for (int id = from; id < to; id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
				progress.worked(CHECK_EVERY + 1);
			}
			for (int row = table.rowFrom(id); row < table.rowTo(id) && table.start(row) < toNs; row++) {
				long start = table.start(row);
				if (start >= fromNs) {
					int s = stack == BasicDimensions.EVENT_TYPE ? table.type(row) : stack == null ? 0 : id - from;
					if (sums[s] == null) {
						sums[s] = new double[b.count()];
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
				types.add(stack == BasicDimensions.EVENT_TYPE ? all.get(s) : new ModelType(stack == null ? "Events" : tree.name(from + s),
						ModelType.Role.OTHER, s));
				values.add(sums[s]);
			}
		}
		return limited(Sum.EVENTS, stack, table.info(), fromNs, toNs, types, values);
	}

	/** Keeps the series with most; the others are one. */
	private static DensityModel limited(Sum sum, Dimension stack, TraceInfo info, long fromNs, long toNs, List<ModelType> types,
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
			fewTypes.add(others(rest));
			fewValues.add(others);
			types = fewTypes;
			values = fewValues;
		}
		return new DensityModel(sum, stack, info, fromNs, toNs, types, values.toArray(double[][]::new));
	}

	/** What is counted, as the start of a line. */
	public String counted() {
		return sum.label(info.counts());
	}

	/** A value for a person. */
	public String text(double value) {
		return sum == Sum.MEMORY ? Units.bytes(Math.round(value)) : Units.count(value);
	}

	/** What each bin has, as the start of a line: what is counted, and in which time. */
	public String perBin() {
		String length = duration((double) (toNs - fromNs) / bins());
		return sum == Sum.MEMORY ? counted() + ", mean of " + length : counted() + " per " + length;
	}

	public Sum sum() {
		return sum;
	}

	/** Into what it is divided, null for one series. */
	public Dimension stack() {
		return stack;
	}

	/** Start of the trace, where times count from. */
	public long originNs() {
		return info.startNs();
	}

	/** Whether times are ticks of a logical clock. */
	public boolean isInTicks() {
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
