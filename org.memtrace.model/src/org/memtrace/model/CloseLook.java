// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What {@code record --zoom} saw: which thread used which bytes of a cache line, and how often threads took turns. Immutable. */
public final class CloseLook {
	/** Name of the note in the trace: a line for each thread and part of a cache line, see {@link #toBytes}. */
	public static final String NOTE = "close_look";
	public static final CloseLook NONE = new CloseLook(List.of());
	/** Bytes of a cache line, and of the parts of it that are told apart. */
	public static final int LINE_BYTES = 64;
	public static final int PART_BYTES = 4;

	/**
	 * What a thread did in a part of a line.
	 *
	 * @param taskId id that the operating system gives the thread
	 * @param offset of the part in its line, in bytes; a multiple of {@link #PART_BYTES}
	 * @param reads samples that read; an access that reads and writes is in both
	 * @param writes samples that wrote
	 */
	public record Use(long taskId, int offset, long reads, long writes) {
		/** Samples of the part, at least. */
		public long most() {
			return Math.max(reads, writes);
		}
	}

	/**
	 * A cache line with samples.
	 *
	 * @param image process image
	 * @param address of its first byte
	 * @param fromNs time of the first sample
	 * @param toNs time of the last one
	 * @param handOvers samples that follow one of another thread, where one of the two wrote: a lower bound of how often the line moved
	 * @param uses by offset, then task
	 */
	public record Line(int image, long address, long fromNs, long toNs, long samples, long handOvers, List<Use> uses) {
	}

	private final List<Line> lines;

	private CloseLook(List<Line> lines) {
		this.lines = List.copyOf(lines);
	}

	/** All lines by image and address. */
	public List<Line> lines() {
		return lines;
	}

	public boolean isEmpty() {
		return lines.isEmpty();
	}

	/** As it is stored: image, address, from, to, samples, hand-overs; then task, offset, reads and writes of each use, between tabs. */
	public byte[] toBytes() {
		StringBuilder b = new StringBuilder();
		for (Line l : lines) {
			b.append(l.image).append('\t').append(Long.toHexString(l.address)).append('\t').append(l.fromNs).append('\t').append(l.toNs)
					.append('\t').append(l.samples).append('\t').append(l.handOvers);
			for (Use u : l.uses) {
				b.append('\t').append(u.taskId).append('\t').append(u.offset).append('\t').append(u.reads).append('\t').append(u.writes);
			}
			b.append('\n');
		}
		return b.toString().getBytes(StandardCharsets.UTF_8);
	}

	/** Reads what was stored; a line that is damaged is left out. */
	public static CloseLook parse(byte[] stored) {
		List<Line> lines = new ArrayList<>();
		for (String line : new String(stored, StandardCharsets.UTF_8).split("\n")) {
			String[] f = line.split("\t");
			try {
				if (f.length < 10 || f.length % 4 != 2) {
					continue;
				}
				List<Use> uses = new ArrayList<>();
				for (int i = 6; i < f.length; i += 4) {
					uses.add(new Use(Long.parseLong(f[i]), Integer.parseInt(f[i + 1]), Long.parseLong(f[i + 2]), Long.parseLong(f[i + 3])));
				}
				lines.add(new Line(Integer.parseInt(f[0]), Long.parseUnsignedLong(f[1], 16), Long.parseLong(f[2]), Long.parseLong(f[3]),
						Long.parseLong(f[4]), Long.parseLong(f[5]), uses));
			} catch (NumberFormatException e) {
				// left out
			}
		}
		return new CloseLook(lines);
	}

	/** Makes it of samples in any order. About 16 bytes are needed for each of them. */
	public static final class Builder {
		private record Place(int image, long address) {
		}

		/** The samples of a line: their times, and task number, offset and direction in an int. */
		private static final class Samples {
			private long[] timeNs = new long[8];
			private int[] what = new int[8];
			private int n;

