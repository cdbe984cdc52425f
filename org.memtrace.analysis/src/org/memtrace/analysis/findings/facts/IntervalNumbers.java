// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.memtrace.model.Interval;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.store.TraceStore;

/**
 * The monitoring intervals of a trace by number: those of a process image follow each other. A trace without them has 50 equal parts of its
 * time. Immutable.
 */
public final class IntervalNumbers {
	/** Parts of the time of a trace without monitoring intervals. */
	private static final int WINDOWS = 50;

	/** For each image, the starts of its intervals, ascending; their ends; the number of the first one. */
	private final Map<Integer, long[]> starts = new HashMap<>();
	private final Map<Integer, long[]> ends = new HashMap<>();
	private final Map<Integer, Integer> first = new HashMap<>();
	private int count;
	private long lengthNs;

	private IntervalNumbers() {
	}

	/** Those of a trace. */
	public static IntervalNumbers of(TraceStore store) throws MemtraceException {
		IntervalNumbers n = new IntervalNumbers();
		Map<Integer, List<Interval>> byImage = new LinkedHashMap<>();
		for (Interval i : store.intervals()) {
			byImage.computeIfAbsent(i.image(), k -> new ArrayList<>()).add(i);
		}
		List<Long> lengths = new ArrayList<>();
		byImage.forEach((image, list) -> {
			TreeMap<Long, Long> ends = new TreeMap<>();
			list.forEach(i -> ends.merge(i.startNs(), i.endNs(), Math::max));
			n.put(image, toLongs(ends.keySet()), toLongs(ends.values()));
			list.forEach(i -> lengths.add(i.endNs() - i.startNs()));
		});
		if (n.count > 0) {
			lengths.sort(null);
			n.lengthNs = Math.max(1, lengths.get(lengths.size() / 2));
			return n;
		}
		long[] s = new long[WINDOWS];
		for (int i = 0; i < WINDOWS; i++) {
			s[i] = store.info().startNs() + (long) ((double) store.info().durationNs() * i / WINDOWS);
		}
		long[] e = Arrays.copyOfRange(s, 1, WINDOWS + 1);
		e[WINDOWS - 1] = store.info().endNs();
		n.put(-1, s, e);
		n.lengthNs = Math.max(1, store.info().durationNs() / WINDOWS);
		return n;
	}

	private static long[] toLongs(Collection<Long> numbers) {
		return numbers.stream().mapToLong(Long::longValue).toArray();
	}

	private void put(int image, long[] start, long[] end) {
		starts.put(image, start);
		ends.put(image, end);
		first.put(image, count);
		count += start.length;
	}

	/** The image whose intervals an image has. */
	private int key(int image) {
		return starts.containsKey(image) ? image : starts.keySet().iterator().next();
	}

	/**
	 * Number of the interval that a time is in, or of the first one of its image.
	 *
	 * @param image one without intervals has those of another one
	 */
	public int of(int image, long ns) {
		int key = key(image);
		int i = Arrays.binarySearch(starts.get(key), ns);
		return first.get(key) + Math.max(0, i >= 0 ? i : -i - 2);
	}

	/** Number of intervals of all images. */
	public int count() {
		return count;
	}

	/** Number of intervals of an image: those in which its process was recorded. */
	public int count(int image) {
		return starts.get(key(image)).length;
	}

	/** The end of the last interval of an image, after which nothing was recorded of its process; {@link Long#MAX_VALUE} without intervals. */
	public long endNs(int image) {
		long[] its = ends.get(image);
		return its == null ? Long.MAX_VALUE : Arrays.stream(its).max().orElse(Long.MAX_VALUE);
	}

	/** Number of intervals of the image that has most. */
	public int most() {
		return starts.values().stream().mapToInt(s -> s.length).max().orElse(0);
	}

	/** Begin of each interval by its number. */
	long[] starts() {
		return byNumber(starts);
	}

	/** End of each interval by its number. */
	long[] ends() {
		return byNumber(ends);
	}

	private long[] byNumber(Map<Integer, long[]> times) {
		long[] all = new long[count];
		times.forEach((image, t) -> System.arraycopy(t, 0, all, first.get(image), t.length));
		return all;
	}

	/** Median length. */
	public long lengthNs() {
		return lengthNs;
	}
}
