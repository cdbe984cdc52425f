// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import org.memtrace.aggregation.base.Parallel;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.scene.PictureTitle;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * Draws a Gantt chart: labels at the left, bars over time, the whole trace small above, flags of markers, an axis, a legend.
 * Of a bar the height of a colour is the share of its type, the strength of the colour how much there is per time.
 */
final class GanttBuilder extends GanttPlot {
	/** Rows lower than this have no labels. */
	private static final double LABEL_FROM = 11;
	private static final double MARK_HEIGHT = 2;

	GanttBuilder(GanttModel model, GanttRows rows, GanttOptions options) {
		super(model, rows, options);
	}

	Scene draw(Progress progress) throws MemtraceException {
		double pad = f;
		double top = o.title == null ? 0.4 * f : pad + 3.2 * f;
		labelX = pad * 0.6;
		double labels = o.rowHeight < LABEL_FROM ? 0.12 * o.width : o.labelWidth >= 0 ? o.labelWidth : labelWidth(rows, o);
		own = new PlotMargins((int) Math.rint(labelX + labels + 0.6 * f), (int) Math.ceil(pad));
		PlotMargins margins = own.atLeast(o.margins);
		plotX = margins.left();
		plotWidth = Math.max(40, o.width - plotX - margins.right());
		mapY = Math.rint(top);
		mapHeight = o.minimap ? Math.rint(1.9 * f) : 0;
		flagY = mapY + mapHeight + (o.minimap ? 3 : 0);
		flagHeight = Math.rint(1.25 * f);
		plotY = Math.rint(flagY + flagHeight);
		double below = 2.2 * f + (o.legend ? 2.0 * f : 0);
		plotHeight = Math.max(o.rowHeight, Math.floor(o.height - plotY - below));
		if (o.title != null) {
			plotHeight = Math.max(1, Math.floor(plotHeight / o.rowHeight)) * o.rowHeight; // a file is not scrolled
		}
		end = (int) Math.min(rows.count(), o.firstRow + (long) Math.ceil(plotHeight / o.rowHeight));
		shapes.add(new Shape.Rect(plotX, plotY, plotWidth, plotHeight, palette.plotBackground(), 0));
		boolean ticks = source.info().isInTicks();
		TimeAxis axis = new TimeAxis(o.originNs, o.fromNs, o.toNs,
				(int) Math.max(1, plotWidth / ((ticks ? 10 : 7.5) * f)), ticks);
		GanttMarks marks = new GanttMarks(this);
		grid(axis);
		marks.intervals();
		rows(progress);
		new GanttLinks(this).draw();
		marks.poles();
		// what sticks out of the last row
		shapes.add(new Shape.Rect(0, plotY + plotHeight, o.width, Math.max(0, o.height - plotY - plotHeight), palette.background(),
				0));
		if (o.minimap) {
			minimap(progress);
		}
		marks.flags();
		axis(axis);
		if (o.title != null) {
			title(pad);
		}
		if (o.legend) {
			new GanttLegend(this).draw(pad, o.height - 0.7 * f);
		}
		return new Scene(o.width, o.height, palette.background(), shapes);
	}

	private void grid(TimeAxis axis) {
		int color = Palette.mix(palette.plotBackground(), palette.separator(), 0.55);
		for (TimeAxis.Tick tick : axis.ticks) {
			double x = Math.rint(x(tick.timeNs())) + 0.5;
			if (x >= plotX && x <= plotX + plotWidth) {
				shapes.add(new Shape.Line(x, plotY, x, plotY + plotHeight, color, 1, false));
			}
		}
	}

	// ---- rows

	/** What is drawn for one row. */
	private static final class Drawn {
		/** Bars. */
		final List<Shape> shapes = new ArrayList<>();
		/** Texts and heads above them. */
		final List<Shape> over = new ArrayList<>();
		final List<Bar> bars = new ArrayList<>();
		boolean marked;
	}

