// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.perf;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.memory.MemoryLevel;
import org.memtrace.model.store.AccessBatch;

/**
 * What samples tell of one process, written as a process image of a trace directory (docs/reference/trace-format.md). Rows go to the file
 * in pieces, so that thousands of processes need no open file each.
 */
final class PerfImage {
	private static final String HEADER = "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags,First,ReadOffset,WriteOffset\n";
	private static final int PIECE = 1 << 18;
	/** Places in the code whose names are kept; the addresses of all others are. */
	private static final int MOST_PLACES = 1_000_000;

	private final Path directory;
	private final int process;
	private final boolean withContext;
	private final StringBuilder rows = new StringBuilder(HEADER);
	private final List<Mapping> mappings = new ArrayList<>();
	private final Map<Integer, Thread> threads = new LinkedHashMap<>();
	private final Map<Static, long[]> statics = new LinkedHashMap<>();
	private final TreeMap<Long, String> places = new TreeMap<>(Long::compareUnsigned);
	private boolean written;

	private record Mapping(long start, long end, String protection, String file, long bornNs, long diedNs) {
		Mapping until(long timeNs) {
			return new Mapping(start, end, protection, file, bornNs, timeNs);
		}

		boolean isFile() {
			return file.startsWith("/") && !file.startsWith("//");
		}
	}

	private static final class Thread {
		String command;
		final long firstNs;

		Thread(String command, long firstNs) {
			this.command = command;
			this.firstNs = firstNs;
		}
	}

	/** A symbol that has data. */
	private record Static(String object, String name, long start) {
	}

	/** @param withContext whether structures and threads are written, too; else they are there */
	PerfImage(Path directory, int process, boolean withContext) {
		this.directory = directory;
		this.process = process;
		this.withContext = withContext;
	}

	/** Memory was mapped: what was there is gone, as far as it is covered. */
	void mapped(PerfLine line) {
		Mapping added = new Mapping(line.address, line.end, line.protection, line.file, line.timeNs, -1);
		mappings.replaceAll(m -> m.diedNs < 0 && Long.compareUnsigned(added.start, m.start) <= 0
				&& Long.compareUnsigned(m.end, added.end) <= 0 ? m.until(line.timeNs) : m);
		mappings.add(added);
	}

	/** Another program runs: all memory is gone. */
	void executed(PerfLine line) {
		mappings.replaceAll(m -> m.diedNs < 0 ? m.until(line.timeNs) : m);
		Thread main = threads.get(process);
		if (main != null) {
			main.command = line.command;
		}
	}

	/** Adds a row. @param startNs and endNs the interval in which it is */
	void add(PerfLine line, long startNs, long endNs, int pageSizeBytes) throws IOException {
		boolean store = isStore(line);
		boolean known = isDirectionKnown(line);
		String offset = Long.toHexString(line.address & pageSizeBytes - 1);
		int flags = MemoryLevel.flags(DataSource.level(line.dataSource), line.weight)
				| (known ? 0 : AccessBatch.FLAG_DIRECTION_UNKNOWN);
		rows.append(Long.toHexString(line.address)).append(',').append(Long.toHexString(line.physical)).append(store ? ",0,1," : ",1,0,")
				.append(line.cpu < 0 ? "0" : BigInteger.ONE.shiftLeft(line.cpu).toString(16)).append(',').append(startNs).append(',')
				.append(endNs).append(',').append(line.thread).append(',').append(Long.toHexString(line.ip)).append(",-1,")
				.append(Integer.toHexString(flags)).append(',').append(line.timeNs - startNs).append(',').append(store ? "" : offset)
				.append(',').append(store ? offset : "").append('\n');
		if (withContext) {
			threads.computeIfAbsent(line.thread, t -> new Thread(line.command, line.timeNs));
			if (!line.symbol.isEmpty() && line.symbolObject.startsWith("/") && !line.symbolObject.startsWith("//")) {
				statics.merge(new Static(line.symbolObject, line.symbol, line.address - line.symbolOffset),
						new long[] { line.symbolOffset + 1 }, (a, b) -> new long[] { Math.max(a[0], b[0]) });
			}
		}
		if (line.ip != 0 && places.size() < MOST_PLACES && (!line.function.isEmpty() || !line.object.isEmpty())) {
			places.putIfAbsent(line.ip, quoted(line.object) + ",," + quoted(line.function) + ",,");
		}
		if (rows.length() > PIECE) {
			flush();
		}
	}

