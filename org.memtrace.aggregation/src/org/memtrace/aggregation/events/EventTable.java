// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.events;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.ModelRequest;
import org.memtrace.aggregation.model.ModelSource;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.aggregation.time.TimeDensity;
import org.memtrace.aggregation.time.TimeSlices;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The events of a trace of any origin as columns in memory, grouped by producer and ordered by time within a producer: for
 * models by event type. 21 bytes per event, 8 more when there are values, 2 more when there are CPUs. Immutable and safe for all threads.
 */
public final class EventTable implements ModelSource {
	/** Events that are taken into memory at most. */
	static final long MAX_EVENTS = 150_000_000L;
	private static final int CHUNK = 1 << 16;
	private static final EventCategory[] CATEGORIES = EventCategory.values();

	private final TraceInfo info;
	private final ProducerTree producers;
	/** Events of producer id are [rowFrom[id], rowFrom[id + 1]). */
	private final int[] rowFrom;
	private final BitSet innerProducers;
	/** Index into {@link #typeNames}. */
	private final int[] type;
	private final byte[] category;
	private final long[] start;
	private final long[] end;
	/** Values of variables, nesting levels of states, end producers of links; null when all are 0. */
	private final double[] value;
	/** Null when all are 0, as in traces that know no CPUs. */
	private final short[] cpu;
	private final int maxCpu;
	/** Distinct names; types that have the same name are one. */
	private final List<String> typeNames;
	private final BitSet categories;
	/** Whether events were left out: producers without any are no rows then. Set before others see the table. */
	private boolean isFiltered;
	/** Found when they are asked for the first time. */
	private volatile Boolean statesNest;
	private volatile TimeDensity density;

	private EventTable(TraceInfo info, ProducerTree producers, int[] rowFrom, List<String> typeNames, BitSet categories,
			boolean values, int maxCpu) {
		this.info = info;
		this.producers = producers;
		this.rowFrom = rowFrom;
		this.typeNames = typeNames;
		this.categories = categories;
		int n = rowFrom[rowFrom.length - 1];
		this.type = new int[n];
		this.category = new byte[n];
		this.start = new long[n];
		this.end = new long[n];
		this.value = values ? new double[n] : null;
		this.cpu = maxCpu > 0 ? new short[n] : null;
		this.maxCpu = maxCpu;
		this.innerProducers = new BitSet();
		for (int p = 0; p < producers.size(); p++) {
			if (rowFrom[p + 1] > rowFrom[p] && !producers.isLeaf(p)) {
				innerProducers.set(p);
			}
		}
	}

	/** The CPU as it is kept here, of one in a store: 0 when not known. */
	public static int keptCpu(int stored) {
		return Math.max(0, Math.min(Short.MAX_VALUE, stored));
	}

	/** Reads all events of a trace. */
	public static EventTable load(TraceStore store, Progress progress) throws MemtraceException {
		Loader loader = new Loader(store);
		store.visitEvents(AccessQuery.ALL, loader::take, progress);
		return loader.finish(progress);
	}

	/** Collects batches, then sorts them by producer (they arrive by time, which is kept within a producer). */
	private static final class Loader {
		private final TraceStore store;
		private final int producerCount;
		private final List<EventBatch> chunks = new ArrayList<>();
		private final List<String> names = new ArrayList<>();
		/** Index of the name and category of an event type, by its id in the store. */
		private final Map<Integer, int[]> types = new HashMap<>();
		private final BitSet categories = new BitSet();
		private long count;
		private boolean values;
		private int maxCpu;

		Loader(TraceStore store) throws MemtraceException {
			this.store = store;
			this.producerCount = store.producers().size();
			Map<String, Integer> byName = new HashMap<>();
			for (EventType t : store.eventTypes()) {
				int index = byName.computeIfAbsent(t.name(), n -> names.size());
				if (index == names.size()) {
					names.add(t.name());
				}
				types.put(t.id(), new int[] {index, t.category().ordinal()});
			}
		}

