// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is known about the use of a structure in a window of time. Pages are added in ascending order; two parts of a structure can be
 * joined, the first one before the second. Used by one thread at a time.
 */
final class WindowUse {
	private static final int PARTS = 64;
	private static final int LEAST_ENTRIES = 16;
	private static final double ONE_LINE = 0.8;
	private static final int TOP_PAGES = 17;
	private static final int KINDS = 12;
	private static final int FREQUENT = 32;
	/** A distance is looked for between an entry and so many before it: other columns may be entered between. */
	private static final int NEIGHBOURS = 4;
	/** Share of the pages with several threads above which the steps of a thread say little: of several threads some are not recorded. */
	private static final double TOGETHER = 0.2;
	/** A page is entered at an end when it is within such a part of it: a loop may leave out the border of an array. */
	private static final int ENDS = 8;
	/** Share of the accesses to a page that makes a thread its owner. */
	private static final double OWNS = 0.8;

	/** How often each of a few values was seen; those beyond the first {@value #KINDS} are only counted. */
	private static final class Tally {
		private long[] value;
		private int[] count;
		int all;

		void add(long v, int times) {
			if (value == null) { // most structures have one page in a window
				value = new long[KINDS];
				count = new int[KINDS];
			}
			all += times;
			for (int i = 0; i < KINDS; i++) {
				if (value[i] == v || count[i] == 0) {
					value[i] = v;
					count[i] += times;
					return;
				}
			}
		}

		void join(Tally o) {
			int kept = 0;
			for (int i = 0; o.value != null && i < KINDS && o.count[i] > 0; i++) {
				add(o.value[i], o.count[i]);
				kept += o.count[i];
			}
			all += o.all - kept;
		}

		void into(TreeMap<Long, Integer> sums) {
			for (int i = 0; value != null && i < KINDS && count[i] > 0; i++) {
				sums.merge(value[i], count[i], Integer::sum);
			}
		}
	}

	/**
	 * The frequent ones of many values, with little memory: a count is too small by at most the number of values that were added, divided by
	 * one more than {@value #FREQUENT}. Misra and Gries, Finding repeated elements, 1982.
	 */
	private static final class Frequent {
		private long[] value;
		private int[] count;

		void add(long v, int times) {
			if (value == null) {
				value = new long[FREQUENT];
				count = new int[FREQUENT];
			}
			int free = -1;
			int least = Integer.MAX_VALUE;
			for (int i = 0; i < FREQUENT; i++) {
				if (count[i] > 0 && value[i] == v) {
					count[i] += times;
					return;
				}
				free = count[i] == 0 ? i : free;
				least = Math.min(least, count[i]);
			}
			if (free >= 0) {
				value[free] = v;
				count[free] = times;
				return;
			}
			int off = Math.min(least, times);
			for (int i = 0; i < FREQUENT; i++) {
				count[i] -= off;
			}
			if (times > off) {
				add(v, times - off);
			}
		}

		void into(TreeMap<Long, Integer> sums) {
			for (int i = 0; value != null && i < FREQUENT; i++) {
				if (count[i] > 0) {
					sums.merge(value[i], count[i], Integer::sum);
				}
			}
		}
	}

	/** What one thread does. */
	static final class ThreadUse {
		int pages;
		/** Pages whose first address is known, and of these near the begin or the end of the page: within an eighth of it. */
		int entries;
		private int atEnds;
		/** Entries by their place in the page; in a page of 4 KiB a part is a line. */
		private int[] parts;
		private int last = -1;
		private long lastAddress = -1;
		/** The last entries that are not in the first or last line of their page, the newest first. */
		private final long[] before = new long[NEIGHBOURS];
		private int known;
		private long lastDistance;
		/** Distances to each of the last entries. */
		private final Frequent distances = new Frequent();
		/** Common divisors of successive distances between entries. */
		private final Tally divisors = new Tally();
		/** Steps between successive pages. */
		private final Tally steps = new Tally();

