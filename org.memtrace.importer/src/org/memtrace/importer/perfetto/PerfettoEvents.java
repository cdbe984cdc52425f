// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perfetto;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.importer.perfetto.PerfettoSequence.Clock;
import org.memtrace.importer.perfetto.PerfettoTracks.Track;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * Makes states, links, instants and variables of Perfetto's packets: docs/reference/input-events.md, "Perfetto". The numbers of fields are
 * those of
 * <a href="https://perfetto.dev/docs/reference/trace-packet-proto">Perfetto's reference</a>.
 */
final class PerfettoEvents {
	private static final int BEGIN = 1;
	private static final int END = 2;
	private static final int INSTANT = 3;
	private static final int COUNTER = 4;
	/** The clock of a trace that names none: CLOCK_BOOTTIME. */
	private static final int BOOT_CLOCK = 6;
	/** Clocks from here on are of a writer, not of the machine. */
	private static final int FIRST_OWN_CLOCK = 64;
	private static final int FIRST_COMMON_CLOCK = 128;
	private static final int CLEARED = 1;
	private static final int NEEDS_STATE = 2;
	private static final long MOST_PARAMETERS = 1 << 24;
	private static final int LONGEST_VALUE = 256;
	private static final int LONGEST_KEY = 128;
	private static final int DEEPEST = 8;
	private static final int DEEPEST_STATE = 4096;

	/** Fields of a packet that are read, with how they are written; -1 for others. */
	private static final int[] WIRE = new int[128];
	/** Packets that other tools than viewers are for, by their fields. */
	private static final Map<Integer, String> NOT_IMPORTED = Map.ofEntries(Map.entry(1, "ftrace events"), Map.entry(4, "inodes"),
			Map.entry(5, "old Chrome events"), Map.entry(7, "system statistics"), Map.entry(9, "process statistics"),
			Map.entry(37, "heap profiles"), Map.entry(38, "battery"), Map.entry(39, "Android log"), Map.entry(40, "power rails"),
			Map.entry(52, "GPU counters"), Map.entry(53, "GPU render stages"), Map.entry(54, "CPU profiles"),
			Map.entry(57, "graphics frames"), Map.entry(66, "perf samples"), Map.entry(68, "smaps"), Map.entry(73, "memory snapshots"),
			Map.entry(95, "ETW events"));

	static {
		Arrays.fill(WIRE, -1);
		for (int field : new int[] { 1, 2, 6, 7, 9, 11, 12, 33, 35, 36, 43, 44, 50, 59, 60 }) {
			WIRE[field] = ProtoFields.BYTES;
		}
		for (int field : new int[] { 3, 8, 10, 13, 41, 42, 58, 79, 87 }) {
			WIRE[field] = ProtoFields.VARINT;
		}
	}

	/** A text or number of an event, and where it belongs. */
	private record Event(int kind, long ns, String name, double value, Map<String, String> parameters, long[] flows, long[] ends) {
	}

	private record Begun(int type, long ns, Map<String, String> parameters) {
	}

	private record Step(long ns, int producer, boolean alone) {
	}

	/** What is going on at a track. */
	private static final class Lane {
		final ArrayDeque<Begun> open = new ArrayDeque<>();
		final List<Event> held = new ArrayList<>();
		boolean hasValue;
		long valueNs;
		double value;
		int type = -1;
	}

	private final EventSink sink;
	private final PerfettoTracks tracks;
	private final String file;
	private final boolean isFirst;
	private final Map<Long, PerfettoSequence> sequences = new HashMap<>();
	private final Map<Integer, Clock> clocks = new HashMap<>();
	private final Map<Long, Lane> lanes = new LinkedHashMap<>();
	private final Map<Long, Step> flows = new HashMap<>();
	private int traceClock = -1;
	private long packets;
	private long lastNs = Long.MIN_VALUE;
	private long gaps;
	private long lost;
	private long overwritten;
	private long backwards;
	private long withParameters;
	private long withoutParameters;

	/** @param isFirst whether only tracks are collected, and the order of their events is looked at */
	PerfettoEvents(EventSink sink, PerfettoTracks tracks, String file, boolean isFirst) {
		this.sink = sink;
		this.tracks = tracks;
		this.file = file;
		this.isFirst = isFirst;
	}

	boolean isFirst() {
		return isFirst;
	}

	String file() {
		return file;
	}

	long packets() {
		return packets;
	}

