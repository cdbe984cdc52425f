// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.model;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.base.SavedNumbers;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * Values v[leaf][slice][type] of a hierarchy over a window of time: the input of every aggregation and of every picture.
 * Stored sparse, by leaf: only cells that are not 0 take memory (12 bytes each). Immutable and safe for all threads.
 */
public final class MicroscopicModel {
	/** Where the parts of a machine are in a model. */
	public enum Places {
		/** Rows are memory, columns are time. */
		NONE,
		/** Rows are CPUs, columns are time. */
		ROWS,
		/** Rows are memory, columns are CPUs: slices of length 1. */
		COLUMNS
	}

	private final Hierarchy hierarchy;
	private final Places places;
	private final TimeSlices slices;
	private final List<ModelType> types;
	private final Metric metric;
	private final Dimension viewpoint;
	/** Cells of leaf l are [cellFrom[l], cellFrom[l + 1]), by increasing key. */
	private final int[] cellFrom;
	/** slice * K + type. */
	private final int[] cellKey;
	private final double[] cellValue;
	private final boolean negative;
	/** Only for {@link Metric#STATE_MEAN}, else null. */
	private final StateCounts counts;
	/**
	 * Of a grouped hierarchy, else null: sum of f(v) over the pages that a value stands for. Values of several leaves are at the first one of
	 * them; these are in {@link #groupStart}, and each group of the hierarchy is one or several of them.
	 */
	private final double[] information;
	private final BitSet groupStart;
	/** Type of each key, null when there are many keys. */
	private final char[] typeOfKey;
	private volatile Densities densities;
	private volatile SumIndex sumIndex;

	public MicroscopicModel(Hierarchy hierarchy, TimeSlices slices, List<ModelType> types, Metric metric,
			Dimension viewpoint, int[] cellFrom, int[] cellKey, double[] cellValue) {
		this(hierarchy, slices, types, metric, viewpoint, cellFrom, cellKey, cellValue, null);
	}

	public MicroscopicModel(Hierarchy hierarchy, TimeSlices slices, List<ModelType> types, Metric metric,
			Dimension viewpoint, int[] cellFrom, int[] cellKey, double[] cellValue, StateCounts counts) {
		this(hierarchy, slices, types, metric, viewpoint, cellFrom, cellKey, cellValue, counts, null, null);
	}

	/** With values of groups. */
	public MicroscopicModel(Hierarchy hierarchy, TimeSlices slices, List<ModelType> types, Metric metric,
			Dimension viewpoint, int[] cellFrom, int[] cellKey, double[] cellValue, StateCounts counts, double[] information, BitSet groupStart) {
		this(hierarchy, slices, types, metric, viewpoint, cellFrom, cellKey, cellValue, counts, information, groupStart, Places.NONE);
	}

	private MicroscopicModel(Hierarchy hierarchy, TimeSlices slices, List<ModelType> types, Metric metric,
			Dimension viewpoint, int[] cellFrom, int[] cellKey, double[] cellValue, StateCounts counts, double[] information, BitSet groupStart,
			Places places) {
		this.places = places;
		if (information == null && hierarchy.isGrouped()) {
			throw new IllegalArgumentException("values of groups need their information");
		}
		this.information = information;
		this.groupStart = groupStart;
		this.counts = counts;
		this.hierarchy = hierarchy;
		this.slices = slices;
		this.types = List.copyOf(types);
		this.metric = metric;
		this.viewpoint = viewpoint;
		this.cellFrom = cellFrom;
		this.cellKey = cellKey;
		this.cellValue = cellValue;
		boolean anyNegative = false;
		for (int i = 0; i < cellFrom[cellFrom.length - 1]; i++) {
			if (!Double.isFinite(cellValue[i])) {
				throw new IllegalArgumentException("value of cell " + i + " is " + cellValue[i]);
			}
			anyNegative |= cellValue[i] < 0;
		}
		this.negative = anyNegative;
		int keys = (int) Math.min(MOST_KEYS + 1L, (long) slices.count() * types.size());
		this.typeOfKey = keys > MOST_KEYS ? null : new char[keys];
		for (int key = 0; key < keys && typeOfKey != null; key++) {
			typeOfKey[key] = (char) (key % types.size());
		}
	}