		void page(int page, int offset, int pageBytes) {
			pages++;
			if (offset >= 0) {
				entries++;
				atEnds += offset < pageBytes / ENDS || offset >= pageBytes - pageBytes / ENDS ? 1 : 0;
				parts = parts == null ? new int[PARTS] : parts;
				int part = (int) ((long) offset * PARTS / pageBytes);
				parts[part]++;
				entry((long) page * pageBytes + offset, part > 0 && part < PARTS - 1);
			} else {
				lastAddress = -1;
				known = 0;
				lastDistance = 0;
			}
			if (last >= 0) {
				steps.add((long) page - last, 1);
			}
			last = page;
		}

		private void entry(long address, boolean inside) {
			long distance = lastAddress < 0 ? 0 : address - lastAddress;
			if (distance > 0 && lastDistance > 0) {
				divisors.add(gcd(distance, lastDistance), 1);
			}
			lastDistance = distance;
			lastAddress = address;
			if (inside) { // a sweep enters pages in their first or last line, and these would all be one page apart
				for (int i = 0; i < known; i++) {
					distances.add(address - before[i], 1);
				}
				known = Math.min(NEIGHBOURS, known + 1);
				System.arraycopy(before, 0, before, 1, NEIGHBOURS - 1);
				before[0] = address;
			}
		}

		/** Entries that are not near an end of their page; where nearly all are in one line, those that are not in the first or last line. */
		int inside() {
			boolean one = entries >= LEAST_ENTRIES && Arrays.stream(parts, 1, PARTS - 1).max().orElse(0) >= ONE_LINE * entries;
			return one ? entries - parts[0] - parts[PARTS - 1] : entries - atEnds;
		}

		/** Entries in the most frequent line that is not near an end. */
		int topLine() {
			return parts == null ? 0 : Arrays.stream(parts, PARTS / ENDS, PARTS - PARTS / ENDS).max().orElse(0);
		}

		private void join(ThreadUse o) {
			pages += o.pages;
			entries += o.entries;
			atEnds += o.atEnds;
			if (o.parts != null) {
				parts = parts == null ? new int[PARTS] : parts;
				Arrays.setAll(parts, i -> parts[i] + o.parts[i]);
			}
			steps.join(o.steps);
			divisors.join(o.divisors);
			TreeMap<Long, Integer> theirs = new TreeMap<>();
			o.distances.into(theirs);
			theirs.forEach(distances::add);
			last = o.last;
			System.arraycopy(o.before, 0, before, 0, NEIGHBOURS);
			known = o.known;
			lastAddress = o.lastAddress;
			lastDistance = o.lastDistance;
		}
	}

	static long gcd(long a, long b) {
		return b == 0 ? a : gcd(b, a % b);
	}

	/** How often each value was seen, by its size; {@code all} counts also those that were not kept. */
	record Counts(TreeMap<Long, Integer> times, int all) {
	}

	/** By thread. */
	final Map<Integer, ThreadUse> threads = new HashMap<>();
	/** Pages with accesses; with several threads; with several threads and a write; (page, thread) pairs. */
	int pages;
	int sharedPages;
	int sharedWritten;
	long pairs;
	/** Pages that one thread uses nearly alone, and how often the owner is another one than that of the page before. */
	int owned;
	int ownerChanges;
	private int lastOwner = -1;
	/** Steps between successive pages, whoever uses them. */
	private int lastPage = -1;
	private final Tally steps = new Tally();
	double accesses;
	/** Accesses and users of the pages with most accesses, the most first; empty for one page. */
	double[] topAccesses = {};
	int[] topUsers = {};
	private double onlyAccesses;
	private int onlyUsers;
	/** Pages that most threads share over the run, and several in this window, with writes; their accesses in it. */
	int crowdedPages;
	double crowdedAccesses;
	/** Pages that exactly two threads use, with writes, by (smaller thread, larger thread). */
	final Map<Long, Integer> twos = new HashMap<>();

