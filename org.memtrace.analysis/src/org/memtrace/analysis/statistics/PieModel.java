// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.statistics.Statistics.Item;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CountUnit;
import org.memtrace.model.TraceInfo;

/** The parts of a pie after the rules of the user, the largest first; small ones are together at the end. Immutable. */
public final class PieModel {
	/** What a slice is. */
	public enum Kind {
		ITEM,
		/** Several that the user made one. */
		MERGED,
		/** All that are too small to be seen. */
		SMALL
	}

	/**
	 * One slice.
	 *
	 * @param key the same for the same thing in other windows
	 * @param item the item, or the largest of the parts
	 * @param color chosen colour, or 0 for that of the item
	 * @param percent of all that is not left out
	 * @param parts what a slice of several consists of, the largest first
	 */
	public record Slice(Kind kind, String key, String name, Item item, int color, double value, double percent,
			List<Slice> parts) {
		/** The colour it has by itself; {@link PieModel#color} is that in the pie. */
		int ownColor(Palette palette) {
			// lighter than what is not known, which can be the slice beside it
			return kind == Kind.SMALL ? palette.strip(3) : color != 0 ? color : item.color(palette);
		}

		/** Items in it. */
		public List<Item> items() {
			return kind == Kind.ITEM ? List.of(item) : parts.stream().flatMap(p -> p.items().stream()).toList();
		}
	}

	/** Share below which a slice is folded into the one of small ones, in per cent. */
	public static final double SMALL_PERCENT = 1;

	/** Colours of slices side by side differ by at least this ({@link Palette#difference}), and all others by {@link #TOLD_APART}. */
	static final double NEIGHBOURS = 20;
	/** Least difference of any two slices, as long as there are colours left. */
	static final double TOLD_APART = 10;

	private final Statistics.Sum sum;
	private final boolean ticks;
	private final CountUnit unit;
	private final Dimension by;
	private final List<Slice> slices;
	private final double total;
	private final double excluded;
	private final int excludedCount;

	private PieModel(Statistics.Sum sum, Dimension by, boolean ticks, CountUnit unit, List<Slice> slices, double total,
			double excluded, int excludedCount) {
		this.unit = unit;
		this.ticks = ticks;
		this.sum = sum;
		this.by = by;
		this.slices = List.copyOf(slices);
		this.total = total;
		this.excluded = excluded;
		this.excludedCount = excludedCount;
	}

	/** Applies rules. */
	public static PieModel of(Statistics.Sum sum, Dimension by, List<Item> items, PieRules rules) {
		double total = 0;
		double excluded = 0;
		int excludedCount = 0;
		List<Item> kept = new ArrayList<>();
		Map<String, PieRules.Group> groupOf = new HashMap<>();
		rules.groups().forEach(g -> g.keys().forEach(k -> groupOf.put(k, g)));
		for (Item item : items) {
			PieRules.Group g = groupOf.get(item.key());
			if (rules.excluded().contains(item.key()) || g != null && rules.excluded().contains(g.key())) {
				excluded += item.value();
				excludedCount++;
			} else {
				total += item.value();
				kept.add(item);
			}
		}
		List<Slice> slices = new ArrayList<>();
		Map<PieRules.Group, List<Slice>> merged = new HashMap<>();
		for (Item item : kept) {
			Slice slice = new Slice(Kind.ITEM, item.key(), item.name(), item, 0, item.value(), percent(item.value(), total), List.of());
			PieRules.Group g = groupOf.get(item.key());
			if (g == null) {
				slices.add(slice);
			} else {
				merged.computeIfAbsent(g, k -> new ArrayList<>()).add(slice);
			}
		}
		for (PieRules.Group g : rules.groups()) {
			if (merged.containsKey(g)) {
				slices.add(several(Kind.MERGED, g.key(), g.name(), g.color(), merged.get(g), total));
			}
		}
		slices.sort(LARGEST_FIRST);
		int large = slices.size();
		while (large > 0 && slices.get(large - 1).percent < SMALL_PERCENT) {
			large--;
		}
		if (slices.size() - large > 1) {
			List<Slice> small = new ArrayList<>(slices.subList(large, slices.size()));
			slices.subList(large, slices.size()).clear();
			slices.add(several(Kind.SMALL, "small", Units.count(small.size()) + " below " + (int) SMALL_PERCENT + " % each", 0, small,
					total));
		}
		return new PieModel(sum, by, false, CountUnit.RECORDS, slices, total, excluded, excludedCount);
	}

	/** This pie with the units of a trace: its times may be ticks of a logical clock, and its counts have their own word. */
	public PieModel of(TraceInfo trace) {
		return new PieModel(sum, by, trace.isInTicks(), trace.counts(), slices, total, excluded, excludedCount);
	}

	/** Colours of the slices in a palette; the last one is kept, since tables ask for each row. */
	private record Colored(Palette palette, Map<String, Integer> colors) {
	}

	private volatile Colored colored;