	/** The same values, of which rows or columns are CPUs. */
	public MicroscopicModel with(Places where) {
		return new MicroscopicModel(hierarchy, slices, types, metric, viewpoint, cellFrom, cellKey, cellValue, counts, information, groupStart,
				where);
	}

	/** A model of the same rows, slices and types with other values. */
	MicroscopicModel withCells(Appender cells) {
		int n = cells.count();
		return new MicroscopicModel(hierarchy, slices, types, metric, viewpoint, cells.from, Arrays.copyOf(cells.key, n),
				Arrays.copyOf(cells.value, n), counts, information == null ? null
						: cells.information == null ? new double[n] : Arrays.copyOf(cells.information, n), groupStart, places);
	}

	/** Where the parts of a machine are. */
	public Places places() {
		return places;
	}

	private static final int MOST_KEYS = 1 << 16;
	private static final int MOST_SAMPLES = 50_000;

	/**
	 * A model from a full array.
	 *
	 * @param values values[leaf][slice][type]
	 */
	public static MicroscopicModel ofDense(Hierarchy hierarchy, TimeSlices slices, List<ModelType> types, Metric metric,
			Dimension viewpoint, double[][][] values) {
		Appender cells = new Appender(hierarchy.leafCount());
		int k = types.size();
		for (int leaf = 0; leaf < hierarchy.leafCount(); leaf++) {
			for (int t = 0; t < slices.count(); t++) {
				for (int x = 0; x < k; x++) {
					if (values[leaf][t][x] != 0) {
						cells.add(t * k + x, values[leaf][t][x]);
					}
				}
			}
			cells.endLeaf();
		}
		return cells.model(hierarchy, slices, types, metric, viewpoint);
	}

	/** Grows the columns of a range of leaves, leaf by leaf. */
	public static final class Appender {
		public final int[] from;
		public int[] key = new int[64];
		public double[] value = new double[64];
		/** Null unless the hierarchy is grouped. */
		public double[] information;
		private int leaf;
		private int count;

		public Appender(int leaves) {
			from = new int[leaves + 1];
		}

		public void add(int cellKey, double v) {
			if (count == key.length) {
				int grown = Math.toIntExact(Math.min(Integer.MAX_VALUE - 16L, count + (count >> 1) + 64L));
				key = Arrays.copyOf(key, grown);
				value = Arrays.copyOf(value, grown);
			}
			key[count] = cellKey;
			value[count++] = v;
		}

		/** Adds the value of a group. */
		public void add(int cellKey, double v, double i) {
			add(cellKey, v);
			if (information == null || information.length < value.length) {
				information = information == null ? new double[value.length] : Arrays.copyOf(information, value.length);
			}
			information[count - 1] = i;
		}

		public void endLeaf() {
			from[++leaf] = count;
		}

		public int count() {
			return count;
		}

		/** The model of what was appended; the columns get their exact length. */
		public MicroscopicModel model(Hierarchy hierarchy, TimeSlices slices, List<ModelType> types, Metric metric,
				Dimension viewpoint) {
			return new MicroscopicModel(hierarchy, slices, types, metric, viewpoint, from, Arrays.copyOf(key, count),
					Arrays.copyOf(value, count));
		}
	}

	public Hierarchy hierarchy() {
		return hierarchy;
	}

	public TimeSlices slices() {
		return slices;
	}

	/** T. */
	public int sliceCount() {
		return slices.count();
	}

	public List<ModelType> types() {
		return types;
	}

	/** K. */
	public int typeCount() {
		return types.size();
	}

	/** What the values count. */
	public Metric metric() {
		return metric;
	}

