// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paraver;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * The records of a trace of Paraver: {@code 1:} states, {@code 2:} events, {@code 3:} communications, {@code 4:} collective operations.
 * Paraver gives events no meaning; what it calls a value that begins and ends at 0 is a state here. Counters, which Extrae writes as what
 * was counted since the last time, are variables; so is a type whose values have no names and are not always the same one. All others are
 * instants.
 */
final class ParaverEvents implements LineFileReader.Lines {
	/** Outlined functions of OpenMP and functions of the user: of Extrae, they nest. */
	private static final Set<Long> NESTED = Set.of(60000018L, 60000019L);
	/** Counters of the processor, of the operating system and of the network, as Extrae numbers them. */
	private static final long FIRST_COUNTER = 41_000_000;
	private static final long LAST_COUNTER = 49_999_999;
	private static final Pattern HEADER = Pattern.compile("#Paraver \\([^)]*\\):\\d{1,20}(_[mun]s)?:.*",
			Pattern.CASE_INSENSITIVE);
	private static final Map<String, Long> UNITS = Map.of("_ns", 1L, "_us", 1000L, "_ms", 1_000_000L);
	private static final Pattern APPLICATION = Pattern.compile("(\\d{1,9})\\(([^)]*)\\)");
	/** More colons than any line has that is not damaged. */
	private static final int MOST_FIELDS = 1 << 12;
	/** Events with the same value, of a type. */
	private static final int MOST_HELD = 1 << 20;

	private final EventSink sink;
	private final String file;
	private final ParaverLabels labels;
	/** By application, task and thread, from 1. */
	private final Map<List<Long>, Thread> threads = new HashMap<>();
	private final Map<List<Long>, Integer> places = new HashMap<>();
	/** Events of types without names for values, as long as all have the same value. */
	private final Map<Long, List<Read>> same = new HashMap<>();
	/** Such types with several values. */
	private final Set<Long> changing = new HashSet<>();
	private long nsPerUnit = 1000;
	private long lastNs;

	private static final class Thread {
		final int producer;
		/** Open states of each event type, and how many those are. */
		final Map<Long, Deque<Open>> open = new HashMap<>();
		int depth;
		/** When a counter was read last. */
		final Map<Long, Long> counted = new HashMap<>();

		Thread(int producer) {
			this.producer = producer;
		}
	}

	private record Read(Thread thread, long value, long ns, long cpu) {
	}

	private record Open(long value, long sinceNs, int level) {
	}

	ParaverEvents(EventSink sink, String file, ParaverLabels labels) {
		this.sink = sink;
		this.file = file;
		this.labels = labels;
	}

	static boolean isHeader(String line) {
		return HEADER.matcher(line).matches();
	}

	@Override
	public void line(byte[] buffer, int start, int end, long number) throws MemtraceException {
		String line = new String(buffer, start, end - start, StandardCharsets.ISO_8859_1);
		if (number == 1) {
			header(line);
		} else {
			line(line, number);
		}
	}

	/** The first line: unit of times, and the order of the threads. */
	private void header(String line) {
		Matcher m = HEADER.matcher(line);
		nsPerUnit = m.matches() && m.group(1) != null ? UNITS.get(m.group(1).toLowerCase(Locale.ROOT)) : 1000;
		// nodes first, then a list of tasks for each application: "2(4,4):1:2(2:1,2:2)"
		Matcher application = APPLICATION.matcher(line.substring(line.indexOf("):") + 2)
				.replaceFirst("^\\d+(?:_[mun]s)?:(\\d+\\([^)]*\\)|\\d+):\\d+:", ""));
		long a = 1;
		while (application.find()) {
			String[] tasks = application.group(2).split(",");
			for (int t = 0; t < tasks.length; t++) {
				String count = tasks[t].split(":")[0].strip();
				int n = count.matches("\\d{1,6}") ? Integer.parseInt(count) : 0;
				for (int thread = 1; thread <= n; thread++) {
					places.put(List.of(a, t + 1L, (long) thread), places.size());
				}
			}
			a++;
		}
	}