	private void rows(Progress progress) throws MemtraceException {
		int count = Math.max(0, end - o.firstRow);
		Drawn[] drawn = new Drawn[count];
		if (count > 0) {
			Parallel.read(count, progress, i -> drawn[i] = row(o.firstRow + i, progress));
		}
		int line = Palette.mix(palette.plotBackground(), palette.separator(), 0.35);
		barFrom = new int[count + 1];
		for (int i = 0; i < count; i++) {
			int row = o.firstRow + i;
			if (o.rowHeight >= 8 && row > 0) {
				double y = Math.rint(y(row));
				boolean first = rows.level(row) == 0;
				shapes.add(new Shape.Rect(first ? labelX : plotX, y, plotX + plotWidth - (first ? labelX : plotX), 1,
						first ? palette.separator() : line, 0));
			}
			label(row);
			bars.addAll(drawn[i].bars);
			marked |= drawn[i].marked;
			barFrom[i + 1] = bars.size();
		}
		// rectangles in one run: a painter can do very many of them at once
		for (Drawn d : drawn) {
			shapes.addAll(d.shapes);
		}
		for (Drawn d : drawn) {
			shapes.addAll(d.over);
		}
	}

	private void label(int row) {
		double y = y(row);
		double x = labelX + indent(rows.level(row), o.rowHeight);
		double middle = y + o.rowHeight / 2;
		if (rows.isFoldable(row) && o.rowHeight >= 8) {
			double s = Math.min(4, o.rowHeight / 4);
			double[] points = rows.isUnfolded(row)
					? new double[] {x, middle - s / 2, x + 2 * s, middle - s / 2, x + s, middle + s * 0.9}
					: new double[] {x + 1, middle - s, x + 1, middle + s, x + 1 + 1.4 * s, middle};
			shapes.add(new Shape.Polygon(points, palette.mutedText(), 0));
		}
		for (Marker m : o.markers) {
			if (!m.hasTime() && m.producer() == rows.producer(row)) {
				shapes.add(new Shape.Rect(plotX - 5, y + 1, 4, o.rowHeight - 2, m.argb(), 0));
			}
		}
		if (o.rowHeight < LABEL_FROM) {
			return;
		}
		double size = labelFont(o);
		double textX = x + 1.0 * f;
		String text = o.meter.fitMiddle(rows.label(row), size, false, plotX - 0.5 * f - textX);
		if (!text.isEmpty()) {
			shapes.add(new Shape.Text(textX, middle + 0.34 * size, text, size, false,
					rows.isFoldable(row) ? palette.text() : palette.mutedText(), Shape.Anchor.START, false));
		}
	}

	private Drawn row(int row, Progress progress) throws MemtraceException {
		Drawn d = new Drawn();
		Grouping grouping = rows.request().grouping();
		int producer = rows.producer(row);
		int columns = (int) plotWidth;
		GanttSeries whole = model.whole(grouping, rows.group(row), producer, progress);
		GanttSeries s = model.series(grouping, rows.group(row), producer, o.fromNs, o.toNs, columns, progress);
		if (s.size() == 0) {
			return d;
		}
		GanttColumns c = new GanttColumns(columns, source.slots());
		c.add(s, o.fromNs, o.toNs, wanted);
		double top = y(row) + Math.min(2, o.rowHeight * 0.1);
		double height = Math.max(1, o.rowHeight - (o.rowHeight >= 8 ? 4 : o.rowHeight >= 4 ? 1 : 0));
		if (rows.isUnfolded(row) && o.rowHeight >= 10) {
			// its parts are below: the sum is a summary
			top += Math.rint(height * 0.25);
			height = Math.rint(height * 0.5);
		}
		draw(d, row, c, s, whole, producer, top, height);
		if (o.rowHeight >= 8) {
			marks(d, c, y(row) + o.rowHeight - MARK_HEIGHT);
		}
		return d;
	}

