// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.statistics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.statistics.Statistics.Sum;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Units;

/** A histogram over time, stacked, with axes and a legend; and what is at a point of it. */
public final class DensityPicture {
	/** Pixels of a bin that can be pointed at and is still fine. */
	public static final int BIN_PIXELS = 3;

	private final Scene scene;
	private final DensityModel model;
	private final double plotX;
	private final double plotY;
	private final double plotWidth;
	private final double plotHeight;
	private final double top;
	private final PlotMargins margins;

	private DensityPicture(Scene scene, DensityModel model, double plotX, double plotY, double plotWidth, double plotHeight,
			double top, PlotMargins margins) {
		this.scene = scene;
		this.model = model;
		this.plotX = plotX;
		this.plotY = plotY;
		this.plotWidth = plotWidth;
		this.plotHeight = plotHeight;
		this.top = top;
		this.margins = margins;
	}

	/**
	 * Number of bins that fit into a picture of a width.
	 *
	 * @param margins that it has beside the plot at least
	 */
	public static int bins(int width, double fontSize, PlotMargins margins) {
		return Math.max(16, (int) ((width - Math.max(7 * fontSize, margins.left() + margins.right())) / BIN_PIXELS));
	}

	public Scene scene() {
		return scene;
	}

	public DensityModel model() {
		return model;
	}

	/** What it needs beside the plot; it may have more. */
	public PlotMargins margins() {
		return margins;
	}

	public double plotX() {
		return plotX;
	}

	public double plotY() {
		return plotY;
	}

	public double plotWidth() {
		return plotWidth;
	}

	public double plotHeight() {
		return plotHeight;
	}

	/** Time at an x, clamped to the window. */
	public long timeAt(double x) {
		double share = Math.max(0, Math.min(1, (x - plotX) / plotWidth));
		return model.fromNs() + Math.round(share * (model.toNs() - model.fromNs()));
	}

	/** x of a time. */
	public double xOf(long ns) {
		return plotX + plotWidth * (ns - model.fromNs()) / (model.toNs() - model.fromNs());
	}

	/** The bin at a point of the plot, or -1. */
	public int binAt(double x, double y) {
		if (x < plotX || x >= plotX + plotWidth || y < plotY || y > plotY + plotHeight) {
			return -1;
		}
		return Math.min(model.bins() - 1, (int) ((x - plotX) / plotWidth * model.bins()));
	}

	/** The series at a point, or -1. */
	public int seriesAt(double x, double y) {
		int bin = binAt(x, y);
		if (bin < 0) {
			return -1;
		}
		double at = (plotY + plotHeight - y) / plotHeight * top;
		for (int s = 0; s < model.series().size(); s++) {
			at -= model.value(s, bin);
			if (at < 0) {
				return s;
			}
		}
		return -1;
	}

	/** What a bin holds, as lines for a person; empty outside of the plot. */
	public String textAt(double x, double y) {
		int bin = binAt(x, y);
		if (bin < 0) {
			return "";
		}
		long from = model.boundNs(bin);
		long to = model.boundNs(bin + 1);
		StringBuilder b = new StringBuilder(model.duration(from - model.originNs()) + " + " + model.duration(to - from));
		double total = model.total(bin);
		b.append('\n').append(model.sum() == Sum.MEMORY ? model.text(total)
				: Units.counted(model.text(total), model.counted().toLowerCase(Locale.ROOT)));
		int under = seriesAt(x, y);
		if (model.series().size() > 1 && total > 0) {
			for (int s = model.series().size() - 1; s >= 0; s--) {
				double v = model.value(s, bin);
				if (v > 0) {
					b.append('\n').append(s == under ? "▸ " : "   ").append(name(model.series().get(s))).append(": ")
							.append(model.text(v)).append(", ").append(Units.percent(100 * v / total));
				}
			}
		}
		return b.toString();
	}

