// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.analysis.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
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
 * Writes a trace in the Pajé format: definitions, a container for each event producer, then events in the order of time, in seconds from
 * the start of the trace. Of a memory trace each page has up to four variables, one for each type of access; the value at a time is the sum
 * of the counts of the records that are under way. Of other traces states, links, punctual events and variables are what they are in Pajé;
 * states of a producer must nest, as Pajé has no others. Source: L. M. Schnorr, The Pajé trace file format, 2014. Errors of the output are
 * {@link UncheckedIOException}.
 */
public final class PajeTrace {
	private static final int DEFINE_CONTAINER = 0;
	private static final int DEFINE_VARIABLE = 1;
	private static final int DEFINE_STATE = 2;
	private static final int DEFINE_EVENT = 3;
	private static final int DEFINE_LINK = 4;
	private static final int CREATE = 5;
	private static final int DESTROY = 6;
	private static final int SET = 7;
	private static final int ADD = 8;
	private static final int SUBTRACT = 9;
	private static final int PUSH = 10;
	private static final int POP = 11;
	private static final int NEW_EVENT = 12;
	private static final int START_LINK = 13;
	private static final int END_LINK = 14;
	private static final String[][] DEFINITIONS = {{"DefineContainerType", "Alias string", "Type string", "Name string"},
		{"DefineVariableType", "Alias string", "Type string", "Name string", "Color color"},
		{"DefineStateType", "Alias string", "Type string", "Name string"},
		{"DefineEventType", "Alias string", "Type string", "Name string"},
		{"DefineLinkType", "Alias string", "Type string", "StartContainerType string", "EndContainerType string", "Name string"},
		{"CreateContainer", "Time date", "Alias string", "Type string", "Container string", "Name string"},
		{"DestroyContainer", "Time date", "Type string", "Name string"},
		{"SetVariable", "Time date", "Type string", "Container string", "Value double"},
		{"AddVariable", "Time date", "Type string", "Container string", "Value double"},
		{"SubVariable", "Time date", "Type string", "Container string", "Value double"},
		{"PushState", "Time date", "Type string", "Container string", "Value string"},
		{"PopState", "Time date", "Type string", "Container string"},
		{"NewEvent", "Time date", "Type string", "Container string", "Value string"},
		{"StartLink", "Time date", "Type string", "Container string", "StartContainer string", "Value string", "Key string"},
		{"EndLink", "Time date", "Type string", "Container string", "EndContainer string", "Value string", "Key string"}};
	/** Private read and write, shared read and write, as in pictures. */
	private static final String[] COLORS = {"0.60 0.80 0.94", "0.16 0.43 0.72", "0.94 0.60 0.16", "0.54 0.08 0.09",
		"0.75 0.77 0.80", "0.45 0.48 0.52"};

	private final TraceStore store;
	private final ProducerTree tree;
	private final long startNs;
	private final Appendable out;
	/** What ends later: the first on top, of several at a time the one that was begun last. */
	private final PriorityQueue<End> ends = new PriorityQueue<>(Comparator.comparingLong(End::ns).thenComparing(End::number,
			Comparator.reverseOrder()));
	/** Variables that have a value, by producer and type. */
	private final BitSet known = new BitSet();
	private long number;

	/** A line that is written when its time comes. */
	private record End(long ns, long number, String rest) {
	}

	private PajeTrace(TraceStore store, Appendable out) throws MemtraceException {
		this.store = store;
		this.tree = store.producers();
		this.startNs = store.info().startNs();
		this.out = out;
	}