	/**
	 * Adds a page.
	 *
	 * @param page number in the structure, above those that were added before
	 * @param count number of threads
	 * @param thread different threads, -1 unknown
	 * @param byThread accesses of each
	 * @param offset place of the first access of each, -1 unknown
	 * @param written whether one of them wrote
	 */
	void page(int page, int count, int[] thread, double[] byThread, int[] offset, boolean written, int pageBytes) {
		pages++;
		pairs += count;
		double sum = 0;
		int most = 0;
		for (int i = 0; i < count; i++) {
			sum += byThread[i];
			most = byThread[i] > byThread[most] ? i : most;
			threads.computeIfAbsent(thread[i], t -> new ThreadUse()).page(page, offset[i], pageBytes);
		}
		accesses += sum;
		if (lastPage >= 0) {
			steps.add((long) page - lastPage, 1);
		}
		lastPage = page;
		if (count > 1) {
			sharedPages++;
			sharedWritten += written ? 1 : 0;
		}
		if (count == 2 && written) {
			twos.merge((long) Math.min(thread[0], thread[1]) << 32 | Math.max(thread[0], thread[1]), 1, Integer::sum);
		}
		if (byThread[most] >= OWNS * sum) {
			owned++;
			ownerChanges += lastOwner >= 0 && lastOwner != thread[most] ? 1 : 0;
			lastOwner = thread[most];
		}
		top(sum, count);
	}

	private void top(double sum, int users) {
		if (topAccesses.length == 0) {
			if (onlyUsers == 0) {
				onlyAccesses = sum;
				onlyUsers = users;
				return;
			}
			topAccesses = new double[TOP_PAGES];
			topUsers = new int[TOP_PAGES];
			top(onlyAccesses, onlyUsers);
		}
		int at = TOP_PAGES - 1;
		if (sum <= topAccesses[at]) {
			return;
		}
		while (at > 0 && topAccesses[at - 1] < sum) {
			topAccesses[at] = topAccesses[at - 1];
			topUsers[at] = topUsers[at - 1];
			at--;
		}
		topAccesses[at] = sum;
		topUsers[at] = users;
	}

	/** Adds the use of a later part of the structure in the same window. */
	void join(WindowUse o) {
		pages += o.pages;
		sharedPages += o.sharedPages;
		sharedWritten += o.sharedWritten;
		pairs += o.pairs;
		owned += o.owned;
		ownerChanges += o.ownerChanges;
		lastOwner = o.lastOwner;
		accesses += o.accesses;
		if (o.topAccesses.length == 0 && o.onlyUsers > 0) {
			top(o.onlyAccesses, o.onlyUsers);
		}
		for (int i = 0; i < o.topAccesses.length && o.topAccesses[i] > 0; i++) {
			top(o.topAccesses[i], o.topUsers[i]);
		}
		steps.join(o.steps);
		lastPage = o.lastPage;
		o.twos.forEach((two, n) -> twos.merge(two, n, Integer::sum));
		o.threads.forEach((t, use) -> threads.merge(t, use, (a, b) -> {
			a.join(b);
			return a;
		}));
	}

	/** Common divisors of successive distances between entries of all threads. */
	Counts divisors() {
		TreeMap<Long, Integer> all = new TreeMap<>();
		threads.values().forEach(t -> t.divisors.into(all));
		return new Counts(all, threads.values().stream().mapToInt(t -> t.divisors.all).sum());
	}

	/** Entries within a distance of the begin of the page, or of its end if these are more. */
	int near(long bytes, int pageBytes) {
		int[] sums = new int[PARTS];
		threads.values().stream().filter(t -> t.parts != null).forEach(t -> Arrays.setAll(sums, i -> sums[i] + t.parts[i]));
		int parts = (int) Math.min(PARTS, Math.ceilDiv(bytes * PARTS, pageBytes));
		return Math.max(Arrays.stream(sums, 0, parts).sum(), Arrays.stream(sums, PARTS - parts, PARTS).sum());
	}

	/**
	 * Distances between an entry and each of the ones before it, with a count that may be too small; without entries in the first or last line
	 * of a page. {@code all} is the number of these entries.
	 */
	Counts distances() {
		TreeMap<Long, Integer> all = new TreeMap<>();
		threads.values().forEach(t -> t.distances.into(all));
		return new Counts(all, threads.values().stream().mapToInt(t -> t.parts == null ? 0 : t.entries - t.parts[0] - t.parts[PARTS - 1]).sum());
	}

	/** Steps from page to page: of each thread, or of all together where they use the same pages. */
	Counts steps() {
		TreeMap<Long, Integer> all = new TreeMap<>();
		if (sharedPages >= TOGETHER * pages) {
			steps.into(all);
			return new Counts(all, steps.all);
		}
		threads.values().forEach(t -> t.steps.into(all));
		return new Counts(all, threads.values().stream().mapToInt(t -> t.steps.all).sum());
	}
}
