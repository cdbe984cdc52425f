// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.moca;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.importer.input.ByteLines;
import org.memtrace.importer.input.CountedInput;
import org.memtrace.importer.input.CsvTable;
import org.memtrace.importer.input.SkipCounter;
import org.memtrace.importer.memtrace.ContextTables;
import org.memtrace.importer.memtrace.TraceDirectory;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/**
 * Reads Moca's and TABARNAC's files about structures and stacks. They tell no lifetimes, so everything lives from the beginning
 * to the end, and no kinds: those are told by the names and call stacks that these tools write.
 */
public final class HistoricalContext {
	private static final Pattern STACK_NAME = Pattern.compile("stack(:\\d+)?|Stack#\\d+");
	private static final Pattern ALLOCATED = Pattern.compile("(malloc|calloc|AnonymousStruct|UnnamedStruct)#?\\d*");
	private static final Pattern MAPS_LINE = Pattern
			.compile("([0-9a-f]{1,16})-([0-9a-f]{1,16}) .*\\[(stack(?::(\\d+))?)\\]\\s*");
	/** What TABARNAC writes for a stack without limit. */
	private static final long NO_LIMIT = -1;
	private static final long USUAL_STACK = 8 << 20;

	/** A range, without what {@link ContextTables} adds. */
	private record Range(StructureKind kind, String name, long start, long end, long taskId, String backtrace) {
	}

	private final int pageSizeBytes;
	private final SkipCounter skips;
	/** By kind, name and end: stacks are in more than one file, and in the log each time they have grown. */
	private final Map<String, Range> ranges = new LinkedHashMap<>();

	private HistoricalContext(int pageSizeBytes, SkipCounter skips) {
		this.pageSizeBytes = pageSizeBytes;
		this.skips = skips;
	}

	/** Adds what the files of an image tell to the tables; returns its structures. */
	public static List<Structure> read(TraceDirectory.Image image, int pageSizeBytes, SkipCounter skips, ContextTables tables)
			throws MemtraceException {
		HistoricalContext context = new HistoricalContext(pageSizeBytes, skips);
		int first = tables.structures().size();
		for (TraceDirectory.ContextFile file : image.context()) {
			try (CountedInput in = file.input().open()) {
				String name = file.input().name();
				switch (file.format()) {
				case STRUCTURES -> CsvTable.read(in.stream(), name, List.of("name"), skips, row -> context.structure(name, row));
				case STACK_MAP -> CsvTable.read(in.stream(), name, List.of("tid", "stackmax", "sz"), skips,
						row -> context.stackMap(name, row));
				case STACKS_LOG -> context.log(new ByteLines(in.stream()), name);
				default -> {
					// producer files only tell the page size
				}
				}
			} catch (IOException e) {
				throw new TraceFormatException(file.input().name(), 0, "cannot be read: " + e.getMessage());
			}
		}
		Map<String, Integer> stacks = new HashMap<>();
		for (Range range : context.ranges.values()) {
			int stack = -1;
			List<CallFrame> frames = frames(range.backtrace);
			if (!frames.isEmpty()) {
				stack = stacks.computeIfAbsent(range.backtrace, key -> tables.addStack(frames));
			}
			tables.addStructure(image, range.kind, range.name, range.start, range.end, range.taskId, stack);
		}
		return List.copyOf(tables.structures().subList(first, tables.structures().size()));
	}

	private void add(String file, long line, Range range) throws MemtraceException {
		if (Long.compareUnsigned(range.start, range.end) >= 0) {
			skips.skip(file, line, "structure without bytes");
			return;
		}
		ranges.merge(range.kind == StructureKind.STACK ? "stack " + Long.toHexString(range.end) : file + " " + line, range,
				(a, b) -> Long.compareUnsigned(b.start, a.start) < 0 ? b : a);
	}

	private void structure(String file, CsvTable.Row row) throws MemtraceException {
		boolean moca = row.has("addr");
		long start = Long.parseUnsignedLong(row.text(moca ? "addr" : "start").strip());
		long size = Long.parseLong(row.text(moca ? "size" : "sz").strip());
		String name = row.text("name").strip();
		String backtrace = row.text("backtrace").strip();
		if (size < 0) {
			skips.skip(file, row.line(), "structure without bytes");
			return;
		}
		StructureKind kind = STACK_NAME.matcher(name).matches() ? StructureKind.STACK
				: ALLOCATED.matcher(name).matches() || !frames(backtrace).isEmpty() ? StructureKind.HEAP
						: StructureKind.STATIC;
		long task = kind == StructureKind.STACK && name.matches(".*\\d{1,18}")
				? Long.parseLong(name.replaceAll("\\D", "")) : -1;
		add(file, row.line(), new Range(kind, name.isEmpty() ? "unnamed" : name, start, start + size, task, backtrace));
	}

	/** The end is the page of the stack pointer when the thread began. */
	private void stackMap(String file, CsvTable.Row row) throws MemtraceException {
		long tid = Long.parseLong(row.text("tid").strip());
		long end = Long.parseUnsignedLong(row.text("stackmax").strip()) * pageSizeBytes;
		long size = Long.parseLong(row.text("sz").strip());
		if (size == NO_LIMIT) {
			skips.warn(file + ", line " + row.line() + ": a stack without limit is taken for one of 8 MiB");
			size = USUAL_STACK;
		}
		if (size <= 0) {
			skips.skip(file, row.line(), "structure without bytes");
			return;
		}
		long start = Long.compareUnsigned(size, end) > 0 ? 0 : end - size;
		add(file, row.line(), new Range(StructureKind.STACK, "Stack#" + tid, start, end, tid, ""));
	}

	private void log(ByteLines lines, String file) throws IOException, MemtraceException {
		while (lines.next()) {
			if (lines.tooLong()) {
				skips.skip(file, lines.line(), ByteLines.TOO_LONG);
				continue;
			}
			String line = new String(lines.buffer(), lines.start, lines.end - lines.start, StandardCharsets.ISO_8859_1);
			Matcher m = MAPS_LINE.matcher(line);
			if (m.matches()) {
				add(file, lines.line(), new Range(StructureKind.STACK, m.group(3), Long.parseUnsignedLong(m.group(1), 16),
						Long.parseUnsignedLong(m.group(2), 16), m.group(4) == null || m.group(4).length() > 18 ? -1
								: Long.parseLong(m.group(4)), ""));
			} else if (!line.isBlank()) {
				skips.skip(file, lines.line(), "not a stack of a memory map");
			}
		}
		if (lines.incomplete()) {
			skips.incomplete(file, lines.line() + 1);
		}
	}

	/** {@code lib:0xaddr:0xaddr/lib2:0xaddr}, innermost first; NA for none. */
	static List<CallFrame> frames(String backtrace) {
		List<CallFrame> frames = new ArrayList<>();
		if (backtrace.isEmpty() || backtrace.equals("NA")) {
			return frames;
		}
		String object = "";
		for (String part : backtrace.split("[:/]")) {
			try {
				if (part.startsWith("0x")) {
					frames.add(new CallFrame(Long.parseUnsignedLong(part.substring(2), 16), object, "", "", 0));
				} else if (!part.isBlank()) {
					object = part.strip();
				}
			} catch (NumberFormatException e) {
				object = part.strip();
			}
		}
		return frames;
	}
}