	/** How a field of a packet is written that nearly every trace has; -1: not known. */
	static int wireOf(int field) {
		return field < WIRE.length ? WIRE[field] : -1;
	}

	/** Takes a packet; returns packets that are compressed in it, or null. */
	byte[] packet(byte[] bytes) throws MemtraceException {
		packets++;
		if (!isFirst) {
			sink.row();
		}
		try {
			return take(new ProtoFields(bytes));
		} catch (ProtoFields.Damaged e) {
			skip("damaged packet");
			return null;
		}
	}

	private void skip(String reason) throws MemtraceException {
		if (!isFirst) {
			sink.skip(file + ", packet " + packets, 0, reason);
		}
	}

	/** The fields of a packet, in whatever order they come. */
	private static final class Packet {
		long time = -1;
		int clock = -1;
		long writer;
		long flags;
		boolean dropped;
		boolean first;
		/** What it has that is not imported; null for nothing. */
		String other;
		byte[] compressed;
		ProtoFields event;
		ProtoFields interned;
		ProtoFields defaults;
		ProtoFields snapshot;
		ProtoFields thread;

		/** Takes a field; returns whether it is one that is kept. */
		boolean keep(ProtoFields f) throws MemtraceException {
			switch (f.number()) {
			case 8 -> time = f.number64();
			case 58 -> clock = (int) f.number64();
			case 10 -> writer = f.number64();
			case 13 -> flags |= f.number64();
			case 41 -> flags |= f.number64() != 0 ? CLEARED : 0;
			case 42 -> dropped = f.number64() != 0;
			case 87 -> first = f.number64() != 0;
			case 11 -> event = f.message();
			case 12 -> interned = f.message();
			case 59 -> defaults = f.message();
			case 6 -> snapshot = f.message();
			case 44 -> thread = f.message();
			case 50 -> compressed = f.copy();
			default -> {
				return false;
			}
			}
			return true;
		}
	}

	private byte[] take(ProtoFields f) throws MemtraceException {
		Packet p = new Packet();
		while (f.next()) {
			if (p.keep(f)) {
				continue;
			}
			switch (f.number()) {
			case 60 -> tracks.describe(f.message());
			case 43 -> tracks.processOf(f.message());
			case 2 -> processTree(f.message());
			case 35 -> statistics(f.message());
			default -> p.other = NOT_IMPORTED.getOrDefault(f.number(), p.other);
			}
		}
		PerfettoSequence s = sequence(p);
		if (p.other != null) {
			skip("packet with " + p.other + ", which are not imported");
		}
		Long ns = p.time < 0 ? null : ns(p.time, p.clock >= 0 ? p.clock : s.clock, s);
		if (p.event == null) {
			return p.compressed;
		}
		if (ns == null) {
			skip(p.time < 0 ? "event without a time" : "event in a clock that is not known yet");
		} else if ((p.flags & NEEDS_STATE) != 0 && !s.isComplete) {
			skip("event that refers to packets that were lost");
		} else {
			event(p.event, ns, s);
		}
		return p.compressed;
	}

	/** The sequence of a packet, in the state after what the packet says of it. */
	private PerfettoSequence sequence(Packet p) throws MemtraceException {
		PerfettoSequence s = sequences.computeIfAbsent(p.writer, w -> new PerfettoSequence());
		if (p.dropped && !p.first) {
			gaps++;
			s.isComplete = false;
		}
		if ((p.flags & CLEARED) != 0) {
			s.clear();
		}
		if (p.defaults != null) {
			s.defaults(p.defaults);
		}
		if (p.interned != null) {
			s.intern(p.interned);
		}
		if (p.snapshot != null) {
			clocks(p.snapshot, s);
		}
		if (p.thread != null) { // of older writers: the track of all their events
			s.track = -1 - p.writer;
			tracks.threadOf(p.thread, tracks.of(s.track));
		}
		return s;
	}

	private void processTree(ProtoFields f) {
		while (f.next()) {
			if (f.number() != 1 && f.number() != 2) {
				continue;
			}
			boolean process = f.number() == 1;
			long id = 0;
			String name = "";
			for (ProtoFields one = f.message(); one.next();) {
				if (one.number() == 1) {
					id = one.number64();
				} else if (one.number() == (process ? 3 : 2) && name.isEmpty()) {
					name = one.text();
				}
			}
			if (process) {
				tracks.process(id, name);
			} else {
				tracks.thread(id, name);
			}
		}
	}

