// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.reader.EventSink;
import org.memtrace.importer.reader.LineFileReader;
import org.memtrace.importer.reader.RunningThreads;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/**
 * Events of perf that are no accesses: samples of a clock or a counter, tracepoints. Each is an instant of its thread. What
 * {@code sched:sched_switch} tells of a CPU are states of the threads that ran on it.
 */
final class PerfEvents implements LineFileReader.Lines, PerfChains.Receiver<RuntimeException> {
	private static final String SWITCH = "sched:sched_switch";
	private static final Pattern NEXT = Pattern.compile("==> next_comm=(.*) next_pid=(\\d{1,9}) .*|==> (.*):(\\d{1,9}) \\[.*");

	private final EventSink sink;
	private final String file;
	private final PerfChains<RuntimeException> chains = new PerfChains<>(this);
	private final Map<Integer, List<String>> threads = new HashMap<>();
	private final RunningThreads running;
	private long lastNs = Long.MIN_VALUE;

	PerfEvents(EventSink sink, String file) {
		this.sink = sink;
		this.file = file;
		this.running = new RunningThreads(sink, threads::get);
	}

	@Override
	public void line(byte[] buffer, int start, int end, long number) throws MemtraceException {
		chains.line(buffer, start, end, number);
	}

	@Override
	public void other(PerfLine.Kind kind, PerfLine line, long number) throws MemtraceException {
		if (kind == PerfLine.Kind.BAD) {
			sink.row();
			sink.skip(file, number, "not a line of perf script");
		} else if (kind == PerfLine.Kind.LOST) {
			sink.lost(line.lost);
		}
	}

	private List<String> thread(int process, int thread, String command) {
		return threads.computeIfAbsent(thread,
				t -> process > 0 ? List.of("process " + process, command + " " + thread) : List.of(command + " " + thread));
	}

	@Override
	public void event(PerfLine line, long number) throws MemtraceException {
		sink.row();
		lastNs = Math.max(lastNs, line.timeNs);
		int producer = sink.producer(thread(line.process, line.thread, line.command));
		Map<String, String> parameters = new LinkedHashMap<>();
		if (!line.function.isEmpty()) {
			parameters.put("function", line.function);
		}
		if (!line.object.isEmpty()) {
			parameters.put("object", line.object);
		}
		if (line.function.isEmpty() && line.object.isEmpty() && !line.text.isEmpty()) {
			parameters.put("text", line.text);
		}
		sink.event(sink.typeOf(EventCategory.PUNCTUAL, line.event), producer, line.timeNs, line.timeNs, 0, Math.max(0, line.cpu), parameters);
		if (line.event.equals(SWITCH) && line.cpu >= 0) {
			switched(line);
		}
	}

	private void switched(PerfLine line) throws MemtraceException {
		Matcher who = NEXT.matcher(line.text);
		int next = -1;
		if (who.find()) {
			boolean named = who.group(1) != null;
			next = Integer.parseInt(who.group(named ? 2 : 4));
			if (next != 0) { // the idle task
				thread(-1, next, named ? who.group(1) : who.group(3));
			}
		}
		running.switched(line.cpu, line.thread, next, line.timeNs);
	}

	@Override
	public void finish() throws MemtraceException {
		chains.finish();
		running.finish(lastNs);
	}
}
