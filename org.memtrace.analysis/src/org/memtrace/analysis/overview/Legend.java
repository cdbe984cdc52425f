// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.MicroscopicModel.Places;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;

/**
 * What colours and marks of a picture of memory mean: types, then marks, in as many lines as they need, and at the right the scale of
 * the densities in the shades of the blocks. Only types are left out where there is no room, and their number is told; marks never
 * are.
 */
final class Legend {
	/** Distance of lines, in font sizes. */
	private static final double LINE = 1.5;
	private static final int MOST_LINES = 5;
	/** Width of the ramp, in font sizes. */
	private static final double RAMP = 13;

	/** What marks a picture can have. */
	enum Mark {
		MIXTURE("mixture: areas are shares"), LOSS("share lost inside of a block"),
				FIRST_TOUCH("first touch of pages; left of the picture: by whom"),
		SMALL("small parts"), SMALL_IN_TIME("small parts, also cut in time"), NOT_TO_SCALE("rows higher than to scale");

		final String text;

		Mark(String text) {
			this.text = text;
		}
	}

	private record Entry(ModelType type, int index, Mark mark, String text, double width) {
	}

	private final PictureOptions o;
	private final MicroscopicModel model;
	private final Palette palette;
	private final double f;
	private final double width;
	private final List<List<Entry>> lines = new ArrayList<>();
	private int lineCount;
	/** The scale has the last two lines for itself. */
	private final boolean scaleBelow;
	private final double scaleWidth;
	private final int left;

	/**
	 * Divides entries into lines.
	 *
	 * @param marks those that the picture may have
	 * @param touchers threads that touch pages first, where colours do not stand for threads; else empty
	 */
	static Legend of(PictureOptions o, MicroscopicModel model, List<Mark> marks, List<ModelType> touchers) {
		Legend legend = new Legend(o, model, marks, touchers, true);
		// colours matter more than their strength
		return legend.left > 0 && legend.scaleWidth > 0 ? new Legend(o, model, marks, touchers, false) : legend;
	}

	private Legend(PictureOptions o, MicroscopicModel model, List<Mark> marks, List<ModelType> touchers, boolean scale) {
		this.o = o;
		this.model = model;
		this.palette = o.palette;
		this.f = o.fontSize;
		this.width = o.width - 2 * f;
		boolean low = o.height < 20 * f;
		boolean parts = o.colouring == PictureOptions.Colouring.PARTS;
		double wanted = !scale || parts || low || model.referenceDensity() <= 0 ? 0
				: Math.max(RAMP * f + 4 * f, o.meter.width(caption(), 0.92 * f, false) + 2);
		wanted = wanted > width ? 0 : wanted;
		this.scaleWidth = wanted;
		this.scaleBelow = wanted > 0.45 * width;
		List<Entry> types = parts ? new ArrayList<>() : types(true);
		if (width(types) > width - (scaleBelow ? 0 : wanted + 2 * f)) {
			types = parts ? types : types(false);
		}
		List<Entry> others = new ArrayList<>();
		for (Mark m : marks) {
			String told = m == Mark.SMALL_IN_TIME && model.places() == Places.COLUMNS ? "small parts, also cut by CPUs" : m.text;
			others.add(new Entry(null, -1, m, told, 2.3 * f + o.meter.width(told, 0.92 * f, false)));
			if (m == Mark.FIRST_TOUCH) {
				for (ModelType t : touchers) {
					String text = ModelText.type(t);
					others.add(new Entry(t, -1, null, text, 1.3 * f + o.meter.width(text, 0.92 * f, false)));
				}
			}
		}
		int most = low ? 1 : (int) Math.max(MOST_LINES, 0.4 * o.height / (LINE * f));
		int missing = 0;
		while (true) {
			List<Entry> all = new ArrayList<>(types);
			if (missing > 0) {
				String text = "+ " + missing + " more";
				all.add(new Entry(null, -1, null, text, o.meter.width(text, 0.92 * f, false)));
			}
			if (low) {
				all.addAll(0, others.stream().filter(e -> e.mark == Mark.MIXTURE).toList());
			} else {
				all.addAll(others);
			}
			flow(all, most);
			if (lines.size() <= most || types.isEmpty()) {
				break;
			}
			types = types.subList(0, types.size() - 1);
			missing++;
		}
		left = missing;
	}

