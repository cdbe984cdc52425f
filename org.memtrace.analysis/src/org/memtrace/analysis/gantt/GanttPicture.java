// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.BitSet;
import java.util.List;

import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/** A drawn Gantt chart and where things are in it. Coordinates are pixels of the scene. Immutable. */
public final class GanttPicture {
	/** What is at a point. */
	public enum Area {
		NOTHING, PLOT, LABEL, FOLD, MINIMAP, FLAG, LEGEND, AXIS
	}

	/**
	 * What is at a point.
	 *
	 * @param row row of the chart, -1 none
	 * @param type index of the type, -1 none
	 * @param fromNs start of the pixel; of a link or marker its own start
	 * @param toNs end
	 * @param link row of a link in its table, -1 none
	 * @param marker marker whose flag it is, or null
	 */
	public record Hit(Area area, int row, int type, long fromNs, long toNs, boolean shared, int link, Marker marker) {
		static Hit of(Area area, int row) {
			return new Hit(area, row, -1, 0, 0, false, -1, null);
		}
	}

	final GanttRows rows;
	private final Scene scene;
	final long fromNs;
	final long toNs;
	final double plotX;
	final double plotY;
	final double plotWidth;
	final double plotHeight;
	private final PlotMargins margins;
	final double rowHeight;
	final int firstRow;
	final double mapY;
	final double mapHeight;
	final double labelX;
	final List<GanttPlot.Bar> bars;
	/** Bars of visible row i are [barFrom[i], barFrom[i + 1]). */
	final int[] barFrom;
	/** Slots that are shown. */
	private final BitSet wanted;
	final List<GanttPlot.Flag> flags;
	final List<GanttPlot.Entry> entries;
	final List<GanttPlot.Arrow> arrows;
	final int linksShown;
	final int linksThere;

	GanttPicture(GanttPlot b, Scene scene) {
		this.scene = scene;
		this.rows = b.rows;
		this.fromNs = b.o.fromNs;
		this.toNs = b.o.toNs;
		this.plotX = b.plotX;
		this.plotY = b.plotY;
		this.plotWidth = b.plotWidth;
		this.plotHeight = b.plotHeight;
		this.margins = b.own;
		this.rowHeight = b.o.rowHeight;
		this.firstRow = b.o.firstRow;
		this.mapY = b.mapY;
		this.mapHeight = b.mapHeight;
		this.labelX = b.labelX;
		this.bars = List.copyOf(b.bars);
		this.barFrom = b.barFrom;
		this.wanted = b.wanted;
		this.flags = List.copyOf(b.flags);
		this.entries = List.copyOf(b.entries);
		this.arrows = List.copyOf(b.arrows);
		this.linksShown = b.arrows.size();
		this.linksThere = b.linksThere;
	}

	/** Draws; for each row that was not drawn before its records are read once. */
	public static GanttPicture build(GanttModel model, GanttRows rows, GanttOptions options, Progress progress)
			throws MemtraceException {
		GanttBuilder b = new GanttBuilder(model, rows, options);
		return new GanttPicture(b, b.draw(progress));
	}

	/** Width of labels that suits rows: that of the longest, at most 30 % of the picture. */
	public static double labelWidth(GanttRows rows, GanttOptions options) {
		return GanttPlot.labelWidth(rows, options);
	}

	public Scene scene() {
		return scene;
	}

	public GanttRows rows() {
		return rows;
	}

	public long fromNs() {
		return fromNs;
	}

