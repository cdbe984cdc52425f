// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.otf2;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.importer.reader.EventSink;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * Makes states, links, instants and variables of the records of an archive: docs/reference/input-events.md, "OTF2". One location comes
 * after the other. Used by one thread.
 */
final class Otf2Events {
	/** Told when so many records were read. */
	interface Advance {
		/** @param location of which the records are; all of it was read when {@code records} is negative */
		void read(long location, long records);
	}

	private static final long NS = 1_000_000_000L;
	private static final int STEP = 8192;
	/** Sets of parameters differ this often at most; then events come without. */
	private static final long MOST_PARAMETERS = 1 << 24;
	private static final int REGIONS_IN_ARRAY = 1 << 20;
	private static final int NAMED_DAMAGES = 15;

	/** Sides of messages whose other side was not seen yet: time and producer, size. First in, first out. */
	private static final class Waiting {
		private static final int FIELDS = 3;
		final boolean sends;
		private long[] rows = new long[FIELDS * 4];
		private int head;
		private int tail;

		Waiting(boolean sends) {
			this.sends = sends;
		}

		boolean isEmpty() {
			return head == tail;
		}

		void add(long time, long producer, long bytes) {
			if (tail == rows.length) {
				if (head > 0) {
					System.arraycopy(rows, head, rows, 0, tail - head);
					tail -= head;
					head = 0;
				} else {
					rows = Arrays.copyOf(rows, 2 * tail);
				}
			}
			rows[tail] = time;
			rows[tail + 1] = producer;
			rows[tail + 2] = bytes;
			tail += FIELDS;
		}

		/** Index of the first one in {@link #rows}, which is removed. */
		int take() {
			head += FIELDS;
			return head - FIELDS;
		}

		int size() {
			return (tail - head) / FIELDS;
		}
	}

	/** What messages have in common; those with equal keys arrive in their order. */
	private record Channel(long from, long to, int comm, int tag) {
	}

	private record ThreadKey(long process, int contingent, long sequence) {
	}

	private record Created(long time, int producer) {
	}

	private record Operation(int handle, long matching) {
	}

	private record Begun(long time, int mode, int depth, long entered) {
	}

	/** The last values of a metric of one location. */
	private static final class Values {
		long time;
		double[] values;
		int[] type;
		List<Otf2Definitions.Member> members;
	}

	private final Otf2Stream in;
	private final Otf2Definitions definitions = new Otf2Definitions();
	private final EventSink sink;
	private final String archive;
	private final Advance advance;
	private boolean defined;

	private int[] typeOfRegion = new int[256];
	private final Map<Integer, Integer> typeOfLargeRegion = new HashMap<>();
	/** By category. */
	private final List<Map<String, Integer>> otherTypes = java.util.stream.Stream.of(EventCategory.values())
			.<Map<String, Integer>>map(c -> new HashMap<>()).toList();
	private final Map<Channel, Waiting> messages = new HashMap<>();
	private final Map<ThreadKey, ArrayDeque<Created>> created = new HashMap<>();
	private final Map<ThreadKey, ArrayDeque<Created>> begun = new HashMap<>();
	private final Map<Integer, String> attributeNames = new HashMap<>();
	private final Map<String, String> typesThatDiffer = new TreeMap<>();
	private long withParameters;
	private long withoutParameters;
	private long neverLeft;
	private long backInTime;
	private long beforeSent;
	private long damagedLocations;

	// of the current location
	private long location;
	private String locationName = "";
	private int producer;
	private long process;
	private long number;
	private long firstNs;
	private long lastNs;
	private boolean any;
	private int depth;
	private int[] region = new int[64];
	private long[] entered = new long[64];
	/** Number of the record by which a state was entered. */
	private long[] enteredBy = new long[64];
	@SuppressWarnings("unchecked")
	private Map<String, String>[] parameters = new Map[64];
	private Map<String, String> pending;
	private final Map<Integer, Values> metrics = new TreeMap<>();
	private final Map<Operation, Begun> operations = new HashMap<>();

