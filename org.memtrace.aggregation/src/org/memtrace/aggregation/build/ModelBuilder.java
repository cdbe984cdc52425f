// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.build;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.FewValues;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.base.Entropy;
import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.place.CpuPlaces;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;

/** Makes one model from the chunks of a table of accesses: runs of chunks in parallel, each with a small dense work space. */
final class ModelBuilder {
	private final AccessTable table;
	private final ModelRequest request;
	private final TimeSlices slices;
	/** Number of slices, or of places x slices. */
	private final int t;
	/** The columns of each set of CPUs of the trace, -1 for a CPU that is at no place; null where columns are slices. */
	private final int[][] columnsOfSet;
	private final boolean sumOfPages;
	/** All types of the viewpoint, before those without values are removed. */
	private final List<ModelType> types = new ArrayList<>();
	private final boolean[] wanted;
	private final boolean keepAll;
	/** Type of accesses whose thread, CPU or node is not known. */
	private final int unknown;
	private final DimensionValues values;
	private final DimensionValues.Kind kind;
	private final long[] bound;

	/** Not in the window. */
	private static final int OUTSIDE = -1;
	/** Begins after the window, and so do those that follow on the same page. */
	private static final int AFTER = -2;
	/** In several slices, or partly in the window. */
	private static final int SPREAD = -3;

	ModelBuilder(AccessTable table, ModelRequest request, Progress progress) throws MemtraceException {
		this(table, request, null, false, progress);
	}

	/**
	 * Of places instead of slices, or of places x slices with the sums over all pages.
	 *
	 * @param places null for slices alone
	 */
	private ModelBuilder(AccessTable table, ModelRequest request, CpuPlaces places, boolean sumOfPages, Progress progress)
			throws MemtraceException {
		if (!request.metric().ofAccesses()) {
			throw new IllegalArgumentException("accesses have no " + request.metric().unit());
		}
		this.table = table;
		this.request = request;
		this.slices = slices(table, request, progress);
		this.t = places == null ? slices.count() : Math.multiplyExact(places.count(), slices.count());
		this.columnsOfSet = places == null ? null : places.columns(table.cpuNumbers());
		this.sumOfPages = sumOfPages;
		this.values = FewValues.of(request.viewpoint(), table, progress);
		this.kind = values.kind();
		this.keepAll = kind == DimensionValues.Kind.BY_DIRECTION;
		for (long v = 0; v < values.size(); v++) {
			types.add(values.type(v));
		}
		this.unknown = keepAll ? -1 : types.size();
		if (!keepAll) {
			types.add(values.type(DimensionValues.UNKNOWN));
		}
		this.wanted = new boolean[types.size()];
		for (int k = 0; k < wanted.length; k++) {
			wanted[k] = request.types() == null || request.types().matcher(types.get(k).name()).find();
		}
		this.bound = new long[slices.count() + 1];
		for (int i = 0; i < bound.length; i++) {
			bound[i] = slices.boundNs(i);
		}
	}

	private static TimeSlices slices(AccessTable table, ModelRequest request, Progress progress) throws MemtraceException {
		if (request.slicing() == Slicing.UNIFORM || !request.metric().isAmount()) {
			return new TimeSlices(request.fromNs(), request.toNs(), request.slices());
		}
		return table.timeDensity(progress).slices(request.fromNs(), request.toNs(), request.slices());
	}

