// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.events;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.base.Parallel;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.StateCounts;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;

/**
 * Makes one model from a table of events: types are event types, leaves in parallel. Durations are summed as integers; a
 * value is rounded once. Definitions: docs/how/microscopic-model.md, "Event traces".
 */
final class EventModelBuilder {
	private final EventTable table;
	private final ModelRequest request;
	private final TimeSlices slices;
	private final boolean[] wanted;
	private final int all;
	private final boolean lastInstant;

	EventModelBuilder(EventTable table, ModelRequest request) {
		if (request.viewpoint() != BasicDimensions.EVENT_TYPE || !request.metric().ofEvents()) {
			throw new IllegalArgumentException("events have no " + request.metric().unit() + " by " + request.viewpoint().id());
		}
		this.table = table;
		this.request = request;
		this.slices = table.slices(request);
		this.all = Math.max(1, table.typeNames().size());
		this.wanted = new boolean[all];
		for (int k = 0; k < table.typeNames().size(); k++) {
			wanted[k] = request.types() == null || request.types().matcher(table.typeNames().get(k)).find();
		}
		// an instant at the end of the trace has no later window to be in
		this.lastInstant = request.toNs() == table.info().endNs();
	}

	MicroscopicModel build(Hierarchy hierarchy, Progress progress) throws CancelledException {
		int leaves = hierarchy.leafCount();
		int parts = Math.max(1, Math.min(32, leaves / 64));
		Work[] work = new Work[parts];
		progress.begin("Building the model", parts);
		Parallel.run(parts, progress, part -> {
			int from = (int) ((long) leaves * part / parts);
			int to = (int) ((long) leaves * (part + 1) / parts);
			Work w = new Work(to - from);
			for (int leaf = from; leaf < to; leaf++) {
				w.leaf(table, hierarchy.producer(hierarchy.leafNode(leaf)), progress);
			}
			w.release();
			work[part] = w;
			progress.worked(1);
		});
		return join(hierarchy, work);
	}

	private MicroscopicModel join(Hierarchy hierarchy, Work[] work) {
		BitSet present = new BitSet();
		long total = 0;
		for (Work w : work) {
			for (int c = 0; c < w.cells.count(); c++) {
				present.set(w.cells.key[c] % all);
			}
			total += w.cells.count();
		}
		int[] renumbered = new int[all];
		List<ModelType> types = ModelType.ofEvents(table.typeNames());
		List<ModelType> kept = new ArrayList<>();
		for (int k = present.nextSetBit(0); k >= 0; k = present.nextSetBit(k + 1)) {
			renumbered[k] = kept.size();
			kept.add(types.get(k));
		}
		if (kept.isEmpty()) {
			kept.add(new ModelType("nothing", ModelType.Role.OTHER, 0));
		}
		int count = Math.toIntExact(total);
		int[] from = new int[hierarchy.leafCount() + 1];
		int[] key = new int[count];
		double[] value = new double[count];
		boolean means = request.metric() == Metric.STATE_MEAN;
		long[] duration = new long[means ? count : 0];
		int[] overlapping = new int[means ? count : 0];
		int[] begun = new int[means ? count : 0];
		int leaf = 0;
		int at = 0;
		for (Work w : work) {
			int n = w.cells.count();
			for (int l = 1; l < w.cells.from.length; l++) {
				from[++leaf] = at + w.cells.from[l];
			}
			for (int c = 0; c < n; c++) {
				key[at + c] = w.cells.key[c] / all * kept.size() + renumbered[w.cells.key[c] % all];
			}
			System.arraycopy(w.cells.value, 0, value, at, n);
			if (means) {
				System.arraycopy(w.durations, 0, duration, at, n);
				System.arraycopy(w.overlappings, 0, overlapping, at, n);
				System.arraycopy(w.beguns, 0, begun, at, n);
			}
			at += n;
		}
		return new MicroscopicModel(hierarchy, slices, kept, request.metric(), request.viewpoint(), from, key, value,
				means ? new StateCounts(duration, overlapping, begun) : null);
	}

	/** Work space of one part: what is known of each (slice, type) of the current leaf, then the cells. */
	private final class Work {
		private final MicroscopicModel.Appender cells;
		private long[] durations = {};
		private int[] overlappings = {};
		private int[] beguns = {};
		private final boolean means = request.metric() == Metric.STATE_MEAN;
		private boolean[] used = new boolean[slices.count() * all];
		private double[] amount = new double[slices.count() * all];
		private long[] ticks = new long[slices.count() * all];
		private int[] overlapping = new int[means ? slices.count() * all : 0];
		private int[] begun = new int[overlapping.length];
		private int[] touched = new int[256];
		private int touchedCount;

		Work(int leaves) {
			cells = new MicroscopicModel.Appender(leaves);
		}

		void release() {
			used = null;
			amount = null;
			ticks = null;
			overlapping = null;
			begun = null;
			touched = null;
		}

