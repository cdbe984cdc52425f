// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.samples;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.google.gson.JsonObject;

/**
 * One process of a {@link SampleDirectory}. Samples of one page, thread, place in the code and interval become one row, so that an exact
 * trace of all accesses is as small as a recording. Used by one thread.
 */
final class SampleImage {
	private static final String HEADER = "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags,First,ReadOffset,WriteOffset\n";
	private static final int MOST_CELLS = 1 << 16;
	/** Places in the code whose names are kept; the addresses of all others are. */
	private static final int MOST_PLACES = 1_000_000;

	private record Key(long page, int thread, long ip, int node, int flags) {
	}

	private static final class Cell {
		long address;
		long reads;
		long writes;
		BigInteger cpus = BigInteger.ZERO;
		long firstNs;
		int readOffset = -1;
		int writeOffset = -1;
	}

	private final Path directory;
	private final int process;
	private final int pageSizeBytes;
	private final Map<Key, Cell> cells = new LinkedHashMap<>();
	private long startNs;
	private long endNs;
	private final Map<Integer, String> threads = new LinkedHashMap<>();
	/** First and last address of each structure. */
	private final Map<String, long[]> structures = new LinkedHashMap<>();
	private final TreeMap<Long, String> places = new TreeMap<>(Long::compareUnsigned);
	private final Map<String, Long> ipOfSource = new HashMap<>();
	private String command = "";
	private boolean written;

	SampleImage(Path directory, int process, int pageSizeBytes) {
		this.directory = directory;
		this.process = process;
		this.pageSizeBytes = pageSizeBytes;
	}

	/** Adds a sample, to each page that it has bytes of. */
	void add(Sample s) throws IOException {
		if (cells.size() >= MOST_CELLS || s.startNs != startNs || s.endNs != endNs) {
			flush();
			startNs = s.startNs;
			endNs = s.endNs;
		}
		if (s.thread >= 0) {
			threads.putIfAbsent(s.thread, s.command);
		}
		command = command.isEmpty() ? s.command : command;
		if (!s.structure.isEmpty()) {
			long[] range = structures.computeIfAbsent(s.structure, n -> new long[] { s.address, s.address });
			range[0] = Long.compareUnsigned(s.address, range[0]) < 0 ? s.address : range[0];
			range[1] = Long.compareUnsigned(s.address + s.bytes - 1, range[1]) > 0 ? s.address + s.bytes - 1 : range[1];
		}
		long ip = place(s);
		long last = s.address + s.bytes - 1;
		for (long address = s.address;; address = (address & -pageSizeBytes) + pageSizeBytes) {
			one(s, address, ip);
			if (Long.divideUnsigned(address, pageSizeBytes) == Long.divideUnsigned(last, pageSizeBytes)) {
				return;
			}
		}
	}

	private void one(Sample s, long address, long ip) {
		Cell cell = cells.computeIfAbsent(new Key(Long.divideUnsigned(address, pageSizeBytes), s.thread, ip, s.node, s.flags()), k -> {
			Cell made = new Cell();
			made.address = address;
			made.firstNs = s.timeNs;
			return made;
		});
		if (s.timeNs < cell.firstNs) {
			cell.firstNs = s.timeNs;
			cell.address = address;
		}
		int offset = (int) (address & pageSizeBytes - 1);
		cell.reads += s.reads;
		cell.writes += s.writes;
		cell.readOffset = s.reads > 0 && cell.readOffset < 0 ? offset : cell.readOffset;
		cell.writeOffset = s.writes > 0 && cell.writeOffset < 0 ? offset : cell.writeOffset;
		cell.cpus = s.cpu < 0 ? cell.cpus : cell.cpus.setBit(s.cpu);
	}