	public long toNs() {
		return toNs;
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

	public double rowHeight() {
		return rowHeight;
	}

	public int firstRow() {
		return firstRow;
	}

	/** Upper edge of the small picture of the whole trace. */
	public double mapY() {
		return mapY;
	}

	/** Height of the small picture of the whole trace, 0 when there is none. */
	public double mapHeight() {
		return mapHeight;
	}

	/** Number of rows that are wholly visible, at least 1. */
	public int wholeRows() {
		return (int) Math.max(1, Math.floor(plotHeight / rowHeight + 1e-6));
	}

	/**
	 * Number of records that are drawn. Each counts once, though a row above and a row below show it, and though its reads and its
	 * writes are two bars. Visits the records of the visible rows in the window.
	 */
	public long records(Progress progress) throws CancelledException {
		GanttSource source = rows.request().source();
		BitSet drawn = new BitSet();
		GanttSink sink = (row, start, end, slot, amount) -> {
			if (wanted.get(slot)) {
				drawn.set(row);
			}
		};
		for (int row = firstRow; row < firstRow + barFrom.length - 1; row++) {
			int above = rows.parentRow(row);
			if (above < firstRow || rows.group(above) != rows.group(row)) {
				source.visit(rows.producer(row), rows.request().grouping(), rows.group(row), fromNs, toNs, sink, progress);
			}
		}
		return drawn.cardinality();
	}

	/** Number of arrows that are drawn. */
	public int linksShown() {
		return linksShown;
	}

	/** Number of links that have a part in the picture. */
	public int linksThere() {
		return linksThere;
	}

	/** Upper edge of a row, also of one that is not visible. */
	public double yOf(int row) {
		return plotY + (row - firstRow) * rowHeight;
	}

	public double xOf(long ns) {
		return plotX + plotWidth * ((double) (ns - fromNs) / (toNs - fromNs));
	}

	/** Instant at an x, within the window. */
	public long timeAt(double x) {
		double t = Math.max(0, Math.min(1, (x - plotX) / plotWidth));
		return fromNs + Math.round(t * (toNs - fromNs));
	}

	/** Row at a y, -1 when there is none. */
	public int rowAt(double y) {
		if (y < plotY || y >= plotY + plotHeight) {
			return -1;
		}
		int row = firstRow + (int) Math.floor((y - plotY) / rowHeight);
		return row < rows.count() ? row : -1;
	}

	/** Instant of the whole trace at an x of the small picture. */
	public long mapTime(double x) {
		var info = rows.request().source().info();
		double t = Math.max(0, Math.min(1, (x - plotX) / plotWidth));
		return info.startNs() + Math.round(t * info.durationNs());
	}

	/** What is at a point. */
	public Hit hit(double x, double y) {
		for (GanttPlot.Flag f : flags) {
			if (inside(x, y, f.x(), f.y(), f.width(), f.height())) {
				return new Hit(Area.FLAG, f.marker().producer() < 0 ? -1 : rowAt(y), -1, f.marker().fromNs(), f.marker().toNs(),
						false, -1, f.marker());
			}
		}
		for (GanttPlot.Entry e : entries) {
			if (inside(x, y, e.x(), e.y(), e.width(), e.height())) {
				return new Hit(Area.LEGEND, -1, e.type(), 0, 0, false, -1, null);
			}
		}
		if (mapHeight > 0 && inside(x, y, plotX, mapY, plotWidth, mapHeight)) {
			return Hit.of(Area.MINIMAP, -1);
		}
		int row = rowAt(y);
		if (inside(x, y, plotX, plotY, plotWidth, plotHeight)) {
			return inPlot(x, y, row);
		}
		if (row >= 0 && x < plotX && x >= 0) {
			double fold = foldX(row);
			boolean on = rows.isFoldable(row) && x >= fold - 4 && x <= fold + 12;
			return Hit.of(on ? Area.FOLD : Area.LABEL, row);
		}
		return Hit.of(x >= plotX && y >= plotY + plotHeight ? Area.AXIS : Area.NOTHING, -1);
	}

	/** Left edge of the triangle that folds a row. */
	double foldX(int row) {
		return labelX + GanttPlot.indent(rows.level(row), rowHeight);
	}

	private Hit inPlot(double x, double y, int row) {
		long pixelFrom = timeAt(Math.floor(x));
		long pixelTo = Math.max(pixelFrom + 1, timeAt(Math.floor(x) + 1));
		for (GanttPlot.Arrow a : arrows) {
			if (distance(a, x, y) < 3) {
				GanttSource s = rows.request().source();
				return new Hit(Area.PLOT, row, -1, s.start(a.row()), s.end(a.row()), false, a.row(), null);
			}
		}
		if (row < 0) {
			return new Hit(Area.PLOT, -1, -1, pixelFrom, pixelTo, false, -1, null);
		}
		GanttPlot.Bar found = null;
		int i = row - firstRow;
		for (int b = barFrom[i]; b < barFrom[i + 1]; b++) {
			GanttPlot.Bar bar = bars.get(b);
			// what is painted later lies above; narrow bars are hit one pixel beside them, too
			if (x >= bar.x() - (bar.width() < 3 ? 1 : 0) && x < bar.x() + bar.width() + (bar.width() < 3 ? 1 : 0)
					&& (y >= bar.y() && y < bar.y() + bar.height() || found == null && bar.width() < 3)) {
				found = bar;
			}
		}
		if (found == null) {
			return new Hit(Area.PLOT, row, -1, pixelFrom, pixelTo, false, -1, null);
		}
		return new Hit(Area.PLOT, row, found.type(), pixelFrom, pixelTo, found.shared(), -1, null);
	}

	private static boolean inside(double x, double y, double left, double top, double width, double height) {
		return x >= left && x < left + width && y >= top && y < top + height;
	}

	private static double distance(GanttPlot.Arrow a, double x, double y) {
		double dx = a.x2() - a.x1();
		double dy = a.y2() - a.y1();
		double length = dx * dx + dy * dy;
		double t = length == 0 ? 0 : Math.max(0, Math.min(1, ((x - a.x1()) * dx + (y - a.y1()) * dy) / length));
		return Math.hypot(x - a.x1() - t * dx, y - a.y1() - t * dy);
	}
}
