// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.io;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.store.AccessQuery;
import org.memtrace.model.store.EventBatch;
import org.memtrace.model.store.EventCategory;
import org.memtrace.model.store.EventType;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.tree.ProducerTree;

/**
 * The events of a trace of {@code record --io}, each with its level, file, bytes and the call that it is in. Their types are called
 * {@code LEVEL: OPERATION}. Reads the trace once for each question, in batches. Used by one thread.
 */
public final class IoLevels {
	/** The levels from the program to the device; counters of the kernel are beside them. */
	public static final List<String> LEVELS = List.of("user", "system call", "file system", "page cache", "block", "counter");
	/** Property of a trace: reader that made it. */
	private static final String READER = "io";
	private static final int BATCH = 10_000;

	/** What rows are of. */
	public enum By {
		LEVEL, OPERATION, FILE, THREAD;

		/** Of {@code --by}; null for another text. */
		public static By byId(String id) {
			return Arrays.stream(values()).filter(b -> b.name().toLowerCase(java.util.Locale.ROOT).equals(id)).findFirst().orElse(null);
		}
	}

	/**
	 * One event.
	 *
	 * @param call number of the call that it is, 0 for none
	 * @param in number of the call that it is in, 0 for none
	 * @param bytes -1 when it has none
	 * @param offset place in the file in bytes, -1 when not known
	 * @param by how a request was related: {@code thread}, {@code sector}, {@code inode}, or empty
	 * @param thread its name; of a request the thread that made it
	 * @param value of a counter what was added, else 0
	 */
	public record Event(String level, String operation, String thread, long startNs, long endNs, long call, long in, long bytes, long offset,
			String by, String file, double value) {
		/** In ns, 0 for an instant. */
		public long durationNs() {
			return endNs - startNs;
		}
	}

	/**
	 * Sums of events.
	 *
	 * @param name what the rows are by, empty for {@link By#LEVEL}
	 * @param events number of events; of a counter of calls what it counted
	 * @param bytes sum over the events that have some
	 * @param timeNs sum of durations
	 */
	public record Row(String level, String name, long events, long bytes, long timeNs) {
	}

	/** Takes events in the order of their start. */
	@FunctionalInterface
	private interface Visitor {
		void visit(Event event);
	}

	private final TraceStore store;
	private final String file;
	private final long fromNs;
	private final long toNs;

	/**
	 * @param file only events of files whose path contains this; empty for all
	 * @param fromNs events that begin in {@code [fromNs, toNs)}
	 * @throws MemtraceException when it is a trace of another kind
	 */
	public IoLevels(TraceStore store, String file, long fromNs, long toNs) throws MemtraceException {
		if (!READER.equals(store.info().properties().get("reader"))) {
			throw new MemtraceException(store.info().alias() + " has no I/O: record it with 'memtrace record --io'");
		}
		this.store = store;
		this.file = file;
		this.fromNs = fromNs;
		this.toNs = toNs;
	}

	private void visit(Visitor visitor, Progress progress) throws MemtraceException {
		Map<Integer, EventType> types = new HashMap<>();
		store.eventTypes().forEach(t -> types.put(t.id(), t));
		ProducerTree tree = store.producers();
		EventBatch waiting = new EventBatch(BATCH);
		progress.begin("Reading the I/O", store.info().events());
		store.visitEvents(AccessQuery.ALL, batch -> {
			for (int i = 0; i < batch.count; i++) {
				if (batch.startNs[i] >= fromNs && batch.startNs[i] < toNs) {
					waiting.add(batch.id[i], batch.type[i], batch.producer[i], batch.startNs[i], batch.endNs[i], batch.value[i], batch.cpu[i]);
				}
				if (waiting.isFull()) {
					tell(waiting, types, tree, visitor);
				}
			}
			progress.worked(batch.count);
		}, progress);
		tell(waiting, types, tree, visitor);
	}

	private void tell(EventBatch batch, Map<Integer, EventType> types, ProducerTree tree, Visitor visitor) throws MemtraceException {
		List<String> parameters = store.eventParameters(Arrays.copyOf(batch.id, batch.count));
		for (int i = 0; i < batch.count; i++) {
			EventType type = types.get(batch.type[i]);
			String name = type == null ? "" : type.name();
			int colon = name.indexOf(": ");
			if (colon < 0) {
				continue;
			}
			Map<String, String> values = values(parameters.get(i));
			String path = values.getOrDefault("file", "");
			if (!file.isEmpty() && !path.contains(file)) {
				continue;
			}
			visitor.visit(new Event(name.substring(0, colon), name.substring(colon + 2), values.getOrDefault("thread", tree.name(batch.producer[i])),
					batch.startNs[i], batch.endNs[i], number(values, "call", 0), number(values, "in", 0), number(values, "bytes", -1),
					number(values, "offset", -1), values.getOrDefault("by", ""), path,
					type.category() == EventCategory.VARIABLE ? batch.value[i] : 0));
		}
		batch.count = 0;
	}

