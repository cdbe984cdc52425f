// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

import org.memtrace.analysis.filter.AccessFilter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * Writes a trace as the records that {@code memtrace otf2-write} makes an OTF2 archive of (docs/reference/otf2-stream.md). A producer with
 * events is a
 * location, the one above it its location group, those above that are system tree nodes. States are regions, instants parameters, variables
 * metrics, links messages. States of a producer that do not nest, which OTF2 does not know, go to further locations beside it. Of a memory
 * trace each structure and each thread is a location with a metric of four values: the counts of the records under way. Times are those
 * of the
 * trace, in nanoseconds. Errors of the output are {@link UncheckedIOException}. Used by one thread.
 */
public final class Otf2Records {
	private static final String MAGIC = "memtrace-otf2/1\n";
	private static final int RECORD_BYTES = 32;
	private static final int BUFFER = 1 << 16;
	/** Longest text that is a string of the archive. */
	private static final int LONGEST_TEXT = 1 << 16;
	/** Different texts that are kept for events; more come without. */
	private static final int MOST_TEXTS = 1 << 20;

	// kinds of records, as in otf2_library.h
	private static final int CLOCK = 1;
	private static final int REALTIME = 2;
	private static final int STRING = 3;
	private static final int TREE_NODE = 4;
	private static final int LOCATION_GROUP = 5;
	private static final int LOCATION = 6;
	private static final int REGION = 7;
	private static final int ATTRIBUTE = 8;
	private static final int GROUP = 9;
	private static final int COMM = 10;
	private static final int METRIC_MEMBER = 12;
	private static final int METRIC_CLASS = 13;
	private static final int PARAMETER = 17;
	private static final int LOCATION_BEGIN = 32;
	private static final int EVENT_ATTRIBUTE = 34;
	private static final int ENTER = 35;
	private static final int LEAVE = 36;
	private static final int SEND = 40;
	private static final int RECEIVE = 41;
	private static final int METRIC = 45;
	private static final int PARAMETER_STRING = 46;
	private static final int STREAM_END = 127;

	// numbers of OTF2
	private static final long NOTHING = 0xffffffffL;
	private static final int TYPE_UINT64 = 4;
	private static final int TYPE_DOUBLE = 10;
	private static final int TYPE_STRING = 11;
	private static final int FUNCTION = 1;
	private static final int USER = 1;
	private static final int MPI = 4;
	private static final int COMM_LOCATIONS = 4;
	private static final int COMM_GROUP = 5;
	private static final int PROCESS = 1;
	private static final int THREAD = 1;
	/** The value is there from now on until the next. */
	private static final int ABSOLUTE_NEXT = 1 | 3 << 4;
	private static final int DECIMAL = 1;
	private static final int ASYNCHRONOUS = 2;

	private final TraceStore store;
	private final ProducerTree tree;
	private final OutputStream out;
	private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
	private final Map<String, Integer> strings = new HashMap<>();
	private final List<Location> locations = new ArrayList<>();
	private final Map<Integer, List<Location>> lanes = new HashMap<>();
	private final Map<Integer, Integer> regions = new LinkedHashMap<>();
	private final Map<Integer, Integer> parameters = new LinkedHashMap<>();
	private final Map<Integer, Integer> metrics = new LinkedHashMap<>();
	private final Map<Integer, Integer> ranks = new LinkedHashMap<>();
	/** Ends of links that come later. */
	private final PriorityQueue<Arrival> arrivals = new PriorityQueue<>(Comparator.comparingLong(Arrival::ns).thenComparing(Arrival::number));
	private int current = -1;
	private long links;
	private long beside;
	private long withoutText;

	/** What a location is, and the states that it is in, the innermost first. */
	private static final class Location {
		final int number;
		final int producer;
		final int lane;
		final ArrayDeque<Open> open = new ArrayDeque<>();

		Location(int number, int producer, int lane) {
			this.number = number;
			this.producer = producer;
			this.lane = lane;
		}
	}

