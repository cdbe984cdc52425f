// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.aggregation.engine.SignificantLevels;
import org.memtrace.aggregation.engine.SignificantLevels.Level;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;

/**
 * The quality curves: information loss and complexity reduction in per cent against p, as steps; and which p is at a point.
 */
public final class CurvePicture {
	/** How the curves are drawn. */
	public enum Direction {
		/** Loss and reduction against p, both rising from 0 to 100 % (p from left to right). */
		RISING,
		/** What is kept: information and detail still shown, both falling from 100 to 0 %. */
		FALLING
	}

	private final Scene scene;
	private final double plotX;
	private final double plotWidth;

	private CurvePicture(Scene scene, double plotX, double plotWidth) {
		this.scene = scene;
		this.plotX = plotX;
		this.plotWidth = plotWidth;
	}

	public Scene scene() {
		return scene;
	}

	/** p at an x, clamped to 0..1. */
	public double pAt(double x) {
		double share = Math.min(1, Math.max(0, (x - plotX) / plotWidth));
		return share * share;
	}

	/** x of a p. The axis is that of the square root: most changes are at small p. */
	public double xOf(double p) {
		return plotX + plotWidth * Math.sqrt(p);
	}

	/**
	 * Draws.
	 *
	 * @param currentP where the mark is, negative for none
	 */
	public static CurvePicture build(SignificantLevels levels, double currentP, Direction direction, int width, int height,
			Palette palette, TextMeter meter, double fontSize) {
		return build(levels, currentP, direction, width, height, palette, meter, fontSize, null, "");
	}

	/**
	 * Draws what is known while the levels are looked for: the places at which the best partition was found, as points. What is between
	 * them is not known, and no line says something of it.
	 *
	 * @param levels some of the levels
	 * @param state what is said of the rest, such as "computing… 40 %"
	 */
	public static CurvePicture partial(SignificantLevels levels, double currentP, Direction direction, int width, int height,
			Palette palette, TextMeter meter, double fontSize, String state) {
		return build(levels, currentP, direction, width, height, palette, meter, fontSize, null, "", state);
	}

	/**
	 * Draws for a file.
	 *
	 * @param title first line, null for none
	 * @param subtitle second line
	 */
	public static CurvePicture build(SignificantLevels levels, double currentP, Direction direction, int width, int height,
			Palette palette, TextMeter meter, double fontSize, String title, String subtitle) {
		return build(levels, currentP, direction, width, height, palette, meter, fontSize, title, subtitle, null);
	}

