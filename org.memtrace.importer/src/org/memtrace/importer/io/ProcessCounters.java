// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.reader.EventSink;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * The counters of /proc/PID/io as variables: what was added since the look before. A process has the numbers of the children that it has
 * waited for; what was told of these before is not told again.
 */
final class ProcessCounters {
	private static final String[] NAMES = {"counter: bytes read", "counter: bytes written", "counter: read calls", "counter: write calls",
			"counter: bytes from devices", "counter: bytes to devices", "counter: bytes to devices that were not written in the end"};
	private static final int FIRST = 4;

	private static final class Counts {
		final long[] last = new long[NAMES.length];
		/** Of children that are no more, and are in the next numbers of this one. */
		final long[] told = new long[NAMES.length];
		long timeNs;
		int parent;
	}

	private final EventSink sink;
	private final Map<Integer, String> names;
	private final Map<Integer, Counts> processes = new HashMap<>();
	private long look = Long.MIN_VALUE;

	/** @param names of processes by their ids; of others the name that they had when they were first seen */
	ProcessCounters(EventSink sink, Map<Integer, String> names) {
		this.sink = sink;
		this.names = new HashMap<>(names);
	}

	void read(InputFile file) throws MemtraceException, IOException {
		try (CountedInput in = file.open()) {
			ByteLines rows = new ByteLines(in.stream());
			rows.next();
			long begin = Long.MIN_VALUE;
			Map<Integer, String[]> now = new HashMap<>();
			while (rows.next()) {
				sink.row();
				String[] p = rows.tooLong() ? null
						: fields(new String(rows.buffer(), rows.start, rows.end - rows.start, StandardCharsets.UTF_8));
				if (p == null) {
					sink.skip(file.name(), rows.line(), rows.tooLong() ? ByteLines.TOO_LONG : "no counters of a process");
					continue;
				}
				long time = Long.parseLong(p[0]);
				if (time != look && !now.isEmpty()) {
					tell(begin, look, now);
					begin = look;
					now.clear();
				}
				look = time;
				now.put((int) Long.parseLong(p[1]), p);
			}
			if (!now.isEmpty()) {
				tell(begin, look, now);
			}
			if (rows.incomplete()) {
				sink.skips().incomplete(file.name(), rows.line() + 1);
			}
		}
	}

	/** Null for a line that is none; a name may have commas. */
	private static String[] fields(String text) {
		String[] p = text.split(",", -1);
		if (p.length < FIRST + NAMES.length) {
			return null;
		}
		String[] fields = new String[FIRST + NAMES.length];
		System.arraycopy(p, 0, fields, 0, FIRST - 1);
		System.arraycopy(p, p.length - NAMES.length, fields, FIRST, NAMES.length);
		fields[FIRST - 1] = String.join(",", List.of(p).subList(FIRST - 1, p.length - NAMES.length)).replace("\"", "");
		for (int i = 0; i < fields.length; i++) {
			if (i != FIRST - 1 && !fields[i].matches(i == 1 || i == 2 ? "\\d{1,9}" : "\\d{1,18}")) {
				return null;
			}
		}
		return fields;
	}

	private void tell(long fromNs, long toNs, Map<Integer, String[]> now) throws MemtraceException {
		processes.entrySet().removeIf(e -> {
			if (now.containsKey(e.getKey())) {
				return false;
			}
			Counts parent = processes.get(e.getValue().parent);
			for (int i = 0; parent != null && i < NAMES.length; i++) {
				parent.told[i] += e.getValue().last[i] + e.getValue().told[i];
			}
			return true;
		});
		for (Map.Entry<Integer, String[]> e : now.entrySet()) {
			String[] p = e.getValue();
			boolean isNew = !processes.containsKey(e.getKey());
			Counts counts = processes.computeIfAbsent(e.getKey(), k -> new Counts());
			long start = isNew || fromNs == Long.MIN_VALUE ? fromNs == Long.MIN_VALUE ? toNs : fromNs : counts.timeNs;
			int producer = sink.producer(List.of("process " + named(names.computeIfAbsent(e.getKey(), k -> p[FIRST - 1]),
					e.getKey())));
			for (int i = 0; i < NAMES.length; i++) {
				long value = Long.parseLong(p[FIRST + i]);
				long raw = value - counts.last[i];
				if (raw < counts.told[i]) {
					continue; // of a child that ended and was not waited for yet
				}
				long added = raw - counts.told[i];
				counts.told[i] = 0;
				counts.last[i] = value;
				if (added > 0) {
					sink.event(sink.typeOf(EventCategory.VARIABLE, NAMES[i]), producer, Math.min(start, toNs), toNs, added, 0, Map.of());
				}
			}
			counts.parent = (int) Long.parseLong(p[2]);
			counts.timeNs = toNs;
		}
	}

	/** Name of a thread or process: {@code app (4711)}. */
	static String named(String name, long id) {
		return (name.isEmpty() ? "thread" : name.replace('=', '_')) + " (" + id + ")";
	}
}
