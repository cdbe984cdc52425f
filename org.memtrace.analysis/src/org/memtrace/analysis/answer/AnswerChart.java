// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;

/**
 * A chart of an answer: a column of numbers by another column. Bars when that one has labels, a line when it has numbers.
 *
 * @param by column of the labels, or of the numbers of the horizontal axis
 * @param value column of the numbers
 */
public record AnswerChart(AnswerTable table, int by, int value) {
	/** How the chart looks. */
	public enum Kind {
		BARS, LINE
	}

	private static final int MOST_POINTS_MARKED = 200;

	/** What a person probably wants to see of an answer; null when it has no number to draw. */
	public static AnswerChart of(AnswerTable table) {
		List<Integer> values = values(table);
		if (table.rows().isEmpty() || values.isEmpty()) {
			return null;
		}
		int label = labels(table).stream().filter(c -> !isDrawn(table, c)).findFirst().orElse(-1);
		if (label < 0 && values.size() < 2) {
			return null;
		}
		int by = label < 0 ? values.get(0) : label;
		// numbers that name something say little as a length
		List<Integer> others = values.stream().filter(c -> c != by).toList();
		int value = others.stream().filter(c -> !isName(table.columns().get(c).name())).findFirst().orElse(others.get(0));
		return new AnswerChart(table, by, value);
	}

	/** Columns that can be the length of a bar or the height of a point. */
	public static List<Integer> values(AnswerTable table) {
		return IntStream.range(0, table.columns().size()).filter(c -> isDrawn(table, c)).boxed().toList();
	}

	/** Columns that the values can be drawn by: all. */
	public static List<Integer> labels(AnswerTable table) {
		return IntStream.range(0, table.columns().size()).boxed().toList();
	}

	private static boolean isDrawn(AnswerTable table, int column) {
		return table.columns().get(column).isNumber() && !table.columns().get(column).isAddress();
	}

	private static boolean isName(String column) {
		return column.equals("id") || column.equals("producer") || column.endsWith("_id") || column.endsWith("index") || column.equals("image");
	}

	public Kind kind() {
		return isDrawn(table, by) ? Kind.LINE : Kind.BARS;
	}

	/** Rows that can be drawn, those of a line from left to right. */
	int[] drawn() {
		IntStream rows = IntStream.range(0, table.rows().size()).filter(r -> Double.isFinite(table.number(value, r)));
		return kind() == Kind.BARS ? rows.toArray()
				: rows.filter(r -> Double.isFinite(table.number(by, r))).boxed().sorted(Comparator.comparingDouble(r -> table.number(by, r)))
						.mapToInt(Integer::intValue).toArray();
	}

	/** What is drawn and what is not, as a sentence. */
	public String title() {
		int missing = table.rows().size() - drawn().length;
		String text = table.columns().get(value).name() + " by " + table.columns().get(by).name();
		return text + (table.isCut() ? String.format(Locale.ROOT, ", the first %s", Units.plural(table.rows().size(), "row")) : "")
				+ (missing == 0 ? "" : ", without " + Units.plural(missing, "row") + " that " + (missing == 1 ? "has" : "have") + " no number");
	}

