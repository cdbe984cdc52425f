// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.colour;

import java.util.Map;

import org.memtrace.aggregation.ModelType;

/**
 * Colours of a picture. The four sharing types differ in hue (blue private, orange to red shared) and in lightness (reads
 * light, writes dark), with four distinct lightnesses, so that they can be told apart without red and green and in print
 * without colours. How much there is makes a {@link #shade} between the background and the colour; any shade of one type is at least 10
 * apart from any shade of the others ({@link #difference}), also for the colour-blind: a few writes do not look like many reads. A test
 * computes that. Threads, CPUs and nodes have a qualitative series that depends on their index only, event types and structures
 * one that depends on their name. The user can choose others: {@link Colours}. Immutable.
 */
public final class Palette {
	/** Kinds of things that have colours. Names are unique within a kind. */
	public enum Kind {
		/** Access and event types. */
		TYPE("type"),
		/** Threads, by {@link ModelType#thread}. */
		THREAD("thread"), CPU("CPU"), NODE("node"),
		/** Data structures. */
		STRUCTURE("structure");

		private final String word;

		Kind(String word) {
			this.word = word;
		}

		/** In a sentence. */
		public String word() {
			return word;
		}

		/** Where a type of a model belongs. */
		public static Kind of(ModelType type) {
			return switch (type.role()) {
			case THREAD -> THREAD;
			case CPU -> CPU;
			case NODE -> NODE;
			default -> TYPE;
			};
		}
	}

	/** Something with a colour. */
	public record Key(Kind kind, String name) implements Comparable<Key> {
		@Override
		public int compareTo(Key o) {
			int byKind = kind.compareTo(o.kind);
			return byKind != 0 ? byKind : name.compareTo(o.name);
		}
	}

	/** For white paper and light themes. */
	public static final Palette LIGHT = new Palette(false, Map.of());
	/** For dark themes. */
	public static final Palette DARK = new Palette(true, Map.of());

	/** Threads, CPUs, nodes: the first four are apart at all intensities, all twelve at the full one, also for the colour-blind. */
	private static final int[] SERIES = {0xff2f6fc4, 0xffffbd00, 0xff3b823b, 0xffd37800, 0xffa990eb, 0xff92b594, 0xffc673b6,
		0xff6a3e0d, 0xffc4b637, 0xff4f5d6b, 0xff9cc0f0, 0xffa6dc8c};
	private static final int[] SERIES_DARK = {0xff008cff, 0xffe29420, 0xff4fbf78, 0xff808ac6, 0xffbea1fa, 0xffacd0ff, 0xffefa0cd,
		0xffb27a4a, 0xffe0d050, 0xff97a498, 0xffcde8ff, 0xffbcf0a4};

	/** Structures: more hues, as their rows have names. */
	private static final int[] NAMED = {0xff3b6fb6, 0xffe8862e, 0xff3f9f5f, 0xffc8443f, 0xff8b66b8, 0xff5fb7c4, 0xffd77fb3,
		0xff8c6d4f, 0xffb6a72c, 0xff5b6b7b, 0xff7fa8e0, 0xff8fce7a};
	private static final int[] NAMED_DARK = {0xff6fa3ea, 0xfff0994a, 0xff5fc182, 0xffe8645e, 0xffae8be0, 0xff79d3e0,
		0xffee9bcd, 0xffb8946f, 0xffd2c44a, 0xff8fa1b3, 0xffa9c8f5, 0xffaee69a};

	/** Indexes of these around the circle of hues, from red to pink. */
	private static final int[] HUES = {3, 1, 7, 8, 11, 2, 5, 10, 0, 9, 4, 6};

	/** The grey of these: in a picture of structures, greys are what is not known, and what is too small to be shown by itself. */
	private static final int GREY = 9;
	/** What structures have in its place: between their blue and their violet. */
	private static final int INDIGO = 0xff4a3fc4;
	private static final int INDIGO_DARK = 0xff7f7bff;

	/** Share of the colour in the weakest shade: with less of it the types would be too close to each other there. */
	private static final double LEAST = 0.35;

	private final boolean dark;
	private final Map<Key, Integer> chosen;

	private Palette(boolean dark, Map<Key, Integer> chosen) {
		this.dark = dark;
		this.chosen = chosen;
	}

	/** @param chosen colours that are not the default ones */
	static Palette of(boolean dark, Map<Key, Integer> chosen) {
		return chosen.isEmpty() ? dark ? DARK : LIGHT : new Palette(dark, Map.copyOf(chosen));
	}

	/** A palette with these choices for a light page. Files are printed, so they are light. */
	public Palette light() {
		return of(false, chosen);
	}

	public boolean isDark() {
		return dark;
	}

	/** Around everything. */
	public int background() {
		return dark ? 0xff1e2126 : 0xffffffff;
	}

