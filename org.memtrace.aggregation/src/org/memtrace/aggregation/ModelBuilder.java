// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;

/** Makes one model from a table of accesses: leaves in parallel, each with a small dense work space. */
final class ModelBuilder {
	private final AccessTable table;
	private final ModelRequest request;
	private final TimeSlices slices;
	private final int t;
	/** All types of the viewpoint, before those without values are removed. */
	private final List<ModelType> types = new ArrayList<>();
	private final boolean[] wanted;
	private final boolean keepAll;
	/** Type of accesses whose thread, CPU or node is not known. */
	private final int unknown;
	/** Slices that an interval overlaps: [sliceFrom, sliceTo), empty when outside of the window. */
	private final int[] sliceFrom;
	private final int[] sliceTo;
	/** The slice that holds an interval as a whole, or one of the classes below. */
	private final int[] within;
	private final long[] bound;

	/** Not in the window. */
	private static final int OUTSIDE = -1;
	/** Begins after the window, and so do those that follow on the same page. */
	private static final int AFTER = -2;
	/** In several slices, or partly in the window. */
	private static final int SPREAD = -3;

	ModelBuilder(AccessTable table, ModelRequest request) {
		if (!request.metric().ofAccesses()) {
			throw new IllegalArgumentException("accesses have no " + request.metric().unit());
		}
		this.table = table;
		this.request = request;
		this.slices = new TimeSlices(request.fromNs(), request.toNs(), request.slices());
		this.t = slices.count();
		this.keepAll = request.viewpoint() == Viewpoint.SHARING || request.viewpoint() == Viewpoint.READ_WRITE;
		addTypes();
		this.unknown = keepAll ? -1 : types.size() - 1;
		this.wanted = new boolean[types.size()];
		for (int k = 0; k < wanted.length; k++) {
			wanted[k] = request.types() == null || request.types().matcher(types.get(k).name()).find();
		}
		this.bound = new long[t + 1];
		for (int i = 0; i <= t; i++) {
			bound[i] = slices.boundNs(i);
		}
		int n = table.intervalCount();
		this.sliceFrom = new int[n];
		this.sliceTo = new int[n];
		this.within = new int[n];
		for (int i = 0; i < n; i++) {
			long start = Math.max(slices.startNs(), table.intervalStart(i));
			long end = Math.min(slices.endNs(), table.intervalEnd(i));
			if (start < end) {
				sliceFrom[i] = slices.sliceOf(start);
				sliceTo[i] = slices.sliceOf(end - 1) + 1;
				boolean whole = start == table.intervalStart(i) && end == table.intervalEnd(i);
				within[i] = whole && sliceTo[i] - sliceFrom[i] == 1 ? sliceFrom[i] : SPREAD;
			} else {
				within[i] = table.intervalStart(i) >= request.toNs() ? AFTER : OUTSIDE;
			}
		}
	}

	private void addTypes() {
		switch (request.viewpoint()) {
		case SHARING:
			types.add(new ModelType("Private_Read", ModelType.Role.PRIVATE_READ, 0));
			types.add(new ModelType("Private_Write", ModelType.Role.PRIVATE_WRITE, 0));
			types.add(new ModelType("Shared_Read", ModelType.Role.SHARED_READ, 0));
			types.add(new ModelType("Shared_Write", ModelType.Role.SHARED_WRITE, 0));
			return;
		case READ_WRITE:
			types.add(new ModelType("Read", ModelType.Role.READ, 0));
			types.add(new ModelType("Write", ModelType.Role.WRITE, 0));
			return;
		case THREAD:
			for (ThreadInfo thread : table.threads()) {
				types.add(ModelType.thread(thread));
			}
			break;
		case CPU:
			for (int cpu = 0; cpu <= table.maxCpu(); cpu++) {
				types.add(ModelType.cpu(cpu));
			}
			break;
		case NODE:
			for (int node = 0; node <= table.maxNode(); node++) {
				types.add(ModelType.node(node));
			}
			break;
		default:
			throw new IllegalArgumentException("viewpoint " + request.viewpoint());
		}
		types.add(new ModelType("unknown", ModelType.Role.UNKNOWN, 0));
	}

	MicroscopicModel build(Hierarchy hierarchy, Progress progress) throws CancelledException {
		int leaves = hierarchy.leafCount();
		int parts = Math.max(1, Math.min(64, leaves / 64));
		Work[] done = new Work[parts];
		progress.begin("Building the model", 2L * parts);
		Parallel.run(parts, progress, part -> {
			int from = (int) ((long) leaves * part / parts);
			int to = (int) ((long) leaves * (part + 1) / parts);
			Work work = new Work(new MicroscopicModel.Appender(to - from));
			for (int leaf = from; leaf < to; leaf++) {
				if ((leaf & 255) == 0) {
					progress.check();
				}
				work.leaf(hierarchy.producer(hierarchy.leafNode(leaf)));
			}
			work.free();
			done[part] = work;
			progress.worked(1);
		});
		return join(hierarchy, done, progress);
	}