		void leaf(EventTable events, int producer, Progress progress) throws CancelledException {
			progress.check();
			touchedCount = 0;
			if (request.metric() == Metric.STATE_TIME) {
				if (producer >= 0) {
					new StateTimes(events, request.fromNs(), request.toNs()).of(producer, (row, from, to) -> innermost(events.type(row), from, to));
				}
				endLeaf();
				return;
			}
			int to = producer < 0 ? 0 : events.rowTo(producer);
			for (int row = producer < 0 ? 0 : events.rowFrom(producer); row < to; row++) {
				if ((row & 0xffff) == 0) {
					progress.check();
				}
				if (events.start(row) > request.toNs()) {
					break;
				}
				if (wanted[events.type(row)]) {
					event(events, row);
				}
			}
			endLeaf();
		}

		private void endLeaf() {
			Arrays.sort(touched, 0, touchedCount);
			for (int i = 0; i < touchedCount; i++) {
				cell(touched[i]);
			}
			cells.endLeaf();
		}

		private boolean starts(long start) {
			return start >= request.fromNs() && (start < request.toNs() || lastInstant && start == request.toNs());
		}

		private void event(EventTable events, int row) {
			long start = events.start(row);
			long end = events.end(row);
			int type = events.type(row);
			switch (request.metric().kind()) {
			case EVENTS -> {
				if (starts(start)) {
					ticks[touch(slices.sliceOf(start), type)]++;
				}
			}
			case STATE_DURATION, STATE_MEAN -> {
				if (events.is(row, EventCategory.STATE)) {
					state(start, end, type);
				}
			}
			case VARIABLE_MEAN -> {
				if (events.is(row, EventCategory.VARIABLE)) {
					variable(start, end, type, events.value(row));
				}
			}
			default -> throw new IllegalStateException();
			}
		}

		/** A piece of time within the window. */
		private void innermost(int type, long from, long to) {
			if (wanted[type]) {
				int last = slices.sliceOf(to - 1);
				for (int s = slices.sliceOf(from); s <= last; s++) {
					long overlap = Math.min(to, slices.boundNs(s + 1)) - Math.max(from, slices.boundNs(s));
					if (overlap > 0) {
						ticks[touch(s, type)] += overlap;
					}
				}
			}
		}

		private void state(long start, long end, int type) {
			long from = Math.max(start, request.fromNs());
			long to = Math.min(end, request.toNs());
			if (from >= to) {
				// a state without duration is a state: it counts in the mean
				if (means && start == end && starts(start)) {
					int at = touch(slices.sliceOf(start), type);
					overlapping[at]++;
					begun[at]++;
				}
				return;
			}
			int last = slices.sliceOf(to - 1);
			boolean first = start >= request.fromNs();
			for (int s = slices.sliceOf(from); s <= last; s++) {
				long overlap = Math.min(to, slices.boundNs(s + 1)) - Math.max(from, slices.boundNs(s));
				if (overlap > 0) {
					int at = touch(s, type);
					ticks[at] += overlap;
					if (means) {
						overlapping[at]++;
						begun[at] += first ? 1 : 0;
						first = false;
					}
				}
			}
		}

		private void variable(long start, long end, int type, double v) {
			long from = Math.max(start, request.fromNs());
			long to = Math.min(end, request.toNs());
			if (from >= to || v == 0) {
				return;
			}
			int last = slices.sliceOf(to - 1);
			for (int s = slices.sliceOf(from); s <= last; s++) {
				long overlap = Math.min(to, slices.boundNs(s + 1)) - Math.max(from, slices.boundNs(s));
				if (overlap > 0) {
					amount[touch(s, type)] += v * overlap;
				}
			}
		}

		private int touch(int slice, int type) {
			int key = slice * all + type;
			if (!used[key]) {
				used[key] = true;
				if (touchedCount == touched.length) {
					touched = Arrays.copyOf(touched, 2 * touchedCount);
				}
				touched[touchedCount++] = key;
			}
			return key;
		}

		private void cell(int key) {
			double v = switch (request.metric().kind()) {
			case STATE_MEAN -> (double) ticks[key] / overlapping[key];
			case VARIABLE_MEAN -> amount[key] / slices.lengthNs(key / all);
			default -> ticks[key];
			};
			// a mean of 0 is kept: its count matters
			if (v != 0 || means) {
				int at = cells.count();
				cells.add(key, v);
				if (means) {
					if (at == durations.length) {
						int grown = cells.key.length;
						durations = Arrays.copyOf(durations, grown);
						overlappings = Arrays.copyOf(overlappings, grown);
						beguns = Arrays.copyOf(beguns, grown);
					}
					durations[at] = ticks[key];
					overlappings[at] = overlapping[key];
					beguns[at] = begun[key];
					overlapping[key] = 0;
					begun[key] = 0;
				}
			}
			used[key] = false;
			amount[key] = 0;
			ticks[key] = 0;
		}
	}
}