	/** What the types stand for; null when the model was not made from accesses. */
	public Dimension viewpoint() {
		return viewpoint;
	}

	/** Number of (leaf, slice) cells, the finest partition. */
	public long cellCount() {
		return hierarchy.weight(0) * slices.count();
	}

	/** Number of values that are not 0. */
	public int valueCount() {
		return cellFrom[cellFrom.length - 1];
	}

	/** Bytes of the columns. */
	public long memoryBytes() {
		return 4L * cellFrom.length + 4L * cellKey.length + 8L * cellValue.length
				+ (counts == null ? 0 : 16L * cellKey.length) + (information == null ? 0 : 8L * information.length);
	}

	/** Whether some value is below 0; see docs/how/aggregation.md for how they are aggregated. */
	public boolean hasNegativeValues() {
		return negative;
	}

	/** First value of a leaf, an index for {@link #key} and {@link #value(int)}. */
	public int cellFrom(int leaf) {
		return cellFrom[leaf];
	}

	public int cellTo(int leaf) {
		return cellFrom[leaf + 1];
	}

	public int key(int cell) {
		return cellKey[cell];
	}

	public double value(int cell) {
		return cellValue[cell];
	}

	/** Writes a grouped model, but for what {@link #read} is given. */
	public void write(SavedNumbers.Out out) {
		long[] bounds = new long[slices.count() + 1];
		Arrays.setAll(bounds, slices::boundNs);
		int[] starts = groupStart.stream().toArray();
		long[] counts = new long[starts.length];
		Arrays.setAll(counts, i -> cellFrom[starts[i] + 1] - cellFrom[starts[i]]);
		int n = valueCount();
		out.deltas(bounds, bounds.length).unsigned(slices.isUniform() ? 1 : 0).unsigned(hierarchy.leafCount()).deltas(starts, starts.length)
				.unsigned(counts, counts.length).deltas(cellKey, n).doubles(cellValue, n).doubles(information, n);
	}

	public static MicroscopicModel read(SavedNumbers.In in, Hierarchy hierarchy, List<ModelType> types, Metric metric, Dimension viewpoint)
			throws SavedNumbers.Damaged {
		long[] bounds = in.deltaLongs();
		boolean uniform = in.unsigned() == 1;
		int leaves = in.count(Integer.MAX_VALUE);
		int[] starts = in.deltaInts();
		long[] counts = in.unsignedLongs();
		int[] key = in.deltaInts();
		double[] value = in.doubles();
		double[] information = in.doubles();
		if (bounds.length < 2 || leaves != hierarchy.leafCount() || starts.length != counts.length || value.length != key.length
				|| information.length != key.length) {
			throw new SavedNumbers.Damaged("columns do not fit together");
		}
		int[] from = new int[leaves + 1];
		BitSet groups = new BitSet();
		int at = 0;
		int group = 0;
		for (int leaf = 0; leaf < leaves; leaf++) {
			if (group < starts.length && starts[group] == leaf) {
				groups.set(leaf);
				at += (int) counts[group++];
			}
			from[leaf + 1] = at;
		}
		if (group != starts.length || at != key.length || Arrays.stream(key).anyMatch(k -> k < 0 || k >= (bounds.length - 1) * types.size())) {
			throw new SavedNumbers.Damaged("columns do not fit together");
		}
		TimeSlices slices = uniform ? new TimeSlices(bounds[0], bounds[bounds.length - 1], bounds.length - 1) : TimeSlices.of(bounds);
		return new MicroscopicModel(hierarchy, slices, types, metric, viewpoint, from, key, value, null, information, groups);
	}

	/** Whether values stand for groups of pages. */
	public boolean isGrouped() {
		return information != null;
	}

	/** Sum of f(a v) over the pages that a value of a grouped model stands for: a times that of f(v), plus a log2 a times that of v. */
	public double information(int cell, double a) {
		return a == 1 ? information[cell] : a * (information[cell] + cellValue[cell] * Entropy.log2(a));
	}