	/** The last ones count. */
	private void statistics(ProtoFields f) {
		lost = 0;
		overwritten = 0;
		while (f.next()) {
			if (f.number() == 1) {
				for (ProtoFields buffer = f.message(); buffer.next();) {
					lost += buffer.number() == 19 || buffer.number() == 22 ? Math.max(0, buffer.number64()) : 0;
					overwritten += buffer.number() == 3 ? Math.max(0, buffer.number64()) : 0;
				}
			}
		}
	}

	/** Several clocks at one moment. */
	private void clocks(ProtoFields f, PerfettoSequence s) {
		Map<Integer, Clock> told = new LinkedHashMap<>();
		int primary = -1;
		while (f.next()) {
			if (f.number() == 2) {
				primary = (int) f.number64();
			} else if (f.number() == 1) {
				Clock c = new Clock();
				int id = 0;
				for (ProtoFields one = f.message(); one.next();) {
					switch (one.number()) {
					case 1 -> id = (int) one.number64();
					case 2 -> c.lastNs = one.number64();
					case 3 -> c.isIncremental = one.number64() != 0;
					case 4 -> c.multiplier = Math.max(1, one.number64());
					default -> { }
					}
				}
				c.lastNs *= c.multiplier;
				told.put(id, c);
			}
		}
		if (traceClock < 0) {
			traceClock = primary > 0 ? primary : BOOT_CLOCK;
		}
		Long now = null;
		for (Map.Entry<Integer, Clock> c : told.entrySet()) {
			Clock known = clocks.get(c.getKey());
			if (c.getKey() == traceClock) {
				now = c.getValue().lastNs;
				break;
			} else if (known != null && c.getKey() < FIRST_OWN_CLOCK) {
				now = c.getValue().lastNs + known.offsetNs;
			}
		}
		if (now == null) { // the clock of the trace is not among them: the first one takes its place
			now = told.values().stream().findFirst().map(c -> c.lastNs).orElse(0L);
		}
		for (Map.Entry<Integer, Clock> c : told.entrySet()) {
			c.getValue().offsetNs = now - c.getValue().lastNs;
			(c.getKey() >= FIRST_OWN_CLOCK && c.getKey() < FIRST_COMMON_CLOCK ? s.clocks : clocks).put(c.getKey(), c.getValue());
		}
	}

	/** In the clock of the trace; null when it is not known how. */
	private Long ns(long time, int clock, PerfettoSequence s) {
		Clock c = clock >= FIRST_OWN_CLOCK && clock < FIRST_COMMON_CLOCK ? s.clocks.get(clock) : clocks.get(clock);
		if (clock < 0 || clock == traceClock) {
			return time;
		} else if (c != null) {
			return c.ns(time);
		}
		return clock < FIRST_OWN_CLOCK && clocks.isEmpty() ? time : null; // without any snapshot there is only one
	}

	private void event(ProtoFields f, long ns, PerfettoSequence s) throws MemtraceException {
		int kind = 0;
		long track = s.track;
		String name = "";
		double value = 0;
		boolean legacy = false;
		long[] extra = {};
		long[] extraReal = {};
		long[] extraTracks = s.extraTracks;
		long[] extraRealTracks = s.extraRealTracks;
		boolean ownTracks = false;
		boolean ownRealTracks = false;
		long[] flow = {};
		long[] ends = {};
		Map<String, String> parameters = Map.of();
		while (f.next()) {
			switch (f.number()) {
			case 9 -> kind = (int) f.number64();
			case 11 -> track = f.number64();
			case 10 -> name = s.names.getOrDefault(f.number64(), "");
			case 23 -> name = f.text();
			case 30 -> value = f.number64();
			case 44 -> value = f.real();
			case 6 -> legacy = true;
			case 12 -> extra = ProtoFields.add(extra, f, ProtoFields.VARINT);
			case 46 -> extraReal = ProtoFields.add(extraReal, f, ProtoFields.FIXED64);
			case 31 -> {
				extraTracks = ProtoFields.add(ownTracks ? extraTracks : new long[0], f, ProtoFields.VARINT);
				ownTracks = true;
			}
			case 45 -> {
				extraRealTracks = ProtoFields.add(ownRealTracks ? extraRealTracks : new long[0], f, ProtoFields.VARINT);
				ownRealTracks = true;
			}
			case 36 -> flow = ProtoFields.add(flow, f, ProtoFields.VARINT);
			case 47 -> flow = ProtoFields.add(flow, f, ProtoFields.FIXED64);
			case 42 -> ends = ProtoFields.add(ends, f, ProtoFields.VARINT);
			case 48 -> ends = ProtoFields.add(ends, f, ProtoFields.FIXED64);
			case 4 -> {
				if (!isFirst) {
					parameters = parameters.isEmpty() ? new LinkedHashMap<>() : parameters;
					annotation(f.message(), s, parameters);
				}
			}
			default -> { }
			}
		}
		for (int i = 0; i < extra.length && i < extraTracks.length; i++) {
			tell(extraTracks[i], new Event(COUNTER, ns, "", extra[i], Map.of(), new long[0], new long[0]));
		}
		for (int i = 0; i < extraReal.length && i < extraRealTracks.length; i++) {
			tell(extraRealTracks[i], new Event(COUNTER, ns, "", Double.longBitsToDouble(extraReal[i]), Map.of(), new long[0], new long[0]));
		}
		if (kind < BEGIN || kind > COUNTER) {
			skip(legacy ? "event in the form of old Chrome" : "event of the kind " + kind + ", which is not imported");
			return;
		}
		tell(track, new Event(kind, ns, name, value, parameters, flow, ends));
	}