	private record Open(int region, long endNs, int level) {
	}

	private record Arrival(long ns, long number, Location to, int sender) {
	}

	private record Event(EventType type, int producer, long start, long end, double value, String text) {
		boolean isState() {
			return type.category() == EventCategory.STATE;
		}

		boolean isStateWithoutDuration() {
			return isState() && end == start;
		}

		/** Number of states around this one. */
		int level() {
			return Math.max(0, (int) value);
		}
	}

	/**
	 * What is not as it was.
	 *
	 * @param beside states that are at a further location of their producer, as they do not nest
	 * @param withoutText events without their parameters, as there are too many different ones
	 */
	public record Result(long beside, long withoutText) {
	}

	private Otf2Records(TraceStore store, OutputStream out) throws MemtraceException {
		this.store = store;
		this.tree = store.producers();
		this.out = out;
	}

	/** Writes the accesses, or the events of a trace without accesses. */
	public static Result write(TraceStore store, AccessFilter filter, OutputStream out, Progress progress) throws MemtraceException {
		Otf2Records records = new Otf2Records(store, out);
		try {
			records.begin();
			if (store.accessCount() > 0) {
				records.accesses(filter, progress);
			} else {
				records.events(filter, progress);
			}
			records.record(STREAM_END, records.locations.size(), 0, 0, 0);
			records.flush();
			out.flush();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
		return new Result(records.beside, records.withoutText);
	}

	// --- records

	private void record(int kind, long a, int ref, long b, long c) throws IOException {
		if (buffer.remaining() < RECORD_BYTES) {
			flush();
		}
		buffer.putLong(a).putInt(kind).putInt(ref).putLong(b).putLong(c);
	}

	private void payload(int kind, long a, int ref, long b, byte[] bytes) throws IOException {
		record(kind, a, ref, b, bytes.length);
		flush();
		out.write(bytes);
		out.write(new byte[(Long.BYTES - bytes.length % Long.BYTES) % Long.BYTES]);
	}

	private void flush() throws IOException {
		out.write(buffer.array(), 0, buffer.position());
		buffer.clear();
	}

	private static byte[] longs(long... values) {
		ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
		Arrays.stream(values).forEach(bytes::putLong);
		return bytes.array();
	}

	private static byte[] ints(int... values) {
		ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
		Arrays.stream(values).forEach(bytes::putInt);
		return bytes.array();
	}

	/** Number of a string, which is defined when it is new. */
	private int string(String text) throws IOException {
		String kept = text.length() > LONGEST_TEXT / 4 ? text.substring(0, LONGEST_TEXT / 4) : text;
		Integer known = strings.get(kept);
		if (known == null) {
			known = strings.size();
			strings.put(kept, known);
			payload(STRING, 0, known, 0, kept.replace('\0', ' ').getBytes(StandardCharsets.UTF_8));
		}
		return known;
	}

	// --- definitions

	private void begin() throws IOException {
		out.write(MAGIC.getBytes(StandardCharsets.US_ASCII));
		string(""); // the description of all
		Instant recorded = store.info().recordedAt();
		boolean known = recorded.getEpochSecond() > 0 && !store.info().isInTicks();
		record(REALTIME, known ? recorded.getEpochSecond() * 1_000_000_000 + recorded.getNano() : -1, 0, 0, 0);
		long start = store.info().startNs();
		record(CLOCK, 1_000_000_000, 0, start, Math.max(1, store.info().endNs() - start));
	}

	private Location location(int producer, int lane) throws IOException {
		List<Location> ofProducer = lanes.computeIfAbsent(producer, p -> new ArrayList<>());
		if (lane == ofProducer.size()) {
			ofProducer.add(new Location(locations.size(), producer, lane));
			locations.add(ofProducer.get(lane));
		}
		return ofProducer.get(lane);
	}

	private void at(Location location) throws IOException {
		if (location.number != current) {
			current = location.number;
			record(LOCATION_BEGIN, current, 0, 0, 0);
		}
	}

	/** Where all locations are. Producers above that of a group are nodes; the trace itself is one where there is none. */
	private void system() throws IOException {
		Map<Integer, Integer> nodes = new HashMap<>();
		Map<Integer, Integer> groups = new HashMap<>();
		for (Location location : locations) {
			int above = tree.parent(location.producer);
			Integer group = groups.get(above);
			if (group == null) {
				int node = node(above < 0 ? -1 : tree.parent(above), nodes);
				group = groups.size();
				groups.put(above, group);
				record(LOCATION_GROUP, string(above < 0 ? store.info().alias() : tree.name(above)), group, node, PROCESS);
			}
			String name = tree.name(location.producer) + (location.lane == 0 ? "" : " (" + (location.lane + 1) + ")");
			record(LOCATION, location.number, group, string(name), THREAD);
		}
	}

	private int node(int producer, Map<Integer, Integer> nodes) throws IOException {
		Integer known = nodes.get(producer);
		if (known == null) {
			int parent = producer < 0 || tree.parent(producer) < 0 ? -1 : node(tree.parent(producer), nodes);
			known = nodes.size();
			nodes.put(producer, known);
			record(TREE_NODE, string(producer < 0 ? store.info().alias() : tree.name(producer)), known, string("node"),
					parent < 0 ? NOTHING : parent);
		}
		return known;
	}

	private void metric(int number, String... names) throws IOException {
		int[] members = new int[names.length];
		for (int i = 0; i < names.length; i++) {
			members[i] = number * AccessFilter.TYPES.length + i;
			int type = names.length == 1 ? TYPE_DOUBLE : TYPE_UINT64;
			record(METRIC_MEMBER, string(names[i]) | (long) string("#") << 32, members[i], (long) ABSOLUTE_NEXT << 8 | (long) type << 16
					| (long) DECIMAL << 24, 0);
		}
		payload(METRIC_CLASS, ASYNCHRONOUS, number, 0, ints(members));
	}

	// --- accesses

	private void accesses(AccessFilter filter, Progress progress) throws MemtraceException, IOException {
		Map<Integer, Location> threads = new HashMap<>();
		Map<Location, String> names = new LinkedHashMap<>();
		CountsUnderWay counts = new CountsUnderWay(store, (thread, number, name, ns, values) -> {
			Map<Integer, Location> known = thread ? threads : null;
			Location location = thread ? known.get(number) : lanes.containsKey(number) ? lanes.get(number).get(0) : null;
			if (location == null) {
				location = thread ? new Location(locations.size(), -1, 0) : location(number, 0);
				if (thread) {
					locations.add(location);
					threads.put(number, location);
				}
				names.put(location, name);
			}
			at(location);
			long[] pairs = new long[2 * values.length];
			for (int i = 0; i < values.length; i++) {
				pairs[2 * i] = TYPE_UINT64;
				pairs[2 * i + 1] = values[i];
			}
			payload(METRIC, ns, 0, values.length, longs(pairs));
		});
		filter.visit(store, counts::take, progress);
		counts.finish();
		metric(0, Arrays.stream(AccessFilter.types(store.info())).map(t -> t + " under way").toArray(String[]::new));
		record(TREE_NODE, string(store.info().alias()), 0, string("trace"), NOTHING);
		record(LOCATION_GROUP, string("memory"), 0, 0, PROCESS);
		record(LOCATION_GROUP, string("threads"), 1, 0, PROCESS);
		for (Location location : locations) {
			record(LOCATION, location.number, location.producer < 0 ? 1 : 0, string(names.get(location)), THREAD);
		}
	}

	// --- events

	private void events(AccessFilter filter, Progress progress) throws MemtraceException, IOException {
		Map<Integer, EventType> types = new HashMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t));
		List<Event> sameStart = new ArrayList<>();
		store.visitEvents(filter.query(), b -> {
			try {
				List<String> texts = store.eventParameters(Arrays.copyOf(b.id, b.count));
				for (int i = 0; i < b.count; i++) {
					if (!sameStart.isEmpty() && sameStart.get(0).start != b.startNs[i]) {
						write(sameStart);
					}
					EventType type = types.get(b.type[i]);
					if (type != null) {
						sameStart.add(new Event(type, b.producer[i], b.startNs[i], b.endNs[i], b.value[i], texts.get(i)));
					}
				}
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}, progress);
		write(sameStart);
		arrive(Long.MAX_VALUE);
		for (Location location : locations) {
			leave(location, Long.MAX_VALUE, 0);
		}
		for (Map.Entry<Integer, Integer> region : regions.entrySet()) {
			record(REGION, string(types.get(region.getKey()).name()), region.getValue(), FUNCTION | USER << 8, NOTHING);
		}
		for (Map.Entry<Integer, Integer> parameter : parameters.entrySet()) {
			record(PARAMETER, string(types.get(parameter.getKey()).name()), parameter.getValue(), 0, 0);
		}
		for (Map.Entry<Integer, Integer> metric : metrics.entrySet()) {
			metric(metric.getValue(), types.get(metric.getKey()).name());
		}
		record(ATTRIBUTE, string("parameters"), 0, TYPE_STRING, 0);
		system();
		if (!ranks.isEmpty()) {
			payload(GROUP, COMM_LOCATIONS | MPI << 8, 0, string("locations with links"),
					longs(ranks.keySet().stream().mapToLong(n -> n).toArray()));
			payload(GROUP, COMM_GROUP | MPI << 8, 1, string("links"), longs(ranks.values().stream().mapToLong(n -> n).toArray()));
			record(COMM, string("links"), 0, 1, 0);
		}
	}