	/** Number of rows that the values at a leaf stand for. */
	private long rowsAt(int leaf) {
		if (groupStart == null) {
			return hierarchy.leafWeight(leaf);
		}
		int next = groupStart.nextSetBit(leaf + 1);
		return hierarchy.weight(leaf, next < 0 ? hierarchy.leafCount() : next);
	}

	/** @throws IllegalStateException when values stand for groups: then nothing is known of single pages */
	public void requirePages() {
		if (information != null) {
			throw new IllegalStateException("a model of groups has no values of pages");
		}
	}

	/** Type of a cell; a division less than {@code key(cell) % typeCount()}. */
	public int type(int cell) {
		return typeOfKey != null ? typeOfKey[cellKey[cell]] : cellKey[cell] % types.size();
	}

	private int firstCell(int leaf, int slice) {
		int low = cellFrom[leaf];
		int high = cellFrom[leaf + 1];
		int wanted = slice * types.size();
		if (slice == 0) {
			return low;
		}
		while (low < high) {
			int mid = (low + high) >>> 1;
			if (cellKey[mid] < wanted) {
				low = mid + 1;
			} else {
				high = mid;
			}
		}
		return low;
	}

	/** v[leaf][slice][type]. */
	public double value(int leaf, int slice, int type) {
		int wanted = slice * types.size() + type;
		for (int c = firstCell(leaf, slice); c < cellFrom[leaf + 1] && cellKey[c] <= wanted; c++) {
			if (cellKey[c] == wanted) {
				return cellValue[c];
			}
		}
		return 0;
	}

	/**
	 * Sums over a block, for each type.
	 *
	 * @param leafFrom first leaf
	 * @param leafTo leaf after the last
	 * @param firstSlice first slice
	 * @param endSlice slice after the last
	 * @return S_k for each type
	 */
	public double[] sums(int leafFrom, int leafTo, int firstSlice, int endSlice) {
		int k = types.size();
		double[] sums = new double[k];
		if (leafTo - leafFrom < 2 * SumIndex.LEAVES) {
			addSums(leafFrom, leafTo, firstSlice, endSlice, sums);
			return sums;
		}
		SumIndex index = sumIndex;
		if (index == null) {
			index = new SumIndex(this);
			sumIndex = index;
		}
		int from = index.groupFrom(leafFrom);
		int to = index.groupTo(leafTo);
		if (from >= to) {
			addSums(leafFrom, leafTo, firstSlice, endSlice, sums);
			return sums;
		}
		addSums(leafFrom, index.leaf(from), firstSlice, endSlice, sums);
		index.add(from, to, firstSlice, endSlice, sums);
		addSums(index.leaf(to), leafTo, firstSlice, endSlice, sums);
		return sums;
	}

	private void addSums(int leafFrom, int leafTo, int firstSlice, int endSlice, double[] sums) {
		int limit = endSlice * types.size();
		for (int leaf = leafFrom; leaf < leafTo; leaf++) {
			int to = cellFrom[leaf + 1];
			for (int c = firstCell(leaf, firstSlice); c < to && cellKey[c] < limit; c++) {
				sums[type(c)] += cellValue[c];
			}
		}
	}

	/**
	 * Sums of groups of leaves over the slices before each one, so that the sums of a large block, of which a picture needs
	 * hundreds, do not visit every value in it.
	 */
	private static final class SumIndex {
		/** Leaves of a group at least; blocks with less than two groups are added up. */
		static final int LEAVES = 256;
		private static final long MOST_BYTES = 32_000_000;
		private final int leaves;
		private final int types;
		private final int slices;
		/** [group][slice * types + type], slices 0..T. */
		private final double[][] before;