		void take(EventBatch b) throws MemtraceException {
			count += b.count;
			if (count > MAX_EVENTS) {
				throw new MemtraceException("the trace has more than " + MAX_EVENTS
						+ " events, which do not fit into memory");
			}
			for (int i = 0; i < b.count; i++) {
				int[] t = types.get(b.type[i]);
				if (t == null) {
					throw new MemtraceException("event " + b.id[i] + " has the type " + b.type[i]
							+ ", which is not among the event types");
				}
				if (b.producer[i] < 0 || b.producer[i] >= producerCount) {
					throw new MemtraceException("event " + b.id[i] + " refers to event producer " + b.producer[i]
							+ ", but there are " + producerCount);
				}
				double v = b.value[i];
				if (t[1] == EventCategory.VARIABLE.ordinal() && !Double.isFinite(v)) {
					throw new MemtraceException("event " + b.id[i] + " has the value " + v);
				}
				categories.set(t[1]);
				if (chunks.isEmpty() || chunks.get(chunks.size() - 1).isFull()) {
					chunks.add(new EventBatch(CHUNK));
				}
				values |= v != 0;
				int cpu = keptCpu(b.cpu[i]);
				maxCpu = Math.max(maxCpu, cpu);
				chunks.get(chunks.size() - 1).add(cpu, t[0], b.producer[i], b.startNs[i], Math.max(b.startNs[i], b.endNs[i]), v,
						t[1]);
			}
		}

		EventTable finish(Progress progress) throws MemtraceException {
			progress.begin("Sorting events", chunks.size());
			int[] from = new int[producerCount + 1];
			for (EventBatch c : chunks) {
				for (int i = 0; i < c.count; i++) {
					from[c.producer[i] + 1]++;
				}
			}
			for (int p = 0; p < producerCount; p++) {
				from[p + 1] += from[p];
			}
			EventTable t = new EventTable(store.info(), store.producers(), from, List.copyOf(names), categories, values,
					maxCpu);
			int[] next = from.clone();
			for (int c = 0; c < chunks.size(); c++) {
				progress.check();
				EventBatch chunk = chunks.set(c, null);
				for (int i = 0; i < chunk.count; i++) {
					int to = next[chunk.producer[i]]++;
					t.type[to] = chunk.type[i];
					t.category[to] = (byte) chunk.cpu[i];
					t.start[to] = chunk.startNs[i];
					t.end[to] = chunk.endNs[i];
					if (t.cpu != null) {
						t.cpu[to] = (short) chunk.id[i];
					}
					if (t.value != null) {
						t.value[to] = chunk.value[i];
					}
				}
				progress.worked(1);
			}
			return t;
		}
	}

	/** Which events are wanted. */
	public interface Filter {
		/** Whether any event of a producer itself may be. */
		boolean hasProducer(int id);

		/**
		 * @param type index into {@link #typeNames}
		 * @param cpu as {@link #keptCpu} gives it
		 */
		boolean passes(int producer, int type, int cpu);
	}

	/** The table of only the wanted events. Producers and types keep their numbers. */
	public EventTable filtered(Filter wanted, Progress progress) throws CancelledException {
		progress.begin("Filtering events", producers.size());
		int[] from = new int[rowFrom.length];
		int[] kept = new int[size()];
		BitSet keptCategories = new BitSet();
		int n = 0;
		for (int p = 0; p < rowFrom.length - 1; p++) {
			if ((p & 0xfff) == 0) {
				progress.check();
			}
			from[p] = n;
			if (!wanted.hasProducer(p)) {
				continue;
			}
			for (int row = rowFrom[p]; row < rowFrom[p + 1]; row++) {
				if (wanted.passes(p, type[row], cpu == null ? 0 : cpu[row])) {
					kept[n++] = row;
					keptCategories.set(category[row]);
				}
			}
		}
		from[rowFrom.length - 1] = n;
		EventTable t = new EventTable(info, producers, from, typeNames, keptCategories, value != null, maxCpu);
		t.isFiltered = true;
		for (int i = 0; i < n; i++) {
			int row = kept[i];
			t.type[i] = type[row];
			t.category[i] = category[row];
			t.start[i] = start[row];
			t.end[i] = end[row];
			if (value != null) {
				t.value[i] = value[row];
			}
			if (cpu != null) {
				t.cpu[i] = cpu[row];
			}
		}
		return t;
	}

	@Override
	public TraceInfo info() {
		return info;
	}

	@Override
	public ProducerTree producers() {
		return producers;
	}

	@Override
	public long records() {
		return size();
	}

	/** Number of events. */
	public int size() {
		return type.length;
	}

