// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.diff.DiffMap.Field;
import org.memtrace.analysis.diff.DiffMap.Quantity;
import org.memtrace.analysis.diff.DiffMap.Values;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.findings.facts.Words;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.ThreadInfo;

/**
 * A picture coloured by the difference of two sides: structures below each other, place in the structure down, time to the right. With
 * first touch, two columns at the left say which thread touches most pages of each place first, before (A) and after (B). Below it the
 * scale with its unit and what is cut.
 */
public final class DiffPicture {
	private static final double GAP = 4;
	/** Lower rows are drawn together. */
	private static final double LEAST_ROW = 2;
	/** Below so many lines of text the legend is short. */
	private static final double LOW = 24;
	private static final double LOW_AND_NARROW = 17;
	/** Narrower than so many lines of text are high, the texts stand below the scale. */
	private static final double NARROW = 52;
	/** Bands of the scale. */
	private static final int STEPS = 41;

	/** Where the field of a structure is; {@code rows} of it are drawn. */
	private record Place(Field field, double y, double height, int rows) {
		int placeFrom(int row) {
			return row * field.places() / rows;
		}

		int placeTo(int row) {
			return (row + 1) * field.places() / rows;
		}

		int rowAt(double atY) {
			return Math.clamp((int) ((atY - y) / height * rows), 0, rows - 1);
		}
	}

	private final DiffMap map;
	private final Values values;
	private final Palette palette;
	private final TextMeter meter;
	private final double f;
	private final List<Shape> shapes = new ArrayList<>();
	private final List<Place> places = new ArrayList<>();
	private double left;
	private double plotWidth;
	private Scene scene;

	private DiffPicture(DiffMap map, Values values, Palette palette, TextMeter meter, double fontSize) {
		this.map = map;
		this.values = values;
		this.palette = palette;
		this.meter = meter;
		f = fontSize;
	}

	/**
	 * Draws.
	 *
	 * @param values of the map
	 * @param selected name of the structure that is marked, null none
	 */
	public static DiffPicture build(DiffMap map, Values values, String selected, int width, int height, Palette palette, TextMeter meter,
			double fontSize) {
		DiffPicture p = new DiffPicture(map, values, palette, meter, fontSize);
		p.draw(selected, width, height);
		p.scene = new Scene(width, height, palette.background(), p.shapes);
		return p;
	}

	public Scene scene() {
		return scene;
	}

	/** The structure at a point, or null. */
	public StructureDiff structureAt(double x, double y) {
		Place p = placeAt(y);
		return p == null ? null : p.field().structure();
	}

	/** What is at a point, as lines for a person; empty where there is nothing. */
	public String textAt(double x, double y) {
		Place p = placeAt(y);
		if (p == null) {
			return "";
		}
		StructureDiff s = p.field().structure();
		if (x < left || x >= left + plotWidth) {
			return s.name() + "\n" + DiffTable.text(DiffTable.MATCHED, s);
		}
		int row = p.rowAt(y);
		int from = p.placeFrom(row);
		int to = p.placeTo(row);
		int column = Math.clamp((int) ((x - left) / plotWidth * DiffMap.COLUMNS), 0, DiffMap.COLUMNS - 1);
		String where = s.name() + ", " + Units.percent(100.0 * from / p.field().places()) + " to "
				+ Units.percent(100.0 * to / p.field().places()) + " of its length\n"
				+ time(values.until() * column / DiffMap.COLUMNS) + " to " + time(values.until() * (column + 1) / DiffMap.COLUMNS)
				+ (values.choice().sinceStart() ? " since the start" : " of the run");
		if (!p.field().isUsed(from, to, column)) {
			return where + "\nnothing, before and after";
		}
		double a = p.field().mean(p.field().before(), from, to, column);
		double b = p.field().mean(p.field().after(), from, to, column);
		return where + "\n" + what() + "\nA " + share(a) + ", B " + share(b) + ", difference " + (a == b ? "0" : DiffTable.points(b - a));
	}

	private Place placeAt(double y) {
		return places.stream().filter(p -> y >= p.y() - GAP / 2 && y < p.y() + p.height() + GAP / 2).findFirst().orElse(null);
	}

	private boolean isTouch() {
		return values.choice().quantity() == Quantity.FIRST_TOUCH;
	}

	/** What a value is. */
	private String what() {
		return switch (values.choice().quantity()) {
		case ACCESSES -> "share of all accesses";
		case READS -> "share of all reads";
		case WRITES -> "share of all writes";
		case FIRST_TOUCH -> "share of the pages that " + map.thread(values.choice().role()) + " has touched first until then";
		};
	}

