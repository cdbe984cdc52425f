// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.memtrace.aggregation.AccessCube;
import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.EventTable;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.StateTimes;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Parts;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.CountUnit;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.tree.ProducerTree;

/**
 * Sums over a window of time and a subtree, divided by one property: what a pie shows. Accesses of records that overlap
 * the window only in part are counted in proportion, as everywhere; records and events that overlap it count as one.
 */
public final class Statistics {
	/** What is summed. */
	public enum Sum {
		ACCESSES("Accesses"), READS("Reads"), WRITES("Writes"),
		/** Records of accesses: a page, an interval and a thread. */
		RECORDS("Records"),
		/** Events of traces of any origin. */
		EVENTS("Events"),
		/** Time in states within the window; of states that nest each instant counts for the innermost. */
		STATE_TIME("State duration"),
		/** The same, and nested states count each. */
		STATE_DURATION("State duration with nested states"),
		/** Time between the ends of links within the window. */
		LINK_TIME("Link duration"),
		/** The time of the window of each producer: in its innermost states, and in none. */
		TIME_OF_ALL("Time of all producers"),
		/** The same of producers that have no others below them. */
		TIME_OF_LEAVES("Time of leaf producers"),
		/** The same of producers that have events in the window. */
		TIME_OF_ACTIVE("Time of active producers");

		private final String label;

		Sum(String label) {
			this.label = label;
		}

		/** Its name for a trace whose numbers count what {@code unit} says. */
		public String label(CountUnit unit) {
			return this == ACCESSES ? unit.title() : this != RECORDS ? label : unit == CountUnit.RECORDS ? "Rows" : label;
		}

		/** Name on the command line. */
		public String id() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

		/** Whether it is a sum over accesses and not over events. */
		public boolean ofAccesses() {
			return ordinal() <= RECORDS.ordinal();
		}

		/** Whether values are nanoseconds. */
		public boolean isTime() {
			return this == STATE_TIME || this == STATE_DURATION || this == LINK_TIME || isTimeOfProducers();
		}

		/** Whether the whole is all the time that producers have, so that shares are shares of their time. */
		public boolean isTimeOfProducers() {
			return ordinal() >= TIME_OF_ALL.ordinal();
		}

		/**
		 * A value for a person.
		 *
		 * @param ticks whether times are ticks of a logical clock
		 */
		public String text(double value, boolean ticks) {
			return isTime() ? Units.duration(value, ticks) : Units.count(value);
		}
	}

	/** By what it is divided. */
	public enum By {
		/** Structures, stacks and ranges; parts of them when one of them is shown. */
		STRUCTURE("structure"), THREAD("thread"),
		/** A record that saw several CPUs is divided equally among them. */
		CPU("CPU"),
		/** NUMA node of the page. */
		NODE("NUMA node"),
		/** Private or shared, read or write; or the type of events. */
		TYPE("type"),
		/** Number of threads that used the page at the same time. */
		SHARING("sharing"),
		/** Event producer. */
		PRODUCER("producer");

		private final String label;

		By(String label) {
			this.label = label;
		}

		public String label() {
			return label;
		}
	}

	/**
	 * One part of the whole.
	 *
	 * @param key the same for the same thing in other windows
	 * @param name what a person reads
	 * @param type what chooses the colour; of role OTHER for structures and producers, which have theirs by name
	 * @param producer event producer, or -1
	 * @param index index of the thread, CPU, node or type, number of threads for sharing; -1 for what is not known
	 */
	public record Item(String key, String name, ModelType type, int producer, int index, double value) {
		/** Colour in a palette. */
		public int color(Palette palette) {
			return producer >= 0 ? palette.structure(name) : palette.color(type);
		}
	}

	private static final int CHECK_EVERY = 0x3ff;

	private Statistics() {
	}

	/** What accesses can be divided by. */
	public static List<By> keysOfAccesses() {
		return List.of(By.STRUCTURE, By.THREAD, By.CPU, By.NODE, By.TYPE, By.SHARING);
	}

	/** What events can be divided by. */
	public static List<By> keysOfEvents() {
		return List.of(By.TYPE, By.PRODUCER);
	}

	/** The sums of accesses. */
	public static List<Sum> sumsOfAccesses() {
		return List.of(Sum.ACCESSES, Sum.READS, Sum.WRITES, Sum.RECORDS);
	}