	/** {@code a=1, b=2, file=/x, y}: the file is the last one, and may have commas. */
	static Map<String, String> values(String text) {
		Map<String, String> values = new HashMap<>();
		String rest = text;
		int path = rest.startsWith("file=") ? 0 : rest.indexOf(", file=");
		if (path >= 0) {
			values.put("file", rest.substring(rest.indexOf('=', path) + 1));
			rest = rest.substring(0, path);
		}
		for (String part : rest.split(", ")) {
			int equals = part.indexOf('=');
			if (equals > 0) {
				values.put(part.substring(0, equals), part.substring(equals + 1));
			}
		}
		return values;
	}

	private static long number(Map<String, String> values, String key, long unknown) {
		try {
			return Long.parseLong(values.getOrDefault(key, ""));
		} catch (NumberFormatException e) {
			return unknown;
		}
	}

	/** Sums by level, and by something within it; levels from the program to the device, in a level most events first. */
	public List<Row> rows(By by, Progress progress) throws MemtraceException {
		Function<Event, String> name = switch (by) {
		case LEVEL -> e -> "";
		case OPERATION -> Event::operation;
		case FILE -> Event::file;
		case THREAD -> Event::thread;
		};
		Map<String, Map<String, long[]>> sums = new TreeMap<>();
		visit(e -> {
			long[] sum = sums.computeIfAbsent(e.level(), l -> new TreeMap<>()).computeIfAbsent(name.apply(e), n -> new long[3]);
			boolean counter = e.level().equals("counter");
			boolean bytes = counter && e.operation().startsWith("bytes");
			sum[0] += counter ? bytes ? 0 : (long) e.value() : 1;
			sum[1] += bytes ? (long) e.value() : Math.max(0, e.bytes());
			sum[2] += counter ? 0 : e.durationNs();
		}, progress);
		List<Row> rows = new ArrayList<>();
		for (String level : LEVELS) {
			if (by == By.LEVEL && level.equals("counter")) {
				continue; // bytes of calls and of devices have no sum
			}
			sums.getOrDefault(level, Map.of()).entrySet().stream()
					.sorted((a, b) -> Long.compare(b.getValue()[0], a.getValue()[0]))
					.forEach(e -> rows.add(new Row(level, e.getKey(), e.getValue()[0], e.getValue()[1], e.getValue()[2])));
		}
		return rows;
	}

	/**
	 * A call and what is below it.
	 *
	 * @param depth 0 for the call itself
	 */
	public record Below(int depth, Event event) {
	}

	/** Calls in the order of time: those that are in no other one, with the number of events below each, by level. */
	public List<CallRow> calls(int most, Progress progress) throws MemtraceException {
		Map<Long, Event> calls = new HashMap<>();
		List<Event> all = new ArrayList<>();
		visit(e -> {
			if (e.call() > 0) {
				calls.put(e.call(), e);
			}
			if (e.call() > 0 || e.in() > 0) {
				all.add(e);
			}
		}, progress);
		Map<Long, long[]> below = new HashMap<>();
		for (Event e : all) {
			Event top = e;
			for (int depth = 0; top.in() > 0 && calls.containsKey(top.in()) && depth < 64; depth++) {
				top = calls.get(top.in());
			}
			long[] counts = below.computeIfAbsent(top.call(), c -> new long[LEVELS.size()]);
			int level = LEVELS.indexOf(e.level());
			if (e != top && level >= 0) {
				counts[level]++;
			}
		}
		return all.stream().filter(e -> e.call() > 0 && !calls.containsKey(e.in())).limit(most)
				.map(e -> new CallRow(e, below.getOrDefault(e.call(), new long[LEVELS.size()]))).toList();
	}

	/**
	 * A call that is in no other one.
	 *
	 * @param below events of each of {@link #LEVELS} that it caused
	 */
	public record CallRow(Event event, long[] below) {
	}

	/**
	 * One call with all that is below it, in the order of time, each below what it is in; empty when there is none of that number. Files
	 * and window do not count here but for the call itself: a request has a file that its call may not have.
	 */
	public List<Below> call(long number, Progress progress) throws MemtraceException {
		Map<Long, List<Event>> inside = new HashMap<>();
		List<Event> found = new ArrayList<>();
		visit(e -> {
			if (e.call() == number && number > 0) {
				found.add(e);
			}
			if (e.in() > 0) {
				inside.computeIfAbsent(e.in(), c -> new ArrayList<>()).add(e);
			}
		}, progress);
		List<Below> rows = new ArrayList<>();
		found.forEach(e -> add(rows, e, 0, inside));
		return rows;
	}

	private static void add(List<Below> rows, Event event, int depth, Map<Long, List<Event>> inside) {
		rows.add(new Below(depth, event));
		if (event.call() > 0 && depth < 64) {
			for (Event e : inside.getOrDefault(event.call(), List.of())) {
				add(rows, e, depth + 1, inside);
			}
		}
	}
}