	/**
	 * Colour of a slice, or of a part of one. Each has the colour that its name has in all pictures, unless it looks like a larger slice;
	 * then it has the first one on the circle of hues, from its own on, that differs from those beside it and from all larger ones. What
	 * the user chose stays.
	 */
	public int color(Slice slice, Palette palette) {
		Colored c = colored;
		if (c == null || c.palette != palette) {
			c = new Colored(palette, colors(palette));
			colored = c;
		}
		Integer color = c.colors.get(slice.key);
		return color != null && slices.contains(slice) ? color : slice.ownColor(palette);
	}

	private Map<String, Integer> colors(Palette palette) {
		int n = slices.size();
		int[] colors = new int[n];
		boolean[] fixed = new boolean[n];
		for (int i = 0; i < n; i++) {
			Slice s = slices.get(i);
			colors[i] = s.ownColor(palette);
			boolean structure = s.item.producer() >= 0;
			fixed[i] = s.kind == Kind.SMALL || s.color != 0 || s.item.type().role() == ModelType.Role.UNKNOWN
					|| palette.isChosen(structure ? Palette.Kind.STRUCTURE : Palette.Kind.of(s.item.type()),
							structure ? s.item.name() : s.item.type().name());
		}
		for (int i = 0; i < n; i++) {
			if (!fixed[i] && room(colors, fixed, i, colors[i]) < 1) {
				double most = room(colors, fixed, i, colors[i]);
				int place = Palette.structurePlace(slices.get(i).item.name());
				for (int k = 1; k < Palette.STRUCTURES && most < 1; k++) {
					int other = palette.structure((place + 5 * k + k / 12) % Palette.STRUCTURES); // hues first, then shades
					double room = room(colors, fixed, i, other);
					if (room > most) {
						most = room;
						colors[i] = other;
					}
				}
			}
		}
		Map<String, Integer> map = new HashMap<>();
		for (int i = 0; i < n; i++) {
			map.put(slices.get(i).key, colors[i]);
		}
		return map;
	}

	/** How far a colour is from those that have been decided, 1 where it is far enough from all. */
	private static double room(int[] colors, boolean[] fixed, int at, int color) {
		int n = colors.length;
		double least = 1;
		for (int i = 0; i < n; i++) {
			if (i != at && (i < at || fixed[i])) {
				boolean beside = i == at - 1 || i == at + 1 || at == n - 1 && i == 0;
				least = Math.min(least, Palette.difference(colors[i], color) / (beside ? NEIGHBOURS : TOLD_APART));
			}
		}
		return least;
	}

	/** What is summed, in a sentence. */
	public String counted() {
		return sum.label(unit).toLowerCase(Locale.ROOT);
	}

	/** A value for a person. */
	public String text(double value) {
		return sum.text(value, ticks);
	}

	private static final Comparator<Slice> LARGEST_FIRST = Comparator.comparingDouble(Slice::value).reversed()
			.thenComparing(Slice::name);

	private static Slice several(Kind kind, String key, String name, int color, List<Slice> parts, double total) {
		List<Slice> sorted = new ArrayList<>(parts);
		sorted.sort(LARGEST_FIRST);
		double value = 0;
		for (Slice s : sorted) {
			value += s.value;
		}
		return new Slice(kind, key, name, sorted.get(0).item, color, value, percent(value, total), List.copyOf(sorted));
	}

	private static double percent(double value, double total) {
		return total == 0 ? 0 : 100 * value / total;
	}

	public Statistics.Sum sum() {
		return sum;
	}

	public Dimension by() {
		return by;
	}

	public List<Slice> slices() {
		return slices;
	}

	/** Sum of all slices. */
	public double total() {
		return total;
	}

	/** Sum of what is left out. */
	public double excluded() {
		return excluded;
	}

	/** Number of items that are left out. */
	public int excludedCount() {
		return excludedCount;
	}

	/** All slices with their parts, exact numbers: times in the unit of the trace. RFC 4180. */
	public String toCsv() {
		StringBuilder b = new StringBuilder(by.id() + ",group,"
				+ sum.name().toLowerCase(Locale.ROOT) + (!sum.isTime() ? "" : ticks ? "_ticks" : "_ns") + ",percent\n");
		for (Slice s : slices) {
			if (s.kind == Kind.SMALL) {
				s.parts.forEach(p -> lines(b, p));
			} else {
				lines(b, s);
			}
		}
		return b.toString();
	}

	private static void lines(StringBuilder b, Slice s) {
		if (s.kind == Kind.MERGED) {
			s.parts.forEach(p -> line(b, p, s.name));
		} else {
			line(b, s, "");
		}
	}

	private static void line(StringBuilder b, Slice s, String group) {
		b.append(Csv.cell(s.name)).append(',').append(Csv.cell(group)).append(',').append(Csv.number(s.value)).append(',')
				.append(String.format(Locale.ROOT, "%.4f", s.percent)).append('\n');
	}
}
