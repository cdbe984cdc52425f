// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.chrome;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;

import org.memtrace.importer.input.DecimalNumber;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.NameTree;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.EventCategory;

/**
 * Makes states, links, instants and variables of events as Chrome's trace viewer knows them: docs/reference/input-events.md, "Chrome JSON".
 * Names of threads and the ends of states come in any order: all events are kept, in some 60 bytes each, until the last one was read.
 */
final class ChromeEvents {
	private static final int MICROSECOND_PLACES = 3;
	private static final long MOST_PARAMETERS = 1 << 24;
	private static final int LONGEST_VALUE = 256;
	private static final int NO_TARGET = -1;
	private static final int PROGRESS_PLACES = 4096;

	private record Begun(int type, long ns, Map<String, String> parameters) {
	}

	/** @param alone whether nothing has followed it */
	private record Step(long ns, int place, boolean alone) {
	}

	private record Counter(int place, int type) {
	}

	private record Held(long ns, double value) {
	}

	private final EventSink sink;
	private final String file;
	private long number;
	/** Processes, and threads below them, by their ids as they stand there. */
	private final NameTree places = new NameTree();
	/** Places that have events; the others only have a name. */
	private final BitSet used = new BitSet();
	private final Map<Integer, String> names = new HashMap<>();
	private final Map<Integer, ArrayDeque<Begun>> open = new HashMap<>();
	private final Map<List<String>, Step> flows = new HashMap<>();
	private final Map<List<String>, ArrayDeque<Step>> spans = new HashMap<>();
	private final Map<Counter, Held> counters = new LinkedHashMap<>();
	private long lastNs = Long.MIN_VALUE;
	private long withParameters;
	private long withoutParameters;
	private long overlapping;

	// events: start, end, type, place, the place that a link goes to, value, set of parameters
	private int count;
	private long[] start = new long[1024];
	private long[] end = new long[1024];
	private int[] type = new int[1024];
	private int[] place = new int[1024];
	private int[] target = new int[1024];
	private double[] value = new double[1024];
	private int[] set = new int[1024];
	private boolean[] isState = new boolean[64];

	// of the event that is read
	private String phase;
	private String name;
	private String category;
	private String pid;
	private String tid;
	private String id;
	private String time;
	private String duration;
	private final Map<String, String> args = new LinkedHashMap<>();

	ChromeEvents(EventSink sink, String file) {
		this.sink = sink;
		this.file = file;
	}

	/** Events so far. */
	long number() {
		return number;
	}

	/** Takes an event. */
	void event(JsonReader json) throws IOException, MemtraceException {
		sink.row();
		read(json);
		number++;
		String problem;
		try {
			problem = take();
		} catch (NumberFormatException e) {
			problem = "time that is not a number";
		} catch (ArithmeticException e) {
			problem = "time that is out of range";
		}
		if (problem != null) {
			sink.skip(file + ", event " + number, 0, problem);
		}
	}

	private void read(JsonReader json) throws IOException {
		phase = "";
		name = "";
		category = "";
		pid = "";
		tid = "";
		id = "";
		time = null;
		duration = null;
		args.clear();
		json.beginObject();
		while (json.hasNext()) {
			switch (json.nextName()) {
			case "ph" -> phase = text(json);
			case "name" -> name = text(json);
			case "cat" -> category = text(json);
			case "pid" -> pid = text(json);
			case "tid" -> tid = text(json);
			case "id", "id2", "bind_id" -> id = text(json);
			case "ts" -> time = text(json);
			case "dur" -> duration = text(json);
			case "args" -> arguments(json);
			default -> json.skipValue();
			}
		}
		json.endObject();
	}

	/** A text or number as it stands there; something else as JSON. */
	private static String text(JsonReader json) throws IOException {
		return switch (json.peek()) {
		case STRING, NUMBER -> json.nextString();
		case NULL -> {
			json.nextNull();
			yield "";
		}
		case BOOLEAN -> Boolean.toString(json.nextBoolean());
		default -> JsonParser.parseReader(json).toString();
		};
	}

	private void arguments(JsonReader json) throws IOException {
		if (json.peek() != JsonToken.BEGIN_OBJECT) {
			json.skipValue();
			return;
		}
		json.beginObject();
		while (json.hasNext()) {
			String key = json.nextName().strip();
			String text;
			if (json.peek() == JsonToken.BEGIN_OBJECT || json.peek() == JsonToken.BEGIN_ARRAY) {
				JsonElement element = JsonParser.parseReader(json);
				text = element.toString();
			} else {
				text = text(json);
			}
			if (!key.isEmpty() && key.length() <= 128 && !text.isEmpty()) {
				args.put(key, text.length() > LONGEST_VALUE ? text.substring(0, LONGEST_VALUE) + "..." : text);
			}
		}
		json.endObject();
	}

	private static long ns(String text) {
		if (text == null) {
			throw new NumberFormatException();
		}
		return DecimalNumber.scaled(text, MICROSECOND_PLACES);
	}

	private int here() {
		return used(place(pid, tid));
	}

	private int used(int at) {
		used.set(at);
		return at;
	}

