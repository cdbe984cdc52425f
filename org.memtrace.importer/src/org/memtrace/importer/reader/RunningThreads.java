// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.EventCategory;

/** When threads ran, as the switches of each CPU tell: states <em>on a CPU</em>. Switches of a CPU come in the order of time. */
public final class RunningThreads {
	private static final String RUNNING = "on a CPU";

	private final EventSink sink;
	private final IntFunction<List<String>> path;
	/** Who runs on a CPU, and since when. */
	private final Map<Integer, Running> running = new HashMap<>();

	private record Running(int thread, long sinceNs) {
	}

	/** @param path of the producer of a thread */
	public RunningThreads(EventSink sink, IntFunction<List<String>> path) {
		this.sink = sink;
		this.path = path;
	}

	/**
	 * A CPU has other work. When another thread ran on it than is left, a switch was lost, and there is no state.
	 *
	 * @param next 0 for the idle task, negative when it is not known
	 */
	public void switched(int cpu, int previous, int next, long timeNs) throws MemtraceException {
		Running before = running.remove(cpu);
		if (before != null && before.thread == previous && timeNs >= before.sinceNs) {
			state(cpu, before, timeNs);
		}
		if (next > 0) {
			running.put(cpu, new Running(next, timeNs));
		}
	}

	/** The thread that runs on a CPU; -1 when that is not known, or when it is idle. */
	public int on(int cpu) {
		Running now = running.get(cpu);
		return now == null ? -1 : now.thread;
	}

	/** What runs at the end ran until then. */
	public void finish(long lastNs) throws MemtraceException {
		for (Map.Entry<Integer, Running> last : running.entrySet()) {
			if (lastNs > last.getValue().sinceNs) {
				state(last.getKey(), last.getValue(), lastNs);
			}
		}
	}

	private void state(int cpu, Running ran, long endNs) throws MemtraceException {
		sink.event(sink.typeOf(EventCategory.STATE, RUNNING), sink.producer(path.apply(ran.thread)), ran.sinceNs, endNs, 0, cpu,
				Map.of("cpu", Integer.toString(cpu)));
	}
}