	private static String share(double v) {
		return v > 0 && v < 0.0005 ? String.format(Locale.ROOT, "%.1e %%", 100 * v) : Words.percent(v);
	}

	private String time(double at) {
		return values.choice().sinceStart() ? Units.duration(at, isInTicks()) : Units.percent(100 * at);
	}

	private boolean isInTicks() {
		return map.diff().after().get(0).facts().info().isInTicks();
	}

	private void draw(String selected, int width, int height) {
		double small = 0.92 * f;
		double top = Math.rint((isTouch() ? 1.8 : 0.8) * f);
		boolean slim = width < NARROW * f;
		boolean low = height < (slim ? LOW_AND_NARROW : LOW) * f;
		boolean narrow = slim && !low;
		double bottom = Math.rint(height - (low ? 4.9 : narrow ? 9 : 6.2) * f);
		int fit = Math.max(1, (int) ((bottom - top + GAP) / (1.4 * f + GAP)));
		List<Field> fields = values.fields().subList(0, Math.min(fit, values.fields().size()));
		double widest = fields.stream().mapToDouble(x -> meter.width(name(x.structure()), small, true)).max().orElse(0);
		double names = Math.min(widest, Math.max(6 * f, width / 4.0));
		double strips = isTouch() ? 3 * f : 0;
		left = Math.rint(names + 1.4 * f + strips);
		plotWidth = Math.max(20, Math.rint(width - left - 1.2 * f));
		if (fields.isEmpty()) {
			shapes.add(new Shape.Text(width / 2.0, height / 2.0, "No structure has 1 % of what was recorded.", f, false, palette.mutedText(),
					Shape.Anchor.MIDDLE, false));
			return;
		}
		double each = (bottom - top + GAP) / fields.size() - GAP;
		if (isTouch()) {
			double x = left - strips;
			shapes.add(new Shape.Text(x + 0.6 * f, top - 0.5 * f, "A", small, true, palette.text(), Shape.Anchor.MIDDLE, false));
			shapes.add(new Shape.Text(x + 1.9 * f, top - 0.5 * f, "B", small, true, palette.text(), Shape.Anchor.MIDDLE, false));
			threads(left, top - 0.5 * f, width - 0.8 * f);
		}
		for (int i = 0; i < fields.size(); i++) {
			Field field = fields.get(i);
			double y = top + i * (each + GAP);
			Place p = new Place(field, y, each, Math.max(1, Math.min(field.places(), (int) (each / LEAST_ROW))));
			places.add(p);
			boolean marked = field.structure().name().equals(selected);
			double textY = y + Math.min(each / 2, 3 * f) + 0.35 * f;
			shapes.add(new Shape.Text(0.8 * f + names, textY, meter.fitMiddle(name(field.structure()), small, marked, names), small, marked,
					marked ? palette.highlight() : palette.text(), Shape.Anchor.END, false));
			cells(p);
			if (isTouch()) {
				double x = left - strips;
				strip(x, p, field.structure().before());
				strip(x + 1.3 * f, p, field.structure().after());
			}
			if (marked) {
				shapes.add(new Shape.Rect(left - 1, y - 1, plotWidth + 2, each + 2, 0, palette.highlight()));
				shapes.add(new Shape.Rect(left, y, plotWidth, each, 0, palette.highlight()));
			}
		}
		axis(bottom, width);
		legend(bottom + 2.1 * f, width, values.fields().size() - fields.size() + values.more(), low, narrow);
	}

	private static String name(StructureDiff s) {
		return s.name() + (s.inA() == 0 ? " (only B)" : s.inB() == 0 ? " (only A)" : "");
	}

	private void cells(Place p) {
		for (int row = 0; row < p.rows(); row++) {
			double y0 = Math.rint(p.y() + p.height() * row / p.rows());
			double y1 = Math.rint(p.y() + p.height() * (row + 1) / p.rows());
			for (int c = 0; c < DiffMap.COLUMNS;) {
				int color = color(p, row, c);
				int end = c + 1;
				while (end < DiffMap.COLUMNS && color(p, row, end) == color) {
					end++;
				}
				if (color != 0) {
					double x0 = Math.rint(left + plotWidth * c / DiffMap.COLUMNS);
					double x1 = Math.rint(left + plotWidth * end / DiffMap.COLUMNS);
					shapes.add(new Shape.Rect(x0, y0, x1 - x0, y1 - y0, color, 0));
				}
				c = end;
			}
		}
		shapes.add(new Shape.Rect(left - 1, p.y() - 1, plotWidth + 2, p.height() + 2, 0, palette.separator()));
	}