			void add(long ns, int w) {
				if (n == what.length) {
					timeNs = Arrays.copyOf(timeNs, 2 * n);
					what = Arrays.copyOf(what, 2 * n);
				}
				timeNs[n] = ns;
				what[n++] = w;
			}
		}

		private static final int READ = 1;
		private static final int WRITE = 2;
		private static final int OFFSET_SHIFT = 2;
		private static final int TASK_SHIFT = 8;
		private static final int MOST_TASKS = 1 << 23;

		private final Map<Place, Samples> byLine = new LinkedHashMap<>();
		private final Map<Long, Integer> numbers = new LinkedHashMap<>();
		private final List<Long> tasks = new ArrayList<>();

		/** Adds a sample; false: there are too many threads. */
		public boolean add(int image, long taskId, long address, long ns, boolean read, boolean write) {
			Integer number = numbers.get(taskId);
			if (number == null) {
				if (tasks.size() == MOST_TASKS) {
					return false;
				}
				number = tasks.size();
				numbers.put(taskId, number);
				tasks.add(taskId);
			}
			int offset = (int) (address & LINE_BYTES - 1);
			byLine.computeIfAbsent(new Place(image, address - offset), k -> new Samples()).add(ns,
					number << TASK_SHIFT | offset << OFFSET_SHIFT | (write ? WRITE : 0) | (read ? READ : 0));
			return true;
		}

		public CloseLook build() {
			List<Line> lines = new ArrayList<>();
			byLine.forEach((place, samples) -> lines.add(line(place, samples)));
			lines.sort(Comparator.comparingInt(Line::image).thenComparing(Line::address, Long::compareUnsigned));
			return new CloseLook(lines);
		}

		private static int[] byTime(Samples s) {
			long from = Long.MAX_VALUE;
			long to = Long.MIN_VALUE;
			for (int i = 0; i < s.n; i++) {
				from = Math.min(from, s.timeNs[i]);
				to = Math.max(to, s.timeNs[i]);
			}
			int bits = Integer.SIZE - Integer.numberOfLeadingZeros(s.n);
			if (to - from < 0 || Long.numberOfLeadingZeros(to - from) <= bits) { // years of samples
				return IntStream.range(0, s.n).boxed().sorted(Comparator.comparingLong(i -> s.timeNs[i])).mapToInt(Integer::intValue).toArray();
			}
			long[] keys = new long[s.n];
			for (int i = 0; i < s.n; i++) {
				keys[i] = s.timeNs[i] - from << bits | i;
			}
			Arrays.sort(keys);
			int mask = (1 << bits) - 1;
			return Arrays.stream(keys).mapToInt(k -> (int) k & mask).toArray();
		}

		private Line line(Place place, Samples s) {
			int[] order = byTime(s);
			Map<Long, long[]> uses = new LinkedHashMap<>();
			long handOvers = 0;
			int before = -1;
			for (int i : order) {
				int w = s.what[i];
				int offset = (w >> OFFSET_SHIFT & LINE_BYTES - 1) / PART_BYTES * PART_BYTES;
				long[] counts = uses.computeIfAbsent((long) offset << Integer.SIZE | w >>> TASK_SHIFT, k -> new long[2]);
				counts[0] += w & READ;
				counts[1] += (w & WRITE) / WRITE;
				if (before >= 0 && w >>> TASK_SHIFT != before >>> TASK_SHIFT && ((w | before) & WRITE) != 0) {
					handOvers++;
				}
				before = w;
			}
			List<Use> list = new ArrayList<>();
			uses.forEach((key, counts) -> list.add(new Use(tasks.get(key.intValue()), (int) (key >> Integer.SIZE), counts[0], counts[1])));
			list.sort(Comparator.comparingInt(Use::offset).thenComparingLong(Use::taskId));
			return new Line(place.image, place.address, s.timeNs[order[0]], s.timeNs[order[s.n - 1]], s.n, handOvers, list);
		}
	}
}
