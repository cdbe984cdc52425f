// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PictureTitle;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.analysis.text.Units;

/**
 * Draws a partition of time ({@link org.memtrace.aggregation.engine.TemporalAggregator}): one bar for each of its parts, as wide as the
 * part lasts. A profile stacks the types, a mode shows the strongest type with its share.
 */
public final class TimePicture {
	/** What the bars are. */
	public enum Kind {
		/** Stacked: how much of each type per unit of time; for means, their mean over everything. */
		PROFILE,
		/** The strongest type; the height is its share. */
		MODE,
		/** The parts themselves, a colour for each, numbered where there is room. */
		PARTS
	}

	private final Kind kind;
	private final PictureOptions o;
	private final Palette palette;
	private final double f;
	private final Partition partition;
	private final MicroscopicModel model;
	private final List<Shape> shapes = new ArrayList<>();
	private final List<Picture.LegendItem> legend = new ArrayList<>();
	/** level[part][type], in {@link #unit}. */
	private final double[][] level;
	private String unit;
	private boolean negative;
	private double plotX;
	private PlotMargins own;
	private double plotY;
	private double plotWidth;
	private double plotHeight;

	private TimePicture(Partition partition, Kind kind, PictureOptions options) {
		this.kind = kind;
		this.o = options;
		this.palette = options.palette;
		this.f = options.fontSize;
		this.partition = partition;
		this.model = partition.model();
		this.level = new double[partition.blockCount()][];
		levels();
	}

	/** Draws. */
	public static Scene build(Partition partition, Kind kind, PictureOptions options) {
		return new TimePicture(partition, kind, options).build();
	}

	/** Draws, and says where what is: every part over all rows. */
	public static Picture picture(Partition partition, NodeNames names, Kind kind, PictureOptions options) {
		TimePicture p = new TimePicture(partition, kind, options);
		Scene scene = p.build();
		List<Picture.Drawn> drawn = new ArrayList<>();
		int leaves = p.model.hierarchy().leafCount();
		for (int b = 0; b < partition.blockCount(); b++) {
			drawn.add(new Picture.Drawn(0, leaves, partition.firstSlice(b), partition.endSlice(b), b));
		}
		return new Picture(scene, partition, RowLayout.proportional(p.model.hierarchy(), names), p.plotX, p.plotY, p.plotWidth,
				p.plotHeight, p.own, 0, p.plotHeight, drawn, List.of(), p.legend, null, List.of());
	}

	/** Values of the parts per unit of time, in the unit that gives readable numbers. */
	private void levels() {
		double most = 0;
		boolean mean = model.metric().isMean();
		for (int b = 0; b < level.length; b++) {
			int first = partition.firstSlice(b);
			int end = partition.endSlice(b);
			double[] values = model.values(0, model.hierarchy().leafCount(), first, end);
			double duration = Math.max(1, model.slices().boundNs(end) - model.slices().boundNs(first));
			double sum = 0;
			for (int k = 0; k < values.length; k++) {
				negative |= values[k] < 0;
				values[k] = o.hiddenTypes.get(k) ? 0 : Math.max(0, values[k]) / (mean ? 1 : duration);
				sum += values[k];
			}
			level[b] = values;
			most = Math.max(most, sum);
		}
		double factor = 1;
		if (mean) {
			unit = model.metric().description();
			if (model.metric() == Metric.STATE_MEAN) {
				int i = unitOf(most);
				factor = Math.pow(1000, -i);
				unit += ", " + TIME[i];
			}
		} else if (model.metric() == Metric.STATE_DURATION || model.metric() == Metric.STATE_TIME) {
			unit = "states at a time"; // nanoseconds in states per nanosecond
		} else {
			int i = 0;
			while (i < 3 && most * factor < 0.5) {
				factor *= 1000;
				i++;
			}
			unit = ModelText.counted(model, o.counts) + " per " + TIME[i];
		}
		for (double[] part : level) {
			for (int k = 0; k < part.length; k++) {
				part[k] *= factor;
			}
		}
	}

	private static final String[] TIME = {"ns", "µs", "ms", "s"};

	private static int unitOf(double ns) {
		return ns < 1e3 ? 0 : ns < 1e6 ? 1 : ns < 1e9 ? 2 : 3;
	}

