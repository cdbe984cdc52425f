// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
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
	private final long[] bound;

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
		for (int i = 0; i < n; i++) {
			long start = Math.max(slices.startNs(), table.intervalStart(i));
			long end = Math.min(slices.endNs(), table.intervalEnd(i));
			if (start < end) {
				sliceFrom[i] = slices.sliceOf(start);
				sliceTo[i] = slices.sliceOf(end - 1) + 1;
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
				types.add(new ModelType(threadName(thread), ModelType.Role.THREAD, thread.index()));
			}
			break;
		case CPU:
			for (int cpu = 0; cpu <= table.maxCpu(); cpu++) {
				types.add(new ModelType("CPU " + cpu, ModelType.Role.CPU, cpu));
			}
			break;
		case NODE:
			for (int node = 0; node <= table.maxNode(); node++) {
				types.add(new ModelType("Node " + node, ModelType.Role.NODE, node));
			}
			break;
		default:
			throw new IllegalArgumentException("viewpoint " + request.viewpoint());
		}
		types.add(new ModelType("unknown", ModelType.Role.UNKNOWN, 0));
	}

	private String threadName(ThreadInfo thread) {
		String name = thread.name() == null || thread.name().isEmpty() ? "thread" : thread.name();
		return name + " #" + thread.index();
	}

	MicroscopicModel build(Hierarchy hierarchy, Progress progress) throws CancelledException {
		int leaves = hierarchy.leafCount();
		int parts = Math.max(1, Math.min(32, leaves / 64));
		MicroscopicModel.Appender[] cells = new MicroscopicModel.Appender[parts];
		progress.begin("Building the model", parts);
		Parallel.run(parts, progress, part -> {
			int from = (int) ((long) leaves * part / parts);
			int to = (int) ((long) leaves * (part + 1) / parts);
			Work work = new Work(new MicroscopicModel.Appender(to - from));
			for (int leaf = from; leaf < to; leaf++) {
				if ((leaf & 255) == 0) {
					progress.check();
				}
				work.leaf(hierarchy, leaf);
			}
			cells[part] = work.cells;
			progress.worked(1);
		});
		return join(hierarchy, cells);
	}

	private MicroscopicModel join(Hierarchy hierarchy, MicroscopicModel.Appender[] cells) {
		int all = types.size();
		int[] renumbered = new int[all];
		List<ModelType> kept = new ArrayList<>();
		BitSet present = new BitSet();
		long total = 0;
		for (MicroscopicModel.Appender part : cells) {
			for (int c = 0; c < part.count(); c++) {
				present.set(part.key[c] % all);
			}
			total += part.count();
		}
		for (int k = 0; k < all; k++) {
			if (wanted[k] && (keepAll || present.get(k))) {
				renumbered[k] = kept.size();
				kept.add(types.get(k));
			}
		}
		if (kept.isEmpty()) {
			kept.add(new ModelType("nothing", ModelType.Role.OTHER, 0));
		}
		int k = kept.size();
		int count = Math.toIntExact(total);
		int[] from = new int[hierarchy.leafCount() + 1];
		int[] key = new int[count];
		double[] value = new double[count];
		int leaf = 0;
		int at = 0;
		for (MicroscopicModel.Appender part : cells) {
			for (int l = 1; l < part.from.length; l++) {
				from[++leaf] = at + part.from[l];
			}
			for (int c = 0; c < part.count(); c++) {
				key[at + c] = part.key[c] / all * k + renumbered[part.key[c] % all];
			}
			System.arraycopy(part.value, 0, value, at, part.count());
			at += part.count();
		}
		return new MicroscopicModel(hierarchy, slices, kept, request.metric(), request.viewpoint(), from, key, value);
	}

	/** Work space of one part. */
	private final class Work {
		private final MicroscopicModel.Appender cells;
		private final int all = types.size();
		private final double[] value = new double[t * all];
		private int[] touched = new int[256];
		private int touchedCount;
		private long[] uses = new long[64];
		private int useCount;

		Work(MicroscopicModel.Appender cells) {
			this.cells = cells;
		}

		void leaf(Hierarchy hierarchy, int leaf) {
			int node = hierarchy.leafNode(leaf);
			int producer = hierarchy.producer(node);
			touchedCount = 0;
			useCount = 0;
			int end = table.rowTo(producer);
			for (int row = table.rowFrom(producer); row < end; row++) {
				int interval = table.interval(row);
				if (table.intervalStart(interval) >= request.toNs()) {
					break;
				}
				if (sliceFrom[interval] < sliceTo[interval]) {
					row(row, interval);
				}
			}
			if (useCount > 0) {
				countUses();
			}
			Arrays.sort(touched, 0, touchedCount);
			for (int i = 0; i < touchedCount; i++) {
				int key = touched[i];
				if (value[key] != 0) {
					cells.add(key, value[key]);
					value[key] = 0;
				}
			}
			cells.endLeaf();
		}

		private void row(int row, int interval) {
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
			case THREAD -> {
				int thread = table.thread(row);
				add(row, interval, thread < 0 || thread >= unknown ? unknown : thread, together(reads, writes));
			}
			case NODE -> {
				int numa = table.node(row);
				add(row, interval, numa < 0 ? unknown : numa, together(reads, writes));
			}
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
				put(from, type, amount);
				return;
			}
			if (request.metric() == Metric.THREADS) {
				if (table.thread(row) < 0 && request.viewpoint() != Viewpoint.THREAD) {
					return; // nobody is not another thread
				}
				for (int s = from; s < to; s++) {
					if (bound[s] < bound[s + 1]) {
						use(s, type, table.thread(row));
					}
				}
				return;
			}
			long start = table.intervalStart(interval);
			long end = table.intervalEnd(interval);
			if (to - from == 1 && start >= bound[from] && end <= bound[to]) {
				put(from, type, amount);
				return;
			}
			double perNs = amount / (end - start);
			for (int s = from; s < to; s++) {
				long overlap = Math.min(end, bound[s + 1]) - Math.max(start, bound[s]);
				if (overlap > 0) {
					put(s, type, perNs * overlap);
				}
			}
		}

		private void put(int slice, int type, double amount) {
			int key = slice * all + type;
			if (value[key] == 0) {
				if (touchedCount == touched.length) {
					touched = Arrays.copyOf(touched, 2 * touchedCount);
				}
				touched[touchedCount++] = key;
			}
			value[key] += amount;
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
					int key = (int) (uses[i] >>> 32);
					put(key / all, key % all, 1);
				}
			}
		}
	}
}
