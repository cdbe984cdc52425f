// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.util.HashMap;
import java.util.Map;

/** What a trace tells of its threads: their process, their command, and where they run. */
final class CtfThreads {
	private final Map<Integer, Integer> processes = new HashMap<>();
	private final Map<Integer, String> commands = new HashMap<>();
	/** The thread that runs on a CPU. */
	private final Map<Integer, Integer> running = new HashMap<>();

	/** Of the line: -1 when it is not known. */
	int cpu;
	int thread;
	int process;

	/** Takes what a line tells, and finds out whose event it is. */
	void look(CtfLine line) {
		cpu = number(line.context, "cpu_id", "perf_cpu");
		thread = number(line.context, "tid", "vtid");
		process = number(line.context, "pid", "vpid");
		if (thread < 0) {
			thread = number(line.fields, "perf_tid");
			process = number(line.fields, "perf_pid");
		}
		if (process < 0) {
			process = number(line.trace, "vpid");
		}
		String command = line.context.getOrDefault("procname", line.trace.getOrDefault("procname", ""));
		boolean isSwitch = line.name.equals("sched_switch") || line.name.equals("sched:sched_switch");
		if (thread < 0) {
			thread = isSwitch ? number(line.fields, "prev_tid", "prev_pid") : running.getOrDefault(cpu, -1);
			command = isSwitch ? line.fields.getOrDefault("prev_comm", "") : "";
		}
		if (thread >= 0) {
			tell(thread, process, command);
			process = processes.getOrDefault(thread, process);
		}
		switch (line.name) {
		case "sched_switch", "sched:sched_switch" -> {
			tell(number(line.fields, "prev_tid", "prev_pid"), -1, line.fields.getOrDefault("prev_comm", ""));
			tell(number(line.fields, "next_tid", "next_pid"), -1, line.fields.getOrDefault("next_comm", ""));
			if (cpu >= 0) {
				running.put(cpu, number(line.fields, "next_tid", "next_pid"));
			}
		}
		case "sched_process_fork" -> tell(number(line.fields, "child_tid"), number(line.fields, "child_pid"),
				line.fields.getOrDefault("child_comm", ""));
		case "lttng_statedump_process_state" -> tell(number(line.fields, "tid"), number(line.fields, "pid"),
				line.fields.getOrDefault("name", ""));
		default -> {
			// of its own thread only
		}
		}
	}

	private void tell(int who, int itsProcess, String command) {
		if (who >= 0 && itsProcess >= 0) {
			processes.putIfAbsent(who, itsProcess);
		}
		if (who >= 0 && !command.isEmpty()) {
			commands.putIfAbsent(who, command);
		}
	}

	int processOf(int who) {
		return processes.getOrDefault(who, -1);
	}

	/** Empty when it is not known. */
	String commandOf(int who) {
		return commands.getOrDefault(who, "");
	}

	/** The first of these fields that is a number; -1 when none is. */
	static int number(Map<String, String> fields, String... names) {
		for (String name : names) {
			Long value = CtfLine.number(fields.get(name));
			if (value != null && value >= 0 && value <= Integer.MAX_VALUE) {
				return value.intValue();
			}
		}
		return -1;
	}
}