	/** Of those that begin at one time the longest first, it is around the others; of equal ones the outer. */
	private void write(List<Event> events) throws IOException {
		if (events.isEmpty()) {
			return;
		}
		arrive(events.get(0).start);
		events.sort(Comparator.comparingLong((Event e) -> -e.end).thenComparingInt(e -> e.isState() ? e.level() : 0));
		for (Event e : events.stream().anyMatch(Event::isStateWithoutDuration) ? keepLevels(events) : events) {
			switch (e.type.category()) {
			case STATE -> state(e);
			case PUNCTUAL -> {
				Location location = on(e);
				int text = text(e);
				at(location);
				record(PARAMETER_STRING, e.start, parameters.computeIfAbsent(e.type.id(), t -> parameters.size()), Math.max(0, text), 0);
			}
			case VARIABLE -> {
				at(on(e));
				payload(METRIC, e.start, metrics.computeIfAbsent(e.type.id(), t -> metrics.size()), 1,
						longs(TYPE_DOUBLE, Double.doubleToLongBits(e.value)));
			}
			case LINK -> link(e);
			}
		}
		events.clear();
	}

	/**
	 * The events of one time, so that each state can have its level. A state without duration may be in what ends at this time, or in what
	 * begins: in the first, before anything begins, when its level is deeper than what begins reaches; else before that what begins is deeper
	 * than it is.
	 *
	 * @param events those that end last first, of these the outer ones first
	 */
	private List<Event> keepLevels(List<Event> events) throws IOException {
		Map<Integer, List<Event>> states = new LinkedHashMap<>();
		List<Event> ordered = new ArrayList<>(events.size());
		for (Event e : events) {
			if (e.isState()) {
				states.computeIfAbsent(e.producer, p -> new ArrayList<>()).add(e);
			} else {
				ordered.add(e);
			}
		}
		for (List<Event> ofProducer : states.values()) {
			keepLevels(ofProducer, ordered);
		}
		return ordered;
	}