	private boolean is(int slot, GanttType.Kind kind) {
		return source.types().get(source.slotType(slot)).kind() == kind;
	}

	private BitSet slots(BitSet of, GanttType.Kind kind) {
		BitSet slots = new BitSet();
		for (int slot = of.nextSetBit(0); slot >= 0; slot = of.nextSetBit(slot + 1)) {
			slots.set(slot, is(slot, kind) && wanted.get(slot));
		}
		return slots;
	}

	private void draw(Drawn d, int row, GanttColumns c, GanttSeries s, GanttSeries whole, int producer, double top,
			double height) {
		BitSet accesses = slots(whole.used, GanttType.Kind.ACCESS);
		BitSet states = slots(whole.used, GanttType.Kind.STATE);
		BitSet variables = slots(whole.used, GanttType.Kind.VARIABLE);
		BitSet instants = slots(whole.used, GanttType.Kind.PUNCTUAL);
		double bottom = top + height;
		double split = !states.isEmpty() && !variables.isEmpty() ? Math.rint(top + height * 0.5) : variables.isEmpty() ? bottom : top;
		if (!accesses.isEmpty()) {
			stack(d, row, c, accesses, reference(whole, producer), top, height);
			texts(d, row, s, accesses, top, height);
		}
		if (!states.isEmpty()) {
			for (int layer = 0; layer <= GanttEvents.MAX_DEPTH; layer++) {
				BitSet of = new BitSet();
				for (int slot = states.nextSetBit(0); slot >= 0; slot = states.nextSetBit(slot + 1)) {
					of.set(slot, source.slotLayer(slot) == layer);
				}
				double inset = layer * Math.min(3, (split - top) / 5);
				if (!of.isEmpty()) {
					stack(d, row, c, of, whole.peak, top + inset, split - top - inset);
				}
			}
			texts(d, row, s, states, top, split - top);
		}
		if (!variables.isEmpty()) {
			int lanes = variables.cardinality();
			int lane = 0;
			for (int slot = variables.nextSetBit(0); slot >= 0; slot = variables.nextSetBit(slot + 1), lane++) {
				double y1 = Math.rint(split + (bottom - split) * lane / lanes);
				double y2 = Math.max(y1 + 1, Math.rint(split + (bottom - split) * (lane + 1) / lanes));
				lane(d, row, c, slot, whole, y1, y2 - y1 - (y2 - y1 >= 5 ? 1 : 0));
				BitSet only = new BitSet();
				only.set(slot);
				texts(d, row, s, only, y1, y2 - y1);
			}
		}
		if (!instants.isEmpty()) {
			ticks(d, row, c, instants, top, height);
		}
	}

	/** Amount per nanosecond at full strength. */
	private double reference(GanttSeries whole, int producer) {
		if (!o.sameScale) {
			return whole.peak;
		}
		return model.reference() * Math.max(1, model.leaves(producer));
	}

	/** Runs of equal columns, each divided among its types. */
	private void stack(Drawn d, int row, GanttColumns c, BitSet of, double reference, double top, double height) {
		int column = 0;
		int[] present = new int[of.cardinality()];
		double[] share = new double[present.length];
		while (column < c.width) {
			int to = column + 1;
			int n = 0;
			double sum = 0;
			for (int slot = of.nextSetBit(0); slot >= 0; slot = of.nextSetBit(slot + 1)) {
				if (c.has(column, slot)) {
					present[n] = slot;
					share[n] = c.rate[column * c.slots + slot];
					sum += share[n++];
				}
			}
			while (to < c.width && c.same(column, to)) {
				to++;
			}
			if (n > 0) {
				double strength = Palette.intensity(sum, reference);
				boolean shared = c.small[column] > 1;
				divide(d, row, plotX + column, to - column, top, height, present, share, n, sum, strength, shared);
			}
			column = to;
		}
	}

