// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.time;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.IntToLongFunction;

import org.memtrace.aggregation.base.SavedNumbers;

/**
 * How much of a trace happened when, on atoms of time that are not divided further while there are enough of them: the monitoring
 * intervals, or a fine grid where each access has a time of its own. From it come slices that are short where much happens. Immutable.
 */
public final class TimeDensity {
	/** Atoms where accesses have times of their own. */
	public static final int GRID = 1 << 16;
	/** Share of the length of a slice in its weight; of the rest, half is by accesses and half by first touches. */
	private static final double OF_TIME = 0.5;

	/** Bounds of the atoms, ascending. */
	private final long[] bound;
	/** Sums before each atom: of accesses or events, and of pages touched first. */
	private final double[] amount;
	private final double[] firstTouches;

	private TimeDensity(long[] bound, double[] amount, double[] firstTouches) {
		this.bound = bound;
		this.amount = amount;
		this.firstTouches = firstTouches;
	}

	/** The times of a trace by number, for sums that are made before the atoms are; or the cells of a grid where they are too many. */
	public static final class Times {
		/** Null: a grid. */
		private final AccessTimes times;
		private final long fromNs;
		private final long toNs;
		private final int count;

		private Times(AccessTimes times, long fromNs, long toNs, int count) {
			this.times = times;
			this.fromNs = fromNs;
			this.toNs = toNs;
			this.count = count;
		}

		/**
		 * Numbers times.
		 *
		 * @param times all of them, null when they are more than {@link #GRID}
		 * @param fromNs start of the trace
		 * @param toNs its end
		 */
		public static Times of(AccessTimes times, long fromNs, long toNs) {
			long end = Math.max(fromNs + 1, toNs);
			return new Times(times, fromNs, end, times != null ? times.count() : (int) Math.min(GRID, end - fromNs));
		}

		public int count() {
			return count;
		}

		/** Number of a time; of a grid the cell of its middle. */
		public int number(long startNs, long endNs) {
			if (times != null) {
				return times.indexOf(startNs, endNs);
			}
			double share = (startNs + (endNs - startNs) / 2 - (double) fromNs) / (toNs - fromNs);
			return (int) Math.max(0, Math.min(count - 1, Math.floor(share * count)));
		}

		/** Start of cell {@code i} of a grid. */
		private long cell(int i) {
			long length = toNs - fromNs;
			return fromNs + length / count * i + length % count * i / count;
		}

		/**
		 * The density of sums by number.
		 *
		 * @param amount accesses or events
		 * @param touches pages touched first
		 */
		public TimeDensity density(IntToLongFunction amount, IntToLongFunction touches) {
			long[] all = new long[(times != null ? 2 : 1) * count + 2];
			int n = 0;
			all[n++] = fromNs;
			all[n++] = toNs;
			for (int i = 0; i < count; i++) {
				if (times != null) {
					all[n++] = times.startNs(i);
					all[n++] = times.endNs(i);
				} else {
					all[n++] = cell(i);
				}
			}
			Arrays.sort(all);
			int kept = 1;
			for (int i = 1; i < n; i++) {
				if (all[i] != all[kept - 1]) {
					all[kept++] = all[i];
				}
			}
			Sums sums = new Sums(Arrays.copyOf(all, kept));
			for (int i = 0; i < count; i++) {
				long start = times != null ? times.startNs(i) : cell(i);
				long end = times != null ? times.endNs(i) : cell(i + 1);
				sums.add(0, amount.applyAsLong(i), start, end);
				sums.add(1, touches.applyAsLong(i), start, end);
			}
			return sums.density();
		}
	}

	/** Spreads what happened in times over the atoms. */
	private static final class Sums {
		private final long[] bound;
		/** Amount and first touches per ns: how much more than in the atom before. */
		private final double[][] rate = new double[2][];

		Sums(long[] bound) {
			this.bound = bound;
			for (int kind = 0; kind < 2; kind++) {
				rate[kind] = new double[bound.length];
			}
		}

		/** Bounds of times are bounds of atoms. */
		void add(int kind, double value, long start, long end) {
			if (value != 0 && end > start) {
				double perNs = value / (end - start);
				rate[kind][Arrays.binarySearch(bound, start)] += perNs;
				rate[kind][Arrays.binarySearch(bound, end)] -= perNs;
			}
		}

		TimeDensity density() {
			double[][] before = new double[2][bound.length];
			for (int kind = 0; kind < 2; kind++) {
				double perNs = 0;
				double most = 0;
				for (int i = 0; i < bound.length - 1; i++) {
					perNs += rate[kind][i];
					most = Math.max(most, perNs);
					// what is left of differences after the last of many times is not a rate
					before[kind][i + 1] = before[kind][i] + (perNs > 1e-12 * most ? perNs * (bound[i + 1] - bound[i]) : 0);
				}
			}
			return new TimeDensity(bound, before[0], before[1]);
		}
	}

	public void write(SavedNumbers.Out out) {
		out.deltas(bound, bound.length).doubles(amount, amount.length).doubles(firstTouches, firstTouches.length);
	}