	/** Behind the blocks: where nothing was accessed. */
	public int plotBackground() {
		return dark ? 0xff282c33 : 0xfff3f4f6;
	}

	/** Titles and labels. */
	public int text() {
		return dark ? 0xffe6e8eb : 0xff1f2328;
	}

	/** Less important texts. */
	public int mutedText() {
		return dark ? 0xff9aa4b0 : 0xff5f6b7a;
	}

	/** Axes. */
	public int axis() {
		return dark ? 0xff707a86 : 0xff8a94a0;
	}

	/** Lines between structures. */
	public int separator() {
		return dark ? 0xff4a525d : 0xffc3cad2;
	}

	/** Something that must not be overlooked, such as losses of the recorder. */
	public int warning() {
		return dark ? 0xfff0a34a : 0xff9a5b00;
	}

	/** How bad something is: 0 a little, 1, 2 much. */
	public int alert(int level) {
		return level <= 0 ? dark ? 0xff8fa1b3 : 0xff7b8a9c : level == 1 ? remote() : lossCurve();
	}

	/** Something that has become better. */
	public int good() {
		return gainCurve();
	}

	/** Selection and current p. */
	public int highlight() {
		return dark ? 0xff7fb2ff : 0xff1f5fd0;
	}

	/** Curve of information loss. */
	public int lossCurve() {
		return dark ? 0xffe8645e : 0xffb3261e;
	}

	/** Curve of complexity reduction. */
	public int gainCurve() {
		return dark ? 0xff5fc182 : 0xff1b7f4b;
	}

	/** Fill of the hierarchy strip, by level below the structures. */
	public int strip(int level) {
		int[] light = {0xff8796a8, 0xffa9b5c3, 0xffc3ccd6, 0xffd8dee5};
		int[] night = {0xff66758a, 0xff536070, 0xff454f5c, 0xff3a424d};
		return (dark ? night : light)[Math.min(level, 3)];
	}

	/** Hatching over blocks. */
	public int hatch() {
		return dark ? 0xb01e2126 : 0xb0ffffff;
	}

	/** Colour of a type at full intensity. */
	public int color(ModelType type) {
		Integer other = chosen.isEmpty() ? null : chosen.get(new Key(Kind.of(type), type.name()));
		return other != null ? other : defaultColor(type);
	}

	/** Colour of a data structure, by its name. */
	public int structure(String name) {
		Integer other = chosen.isEmpty() ? null : chosen.get(new Key(Kind.STRUCTURE, name));
		return other != null ? other : defaultStructure(name);
	}

	/** Whether a colour of {@link #structure} was chosen by the user. */
	public boolean isChosen(Kind kind, String name) {
		return chosen.containsKey(new Key(kind, name));
	}

	/** Number of colours that structures have. */
	public static final int STRUCTURES = 5 * HUES.length;

	/** What {@link #structure} is unless the user chose something else. */
	public int defaultStructure(String name) {
		return structure(structurePlace(name));
	}

	/** Which of the colours of structures a name has. */
	public static int structurePlace(String name) {
		// two of a hundred structures may look alike, but the same one never differs between two traces; multiples of the golden
		// ratio are far apart, so that names like A, B, C or part 1, part 2 differ in hue
		return (int) ((name.hashCode() * 0x9e3779b9 & 0xffffffffL) * STRUCTURES >>> 32);
	}

	/** One of the colours of structures, by its place on the circle of hues: five shades of each. */
	public int structure(int place) {
		int hue = HUES[place / 5];
		return round(hue == GREY ? dark ? INDIGO_DARK : INDIGO : (dark ? NAMED_DARK : NAMED)[hue], place % 5);
	}

	/** What {@link #color} is unless the user chose something else. */
	public int defaultColor(ModelType type) {
		return switch (type.role()) {
		case PRIVATE_READ -> dark ? 0xff64bbff : 0xff20a6f6;
		case PRIVATE_WRITE -> dark ? 0xff3f77f4 : 0xff00287a;
		case SHARED_READ -> dark ? 0xfff5b845 : 0xfff2a52d;
		case SHARED_WRITE -> dark ? 0xffb01507 : 0xffa03800;
		case READ -> dark ? 0xff69c276 : 0xffb1d78d;
		case WRITE -> dark ? 0xffaf8ee5 : 0xff5a3b9d;
		case STRUCTURE -> defaultStructure(type.name());
		case UNKNOWN, NOT_KNOWN_READ, NOT_KNOWN_WRITE -> dark ? 0xff7d848d : 0xff9aa0a6;
		default -> series(type.index());
		};
	}

	private int series(int index) {
		int[] s = dark ? SERIES_DARK : SERIES;
		return round(s[Math.floorMod(index, s.length)], index / s.length);
	}