	/** One record. */
	private void line(String line, long number) throws MemtraceException {
		if (line.isEmpty() || line.charAt(0) == '#' || line.startsWith("c:") || line.startsWith("i:")) {
			return; // comments, communicators
		}
		sink.row();
		String[] fields = line.split(":", MOST_FIELDS);
		long[] n = new long[fields.length];
		for (int i = 0; i < n.length; i++) {
			String field = fields[i].strip();
			if (!field.matches("-?\\d{1,18}")) {
				sink.skip(file, number, "a field is not a number");
				return;
			}
			n[i] = Long.parseLong(field);
		}
		String error = place(n);
		error = error != null ? error : n[0] == 1 && n.length == 8 ? state(n) : n[0] == 2 && n.length >= 8 && n.length % 2 == 0 ? events(n)
				: n[0] == 3 && n.length == 15 ? communication(n) : n[0] == 4 && n.length == 11 ? collective(n)
						: "not a state, event or communication";
		if (error != null) {
			sink.skip(file, number, error);
		}
	}

	/** Why a record is of no thread of the trace, or null. */
	private String place(long[] n) {
		for (int from = 2; n.length >= from + 3 && (from == 2 || n[0] == 3 && n.length == 15); from += 6) {
			List<Long> key = List.of(n[from], n[from + 1], n[from + 2]);
			if (places.isEmpty() ? n[from] < 1 || n[from + 1] < 1 || n[from + 2] < 1 : !places.containsKey(key)) {
				return "application, task or thread that the header does not have";
			}
		}
		return null;
	}

	private Thread thread(long[] n, int from) {
		return threads.computeIfAbsent(List.of(n[from], n[from + 1], n[from + 2]), key -> {
			Integer place = places.get(key);
			String name = place == null ? null : labels.thread(place);
			return new Thread(sink.producer(List.of("application " + key.get(0), "task " + key.get(1),
					name == null || name.isEmpty() ? "thread " + key.get(0) + "." + key.get(1) + "." + key.get(2) : name)));
		});
	}

	private long ns(long time) {
		return Math.multiplyExact(time, nsPerUnit);
	}

	private static boolean isBad(long time, long unit) {
		return time < 0 || time > Long.MAX_VALUE / unit;
	}

	private String state(long[] n) throws MemtraceException {
		if (isBad(n[5], nsPerUnit) || isBad(n[6], nsPerUnit)) {
			return "time out of range";
		}
		if (n[6] < n[5]) {
			return "ends before it starts";
		}
		emit(thread(n, 2), labels.state(n[7]), ns(n[5]), ns(n[6]), 0, n[1]);
		lastNs = Math.max(lastNs, ns(n[6]));
		return null;
	}

	private void emit(Thread thread, String state, long startNs, long endNs, int level, long cpu) throws MemtraceException {
		sink.event(sink.typeOf(EventCategory.STATE, state), thread.producer, startNs, endNs, level, (int) Math.clamp(cpu, 0, Short.MAX_VALUE),
				Map.of());
	}

	private String events(long[] n) throws MemtraceException {
		if (isBad(n[5], nsPerUnit)) {
			return "time out of range";
		}
		long time = ns(n[5]);
		lastNs = Math.max(lastNs, time);
		Thread thread = thread(n, 2);
		for (int i = 6; i < n.length; i += 2) {
			long type = n[i];
			long value = n[i + 1];
			if (labels.isState(type)) {
				change(thread, type, value, time, n[1]);
			} else if (type >= FIRST_COUNTER && type <= LAST_COUNTER) {
				count(thread, type, value, time);
			} else if (labels.isNumber(type)) {
				number(new Read(thread, value, time, n[1]), type);
			} else {
				instant(thread, type, value, time, n[1]);
			}
		}
		return null;
	}

	private void count(Thread thread, long type, long value, long time) throws MemtraceException {
		Long since = thread.counted.put(type, time);
		sink.event(sink.typeOf(EventCategory.VARIABLE, labels.type(type)), thread.producer, since == null ? time : since, time, value, 0,
				Map.of());
	}

