// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.aggregation.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * The values of p at which the best partition changes, with their partitions. The list is that of the reference: found by
 * halving [0, 1] down to a threshold, so each p is the smallest multiple of a power of two at which its partition is best.
 * The exact places are in {@link #breakpoints}. Immutable after {@link #compute}.
 */
public final class SignificantLevels {
	/** Default threshold of the reference; its list has steps of 1/1024. */
	public static final double DEFAULT_THRESHOLD = 0.001;

	/**
	 * One entry.
	 *
	 * @param p smallest p of the grid with this partition, on the axis of the list
	 * @param partition what is best there
	 */
	public record Level(double p, Partition partition) {
	}

	private final Aggregator aggregator;
	private final boolean normalised;
	private final List<Level> levels;
	private final List<Level> exact;
	private final int programmes;

	private SignificantLevels(Aggregator aggregator, boolean normalised, List<Level> levels, List<Level> exact,
			int programmes) {
		this.aggregator = aggregator;
		this.normalised = normalised;
		this.levels = List.copyOf(levels);
		this.exact = List.copyOf(exact);
		this.programmes = programmes;
	}

	/**
	 * Finds the list.
	 *
	 * @param threshold smallest step of p, in (0, 1)
	 * @param normalised whether p weighs gain and loss after division by those of the single block (no effect when one is 0)
	 */
	public static SignificantLevels compute(Aggregator aggregator, double threshold, boolean normalised, Progress progress)
			throws CancelledException {
		if (!(threshold > 0 && threshold < 1)) {
			throw new IllegalArgumentException("threshold is " + threshold + ", not between 0 and 1");
		}
		aggregator.expectMany();
		Search search = new Search(aggregator, threshold, normalised, progress);
		search.run();
		return new SignificantLevels(aggregator, normalised, search.list, search.exact(), search.programmes);
	}

	/** {@link #compute} with the default threshold, not normalised. */
	public static SignificantLevels compute(Aggregator aggregator, Progress progress) throws CancelledException {
		return compute(aggregator, DEFAULT_THRESHOLD, false, progress);
	}

	/**
	 * What a first picture needs.
	 *
	 * @param levels some of the levels: those that the search met, each at the smallest p where it was met
	 * @param initial the level of {@link InitialLevel#BALANCED}
	 */
	public record First(SignificantLevels levels, Level initial) {
	}

	/** {@link #first}, the level only. */
	public static Level balanced(Aggregator aggregator, PartLosses parts, Progress progress) throws CancelledException {
		return first(aggregator, parts, progress).initial();
	}

	/** The balanced level of the whole picture: no part of memory is looked at for itself. */
	public static Level balanced(Aggregator aggregator, Progress progress) throws CancelledException {
		return balanced(aggregator, null, progress);
	}

	/** {@link #first(Aggregator, PartLosses, Progress)} where no part of memory is looked at for itself. */
	public static First first(Aggregator aggregator, Progress progress) throws CancelledException {
		return first(aggregator, null, progress);
	}

	/**
	 * The level of {@link InitialLevel#BALANCED} without the whole list: mostly 5 to 10 programmes. On the frontier of optimal
	 * (gain, loss) the slope at p is p / (1 - p), so the closest point to full reduction without loss is found by halving;
	 * where it loses too much, which is looked at first, the last one that does not is found without it.
	 *
	 * @param parts structures, of which those with more than {@link InitialLevel#LEAST_PART} of the rows may not lose more than
	 *            {@link InitialLevel#MOST_LOSS_OF_PART} each; null for none
	 * @return among others the smallest p of the grid of steps of 1/1024 that the search met with that partition
	 */
	public static First first(Aggregator aggregator, PartLosses parts, Progress progress) throws CancelledException {
		Balance search = new Balance(aggregator, parts, progress);
		Level initial = search.find();
		List<Level> list = new ArrayList<>();
		for (var e : search.met.entrySet()) {
			if (list.isEmpty() || !list.get(list.size() - 1).partition().sameBlocks(e.getValue())) {
				list.add(new Level(e.getKey() / (double) Balance.GRID, e.getValue()));
			}
		}
		return new First(new SignificantLevels(aggregator, false, list, list, search.met.size()), initial);
	}

	/**
	 * Finds the level of {@link InitialLevel#BALANCED} with few programmes. What is asked for are places on the grid where gain, loss
	 * or slope pass a value; all of them grow with p, so partitions that are known tell what those at other p cannot be.
	 */
	private static final class Balance {
		private static final int GRID = 1024;

		private final Aggregator aggregator;
		private final PartLosses parts;
		private final Progress progress;
		private final double g;
		private final double l;
		/** What the search met, by place on the grid. */
		final TreeMap<Integer, Partition> met = new TreeMap<>();

		Balance(Aggregator aggregator, PartLosses parts, Progress progress) {
			this.aggregator = aggregator;
			this.parts = parts;
			this.progress = progress;
			this.g = Math.max(aggregator.rootGain(), Double.MIN_NORMAL);
			this.l = Math.max(aggregator.rootLoss(), Double.MIN_NORMAL);
		}

		private Partition at(int place) throws CancelledException {
			Partition known = met.get(place);
			if (known == null) {
				progress.check();
				known = aggregator.partition(place / (double) GRID, progress);
				met.put(place, known);
			}
			return known;
		}

		private Level level(int place) throws CancelledException {
			return new Level(place / (double) GRID, at(place));
		}

		Level find() throws CancelledException {
			at(0);
			at(GRID);
			Level calm = withinLoss(InitialLevel.MOST_LOSS);
			return withinParts(calm.partition().blockCount() <= InitialLevel.MOST_BLOCKS ? calm : withinLoss(InitialLevel.MOST_LOSS_OF_MANY));
		}

		private boolean partsAreFine(int place) throws CancelledException {
			return parts.worst(at(place), at(0), InitialLevel.LEAST_PART) <= 100 * InitialLevel.MOST_LOSS_OF_PART;
		}

		/** The level itself or, when a part loses too much in it, a smaller p at which none does, next to one at which one does. */
		private Level withinParts(Level level) throws CancelledException {
			int high = (int) Math.round(level.p() * GRID);
			if (parts == null || high == 0 || partsAreFine(high)) {
				return level;
			}
			int low = 0;
			for (int bits = 0; high - low > 1; bits++) {
				// losses grow fast at small p: look there first
				int m = bits < 2 ? low + Math.max(1, (high - low) / 4) : (low + high) / 2;
				if (partsAreFine(m)) {
					low = m;
				} else {
					high = m;
				}
			}
			// the smallest place that was met with these blocks
			while (met.lowerKey(low) != null && met.lowerEntry(low).getValue().sameBlocks(at(low))) {
				low = met.lowerKey(low);
			}
			return level(low);
		}

		/** The closest level, or the last one before it that does not lose more than a share of what p decides on. */
		private Level withinLoss(double share) throws CancelledException {
			double allowed = allowedLoss(at(0), aggregator, share);
			if (at(GRID).loss() <= allowed) {
				return closest();
			}
			int last = lastWithin(allowed);
			if (last < 0) {
				return closest();
			}
			// the closest level comes later, and so loses too much
			if (last + 1 < GRID && slope(at(last + 1), last + 1) < 0) {
				return level(last);
			}
			Level closest = closest();
			return closest.partition().loss() <= allowed ? closest : level(last);
		}

		/** Last place where not more is lost, at {@link #GRID} it is; -1 when the closest level was seen to come before it. */
		private int lastWithin(double allowed) throws CancelledException {
			int low = 0;
			int high = GRID;
			for (var e : met.entrySet()) {
				if (e.getValue().loss() <= allowed) {
					low = e.getKey();
				} else {
					high = e.getKey();
					break;
				}
			}
			for (int step = 1; high - low > 1; step++) {
				if (low > 0 && slope(at(low), low) >= 0) {
					return -1;
				}
				// where both neighbours are equally good: the place itself when nothing is between them; halving when that does not help
				double dl = at(high).loss() - at(low).loss();
				double cross = dl / (at(high).gain() - at(low).gain() + dl);
				int m = step % 4 == 0 ? (low + high) / 2 : (int) Math.floor(cross * GRID);
				m = Math.max(low + 1, Math.min(high - 1, m));
				if (at(m).loss() <= allowed) {
					low = m;
				} else {
					high = m;
				}
			}
			return low;
		}

		/**
		 * Closest to full reduction without loss: where the slope of the distance changes its sign. Its value at two known places tells
		 * where to look and, as gain and loss grow with p, where it cannot be.
		 */
		private Level closest() throws CancelledException {
			for (int step = 1;; step++) {
				int low = 0;
				int high = GRID;
				for (var e : met.entrySet()) {
					int place = e.getKey();
					if (place == 0 || place < GRID && slope(e.getValue(), place) < 0) {
						low = place;
					} else {
						high = place;
						break;
					}
				}
				Partition below = at(low);
				Partition above = at(high);
				double from = flat(above) * GRID;
				double to = flat(below) * GRID;
				// the slope is known up to "first" and from "last" on
				int first = Math.max(low, (int) Math.ceil(from) - 1);
				int last = Math.min(high, Math.max(first + 1, (int) Math.ceil(to)));
				if (last - first == 1 || below.sameBlocks(above)) {
					return halved(below, first, last);
				}
				double fall = to - low + (high - from);
				int m = step % 4 == 0 ? (first + last) / 2 : (int) Math.round(low + (high - low) * (to - low) / fall);
				at(Math.max(first + 1, Math.min(last - 1, m)));
			}
		}

		/** The p at which the slope of one partition would be 0. */
		private double flat(Partition e) {
			double rise = Math.max(0, (1 - e.gain() / g) / g);
			double r = e.loss() / l / l;
			return rise == 0 ? 0 : rise / (rise + r);
		}

		/**
		 * The level that halving the grid finds, which stops where both ends have the same partition.
		 *
		 * @param same what is best between them, if they are not neighbours
		 * @param first the slope is negative up to there
		 * @param last the slope is not negative from there on
		 */
		private Level halved(Partition same, int first, int last) throws CancelledException {
			int low = 0;
			int high = GRID;
			while (high - low > 1 && differ(low, high)) {
				int m = (low + high) / 2;
				if (m > first && (m >= last || slope(same, m) >= 0)) {
					high = m;
				} else {
					low = m;
				}
			}
			return distance(at(low), g, l) <= distance(at(high), g, l) ? level(low) : level(high);
		}

		/** Whether the best partitions of two places differ: they do when any two in between do, or one is better than they at an end. */
		private boolean differ(int low, int high) throws CancelledException {
			Partition first = null;
			for (Partition e : met.subMap(low, true, high, true).values()) {
				if (first != null && !first.sameBlocks(e)) {
					return true;
				}
				first = e;
			}
			if (first != null) {
				var before = met.lowerEntry(low);
				var after = met.higherEntry(high);
				if (before != null && isBetter(before.getValue(), first, low) || after != null && isBetter(after.getValue(), first, high)) {
					return true;
				}
			}
			return !at(low).sameBlocks(at(high));
		}

		/** Whether a partition is better than another at a place, by more than what is taken for equal. */
		private boolean isBetter(Partition e, Partition other, int place) {
			double p = place / (double) GRID;
			return p * (e.gain() - other.gain()) - (1 - p) * (e.loss() - other.loss()) > 1e-9 * (g + l);
		}

		private double slope(Partition e, int place) {
			double p = place / (double) GRID;
			return -(1 - e.gain() / g) / g + e.loss() / l / l * (p / (1 - p));
		}
	}

	/** The reverse of {@link #plainP}: where a plain p is on the axis of normalised qualities. */
	public static double normalisedP(Aggregator aggregator, double p) {
		double g = aggregator.rootGain();
		double l = aggregator.rootLoss();
		if (!(g > 0) || !(l > 0)) {
			return p;
		}
		return p * g / (p * g + (1 - p) * l);
	}

	/** What a first level may lose: a share of what the choice of p decides on. */
	private static double allowedLoss(Partition finest, Aggregator aggregator, double share) {
		return finest.loss() + share * Math.max(0, aggregator.rootLoss() - finest.loss());
	}

	private static double distance(Partition e, double g, double l) {
		return Math.pow(1 - e.gain() / g, 2) + Math.pow(e.loss() / l, 2);
	}

	/** p for which the plain criterion chooses as the normalised one does at {@code axisP}: docs/how/aggregation.md, "Values of p". */
	public static double plainP(Aggregator aggregator, double axisP, boolean normalised) {
		double g = aggregator.rootGain();
		double l = aggregator.rootLoss();
		if (!normalised || !(g > 0) || !(l > 0)) {
			return axisP;
		}
		double a = axisP / g;
		return a / (a + (1 - axisP) / l);
	}

	/** One search; samples are best partitions at known p, equal ones share one object. */
	private static final class Search {
		/** Of progress: the square root of p, as the axes of pictures have it. */
		private static final int UNITS = 1000;

		private final Aggregator aggregator;
		private final double threshold;
		/** Distance of the values of the grid. */
		private final double step;
		private final boolean normalised;
		private final double gainScale;
		private final double lossScale;
		private final double tolerance;
		private final Progress progress;
		private final Progress quiet;
		/** Of {@link #UNITS}: where the search is, which goes from p = 0 to 1. */
		private long done;
		private final TreeMap<Double, Partition> samples = new TreeMap<>();
		/** Places (of the lower sample) where the line test showed that there is one breakpoint up to the next sample. */
		private final TreeMap<Double, Double> adjacent = new TreeMap<>();
		final List<Level> list = new ArrayList<>();
		int programmes;

		Search(Aggregator aggregator, double threshold, boolean normalised, Progress progress) {
			this.aggregator = aggregator;
			this.threshold = threshold;
			this.step = Math.scalb(1.0, Math.getExponent(threshold));
			this.normalised = normalised && aggregator.rootGain() > 0 && aggregator.rootLoss() > 0;
			this.gainScale = this.normalised ? 1 / aggregator.rootGain() : 1;
			this.lossScale = this.normalised ? 1 / aggregator.rootLoss() : 1;
			double g = aggregator.rootGain() * gainScale;
			double l = aggregator.rootLoss() * lossScale;
			this.tolerance = 1e-11 * (g + l);
			this.progress = progress;
			this.quiet = Progress.cancelledWhen(progress::isCancelled);
		}

		void run() throws CancelledException {
			progress.begin("Finding significant p", UNITS);
			Partition zero = evaluate(0);
			Partition one = evaluate(1);
			add(0, zero);
			bisect(0, 1, zero, one);
			add(1, one);
			reached(1);
		}

		/** All levels up to p are known. */
		private void reached(double p) {
			long now = (long) (UNITS * Math.sqrt(p));
			progress.worked(now - done);
			done = now;
		}

		private void bisect(double a, double b, Partition atA, Partition atB) throws CancelledException {
			if (same(atA, atB) || b - a <= threshold) {
				reached(b);
				return;
			}
			double m = a + (b - a) / 2;
			Partition atM = at(m);
			bisect(a, m, atA, atM);
			add(m, atM);
			bisect(m, b, atM, atB);
		}

		/** Appends unless it equals the last entry. */
		private void add(double p, Partition partition) {
			if (list.isEmpty() || !same(list.get(list.size() - 1).partition(), partition)) {
				list.add(new Level(p, partition.at(p)));
			}
		}

		private boolean same(Partition a, Partition b) {
			return a == b || Math.abs(gain(a) - gain(b)) <= tolerance && Math.abs(loss(a) - loss(b)) <= tolerance;
		}

		private double gain(Partition e) {
			return e.gain() * gainScale;
		}

		private double loss(Partition e) {
			return e.loss() * lossScale;
		}

		private double value(Partition e, double p) {
			return p * gain(e) - (1 - p) * loss(e);
		}

		private Partition evaluate(double p) throws CancelledException {
			progress.check();
			Partition found = aggregator.partition(plainP(aggregator, p, normalised), quiet);
			programmes++;
			progress.worked(0); // lets others go first
			for (Partition known : samples.values()) {
				if (known.sameBlocks(found)) {
					found = known;
					break;
				}
			}
			samples.put(p, found);
			return found;
		}

		/** Best partition at m, without a programme when the neighbours tell it. */
		private Partition at(double m) throws CancelledException {
			while (true) {
				Partition known = samples.get(m);
				if (known != null) {
					return known;
				}
				double low = samples.lowerKey(m);
				double high = samples.higherKey(m);
				Partition below = samples.get(low);
				Partition above = samples.get(high);
				if (same(below, above)) {
					return below;
				}
				double cross = cross(below, above);
				boolean single = adjacent.containsKey(low);
				if (single && Math.abs(value(below, m) - value(above, m)) > 10 * tolerance) {
					return m < cross ? below : above;
				}
				if (single || high - low <= 2 * step || !(cross > low && cross < high)) {
					return evaluate(m);
				}
				// where they meet beside a known value of the grid: the next one tells all that the list asks for
				double cell = Math.floor(cross / step) * step;
				if (low >= cell && cell + step < high) {
					evaluate(cell + step);
					continue;
				} else if (high <= cell + step && cell > low) {
					evaluate(cell);
					continue;
				}
				// the line test: one breakpoint in between if nothing is better where the two lines meet
				Partition there = evaluate(cross);
				if (value(there, cross) - value(below, cross) <= 10 * tolerance) {
					if (samples.get(cross) != below && samples.get(cross) != above) {
						// a tie of three: the optimum at one point only
						samples.put(cross, above);
					}
					adjacent.put(low, cross);
					adjacent.put(cross, cross);
				}
			}
		}

		private double cross(Partition below, Partition above) {
			double dl = loss(above) - loss(below);
			double dg = gain(above) - gain(below);
			return dl / (dg + dl);
		}

		/** Samples where the optimum is known, with the exact place where each becomes best. */
		List<Level> exact() throws CancelledException {
			List<Level> result = new ArrayList<>();
			Partition last = null;
			for (var e : samples.entrySet()) {
				Partition partition = e.getValue();
				if (last == null) {
					result.add(new Level(0, partition));
				} else if (!same(last, partition)) {
					double p = Math.min(1, Math.max(0, cross(last, partition)));
					result.add(new Level(p, partition.at(p)));
				} else {
					continue;
				}
				last = partition;
			}
			return result;
		}
	}

	public Aggregator aggregator() {
		return aggregator;
	}

	/** Whether the axis of p is that of normalised qualities. */
	public boolean normalised() {
		return normalised;
	}

	/** The list by increasing p; the first is p = 0. */
	public List<Level> levels() {
		return levels;
	}

	/**
	 * The levels with the exact p at which each becomes best: where the lines of two neighbours cross. Holds what the search
	 * met; levels that are best only between two grid values may be missing.
	 */
	public List<Level> breakpoints() {
		return exact;
	}

	/** Number of programmes that were run. */
	public int programmes() {
		return programmes;
	}

	/** Index of the level in force at p: the last with {@code level.p <= p}. */
	public int indexAt(double p) {
		int index = 0;
		while (index + 1 < levels.size() && levels.get(index + 1).p() <= p) {
			index++;
		}
		return index;
	}

	/** Level in force at p. */
	public Level at(double p) {
		return levels.get(indexAt(p));
	}

	/** Index of the level that a picture begins with. */
	public int initial(InitialLevel strategy) {
		int last = levels.size() - 1;
		int best = 0;
		double most = -1;
		double g = Math.max(aggregator.rootGain(), Double.MIN_NORMAL);
		double l = Math.max(aggregator.rootLoss(), Double.MIN_NORMAL);
		switch (strategy) {
		case ONE:
			return last;
		case ZERO:
			return 0;
		case BALANCED:
			best = closest(InitialLevel.MOST_LOSS, g, l);
			return levels.get(best).partition().blockCount() <= InitialLevel.MOST_BLOCKS ? best
					: closest(InitialLevel.MOST_LOSS_OF_MANY, g, l);
		default:
			for (int i = 1; i <= last; i++) {
				Partition a = levels.get(i - 1).partition();
				Partition b = levels.get(i).partition();
				double dg = Math.abs(b.gain() - a.gain()) * (normalised ? 1 / g : 1);
				double dl = Math.abs(b.loss() - a.loss()) * (normalised ? 1 / l : 1);
				double score = strategy == InitialLevel.LARGEST_CHANGE ? Math.max(dg, dl) : Math.abs(dg - dl);
				if (score > most) {
					most = score;
					best = strategy == InitialLevel.LARGEST_GAP_BEFORE ? i - 1 : i;
				}
			}
			return best;
		}
	}

	private int closest(double share, double g, double l) {
		double allowed = allowedLoss(levels.get(0).partition(), aggregator, share);
		int best = 0;
		for (int i = 1; i < levels.size() && levels.get(i).partition().loss() <= allowed; i++) {
			if (distance(levels.get(i).partition(), g, l) < distance(levels.get(best).partition(), g, l)) {
				best = i;
			}
		}
		return best;
	}
}
