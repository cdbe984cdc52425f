// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * The records of a trace by row of a Gantt chart, with a memory of what was asked: the cells of a row do not depend on window
 * and size, so that scrolling and zooming back cost little. Rows of very many records are kept in bins; when a pixel is
 * shorter than a bin, the records in the window are read again. For all threads.
 */
public final class GanttModel {
	/** Cells that are remembered, 38 bytes each. */
	static final int MAX_CELLS = 2_000_000;
	/** Arrows that are drawn at most: more than that is a black surface. */
	static final int MAX_ARROWS = 500;
	/** Pages and records of each that tell what much is. */
	private static final int SAMPLED = 4_000;

	private record Key(Grouping grouping, int group, int producer, long fromNs, long toNs) {
	}

	private final GanttSource source;
	private final Map<Key, GanttSeries> known = new LinkedHashMap<>(64, 0.75f, true);
	private long cells;
	private int[] linkOwners;
	private long longestLink;
	private volatile double reference = -1;
	private volatile int[] leavesBefore;

	public GanttModel(GanttSource source) {
		this.source = source;
	}

	public GanttSource source() {
		return source;
	}

	/** What a row has over the whole trace. */
	GanttSeries whole(Grouping grouping, int group, int producer, Progress progress) throws MemtraceException {
		return get(new Key(grouping, group, producer, Long.MIN_VALUE, Long.MAX_VALUE), progress);
	}

	/**
	 * What a row has in a window, as exactly as pixels of some nanoseconds show it.
	 *
	 * @param columns pixels of the window
	 */
	GanttSeries series(Grouping grouping, int group, int producer, long fromNs, long toNs, int columns, Progress progress)
			throws MemtraceException {
		GanttSeries whole = whole(grouping, group, producer, progress);
		if (whole.isExact() || whole.binNs <= (toNs - fromNs) / Math.max(1, columns)) {
			return whole;
		}
		return get(new Key(grouping, group, producer, fromNs, toNs), progress);
	}

	private GanttSeries get(Key key, Progress progress) throws MemtraceException {
		synchronized (known) {
			GanttSeries s = known.get(key);
			if (s != null) {
				return s;
			}
		}
		GanttSeries made = key.fromNs() == Long.MIN_VALUE
				? source.series(key.producer(), key.grouping(), key.group(), progress)
				: inWindow(key, progress);
		synchronized (known) {
			if (known.put(key, made) == null) {
				cells += made.size() + 16;
			}
			Iterator<Map.Entry<Key, GanttSeries>> oldest = known.entrySet().iterator();
			while (cells > MAX_CELLS && known.size() > 1) {
				cells -= oldest.next().getValue().size() + 16;
				oldest.remove();
			}
		}
		return made;
	}

	private GanttSeries inWindow(Key key, Progress progress) throws MemtraceException {
		double share = Math.min(1, (double) (key.toNs() - key.fromNs()) / source.info().durationNs());
		// when there are surely too many, they are not read twice
		GanttSeries exact = share * source.records(key.producer()) > 4 * GanttSeries.MAX_EXACT ? null
				: GanttSeries.exact(4096, sink -> source.visit(key.producer(), key.grouping(), key.group(), key.fromNs(), key.toNs(), sink, progress));
		return exact != null ? exact
				: source.binned(key.producer(), key.grouping(), key.group(), key.fromNs(), key.toNs(),
						GanttSeries.bins(source.slots()), progress);
	}

	/** A record of a row, or several that are at the same time. */
	public record Piece(long fromNs, long toNs) {
	}