	private static String name(ModelType type) {
		String name = ModelText.type(type.name());
		return switch (type.role()) {
		case PRIVATE_READ, PRIVATE_WRITE, SHARED_READ, SHARED_WRITE, NOT_KNOWN_READ, NOT_KNOWN_WRITE -> name.toLowerCase(Locale.ROOT);
		default -> name;
		};
	}

	/** Draws, with the margins that it needs. */
	public static DensityPicture build(DensityModel model, int width, int height, Palette palette, TextMeter meter,
			double fontSize) {
		return build(model, width, height, palette, meter, fontSize, PlotMargins.NONE);
	}

	/** @param least pixels beside the plot that there are at least */
	public static DensityPicture build(DensityModel model, int width, int height, Palette palette, TextMeter meter, double fontSize,
			PlotMargins least) {
		double f = fontSize;
		List<Shape> shapes = new ArrayList<>();
		double small = 0.92 * f;
		double unit = unit(model);
		double top = unit * niceTop(model.max() / unit);
		double left = 1.2 * f;
		int ticks = Math.max(1, Math.min(5, (int) (height / (4 * f))));
		double step = unit * Units.roundStep(top / unit, ticks);
		if (top >= 1) {
			step = Math.max(1, step); // there is no half of an access
		}
		for (double v = 0; v <= top; v += step) {
			left = Math.max(left, 1.2 * f + meter.width(label(model, v), small, false));
		}
		PlotMargins own = new PlotMargins((int) Math.rint(left), (int) Math.ceil(f));
		PlotMargins margins = own.atLeast(least);
		left = margins.left();
		double plotTop = Math.rint(2.6 * f);
		double plotWidth = Math.max(20, width - left - margins.right());
		double plotHeight = Math.max(20, Math.rint(height - 2.3 * f) - plotTop);
		double bottom = plotTop + plotHeight;
		DensityPicture picture = new DensityPicture(null, model, left, plotTop, plotWidth, plotHeight, top, own);
		shapes.add(new Shape.Rect(left, plotTop, plotWidth, plotHeight, palette.plotBackground(), 0));
		for (double v = 0; v <= top * 1.0001; v += step) {
			double y = Math.rint(bottom - plotHeight * v / top) - 0.5;
			shapes.add(new Shape.Line(left, y, left + plotWidth, y, palette.separator(), 1, false));
			shapes.add(new Shape.Text(left - 0.5 * f, y + 0.35 * f, label(model, v), small, false, palette.mutedText(),
					Shape.Anchor.END, false));
		}
		bars(shapes, model, palette, left, bottom, plotWidth, plotHeight, top);
		shapes.add(new Shape.Line(left, bottom - 0.5, left + plotWidth, bottom - 0.5, palette.axis(), 1, false));
		TimeAxis axis = new TimeAxis(model.originNs(), model.fromNs(), model.toNs(),
				Math.max(2, (int) (plotWidth / ((model.isInTicks() ? 10 : 8) * f))), model.isInTicks());
		double free = 0.5 * f;
		if (!axis.base.isEmpty()) {
			shapes.add(new Shape.Text(left, bottom + 1.4 * f, axis.base, small, false, palette.mutedText(), Shape.Anchor.START, false));
			free = left + meter.width(axis.base, small, false) + f;
		}
		for (TimeAxis.Tick tick : axis.ticks) {
			double x = picture.xOf(tick.timeNs());
			double half = meter.width(tick.label(), small, false) / 2;
			shapes.add(new Shape.Line(Math.rint(x) + 0.5, bottom, Math.rint(x) + 0.5, bottom + 0.35 * f, palette.axis(), 1, false));
			if (x - half >= free - 0.5 * f && x + half <= width - 2) {
				shapes.add(new Shape.Text(x, bottom + 1.4 * f, tick.label(), small, false, palette.mutedText(), Shape.Anchor.MIDDLE,
						false));
				free = x + half + f;
			}
		}
		legend(shapes, model, palette, meter, left, width - f, f);
		return new DensityPicture(new Scene(width, height, palette.background(), shapes), model, left, plotTop, plotWidth, plotHeight,
				top, own);
	}