	/** Types with values; of the sharing types and reads and writes all. */
	private List<Entry> types(boolean shares) {
		double[] totals = model.totals();
		double all = Arrays.stream(totals).sum();
		boolean fixed = model.viewpoint() == BasicDimensions.TYPE || model.viewpoint() == BasicDimensions.READ_WRITE;
		List<Entry> entries = new ArrayList<>();
		for (int k = 0; k < totals.length; k++) {
			if (fixed || totals[k] != 0) {
				String name = ModelText.type(model.types().get(k));
				String text = shares && all > 0 ? name + " " + Units.percent(100 * totals[k] / all) : name;
				entries.add(new Entry(model.types().get(k), k, null, text, 1.3 * f + o.meter.width(text, 0.92 * f, false)));
			}
		}
		return entries;
	}

	private double width(List<Entry> entries) {
		return entries.stream().mapToDouble(e -> e.width + 1.4 * f).sum();
	}

	/** Room of a line, counted from the last one, 0. */
	private double room(int fromLast) {
		return scaleWidth > 0 && !scaleBelow && fromLast < 2 ? width - scaleWidth - 2 * f : width;
	}

	private void flow(List<Entry> entries, int most) {
		for (int count = 1;; count++) {
			lines.clear();
			List<Entry> line = new ArrayList<>();
			lines.add(line);
			double x = 0;
			for (Entry e : entries) {
				if (!line.isEmpty() && x + e.width > room(count - lines.size())) {
					line = new ArrayList<>();
					lines.add(line);
					x = 0;
				}
				line.add(e);
				x += e.width + 1.4 * f;
			}
			if (lines.size() <= count || count > most + 2) {
				lineCount = Math.max(count, lines.size()); // upper lines may be longer than those beside the scale
				return;
			}
		}
	}

	/** Height with what is above and below it. */
	double height() {
		return 2.2 * f + (count() - 1) * LINE * f;
	}

	private int count() {
		return scaleWidth == 0 ? lineCount : scaleBelow ? lineCount + 2 : Math.max(2, lineCount);
	}

	/** Number of types that have no entry. */
	int left() {
		return left;
	}

	/** Draws it above the lower edge of the picture. */
	void draw(List<Shape> shapes, List<Picture.LegendItem> items) {
		double last = o.height - 0.85 * f;
		double baseline = last - (count() - 1) * LINE * f;
		for (List<Entry> line : lines) {
			double x = f;
			for (Entry e : line) {
				// a single entry wider than the picture is cut
				String text = o.meter.fit(e.text, 0.92 * f, false, width - (x - f) - (e.mark != null ? 2.3 * f : e.type != null ? 1.3 * f : 0));
				if (e.type != null && e.index >= 0) {
					items.add(item(shapes, palette, f, x, baseline, e.width, text, e.type, e.index, o.hiddenTypes.get(e.index)));
				} else if (e.type != null) {
					shapes.add(new Shape.Rect(x + 0.25 * f, baseline - 0.82 * f, 0.5 * f, 0.95 * f, palette.color(e.type), 0));
					text(shapes, x + 1.3 * f, baseline, text, palette.text());
				} else if (e.mark != null) {
					sample(shapes, e.mark, x, baseline - 0.82 * f);
					text(shapes, x + 2.3 * f, baseline, text, palette.text());
				} else {
					text(shapes, x, baseline, text, palette.mutedText());
				}
				x += e.width + 1.4 * f;
			}
			baseline += LINE * f;
		}
		if (scaleWidth > 0) {
			scale(shapes, scaleBelow ? f : o.width - f - scaleWidth, last);
		}
	}

