// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.source;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import org.memtrace.aggregation.AccessScan;
import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.text.SharedText;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.columns.AccessChunk;
import org.memtrace.model.columns.AccessColumn;
import org.memtrace.model.store.AccessBatch;

/**
 * What the lines of a program did in a part of a trace. A record keeps the code of one of its accesses, and counts with
 * all of them for that line.
 *
 * @param files lines from 1 by file as it was recorded
 */
public record LineUse(Map<String, SortedMap<Integer, Line>> files) {
	/**
	 * Amounts of a line. Records that reach beyond the window count with the share of their time in it.
	 *
	 * @param reads number of reads, as the trace counts
	 * @param writes number of writes
	 * @param shared those of reads and writes that met another thread on the page in the same interval, NaN: not known
	 * @param notKnown those of which it is not known whether they did
	 * @param threads number of threads
	 */
	public record Line(double reads, double writes, double shared, double notKnown, int threads) {
		public double accesses() {
			return reads + writes;
		}

		/** In per cent; 0 without accesses, NaN: not known. At least: {@link #notKnownPercent} may be more. */
		public double sharedPercent() {
			return accesses() > 0 ? 100 * shared / accesses() : 0;
		}

		/** Accesses of which it is not known whether they met another thread, in per cent. */
		public double notKnownPercent() {
			return accesses() > 0 ? 100 * notKnown / accesses() : 0;
		}

		/** The share for a person; empty where nothing is known of lines. */
		public String sharedText() {
			return Double.isNaN(shared) ? "" : SharedText.of(sharedPercent(), notKnownPercent());
		}
	}

	/**
	 * One pass over the accesses.
	 *
	 * @param producer root of the subtree, negative for all
	 */
	public static LineUse of(AccessTable table, CodePlaces code, long fromNs, long toNs, int producer,
			Progress progress) throws MemtraceException {
		if (code.isEmpty()) {
			return new LineUse(Map.of());
		}
		int[] images = table.threads().stream().mapToInt(t -> t.image()).toArray();
		Counts all = new Counts(code, images, fromNs, toNs);
		for (Counts part : table.scan().run(table.query(producer, fromNs, toNs), EnumSet.of(AccessColumn.TIME, AccessColumn.THREAD,
				AccessColumn.READS,
				AccessColumn.WRITES, AccessColumn.SHARING, AccessColumn.IP), "Lines of the source", progress,
				(first, end) -> new Counts(code, images, fromNs, toNs))) {
			all.add(part);
		}
		Map<String, Map<Integer, List<Integer>>> frames = new HashMap<>();
		for (int i = 0; i < code.frames().size(); i++) {
			CallFrame f = code.frames().get(i);
			if (!f.file().isEmpty() && f.line() > 0 && all.reads[i] + all.writes[i] > 0) {
				frames.computeIfAbsent(f.file(), n -> new TreeMap<>()).computeIfAbsent(f.line(), n -> new ArrayList<>()).add(i);
			}
		}
		Map<String, SortedMap<Integer, Line>> files = new TreeMap<>();
		frames.forEach((file, lines) -> {
			SortedMap<Integer, Line> use = new TreeMap<>();
			lines.forEach((line, at) -> use.put(line, all.line(at)));
			files.put(file, use);
		});
		return new LineUse(files);
	}

	/** Of a trace that counted its instructions: numbers of the whole run, without those that are shared. */
	public static LineUse of(List<Instructions.Row> rows) {
		Map<String, SortedMap<Integer, Line>> files = new TreeMap<>();
		for (Instructions.Row r : Instructions.byLine(rows)) {
			if (r.place() != null && !r.place().file().isEmpty() && r.place().line() > 0) {
				double n = r.use().accesses();
				files.computeIfAbsent(r.place().file(), f -> new TreeMap<>()).merge(r.place().line(),
						new Line(r.use().write() ? 0 : n, r.use().write() ? n : 0, Double.NaN, 0, r.threads()),
						(a, b) -> new Line(a.reads + b.reads, a.writes + b.writes, Double.NaN, 0, Math.max(a.threads, b.threads)));
			}
		}
		return new LineUse(files);
	}

	/** The lines of a file; empty when nothing was recorded of it. */
	public SortedMap<Integer, Line> of(SourcePlace place) {
		SortedMap<Integer, Line> exact = files.get(place.file());
		if (exact != null) {
			return exact;
		}
		List<String> same = files.keySet().stream().filter(place::isIn).toList();
		return same.size() == 1 ? files.get(same.get(0)) : new TreeMap<>();
	}

	/** By index of the frame. */
	private static final class Counts implements AccessScan.Part {
		private final CodePlaces code;
		private final int[] images;
		private final long fromNs;
		private final long toNs;
		private final double[] reads;
		private final double[] writes;
		private final double[] shared;
		private final double[] notKnown;
		private final BitSet[] threads;
		private double[] share = new double[0];

		Counts(CodePlaces code, int[] images, long fromNs, long toNs) {
			this.code = code;
			this.images = images;
			this.fromNs = fromNs;
			this.toNs = toNs;
			int n = code.frames().size();
			reads = new double[n];
			writes = new double[n];
			shared = new double[n];
			notKnown = new double[n];
			threads = new BitSet[n];
		}

		@Override
		public void chunk(AccessChunk c, int leafFrom, int leafTo) {
			share = AccessScan.shares(c, fromNs, toNs, share);
			long lastIp = 0;
			int lastThread = -2;
			int frame = -1;
			int end = c.leafFrom[leafTo];
			for (int row = c.leafFrom[leafFrom]; row < end; row++) {
				double w = share[c.time[row]];
				int thread = c.thread[row];
				if (c.ip[row] != lastIp || thread != lastThread) {
					lastIp = c.ip[row];
					lastThread = thread;
					frame = lastIp == 0 ? -1 : code.of(thread < 0 || thread >= images.length ? -1 : images[thread], lastIp);
				}
				if (w == 0 || frame < 0) {
					continue;
				}
				reads[frame] += w * c.reads[row];
				writes[frame] += w * c.writes[row];
				if (c.sharing[row] == AccessBatch.SHARING_NOT_KNOWN) {
					notKnown[frame] += w * (c.reads[row] + c.writes[row]);
				} else if (c.sharing[row] > 1) {
					shared[frame] += w * (c.reads[row] + c.writes[row]);
				}
				if (thread >= 0) {
					if (threads[frame] == null) {
						threads[frame] = new BitSet();
					}
					threads[frame].set(thread);
				}
			}
		}

		void add(Counts o) {
			for (int i = 0; i < reads.length; i++) {
				reads[i] += o.reads[i];
				writes[i] += o.writes[i];
				shared[i] += o.shared[i];
				notKnown[i] += o.notKnown[i];
				if (o.threads[i] != null) {
					if (threads[i] == null) {
						threads[i] = new BitSet();
					}
					threads[i].or(o.threads[i]);
				}
			}
		}

		Line line(List<Integer> frames) {
			double r = 0;
			double w = 0;
			double s = 0;
			double unknown = 0;
			BitSet all = new BitSet();
			for (int i : frames) {
				r += reads[i];
				w += writes[i];
				s += shared[i];
				unknown += notKnown[i];
				if (threads[i] != null) {
					all.or(threads[i]);
				}
			}
			return new Line(r, w, s, unknown, all.cardinality());
		}
	}
}