	/** In which steps of the axis are round: 1, or a binary multiple of a byte. */
	private static double unit(DensityModel model) {
		double unit = 1;
		while (model.sum() == Sum.MEMORY && model.max() >= 1024 * unit) {
			unit *= 1024;
		}
		return unit;
	}

	private static String label(DensityModel model, double value) {
		return model.sum() == Sum.MEMORY ? model.text(value) : Units.number(value);
	}

	/** One area for each series: its upper edge from left to right, then its lower edge back. */
	private static void bars(List<Shape> shapes, DensityModel model, Palette palette, double left, double bottom, double width,
			double height, double top) {
		int n = model.bins();
		double[] below = new double[n];
		for (int s = 0; s < model.series().size(); s++) {
			double[] above = below.clone();
			for (int bin = 0; bin < n; bin++) {
				above[bin] += model.value(s, bin);
			}
			int color = palette.color(model.series().get(s));
			for (int bin = 0; bin < n;) {
				if (model.value(s, bin) <= 0) {
					bin++;
					continue;
				}
				int end = bin;
				while (end < n && model.value(s, end) > 0) {
					end++;
				}
				shapes.add(new Shape.Polygon(outline(below, above, bin, end, left, bottom, width / n, height / top), color, 0));
				bin = end;
			}
			below = above;
		}
	}

	private static double[] outline(double[] below, double[] above, int from, int to, double left, double bottom, double binWidth,
			double scale) {
		int n = to - from;
		double[] p = new double[8 * n];
		for (int i = 0; i < n; i++) {
			double x0 = left + (from + i) * binWidth;
			double x1 = left + (from + i + 1) * binWidth;
			double high = bottom - above[from + i] * scale;
			double low = bottom - below[from + i] * scale;
			p[4 * i] = x0;
			p[4 * i + 1] = high;
			p[4 * i + 2] = x1;
			p[4 * i + 3] = high;
			int back = 8 * n - 4 * i - 4;
			p[back] = x1;
			p[back + 1] = low;
			p[back + 2] = x0;
			p[back + 3] = low;
		}
		return p;
	}

	private static void legend(List<Shape> shapes, DensityModel model, Palette palette, TextMeter meter, double left, double right,
			double f) {
		double small = 0.92 * f;
		double y = 1.5 * f;
		String unit = model.perBin();
		if (model.series().isEmpty()) {
			unit = model.sum() == Sum.MEMORY ? "No memory here" : "No " + model.counted().toLowerCase(Locale.ROOT) + " here";
		}
		double unitWidth = meter.width(unit, small, false);
		shapes.add(new Shape.Text(left, y, unit, small, false, palette.text(), Shape.Anchor.START, false));
		double x = left + unitWidth + 2 * f;
		if (model.stack() == null) {
			return;
		}
		for (int s = 0; s < model.series().size(); s++) {
			String name = meter.fitMiddle(name(model.series().get(s)), small, false, 12 * f);
			double wide = 1.4 * f + meter.width(name, small, false);
			int more = model.series().size() - s;
			double needed = more > 1 ? wide + 4 * f : wide;
			if (x + needed > right) {
				shapes.add(new Shape.Text(x, y, "+ " + more, small, false, palette.mutedText(), Shape.Anchor.START, false));
				return;
			}
			shapes.add(new Shape.Rect(x, y - 0.8 * f, f, f, palette.color(model.series().get(s)), 0));
			shapes.add(new Shape.Text(x + 1.4 * f, y, name, small, false, palette.text(), Shape.Anchor.START, false));
			x += wide + 1.2 * f;
		}
	}

	/** A round number from {@code max} on. */
	static double niceTop(double max) {
		if (max <= 0) {
			return 1;
		}
		double step = Units.roundStep(max, 10);
		return step * Math.ceil(max / step - 1e-9);
	}
}