	/** Later rounds of the series are lighter and darker in turn. */
	private static int round(int color, int round) {
		return round == 0 ? color : mix(color, (round & 1) == 1 ? 0xff000000 : 0xffffffff, 0.25 + 0.1 * (round % 4));
	}

	/** Relative luminance of a colour, 0 black to 1 white (WCAG). */
	public static double luminance(int argb) {
		double sum = 0;
		double[] weight = {0.2126, 0.7152, 0.0722};
		for (int i = 0; i < 3; i++) {
			double c = (argb >> 16 - 8 * i & 0xff) / 255.0;
			sum += weight[i] * (c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4));
		}
		return sum;
	}

	/** From nothing (0) to most (1) of something that has no type: accesses. */
	public int heat(double intensity) {
		return mix(plotBackground(), dark ? 0xff8fc4ff : 0xff123f7d, intensity <= 0 ? 0 : 0.1 + 0.9 * Math.min(1, intensity));
	}

	/** A second scale for something else in the same picture: pages. */
	public int secondHeat(double intensity) {
		return mix(plotBackground(), dark ? 0xffd3a4f5 : 0xff5a2080, intensity <= 0 ? 0 : 0.1 + 0.9 * Math.min(1, intensity));
	}

	/**
	 * From less (-1) over as much (0) to more (1): violet, grey, orange. The two ends differ in hue for all kinds of colour blindness and are
	 * equally far from the grey, which is not the {@link #plotBackground}.
	 */
	public int diverging(double v) {
		int middle = dark ? 0xff454b54 : 0xffdcdfe3;
		int half = v < 0 ? dark ? 0xff6d5ba8 : 0xffa294c9 : dark ? 0xffa85a12 : 0xfff2a95c;
		int end = v < 0 ? dark ? 0xffc3b4f5 : 0xff46237d : dark ? 0xffffb45e : 0xffa84f00;
		double size = Math.min(1, Math.abs(v));
		return size <= 0.5 ? mix(middle, half, 2 * size) : mix(half, end, 2 * size - 1);
	}

	/** Accesses to near memory. */
	public int local() {
		return dark ? 0xff4f95dd : 0xff2a6db8;
	}

	/** Accesses to memory that is not near. */
	public int remote() {
		return dark ? 0xfff5ad45 : 0xfff09a2a;
	}

	/** What is not known. */
	public int unknown() {
		return dark ? 0xff7d848d : 0xff9aa0a6;
	}

	/** A colour for text that can be read on another one: the darker or the lighter of two, whichever has more contrast. */
	public static int textOn(int fill) {
		return contrast(fill, 0xff14171a) >= contrast(fill, 0xffffffff) ? 0xff14171a : 0xffffffff;
	}

	/** Contrast as WCAG 2 defines it, from 1 (none) to 21. */
	public static double contrast(int a, int b) {
		double x = luminance(a);
		double y = luminance(b);
		return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
	}

	/**
	 * How much two colours differ to the eye: the distance in CIELAB (CIE 1976, sRGB, D65); 2.3 is just seen, black and white differ by 100.
	 */
	public static double difference(int a, int b) {
		double[] p = lab(a);
		double[] q = lab(b);
		return Math.sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
	}

	/** sRGB to XYZ, by the white of D65. */
	private static final double[][] XYZ = {{0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505}, {0.2126, 0.7152, 0.0722},
		{0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089}};

	private static double[] lab(int argb) {
		double[] f = new double[3];
		for (int i = 0; i < 3; i++) {
			double v = 0;
			for (int k = 0; k < 3; k++) {
				double c = (argb >> 16 - 8 * k & 0xff) / 255.0;
				v += XYZ[i][k] * (c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4));
			}
			f[i] = v > 216.0 / 24389 ? Math.cbrt(v) : (24389.0 / 27 * v + 16) / 116;
		}
		return new double[] {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
	}

	/** {@code a} with a share {@code t} of {@code b}; opaque. */
	public static int mix(int a, int b, double t) {
		int result = 0xff;
		for (int shift = 16; shift >= 0; shift -= 8) {
			int x = a >> shift & 0xff;
			int y = b >> shift & 0xff;
			result = result << 8 | (int) Math.round(x + (y - x) * t);
		}
		return result;
	}

	/**
	 * Colour of a block.
	 *
	 * @param intensity 0..1, from {@link #intensity}
	 */
	public int shade(ModelType type, double intensity) {
		return shade(color(type), intensity);
	}

	/** A shade of any colour. */
	public int shade(int color, double intensity) {
		return mix(plotBackground(), color, LEAST + (1 - LEAST) * intensity);
	}

	/**
	 * How strongly a density is shown: the square root of its ratio to the reference, at most 1, so that an access density of a
	 * hundredth is still seen.
	 */
	public static double intensity(double density, double reference) {
		return reference > 0 ? Math.min(1, Math.sqrt(Math.max(0, density) / reference)) : 0;
	}
}
