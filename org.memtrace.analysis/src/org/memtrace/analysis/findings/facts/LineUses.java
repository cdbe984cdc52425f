// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntFunction;

import org.memtrace.model.memory.Structure;

/**
 * Who was seen in which lines of the blocks of a small group, and its lines with several writers in different words. Such a line between
 * the part of one thread and that of another one is worth nothing: each comes to it once in a sweep through its part.
 */
final class LineUses {
	private static final int LINE_BYTES = 64;
	/** User of a line with several. */
	private static final int SEVERAL = -2;
	/** Lines of its own that a thread has beside the border, at least: less is an element that lies across lines. */
	private static final int PART = 4;
	/** An array of so many bytes can have parts. */
	private static final long ARRAY = 4096;
	/** A thread that is in a line for a larger share of its samples in the page does not only pass it. */
	private static final double PASSING = 1.0 / 3;

	/**
	 * A line with several writers, each in words of its own.
	 *
	 * @param often whether two of them were seen twice or more
	 * @param from by thread: its first byte in the line, -1 for one that was not seen there
	 * @param to by thread: its last byte
	 * @param share by thread: the share of its samples in the page that are in this line
	 */
	record Apart(int structure, int leaf, GroupFacts.Line line, boolean often, int[] from, int[] to, double[] share) {
	}

	final List<Apart> apart = new ArrayList<>();
	/** By block and address of the line. */
	private final Map<Integer, TreeMap<Long, Integer>> users = new HashMap<>();

	void seen(int structure, long address, int thread) {
		users.computeIfAbsent(structure, k -> new TreeMap<>()).merge(address / LINE_BYTES * LINE_BYTES, thread, LineUses::one);
	}

	private static Integer one(Integer a, Integer b) {
		return a.equals(b) ? a : SEVERAL;
	}

	void add(LineUses o) {
		apart.addAll(o.apart);
		o.users.forEach((s, lines) -> {
			TreeMap<Long, Integer> mine = users.computeIfAbsent(s, k -> new TreeMap<>());
			lines.forEach((line, user) -> mine.merge(line, user, LineUses::one));
		});
	}

	/** Whether a line is only the border of the parts of two threads. */
	boolean isBorder(Apart a, IntFunction<Structure> structures) {
		int low = -1;
		int high = -1;
		for (int t = 0; t < a.from().length; t++) {
			if (a.from()[t] >= 0) {
				if (high >= 0) {
					return false;
				}
				high = low < 0 ? -1 : t;
				low = low < 0 ? t : low;
			}
		}
		if (high < 0) {
			return false;
		}
		if (a.from()[low] > a.from()[high]) {
			int swapped = low;
			low = high;
			high = swapped;
		}
		TreeMap<Long, Integer> lines = users.get(a.structure());
		Structure s = structures.apply(a.structure());
		long line = a.line().address;
		// of a large array the lines that no thread is seen in are of whoever goes on from this one: who was seen in a page is not seen again
		boolean array = s.typeName().endsWith("]") && s.sizeBytes() >= ARRAY;
		long below = end(lines.headMap(line, false).descendingMap(), low, array ? low : SEVERAL, line, s.startAddress() - LINE_BYTES);
		long above = end(lines.tailMap(line, false), high, array ? high : SEVERAL, line, s.endAddress());
		return a.to()[low] < a.from()[high] && Math.min(a.share()[low], a.share()[high]) <= PASSING && line - below > PART * LINE_BYTES
				&& above - line > PART * LINE_BYTES;
	}

	/**
	 * Where the lines of a thread end.
	 *
	 * @param lines those on one side of a line, from it on
	 * @param before who has what lies before the first of them
	 * @param line that line: where they end when there are none
	 * @param last where they end at the latest
	 */
	private static long end(SortedMap<Long, Integer> lines, int thread, int before, long line, long last) {
		boolean any = before == thread;
		for (Map.Entry<Long, Integer> e : lines.entrySet()) {
			if (e.getValue() != thread) {
				return any ? e.getKey() : line;
			}
			any = true;
		}
		return any ? last : line;
	}
}