	/**
	 * The next record of a row: the first that begins after an instant, or the last that begins before.
	 *
	 * @return null when there is none
	 */
	public Piece next(Grouping grouping, int group, int producer, long startNs, boolean forward, Progress progress)
			throws MemtraceException {
		GanttSeries s = whole(grouping, group, producer, progress);
		if (!s.isExact()) {
			return nextRecord(grouping, group, producer, startNs, forward, progress);
		}
		int low = 0;
		int high = s.size();
		// first cell that begins after the instant, or not before it
		while (low < high) {
			int mid = (low + high) >>> 1;
			if (forward ? s.start[mid] > startNs : s.start[mid] >= startNs) {
				high = mid;
			} else {
				low = mid + 1;
			}
		}
		int at = forward ? low : low - 1;
		if (at < 0 || at >= s.size()) {
			return null;
		}
		long end = s.end[at];
		for (int i = at; i < s.size() && s.start[i] == s.start[at]; i++) {
			end = Math.max(end, s.end[i]);
		}
		for (int i = at; i >= 0 && s.start[i] == s.start[at]; i--) {
			end = Math.max(end, s.end[i]);
		}
		return new Piece(s.start[at], end);
	}

	/** The next record where there are so many that they are not kept. */
	private Piece nextRecord(Grouping grouping, int group, int producer, long startNs, boolean forward, Progress progress)
			throws MemtraceException {
		long[] best = {forward ? Long.MAX_VALUE : Long.MIN_VALUE, 0};
		source.visit(producer, grouping, group, forward ? startNs : Long.MIN_VALUE, forward ? Long.MAX_VALUE : startNs,
				(row, s, e, slot, amount) -> {
					if (forward ? s > startNs && s < best[0] : s < startNs && s > best[0]) {
						best[0] = s;
						best[1] = e;
					} else if (s == best[0]) {
						best[1] = Math.max(best[1], e);
					}
				}, progress);
		return best[0] == (forward ? Long.MAX_VALUE : Long.MIN_VALUE) ? null : new Piece(best[0], best[1]);
	}

	/** Exact sums by type of a row in a window; a record counts with its part inside. */
	public double[] sums(Grouping grouping, int group, int producer, long fromNs, long toNs, Progress progress)
			throws MemtraceException {
		double[] sums = new double[source.types().size()];
		source.visit(producer, grouping, group, fromNs, toNs, (row, s, e, slot, amount) -> {
			double part = e == s ? 1 : (double) (Math.min(e, toNs) - Math.max(s, fromNs)) / (e - s);
			sums[source.slotType(slot)] += part * amount;
		}, progress);
		return sums;
	}

	/** Producers at which the links begin, in the order of {@link GanttSource#linkRows}. */
	synchronized int[] linkOwners() {
		if (linkOwners == null) {
			int[] links = source.linkRows();
			int[] owners = new int[links.length];
			long longest = 0;
			for (int i = 0; i < links.length; i++) {
				owners[i] = source.producerOf(links[i]);
				longest = Math.max(longest, source.end(links[i]) - source.start(links[i]));
			}
			longestLink = longest;
			linkOwners = owners;
		}
		return linkOwners;
	}

	/** Duration of the longest link; after {@link #linkOwners}. */
	long longestLink() {
		return longestLink;
	}

	/** Number of producers with records of their own at or below a producer. */
	int leaves(int producer) {
		int[] before = leavesBefore;
		if (before == null) {
			int n = source.producers().size();
			before = new int[n + 1];
			for (int p = 0; p < n; p++) {
				before[p + 1] = before[p] + (source.hasOwn(p) ? 1 : 0);
			}
			leavesBefore = before;
		}
		return producer < 0 ? before[before.length - 1]
				: before[source.producers().subtreeEnd(producer)] - before[producer];
	}

	/** What much is on a page: the 95th percentile of the amount per nanosecond of its records, from a sample. */
	double reference() {
		double known = reference;
		if (known < 0) {
			int n = Math.min(SAMPLED, source.size());
			double[] density = new double[n];
			for (int i = 0; i < n; i++) {
				int row = (int) ((long) source.size() * i / n);
				int at = i;
				source.event(row, Grouping.PRODUCER, GanttSource.ALL,
						(r, s, e, slot, amount) -> density[at] += Math.abs(amount) / Math.max(1, e - s));
			}
			Arrays.sort(density);
			known = n == 0 ? 0 : density[Math.min(n - 1, (int) (n * 0.95))];
			reference = known;
		}
		return known;
	}
}