		SumIndex(MicroscopicModel m) {
			this.types = m.typeCount();
			this.slices = m.sliceCount();
			int n = m.hierarchy.leafCount();
			int size = LEAVES;
			while (8L * types * (slices + 1) * (n / size) > MOST_BYTES) {
				size *= 2;
			}
			this.leaves = size;
			this.before = new double[n / size][];
			try {
				Parallel.run(before.length, Progress.NONE, g -> {
					double[] b = new double[types * (slices + 1)];
					for (int c = m.cellFrom[g * leaves]; c < m.cellFrom[(g + 1) * leaves]; c++) {
						b[m.cellKey[c] + types] += m.cellValue[c];
					}
					for (int i = types; i < b.length; i++) {
						b[i] += b[i - types];
					}
					before[g] = b;
				});
			} catch (CancelledException e) {
				throw new IllegalStateException(e); // nobody can cancel it
			}
		}

		int groupFrom(int leaf) {
			return (leaf + leaves - 1) / leaves;
		}

		int groupTo(int leaf) {
			return Math.min(before.length, leaf / leaves);
		}

		int leaf(int group) {
			return group * leaves;
		}

		void add(int from, int to, int firstSlice, int endSlice, double[] sums) {
			int a = firstSlice * types;
			int b = endSlice * types;
			for (int g = from; g < to; g++) {
				double[] s = before[g];
				for (int k = 0; k < types; k++) {
					sums[k] += s[b + k] - s[a + k];
				}
			}
		}
	}

	/**
	 * Value of a block, for each type: the sum of its cells or, when the metric is a mean, the mean over all of the block. The mean
	 * duration of states is their time in the block divided by the number of states that overlap it, the mean of a variable
	 * is that over its rows and its time.
	 */
	public double[] values(int leafFrom, int leafTo, int firstSlice, int endSlice) {
		if (counts != null) {
			return stateMeans(leafFrom, leafTo, firstSlice, endSlice);
		}
		if (metric != Metric.VARIABLE_MEAN) {
			return sums(leafFrom, leafTo, firstSlice, endSlice);
		}
		int k = types.size();
		double[] means = new double[k];
		int limit = endSlice * k;
		for (int leaf = leafFrom; leaf < leafTo; leaf++) {
			int to = cellFrom[leaf + 1];
			for (int c = firstCell(leaf, firstSlice); c < to && cellKey[c] < limit; c++) {
				means[type(c)] += cellValue[c] * slices.lengthNs(cellKey[c] / k);
			}
		}
		double area = (double) (slices.boundNs(endSlice) - slices.boundNs(firstSlice)) * hierarchy.weight(leafFrom, leafTo);
		for (int x = 0; x < k; x++) {
			means[x] = area > 0 ? means[x] / area : 0;
		}
		return means;
	}

	private double[] stateMeans(int leafFrom, int leafTo, int firstSlice, int endSlice) {
		// states that only slices without duration would tell of are in the first slice that has one
		int first = firstSlice;
		while (first < endSlice - 1 && slices.lengthNs(first) == 0) {
			first++;
		}
		int k = types.size();
		long[] duration = new long[k];
		long[] states = new long[k];
		for (int leaf = leafFrom; leaf < leafTo; leaf++) {
			int to = cellFrom[leaf + 1];
			for (int c = firstCell(leaf, firstSlice); c < to && cellKey[c] < endSlice * k; c++) {
				duration[type(c)] += counts.durationNs()[c];
				states[type(c)] += cellKey[c] / k <= first ? counts.overlapping()[c] : counts.begun()[c];
			}
		}
		double[] means = new double[k];
		for (int x = 0; x < k; x++) {
			means[x] = states[x] > 0 ? (double) duration[x] / states[x] : 0;
		}
		return means;
	}

	/** Sums over a node and slices {@code [firstSlice, endSlice)}. */
	public double[] sums(int node, int firstSlice, int endSlice) {
		return sums(hierarchy.leafFrom(node), hierarchy.leafTo(node), firstSlice, endSlice);
	}