	private void annotation(ProtoFields f, PerfettoSequence s, Map<String, String> to) {
		StringBuilder text = new StringBuilder();
		String key = value(f, s, text, 0);
		if (!key.isBlank() && key.strip().length() <= LONGEST_KEY && !text.isEmpty()) {
			to.put(key.strip(), text.length() > LONGEST_VALUE ? text.substring(0, LONGEST_VALUE) + "..." : text.toString());
		}
	}

	/** Appends the value of an annotation; returns its name. */
	private static String value(ProtoFields f, PerfettoSequence s, StringBuilder text, int depth) {
		String key = "";
		char closed = 0;
		while (f.next()) {
			switch (f.number()) {
			case 1 -> key = s.annotations.getOrDefault(f.number64(), "");
			case 10 -> key = f.text();
			case 2 -> text.append(f.number64() != 0);
			case 3 -> text.append(Long.toUnsignedString(f.number64()));
			case 4 -> text.append(f.number64());
			case 5 -> text.append(f.real());
			case 7 -> text.append("0x").append(Long.toHexString(f.number64()));
			case 6, 9 -> text.append(f.text());
			case 17 -> text.append(s.texts.getOrDefault(f.number64(), ""));
			case 11, 12 -> {
				boolean dictionary = f.number() == 11;
				text.append(closed != 0 ? ',' : dictionary ? '{' : '[');
				closed = dictionary ? '}' : ']';
				if (depth < DEEPEST && text.length() <= LONGEST_VALUE) {
					StringBuilder inner = new StringBuilder();
					String name = value(f.message(), s, inner, depth + 1);
					text.append(dictionary ? name + ":" : "").append(inner);
				}
			}
			default -> { }
			}
		}
		if (closed != 0) {
			text.append(closed);
		}
		return key;
	}

	private void tell(long uuid, Event e) throws MemtraceException {
		Track track = tracks.of(uuid);
		if (isFirst) {
			track.isUnordered |= e.ns < track.lastNs;
			track.lastNs = Math.max(track.lastNs, e.ns);
			return;
		}
		lastNs = Math.max(lastNs, e.ns);
		Lane lane = lanes.computeIfAbsent(uuid, u -> new Lane());
		if (track.isUnordered) {
			lane.held.add(e);
			backwards++;
			return;
		}
		apply(uuid, track, lane, e);
	}

	private void apply(long uuid, Track track, Lane lane, Event e) throws MemtraceException {
		int producer = tracks.producer(uuid);
		switch (e.kind) {
		case BEGIN -> {
			if (lane.open.size() == DEEPEST_STATE) {
				skip("state inside of " + DEEPEST_STATE + " others");
				return;
			}
			lane.open.push(new Begun(sink.typeOf(EventCategory.STATE, e.name.isBlank() ? "unnamed" : e.name.strip()), e.ns, e.parameters));
		}
		case END -> {
			Begun begun = lane.open.poll();
			if (begun == null) {
				skip("end of a state that did not begin");
				return;
			}
			Map<String, String> all = begun.parameters;
			if (!e.parameters.isEmpty()) {
				all = new LinkedHashMap<>(begun.parameters);
				e.parameters.forEach(all::putIfAbsent);
			}
			state(producer, begun, Math.max(begun.ns, e.ns), lane.open.size(), all);
		}
		case INSTANT -> {
			int type = sink.typeOf(EventCategory.PUNCTUAL, e.name.isBlank() ? "unnamed" : e.name.strip());
			sink.event(type, producer, e.ns, e.ns, 0, 0, parameters(type, e.parameters));
		}
		default -> counter(track, producer, lane, e);
		}
		for (long id : e.flows) {
			step(id, producer, e, false);
		}
		for (long id : e.ends) {
			step(id, producer, e, true);
		}
	}

