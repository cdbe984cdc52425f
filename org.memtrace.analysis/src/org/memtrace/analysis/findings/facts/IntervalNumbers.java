// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

	/** For each image, the starts of its intervals, ascending; the number of the first one. */
	private final Map<Integer, long[]> starts = new HashMap<>();
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
			long[] s = list.stream().mapToLong(Interval::startNs).sorted().distinct().toArray();
			n.starts.put(image, s);
			n.first.put(image, n.count);
			n.count += s.length;
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
		n.starts.put(-1, s);
		n.first.put(-1, 0);
		n.count = WINDOWS;
		n.lengthNs = Math.max(1, store.info().durationNs() / WINDOWS);
		return n;
	}

	/**
	 * Number of the interval that a time is in, or of the first one of its image.
	 *
	 * @param image one without intervals has those of another one
	 */
	public int of(int image, long ns) {
		long[] s = starts.get(image);
		int key = image;
		if (s == null) {
			key = starts.keySet().iterator().next();
			s = starts.get(key);
		}
		int i = Arrays.binarySearch(s, ns);
		return first.get(key) + Math.max(0, i >= 0 ? i : -i - 2);
	}

	/** Begin of each interval by its number. */
	long[] starts() {
		long[] all = new long[count];
		starts.forEach((image, s) -> System.arraycopy(s, 0, all, first.get(image), s.length));
		return all;
	}

	/** Median length. */
	long lengthNs() {
		return lengthNs;
	}
}