	/** A thread of a process, or a process by itself. */
	private int place(String process, String thread) {
		int at = places.child(NameTree.ROOT, process);
		return thread.isEmpty() ? at : places.child(at, thread);
	}

	private int typeOf(EventCategory of, String text) {
		int number = sink.typeOf(of, text.isBlank() ? "unnamed" : text);
		if (number >= isState.length) {
			isState = Arrays.copyOf(isState, Math.max(2 * isState.length, number + 1));
		}
		isState[number] = of == EventCategory.STATE;
		return number;
	}

	/** @return why the event is not used, or null */
	private String take() throws MemtraceException {
		if (phase.equals("M")) {
			metadata();
			return null;
		}
		long now = ns(time);
		switch (phase) {
		case "X" -> {
			long end = duration == null ? now : Math.addExact(now, ns(duration));
			if (end < now) {
				return "negative duration";
			}
			add(typeOf(EventCategory.STATE, name), here(), now, end, 0, NO_TARGET, args);
		}
		case "B" -> open.computeIfAbsent(here(), p -> new ArrayDeque<>())
				.push(new Begun(typeOf(EventCategory.STATE, name), now, args.isEmpty() ? Map.of() : new LinkedHashMap<>(args)));
		case "E" -> {
			return end(now);
		}
		case "i", "I", "R", "n", "T" -> add(typeOf(EventCategory.PUNCTUAL, name), here(), now, now, 0, NO_TARGET, args);
		case "C" -> {
			return counter(now);
		}
		case "s", "t", "f" -> {
			return flow(now);
		}
		case "b", "S" -> spans.computeIfAbsent(List.of(category, name, id, pid), k -> new ArrayDeque<>()).push(new Step(now, here(), true));
		case "e", "F" -> {
			ArrayDeque<Step> begun = spans.get(List.of(category, name, id, pid));
			if (begun == null || begun.isEmpty()) {
				return "end of an asynchronous span that did not begin";
			}
			Step from = begun.pop();
			add(typeOf(EventCategory.LINK, name), from.place, from.ns, Math.max(from.ns, now), 0, here(), args);
		}
		default -> {
			return "event of the phase \"" + (phase.length() > 8 ? phase.substring(0, 8) : phase) + "\", which is not imported";
		}
		}
		return null;
	}

	/** A step of a flow; returns why it is not used, or null. */
	private String flow(long now) throws MemtraceException {
		List<String> key = List.of(category, name, id);
		Step from = flows.get(key);
		if (from == null && !phase.equals("s")) {
			return "step of a flow that did not begin";
		}
		if (!phase.equals("s")) {
			add(typeOf(EventCategory.LINK, name), from.place, from.ns, Math.max(from.ns, now), 0, here(), Map.of());
		}
		if (phase.equals("f")) {
			flows.remove(key);
		} else {
			flows.put(key, new Step(now, here(), phase.equals("s")));
		}
		return null;
	}

	/** A state ends; returns why it cannot, or null. */
	private String end(long now) throws MemtraceException {
		ArrayDeque<Begun> stack = open.get(here());
		if (stack == null || stack.isEmpty()) {
			return "end of a state that did not begin";
		}
		Begun begun = stack.pop();
		if (now < begun.ns) {
			return "state that ends before it begins";
		}
		Map<String, String> all = new LinkedHashMap<>(begun.parameters);
		args.forEach(all::putIfAbsent);
		add(begun.type, here(), begun.ns, now, 0, NO_TARGET, all);
		return null;
	}

	private void metadata() {
		String text = args.getOrDefault("name", "");
		if (name.equals("process_name")) {
			names.put(place(pid, ""), text);
		} else if (name.equals("thread_name")) {
			names.put(place(pid, tid), text);
		}
	}

	private String counter(long now) throws MemtraceException {
		int process = used(place(pid, ""));
		String what = id.isEmpty() ? name : name + " " + id;
		for (Map.Entry<String, String> arg : args.entrySet()) {
			double next;
			try {
				next = Double.parseDouble(arg.getValue());
			} catch (NumberFormatException e) {
				return "counter whose value is not a number";
			}
			if (!Double.isFinite(next)) {
				return "counter whose value is not finite";
			}
			boolean plain = args.size() == 1 && (arg.getKey().equals("value") || arg.getKey().equals(name));
			Counter counter = new Counter(process, typeOf(EventCategory.VARIABLE, plain ? what : what + " " + arg.getKey()));
			Held before = counters.put(counter, new Held(now, next));
			if (before != null) {
				add(counter.type, process, before.ns, Math.max(before.ns, now), before.value, NO_TARGET, Map.of());
			}
		}
		lastNs = Math.max(lastNs, now);
		return null;
	}