	/** 0 where nothing is. */
	private int color(Place p, int row, int column) {
		int from = p.placeFrom(row);
		int to = p.placeTo(row);
		if (!p.field().isUsed(from, to, column)) {
			return 0;
		}
		double d = p.field().difference(from, to, column);
		return palette.diverging(values.limit() == 0 ? 0 : d / values.limit());
	}

	/** Who touches most pages of each place first. */
	private void strip(double x, Place p, StructureDiff.Use use) {
		double w = Math.rint(1.1 * f);
		shapes.add(new Shape.Rect(x, p.y(), w, p.height(), palette.plotBackground(), 0));
		int[] role = use == null ? new int[0] : use.firstPlaces();
		if (role.length == 0 && use != null) {
			role = only(use.firstTouch());
		}
		for (int i = 0; i < role.length;) {
			int end = i;
			while (end < role.length && role[end] == role[i]) {
				end++;
			}
			if (role[i] >= 0) {
				double y0 = p.y() + p.height() * i / role.length;
				double y1 = p.y() + p.height() * end / role.length;
				shapes.add(new Shape.Rect(x, y0, w, y1 - y0, color(role[i]), 0));
			}
			i = end;
		}
	}

	/** The colours of the columns at the left: as many threads as there is room for. */
	private void threads(double from, double y, double right) {
		double small = 0.92 * f;
		String head = right - from < NARROW * f ? "touched first by" : "A, B: thread that touches most pages of a place first";
		List<String> roles = map.diff().roles();
		double x = from;
		shapes.add(new Shape.Text(x, y, meter.fit(head, small, false, right - x), small, false, palette.text(), Shape.Anchor.START, false));
		x += meter.width(head, small, false) + f;
		for (int r = 0; r < roles.size(); r++) {
			double wide = 1.3 * f + meter.width(roles.get(r), small, false);
			if (x + wide + (r + 1 < roles.size() ? 3 * f : 0) > right) {
				String more = "+ " + (roles.size() - r);
				if (x + meter.width(more, small, false) <= right) {
					shapes.add(new Shape.Text(x, y, more, small, false, palette.mutedText(), Shape.Anchor.START, false));
				}
				return;
			}
			shapes.add(new Shape.Rect(x, y - 0.75 * f, 0.9 * f, 0.9 * f, color(r), 0));
			shapes.add(new Shape.Text(x + 1.3 * f, y, roles.get(r), small, false, palette.text(), Shape.Anchor.START, false));
			x += wide + 0.9 * f;
		}
	}

	/** For small structures, of which places are not known: one place, when one role touches all of it. */
	private static int[] only(double[] shares) {
		for (int r = 0; r < shares.length; r++) {
			if (shares[r] > 0.999) {
				return new int[] {r};
			}
		}
		return new int[0];
	}

	/** The colour of the thread that has the role in the first run, as in all pictures by thread. */
	private int color(int role) {
		for (Run run : List.of(map.diff().before().get(0), map.diff().after().get(0))) {
			TraceFacts facts = run.facts();
			for (int t = 0; t < facts.threads().size(); t++) {
				if (run.roleNumber(t) == role) {
					ThreadInfo thread = facts.threads().get(t);
					return palette.color(ModelType.thread(thread));
				}
			}
		}
		return palette.unknown();
	}