	private Set<AccessColumn> columns() {
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES);
		columns.addAll(request.viewpoint().columns());
		if (request.metric() == Metric.THREADS) {
			columns.add(AccessColumn.THREAD);
		}
		if (columnsOfSet != null) {
			columns.add(AccessColumn.CPU_SET);
		}
		if (request.metric().weight() != null) {
			columns.addAll(request.metric().weight().columns());
		}
		return columns;
	}

	/** All types of the viewpoint. */
	List<ModelType> types() {
		return List.copyOf(types);
	}

	MicroscopicModel build(Hierarchy hierarchy, Progress progress) throws MemtraceException {
		return build(List.of(this), hierarchy, "Building the model", progress).getFirst();
	}

	/**
	 * Pages x places: the slices of the model are the places, each of length 1, and the window is one slice.
	 */
	static MicroscopicModel byPlace(AccessTable table, ModelRequest request, Hierarchy hierarchy, CpuPlaces places, Progress progress)
			throws MemtraceException {
		ModelRequest whole = request.withSlices(1).withSlicing(Slicing.UNIFORM);
		return new ModelBuilder(table, whole, places, false, progress).build(hierarchy, progress).with(MicroscopicModel.Places.COLUMNS);
	}

	/**
	 * Places x slices: the rows of the model are the places.
	 *
	 * @param pages hierarchy of the pages that are summed up
	 * @param rows hierarchy with a leaf for each place
	 */
	static MicroscopicModel ofPlaces(AccessTable table, ModelRequest request, Hierarchy pages, CpuPlaces places, Hierarchy rows,
			Progress progress) throws MemtraceException {
		if (request.metric() == Metric.THREADS) {
			throw new IllegalArgumentException("threads of pages cannot be summed up");
		}
		ModelBuilder builder = new ModelBuilder(table, request, places, true, progress);
		AccessQuery query = table.query(request.producer(), request.fromNs(), request.toNs());
		int all = builder.types.size();
		double[] sums = new double[builder.t * all];
		boolean[] present = new boolean[all];
		for (Together run : table.scan().run(query, builder.columns(), "Building the model", progress,
				(from, to) -> new Together(List.of(builder), pages, from, to))) {
			Work work = run.works[0];
			for (int c = 0; c < work.cells.count(); c++) {
				sums[work.cells.key[c]] += work.cells.value[c];
			}
			for (int k = 0; k < all; k++) {
				present[k] |= work.present[k];
			}
		}
		List<ModelType> kept = new ArrayList<>();
		int[] renumbered = builder.shape().kept(present, kept);
		int slices = builder.slices.count();
		MicroscopicModel.Appender cells = new MicroscopicModel.Appender(places.count());
		for (int place = 0; place < places.count(); place++) {
			for (int key = 0; key < slices * all; key++) {
				double v = sums[place * slices * all + key];
				if (v != 0) {
					cells.add(key / all * kept.size() + renumbered[key % all], v);
				}
			}
			cells.endLeaf();
		}
		return cells.model(rows, builder.slices, kept, request.metric(), request.viewpoint()).with(MicroscopicModel.Places.ROWS);
	}

	/**
	 * Several models in one pass over the accesses. Their requests have the same table, window and subtree.
	 *
	 * @param step name of the pass for the progress
	 */
	static List<MicroscopicModel> build(List<ModelBuilder> builders, Hierarchy hierarchy, String step, Progress progress)
			throws MemtraceException {
		ModelBuilder first = builders.getFirst();
		Set<AccessColumn> columns = EnumSet.noneOf(AccessColumn.class);
		builders.forEach(b -> columns.addAll(b.columns()));
		AccessQuery query = first.table.query(first.request.producer(), first.request.fromNs(), first.request.toNs());
		List<Together> done = first.table.scan().run(query, columns, step, progress,
				(from, to) -> new Together(builders, hierarchy, from, to));
		List<MicroscopicModel> models = new ArrayList<>();
		for (int i = 0; i < builders.size(); i++) {
			Cells[] parts = new Cells[done.size()];
			for (int k = 0; k < parts.length; k++) {
				parts[k] = done.get(k).works[i].result();
				done.get(k).works[i] = null;
			}
			models.add(builders.get(i).shape().join(hierarchy, parts, progress));
		}
		return models;
	}

	/** What the values of some of the runs into which the chunks of the request are divided are; damaged chunks are told. */
	List<Cells> cells(Hierarchy hierarchy, int runFrom, int runTo, IntConsumer skipped, Progress progress) throws MemtraceException {
		AccessQuery query = table.query(request.producer(), request.fromNs(), request.toNs());
		List<Cells> cells = new ArrayList<>();
		for (Together run : table.scan().run(query, runFrom, runTo, columns(), "Building a part of the model", progress,
				(from, to) -> new Together(List.of(this), hierarchy, from, to), skipped)) {
			cells.add(run.works[0].result());
		}
		return cells;
	}

	/** What a model of this request is besides its values. */
	Shape shape() {
		TimeSlices columns = columnsOfSet == null ? slices : new TimeSlices(0, t, t);
		return new Shape(columns, List.copyOf(types), wanted, keepAll, request.metric(), request.viewpoint());
	}

	/**
	 * The values of a run.
	 *
	 * @param cells of its leaves, with the keys slice * number of all types + type
	 * @param present types that have values
	 * @param groupStarts first leaves of groups, or of the parts of groups that are in this run; empty where leaves are not grouped
	 */
	record Cells(MicroscopicModel.Appender cells, boolean[] present, BitSet groupStarts) {
	}

	/**
	 * What a model is besides its values.
	 *
	 * @param types all types of the viewpoint, before those without values are removed
	 * @param wanted which of them the request wants
	 * @param keepAll whether types without values stay
	 */
	record Shape(TimeSlices columns, List<ModelType> types, boolean[] wanted, boolean keepAll, Metric metric, Dimension viewpoint) {

		/** Number of each type among those that are kept, which are put into the list. */
		int[] kept(boolean[] present, List<ModelType> kept) {
			int[] renumbered = new int[present.length];
			for (int k = 0; k < present.length; k++) {
				if (wanted[k] && (keepAll || present[k])) {
					renumbered[k] = kept.size();
					kept.add(types.get(k));
				}
			}
			if (kept.isEmpty()) {
				kept.add(new ModelType("nothing", ModelType.Role.OTHER, 0));
			}
			return renumbered;
		}

		/** Puts the values of all runs together, in their order. The array is emptied. */
		MicroscopicModel join(Hierarchy hierarchy, Cells[] parts, Progress progress) throws CancelledException {
			int all = types.size();
			boolean[] present = new boolean[all];
			int[] cellsBefore = new int[parts.length + 1];
			int[] leavesBefore = new int[parts.length + 1];
			for (int i = 0; i < parts.length; i++) {
				for (int k = 0; k < all; k++) {
					present[k] |= parts[i].present[k];
				}
				cellsBefore[i + 1] = Math.addExact(cellsBefore[i], parts[i].cells.count());
				leavesBefore[i + 1] = leavesBefore[i] + parts[i].cells.from.length - 1;
			}
			List<ModelType> kept = new ArrayList<>();
			int[] renumbered = kept(present, kept);
			int k = kept.size();
			int[] from = new int[hierarchy.leafCount() + 1];
			int[] key = new int[cellsBefore[parts.length]];
			double[] value = new double[key.length];
			double[] information = hierarchy.isGrouped() ? new double[key.length] : null;
			BitSet starts = hierarchy.isGrouped() ? new BitSet() : null;
			for (int i = 0; starts != null && i < parts.length; i++) {
				starts.or(parts[i].groupStarts);
			}
			Parallel.run(parts.length, progress, i -> {
				MicroscopicModel.Appender part = parts[i].cells;
				parts[i] = null;
				int at = cellsBefore[i];
				for (int l = 1; l < part.from.length; l++) {
					from[leavesBefore[i] + l] = at + part.from[l];
				}
				if (k == all) {
					System.arraycopy(part.key, 0, key, at, part.count());
				} else {
					for (int c = 0; c < part.count(); c++) {
						key[at + c] = part.key[c] / all * k + renumbered[part.key[c] % all];
					}
				}
				System.arraycopy(part.value, 0, value, at, part.count());
				if (part.information != null) {
					System.arraycopy(part.information, 0, information, at, part.count());
				}
				progress.worked(1);
			});
			return new MicroscopicModel(hierarchy, columns, kept, metric, viewpoint, from, key, value, null, information, starts);
		}
	}

	/** The leaves of a run for several models. */
	private static final class Together implements AccessScan.Part {
		private final Work[] works;

		Together(List<ModelBuilder> builders, Hierarchy hierarchy, int from, int to) {
			works = builders.stream().map(b -> b.new Work(hierarchy, from, to)).toArray(Work[]::new);
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			for (Work work : works) {
				work.chunk(c, leafFrom, leafTo);
			}
		}

		@Override
		public void end() {
			for (Work work : works) {
				work.end();
			}
		}
	}

	/** Sums over the leaves of a group, or those of them that are in a run: of values, and of f(v). */
	private final class Group {
		private final double[] value = new double[t * types.size()];
		private final double[] information = new double[t * types.size()];
		private final long[] touched = new long[(t * types.size() + 63) >> 6];
		private int leaves;

		void add(int key, double v) {
			value[key] += v;
			information[key] += Entropy.f(v);
			touched[key >> 6] |= 1L << key;
		}

		/** All of it at the first leaf. */
		void end(MicroscopicModel.Appender cells) {
			for (int w = 0; w < touched.length; w++) {
				for (long bits = touched[w]; bits != 0; bits &= bits - 1) {
					int key = (w << 6) + Long.numberOfTrailingZeros(bits);
					cells.add(key, value[key], information[key]);
					value[key] = 0;
					information[key] = 0;
				}
				touched[w] = 0;
			}
			for (; leaves > 0; leaves--) {
				cells.endLeaf();
			}
		}
	}

	/** First leaf of a hierarchy that is not before a producer. */
	private static int leafOf(Hierarchy hierarchy, int producer) {
		int low = 0;
		int high = hierarchy.leafCount();
		while (low < high) {
			int mid = (low + high) >>> 1;
			if (hierarchy.producer(hierarchy.leafNode(mid)) < producer) {
				low = mid + 1;
			} else {
				high = mid;
			}
		}
		return low;
	}

	/** The leaves of a run, with their work space. */
	private final class Work implements AccessScan.Part {
		private final Hierarchy hierarchy;
		private final int leafTo;
		private final MicroscopicModel.Appender cells;
		private final int all = types.size();
		/** Types that have values. */
		private final boolean[] present = new boolean[all];
		private double[] value = new double[t * all];
		/** A bit for each entry of {@link #value} that was added to, and the range of words in which there are some. */
		private long[] touched = new long[(t * all + 63) >> 6];
		private int firstWord = Integer.MAX_VALUE;
		private int lastWord = -1;
		private long[] uses = new long[64];
		private int useCount;
		/** The leaf that rows come of; those before are done. */
		private int leaf;
		/** Null unless leaves are grouped. */
		private final Group group;
		/** First leaves of groups, or of the parts of groups that are in this run. */
		private final BitSet groupStarts = new BitSet();
		// of the chunk that is looked at
		private long[] property = new long[0];
		/** Slices that a time overlaps: [sliceFrom, sliceTo), empty when outside of the window. */
		private int[] sliceFrom = new int[0];
		private int[] sliceTo = new int[0];
		/** The slice that holds a time as a whole, or one of the classes above. */
		private int[] within = new int[0];

		Work(Hierarchy hierarchy, int producerFrom, int producerTo) {
			this.hierarchy = hierarchy;
			leaf = leafOf(hierarchy, producerFrom);
			leafTo = leafOf(hierarchy, producerTo);
			cells = new MicroscopicModel.Appender(leafTo - leaf);
			group = hierarchy.isGrouped() ? new Group() : null;
			if (group != null && leaf < leafTo) {
				groupStarts.set(leaf);
			}
		}

		@Override
		public void chunk(AccessChunk c, int from, int to) {
			times(c);
			if (property.length < c.rows) {
				property = new long[c.time.length];
			}
			values.read(c, from, to, property);
			boolean plain = request.metric() == Metric.ACCESSES && request.types() == null && columnsOfSet == null;
			for (int l = from; l < to; l++) {
				int producer = c.leaf[l];
				while (leaf < leafTo && hierarchy.producer(hierarchy.leafNode(leaf)) < producer) {
					endLeaf();
				}
				if (leaf == leafTo || hierarchy.producer(hierarchy.leafNode(leaf)) > producer) {
					throw new IllegalArgumentException("producer " + producer + " has accesses, but is no leaf of the hierarchy");
				}
				if (plain) {
					accesses(c, c.leafFrom[l], c.leafFrom[l + 1]);
				} else {
					for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1] && within[c.time[row]] != AFTER; row++) {
						row(c, row, c.time[row]);
					}
				}
			}
		}

		@Override
		public void end() {
			while (leaf < leafTo) {
				endLeaf();
			}
			value = null;
			touched = null;
			uses = null;
			property = null;
			sliceFrom = null;
			sliceTo = null;
			within = null;
		}

		Cells result() {
			return new Cells(cells, present, groupStarts);
		}

		private void times(AccessChunk c) {
			if (within.length < c.times) {
				sliceFrom = new int[c.timeStartNs.length];
				sliceTo = new int[c.timeStartNs.length];
				within = new int[c.timeStartNs.length];
			}
			for (int i = 0; i < c.times; i++) {
				long start = Math.max(slices.startNs(), c.timeStartNs[i]);
				long end = Math.min(slices.endNs(), c.timeEndNs[i]);
				if (start < end) {
					sliceFrom[i] = slices.sliceOf(start);
					sliceTo[i] = slices.sliceOf(end - 1) + 1;
					boolean whole = start == c.timeStartNs[i] && end == c.timeEndNs[i];
					within[i] = whole && sliceTo[i] - sliceFrom[i] == 1 ? sliceFrom[i] : SPREAD;
				} else {
					within[i] = c.timeStartNs[i] >= request.toNs() ? AFTER : OUTSIDE;
				}
			}
		}

		private void endLeaf() {
			countUses();
			if (sumOfPages && leaf + 1 < leafTo) { // the last one of the run has all
				leaf++;
				cells.endLeaf();
				return;
			}
			for (int w = firstWord; w <= lastWord; w++) {
				for (long bits = touched[w]; bits != 0; bits &= bits - 1) {
					int key = (w << 6) + Long.numberOfTrailingZeros(bits);
					if (value[key] != 0) {
						if (group != null) {
							group.add(key, value[key]);
						} else {
							cells.add(key, value[key]);
						}
						present[key % all] = true;
						value[key] = 0;
					}
				}
				touched[w] = 0;
			}
			firstWord = Integer.MAX_VALUE;
			lastWord = -1;
			leaf++;
			if (group == null) {
				cells.endLeaf();
				return;
			}
			group.leaves++;
			if (leaf == leafTo || hierarchy.startsGroup(leaf)) {
				group.end(cells);
				if (leaf < leafTo) {
					groupStarts.set(leaf);
				}
			}
		}

		/** The rows of a page for the metric that is shown nearly always; what lies within one slice is put there at once. */
		private void accesses(AccessChunk c, int from, int to) {
			for (int row = from; row < to; row++) {
				int time = c.time[row];
				int slice = within[time];
				if (slice < 0) {
					if (slice == AFTER) {
						return;
					}
					row(c, row, time);
					continue;
				}
				int base = slice * all;
				switch (kind) {
				case BY_DIRECTION -> {
					base += (int) property[row];
					put(base, c.reads[row]);
					put(base + 1, c.writes[row]);
				}
				case SINGLE -> put(base + type(property[row]), (double) c.reads[row] + c.writes[row]);
				case SHARES -> {
					int[] members = values.members(property[row]);
					if (members.length == 1) {
						put(base + members[0], (double) c.reads[row] + c.writes[row]);
					} else {
						row(c, row, time);
					}
				}
				}
			}
		}

		private int type(long property) {
			return property < 0 ? unknown : (int) property;
		}

		private void row(AccessChunk c, int row, int time) {
			if (within[time] == OUTSIDE) {
				return;
			}
			double reads = c.reads[row];
			double writes = c.writes[row];
			Metric metric = request.metric();
			if (metric == Metric.READS) {
				writes = 0;
			} else if (metric == Metric.WRITES) {
				reads = 0;
			} else if (metric == Metric.EVENTS) {
				if (c.timeStartNs[time] < request.fromNs()) {
					return;
				}
				reads = reads > 0 ? 1 : 0;
				writes = writes > 0 ? 1 : 0;
			} else if (metric.weight() != null) {
				reads = metric.weight().of(c, row, false);
				writes = metric.weight().of(c, row, true);
			}
			switch (kind) {
			case BY_DIRECTION -> {
				int type = (int) property[row];
				add(c, row, time, type, reads);
				add(c, row, time, type + 1, writes);
			}
			case SINGLE -> add(c, row, time, type(property[row]), together(reads, writes));
			case SHARES -> {
				int[] members = values.members(property[row]);
				if (members.length == 0) {
					add(c, row, time, unknown, together(reads, writes));
				}
				for (int member : members) {
					add(c, row, time, member, together(reads, writes) / members.length);
				}
			}
			}
		}

		private double together(double reads, double writes) {
			return request.metric() == Metric.EVENTS ? 1 : reads + writes;
		}

		private void add(AccessChunk c, int row, int time, int type, double amount) {
			if (amount == 0 || !wanted[type]) {
				return;
			}
			if (columnsOfSet == null) {
				add(c, row, time, 0, type, amount);
				return;
			}
			int set = c.cpuSet[row];
			if (set >= 0 && set < columnsOfSet.length) {
				int[] columns = columnsOfSet[set];
				for (int column : columns) {
					if (column >= 0) {
						add(c, row, time, column * slices.count(), type, amount / columns.length);
					}
				}
			}
		}

		/** Adds to the slices from {@code first} on that the time of a row overlaps. */
		private void add(AccessChunk c, int row, int time, int first, int type, double amount) {
			int from = sliceFrom[time];
			int to = sliceTo[time];
			if (request.metric() == Metric.EVENTS) {
				put((first + from) * all + type, amount);
				return;
			}
			if (request.metric() == Metric.THREADS) {
				int thread = c.thread[row];
				if (thread < 0 || thread >= table.threads().size()) {
					return; // nobody is not another thread
				}
				for (int s = from; s < to; s++) {
					if (bound[s] < bound[s + 1]) {
						use(first + s, type, thread);
					}
				}
				return;
			}
			if (within[time] >= 0) {
				put((first + from) * all + type, amount);
				return;
			}
			long start = c.timeStartNs[time];
			long end = c.timeEndNs[time];
			double perNs = amount / (end - start);
			for (int s = from; s < to; s++) {
				long overlap = Math.min(end, bound[s + 1]) - Math.max(start, bound[s]);
				if (overlap > 0) {
					put((first + s) * all + type, perNs * overlap);
				}
			}
		}

		private void put(int key, double amount) {
			value[key] += amount;
			int word = key >> 6;
			touched[word] |= 1L << key;
			firstWord = Math.min(firstWord, word);
			lastWord = Math.max(lastWord, word);
		}

		private void use(int slice, int type, int thread) {
			if (useCount == uses.length) {
				uses = Arrays.copyOf(uses, 2 * useCount);
			}
			uses[useCount++] = (long) (slice * all + type) << 32 | thread + 1;
		}

		/** One for each distinct (slice, type, thread). */
		private void countUses() {
			Arrays.sort(uses, 0, useCount);
			for (int i = 0; i < useCount; i++) {
				if (i == 0 || uses[i] != uses[i - 1]) {
					put((int) (uses[i] >>> 32), 1);
				}
			}
			useCount = 0;
		}
	}
}