	private void text(List<Shape> shapes, double x, double y, String text, int color) {
		shapes.add(new Shape.Text(x, y, text, 0.92 * f, false, color, Shape.Anchor.START, false));
	}

	private void sample(List<Shape> shapes, Mark mark, double x, double y) {
		double w = 1.9 * f;
		double h = 0.95 * f;
		switch (mark) {
		case MIXTURE -> shapes.add(new Shape.Mosaic(x, y, w, h, colors(palette.strip(0), palette.strip(3))));
		case LOSS -> lossMark(shapes, palette, f, x, y, w, h, "20 %", palette.strip(1));
		case FIRST_TOUCH -> {
			shapes.add(new Shape.Rect(x, y, w, h, palette.strip(2), 0));
			FirstTouchDrawing.mark(shapes, palette, x + w / 2 - 1.5, y, h, palette.text());
		}
		case SMALL, SMALL_IN_TIME -> {
			shapes.add(new Shape.Rect(x, y, w, h, palette.strip(0), 0));
			shapes.add(new Shape.Hatch(x, y, w, h, mark == Mark.SMALL ? Shape.HatchStyle.IN_SPACE : Shape.HatchStyle.IN_TIME_TOO,
					palette.hatch()));
		}
		case NOT_TO_SCALE -> notToScale(shapes, palette, x + 0.5 * f, y, 0.9 * f, h);
		}
	}

	private static List<Integer> colors(int a, int b) {
		List<Integer> colors = new ArrayList<>(Collections.nCopies(5, a));
		colors.addAll(Collections.nCopies(3, b));
		return colors;
	}

	/** The mark of a block whose mean hides much: a corner and, where there is room, how much. */
	static void lossMark(List<Shape> shapes, Palette palette, double f, double x, double y, double w, double h, String text, int fill) {
		double side = Math.max(4, Math.min(0.6 * f, Math.min(w, h) * 0.6));
		if (fill != 0) {
			shapes.add(new Shape.Rect(x, y, w, h, fill, 0));
		}
		shapes.add(new Shape.Polygon(new double[] {x + w - side, y, x + w, y, x + w, y + side}, palette.text(), palette.background()));
	}

	/** The mark in the strip of rows that are higher than those of others. */
	static void notToScale(List<Shape> shapes, Palette palette, double x, double y, double w, double h) {
		shapes.add(new Shape.Rect(x, y, w, h, palette.strip(2), 0));
		int light = palette.background();
		for (double at = y + 1; at < y + h - 0.5; at += 3) {
			shapes.add(new Shape.Rect(x, at, w, 1, light, 0));
		}
	}

	/** Shades as the blocks have them, with densities at round numbers. */
	private void scale(List<Shape> shapes, double x, double last) {
		double top = last - 2.35 * f;
		double high = 0.65 * f;
		double w = RAMP * f;
		int steps = 24;
		double reference = model.referenceDensity();
		for (int i = 0; i < steps; i++) {
			shapes.add(new Shape.Rect(x + i * w / steps, top, w / steps, high, palette.shade(palette.mutedText(), (i + 0.5) / steps), 0));
		}
		Scale unit = unit();
		double highest = reference * unit.factor;
		double free = x - f;
		List<Double> ticks = ticks(highest);
		for (int i = 0; i < ticks.size(); i++) {
			boolean end = i == ticks.size() - 1;
			double at = x + w * Palette.intensity(ticks.get(i), highest);
			String text = (end && model.densities().above() > 0 ? "≥ " : "") + unit.text(ticks.get(i));
			double half = o.meter.width(text, 0.85 * f, false) / 2;
			double from = Math.max(x, at - half);
			if (from < free || !end && at + half > x + w - o.meter.width("≥ " + unit.text(highest), 0.85 * f, false)) {
				continue;
			}
			shapes.add(new Shape.Line(at, top + high, at, top + high + 3, palette.axis(), 1, false));
			shapes.add(new Shape.Text(from, top + 1.65 * f, text, 0.85 * f, false, palette.mutedText(), Shape.Anchor.START, false));
			free = from + 2 * half + 0.7 * f;
		}
		text(shapes, x, last + 0.4 * f, caption(), palette.mutedText());
	}