	private void state(int producer, Begun begun, long endNs, int level, Map<String, String> parameters) throws MemtraceException {
		sink.event(begun.type, producer, begun.ns, endNs, level, 0, parameters(begun.type, parameters));
	}

	private int parameters(int type, Map<String, String> values) throws MemtraceException {
		if (values.isEmpty()) {
			return 0;
		} else if (withParameters == MOST_PARAMETERS) {
			withoutParameters++;
			return 0;
		}
		withParameters++;
		return sink.parameters(type, values);
	}

	private void counter(Track track, int producer, Lane lane, Event e) throws MemtraceException {
		if (!Double.isFinite(e.value)) {
			skip("counter whose value is not finite");
			return;
		}
		if (lane.type < 0) {
			lane.type = sink.typeOf(EventCategory.VARIABLE, track.name.isEmpty() ? "counter" : track.name);
		}
		if (lane.hasValue) {
			sink.event(lane.type, producer, lane.valueNs, Math.max(lane.valueNs, e.ns), lane.value, 0, 0);
		}
		double scaled = e.value * track.multiplier;
		lane.value = track.isIncremental ? lane.value + scaled : scaled;
		lane.valueNs = e.ns;
		lane.hasValue = true;
	}

	/** A flow goes from one step to the next one in time, whichever is read first. */
	private void step(long id, int producer, Event e, boolean isLast) throws MemtraceException {
		Step before = flows.get(id);
		if (before != null) {
			int type = sink.typeOf(EventCategory.LINK, "flow");
			if (before.ns <= e.ns) {
				sink.event(type, before.producer, before.ns, e.ns, producer, 0, 0);
			} else {
				sink.event(type, producer, e.ns, before.ns, before.producer, 0, 0);
			}
		}
		if (isLast && before != null) {
			flows.remove(id);
		} else {
			flows.put(id, new Step(e.ns, producer, before == null));
		}
	}

	/** When all packets were read: what is open ends, with the last event. */
	void finish() throws MemtraceException {
		for (Map.Entry<Long, Lane> l : lanes.entrySet()) {
			l.getValue().held.sort(Comparator.comparingLong(Event::ns));
			for (Event e : l.getValue().held) {
				apply(l.getKey(), tracks.of(l.getKey()), l.getValue(), e);
			}
			l.getValue().held.clear();
		}
		long unfinished = 0;
		for (Map.Entry<Long, Lane> l : lanes.entrySet()) {
			Lane lane = l.getValue();
			int producer = lane.open.isEmpty() && !lane.hasValue ? -1 : tracks.producer(l.getKey());
			while (!lane.open.isEmpty()) {
				Begun begun = lane.open.pop();
				unfinished++;
				state(producer, begun, Math.max(begun.ns, lastNs), lane.open.size(), begun.parameters);
			}
			if (lane.hasValue) {
				sink.event(lane.type, producer, lane.valueNs, Math.max(lane.valueNs, lastNs), lane.value, 0, 0);
			}
		}
		long alone = flows.values().stream().filter(Step::alone).count();
		if (alone > 0) {
			sink.skips().skip(file, 0, "flow without a further step", alone);
		}
		sink.lost(lost);
		warn(gaps, "gaps in which the recorder dropped packets");
		warn(overwritten, "chunks of packets were overwritten by later ones in the recorder's buffer");
		warn(unfinished, "states do not end; they last until the last event");
		warn(backwards, "events are of tracks that are not in the order of time; they were held until the end");
		warn(withoutParameters, "events have no annotations: there were more than " + MOST_PARAMETERS + " before them");
	}

	private void warn(long how, String text) {
		if (how > 0) {
			sink.skips().warn(String.format(Locale.ROOT, "%,d %s", how, text));
		}
	}
}