	private void instant(Thread thread, long type, long value, long time, long cpu) throws MemtraceException {
		String name = labels.value(type, value);
		sink.event(sink.typeOf(EventCategory.PUNCTUAL, labels.type(type)), thread.producer, time, time, 0,
				(int) Math.clamp(cpu, 0, Short.MAX_VALUE), Map.of("value", name == null ? Long.toString(value) : name));
	}

	/** A type whose values have no names: a mark while they are all the same, else a number that changes. */
	private void number(Read read, long type) throws MemtraceException {
		if (changing.contains(type)) {
			count(read.thread, type, read.value, read.ns);
			return;
		}
		List<Read> before = same.computeIfAbsent(type, t -> new ArrayList<>());
		if (before.isEmpty() || before.getFirst().value == read.value && before.size() < MOST_HELD) {
			before.add(read);
			return;
		}
		changing.add(type);
		for (Read held : before) {
			count(held.thread, type, held.value, held.ns);
		}
		same.remove(type);
		count(read.thread, type, read.value, read.ns);
	}

	private void change(Thread thread, long type, long value, long time, long cpu) throws MemtraceException {
		Deque<Open> open = thread.open.computeIfAbsent(type, t -> new ArrayDeque<>());
		if (!open.isEmpty() && (value == 0 || !NESTED.contains(type))) {
			close(thread, type, time, cpu);
		}
		if (value != 0) {
			open.push(new Open(value, time, ++thread.depth)); // below the state of the thread, which has level 0
		}
	}

	private void close(Thread thread, long type, long time, long cpu) throws MemtraceException {
		Deque<Open> open = thread.open.get(type);
		Open last = open.pop();
		thread.depth--;
		if (time >= last.sinceNs) {
			emit(thread, labels.stateOf(type, last.value), last.sinceNs, time, last.level, cpu);
		}
	}

	private String communication(long[] n) throws MemtraceException {
		for (int time : new int[] { 5, 6, 11, 12 }) {
			if (isBad(n[time], nsPerUnit)) {
				return "time out of range";
			}
		}
		if (n[12] < n[5]) { // the call of the receiver, n[11], may come first
			return "is received before it is sent";
		}
		sink.event(sink.typeOf(EventCategory.LINK, "message"), thread(n, 2).producer, ns(n[5]), ns(n[12]), thread(n, 8).producer, 0,
				parameters("size", n[13], "tag", n[14]));
		lastNs = Math.max(lastNs, ns(n[12]));
		return null;
	}

	/** Older traces have a record for each thread of a collective operation. */
	private String collective(long[] n) throws MemtraceException {
		if (isBad(n[5], nsPerUnit)) {
			return "time out of range";
		}
		sink.event(sink.typeOf(EventCategory.PUNCTUAL, "collective operation"), thread(n, 2).producer, ns(n[5]), ns(n[5]), 0, 0,
				parameters("communicator", n[6], "sent", n[7], "received", n[8], "operation", n[9]));
		return null;
	}

	/** Names and numbers in turn. */
	private static Map<String, String> parameters(Object... namesAndNumbers) {
		Map<String, String> all = new LinkedHashMap<>();
		for (int i = 0; i < namesAndNumbers.length; i += 2) {
			all.put((String) namesAndNumbers[i], namesAndNumbers[i + 1].toString());
		}
		return all;
	}

	/** What is open at the end ends there. */
	@Override
	public void finish() throws MemtraceException {
		for (Map.Entry<Long, List<Read>> type : same.entrySet()) {
			for (Read read : type.getValue()) {
				instant(read.thread, type.getKey(), read.value, read.ns, read.cpu);
			}
		}
		for (Thread thread : threads.values()) {
			for (Map.Entry<Long, Deque<Open>> type : new ArrayList<>(thread.open.entrySet())) {
				while (!type.getValue().isEmpty()) {
					close(thread, type.getKey(), lastNs, 0);
				}
			}
		}
	}
}