	/** Every type gets a pixel at least, while there are pixels; then those with most. */
	private void divide(Drawn d, int row, double x, double width, double top, double height, int[] present, double[] share, int n,
			double sum, double strength, boolean shared) {
		int room = (int) Math.max(1, Math.floor(height));
		int shown = n;
		while (shown > room) {
			int least = 0;
			for (int i = 1; i < shown; i++) {
				least = share[i] < share[least] ? i : least;
			}
			sum -= share[least];
			shown--;
			System.arraycopy(share, least + 1, share, least, shown - least);
			System.arraycopy(present, least + 1, present, least, shown - least);
		}
		double free = height - shown;
		double y = top;
		for (int i = 0; i < shown; i++) {
			double h = 1 + (sum > 0 ? free * share[i] / sum : free / shown);
			int type = source.slotType(present[i]);
			d.shapes.add(new Shape.Rect(x, y, width, h, shade(type, strength), 0));
			d.bars.add(new Bar(row, x, y, width, h, type, shared));
			y += h;
		}
	}

	private int shade(int type, double strength) {
		return Palette.mix(palette.plotBackground(), o.color(source.types().get(type)), 0.4 + 0.6 * strength);
	}

	/** A variable: strength is its value between the least (or 0) and the greatest in the row. */
	private void lane(Drawn d, int row, GanttColumns c, int slot, GanttSeries whole, double top, double height) {
		double least = Math.min(0, whole.least[slot]);
		double most = Math.max(0, whole.most[slot]);
		int type = source.slotType(slot);
		for (int column = 0; column < c.width;) {
			int to = column + 1;
			double v = c.rate[column * c.slots + slot];
			boolean has = c.has(column, slot);
			boolean shared = c.small[column] > 1;
			while (to < c.width && c.has(to, slot) == has && c.small[to] > 1 == shared
					&& Math.abs(c.rate[to * c.slots + slot] - v) <= 1e-6 * Math.abs(v)) {
				to++;
			}
			if (has) {
				double strength = most > least ? Math.max(0, Math.min(1, (v - least) / (most - least))) : 1;
				int color = Palette.mix(palette.plotBackground(), o.color(source.types().get(type)), 0.15 + 0.85 * strength);
				d.shapes.add(new Shape.Rect(plotX + column, top, to - column, height, color, 0));
				d.bars.add(new Bar(row, plotX + column, top, to - column, height, type, shared));
			}
			column = to;
		}
	}

	/** Instants: a line and a head, so that one between states is seen. */
	private void ticks(Drawn d, int row, GanttColumns c, BitSet of, double top, double height) {
		int[] present = new int[of.cardinality()];
		for (int column = 0; column < c.width; column++) {
			int n = 0;
			double most = -1;
			int main = -1;
			for (int slot = of.nextSetBit(0); slot >= 0; slot = of.nextSetBit(slot + 1)) {
				if (c.has(column, slot)) {
					present[n++] = slot;
					if (c.rate[column * c.slots + slot] > most) {
						most = c.rate[column * c.slots + slot];
						main = slot;
					}
				}
			}
			if (n == 0) {
				continue;
			}
			double x = plotX + column;
			double h = height / n;
			boolean shared = c.small[column] > 1;
			for (int i = 0; i < n; i++) {
				int type = source.slotType(present[i]);
				d.shapes.add(new Shape.Rect(x, top + i * h, 2, h, o.color(source.types().get(type)), 0));
				d.bars.add(new Bar(row, x, top + i * h, 2, h, type, shared));
			}
			if (height >= 8) {
				d.over.add(new Shape.Polygon(new double[] {x - 2, top, x + 4, top, x + 1, top + 4},
						o.color(source.types().get(source.slotType(main))), 0));
			}
		}
	}