	private void add(int eventType, int at, long from, long to, double number, int goesTo, Map<String, String> parameters)
			throws MemtraceException {
		if (count == start.length) {
			int size = count + (count >> 1);
			start = Arrays.copyOf(start, size);
			end = Arrays.copyOf(end, size);
			type = Arrays.copyOf(type, size);
			place = Arrays.copyOf(place, size);
			target = Arrays.copyOf(target, size);
			value = Arrays.copyOf(value, size);
			set = Arrays.copyOf(set, size);
		}
		int parameterSet = 0;
		if (!parameters.isEmpty()) {
			if (withParameters < MOST_PARAMETERS) {
				withParameters++;
				parameterSet = sink.parameters(eventType, parameters);
			} else {
				withoutParameters++;
			}
		}
		start[count] = from;
		end[count] = to;
		type[count] = eventType;
		place[count] = at;
		target[count] = goesTo;
		value[count] = number;
		set[count++] = parameterSet;
		lastNs = Math.max(lastNs, to);
	}

	/** When all events were read: what is open ends, threads get their names, states their levels. */
	void finish(Progress progress) throws MemtraceException {
		long unfinished = 0;
		for (Map.Entry<Integer, ArrayDeque<Begun>> thread : open.entrySet()) {
			for (Begun begun : thread.getValue()) {
				unfinished++;
				add(begun.type, thread.getKey(), begun.ns, Math.max(begun.ns, lastNs), 0, NO_TARGET, begun.parameters);
			}
		}
		for (Map.Entry<Counter, Held> counter : counters.entrySet()) {
			Held held = counter.getValue();
			add(counter.getKey().type, counter.getKey().place, held.ns, Math.max(held.ns, lastNs), held.value, NO_TARGET, Map.of());
		}
		long alone = spans.values().stream().mapToLong(ArrayDeque::size).sum();
		if (alone > 0) {
			sink.skips().skip(file, 0, "asynchronous span without its end", alone);
		}
		long ends = flows.values().stream().filter(Step::alone).count();
		if (ends > 0) {
			sink.skips().skip(file, 0, "flow without a further step", ends);
		}
		int[] producers = producers(progress);
		emit(producers, progress);
		warn(unfinished, "states do not end; they last until the last event");
		warn(overlapping, "states overlap others of their thread without being inside of them");
		warn(withoutParameters, "events have no arguments: there were more than " + MOST_PARAMETERS + " before them");
	}

	private void warn(long how, String text) {
		if (how > 0) {
			sink.skips().warn(String.format(Locale.ROOT, "%,d %s", how, text));
		}
	}

	/** Producers of the places. A name that several have is followed by the number. */
	private int[] producers(Progress progress) throws MemtraceException {
		int[] producers = new int[places.size()];
		Shown shown = new Shown();
		for (int at = used.nextSetBit(0); at >= 0; at = used.nextSetBit(at + 1)) {
			if (at % PROGRESS_PLACES == 0) {
				progress.check();
			}
			int process = places.parent(at) == NameTree.ROOT ? at : places.parent(at);
			List<String> path = new ArrayList<>(2);
			path.add(free(shown, NameTree.ROOT, process, "process "));
			if (at != process) {
				path.add(free(shown, shown.names.child(NameTree.ROOT, path.get(0)), at, "thread "));
			}
			producers[at] = sink.producer(path);
		}
		return producers;
	}

	/** Names as they are shown, and the place that had each of them first, plus one; 0 for none. */
	private static final class Shown {
		private final NameTree names = new NameTree();
		private int[] first = new int[64];
	}

	private String free(Shown shown, int above, int of, String otherwise) {
		String own = places.name(of);
		String known = names.getOrDefault(of, "").strip();
		String name = known.isEmpty() ? (otherwise + own).strip() : known;
		int at = shown.names.child(above, name);
		if (at >= shown.first.length) {
			shown.first = Arrays.copyOf(shown.first, Math.max(at + 1, shown.first.length + (shown.first.length >> 1)));
		}
		if (shown.first[at] == 0) {
			shown.first[at] = of + 1;
		}
		return shown.first[at] == of + 1 ? name : name + " (" + own + ")";
	}

	/** In the order of places, starts and, of those that start together, the longest first: what is inside comes after what is around it. */
	private void emit(int[] producers, Progress progress) throws MemtraceException {
		Integer[] order = new Integer[count];
		Arrays.setAll(order, i -> i);
		Arrays.sort(order, (a, b) -> place[a] != place[b] ? Integer.compare(place[a], place[b])
				: start[a] != start[b] ? Long.compare(start[a], start[b]) : end[a] != end[b] ? Long.compare(end[b], end[a]) : Integer.compare(a, b));
		progress.check();
		long[] ends = new long[64];
		int depth = 0;
		int at = -1;
		for (int i : order) {
			if (place[i] != at) {
				at = place[i];
				depth = 0;
			}
			double number = value[i];
			if (isState[type[i]]) {
				while (depth > 0 && ends[depth - 1] <= start[i]) {
					depth--;
				}
				overlapping += depth > 0 && ends[depth - 1] < end[i] ? 1 : 0;
				number = depth;
				if (depth == ends.length) {
					ends = Arrays.copyOf(ends, 2 * depth);
				}
				ends[depth++] = end[i];
			} else if (target[i] != NO_TARGET) {
				number = producers[target[i]];
			}
			sink.event(type[i], producers[place[i]], start[i], end[i], number, 0, set[i]);
		}
	}
}