	/** @param computing null: all levels are known */
	private static CurvePicture build(SignificantLevels levels, double currentP, Direction direction, int width, int height,
			Palette palette, TextMeter meter, double fontSize, String title, String subtitle, String computing) {
		double f = fontSize;
		List<Shape> shapes = new ArrayList<>();
		double below = 0;
		if (title != null) {
			shapes.add(new Shape.Text(f, 2.05 * f, meter.fit(title, 1.3 * f, true, width - 2 * f), 1.3 * f, true, palette.text(),
					Shape.Anchor.START, false));
			shapes.add(new Shape.Text(f, 3.7 * f, meter.fit(subtitle, f, false, width - 2 * f), f, false, palette.mutedText(),
					Shape.Anchor.START, false));
			below = 4.2 * f;
		}
		double left = Math.rint(f + meter.width("100 %", 0.92 * f, false) + 0.6 * f);
		double top = Math.rint(below + 2.6 * f);
		double right = width - 1.2 * f;
		double bottom = Math.rint(height - 2.2 * f);
		CurvePicture picture = new CurvePicture(null, left, Math.max(20, right - left));
		double plotHeight = Math.max(20, bottom - top);
		bottom = top + plotHeight;
		shapes.add(new Shape.Rect(left, top, picture.plotWidth, plotHeight, palette.plotBackground(), 0));
		for (int percent = 0; percent <= 100; percent += height < 160 ? 50 : 25) {
			double y = Math.rint(bottom - plotHeight * percent / 100) - 0.5;
			shapes.add(new Shape.Line(left, y, left + picture.plotWidth, y, palette.separator(), 1, false));
			shapes.add(new Shape.Text(left - 0.5 * f, y + 0.35 * f, percent + " %", 0.92 * f, false, palette.mutedText(),
					Shape.Anchor.END, false));
		}
		axisOfP(picture, levels, shapes, bottom, width, palette, meter, f);
		boolean falling = direction == Direction.FALLING;
		if (computing == null) {
			steps(picture, levels, shapes, top, plotHeight, falling, true, palette.gainCurve());
			steps(picture, levels, shapes, top, plotHeight, falling, false, palette.lossCurve());
		} else {
			shapes.add(new Shape.Text(left + picture.plotWidth / 2, Math.rint(top + plotHeight / 2 + 0.35 * f),
					meter.fit(computing, f, false, picture.plotWidth), f, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
			points(picture, levels, shapes, top, plotHeight, falling, true, palette.gainCurve(), 0.5 * f);
			points(picture, levels, shapes, top, plotHeight, falling, false, palette.lossCurve(), 0.5 * f);
		}
		if (currentP >= 0) {
			double x = Math.rint(picture.xOf(Math.min(1, currentP))) + 0.5;
			shapes.add(new Shape.Line(x, top - 0.4 * f, x, bottom, palette.highlight(), 2, false));
		}
		double x = left;
		String gain = falling ? "detail left" : "complexity reduction";
		String loss = falling ? "information left" : "information loss";
		if (x + meter.width(gain + loss, 0.92 * f, false) + 6 * f > width) {
			gain = falling ? "detail" : "reduction";
			loss = falling ? "information" : "loss";
		}
		x = key(shapes, meter, palette, gain, palette.gainCurve(), x, below + 1.5 * f, f);
		key(shapes, meter, palette, loss, palette.lossCurve(), x, below + 1.5 * f, f);
		return new CurvePicture(new Scene(width, height, palette.background(), shapes), left, picture.plotWidth);
	}

	private static void axisOfP(CurvePicture picture, SignificantLevels levels, List<Shape> shapes, double bottom, int width,
			Palette palette, TextMeter meter, double f) {
		double free = 0;
		for (double p : new double[] {0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}) {
			double x = picture.xOf(p);
			String label = Units.p(p);
			double half = meter.width(label, 0.92 * f, false) / 2;
			if (x - half < free) {
				continue;
			}
			free = x + half + f;
			shapes.add(new Shape.Line(Math.rint(x) + 0.5, bottom, Math.rint(x) + 0.5, bottom + 0.35 * f, palette.axis(), 1,
					false));
			shapes.add(new Shape.Text(Math.min(x, width - half - 2), bottom + 1.45 * f, p > 0 ? label : levels.normalised() ? "p' = 0"
					: "p = 0", 0.92 * f, false, palette.mutedText(), Shape.Anchor.MIDDLE, false));
		}
	}

	private static double key(List<Shape> shapes, TextMeter meter, Palette palette, String text, int color, double x,
			double baseline, double f) {
		shapes.add(new Shape.Line(x, baseline - 0.33 * f, x + 1.6 * f, baseline - 0.33 * f, color, 2, false));
		shapes.add(new Shape.Text(x + 2 * f, baseline, text, 0.92 * f, false, palette.text(), Shape.Anchor.START, false));
		return x + 3.6 * f + meter.width(text, 0.92 * f, false);
	}

	private static void points(CurvePicture picture, SignificantLevels levels, List<Shape> shapes, double top, double height,
			boolean falling, boolean gain, int color, double size) {
		for (Level level : levels.levels()) {
			double percent = gain ? level.partition().reductionPercent() : level.partition().lossPercent();
			double y = top + height * (falling ? percent : 100 - percent) / 100;
			shapes.add(new Shape.Rect(picture.xOf(level.p()) - size / 2, y - size / 2, size, size, color, 0));
		}
	}

	private static void steps(CurvePicture picture, SignificantLevels levels, List<Shape> shapes, double top,
			double height, boolean falling, boolean gain, int color) {
		double lastY = Double.NaN;
		List<Level> list = levels.levels();
		for (int i = 0; i < list.size(); i++) {
			double percent = gain ? list.get(i).partition().reductionPercent() : list.get(i).partition().lossPercent();
			double y = top + height * (falling ? percent : 100 - percent) / 100;
			double x1 = picture.xOf(list.get(i).p());
			double x2 = picture.xOf(i + 1 < list.size() ? list.get(i + 1).p() : 1);
			if (i > 0) {
				shapes.add(new Shape.Line(x1, lastY, x1, y, color, 1.5, false));
			}
			shapes.add(new Shape.Line(x1, y, x2, y, color, 1.5, false));
			lastY = y;
		}
	}
}