	/** Counts, values and names where they have room. */
	private void texts(Drawn d, int row, GanttSeries s, BitSet of, double top, double height) {
		if (!o.values || !s.isExact() || height < 11) {
			return;
		}
		double size = Math.min(0.85 * f, height * 0.8);
		double least = 2.6 * size;
		double perNs = plotWidth / (o.toNs - o.fromNs);
		for (int i = s.first(o.fromNs); i < s.size() && s.start[i] < o.toNs;) {
			int to = i + 1;
			while (to < s.size() && s.start[to] == s.start[i] && s.end[to] == s.end[i]) {
				to++;
			}
			int main = -1;
			double sum = 0;
			double before = 0;
			int number = 0;
			for (int k = i; k < to; k++) {
				if (of.get(s.slot[k])) {
					if (main < 0 || s.amount[k] > s.amount[main]) {
						main = k;
						before = sum;
					}
					sum += s.amount[k];
					number++;
				}
			}
			long start = s.start[i];
			long stop = s.end[i];
			i = to;
			if (number == 0 || (stop - start) * perNs < least) {
				continue;
			}
			int slot = s.slot[main];
			GanttType type = source.types().get(source.slotType(slot));
			double x1 = clampX(start);
			double x2 = clampX(stop);
			// of several types the text stands on that with most
			double y1 = number > 1 ? top + height * before / sum : top;
			double h = number > 1 ? height * s.amount[main] / sum : height;
			String text = switch (type.kind()) {
			case ACCESS -> Units.count(sum);
			case VARIABLE -> number > 1 ? "" : Units.digits(sum / (stop - start));
			default -> number > 1 || source.slotLayer(slot) > 0 || nested(s, slot, start, stop) ? ""
					: o.meter.fit(type.displayName(), size, false, x2 - x1 - 6);
			};
			if (text.isEmpty() || h < 10 || text.length() < 5 && text.endsWith("…")
					|| o.meter.width(text, size, false) > x2 - x1 - 6) {
				continue;
			}
			double x = (x1 + x2) / 2;
			double y = y1 + h / 2;
			d.over.add(new Shape.Text(x, y + 0.35 * size, text, size, false, contrast(fillAt(d, x, y)), Shape.Anchor.MIDDLE,
					false));
		}
	}

	/** Whether deeper states lie on a state: they would cover its name. */
	private boolean nested(GanttSeries s, int slot, long start, long stop) {
		for (int i = s.first(start); i < s.size() && s.start[i] < stop; i++) {
			if (source.slotLayer(s.slot[i]) > source.slotLayer(slot) && s.end[i] > start) {
				return true;
			}
		}
		return false;
	}

	private int fillAt(Drawn d, double x, double y) {
		int fill = palette.plotBackground();
		for (Shape shape : d.shapes) {
			if (shape instanceof Shape.Rect r && r.fill() != 0 && x >= r.x() && x < r.x() + r.width() && y >= r.y()
					&& y < r.y() + r.height()) {
				fill = r.fill();
			}
		}
		return fill;
	}

	private static int contrast(int argb) {
		double light = 0.3 * (argb >> 16 & 0xff) + 0.59 * (argb >> 8 & 0xff) + 0.11 * (argb & 0xff);
		return light > 140 ? 0xff1f2328 : 0xffffffff;
	}

	/** A line below columns in which several things are one after another. */
	private void marks(Drawn d, GanttColumns c, double y) {
		for (int column = 0; column < c.width;) {
			int to = column + 1;
			boolean many = c.small[column] > 1;
			while (to < c.width && c.small[to] > 1 == many) {
				to++;
			}
			if (many) {
				d.marked = true;
				d.shapes.add(new Shape.Rect(plotX + column, y, to - column, MARK_HEIGHT, palette.axis(), 0));
			}
			column = to;
		}
	}

	// ---- around the rows