	/** Round numbers up to a value, and the value: 0, then about a hundredth, a twentieth, a fifth of it. */
	private static List<Double> ticks(double highest) {
		List<Double> ticks = new ArrayList<>();
		ticks.add(0.0);
		for (double share : new double[] {0.02, 0.1, 0.3, 0.6}) {
			double power = Math.pow(10, Math.floor(Math.log10(highest * share)));
			double m = highest * share / power;
			double round = power * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
			if (round > ticks.get(ticks.size() - 1) && round < 0.8 * highest) {
				ticks.add(round);
			}
		}
		ticks.add(highest);
		return ticks;
	}

	/** How densities are told: number per row and unit. */
	private record Scale(double factor, String name, boolean percent, boolean duration, boolean inTicks) {
		String text(double v) {
			return percent ? Units.percent(100 * v) : duration ? Units.duration(v, inTicks) : Units.number(v >= 100 ? Math.rint(v) : v);
		}
	}

	private Scale unit() {
		double perNs = model.referenceDensity();
		double slice = (double) (model.slices().endNs() - model.slices().startNs()) / model.sliceCount();
		switch (model.metric().kind()) {
		case STATE_DURATION, STATE_TIME:
			return new Scale(1, "share of the time in states", true, false, o.ticks);
		case STATE_MEAN:
			return new Scale(slice, "in a slice", false, true, o.ticks);
		case VARIABLE_MEAN:
			return new Scale(slice, "mean value", false, false, o.ticks);
		default:
			break;
		}
		if (model.places() == Places.COLUMNS) {
			return new Scale(1, ModelText.counted(model, o.counts) + " per page and CPU", false, false, o.ticks);
		}
		String[] unit = o.ticks ? new String[] {"tick", "thousand ticks", "million ticks", "billion ticks"}
				: new String[] {"ns", "µs", "ms", "s"};
		double factor = 1;
		int i = 0;
		while (i < 3 && perNs * factor < 0.5) {
			factor *= 1000;
			i++;
		}
		return new Scale(factor, ModelText.counted(model, o.counts) + " per " + ModelText.row(model) + " and " + unit[i], false, false, o.ticks);
	}

	/** What the scale counts, and what its dark end does not tell. */
	private String caption() {
		Scale unit = unit();
		MicroscopicModel.Densities d = model.densities();
		return d.above() <= 0 ? unit.name
				: unit.name + "; " + Units.percent(100 * d.above()) + " have more, up to " + unit.text(d.most() * unit.factor);
	}

	/** Draws an entry; a hidden type has an empty box and a muted name. */
	static Picture.LegendItem item(List<Shape> shapes, Palette palette, double f, double x, double baseline, double width,
			String text, ModelType type, int index, boolean hidden) {
		double top = baseline - 0.82 * f;
		shapes.add(new Shape.Rect(x, top, 0.95 * f, 0.95 * f, hidden ? 0 : palette.color(type), hidden ? palette.color(type) : 0));
		Shape.HatchStyle style = hidden ? null : NotKnown.style(type.role());
		if (style != null) {
			shapes.add(new Shape.Hatch(x, top, 0.95 * f, 0.95 * f, style, palette.hatch()));
		}
		shapes.add(new Shape.Text(x + 1.3 * f, baseline, text, 0.92 * f, false, hidden ? palette.mutedText() : palette.text(),
				Shape.Anchor.START, false));
		if (hidden) {
			shapes.add(new Shape.Line(x + 1.3 * f, baseline - 0.3 * f, x + width, baseline - 0.3 * f, palette.mutedText(), 1, false));
		}
		return new Picture.LegendItem(x - 0.2 * f, top - 0.4 * f, width + 0.4 * f, 1.75 * f, index);
	}
}