	private void keepLevels(List<Event> states, List<Event> ordered) throws IOException {
		Location location = on(states.get(0));
		int deepest = location.open.isEmpty() ? -1 : location.open.peek().level;
		Open lasting = location.open.stream().filter(o -> o.endNs > states.get(0).start).findFirst().orElse(null);
		int reached = lasting == null ? -1 : lasting.level;
		List<Event> begin = states.stream().filter(e -> !e.isStateWithoutDuration()).toList();
		for (Event e : begin) {
			if (lasting == null || e.end <= lasting.endNs) {
				reached = Math.max(reached, e.level());
			}
		}
		List<Event> before = new ArrayList<>();
		List<Event> instants = new ArrayList<>();
		for (Event e : states) {
			if (e.isStateWithoutDuration()) {
				(deepest > reached && e.level() > reached + 1 ? before : instants).add(e);
			}
		}
		// in the innermost that ends, and in each other, and then outwards
		before.stream().filter(e -> e.level() > deepest).forEach(ordered::add);
		before.reversed().stream().filter(e -> e.level() <= deepest).forEach(ordered::add);
		int next = 0;
		for (Event e : begin) {
			for (; next < instants.size() && instants.get(next).level() <= e.level(); next++) {
				ordered.add(instants.get(next));
			}
			ordered.add(e);
		}
		ordered.addAll(instants.subList(next, instants.size()));
	}