	private void minimap(Progress progress) throws MemtraceException {
		long start = source.info().startNs();
		long stop = source.info().endNs();
		shapes.add(new Shape.Rect(plotX, mapY, plotWidth, mapHeight, palette.plotBackground(), 0));
		GanttSeries s = model.whole(Grouping.PRODUCER, GanttSource.ALL, rows.request().root(), progress);
		GanttColumns c = new GanttColumns((int) plotWidth, source.slots());
		c.add(s, start, stop, wanted);
		Drawn d = new Drawn();
		BitSet bands = slots(s.used, GanttType.Kind.ACCESS);
		bands.or(slots(s.used, GanttType.Kind.STATE));
		if (bands.isEmpty()) {
			bands = slots(s.used, GanttType.Kind.VARIABLE);
		}
		if (bands.isEmpty()) {
			bands = slots(s.used, GanttType.Kind.PUNCTUAL);
		}
		if (!bands.isEmpty()) {
			double reference = 0;
			for (int column = 0; column < c.width; column++) {
				reference = Math.max(reference, sum(c, column, bands));
			}
			profile(d, c, bands, reference);
		}
		shapes.addAll(d.shapes);
		double x1 = Math.rint(mapX(o.fromNs));
		double x2 = Math.max(x1 + 3, Math.rint(mapX(o.toNs)));
		int veil = palette.background() & 0xffffff | 0xa0000000;
		if (x1 > plotX) {
			shapes.add(new Shape.Rect(plotX, mapY, x1 - plotX, mapHeight, veil, 0));
		}
		if (x2 < plotX + plotWidth) {
			shapes.add(new Shape.Rect(x2, mapY, plotX + plotWidth - x2, mapHeight, veil, 0));
		}
		shapes.add(new Shape.Rect(x1, mapY, Math.min(x2, plotX + plotWidth) - x1, mapHeight, 0, palette.highlight()));
		String text = o.meter.fit("whole trace", 0.85 * f, false, plotX - labelX - 0.8 * f);
		shapes.add(new Shape.Text(plotX - 0.6 * f, mapY + mapHeight / 2 + 0.3 * f, text, 0.85 * f, false, palette.mutedText(),
				Shape.Anchor.END, false));
	}

	private static double sum(GanttColumns c, int column, BitSet of) {
		double sum = 0;
		for (int slot = of.nextSetBit(0); slot >= 0; slot = of.nextSetBit(slot + 1)) {
			sum += Math.abs(c.rate[column * c.slots + slot]);
		}
		return sum;
	}

	/** The whole trace: how much there is, as height, of each type. */
	private void profile(Drawn d, GanttColumns c, BitSet of, double reference) {
		for (int column = 0; column < c.width;) {
			int to = column + 1;
			while (to < c.width && c.same(column, to)) {
				to++;
			}
			double y = mapY + mapHeight;
			double sum = sum(c, column, of);
			if (sum > 0 && reference > 0) {
				double full = Math.max(1.5, (mapHeight - 2) * Math.sqrt(sum / reference));
				for (int slot = of.nextSetBit(0); slot >= 0; slot = of.nextSetBit(slot + 1)) {
					double h = full * Math.abs(c.rate[column * c.slots + slot]) / sum;
					if (h > 0) {
						y -= h;
						d.shapes.add(new Shape.Rect(plotX + column, y, to - column, h,
								o.color(source.types().get(source.slotType(slot))), 0));
					}
				}
			}
			column = to;
		}
	}

	private void axis(TimeAxis axis) {
		double y = plotY + plotHeight;
		shapes.add(new Shape.Line(plotX, y + 0.5, plotX + plotWidth, y + 0.5, palette.axis(), 1, false));
		axis.draw(shapes, palette, o.meter, f, plotX, y, plotX + plotWidth + 0.4 * f, this::x);
	}

	private void title(double pad) {
		String text = Units.plural(rows.count(), "row") + (end - o.firstRow < rows.count()
				? String.format(java.util.Locale.ROOT, ", %,d to %,d shown", o.firstRow + 1, end) : "") + " · "
				+ Units.duration(source.info(), o.toNs - o.fromNs) + " from "
				+ Units.duration(source.info(), o.fromNs - o.originNs);
		PictureTitle.draw(shapes, palette, o.meter, f, pad, o.width, o.title, o.warning, text);
	}

}