	Otf2Events(Otf2Stream in, EventSink sink, String archive, Advance advance) {
		this.in = in;
		this.sink = sink;
		this.archive = archive;
		this.advance = advance;
	}

	/**
	 * Reads the stream to its end.
	 *
	 * @return whether it came to its end; if not, what came before is in the sink
	 */
	boolean read() throws IOException, MemtraceException {
		boolean ended = false;
		boolean inLocation = false;
		try {
			while (!ended && in.next()) {
				if (in.kind == Otf2Stream.LOCATION_BEGIN) {
					define();
					begin();
					inLocation = true;
				} else if (in.kind == Otf2Stream.LOCATION_END) {
					end(in.text(), in.a - in.b);
					inLocation = false;
				} else if (in.kind == Otf2Stream.STREAM_END) {
					ended = true;
				} else if (in.kind == Otf2Stream.DEFINITIONS_END) {
					if (in.c > 0) {
						sink.skips().problem(archive, "its definitions are damaged: " + in.text());
					}
				} else if (!definitions.add(in)) {
					if (inLocation) {
						event();
					} else {
						throw new IOException("a record of the unknown kind " + in.kind);
					}
				}
			}
		} finally {
			if (inLocation) {
				end("", 0);
			}
		}
		return ended;
	}

	/** When all is read: what has no other side, and what a user should know. */
	void finish() throws MemtraceException {
		for (Waiting waiting : messages.values()) {
			if (!waiting.isEmpty()) {
				sink.skips().skip(archive, 0, waiting.sends ? "message that no location receives" : "message that no location sends",
						waiting.size());
			}
		}
		threads();
		warn(neverLeft, "states were never left; they end with the state around them, or with the last event of their location");
		warn(backInTime, "events are earlier than the event before them in their location; they take the time of that one");
		warn(beforeSent, "messages are received before they are sent, by the clocks of the archive; they take no time");
		warn(withoutParameters, "events have no attributes: there were more than " + MOST_PARAMETERS + " before them");
		warn(definitions.redefined, "definitions are there twice with different content; the last one counts");
		warn(Math.max(0, damagedLocations - NAMED_DAMAGES), "more locations are damaged or missing");
		typesThatDiffer.values().stream().limit(NAMED_DAMAGES).forEach(sink.skips()::warn);
	}

	/** From the creation of a thread to its begin. */
	private void threads() throws MemtraceException {
		for (Map.Entry<ThreadKey, ArrayDeque<Created>> entry : created.entrySet()) {
			ArrayDeque<Created> begins = begun.getOrDefault(entry.getKey(), new ArrayDeque<>());
			for (Created from : entry.getValue()) {
				Created to = begins.poll();
				if (to != null) {
					sink.event(otherType(EventCategory.LINK, "thread start"), from.producer, from.time, Math.max(from.time, to.time), to.producer,
							0, Map.of());
				}
			}
		}
	}

	private void warn(long number, String text) {
		if (number > 0) {
			sink.skips().warn(String.format(java.util.Locale.ROOT, "%,d %s", number, text));
		}
	}

	private void define() throws MemtraceException {
		if (defined) {
			return;
		}
		defined = true;
		definitions.nameProducers();
		for (long ref : definitions.locations()) {
			sink.producer(definitions.path(ref));
		}
		sink.property("clock.resolution", Long.toUnsignedString(definitions.resolution));
		sink.property("clock.offset", Long.toUnsignedString(definitions.offset));
		if (definitions.realtimeNs >= 0) {
			sink.recordedAt(Instant.ofEpochSecond(definitions.realtimeNs / NS, definitions.realtimeNs % NS));
		}
	}

	private void begin() {
		location = in.a;
		locationName = definitions.location(location);
		producer = sink.producer(definitions.path(location));
		process = definitions.process(location);
		number = 0;
		any = false;
		depth = 0;
		lastNs = 0;
		pending = null;
		metrics.clear();
		operations.clear();
	}