	private static boolean isStore(PerfLine line) {
		return DataSource.isStore(line.dataSource) || line.event.contains("store");
	}

	/** Whether a sample says if it read or wrote; a page fault does not. */
	static boolean isDirectionKnown(PerfLine line) {
		return isStore(line) || DataSource.isLoad(line.dataSource) || line.event.contains("load");
	}

	private void flush() throws IOException {
		Files.createDirectories(directory);
		Files.writeString(directory.resolve("accesses-000000.csv"), rows, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
				StandardOpenOption.APPEND);
		rows.setLength(0);
		written = true;
	}

	/** Whether there are samples of it. */
	boolean hasRows() {
		return written || rows.length() > HEADER.length();
	}

	/** Writes what is left. @param imageJson the file {@code image.json}, if there is none */
	void finish(String imageJson) throws IOException {
		flush();
		Path code = directory.resolve("code.csv");
		if (!Files.exists(code)) {
			StringBuilder text = new StringBuilder("Ip,Object,Offset,Function,File,Line\n");
			places.forEach((ip, place) -> text.append(Long.toHexString(ip)).append(',').append(place).append('\n'));
			Files.writeString(code, text);
		}
		if (withContext) {
			writeContext(imageJson);
		}
	}

	private void writeContext(String imageJson) throws IOException {
		Files.writeString(directory.resolve("image.json"), imageJson);
		StringBuilder text = new StringBuilder("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site\n");
		int id = 0;
		for (Mapping m : mappings) {
			text.append(id++).append(',').append(kind(m)).append(',').append(quoted(name(m))).append(',').append(Long.toHexString(m.start))
					.append(',').append(Long.toHexString(m.end)).append(',').append(m.bornNs).append(',').append(m.diedNs).append(',')
					.append(m.file.equals("[stack]") ? process : -1).append(",-1,\n");
		}
		for (Map.Entry<Static, long[]> entry : statics.entrySet()) {
			Static s = entry.getKey();
			text.append(id++).append(",static,").append(quoted(s.name)).append(',').append(Long.toHexString(s.start)).append(',')
					.append(Long.toHexString(s.start + entry.getValue()[0])).append(",-1,-1,-1,-1,\n");
		}
		Files.writeString(directory.resolve("structures.csv"), text);
		text.setLength(0);
		text.append("TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs\n");
		threads.entrySet().stream().sorted((a, b) -> Boolean.compare(b.getKey() == process, a.getKey() == process))
				.forEach(t -> text.append(t.getKey()).append(',').append(quoted(t.getValue().command)).append(',')
						.append(t.getValue().firstNs).append(",-1,0,0,,-1\n"));
		Files.writeString(directory.resolve("threads.csv"), text);
		Files.writeString(directory.resolve("stacks.csv"), "Stack,Depth,Ip,Object,Offset,Function,File,Line\n");
	}

	private static String kind(Mapping m) {
		return m.file.equals("[stack]") ? "stack" : m.file.equals("[heap]") ? "brk" : m.isFile() ? "file" : "mmap";
	}

	private static String name(Mapping m) {
		if (m.file.equals("[stack]")) {
			return "stack of main thread";
		}
		if (m.file.equals("[heap]")) {
			return "heap (brk)";
		}
		if (!m.isFile()) {
			return m.file.startsWith("//anon") ? "anonymous memory" : m.file;
		}
		return m.file.substring(m.file.lastIndexOf('/') + 1)
				+ (m.protection.contains("x") ? " code" : m.protection.contains("w") ? " data" : " constants");
	}

	private static String quoted(String text) {
		return text.indexOf(',') < 0 && text.indexOf('"') < 0 ? text : '"' + text.replace("\"", "\"\"") + '"';
	}
}