	/** Writes the accesses, or the events of a trace without accesses. */
	public static void write(TraceStore store, AccessFilter filter, Appendable out, Progress progress) throws MemtraceException {
		PajeTrace trace = new PajeTrace(store, out);
		try {
			boolean accesses = store.accessCount() > 0;
			trace.definitions(accesses);
			trace.containers(filter, progress);
			if (accesses) {
				trace.accesses(filter, progress);
			} else {
				trace.events(filter, progress);
			}
			trace.endUntil(Long.MAX_VALUE);
			trace.out.append(DESTROY + " " + trace.time(store.info().endNs()) + " L0 P0\n");
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private String time(long ns) {
		return TraceExport.seconds(ns - startNs);
	}

	/** Strings are in double quotes, and have no way to write one inside. */
	private static String quoted(String text) {
		return '"' + text.replace('"', '\'').replaceAll("\\p{Cntrl}", " ") + '"';
	}

	private void definitions(boolean accesses) throws IOException, MemtraceException {
		for (int d = 0; d < DEFINITIONS.length; d++) {
			out.append("%EventDef Paje" + DEFINITIONS[d][0] + " " + d + "\n");
			for (int f = 1; f < DEFINITIONS[d].length; f++) {
				out.append("% " + DEFINITIONS[d][f] + "\n");
			}
			out.append("%EndEventDef\n");
		}
		// a type of container for each level: kinds of producers may be inside of their own kind, types of containers may not
		int levels = 0;
		for (int id = 0; id < tree.size(); id++) {
			levels = Math.max(levels, tree.level(id) + 1);
		}
		List<EventType> types = accesses ? List.of() : store.eventTypes();
		for (int l = 0; l < levels; l++) {
			out.append(DEFINE_CONTAINER + " L" + l + " " + (l == 0 ? "0" : "L" + (l - 1)) + " " + quoted("level " + l) + "\n");
			if (accesses) {
				for (int t = 0; t < AccessFilter.types(store.info()).length; t++) {
					out.append(DEFINE_VARIABLE + " V" + t + "L" + l + " L" + l + " " + AccessFilter.TYPES[t] + " " + quoted(COLORS[t])
							+ "\n");
				}
				continue;
			}
			out.append(DEFINE_STATE + " SL" + l + " L" + l + " state\n");
			out.append(DEFINE_EVENT + " EL" + l + " L" + l + " event\n");
			for (EventType type : types) {
				if (type.category() == EventCategory.VARIABLE) {
					out.append(DEFINE_VARIABLE + " V" + type.id() + "L" + l + " L" + l + " " + quoted(type.name()) + " "
							+ quoted(COLORS[1]) + "\n");
				}
			}
		}
		if (types.stream().anyMatch(t -> t.category() == EventCategory.LINK)) {
			for (int a = 0; a < levels; a++) {
				for (int b = 0; b < levels; b++) {
					out.append(DEFINE_LINK + " K" + a + "L" + b + " L0 L" + a + " L" + b + " link\n");
				}
			}
		}
	}

	private void containers(AccessFilter filter, Progress progress) throws IOException, MemtraceException {
		int from = filter.query().producerFrom();
		int to = Math.min(tree.size(), filter.query().producerTo());
		for (int id = 0; id < to; id++) {
			progress.check();
			if (id >= from || tree.subtreeEnd(id) > from) {
				int parent = tree.parent(id);
				out.append(CREATE + " " + time(startNs) + " P" + id + " L" + tree.level(id) + " " + (parent < 0 ? "0" : "P" + parent) + " "
						+ quoted(tree.name(id)) + "\n");
			}
		}
	}

	/** Writes what ends until a time. */
	private void endUntil(long ns) throws IOException {
		while (!ends.isEmpty() && ends.peek().ns() <= ns) {
			out.append(ends.poll().rest());
		}
	}

	private void endAt(long ns, int event, String rest) {
		ends.add(new End(ns, number++, event + " " + time(ns) + rest));
	}

	private void accesses(AccessFilter filter, Progress progress) throws MemtraceException {
		filter.visit(store, b -> {
			try {
				for (int i = 0; i < b.count; i++) {
					endUntil(b.startNs[i]);
					for (int write = 0; write < 2; write++) {
						long count = write == 0 ? b.reads[i] : b.writes[i];
						if (count > 0) {
							change(b.producer[i], AccessFilter.type(b.sharing[i], write == 1), b.startNs[i], b.endNs[i], count);
						}
					}
				}
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}, progress);
	}

	private void change(int producer, int type, long start, long end, long count) throws IOException {
		String where = " V" + type + "L" + tree.level(producer) + " P" + producer + " " + count + "\n";
		int variable = Math.multiplyExact(producer, AccessFilter.TYPES.length) + type;
		out.append((known.get(variable) ? ADD : SET) + " " + time(start) + where);
		known.set(variable);
		endAt(end, SUBTRACT, where);
	}

	/** An event as it is put in order. */
	private record Event(EventType type, int producer, long start, long end, double value) {
	}

	private void events(AccessFilter filter, Progress progress) throws MemtraceException, IOException {
		Map<Integer, EventType> types = new HashMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t));
		List<Event> sameStart = new ArrayList<>();
		store.visitEvents(filter.query(), b -> {
			try {
				for (int i = 0; i < b.count; i++) {
					if (!sameStart.isEmpty() && sameStart.getFirst().start != b.startNs[i]) {
						write(sameStart);
					}
					EventType type = types.get(b.type[i]);
					if (type != null) {
						sameStart.add(new Event(type, b.producer[i], b.startNs[i], b.endNs[i], b.value[i]));
					}
				}
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}, progress);
		write(sameStart);
	}

	/** Writes events that begin at one time: of states that do the longest first, it is around the others. */
	private void write(List<Event> events) throws IOException {
		if (events.isEmpty()) {
			return;
		}
		endUntil(events.getFirst().start);
		events.sort(Comparator.comparingLong((Event e) -> -e.end));
		for (Event e : events) {
			int level = tree.level(e.producer);
			String name = quoted(e.type.name());
			String begin = " " + time(e.start);
			switch (e.type.category()) {
			case PUNCTUAL -> out.append(NEW_EVENT + begin + " EL" + level + " P" + e.producer + " " + name + "\n");
			case STATE -> {
				out.append(PUSH + begin + " SL" + level + " P" + e.producer + " " + name + "\n");
				if (e.end <= e.start) {
					out.append(POP + begin + " SL" + level + " P" + e.producer + "\n");
				} else {
					endAt(e.end, POP, " SL" + level + " P" + e.producer + "\n");
				}
			}
			case LINK -> {
				int to = e.value >= 0 && e.value < tree.size() ? (int) e.value : e.producer;
				String link = " K" + level + "L" + tree.level(to) + " P0 P";
				String key = " " + name + " " + quoted("k" + number) + "\n";
				out.append(START_LINK + begin + link + e.producer + key);
				if (e.end <= e.start) {
					out.append(END_LINK + begin + link + to + key);
				} else {
					endAt(e.end, END_LINK, link + to + key);
				}
				number++;
			}
			case VARIABLE -> out.append(SET + begin + " V" + e.type.id() + "L" + level + " P" + e.producer + " " + e.value + "\n");
			}
		}
		events.clear();
	}
}