	/** The address of the code; a line of a program whose address nobody told gets a number of its own. */
	private long place(Sample s) {
		if (s.function.isEmpty() && s.source.isEmpty()) {
			return s.ip;
		}
		long ip = s.ip != 0 ? s.ip : ipOfSource.computeIfAbsent(s.function + "\0" + s.source, k -> ipOfSource.size() + 1L);
		if (places.size() < MOST_PLACES) {
			places.computeIfAbsent(ip, k -> {
				int colon = s.source.lastIndexOf(':');
				boolean isLine = colon > 0 && s.source.substring(colon + 1).matches("\\d{1,9}");
				return ",," + quoted(s.function) + "," + quoted(isLine ? s.source.substring(0, colon) : s.source) + ","
						+ (isLine ? s.source.substring(colon + 1) : "");
			});
		}
		return ip;
	}

	private void flush() throws IOException {
		if (cells.isEmpty()) {
			return;
		}
		StringBuilder rows = new StringBuilder(written ? "" : HEADER);
		cells.forEach((key, cell) -> rows.append(Long.toHexString(cell.address)).append(",0,").append(cell.reads).append(',')
				.append(cell.writes).append(',').append(cell.cpus.toString(16)).append(',').append(startNs).append(',').append(endNs).append(',')
				.append(key.thread).append(',').append(Long.toHexString(key.ip)).append(',').append(key.node).append(',')
				.append(Integer.toHexString(key.flags)).append(',').append(cell.firstNs - startNs).append(',').append(hex(cell.readOffset))
				.append(',').append(hex(cell.writeOffset)).append('\n'));
		cells.clear();
		Files.createDirectories(directory);
		Files.writeString(directory.resolve("accesses-000000.csv"), rows, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
				StandardOpenOption.APPEND);
		written = true;
	}

	private static String hex(int offset) {
		return offset < 0 ? "" : Integer.toHexString(offset);
	}

	/**
	 * Writes what is left, and what is known beside the accesses.
	 *
	 * @return how many structures have bytes of others between their first and their last access
	 */
	int finish() throws IOException {
		flush();
		JsonObject image = new JsonObject();
		image.addProperty("pid", process);
		image.addProperty("executable", command);
		image.addProperty("page_size_bytes", pageSizeBytes);
		Files.writeString(directory.resolve("image.json"), image.toString());
		StringBuilder text = new StringBuilder("Ip,Object,Offset,Function,File,Line\n");
		places.forEach((ip, place) -> text.append(Long.toHexString(ip)).append(',').append(place).append('\n'));
		Files.writeString(directory.resolve("code.csv"), text);
		text.setLength(0);
		text.append("TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs\n");
		threads.forEach((id, name) -> text.append(id).append(',').append(quoted(name)).append(",-1,-1,0,0,,-1\n"));
		Files.writeString(directory.resolve("threads.csv"), text);
		Files.writeString(directory.resolve("stacks.csv"), "Stack,Depth,Ip,Object,Offset,Function,File,Line\n");
		text.setLength(0);
		text.append("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site\n");
		int id = 0;
		for (Map.Entry<String, long[]> s : structures.entrySet()) {
			text.append(id++).append(",heap,").append(quoted(s.getKey())).append(',').append(Long.toHexString(s.getValue()[0])).append(',')
					.append(Long.toHexString(s.getValue()[1] + 1)).append(",-1,-1,-1,-1,\n");
		}
		Files.writeString(directory.resolve("structures.csv"), text);
		return overlapping();
	}

	private int overlapping() {
		List<long[]> ranges = new ArrayList<>(structures.values());
		ranges.sort(Comparator.comparing(r -> r[0], Long::compareUnsigned));
		int n = 0;
		for (int i = 1; i < ranges.size(); i++) {
			n += Long.compareUnsigned(ranges.get(i)[0], ranges.get(i - 1)[1]) <= 0 ? 1 : 0;
			ranges.get(i)[1] = Long.compareUnsigned(ranges.get(i)[1], ranges.get(i - 1)[1]) < 0 ? ranges.get(i - 1)[1] : ranges.get(i)[1];
		}
		return n;
	}

	private static String quoted(String text) {
		return text.indexOf(',') < 0 && text.indexOf('"') < 0 && text.indexOf('\n') < 0 ? text : '"' + text.replace("\"", "\"\"") + '"';
	}
}