	/** @param unknown events that the library had and the stream has not */
	private void end(String problem, long unknown) throws MemtraceException {
		neverLeft += depth;
		while (depth > 0) {
			leaveTop(lastNs, null);
		}
		for (Values values : metrics.values()) {
			hold(values, lastNs);
		}
		if (!operations.isEmpty()) {
			sink.skips().skip(place(), 0, "I/O operation without an end", operations.size());
		}
		if (unknown > 0) {
			sink.skips().skip(place(), 0, "event of a kind that is not imported (RMA, I/O locks, requests and the like)", unknown);
		}
		if (!problem.isEmpty()) {
			damagedLocations++;
			if (damagedLocations <= NAMED_DAMAGES) {
				sink.skips().problem(archive, String.format(java.util.Locale.ROOT, "location %s: %,d events were read, then: %s",
						locationName, number, problem));
			}
		}
		advance.read(location, -1);
	}

	private String place() {
		return archive + ", " + locationName + ", event " + number;
	}

	private void skip(String reason) throws MemtraceException {
		sink.skip(place(), 0, reason);
	}

	/** Nanoseconds since the beginning of the archive's clock. */
	private long ns(long ticks) {
		long t = ticks - definitions.offset;
		long resolution = definitions.resolution;
		if (resolution == NS) {
			return t;
		}
		long seconds = Math.floorDiv(t, resolution);
		long rest = Math.floorMod(t, resolution);
		return seconds * NS + (resolution < Long.MAX_VALUE / NS ? rest * NS / resolution : (long) ((double) rest / resolution * NS));
	}

	private int otherType(EventCategory category, String text) {
		return otherTypes.get(category.ordinal()).computeIfAbsent(text, t -> sink.typeOf(category, t));
	}

	private int regionType(int ref) {
		if (ref >= 0 && ref < REGIONS_IN_ARRAY) {
			if (ref >= typeOfRegion.length) {
				typeOfRegion = Arrays.copyOf(typeOfRegion, Math.max(2 * typeOfRegion.length, ref + 1));
			}
			if (typeOfRegion[ref] == 0) {
				typeOfRegion[ref] = 1 + sink.typeOf(EventCategory.STATE, definitions.region(ref));
			}
			return typeOfRegion[ref] - 1;
		}
		return typeOfLargeRegion.computeIfAbsent(ref, r -> sink.typeOf(EventCategory.STATE, definitions.region(r)));
	}

