// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.memtrace.importer.rows.RowBatch;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/**
 * To which structure of an image an access belongs. The rule of docs/reference/trace-files.md is for an instant; a record covers an
 * interval, in which a structure can die and another be born at its place. So here: among the structures that contain the
 * address and live during some of the interval, the best class ({@code static}, {@code heap}, {@code stack} before
 * {@code mmap} before {@code brk}, {@code file}); then the one that lives longest within the interval; then the smallest, the
 * latest born, the lowest id. Where every candidate lives through the whole interval this is the rule of the format.
 *
 * <p>When the time of the first access is known, memory that is used again belongs to the block that lived then. The C library
 * writes to a block before its birth is noted, and nobody may write to it after its end: so between two lives it belongs to
 * the one that comes.
 *
 * <p>Thread stacks are there before their thread and after it: the thread that starts another writes to its stack, and the C
 * library keeps the memory. An access in no living structure belongs to the stack at its address that is nearest in time.
 *
 * <p>A page with few structures is asked one after the other. Of a page with many, which a program can have by accident and a file on
 * purpose, a {@link LifeTree} over all structures is asked: otherwise each access would look at all of them.
 */
public final class StructureIndex {
	/** No structure. */
	static final int NONE = -1;
	/** Structures of a page that are looked at one after the other. */
	static final int FEW = 64;

	/** What is known about a page: the structures that touch it, and which of them may be alive now. */
	static final class Page {
		private static final Page EMPTY = new Page(new Structure[0]);

		/** Where there are many: the index, and the page. */
		private final StructureIndex crowded;
		private final long start;
		private final long end;
		/** Empty where there are many. */
		private final Structure[] byBirth;
		private final Structure[] alive;
		private final Structure[] stacks;
		/** Which group of lives each structure belongs to: id and group, by id; null: not asked yet. */
		private long[] groups;
		private int aliveCount;
		private int next;
		private long lastStartNs = Long.MIN_VALUE;

		/**
		 * The only structure, if it covers the page; {@link StructureIndex#NONE} if there is none, else {@code several}.
		 *
		 * @param last address of the last byte of the page
		 */
		int sole(long first, long last, int several) {
			return crowded != null ? several : byBirth.length == 0 ? NONE
					: byBirth.length == 1 && StructureOrder.contains(byBirth[0], first) && StructureOrder.contains(byBirth[0], last)
							? byBirth[0].id() : several;
		}

		/**
		 * Number of the group of lives of a structure. Of two structures in different groups one was gone before the other came, so that
		 * threads that use one of them do not share the page with those that use the other. 0 is the group that lives longest; what is
		 * no block of its own (rank above 0) is in it, too.
		 */
		int group(int structure) {
			long[] known = groups;
			if (known == null) {
				known = crowded != null ? crowded.groups(start, end) : groups(byBirth);
				groups = crowded != null ? null : known; // those of many are kept once for all pages with the same structures
			}
			int at = Arrays.binarySearch(known, (long) structure << Integer.SIZE);
			at = at < 0 ? -at - 1 : at;
			return at < known.length && known[at] >> Integer.SIZE == structure ? (int) known[at] : 0;
		}

		/** @param byBirth in the order of their births */
		private static long[] groups(Structure[] byBirth) {
			int[] of = new int[byBirth.length];
			int last = -1;
			int longest = 0;
			long from = 0;
			long to = 0;
			long most = -1;
			for (int i = 0; i < byBirth.length; i++) {
				Structure s = byBirth[i];
				if (StructureOrder.rank(s) > 0) {
					continue;
				}
				if (last < 0 || s.birthNs() >= to) {
					last++;
					from = s.birthNs();
					to = s.deathNs();
				}
				to = Math.max(to, s.deathNs());
				of[i] = last;
				if (to - from > most) {
					most = to - from;
					longest = last;
				}
			}
			for (int i = 0; i < of.length; i++) { // 0 and the longest change places
				of[i] = StructureOrder.rank(byBirth[i]) > 0 || of[i] == longest ? 0 : of[i] == 0 ? longest : of[i];
			}
			long[] byId = new long[of.length];
			for (int i = 0; i < of.length; i++) {
				byId[i] = (long) byBirth[i].id() << Integer.SIZE | of[i];
			}
			Arrays.sort(byId);
			return byId;
		}