	/**
	 * Length of each slice as the qualities see it, 1 on average: what lasts twice as long counts as two cells of half the value. Null
	 * when all count the same, as the slices are equally long or values are not amounts that grow with time.
	 */
	public double[] sliceWeights() {
		if (slices.isUniform() || !metric.isAmount()) {
			return null;
		}
		double mean = (double) (slices.endNs() - slices.startNs()) / slices.count();
		double[] weights = new double[slices.count()];
		for (int t = 0; t < weights.length; t++) {
			weights[t] = slices.lengthNs(t) / mean;
		}
		return weights;
	}

	/** Sums of everything. */
	public double[] totals() {
		return sums(0, hierarchy.leafCount(), 0, slices.count());
	}

	/** Sums over all leaves for each slice: result[slice][type]. */
	public double[][] profile(int leafFrom, int leafTo) {
		int k = types.size();
		double[][] profile = new double[slices.count()][k];
		for (int c = cellFrom[leafFrom]; c < cellFrom[leafTo]; c++) {
			profile[cellKey[c] / k][type(c)] += cellValue[c];
		}
		return profile;
	}

	/**
	 * How dense the cells are that are not empty, in values of all types per row and nanosecond.
	 *
	 * @param reference the 95th percentile, a cell weighing as much as its time and rows: what pictures use as full strength. Does not
	 *            depend on p, so that colours stay while p is changed. 0 for an empty model
	 * @param above share of the cells that are denser, likewise weighted, 0..1
	 * @param most the densest cell
	 */
	public record Densities(double reference, double above, double most) {
	}

	/** {@link Densities#reference} of {@link #densities}. */
	public double referenceDensity() {
		return densities().reference();
	}

	/** How dense the cells are; of many every n-th leaf is looked at, for the densest all. */
	public Densities densities() {
		Densities known = densities;
		if (known == null) {
			known = findDensities();
			densities = known;
		}
		return known;
	}

	private Densities findDensities() {
		int k = types.size();
		int step = Math.max(1, valueCount() / MOST_SAMPLES);
		double most = 0;
		double[][] found = new double[1024][];
		int count = 0;
		double weights = 0;
		for (int leaf = 0; leaf < hierarchy.leafCount(); leaf++) {
			int c = cellFrom[leaf];
			while (c < cellFrom[leaf + 1]) {
				int slice = cellKey[c] / k;
				double sum = 0;
				for (; c < cellFrom[leaf + 1] && cellKey[c] / k == slice; c++) {
					sum += Math.max(0, cellValue[c]);
				}
				if (sum > 0) {
					double size = (double) Math.max(1, slices.lengthNs(slice)) * rowsAt(leaf);
					most = Math.max(most, sum / size);
					if (leaf % step == 0) {
						if (count == found.length) {
							found = Arrays.copyOf(found, 2 * count);
						}
						found[count++] = new double[] {sum / size, size};
						weights += size;
					}
				}
			}
		}
		if (count == 0) {
			return new Densities(most, 0, most); // nothing, or only leaves that were not looked at have values
		}
		Arrays.sort(found, 0, count, (x, y) -> Double.compare(x[0], y[0]));
		double sum = 0;
		int at = 0;
		while (at < count - 1 && sum + found[at][1] < 0.95 * weights) {
			sum += found[at++][1];
		}
		double above = 0;
		for (int i = count - 1; i > at && found[i][0] > found[at][0] * (1 + 1e-9); i--) {
			above += found[i][1];
		}
		return new Densities(found[at][0], above / weights, most);
	}

	/** A model with one slice, which has the sums of all slices. */
	public MicroscopicModel collapsed() {
		requirePages();
		int k = types.size();
		Appender cells = new Appender(hierarchy.leafCount());
		for (int leaf = 0; leaf < hierarchy.leafCount(); leaf++) {
			double[] sums = sums(leaf, leaf + 1, 0, slices.count());
			for (int x = 0; x < k; x++) {
				if (sums[x] != 0) {
					cells.add(x, sums[x]);
				}
			}
			cells.endLeaf();
		}
		return cells.model(hierarchy, new TimeSlices(slices.startNs(), slices.endNs(), 1), types, metric, viewpoint);
	}
}