	private Location on(Event e) throws IOException {
		Location location = location(e.producer, 0);
		leave(location, e.start, Integer.MAX_VALUE);
		return location;
	}

	/** Number of the string, -1 when there is none. */
	private int text(Event e) throws IOException {
		if (e.text.isEmpty()) {
			return -1;
		}
		if (strings.size() >= MOST_TEXTS && !strings.containsKey(e.text)) {
			withoutText++;
			return -1;
		}
		return string(e.text);
	}

	private void state(Event e) throws IOException {
		int lane = 0;
		Location location = location(e.producer, 0);
		int level = e.end == e.start ? e.level() : 0; // only an instant may be at the end of another
		for (leave(location, e.start, level); !location.open.isEmpty() && location.open.peek().endNs < e.end; leave(location, e.start,
				level)) {
			location = location(e.producer, ++lane);
		}
		beside += lane > 0 ? 1 : 0;
		int region = regions.computeIfAbsent(e.type.id(), t -> regions.size());
		int text = text(e);
		at(location);
		if (text >= 0) {
			record(EVENT_ATTRIBUTE, TYPE_STRING, 0, text, 0);
		}
		record(ENTER, e.start, region, 0, 0);
		location.open.push(new Open(region, e.end, e.level()));
	}

	/** Ends what ends before a time, and of what ends at it what has a level from this one on. */
	private void leave(Location location, long ns, int level) throws IOException {
		while (!location.open.isEmpty() && (location.open.peek().endNs < ns || location.open.peek().endNs == ns
				&& location.open.peek().level >= level)) {
			at(location);
			Open ended = location.open.pop();
			record(LEAVE, ended.endNs, ended.region, 0, 0);
		}
	}

	private void link(Event e) throws IOException {
		Location from = on(e);
		Location to = location(e.value >= 0 && e.value < tree.size() ? (int) e.value : e.producer, 0);
		int sender = ranks.computeIfAbsent(from.number, n -> ranks.size());
		int receiver = ranks.computeIfAbsent(to.number, n -> ranks.size());
		at(from);
		record(SEND, e.start, receiver, (links & NOTHING) << 32, 0);
		arrivals.add(new Arrival(Math.max(e.start, e.end), links++, to, sender));
		arrive(e.start);
	}

	/** Ends the links that end until a time. */
	private void arrive(long ns) throws IOException {
		while (!arrivals.isEmpty() && arrivals.peek().ns <= ns) {
			Arrival arrival = arrivals.poll();
			leave(arrival.to, arrival.ns, Integer.MAX_VALUE);
			at(arrival.to);
			record(RECEIVE, arrival.ns, arrival.sender, (arrival.number & NOTHING) << 32, 0);
		}
	}
}