	/** Draws. */
	public Scene scene(int width, int height, Palette palette, TextMeter meter, double fontSize) {
		List<Shape> shapes = new ArrayList<>();
		int[] rows = drawn();
		double f = fontSize;
		String title = meter.fit(title(), f, false, width - 2 * f);
		shapes.add(new Shape.Text(0.8 * f, 1.5 * f, title, f, false, palette.text(), Shape.Anchor.START, false));
		if (rows.length == 0) {
			shapes.add(new Shape.Text(width / 2.0, height / 2.0, "No number to draw.", f, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
		} else if (kind() == Kind.BARS) {
			bars(shapes, rows, width, height, palette, meter, f);
		} else {
			line(shapes, rows, width, height, palette, meter, f);
		}
		return new Scene(width, height, palette.background(), shapes);
	}

	/** A round scale that has all values. */
	record Scale(double low, double high, double step) {
		static Scale of(double min, double max, double most) {
			double range = max > min ? max - min : Math.max(1, Math.abs(max));
			double step = Units.roundStep(range, most);
			double low = step * Math.floor(min / step + 1e-9);
			double high = step * Math.ceil(max / step - 1e-9);
			return new Scale(low, high > low ? high : low + step, step);
		}

		double share(double v) {
			return (v - low) / (high - low);
		}

		int ticks() {
			return (int) Math.round((high - low) / step);
		}

		double tick(int i) {
			double v = low + i * step;
			return Math.abs(v) < step * 1e-6 ? 0 : v;
		}
	}

	/** Bars to the right, one below the other: labels are names, and stay readable. */
	private void bars(List<Shape> shapes, int[] rows, int width, int height, Palette palette, TextMeter meter, double f) {
		double small = 0.92 * f;
		double top = Math.rint(2.3 * f);
		double bottom = Math.rint(height - 2.2 * f);
		double pitch = Math.min(2.2 * f, Math.max(1.5 * f, (bottom - top) / rows.length));
		int fits = (int) Math.max(1, (bottom - top) / pitch);
		boolean all = rows.length <= fits;
		int shown = all ? rows.length : Math.max(1, fits - 1);
		double min = 0;
		double max = 0;
		double labels = 0;
		double values = 0;
		for (int i = 0; i < shown; i++) {
			double v = table.number(value, rows[i]);
			min = Math.min(min, v);
			max = Math.max(max, v);
			labels = Math.max(labels, meter.width(table.text(by, rows[i]), small, false));
			values = Math.max(values, meter.width(table.text(value, rows[i]), small, false));
		}
		labels = Math.min(labels, 0.35 * width);
		double left = Math.rint(0.8 * f + labels + 0.6 * f);
		double room = Math.max(20, width - left - values - 1.6 * f);
		Scale scale = Scale.of(min, max, Math.max(1, room / (5 * f)));
		double end = top + shown * pitch;
		shapes.add(new Shape.Rect(left, top, room, end - top, palette.plotBackground(), 0));
		double free = 0;
		for (int i = 0; i <= scale.ticks(); i++) {
			double x = Math.rint(left + room * scale.share(scale.tick(i))) + 0.5;
			shapes.add(new Shape.Line(x, top, x, end, palette.separator(), 1, false));
			String label = Units.number(scale.tick(i));
			double half = meter.width(label, small, false) / 2;
			if (x - half > free) {
				shapes.add(new Shape.Text(x, end + 1.3 * f, label, small, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
				free = x + half + 0.5 * f;
			}
		}
		boolean structures = table.columns().get(by).name().equals("structure");
		double zero = left + room * scale.share(0);
		for (int i = 0; i < shown; i++) {
			double v = table.number(value, rows[i]);
			double x = left + room * scale.share(v);
			double y = top + i * pitch;
			String label = table.text(by, rows[i]);
			double textY = y + pitch / 2 + 0.35 * f;
			shapes.add(new Shape.Text(left - 0.6 * f, textY, meter.fitMiddle(label, small, false, labels), small, false, palette.text(),
					Shape.Anchor.END, false));
			int color = structures ? palette.structure(label) : palette.local();
			shapes.add(new Shape.Rect(Math.min(zero, x), y + 0.15 * pitch, Math.max(1, Math.abs(x - zero)), 0.7 * pitch, color, 0));
			shapes.add(new Shape.Text(Math.max(zero, x) + 0.4 * f, textY, table.text(value, rows[i]), small, false, palette.mutedText(),
					Shape.Anchor.START, false));
		}
		if (!all) {
			shapes.add(new Shape.Text(width - 0.8 * f, end + 1.3 * f, "+ " + Units.plural(rows.length - shown, "row") + " below", small, false,
					palette.mutedText(), Shape.Anchor.END, false));
		}
	}

	private void line(List<Shape> shapes, int[] rows, int width, int height, Palette palette, TextMeter meter, double f) {
		double small = 0.92 * f;
		double top = Math.rint(2.8 * f);
		double bottom = Math.max(top + 20, Math.rint(height - 2.4 * f));
		double min = 0;
		double max = 0;
		for (int r : rows) {
			min = Math.min(min, table.number(value, r));
			max = Math.max(max, table.number(value, r));
		}
		Scale up = Scale.of(min, max, Math.max(1, (bottom - top) / (3 * f)));
		double wide = 0;
		for (int i = 0; i <= up.ticks(); i++) {
			wide = Math.max(wide, meter.width(Units.number(up.tick(i)), small, false));
		}
		double left = Math.rint(0.8 * f + wide + 0.5 * f);
		double right = Math.max(left + 20, width - 1.5 * f);
		double first = table.number(by, rows[0]);
		double last = table.number(by, rows[rows.length - 1]);
		Scale along = Scale.of(first, last, Math.max(1, (right - left) / (8 * f)));
		shapes.add(new Shape.Rect(left, top, right - left, bottom - top, palette.plotBackground(), 0));
		for (int i = 0; i <= up.ticks(); i++) {
			double y = Math.rint(bottom - (bottom - top) * up.share(up.tick(i))) - 0.5;
			shapes.add(new Shape.Line(left, y, right, y, palette.separator(), 1, false));
			shapes.add(new Shape.Text(left - 0.5 * f, y + 0.35 * f, Units.number(up.tick(i)), small, false, palette.mutedText(), Shape.Anchor.END,
					false));
		}
		double free = 0;
		for (int i = 0; i <= along.ticks(); i++) {
			double x = Math.rint(left + (right - left) * along.share(along.tick(i))) + 0.5;
			String label = Units.number(along.tick(i));
			double half = meter.width(label, small, false) / 2;
			shapes.add(new Shape.Line(x, bottom, x, bottom + 0.35 * f, palette.axis(), 1, false));
			double at = Math.min(x, width - half - 2); // the last one stays in the picture
			if (at - half > free) {
				shapes.add(new Shape.Text(at, bottom + 1.5 * f, label, small, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
				free = at + half + f;
			}
		}
		shapes.add(new Shape.Line(left, bottom - 0.5, right, bottom - 0.5, palette.axis(), 1, false));
		double beforeX = Double.NaN;
		double beforeY = Double.NaN;
		for (int r : rows) {
			double x = left + (right - left) * along.share(table.number(by, r));
			double y = bottom - (bottom - top) * up.share(table.number(value, r));
			if (!Double.isNaN(beforeX)) {
				shapes.add(new Shape.Line(beforeX, beforeY, x, y, palette.local(), 1.5, false));
			}
			if (rows.length <= MOST_POINTS_MARKED) {
				shapes.add(new Shape.Rect(x - 2, y - 2, 4, 4, palette.local(), 0));
			}
			beforeX = x;
			beforeY = y;
		}
	}
}