	private void event() throws MemtraceException {
		if (in.kind == Otf2Stream.EVENT_ATTRIBUTE) {
			attribute();
			return;
		}
		number++;
		sink.row();
		if (number % STEP == 0) {
			advance.read(location, STEP);
		}
		long now = time();
		Map<String, String> told = pending;
		pending = null;
		switch (in.kind) {
		case Otf2Stream.ENTER -> enter(regionType(in.ref), now, told);
		case Otf2Stream.LEAVE -> leave(regionType(in.ref), now, told);
		case Otf2Stream.CONTEXT_ENTER -> enter(regionType(definitions.regionOfContext(in.ref)), now, told);
		case Otf2Stream.CONTEXT_LEAVE -> leave(regionType(definitions.regionOfContext(in.ref)), now, told);
		case Otf2Stream.CONTEXT_SAMPLE -> instant("sample", now, 0,
				with(told, "function", definitions.region(definitions.regionOfContext(in.ref))));
		case Otf2Stream.SEND, Otf2Stream.RECEIVE -> message(now);
		case Otf2Stream.COLLECTIVE_BEGIN -> {
			// the region around it is the state
		}
		case Otf2Stream.COLLECTIVE_END -> collective();
		case Otf2Stream.METRIC -> metric(now);
		case Otf2Stream.PARAMETER_STRING -> instant(definitions.parameter(in.ref), now, 0, with(told, "value", definitions.text(in.b)));
		case Otf2Stream.PARAMETER_INT -> instant(definitions.parameter(in.ref), now, in.b, with(told, "value", Long.toString(in.b)));
		case Otf2Stream.PARAMETER_UNSIGNED -> instant(definitions.parameter(in.ref), now, unsigned(in.b),
				with(told, "value", Long.toUnsignedString(in.b)));
		case Otf2Stream.THREAD_CREATE -> {
			created.computeIfAbsent(threadKey(), k -> new ArrayDeque<>()).add(new Created(now, producer));
			instant("thread create", now, 0, told);
		}
		case Otf2Stream.THREAD_BEGIN -> {
			begun.computeIfAbsent(threadKey(), k -> new ArrayDeque<>()).add(new Created(now, producer));
			instant("thread begin", now, 0, told);
		}
		case Otf2Stream.LOCK_ACQUIRE, Otf2Stream.LOCK_RELEASE -> instant(in.kind == Otf2Stream.LOCK_ACQUIRE ? "lock acquire" : "lock release",
				now, 0, with(told, "lock", Integer.toUnsignedString(in.ref)));
		case Otf2Stream.THREAD_FORK -> instant("thread fork", now, 0, with(told, "threads", Integer.toUnsignedString(in.ref)));
		case Otf2Stream.IO_CREATE, Otf2Stream.IO_DESTROY, Otf2Stream.IO_SEEK, Otf2Stream.IO_BEGIN, Otf2Stream.IO_COMPLETE -> io(now, told);
		case Otf2Stream.PROGRAM_BEGIN -> instant("program begin", now, 0, with(told, "program", definitions.text(in.ref)));
		case Otf2Stream.PROGRAM_END -> instant("program end", now, 0, with(told, "status", Long.toString(in.b)));
		case Otf2Stream.FLUSH -> {
			long end = Math.max(now, ns(in.b));
			sink.event(otherType(EventCategory.STATE, "flush of the trace buffer"), producer, now, end, depth, 0, Map.of());
			lastNs = end;
		}
		default -> {
			String name = instantName(in.kind);
			if (name == null) {
				skip("record of the unknown kind " + in.kind);
			} else {
				instant(name, now, 0, told);
			}
		}
		}
	}

	private void io(long now, Map<String, String> told) throws MemtraceException {
		switch (in.kind) {
		case Otf2Stream.IO_CREATE, Otf2Stream.IO_DESTROY -> instant(in.kind == Otf2Stream.IO_CREATE ? "I/O open" : "I/O close", now, 0,
				with(told, "file", definitions.file(in.ref)));
		case Otf2Stream.IO_SEEK -> instant("I/O seek", now, 0,
				with(with(told, "file", definitions.file(in.ref)), "offset", Long.toUnsignedString(in.b)));
		case Otf2Stream.IO_BEGIN -> operations.put(new Operation(in.ref, in.c), new Begun(now, (int) in.b, depth,
				depth > 0 ? enteredBy[depth - 1] : -1));
		default -> completed(now);
		}
	}

	/** Time of the record; times that go back are counted, and do not. */
	private long time() {
		long now = ns(in.a);
		if (!any) {
			any = true;
			firstNs = now;
		} else if (now < lastNs) {
			backInTime++;
			now = lastNs;
		}
		lastNs = now;
		return now;
	}

	private static String instantName(int kind) {
		return switch (kind) {
		case Otf2Stream.REQUEST -> "MPI request";
		case Otf2Stream.THREAD_JOIN -> "thread join";
		case Otf2Stream.TEAM_BEGIN -> "thread team begin";
		case Otf2Stream.TEAM_END -> "thread team end";
		case Otf2Stream.TASK_CREATE -> "task create";
		case Otf2Stream.TASK_SWITCH -> "task switch";
		case Otf2Stream.TASK_COMPLETE -> "task complete";
		case Otf2Stream.THREAD_WAIT -> "thread wait";
		case Otf2Stream.THREAD_END -> "thread end";
		case Otf2Stream.MEASUREMENT -> "measurement on or off";
		default -> null;
		};
	}

	private ThreadKey threadKey() {
		return new ThreadKey(process, in.ref, in.b);
	}