	private static double sum(double[] values) {
		double sum = 0;
		for (double v : values) {
			sum += v;
		}
		return sum;
	}

	private Scene build() {
		double pad = f;
		double most = 0;
		for (double[] part : level) {
			most = Math.max(most, sum(part));
		}
		double top = kind == Kind.MODE ? 100 : most > 0 && kind == Kind.PROFILE ? most : 1;
		plotY = Math.rint(o.title == null ? 1.5 * pad : pad + 4.2 * f);
		plotHeight = Math.max(30, Math.floor(o.height - plotY - 2.2 * f - (o.legend && kind != Kind.PARTS ? 2.2 * f : 0) - 0.5 * pad));
		double step = Units.roundStep(top, Math.max(1, plotHeight / (3.2 * f)));
		// up to a round number
		top = kind == Kind.MODE ? 100 : Math.ceil(top / step - 1e-9) * step;
		List<String> labels = new ArrayList<>();
		double labelWidth = 0;
		int ticks = kind == Kind.PARTS ? -1 : (int) Math.round(top / step);
		for (int i = 0; i <= ticks; i++) {
			String text = kind == Kind.MODE ? Math.round(i * step) + " %" : number(i * step, step);
			labels.add(text);
			labelWidth = Math.max(labelWidth, o.meter.width(text, 0.92 * f, false));
		}
		own = new PlotMargins((int) Math.rint(kind == Kind.PARTS ? pad : pad + 1.6 * f + labelWidth + 0.8 * f), (int) Math.ceil(1.5 * pad));
		PlotMargins margins = own.atLeast(o.margins);
		plotX = margins.left();
		plotWidth = Math.max(40, o.width - plotX - margins.right());
		shapes.add(new Shape.Rect(plotX, plotY, plotWidth, plotHeight, palette.plotBackground(), 0));
		for (int i = 0; i <= ticks; i++) {
			double y = Math.rint(plotY + plotHeight - plotHeight * i * step / top) + 0.5;
			shapes.add(new Shape.Line(plotX - (i > 0 ? 0 : 0.35 * f), y, plotX + plotWidth, y,
					i > 0 ? palette.separator() : palette.axis(), 1, false));
			shapes.add(new Shape.Text(plotX - 0.6 * f, y + 0.33 * f, labels.get(i), 0.92 * f, false, palette.mutedText(),
					Shape.Anchor.END, false));
		}
		String axis = kind == Kind.MODE ? "share of the strongest type" : kind == Kind.PARTS ? "" : unit;
		shapes.add(new Shape.Text(plotX - own.left() + pad + 0.9 * f, plotY + plotHeight / 2, o.meter.fit(axis, f, false, plotHeight), f, false,
				palette.text(), Shape.Anchor.MIDDLE, true));
		double strongest = most;
		for (int b = 0; b < level.length; b++) {
			switch (kind) {
			case PROFILE -> stack(b, top);
			case MODE -> mode(b, strongest);
			case PARTS -> part(b);
			}
		}
		if (o.axis) {
			timeAxis();
		}
		if (o.title != null) {
			title(pad);
		}
		if (o.legend && kind != Kind.PARTS) {
			legend(pad, o.height - 0.85 * f);
		}
		return new Scene(o.width, o.height, palette.background(), shapes);
	}

	private double x(int slice) {
		double d = model.slices().endNs() - model.slices().startNs();
		return plotX + plotWidth * ((model.slices().boundNs(slice) - model.slices().startNs()) / d);
	}

	private double gap(int b) {
		return x(partition.endSlice(b)) - x(partition.firstSlice(b)) >= 6 ? 1 : 0;
	}

	private void stack(int b, double top) {
		double x1 = x(partition.firstSlice(b));
		double width = x(partition.endSlice(b)) - x1 - gap(b);
		double y = plotY + plotHeight;
		for (int k = 0; k < level[b].length; k++) {
			double height = plotHeight * level[b][k] / top;
			if (height > 0) {
				y -= height;
				shapes.add(new Shape.Rect(x1, y, width, height, palette.color(model.types().get(k)), 0));
			}
		}
	}

