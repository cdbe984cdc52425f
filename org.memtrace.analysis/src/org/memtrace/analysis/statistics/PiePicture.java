// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.statistics.PieModel.Slice;
import org.memtrace.analysis.text.Units;

/** A pie with a hole, in which the sum stands; and which slice is at a point. */
public final class PiePicture {
	private static final double HOLE = 0.52;
	private static final int MOST_LEGEND = 24;
	/** Smallest size of the sum, in font sizes. */
	private static final double LEAST_TOTAL = 0.7;

	private final Scene scene;
	private final List<Slice> slices;
	private final double centreX;
	private final double centreY;
	private final double radius;

	private PiePicture(Scene scene, List<Slice> slices, double centreX, double centreY, double radius) {
		this.scene = scene;
		this.slices = slices;
		this.centreX = centreX;
		this.centreY = centreY;
		this.radius = radius;
	}

	public Scene scene() {
		return scene;
	}

	/** The slice at a point, or null. */
	public Slice sliceAt(double x, double y) {
		double dx = x - centreX;
		double dy = y - centreY;
		double distance = Math.hypot(dx, dy);
		if (distance > radius || distance < HOLE * radius) {
			return null;
		}
		double percent = Math.toDegrees(Math.atan2(dx, -dy)) / 3.6;
		percent = percent < 0 ? percent + 100 : percent;
		for (Slice s : slices) {
			percent -= s.percent();
			if (percent < 0) {
				return s;
			}
		}
		return slices.isEmpty() ? null : slices.get(slices.size() - 1);
	}

	/**
	 * Draws.
	 *
	 * @param selected keys of slices to emphasise
	 * @param legend whether names stand beside it, for a picture without a table
	 */
	public static PiePicture build(PieModel model, Set<String> selected, boolean legend, int width, int height,
			Palette palette, TextMeter meter, double fontSize) {
		double f = fontSize;
		List<Shape> shapes = new ArrayList<>();
		double legendWidth = legend ? Math.min(0.55 * width, 30 * f) : 0;
		double radius = Math.max(12, Math.min(width - legendWidth, height) / 2 - 0.9 * f);
		double cx = (width - legendWidth) / 2;
		double cy = height / 2.0;
		List<Slice> slices = model.slices();
		if (slices.isEmpty()) {
			shapes.add(new Shape.Polygon(arc(cx, cy, radius, HOLE * radius, 0, 100), palette.plotBackground(), 0));
			shapes.add(text(cx, cy + 0.35 * f, "nothing here", f, false, palette.mutedText()));
			return new PiePicture(new Scene(width, height, palette.background(), shapes), List.of(), cx, cy, radius);
		}
		double at = 0;
		for (Slice s : slices) {
			boolean marked = selected.contains(s.key());
			double out = marked ? radius + 0.5 * f : radius;
			shapes.add(new Shape.Polygon(arc(cx, cy, out, HOLE * radius, at, s.percent()), model.color(s, palette),
					slices.size() > 1 ? palette.background() : 0));
			at += s.percent();
		}
		at = 0;
		for (Slice s : slices) {
			String label = Units.percent(s.percent());
			double middle = 0.5 * (1 + HOLE) * radius;
			double arc = 2 * Math.PI * middle * s.percent() / 100;
			double room = Math.min((1 - HOLE) * radius, arc);
			if (meter.width(label, 0.92 * f, false) + 4 < room && arc > 1.6 * f) {
				double angle = 2 * Math.PI * (at + s.percent() / 2) / 100;
				int color = model.color(s, palette);
				shapes.add(text(cx + middle * Math.sin(angle), cy - middle * Math.cos(angle) + 0.33 * f, label, 0.92 * f, false,
						isLight(color) ? 0xff1f2328 : 0xffffffff));
			}
			at += s.percent();
		}
		double inside = 2 * HOLE * radius - f;
		// a number that is cut off would be another one: it is made smaller
		double size = Math.clamp(1.25 * f * inside / meter.width(model.text(model.total()), 1.25 * f, true), LEAST_TOTAL * f, 1.25 * f);
		String total = meter.fit(model.text(model.total()), size, true, inside);
		shapes.add(text(cx, cy + 0.1 * f, total, size, true, palette.text()));
		String what = model.counted();
		if (meter.width(what, 0.92 * f, false) <= inside) {
			shapes.add(text(cx, cy + 1.5 * f, what, 0.92 * f, false, palette.mutedText()));
		}
		if (legend) {
			legend(shapes, slices, model, width - legendWidth, width - f, height, palette, meter, f);
		}
		return new PiePicture(new Scene(width, height, palette.background(), shapes), slices, cx, cy, radius);
	}

	private static void legend(List<Shape> shapes, List<Slice> slices, PieModel model, double left, double right, int height,
			Palette palette, TextMeter meter, double f) {
		int lines = Math.max(1, Math.min(MOST_LEGEND, (int) ((height - f) / (1.6 * f))));
		boolean cut = slices.size() > lines;
		int shown = cut ? lines - 1 : slices.size();
		double y = (height - 1.6 * f * Math.min(lines, slices.size())) / 2 + 1.1 * f;
		for (int i = 0; i < shown; i++, y += 1.6 * f) {
			Slice s = slices.get(i);
			String value = model.text(s.value());
			shapes.add(new Shape.Rect(left, y - 0.8 * f, f, f, model.color(s, palette), 0));
			shapes.add(new Shape.Text(right, y, value, f, false, palette.mutedText(), Shape.Anchor.END, false));
			shapes.add(new Shape.Text(left + 1.5 * f, y, meter.fitMiddle(s.name(), f, false,
					right - left - 2.5 * f - meter.width(value, f, false)), f, false, palette.text(), Shape.Anchor.START, false));
		}
		if (cut) {
			shapes.add(new Shape.Text(left + 1.5 * f, y, "and " + (slices.size() - shown) + " more", f, false, palette.mutedText(),
					Shape.Anchor.START, false));
		}
	}

	private static Shape.Text text(double x, double y, String text, double size, boolean bold, int color) {
		return new Shape.Text(x, y, text, size, bold, color, Shape.Anchor.MIDDLE, false);
	}

	/** Whether dark text is read better on a colour. */
	static boolean isLight(int argb) {
		return 0.299 * (argb >> 16 & 0xff) + 0.587 * (argb >> 8 & 0xff) + 0.114 * (argb & 0xff) > 140;
	}

	/** A piece of a ring, clockwise from the top, in per cent of the turn. */
	private static double[] arc(double cx, double cy, double outer, double inner, double from, double percent) {
		// chords that are at most a quarter of a pixel inside of the arc
		double step = 100 * Math.acos(1 - Math.min(1, 0.25 / outer)) / Math.PI;
		int n = Math.max(2, (int) Math.ceil(percent / step)) + 1;
		double[] points = new double[4 * n];
		for (int i = 0; i < n; i++) {
			double angle = 2 * Math.PI * (from + percent * i / (n - 1)) / 100;
			points[2 * i] = cx + outer * Math.sin(angle);
			points[2 * i + 1] = cy - outer * Math.cos(angle);
			points[4 * n - 2 - 2 * i] = cx + inner * Math.sin(angle);
			points[4 * n - 1 - 2 * i] = cy - inner * Math.cos(angle);
		}
		return points;
	}
}