	private static double unsigned(long bits) {
		return bits >= 0 ? bits : (bits >>> 1) * 2.0;
	}

	private static Map<String, String> with(Map<String, String> told, String name, String value) {
		if (told == null) {
			return new LinkedHashMap<>(Map.of(name, value));
		}
		told.put(name, value);
		return told;
	}

	/** Events have their attributes as long as there are not too many of them. */
	private Map<String, String> kept(Map<String, String> told) {
		if (told == null || told.isEmpty()) {
			return Map.of();
		}
		if (withParameters >= MOST_PARAMETERS) {
			withoutParameters++;
			return Map.of();
		}
		withParameters++;
		return told;
	}

	private void instant(String name, long now, double value, Map<String, String> told) throws MemtraceException {
		sink.event(otherType(EventCategory.PUNCTUAL, name), producer, now, now, value, 0, kept(told));
	}

	private void attribute() {
		String name = attributeNames.computeIfAbsent(in.ref, definitions::attribute);
		int type = (int) in.a;
		int defined = definitions.attributeType(in.ref);
		if (type != defined && !typesThatDiffer.containsKey(name)) {
			typesThatDiffer.put(name, "attribute " + name + " has values of type " + typeName(type) + ", it is defined "
					+ (defined < 0 ? "nowhere" : "as " + typeName(defined)) + "; the type of the values counts");
		}
		if (pending == null) {
			pending = new LinkedHashMap<>(4);
		}
		pending.put(name, definitions.value(type, in.b));
	}

