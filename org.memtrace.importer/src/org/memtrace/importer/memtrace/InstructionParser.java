// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.memtrace;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.model.InstructionCounts;
import org.memtrace.model.InstructionCounts.Stride;
import org.memtrace.model.InstructionCounts.Use;
import org.memtrace.model.MemtraceException;

/** Reads instructions.csv of an image (docs/reference/trace-files.md): of the lines with one number the last one counts. */
public final class InstructionParser {
	private static final String FILE = "instructions.csv";

	private InstructionParser() {
	}

	/** Adds the instructions of an image, if there are any. A row that cannot be used is counted. */
	public static void read(TraceDirectory.Image image, InstructionCounts.Builder to, SkipCounter skips) throws MemtraceException {
		Map<Long, Use> byId = new LinkedHashMap<>();
		String name = image.fileName(FILE);
		List<String> unread = CsvTable.read(image.directory().resolve(FILE), name,
				List.of("Id", "TaskId", "Ip", "Write", "Bytes", "Count", "First", "Last", "Strides"), skips, row -> {
					long id = row.number("Id", -1);
					long task = row.number("TaskId", -1);
					long count = row.number("Count", -1);
					long bytes = row.number("Bytes", -1);
					long write = row.number("Write", -1);
					List<Stride> strides = strides(row.text("Strides"));
					if (id < 0 || task < 0 || count <= 0 || bytes < 0 || bytes > Integer.MAX_VALUE || write != 0 && write != 1 || strides == null
							|| strides.stream().mapToDouble(Stride::count).sum() > count) {
						skips.skip(name, row.line(), "not what an instruction did");
						return;
					}
					Use before = byId.put(id, new Use(image.index(), task, row.address("Ip"), write == 1, (int) bytes, count,
							row.address("First"), row.address("Last"), strides));
					if (before != null && before.accesses() > count) {
						byId.put(id, before);
						skips.skip(name, row.line(), "an instruction with less than before");
					}
				});
		LeftOut.columns(image, FILE, unread, skips);
		byId.values().forEach(to::add);
	}

	private static List<Stride> strides(String text) {
		try {
			return InstructionCounts.strides(text);
		} catch (NumberFormatException e) {
			return null;
		}
	}
}
