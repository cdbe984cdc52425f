// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;


/**
 * Where and when two sides of a comparison differ: for each structure a value by place in it and by time, after minus before. Immutable;
 * {@link #values} may be called by any thread.
 */
public final class DiffMap {
	/** Columns of time. */
	public static final int COLUMNS = 100;
	/** So much of the largest difference is the end of the scale when a few cells are far above the others. */
	private static final double USUAL = 0.98;
	private static final double FAR = 2;
	/** The beginning ends when so much has been touched first, with a margin. */
	private static final double TOUCHED = 0.98;
	private static final double MARGIN = 1.25;
	private static final double LEAST_BEGINNING = 0.02;
	private static final double WHOLE = 0.8;
	/** Means of several runs differ by so much when they do not differ. */
	private static final double ROUNDING = 1e-12;
	/** From so much on, first touch is what differs. */
	private static final double MOVED = 0.05;

	/** What is compared. */
	public enum Quantity {
		/** Share of all reads and writes of a run that are in a cell. */
		ACCESSES,
		/** Share of all reads of a run that are in a cell. */
		READS,
		/** Share of all writes of a run that are in a cell. */
		WRITES,
		/** Share of the pages of a place that one thread has touched first until the end of the column. */
		FIRST_TOUCH;

		/** For options and programs. */
		public String id() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

		/** The one with an id. */
		public static Quantity byId(String id) {
			return Stream.of(values()).filter(q -> q.id().equals(id)).findFirst().orElseThrow();
		}
	}

	/**
	 * What is wanted.
	 *
	 * @param role number of the thread of {@link Quantity#FIRST_TOUCH} in {@link TraceDiff#roles}
	 * @param sinceStart the same time since the start of each run, else the same share of each run
	 * @param beginning only until nearly all pages have been touched first
	 */
	public record Choice(Quantity quantity, int role, boolean sinceStart, boolean beginning) {
	}

	/**
	 * The values of one structure; arrays are by {@code place * COLUMNS + column}.
	 *
	 * @param before mean of the runs before
	 * @param after mean of the runs after
	 * @param used whether any run has accessed the place until the end of the column (first touch), or in it (else)
	 */
	public record Field(StructureDiff structure, int places, double[] before, double[] after, boolean[] used) {
		/** After minus before, of some places: their mean. */
		public double difference(int placeFrom, int placeTo, int column) {
			return mean(after, placeFrom, placeTo, column) - mean(before, placeFrom, placeTo, column);
		}

		/** Mean of some places. */
		public double mean(double[] of, int placeFrom, int placeTo, int column) {
			double sum = 0;
			for (int p = placeFrom; p < placeTo; p++) {
				sum += of[p * COLUMNS + column];
			}
			return sum / (placeTo - placeFrom);
		}

		/** Whether any of some places is used. */
		public boolean isUsed(int placeFrom, int placeTo, int column) {
			for (int p = placeFrom; p < placeTo; p++) {
				if (used[p * COLUMNS + column]) {
					return true;
				}
			}
			return false;
		}
	}

	/**
	 * All values.
	 *
	 * @param fields the heaviest structure first
	 * @param until end of the axis: nanoseconds since the start, or share of a run
	 * @param limit end of the scale, 0 when nothing differs
	 * @param largest largest difference without its sign
	 * @param beyond number of cells that are beyond the end of the scale
	 * @param differing number of cells with a difference
	 * @param more structures that were left out
	 */
	public record Values(Choice choice, List<Field> fields, double until, double limit, double largest, int beyond, int differing,
			int more) {
	}

	private final TraceDiff diff;
	private final List<PlaceTimes> before;
	private final List<PlaceTimes> after;
	private final List<StructureDiff> shown;

	/**
	 * Takes what was counted.
	 *
	 * @param before one for each run before, in order
	 * @param after one for each run after
	 */
	public DiffMap(TraceDiff diff, List<PlaceTimes> before, List<PlaceTimes> after) {
		if (before.size() != diff.before().size() || after.size() != diff.after().size()) {
			throw new IllegalArgumentException("not all runs were counted");
		}
		this.diff = diff;
		this.before = List.copyOf(before);
		this.after = List.copyOf(after);
		shown = PlaceTimes.shown(diff);
	}

	/** The comparison. */
	public TraceDiff diff() {
		return diff;
	}

	/** What shows most: first touch at the beginning, by the thread whose share has changed most, if that has changed; else accesses. */
	public Choice usual() {
		int role = role();
		boolean moved = !diff.roles().isEmpty() && shown.stream().anyMatch(s -> change(s, role) > MOVED || s.movedPlaces() > MOVED);
		return moved ? new Choice(Quantity.FIRST_TOUCH, role, false, true) : new Choice(Quantity.ACCESSES, role, false, false);
	}

	/** Name of the thread with a role; a trace without threads has none. */
	public String thread(int role) {
		return role < diff.roles().size() ? diff.roles().get(role) : "nobody that is known";
	}

	/** The role whose share of first touches has changed most; the first one of equals. */
	public int role() {
		int best = 0;
		double most = -1;
		for (int r = 0; r < diff.roles().size(); r++) {
			double sum = 0;
			for (StructureDiff s : shown) {
				sum += s.weight() * change(s, r);
			}
			if (sum > most * (1 + 1e-9)) {
				best = r;
				most = sum;
			}
		}
		return best;
	}

	private static double change(StructureDiff s, int role) {
		return s.before() == null || s.after() == null ? 0 : Math.abs(s.after().firstTouch()[role] - s.before().firstTouch()[role]);
	}

