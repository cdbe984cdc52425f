// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.memtrace.aggregation.AccessCube;
import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Question;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues.Kind;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.events.EventTable;
import org.memtrace.aggregation.events.StateTimes;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.dimension.Dimensions;
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
		/** Bytes of pages that were accessed, while their structures live; only a density has it, and it is a level, not a sum. */
		MEMORY("Memory"),
		/** Events of traces of any origin. */
		EVENTS("Events"),
		/** Time in states within the window; of states that nest each instant counts for the innermost. */
		STATE_TIME("State duration"),
		/** Time in states within the window; of states that nest each one counts. */
		STATE_DURATION("State duration with nested states"),
		/** Time between the ends of links within the window. */
		LINK_TIME("Link duration"),
		/** The time of the window of each producer: in its innermost states, and in none. */
		TIME_OF_ALL("Time of all producers"),
		/** As {@link #TIME_OF_ALL}, only of producers that have no others below them. */
		TIME_OF_LEAVES("Time of leaf producers"),
		/** As {@link #TIME_OF_ALL}, only of producers that have events in the window. */
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
			return ordinal() <= MEMORY.ordinal();
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

	/**
	 * One part of the whole.
	 *
	 * @param key the same for the same thing in other windows
	 * @param name what a person reads
	 * @param type what chooses the colour; of producers it is the name that does
	 * @param producer event producer, or -1
	 * @param index the value of the dimension, such as the index of a thread; -1 for what is not known
	 * @param named what a filter calls the value, empty for what is not known
	 */
	public record Item(String key, String name, ModelType type, int producer, int index, String named, double value) {
		/** One that no filter names. */
		public Item(String key, String name, ModelType type, int producer, int index, double value) {
			this(key, name, type, producer, index, "", value);
		}

		/** Colour in a palette. */
		public int color(Palette palette) {
			return producer >= 0 ? palette.structure(name) : palette.color(type);
		}
	}

	private static final int CHECK_EVERY = 0x3ff;

	private Statistics() {
	}

	/** What accesses can be divided by: all dimensions that can group. */
	public static List<Dimension> keysOfAccesses() {
		return Dimensions.of(Use.GROUP);
	}

	/** What events can be divided by. */
	public static List<Dimension> keysOfEvents() {
		return List.of(BasicDimensions.EVENT_TYPE, BasicDimensions.EVENT_PRODUCER);
	}

	/** What memory is divided by at first: structures, stacks and ranges. */
	public static Dimension structures() {
		return Dimensions.find("structure", Use.GROUP);
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

	/** Windows of time in a whole. */
	private static final int WINDOWS = 12;
	/** Parts of a whole at most; a pie of more says nothing. */
	private static final int MOST_ITEMS = 1_000_000;

	/**
	 * Divides accesses.
	 *
	 * @param by a dimension that can group
	 * @param producer root of the subtree, negative for all
	 * @return parts that are not 0, in the order of their values
	 */
	public static List<Item> of(AccessTable table, Sum sum, Dimension by, long fromNs, long toNs, int producer, Progress progress)
			throws MemtraceException {
		if (!sum.ofAccesses() || !by.can(Use.GROUP) || keysOfEvents().contains(by)) {
			throw new IllegalArgumentException(sum + " by " + by);
		}
		long from = Math.max(fromNs, table.info().startNs());
		long windowNs = Math.max(1, Math.ceilDiv(Math.min(toNs, table.info().endNs()) - from, WINDOWS));
		Dimension asked = by.of(new Question(producer, from, windowNs, true));
		DimensionValues values = asked.values(table, progress);
		Set<AccessColumn> columns = EnumSet.of(AccessColumn.TIME, AccessColumn.READS, AccessColumn.WRITES);
		columns.addAll(asked.columns());
		AccessQuery query = table.query(producer, fromNs, toNs);
		Sums all = new Sums(sum, values, fromNs, toNs);
		if (!saved(table, query, asked, producer, progress, all)) {
			for (Sums part : table.scan().run(query, columns, "Sums by " + by.label(), progress,
					(first, end) -> new Sums(sum, values, fromNs, toNs))) {
				all.add(part);
			}
		}
		List<Item> items = new ArrayList<>();
		for (int at : all.ordered()) {
			double value = all.sums[at] + all.whole[at];
			if (value != 0) {
				items.add(item(by, values, all.places.value(at), value));
			}
		}
		return items;
	}

	/** Fills sums from those that are saved with the trace; false when the accesses have to be read. */
	private static boolean saved(AccessTable table, AccessQuery query, Dimension by, int producer, Progress progress, Sums into)
			throws MemtraceException {
		if (!by.isOfSums() || by.columns().contains(AccessColumn.TIME)) {
			return false;
		}
		boolean parted = by.id().equals(structures().id());
		if (parted) { // it may be divided into parts that the sums do not tell apart
			int[] parts = Parts.ids(table.producers(), producer).stream().mapToInt(p -> p).toArray();
			if (!table.tellsApart(parts, Arrays.stream(parts).map(table.producers()::subtreeEnd).toArray(), progress)) {
				return false;
			}
		}
		AccessCube.Rows rows = table.rows(query, true, false, progress);
		if (rows == null) {
			return false;
		}
		AccessChunk c = rows.chunk();
		into.values(c, 0, c.leaves);
		for (int row = 0; row < c.rows; row++) {
			if (into.value[row] == DimensionValues.UNKNOWN && parted) {
				return false; // as it has rows, something else is asked than what was summed
			}
		}
		for (int row = 0; row < c.rows; row++) {
			into.whole(c, row, rows.records(), row);
		}
		return true;
	}

	/** Gives each value a place, in the order in which they come. */
	private static final class Places {
		/** Values below this have an array, others a map. */
		private static final int SMALL = 1 << 16;

		private int[] small = new int[0];
		private final Map<Long, Integer> large = new HashMap<>();
		private long[] value = new long[16];
		private int count;

		int of(long v) {
			if (v >= -1 && v < SMALL) {
				int at = (int) v + 1;
				if (at >= small.length) {
					small = Arrays.copyOf(small, Math.max(at + 1, Math.min(SMALL + 1, 2 * small.length)));
				}
				if (small[at] == 0) {
					small[at] = next(v) + 1;
				}
				return small[at] - 1;
			}
			return large.computeIfAbsent(v, this::next);
		}

		private int next(long v) {
			if (count == value.length) {
				value = Arrays.copyOf(value, 2 * count);
			}
			value[count] = v;
			return count++;
		}

		long value(int place) {
			return value[place];
		}
	}

	/** The sums of some pages. */
	private static final class Sums implements AccessScan.Part {
		private final Sum sum;
		private final DimensionValues values;
		private final Kind kind;
		private final long fromNs;
		private final long toNs;
		private final Places places = new Places();
		/** Sums of what counts in part or is divided, and of what counts as a whole. */
		private double[] sums = new double[16];
		private long[] whole = new long[16];
		private double[] share = new double[0];
		private long[] value = new long[0];

		Sums(Sum sum, DimensionValues values, long fromNs, long toNs) {
			this.sum = sum;
			this.values = values;
			this.kind = values.kind();
			this.fromNs = fromNs;
			this.toNs = toNs;
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) throws MemtraceException {
			share = AccessScan.shares(c, fromNs, toNs, share);
			values(c, leafFrom, leafTo);
			int end = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < end; row++) {
				double w = share[c.time[row]];
				if (kind != Kind.SHARES && (w == 1 || w != 0 && sum == Sum.RECORDS)) {
					whole(c, row, null, 0);
				} else if (w != 0) {
					row(c, row, w);
				}
			}
		}

		/** Reads the values of some rows. */
		void values(AccessChunk c, int leafFrom, int leafTo) {
			if (value.length < c.rows) {
				value = new long[Math.max(c.rows, 2 * value.length)];
			}
			values.read(c, leafFrom, leafTo, value);
		}

		/**
		 * Adds a row that counts as a whole, in whole numbers: so it does not matter in which order rows are added.
		 *
		 * @param records how many records the row stands for, at {@code place}; null for one
		 */
		private void whole(AccessChunk c, int row, AccessCube.Counts records, int place) throws MemtraceException {
			long reads = c.reads[row];
			long writes = c.writes[row];
			switch (sum) {
			case READS -> writes = 0;
			case WRITES -> reads = 0;
			case RECORDS -> {
				// by type, reads and writes are two events as they are for FrameSoc
				if (kind == Kind.BY_DIRECTION) {
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
			if (kind == Kind.BY_DIRECTION) {
				addWhole(value[row], reads);
				addWhole(value[row] + 1, writes);
			} else {
				addWhole(value[row], reads + writes);
			}
		}

		/** Adds a row that counts in part, or is divided among several values. */
		private void row(AccessChunk c, int row, double w) throws MemtraceException {
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
			switch (kind) {
			case SHARES -> {
				int[] members = values.members(value[row]);
				if (members.length == 0) {
					add(DimensionValues.UNKNOWN, reads + writes);
				}
				for (int member : members) {
					add(member, (reads + writes) / members.length);
				}
			}
			case BY_DIRECTION -> {
				add(value[row], reads);
				add(value[row] + 1, writes);
			}
			default -> add(value[row], reads + writes);
			}
		}

		private void add(long v, double amount) throws MemtraceException {
			int at = place(v);
			sums[at] += amount;
		}

		private void addWhole(long v, long amount) throws MemtraceException {
			int at = place(v);
			whole[at] += amount;
		}

		private int place(long v) throws MemtraceException {
			int at = places.of(v);
			if (at >= sums.length) {
				if (at >= MOST_ITEMS) {
					throw new MemtraceException("there are more than " + MOST_ITEMS + " values to divide by; choose a part of the memory or time");
				}
				sums = Arrays.copyOf(sums, 2 * sums.length);
				whole = Arrays.copyOf(whole, 2 * whole.length);
			}
			return at;
		}

		void add(Sums other) throws MemtraceException {
			for (int i = 0; i < other.places.count; i++) {
				int at = place(other.places.value(i));
				sums[at] += other.sums[i];
				whole[at] += other.whole[i];
			}
		}

		/** Places in the order of their values, what is not known last. */
		int[] ordered() {
			return IntStream.range(0, places.count).boxed()
					.sorted(Comparator.comparingLong((Integer at) -> places.value(at) == DimensionValues.UNKNOWN ? Long.MAX_VALUE : places.value(at)))
					.mapToInt(Integer::intValue).toArray();
		}
	}

	/** Beginnings of keys that were kept with traces before all dimensions could divide. */
	private static final Map<String, String> OLD_KEYS = Map.of("thread", "T", "cpu", "C", "node", "N", "sharing", "S", "type", "Y");

	private static Item item(Dimension by, DimensionValues values, long v, double value) {
		if (v == DimensionValues.UNKNOWN) {
			return new Item(by.id().toUpperCase(Locale.ROOT) + "?", by.label() + " not known", new ModelType("unknown", ModelType.Role.UNKNOWN, 0),
					-1, -1, value);
		}
		int producer = values.producer(v);
		ModelType type = values.type(v);
		String name = values.label(v) != null ? values.label(v) : ModelText.type(type);
		String key = producer >= 0 ? "P" + producer : OLD_KEYS.containsKey(by.id()) ? OLD_KEYS.get(by.id()) + v : by.id() + ":" + values.name(v);
		return new Item(key, name, type, producer, (int) Math.min(Integer.MAX_VALUE, v), values.name(v), value);
	}

	/** Divides events; those that overlap the window, times within it. */
	public static List<Item> of(EventTable table, Sum sum, Dimension by, long fromNs, long toNs, int producer, Progress progress)
			throws CancelledException {
		if (sum.ofAccesses() || !keysOfEvents().contains(by)) {
			throw new IllegalArgumentException(sum + " by " + by);
		}
		boolean byType = by == BasicDimensions.EVENT_TYPE;
		ProducerTree tree = table.producers();
		int from = Math.max(0, producer);
		int to = producer < 0 ? tree.size() : tree.subtreeEnd(producer);
		double[] sums = new double[byType ? table.typeNames().size() : to - from];
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
					long none = states.of(id, (row, start, end) -> sums[byType ? table.type(row) : place] += end - start);
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
				sums[byType ? table.type(row) : id - from] += value;
			}
		}
		List<ModelType> types = ModelType.ofEvents(table.typeNames());
		List<Item> items = new ArrayList<>();
		for (int i = 0; i < sums.length; i++) {
			if (sums[i] != 0) {
				if (byType) {
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
