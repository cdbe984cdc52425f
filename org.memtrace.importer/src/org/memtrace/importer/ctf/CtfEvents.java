// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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
 * Events of a CTF trace: each is an instant of its thread, with its fields. Begin and end of a system call are one state, what
 * {@code sched_switch} tells of a CPU are states of the threads that ran on it.
 */
public final class CtfEvents implements LineFileReader.Lines {
	/** Of LTTng, and of ftrace and perf. */
	private static final Pattern ENTRY = Pattern.compile("(?:compat_)?syscall_entry_(.+)|(?:syscalls:)?sys_enter_(.+)|raw_syscalls:sys_enter");
	private static final Pattern EXIT = Pattern.compile("(?:compat_)?syscall_exit_(.+)|(?:syscalls:)?sys_exit_(.+)|raw_syscalls:sys_exit");
	private static final String CALLS = "system calls";

	private final EventSink sink;
	private final String file;
	private final boolean severalHosts;
	private final CtfLine line = new CtfLine();
	/** Numbers of threads and CPUs are those of a host. */
	private final Map<String, Host> hosts = new LinkedHashMap<>();
	private long lastNs = Long.MIN_VALUE;

	private record Call(String name, long sinceNs, int cpu, Map<String, String> parameters) {
	}

	/** @param severalHosts whether the trace is of several hosts, so that producers tell theirs */
	public CtfEvents(EventSink sink, String file, boolean severalHosts) {
		this.sink = sink;
		this.file = file;
		this.severalHosts = severalHosts;
	}

	@Override
	public void line(byte[] buffer, int start, int end, long number) throws MemtraceException {
		sink.row();
		if (!line.parse(new String(buffer, start, end - start, StandardCharsets.UTF_8))) {
			sink.skip(file, number, "not an event as babeltrace2 prints it");
			return;
		}
		lastNs = Math.max(lastNs, line.timeNs);
		hosts.computeIfAbsent(severalHosts ? line.trace.getOrDefault("hostname", "") : "", Host::new).event(number);
	}

	private String callName(Matcher m) {
		String name = m.group(1) != null ? m.group(1) : m.group(2);
		return name != null ? name : "system call " + line.fields.getOrDefault("id", "?");
	}

	/** What happens on one host. */
	private final class Host {
		private final List<String> above;
		private final CtfThreads who = new CtfThreads();
		private final RunningThreads running = new RunningThreads(sink, this::thread);
		private final Map<Integer, List<String>> threads = new HashMap<>();
		/** The system call that each thread is in. */
		private final Map<Integer, Call> open = new HashMap<>();

		Host(String name) {
			above = name.isEmpty() ? List.of() : List.of(name);
		}

		void event(long number) throws MemtraceException {
			who.look(line);
			Matcher entry = ENTRY.matcher(line.name);
			Matcher exit = EXIT.matcher(line.name);
			if (entry.matches() && who.thread >= 0) {
				begin(callName(entry), number);
			} else if (exit.matches() && who.thread >= 0) {
				end(callName(exit), number);
			} else {
				instant();
				if (line.name.equals("sched_process_exit")) {
					ended(CtfThreads.number(line.fields, "tid", "pid"));
				}
			}
		}

		private void instant() throws MemtraceException {
			sink.event(sink.typeOf(EventCategory.PUNCTUAL, line.name), sink.producer(producer()), line.timeNs, line.timeNs, 0,
					Math.max(0, who.cpu), line.fields);
			if (who.cpu >= 0 && (line.name.equals("sched_switch") || line.name.equals("sched:sched_switch"))) {
				running.switched(who.cpu, CtfThreads.number(line.fields, "prev_tid", "prev_pid"),
						CtfThreads.number(line.fields, "next_tid", "next_pid"), line.timeNs);
			}
		}

		private List<String> producer() {
			if (who.thread >= 0) {
				return thread(who.thread);
			}
			List<String> path = new ArrayList<>(above);
			if (who.process >= 0) {
				path.add("process " + who.process);
			} else if (who.cpu >= 0) {
				path.add("CPU " + who.cpu);
			}
			if (path.isEmpty()) {
				path.add("trace");
			}
			return path;
		}

		private List<String> thread(int thread) {
			return threads.computeIfAbsent(thread, t -> {
				List<String> path = new ArrayList<>(above);
				if (who.processOf(t) >= 0) {
					path.add("process " + who.processOf(t));
				}
				String command = who.commandOf(t);
				path.add((command.isEmpty() ? "thread" : command) + " " + t);
				return path;
			});
		}

		private void begin(String name, long number) throws MemtraceException {
			Call before = open.put(who.thread, new Call(name, line.timeNs, Math.max(0, who.cpu), new LinkedHashMap<>(line.fields)));
			if (before != null) {
				sink.skip(file, number, "system call whose end is not there");
			}
			thread(who.thread);
		}

		private void end(String name, long number) throws MemtraceException {
			Call call = open.remove(who.thread);
			if (call == null || !call.name.equals(name)) {
				sink.skip(file, number, call == null ? "end of a system call that did not begin" : "system call whose end is not there");
				return;
			}
			line.fields.forEach((key, value) -> {
				if (!value.equals(call.parameters.get(key))) {
					call.parameters.put(call.parameters.containsKey(key) ? key + " at the end" : key, value);
				}
			});
			state(who.thread, call, line.timeNs);
		}

		/** A call lasts at the most as long as its thread. */
		private void ended(int thread) throws MemtraceException {
			Call call = open.remove(thread);
			if (call != null) {
				state(thread, call, line.timeNs);
			}
		}

		private void state(int thread, Call call, long endNs) throws MemtraceException {
			List<String> path = new ArrayList<>(thread(thread));
			path.add(CALLS);
			sink.event(sink.typeOf(EventCategory.STATE, call.name), sink.producer(path), call.sinceNs, endNs, 0, call.cpu, call.parameters);
		}

		/** What is under way at the end lasts until then. */
		int finish() throws MemtraceException {
			running.finish(lastNs);
			for (Map.Entry<Integer, Call> call : open.entrySet()) {
				state(call.getKey(), call.getValue(), lastNs);
			}
			return open.size();
		}
	}

	@Override
	public void finish() throws MemtraceException {
		int underWay = 0;
		for (Host host : hosts.values()) {
			underWay += host.finish();
		}
		if (underWay > 0) {
			sink.skips().warn(underWay + " system calls were under way at the end of the trace; they end there");
		}
	}
}