	/** The values of a choice. */
	public Values values(Choice choice) {
		long longest = Math.max(1, Stream.concat(before.stream(), after.stream()).mapToLong(t -> t.durationNs).max().orElse(1));
		double until = choice.beginning() ? beginning(choice.sinceStart(), longest) : 1;
		int[] places = PlaceTimes.places(diff);
		Field[] fields = new Field[shown.size()];
		for (int s = 0; s < fields.length; s++) {
			boolean[] used = new boolean[places[s] * COLUMNS];
			double[] a = side(before, s, places[s], choice, until, longest, used);
			double[] b = side(after, s, places[s], choice, until, longest, used);
			fields[s] = new Field(shown.get(s), places[s], a, b, used);
		}
		double[] sizes = Arrays.stream(fields).flatMapToDouble(f -> {
			double[] d = new double[f.before().length];
			Arrays.setAll(d, i -> Math.abs(f.after()[i] - f.before()[i]));
			return Arrays.stream(d);
		}).filter(v -> v > ROUNDING).sorted().toArray();
		double largest = sizes.length == 0 ? 0 : sizes[sizes.length - 1];
		double limit = largest;
		if (choice.quantity() == Quantity.FIRST_TOUCH) {
			limit = largest > 0 ? 1 : 0;
		} else if (largest > 0) {
			double common = sizes[(int) (USUAL * (sizes.length - 1))];
			limit = largest > FAR * common ? common : largest;
		}
		double end = limit;
		return new Values(choice, List.of(fields), choice.sinceStart() ? until * longest : until, limit, largest,
				(int) Arrays.stream(sizes).filter(v -> v > end).count(), sizes.length, diff.structures().size() - shown.size());
	}

	/** Share of the axis after which nearly all pages have been touched first on both sides. */
	private double beginning(boolean sinceStart, long longest) {
		double most = LEAST_BEGINNING;
		for (PlaceTimes run : Stream.concat(before.stream(), after.stream()).toList()) {
			double[] bySlice = new double[PlaceTimes.SLICES];
			for (PlaceTimes.Cells c : run.cells) {
				if (c != null) {
					c.firstTouches.forEach((key, pages) -> bySlice[key.intValue() % PlaceTimes.SLICES] += pages);
				}
			}
			double all = Arrays.stream(bySlice).sum();
			double sum = 0;
			int slice = 0;
			while (slice < bySlice.length && sum < TOUCHED * all) {
				sum += bySlice[slice++];
			}
			double share = (double) slice / PlaceTimes.SLICES * (sinceStart ? (double) run.durationNs / longest : 1);
			most = Math.max(most, MARGIN * share);
		}
		return most > WHOLE ? 1 : most;
	}

	/** Mean of the runs of a side. */
	private static double[] side(List<PlaceTimes> runs, int s, int places, Choice choice, double until, long longest, boolean[] used) {
		double[] mean = new double[places * COLUMNS];
		boolean touch = choice.quantity() == Quantity.FIRST_TOUCH;
		// a run without the structure has no access to it, and says nothing about who touches it
		long counted = touch ? runs.stream().filter(r -> r.cells[s] != null).count() : runs.size();
		for (PlaceTimes run : runs) {
			PlaceTimes.Cells c = run.cells[s];
			if (c == null) {
				continue;
			}
			// slices of the run in a column, and where the run ends on the axis
			double scale = until * PlaceTimes.SLICES / COLUMNS * (choice.sinceStart() ? (double) longest / Math.max(1, run.durationNs) : 1);
			double[] wanted = touch ? touched(c, choice.role()) : amounts(c, choice.quantity());
			double[] any = touch ? touched(c, -1) : wanted;
			double all = switch (choice.quantity()) {
			case READS -> run.reads;
			case WRITES -> run.writes;
			default -> run.reads + run.writes;
			};
			for (int p = 0; p < places; p++) {
				double[] sums = sums(wanted, p);
				double[] anySums = touch ? sums(any, p) : sums;
				double total = touch ? anySums[PlaceTimes.SLICES] : all;
				for (int col = 0; col < COLUMNS && total > 0; col++) {
					int cell = p * COLUMNS + col;
					double to = at(sums, (col + 1) * scale);
					double here = touch ? to : to - at(sums, col * scale);
					mean[cell] += here / total / counted;
					used[cell] |= touch ? at(anySums, (col + 1) * scale) > 0 : here > 0;
				}
			}
		}
		return mean;
	}

	private static double[] amounts(PlaceTimes.Cells c, Quantity quantity) {
		if (quantity == Quantity.READS) {
			return c.reads;
		}
		double[] sum = c.writes;
		if (quantity == Quantity.ACCESSES) {
			sum = sum.clone();
			for (int i = 0; i < sum.length; i++) {
				sum[i] += c.reads[i];
			}
		}
		return sum;
	}

	/** Pages that a role touched first; -1 any. */
	private static double[] touched(PlaceTimes.Cells c, int role) {
		double[] pages = new double[c.reads.length];
		for (Map.Entry<Long, Double> e : c.firstTouches.entrySet()) {
			if (role < 0 || e.getKey() >> 32 == role) {
				pages[e.getKey().intValue()] += e.getValue();
			}
		}
		return pages;
	}

	/** Sums of the slices of a place before each slice, and of all of them at the end. */
	private static double[] sums(double[] cells, int place) {
		double[] sums = new double[PlaceTimes.SLICES + 1];
		for (int t = 0; t < PlaceTimes.SLICES; t++) {
			sums[t + 1] = sums[t] + cells[place * PlaceTimes.SLICES + t];
		}
		return sums;
	}

	/** The sum until a time in slices; within a slice the amount is spread evenly. */
	private static double at(double[] sums, double slice) {
		int whole = (int) slice;
		return whole >= PlaceTimes.SLICES ? sums[PlaceTimes.SLICES] : sums[whole] + (slice - whole) * (sums[whole + 1] - sums[whole]);
	}
}