	/** The sums that the events of a trace have. */
	public static List<Sum> sumsOfEvents(EventTable events) {
		List<Sum> sums = new ArrayList<>(List.of(Sum.EVENTS));
		if (events.has(EventCategory.STATE)) {
			sums.add(Sum.STATE_TIME);
			if (events.statesNest()) {
				sums.add(Sum.STATE_DURATION);
			}
			sums.addAll(List.of(Sum.TIME_OF_ALL, Sum.TIME_OF_LEAVES, Sum.TIME_OF_ACTIVE));
		}
		if (events.has(EventCategory.LINK)) {
			sums.add(Sum.LINK_TIME);
		}
		return sums;
	}

	/**
	 * Divides accesses.
	 *
	 * @param producer root of the subtree, negative for all
	 * @return parts that are not 0, in their natural order
	 */
	public static List<Item> of(AccessTable table, Sum sum, By by, long fromNs, long toNs, int producer, Progress progress)
			throws MemtraceException {
		if (!sum.ofAccesses() || by == By.PRODUCER) {
			throw new IllegalArgumentException(sum + " by " + by);
		}
		List<Integer> parts = by == By.STRUCTURE ? Parts.ids(table.producers(), producer) : null;
		int size = switch (by) {
		case STRUCTURE -> parts.size();
		case THREAD -> table.threads().size() + 1;
		case CPU -> table.maxCpu() + 2;
		case NODE -> table.maxNode(progress) + 2;
		case SHARING -> table.maxSharing(progress) + 1;
		default -> 4;
		};
		double[] sums = new double[size];
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES);
		switch (by) {
		case THREAD -> columns.add(AccessColumn.THREAD);
		case CPU -> columns.add(AccessColumn.CPU_SET);
		case NODE -> columns.add(AccessColumn.NODE);
		case SHARING, TYPE -> columns.add(AccessColumn.SHARING);
		default -> {
		}
		}
		long[] whole = new long[size];
		AccessQuery query = table.query(producer, fromNs, toNs);
		Sums saved = saved(table, query, parts, progress, new Sums(table, sum, by, parts, fromNs, toNs, size));
		for (Sums part : saved != null ? List.of(saved) : table.scan().run(query, columns, "Sums by " + by.label(), progress,
				(from, to) -> new Sums(table, sum, by, parts, fromNs, toNs, size))) {
			for (int i = 0; i < size; i++) {
				sums[i] += part.sums[i];
				whole[i] += part.whole[i];
			}
		}
		for (int i = 0; i < size; i++) {
			sums[i] += whole[i];
		}
		List<Item> items = new ArrayList<>();
		for (int i = 0; i < sums.length; i++) {
			if (sums[i] != 0) {
				items.add(item(table, by, parts, i, i == sums.length - 1, sums[i]));
			}
		}
		return items;
	}

	/** Fills sums from those that are saved with the trace; null when the accesses have to be read. */
	private static Sums saved(AccessTable table, AccessQuery query, List<Integer> parts, Progress progress, Sums into) throws MemtraceException {
		if (into.by != By.STRUCTURE && into.by != By.THREAD && into.by != By.TYPE || parts != null && !table.tellsApart(
				parts.stream().mapToInt(p -> p).toArray(), parts.stream().mapToInt(table.producers()::subtreeEnd).toArray(), progress)) {
			return null;
		}
		AccessCube.Rows rows = table.rows(query, true, false, progress);
		if (rows == null) {
			return null;
		}
		AccessChunk c = rows.chunk();
		for (int l = 0; l < c.leaves; l++) {
			if (into.by == By.STRUCTURE && !into.isInPart(c.leaf[l])) {
				return null; // as it has rows, something else is asked than what was summed
			}
			for (int row = c.leafFrom[l]; row < c.leafFrom[l + 1]; row++) {
				into.whole(c, row, rows.records(), row);
			}
		}
		return into;
	}

	/** The sums of some pages. */
	private static final class Sums implements AccessScan.Part {
		private final AccessTable table;
		private final Sum sum;
		private final By by;
		private final List<Integer> parts;
		private final long fromNs;
		private final long toNs;
		/** Sums of what counts in part or is divided, and of what counts as a whole. */
		private final double[] sums;
		private final long[] whole;
		private double[] share = new double[0];
		private int part = -1;

		Sums(AccessTable table, Sum sum, By by, List<Integer> parts, long fromNs, long toNs, int size) {
			this.table = table;
			this.sum = sum;
			this.by = by;
			this.parts = parts;
			this.fromNs = fromNs;
			this.toNs = toNs;
			sums = new double[size];
			whole = new long[size];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			share = AccessScan.shares(c, fromNs, toNs, share);
			for (int l = leafFrom; l < leafTo; l++) {
				if (by == By.STRUCTURE && !isInPart(c.leaf[l])) {
					continue; // above the parts: has no rows
				}
				int end = c.leafFrom[l + 1];
				for (int row = c.leafFrom[l]; row < end; row++) {
					double w = share[c.time[row]];
					if (w == 1 && by != By.CPU || w != 0 && sum == Sum.RECORDS && by != By.CPU) {
						whole(c, row, null, 0);
					} else if (w != 0) {
						row(c, row, w);
					}
				}
			}
		}

		/** Goes on to the part that holds a producer. */
		private boolean isInPart(int producer) {
			if (part < 0) {
				int at = Collections.binarySearch(parts, producer);
				part = at >= 0 ? at : Math.max(0, -at - 2);
			}
			while (part + 1 < parts.size() && parts.get(part + 1) <= producer) {
				part++;
			}
			return part < parts.size() && parts.get(part) <= producer && producer < table.producers().subtreeEnd(parts.get(part));
		}

		/**
		 * Adds a row that counts as a whole, in whole numbers: so it does not matter in which order rows are added.
		 *
		 * @param records how many records the row stands for, at {@code place}; null for one
		 */
		private void whole(AccessChunk c, int row, AccessCube.Counts records, int place) {
			long reads = c.reads[row];
			long writes = c.writes[row];
			switch (sum) {
			case READS -> writes = 0;
			case WRITES -> reads = 0;
			case RECORDS -> {
				// by type, reads and writes are two events as they are for FrameSoc
				if (by == By.TYPE) {
					reads = records != null ? records.withReads()[place] : reads > 0 ? 1 : 0;
					writes = records != null ? records.withWrites()[place] : writes > 0 ? 1 : 0;
				} else {
					reads = records != null ? records.all()[place] : reads > 0 || writes > 0 ? 1 : 0;
					writes = 0;
				}
			}
			default -> {
			}
			}
			int at = place(c, row);
			if (by == By.TYPE) {
				whole[at] += reads;
				whole[at + 1] += writes;
			} else {
				whole[at] += reads + writes;
			}
		}

		/** Where a row counts that is not divided among CPUs; by type its writes count in the next place. */
		private int place(AccessChunk c, int row) {
			int unknown = sums.length - 1;
			return switch (by) {
			case STRUCTURE -> part;
			case THREAD -> c.thread[row] < 0 || c.thread[row] >= sums.length ? unknown : c.thread[row];
			case NODE -> c.node[row] < 0 ? unknown : c.node[row];
			case SHARING -> c.sharing[row];
			default -> c.sharing[row] > 1 ? 2 : 0;
			};
		}

		/** Adds a row that counts in part, or is divided among CPUs. */
		private void row(AccessChunk c, int row, double w) {
			double reads = w * c.reads[row];
			double writes = w * c.writes[row];
			switch (sum) {
			case READS -> writes = 0;
			case WRITES -> reads = 0;
			case RECORDS -> {
				reads = c.reads[row] > 0 || c.writes[row] > 0 ? 1 : 0;
				writes = 0;
			}
			default -> {
			}
			}
			if (by == By.CPU) {
				int[] cpus = table.cpus(c.cpuSet[row]);
				if (cpus.length == 0) {
					sums[sums.length - 1] += reads + writes;
				}
				for (int cpu : cpus) {
					sums[cpu] += (reads + writes) / cpus.length;
				}
				return;
			}
			int at = place(c, row);
			if (by == By.TYPE) {
				sums[at] += reads;
				sums[at + 1] += writes;
			} else {
				sums[at] += reads + writes;
			}
		}
	}

	static final ModelType.Role[] TYPE_ROLES = {ModelType.Role.PRIVATE_READ, ModelType.Role.PRIVATE_WRITE,
		ModelType.Role.SHARED_READ, ModelType.Role.SHARED_WRITE};

	private static Item item(AccessTable table, By by, List<Integer> parts, int i, boolean last, double value) {
		if (last && (by == By.THREAD || by == By.CPU || by == By.NODE)) {
			return new Item(by + "?", by.label() + " not known", new ModelType("unknown", ModelType.Role.UNKNOWN, 0), -1, -1, value);
		}
		return switch (by) {
		case STRUCTURE -> {
			String name = table.producers().name(parts.get(i));
			yield new Item("P" + parts.get(i), name, new ModelType(name, ModelType.Role.OTHER, i), parts.get(i), i, value);
		}
		case THREAD -> new Item("T" + i, ModelText.thread(table.threads(), i), ModelType.thread(table.threads().get(i)), -1, i,
				value);
		case CPU -> new Item("C" + i, "CPU " + i, ModelType.cpu(i), -1, i, value);
		case NODE -> new Item("N" + i, "Node " + i, ModelType.node(i), -1, i, value);
		case SHARING -> new Item("S" + i, i <= 1 ? "private" : "shared by " + i, i <= 1
				? new ModelType(AccessFilter.TYPES[1], ModelType.Role.PRIVATE_WRITE, 0)
				: new ModelType("shared by " + i, ModelType.Role.OTHER, i - 1), -1, i, value);
		default -> new Item("Y" + i, AccessFilter.TYPES[i].replace('_', ' ').toLowerCase(Locale.ROOT), new ModelType(AccessFilter.TYPES[i], TYPE_ROLES[i], 0), -1, i,
				value);
		};
	}

	/** Divides events; those that overlap the window, times within it. */
	public static List<Item> of(EventTable table, Sum sum, By by, long fromNs, long toNs, int producer, Progress progress)
			throws CancelledException {
		if (sum.ofAccesses() || by != By.TYPE && by != By.PRODUCER) {
			throw new IllegalArgumentException(sum + " by " + by);
		}
		ProducerTree tree = table.producers();
		int from = Math.max(0, producer);
		int to = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
		double[] sums = new double[by == By.TYPE ? table.typeNames().size() : to - from];
		double inNone = 0;
		StateTimes states = sum.isTimeOfProducers() || sum == Sum.STATE_TIME ? new StateTimes(table, fromNs, toNs) : null;
		progress.begin("Sums by " + by.label(), to - from);
		for (int id = from; id < to; id++) {
			if ((id & CHECK_EVERY) == 0) {
				progress.check();
				progress.worked(CHECK_EVERY + 1);
			}
			if (states != null) {
				if (sum == Sum.TIME_OF_ALL || sum == Sum.STATE_TIME || (sum == Sum.TIME_OF_LEAVES ? tree.isLeaf(id) : states.isActive(id))) {
					int place = id - from;
					long none = states.of(id, (type, start, end) -> sums[by == By.TYPE ? type : place] += end - start);
					inNone += sum.isTimeOfProducers() ? none : 0;
				}
				continue;
			}
			for (int row = table.rowFrom(id); row < table.rowTo(id) && table.start(row) < toNs; row++) {
				long start = Math.max(fromNs, table.start(row));
				long end = Math.min(toNs, table.end(row));
				if (table.end(row) <= fromNs && table.start(row) < fromNs) {
					continue;
				}
				double value = switch (sum) {
				case STATE_DURATION -> table.is(row, EventCategory.STATE) ? Math.max(0, end - start) : 0;
				case LINK_TIME -> table.is(row, EventCategory.LINK) ? Math.max(0, end - start) : 0;
				default -> 1;
				};
				sums[by == By.TYPE ? table.type(row) : id - from] += value;
			}
		}
		List<ModelType> types = ModelType.ofEvents(table.typeNames());
		List<Item> items = new ArrayList<>();
		for (int i = 0; i < sums.length; i++) {
			if (sums[i] != 0) {
				if (by == By.TYPE) {
					String name = table.typeNames().get(i);
					items.add(new Item("E" + name, name, types.get(i), -1, i, sums[i]));
				} else {
					String name = tree.name(from + i);
					items.add(new Item("P" + (from + i), name, new ModelType(name, ModelType.Role.OTHER, i), from + i, i, sums[i]));
				}
			}
		}
		if (inNone > 0) {
			items.add(new Item("E?", "in no state", new ModelType("in no state", ModelType.Role.UNKNOWN, 0), -1, -1, inNone));
		}
		return items;
	}
}