		private Page(StructureIndex crowded, long start, long end) {
			this.crowded = crowded;
			this.start = start;
			this.end = end;
			byBirth = new Structure[0];
			alive = byBirth;
			stacks = byBirth;
		}

		private Page(Structure[] byBirth) {
			crowded = null;
			start = 0;
			end = 0;
			this.byBirth = byBirth;
			this.alive = new Structure[byBirth.length];
			this.stacks = Arrays.stream(byBirth).filter(s -> s.kind() == StructureKind.STACK).toArray(Structure[]::new);
		}
	}

	private final Structure[] byStart;
	/** Greatest end address (as a signed number of the biased address) of the balanced subtree rooted at an index. */
	private final long[] greatestEnd;

	/** Biased ends of those of byStart, in their order. */
	private final long[] ends;
	private static final int MOST_GROUPS = 16;
	/** Groups of lives of pages with many structures, by what decides which these are: how many begin before and end until them. */
	private final Map<Long, long[]> groups = new HashMap<>();
	private LifeTree lives;
	private LifeTree stackLives;

	private final int firstId;
	private final Structure[] byId;

	/** @param structures those of one image, whose ids follow each other */
	public StructureIndex(List<Structure> structures) {
		firstId = structures.isEmpty() ? 0 : structures.get(0).id();
		byId = structures.toArray(Structure[]::new);
		byStart = structures.stream().filter(s -> Long.compareUnsigned(s.startAddress(), s.endAddress()) < 0)
				.sorted(Comparator.comparing(Structure::startAddress, Long::compareUnsigned)).toArray(Structure[]::new);
		greatestEnd = new long[byStart.length];
		build(0, byStart.length);
		ends = Arrays.stream(byStart).mapToLong(s -> biased(s.endAddress())).sorted().toArray();
	}

	private static long biased(long address) {
		return address ^ Long.MIN_VALUE;
	}

	private long build(int from, int to) {
		if (from >= to) {
			return Long.MIN_VALUE;
		}
		int middle = (from + to) >>> 1;
		long greatest = biased(byStart[middle].endAddress());
		greatest = Math.max(greatest, Math.max(build(from, middle), build(middle + 1, to)));
		greatestEnd[middle] = greatest;
		return greatest;
	}

	/** How many structures there are. */
	public int size() {
		return byId.length;
	}

	/** One of them, by its id. */
	public Structure structure(int id) {
		return byId[id - firstId];
	}

	/** The structures that have bytes in {@code [start, end)}. */
	Page page(long start, long end) {
		if (beginBefore(end) - endUntil(start) > FEW) {
			return new Page(this, start, end);
		}
		Structure[] found = at(start, end);
		return found.length == 0 ? Page.EMPTY : new Page(found);
	}

	/** In the order of their births. */
	private Structure[] at(long start, long end) {
		List<Structure> found = new ArrayList<>();
		collect(0, byStart.length, biased(start), biased(end - 1), found);
		found.sort(Comparator.comparingLong(Structure::birthNs));
		return found.toArray(Structure[]::new);
	}

	/** How many structures begin before an address. */
	private int beginBefore(long address) {
		int from = 0;
		int to = byStart.length;
		while (from < to) {
			int middle = from + to >>> 1;
			if (biased(byStart[middle].startAddress()) <= biased(address - 1)) {
				from = middle + 1;
			} else {
				to = middle;
			}
		}
		return from;
	}