	public static TimeDensity read(SavedNumbers.In in) throws SavedNumbers.Damaged {
		TimeDensity density = new TimeDensity(in.deltaLongs(), in.doubles(), in.doubles());
		if (density.bound.length < 2 || density.amount.length != density.bound.length || density.firstTouches.length != density.bound.length) {
			throw new SavedNumbers.Damaged("columns are of different lengths");
		}
		return density;
	}

	/** Number of atoms. */
	public int atoms() {
		return bound.length - 1;
	}

	/** Sum before an instant; within an atom in proportion. */
	private double before(double[] sums, long timeNs) {
		int n = bound.length - 1;
		if (timeNs <= bound[0]) {
			return 0;
		}
		if (timeNs >= bound[n]) {
			return sums[n];
		}
		int at = Arrays.binarySearch(bound, timeNs);
		if (at >= 0) {
			return sums[at];
		}
		int atom = -at - 2;
		return sums[atom] + (sums[atom + 1] - sums[atom]) * ((double) (timeNs - bound[atom]) / (bound[atom + 1] - bound[atom]));
	}

	/**
	 * Cuts a window into slices of nearly equal weight, where the weight of an interval is half its share of the time, a quarter its share of
	 * the accesses and a quarter its share of the first touches of the window. So no slice is longer than twice that of uniform slices
	 * by much, and a phase with a fifth of the first touches has at least a twentieth of the slices, however short it is. Slices
	 * end where atoms end; only when there are fewer atoms than slices are atoms divided, the longest first, into equal parts.
	 *
	 * @param fromNs start of the window
	 * @param toNs end of the window
	 * @param count number of slices
	 * @return so many slices; uniform ones when the window has not that many nanoseconds
	 */
	public TimeSlices slices(long fromNs, long toNs, int count) {
		if (toNs - fromNs < 2L * count) {
			return new TimeSlices(fromNs, toNs, count);
		}
		long[] cut = atoms(fromNs, toNs);
		if (cut.length - 1 <= count) {
			return TimeSlices.of(divided(cut, count));
		}
		double[] weight = weights(cut);
		long[] result = new long[count + 1];
		result[0] = fromNs;
		result[count] = toNs;
		int atom = 0;
		int n = cut.length - 1;
		double left = weight[n];
		for (int s = 0; s < count - 1; s++) {
			double wanted = left / (count - s);
			double begin = weight[atom];
			int most = n - (count - s - 1); // one atom for each that follows
			int end = atom + 1;
			while (end < most && weight[end] - begin < wanted
					&& weight[end + 1] - begin - wanted <= wanted - (weight[end] - begin)) {
				end++;
			}
			left -= weight[end] - begin;
			atom = end;
			result[s + 1] = cut[atom];
		}
		return TimeSlices.of(result);
	}

	/** Bounds of the atoms in a window, with those of the window. */
	private long[] atoms(long fromNs, long toNs) {
		int first = Arrays.binarySearch(bound, fromNs);
		first = first >= 0 ? first + 1 : -first - 1;
		int end = Arrays.binarySearch(bound, toNs);
		end = end >= 0 ? end : -end - 1;
		int inside = Math.max(0, end - first);
		long[] cut = new long[inside + 2];
		cut[0] = fromNs;
		System.arraycopy(bound, first, cut, 1, inside);
		cut[inside + 1] = toNs;
		return cut;
	}

	/** Sums of weights before each bound; all of it is 1, or 0 where no time passes. */
	private double[] weights(long[] cut) {
		int n = cut.length - 1;
		double accesses = before(amount, cut[n]) - before(amount, cut[0]);
		double touches = before(firstTouches, cut[n]) - before(firstTouches, cut[0]);
		double[] weight = new double[n + 1];
		double rest = (1 - OF_TIME) / ((accesses > 0 ? 1 : 0) + (touches > 0 ? 1 : 0));
		double from = before(amount, cut[0]);
		double touched = before(firstTouches, cut[0]);
		for (int i = 0; i <= n; i++) {
			weight[i] = OF_TIME * (cut[i] - cut[0]) / (cut[n] - cut[0])
					+ (accesses > 0 ? rest * (before(amount, cut[i]) - from) / accesses : 0)
					+ (touches > 0 ? rest * (before(firstTouches, cut[i]) - touched) / touches : 0);
		}
		return weight;
	}

	/** Divides atoms until there are enough parts, always that with the longest ones. */
	private static long[] divided(long[] cut, int count) {
		int n = cut.length - 1;
		int[] parts = new int[n];
		Arrays.fill(parts, 1);
		PriorityQueue<Integer> longest = new PriorityQueue<>(Comparator.comparingDouble((Integer i) -> -(double) (cut[i + 1] - cut[i]) / parts[i])
				.thenComparing(i -> i));
		for (int i = 0; i < n; i++) {
			longest.add(i);
		}
		for (int more = count - n; more > 0; more--) {
			int i = longest.poll();
			parts[i]++;
			longest.add(i);
		}
		long[] result = new long[count + 1];
		int at = 0;
		for (int i = 0; i < n; i++) {
			long length = cut[i + 1] - cut[i];
			for (int k = 0; k < parts[i]; k++) {
				result[at++] = cut[i] + length / parts[i] * k + length % parts[i] * k / parts[i];
			}
		}
		result[at] = cut[n];
		return result;
	}
}