	private void axis(double y, int width) {
		if (values.choice().sinceStart()) {
			new TimeAxis(0, 0, Math.max(1, Math.round(values.until())), Math.max(2, (int) (plotWidth / (8 * f))), isInTicks()).draw(shapes,
					palette, meter, f, left, y, width - 4, ns -> left + plotWidth * ns / values.until());
			return;
		}
		double end = 100 * values.until();
		double step = Units.roundStep(end, Math.max(2, (int) (plotWidth / (8 * f))));
		for (int i = 0; i * step <= end * 1.0001; i++) {
			double x = left + plotWidth * i * step / end;
			String text = Units.digits(i * step) + " %" + (i == 0 ? " of the run" : "");
			double half = meter.width(text, 0.92 * f, false) / 2;
			shapes.add(new Shape.Line(Math.rint(x) + 0.5, y, Math.rint(x) + 0.5, y + 0.35 * f, palette.axis(), 1, false));
			double textX = i == 0 ? left - 2 + half : Math.min(x, width - 4 - half);
			if (i == 0 || textX - half > left + meter.width("0 % of the run", 0.92 * f, false) + 0.6 * f) {
				shapes.add(new Shape.Text(textX, y + 1.45 * f, text, 0.92 * f, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
			}
		}
	}

	/** The scale, what it means, and what is cut. */
	private void legend(double y, int width, int hidden, boolean low, boolean narrow) {
		double small = 0.92 * f;
		double x = 0.8 * f;
		double bar = Math.min(16 * f, Math.max(8 * f, width / 4.0));
		double barY = Math.rint(y + 0.3 * f);
		for (int i = 0; i < STEPS; i++) {
			double x0 = Math.rint(x + bar * i / STEPS);
			double x1 = Math.rint(x + bar * (i + 1) / STEPS);
			shapes.add(new Shape.Rect(x0, barY, x1 - x0, Math.rint(0.9 * f), values.limit() == 0 ? palette.diverging(0)
					: palette.diverging(2.0 * i / (STEPS - 1) - 1), 0));
		}
		double under = barY + 2.1 * f;
		if (values.limit() > 0) {
			String cut = values.beyond() > 0 ? "≤ " : "";
			shapes.add(new Shape.Text(x, under, cut + number(-values.limit()), small, false, palette.mutedText(), Shape.Anchor.START, false));
			shapes.add(new Shape.Text(x + bar, under, (values.beyond() > 0 ? "≥ " : "") + number(values.limit()), small, false,
					palette.mutedText(), Shape.Anchor.END, false));
		}
		shapes.add(new Shape.Text(x + bar / 2, under, "0", small, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
		double textX = x + bar + 1.5 * f;
		double room = width - textX - 0.8 * f;
		String unit = "B − A in percentage points: " + what();
		if (low) {
			unit += cut();
		}
		shapes.add(new Shape.Text(textX, y + 1.05 * f, meter.fit(unit, small, false, room), small, false, palette.text(), Shape.Anchor.START,
				false));
		if (narrow) {
			// the texts have the whole width, below the scale
			shapes.removeLast();
			shapes.add(new Shape.Text(textX, y + 1.05 * f, meter.fit("B − A in percentage points", small, false, room), small, false,
					palette.text(), Shape.Anchor.START, false));
			textX = x;
			room = width - 1.6 * f;
			shapes.add(new Shape.Text(textX, under + 1.4 * f, meter.fit(what(), small, false, room), small, false, palette.text(),
					Shape.Anchor.START, false));
			y = under + 0.3 * f;
		}
		List<String> more = new ArrayList<>();
		more.add("empty: nothing there, before and after");
		if (hidden > 0) {
			more.add(Units.plural(hidden, "lighter structure") + " not drawn");
		}
		if (low) {
			shapes.add(new Shape.Text(textX, y + 2.4 * f, meter.fit(cell() + "; " + String.join("; ", more), small, false, room), small, false,
					palette.mutedText(), Shape.Anchor.START, false));
			return;
		}
		shapes.add(new Shape.Text(textX, y + 2.4 * f, meter.fit(cell() + cut(), small, false, room), small, false, palette.mutedText(),
				Shape.Anchor.START, false));
		more.add("A: " + label(map.diff().before()) + ", B: " + label(map.diff().after()));
		shapes.add(new Shape.Text(textX, y + 3.7 * f, meter.fit(String.join("; ", more), small, false, room), small, false,
				palette.mutedText(), Shape.Anchor.START, false));
	}

	private static String label(List<Run> runs) {
		return runs.size() == 1 ? runs.get(0).label() : "mean of " + Units.plural(runs.size(), "run");
	}

	/** What a cell is. */
	private String cell() {
		return isTouch() ? "place: up to 1/" + PlaceTimes.PLACES + " of a structure" : "a cell: up to 1/" + PlaceTimes.PLACES
				+ " of a structure and 1/" + DiffMap.COLUMNS + " of the axis";
	}

	private String cut() {
		if (values.limit() == 0) {
			return "; nothing differs";
		}
		return values.beyond() == 0 ? "; nothing is cut" : "; cut: " + Units.plural(values.beyond(), "cell") + " of "
				+ Units.plural(values.differing(), "cell") + " that differ, up to " + number(values.largest()).replace("+", "");
	}

	/** Percentage points without their name. */
	private static String number(double v) {
		String text = DiffTable.points(v);
		return text.substring(0, text.length() - " points".length()).replaceFirst("\\.0$", "").replace('-', '−');
	}
}