	/** How many structures end before or at an address. */
	private int endUntil(long address) {
		int from = 0;
		int to = ends.length;
		while (from < to) {
			int middle = from + to >>> 1;
			if (ends[middle] <= biased(address)) {
				from = middle + 1;
			} else {
				to = middle;
			}
		}
		return from;
	}

	private synchronized long[] groups(long start, long end) {
		if (groups.size() > MOST_GROUPS) {
			groups.clear();
		}
		return groups.computeIfAbsent((long) beginBefore(end) << Integer.SIZE | endUntil(start), key -> Page.groups(at(start, end)));
	}

	private synchronized LifeTree lives() {
		if (lives == null) {
			lives = new LifeTree(byStart);
			stackLives = new LifeTree(Arrays.stream(byStart).filter(s -> s.kind() == StructureKind.STACK).toArray(Structure[]::new));
		}
		return lives;
	}

	private int many(long address, long startNs, long endNs, long firstNs) {
		Structure best = lives().best(address, startNs, endNs, firstNs);
		best = best == null ? stackLives.nearest(address, startNs, endNs) : best;
		return best == null ? NONE : best.id();
	}

	private void collect(int from, int to, long first, long last, List<Structure> found) {
		if (from >= to) {
			return;
		}
		int middle = (from + to) >>> 1;
		if (greatestEnd[middle] <= first) {
			return;
		}
		collect(from, middle, first, last, found);
		Structure s = byStart[middle];
		if (biased(s.startAddress()) <= last) {
			if (biased(s.endAddress()) > first) {
				found.add(s);
			}
			collect(middle + 1, to, first, last, found);
		}
	}

	/** The id of the structure that has an address at a time, or {@link #NONE}. */
	public int find(long address, long timeNs) {
		return resolve(page(address, address + 1), address, timeNs, timeNs + 1, timeNs);
	}

	/** The id of the structure that has an address for the longest part of a time, or a negative number. */
	public int find(long address, long startNs, long endNs) {
		return resolve(page(address, address + 1), address, startNs, endNs);
	}

	/** Resolves an access whose first time is not known. */
	static int resolve(Page page, long address, long startNs, long endNs) {
		return resolve(page, address, startNs, endNs, RowBatch.NO_TIME);
	}

	/**
	 * The id of the structure of an access, or {@link #NONE}. Fast when a page is asked in order of time.
	 *
	 * @param firstNs when the first access was, or {@link RowBatch#NO_TIME}
	 */
	static int resolve(Page page, long address, long startNs, long endNs, long firstNs) {
		if (page.crowded != null) {
			return page.crowded.many(address, startNs, endNs, firstNs);
		}
		int n = page.byBirth.length;
		if (n == 0) {
			return NONE;
		}
		if (startNs < page.lastStartNs) { // out of order: begin again
			page.next = 0;
			page.aliveCount = 0;
		}
		page.lastStartNs = startNs;
		while (page.next < n && page.byBirth[page.next].birthNs() < endNs) {
			page.alive[page.aliveCount++] = page.byBirth[page.next++];
		}
		Structure best = null;
		int kept = 0;
		for (int i = 0; i < page.aliveCount; i++) {
			Structure s = page.alive[i];
			if (s.deathNs() <= startNs) {
				continue; // never again
			}
			page.alive[kept++] = s;
			if (s.birthNs() < endNs && StructureOrder.contains(s, address)
					&& (best == null || StructureOrder.better(s, best, startNs, endNs, firstNs))) {
				best = s;
			}
		}
		Arrays.fill(page.alive, kept, page.aliveCount, null);
		page.aliveCount = kept;
		return best != null ? best.id() : nearestStack(page, address, startNs, endNs);
	}

	private static int nearestStack(Page page, long address, long startNs, long endNs) {
		Structure nearest = null;
		for (Structure s : page.stacks) {
			if (StructureOrder.contains(s, address) && (nearest == null || StructureOrder.nearer(s, nearest, startNs, endNs))) {
				nearest = s;
			}
		}
		return nearest == null ? NONE : nearest.id();
	}

}