	private MicroscopicModel join(Hierarchy hierarchy, Work[] parts, Progress progress) throws CancelledException {
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
		int[] renumbered = new int[all];
		List<ModelType> kept = new ArrayList<>();
		for (int k = 0; k < all; k++) {
			if (wanted[k] && (keepAll || present[k])) {
				renumbered[k] = kept.size();
				kept.add(types.get(k));
			}
		}
		if (kept.isEmpty()) {
			kept.add(new ModelType("nothing", ModelType.Role.OTHER, 0));
		}
		int k = kept.size();
		int[] from = new int[hierarchy.leafCount() + 1];
		int[] key = new int[cellsBefore[parts.length]];
		double[] value = new double[key.length];
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
			progress.worked(1);
		});
		return new MicroscopicModel(hierarchy, slices, kept, request.metric(), request.viewpoint(), from, key, value);
	}

	/** Work space of one part. */
	private final class Work {
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

		Work(MicroscopicModel.Appender cells) {
			this.cells = cells;
		}

		/** What is not needed for the result. */
		void free() {
			value = null;
			touched = null;
			uses = null;
		}

		void leaf(int producer) {
			int from = table.rowFrom(producer);
			int to = table.rowTo(producer);
			if (from == to) {
				cells.endLeaf();
				return;
			}
			if (request.metric() == Metric.ACCESSES && request.types() == null) {
				accesses(from, to);
			} else {
				useCount = 0;
				for (int row = from; row < to && within[table.interval(row)] != AFTER; row++) {
					row(row, table.interval(row));
				}
				countUses();
			}
			for (int w = firstWord; w <= lastWord; w++) {
				for (long bits = touched[w]; bits != 0; bits &= bits - 1) {
					int key = (w << 6) + Long.numberOfTrailingZeros(bits);
					if (value[key] != 0) {
						cells.add(key, value[key]);
						present[key % all] = true;
						value[key] = 0;
					}
				}
				touched[w] = 0;
			}
			firstWord = Integer.MAX_VALUE;
			lastWord = -1;
			cells.endLeaf();
		}

		/** The rows of a page for the metric that is shown nearly always; what lies within one slice is put there at once. */
		private void accesses(int from, int to) {
			Viewpoint viewpoint = request.viewpoint();
			for (int row = from; row < to; row++) {
				int interval = table.interval(row);
				int slice = within[interval];
				if (slice < 0) {
					if (slice == AFTER) {
						return;
					}
					row(row, interval);
					continue;
				}
				int base = slice * all;
				switch (viewpoint) {
				case SHARING -> {
					base += table.shared(row) ? 2 : 0;
					put(base, table.reads(row));
					put(base + 1, table.writes(row));
				}
				case READ_WRITE -> {
					put(base, table.reads(row));
					put(base + 1, table.writes(row));
				}
				case THREAD -> put(base + threadType(row), (double) table.reads(row) + table.writes(row));
				case NODE -> put(base + nodeType(row), (double) table.reads(row) + table.writes(row));
				default -> {
					int[] cpus = table.cpus(row);
					if (cpus.length == 1) {
						put(base + cpus[0], (double) table.reads(row) + table.writes(row));
					} else {
						row(row, interval);
					}
				}
				}
			}
		}

		private int threadType(int row) {
			int thread = table.thread(row);
			return thread < 0 || thread >= unknown ? unknown : thread;
		}

		private int nodeType(int row) {
			int numa = table.node(row);
			return numa < 0 ? unknown : numa;
		}

		private void row(int row, int interval) {
			if (within[interval] == OUTSIDE) {
				return;
			}
			double reads = table.reads(row);
			double writes = table.writes(row);
			switch (request.metric()) {
			case READS -> writes = 0;
			case WRITES -> reads = 0;
			case EVENTS -> {
				if (table.intervalStart(interval) < request.fromNs()) {
					return;
				}
				reads = reads > 0 ? 1 : 0;
				writes = writes > 0 ? 1 : 0;
			}
			default -> {
			}
			}
			switch (request.viewpoint()) {
			case SHARING -> {
				int base = table.shared(row) ? 2 : 0;
				add(row, interval, base, reads);
				add(row, interval, base + 1, writes);
			}
			case READ_WRITE -> {
				add(row, interval, 0, reads);
				add(row, interval, 1, writes);
			}
			case THREAD -> add(row, interval, threadType(row), together(reads, writes));
			case NODE -> add(row, interval, nodeType(row), together(reads, writes));
			case CPU -> {
				int[] cpus = table.cpus(row);
				if (cpus.length == 0) {
					add(row, interval, unknown, together(reads, writes));
				}
				for (int cpu : cpus) {
					add(row, interval, cpu, together(reads, writes) / cpus.length);
				}
			}
			case TYPE -> throw new IllegalStateException();
			}
		}

		private double together(double reads, double writes) {
			return request.metric() == Metric.EVENTS ? 1 : reads + writes;
		}

		private void add(int row, int interval, int type, double amount) {
			if (amount == 0 || !wanted[type]) {
				return;
			}
			int from = sliceFrom[interval];
			int to = sliceTo[interval];
			if (request.metric() == Metric.EVENTS) {
				put(from * all + type, amount);
				return;
			}
			if (request.metric() == Metric.THREADS) {
				int thread = table.thread(row);
				if (thread < 0 || thread >= table.threads().size()) {
					return; // nobody is not another thread
				}
				for (int s = from; s < to; s++) {
					if (bound[s] < bound[s + 1]) {
						use(s, type, thread);
					}
				}
				return;
			}
			if (within[interval] >= 0) {
				put(from * all + type, amount);
				return;
			}
			long start = table.intervalStart(interval);
			long end = table.intervalEnd(interval);
			double perNs = amount / (end - start);
			for (int s = from; s < to; s++) {
				long overlap = Math.min(end, bound[s + 1]) - Math.max(start, bound[s]);
				if (overlap > 0) {
					put(s * all + type, perNs * overlap);
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
		}
	}
}