	private static String typeName(int type) {
		String[] names = { "none", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FLOAT", "DOUBLE", "STRING" };
		return type >= 0 && type < names.length ? names[type] : "reference " + type;
	}

	private void enter(int type, long now, Map<String, String> told) {
		if (depth == region.length) {
			region = Arrays.copyOf(region, 2 * depth);
			entered = Arrays.copyOf(entered, 2 * depth);
			enteredBy = Arrays.copyOf(enteredBy, 2 * depth);
			parameters = Arrays.copyOf(parameters, 2 * depth);
		}
		region[depth] = type;
		entered[depth] = now;
		enteredBy[depth] = number;
		parameters[depth++] = told;
	}

	private void leave(int type, long now, Map<String, String> told) throws MemtraceException {
		int d = depth - 1;
		while (d >= 0 && region[d] != type) {
			d--;
		}
		if (d < 0) {
			skip("leave of a region that was not entered");
			return;
		}
		neverLeft += depth - 1 - d;
		while (depth - 1 > d) {
			leaveTop(now, null);
		}
		leaveTop(now, told);
	}

	private void leaveTop(long now, Map<String, String> told) throws MemtraceException {
		int d = --depth;
		Map<String, String> all = parameters[d];
		parameters[d] = null;
		if (told != null) {
			if (all == null) {
				all = told;
			} else {
				for (Map.Entry<String, String> value : told.entrySet()) {
					String before = all.putIfAbsent(value.getKey(), value.getValue());
					if (before != null && !before.equals(value.getValue())) {
						all.put(value.getKey() + " at the end", value.getValue());
					}
				}
			}
		}
		sink.event(region[d], producer, entered[d], now, d, 0, kept(all));
	}

	/** What belongs to the state that is open. */
	private void tell(String name, String value) {
		if (depth > 0) {
			parameters[depth - 1] = with(parameters[depth - 1], name, value);
		}
	}

	private void collective() {
		tell("communicator", definitions.comm(in.ref));
		tell("bytes sent", Long.toUnsignedString(in.b));
		tell("bytes received", Long.toUnsignedString(in.c));
	}

	private void message(long now) throws MemtraceException {
		boolean sends = in.kind == Otf2Stream.SEND;
		int comm = (int) in.b;
		long other = definitions.processOf(comm, in.ref, location);
		if (other == -1) {
			skip("message whose other side is not known");
			return;
		}
		Channel channel = new Channel(sends ? process : other, sends ? other : process, comm, (int) (in.b >>> 32));
		Waiting waiting = messages.get(channel);
		if (waiting == null || waiting.isEmpty() && waiting.sends != sends) {
			waiting = new Waiting(sends);
			messages.put(channel, waiting);
		}
		if (waiting.sends == sends) {
			waiting.add(now, producer, in.c);
			return;
		}
		int first = waiting.take();
		long[] rows = waiting.rows;
		long sent = sends ? now : rows[first];
		long received = sends ? rows[first] : now;
		long bytes = sends ? in.c : rows[first + 2];
		int from = sends ? producer : (int) rows[first + 1];
		int to = sends ? (int) rows[first + 1] : producer;
		if (received < sent) {
			beforeSent++;
			received = sent;
		}
		Map<String, String> told = new LinkedHashMap<>();
		told.put("bytes", Long.toUnsignedString(bytes));
		told.put("tag", Integer.toUnsignedString(channel.tag));
		told.put("communicator", definitions.comm(comm));
		sink.event(otherType(EventCategory.LINK, "MPI message"), from, sent, received, to, 0, kept(told));
	}

	private void completed(long now) throws MemtraceException {
		Begun begun = operations.remove(new Operation(in.ref, in.c));
		if (begun == null) {
			skip("end of an I/O operation that did not begin");
			return;
		}
		String file = definitions.file(in.ref);
		String name = switch (begun.mode) {
		case 0 -> "bytes read";
		case 1 -> "bytes written";
		default -> "bytes flushed";
		};
		if (depth > 0 && depth == begun.depth && enteredBy[depth - 1] == begun.entered) {
			tell("file", file);
			tell("bytes", Long.toUnsignedString(in.b));
		}
		Map<String, String> told = new LinkedHashMap<>();
		told.put("file", file);
		sink.event(otherType(EventCategory.VARIABLE, name), producer, begun.time, now, unsigned(in.b), 0, kept(told));
	}

	private double number(int type, long bits) {
		return switch (type) {
		case 10 -> Double.longBitsToDouble(bits);
		case 4 -> unsigned(bits);
		default -> bits;
		};
	}

	private void metric(long now) throws MemtraceException {
		long[] told = in.longs();
		int metric = in.ref;
		Values known = metrics.get(metric);
		boolean first = known == null;
		if (first) {
			known = new Values();
			known.members = definitions.metrics(metric);
			known.values = new double[known.members.size()];
			known.type = known.members.stream().mapToInt(m -> otherType(EventCategory.VARIABLE, m.name())).toArray();
			known.time = firstNs;
			metrics.put(metric, known);
		}
		if (told.length / 2 != known.values.length) {
			skip("metric with another number of values than its definition");
			return;
		}
		for (int i = 0; i < known.values.length; i++) {
			Otf2Definitions.Member member = known.members.get(i);
			double value = number((int) told[2 * i], told[2 * i + 1]) * member.factor();
			if (!Double.isFinite(value)) {
				skip("metric that is not finite");
				continue;
			}
			boolean fromStart = !first || member.timing() == 0;
			if (member.property() == 0) { // accumulated: what came since the value before
				if (fromStart) {
					sink.event(known.type[i], producer, known.time, now, value - known.values[i], 0, Map.of());
				}
			} else if (member.timing() == 2) { // of the time since the value before
				sink.event(known.type[i], producer, known.time, now, value, 0, Map.of());
			} else if (!first) { // until this one
				sink.event(known.type[i], producer, known.time, now, known.values[i], 0, Map.of());
			}
			known.values[i] = value;
		}
		known.time = now;
	}

	/** Values that hold until the next one hold until the end. */
	private void hold(Values known, long end) throws MemtraceException {
		for (int i = 0; i < known.values.length; i++) {
			Otf2Definitions.Member member = known.members.get(i);
			if (member.property() != 0 && member.timing() != 2) {
				sink.event(known.type[i], producer, known.time, Math.max(end, known.time), known.values[i], 0, Map.of());
			}
		}
	}
}
