// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.memtrace;

import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TimeRange;
import org.memtrace.model.memory.Ticks;
import org.memtrace.model.memory.Ticks.Access;
import org.memtrace.model.memory.Ticks.Mode;
import org.memtrace.model.memory.Ticks.Place;

/** Reads ticks.csv of an image (docs/reference/trace-files.md) and finds the structure of each tick. */
public final class TickParser {
	private static final String FILE = "ticks.csv";
	private static final Map<String, Mode> MODES = Map.of("u", Mode.USER, "f", Mode.FAULT, "s", Mode.CALL);
	private static final Map<String, Access> ACCESSES = Map.of("", Access.UNKNOWN, "-", Access.NONE, "r", Access.READ, "w", Access.WRITE, "rw",
			Access.BOTH, "?", Access.ANY);
	private static final int CANCEL_MASK = 0xfff;

	/** Finds the structure that has an address at a time. */
	@FunctionalInterface
	public interface Finder {
		/** Its number, or {@link Ticks#NO_STRUCTURE}. */
		int find(long address, long timeNs);
	}

	private TickParser() {
	}

	/** Adds the ticks of an image, if there are any. A row that cannot be used is counted. */
	public static void read(TraceDirectory.Image image, Finder structures, Ticks.Builder to, SkipCounter skips, Progress progress)
			throws MemtraceException {
		String name = image.fileName(FILE);
		List<String> unread = CsvTable.read(image.directory().resolve(FILE), name,
				List.of("Time", "TaskId", "Cpu", "Mode", "Ip", "@Virt", "Bytes", "Access", "CpuNs"), skips, row -> {
					if ((row.line() & CANCEL_MASK) == 0) {
						progress.check();
					}
					long timeNs = row.number("Time", -1);
					long task = row.number("TaskId", -1);
					long cpu = row.number("Cpu", -1);
					long bytes = row.number("Bytes", -1);
					long cpuNs = row.number("CpuNs", -1);
					Mode mode = MODES.get(row.text("Mode"));
					Access access = ACCESSES.get(row.text("Access"));
					boolean known = !row.text("@Virt").isEmpty();
					long address = known ? row.address("@Virt") : 0;
					if (timeNs < 0 || !TimeRange.holds(timeNs + image.clockShiftNs(), timeNs + image.clockShiftNs() + 1) || task < 0
							|| task > Integer.MAX_VALUE || cpu < 0 || cpu > Integer.MAX_VALUE || bytes < 0 || bytes > Integer.MAX_VALUE || cpuNs <= 0
							|| mode == null || access == null || known && !access.isMemory()) {
						skips.skip(name, row.line(), "not a tick");
						return;
					}
					long at = timeNs + image.clockShiftNs();
					to.add(new Place(image.index(), task, mode, row.address("Ip"), access, (int) bytes,
							known ? structures.find(address, at) : Ticks.NO_STRUCTURE, known), at, (int) cpu, address, cpuNs);
				});
		LeftOut.columns(image, FILE, unread, skips);
	}
}