	private void mode(int b, double most) {
		int main = -1;
		for (int k = 0; k < level[b].length; k++) {
			if (level[b][k] > 0 && (main < 0 || level[b][k] > level[b][main])) {
				main = k;
			}
		}
		if (main < 0) {
			return;
		}
		double sum = sum(level[b]);
		double height = plotHeight * level[b][main] / sum;
		double x1 = x(partition.firstSlice(b));
		shapes.add(new Shape.Rect(x1, plotY + plotHeight - height, x(partition.endSlice(b)) - x1 - gap(b), height,
				palette.shade(model.types().get(main), Palette.intensity(sum, most)), 0));
	}

	private void part(int b) {
		double x1 = x(partition.firstSlice(b));
		double width = x(partition.endSlice(b)) - x1 - gap(b);
		int color = palette.color(new ModelType("", ModelType.Role.OTHER, b % 12));
		shapes.add(new Shape.Rect(x1, plotY, width, plotHeight, color, 0));
		String number = Integer.toString(b + 1);
		if (o.meter.width(number, f, true) + 0.6 * f <= width) {
			// dark on light colours, light on dark ones
			int text = Palette.luminance(color) > 0.4 ? 0xff1f2328 : 0xffffffff;
			shapes.add(new Shape.Text(x1 + width / 2, plotY + plotHeight / 2 + 0.35 * f, number, f, true, text, Shape.Anchor.MIDDLE,
					false));
		}
	}

	private static String number(double v, double step) {
		int decimals = step >= 1 ? 0 : (int) Math.min(9, Math.ceil(-Math.log10(step) - 1e-9));
		return String.format(Locale.ROOT, "%,." + decimals + "f", v);
	}

	private void timeAxis() {
		long from = model.slices().startNs();
		double duration = model.slices().endNs() - from;
		new TimeAxis(o.originNs, from, model.slices().endNs(), (int) Math.max(1, plotWidth / (7.5 * f)), o.ticks).draw(shapes,
				palette, o.meter, f, plotX, plotY + plotHeight, o.width - 2, t -> plotX + plotWidth * ((t - from) / duration));
	}

	/** What the picture leaves out, in one line. */
	public static String figures(Partition partition) {
		return "p = " + Units.p(partition.p()) + " · information loss " + Units.percent(partition.lossPercent())
				+ " · complexity reduction " + Units.percent(partition.reductionPercent()) + " · "
				+ Units.plural(partition.blockCount(), "part") + " of " + Units.plural(partition.model().sliceCount(), "slice");
	}

	private void title(double pad) {
		PictureTitle.draw(shapes, palette, o.meter, f, pad, o.width, o.title, o.warning,
				figures(partition) + (negative ? " · negative values are not shown" : ""));
	}

	private void legend(double pad, double baseline) {
		double[] totals = model.values(0, model.hierarchy().leafCount(), 0, model.sliceCount());
		boolean fixed = model.viewpoint() == BasicDimensions.TYPE || model.viewpoint() == BasicDimensions.READ_WRITE;
		double x = pad;
		double end = o.width - pad;
		String note = kind == Kind.MODE ? "strong: much per time" : "";
		double noteWidth = note.isEmpty() ? 0 : o.meter.width(note, 0.92 * f, false) + 2 * f;
		int missing = 0;
		for (int k = 0; k < totals.length; k++) {
			if (!fixed && totals[k] <= 0) {
				continue;
			}
			ModelType type = model.types().get(k);
			String name = ModelText.type(type);
			double w = 1.3 * f + o.meter.width(name, 0.92 * f, false);
			if (missing > 0 || x + w + (k + 1 < totals.length ? 5 * f : 0) > end - noteWidth) {
				missing++;
				continue;
			}
			legend.add(Legend.item(shapes, palette, f, x, baseline, w, name, type, k, o.hiddenTypes.get(k)));
			x += w + 1.4 * f;
		}
		if (missing > 0) {
			shapes.add(new Shape.Text(x, baseline, "+ " + missing + " more", 0.92 * f, false, palette.mutedText(),
					Shape.Anchor.START, false));
		}
		if (!note.isEmpty()) {
			shapes.add(new Shape.Text(end, baseline, note, 0.92 * f, false, palette.mutedText(), Shape.Anchor.END, false));
		}
	}
}