	/** Bytes of the columns. */
	public long memoryBytes() {
		return (21L + (value == null ? 0 : 8) + (cpu == null ? 0 : 2)) * size() + 4L * rowFrom.length;
	}

	/** Whether there are events of a category. */
	public boolean has(EventCategory wanted) {
		return categories.get(wanted.ordinal());
	}

	/** Whether a producer is in several states at a time. */
	public boolean statesNest() {
		Boolean known = statesNest;
		if (known == null) {
			known = has(EventCategory.STATE) && findNested();
			statesNest = known;
		}
		return known;
	}

	private boolean findNested() {
		for (int p = 0; p + 1 < rowFrom.length; p++) {
			long latest = Long.MIN_VALUE;
			for (int row = rowFrom[p]; row < rowFrom[p + 1]; row++) {
				if (is(row, EventCategory.STATE) && end[row] > start[row]) {
					if (start[row] < latest) {
						return true;
					}
					latest = end[row];
				}
			}
		}
		return false;
	}

	/** The metric that says most: time in (innermost) states, else means of variables, else event counts. */
	public Metric defaultMetric() {
		return has(EventCategory.STATE) ? statesNest() ? Metric.STATE_TIME : Metric.STATE_DURATION
				: has(EventCategory.VARIABLE) ? Metric.VARIABLE_MEAN : Metric.EVENTS;
	}

	@Override
	public Hierarchy hierarchy(int producer, Progress progress) {
		int from = Math.max(0, producer);
		int to = producer < 0 ? producers.size() : producers.subtreeEnd(producer);
		return isFiltered ? Hierarchy.of(producers, from, to, innerProducers, Hierarchy.withRows(producers, from, to, p -> rowFrom[p]))
				: Hierarchy.of(producers, from, to, innerProducers);
	}

	/** The slices of a request. */
	TimeSlices slices(ModelRequest request) {
		if (request.slicing() == Slicing.UNIFORM || !request.metric().isAmount()) {
			return new TimeSlices(request.fromNs(), request.toNs(), request.slices());
		}
		return timeDensity().slices(request.fromNs(), request.toNs(), request.slices());
	}

	/** How many events began when, and when each producer had its first one. */
	public TimeDensity timeDensity() {
		TimeDensity known = density;
		if (known == null) {
			TimeDensity.Times cells = TimeDensity.Times.of(null, info.startNs(), info.endNs());
			long[] events = new long[cells.count()];
			long[] first = new long[cells.count()];
			for (int p = 0; p + 1 < rowFrom.length; p++) {
				for (int row = rowFrom[p]; row < rowFrom[p + 1]; row++) {
					int cell = cells.number(start[row], start[row]);
					events[cell]++;
					first[cell] += row == rowFrom[p] ? 1 : 0;
				}
			}
			known = cells.density(i -> events[i], i -> first[i]);
			density = known;
		}
		return known;
	}

	@Override
	public MicroscopicModel model(ModelRequest request, Hierarchy hierarchy, Progress progress) throws CancelledException {
		return new EventModelBuilder(this, request).build(hierarchy, progress);
	}

	/** Distinct names of event types; {@link #type} is an index into it. */
	public List<String> typeNames() {
		return typeNames;
	}

	/** Rows of a producer, in order of time: [rowFrom(producer), rowTo(producer)). */
	public int rowFrom(int producer) {
		return rowFrom[producer];
	}

	/** First row after those of a producer. */
	public int rowTo(int producer) {
		return rowFrom[producer + 1];
	}

	/** Index of the type of a row. */
	public int type(int row) {
		return type[row];
	}

	/** Whether a row is of a category. */
	public boolean is(int row, EventCategory wanted) {
		return category[row] == wanted.ordinal();
	}

	/** Start of a row. */
	public long start(int row) {
		return start[row];
	}

	/** End of a row, its start for a punctual event. */
	public long end(int row) {
		return end[row];
	}

	/** Value of a variable, nesting level of a state, end producer of a link; 0 when nothing in the trace has a value. */
	public double value(int row) {
		return value == null ? 0 : value[row];
	}

	/** CPU of a row, 0 when not known. */
	public int cpu(int row) {
		return cpu == null ? 0 : cpu[row];
	}

	/** Largest CPU, 0 when none is known. */
	public int maxCpu() {
		return maxCpu;
	}

	/** Category of a row. */
	public EventCategory category(int row) {
		return CATEGORIES[category[row]];
	}
}
