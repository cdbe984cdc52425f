// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Shape;

/** What the parts of a Gantt chart have in common while it is drawn: what is shown, where, and what has been drawn of it. */
abstract class GanttPlot {
	/** Rows that are looked at for the width of the labels. */
	private static final int MEASURED = 2_000;

	/**
	 * Something that is drawn in a row: as wide as it lasts, or what shares a pixel.
	 *
	 * @param type index of the type
	 * @param shared whether several records share these pixels
	 */
	record Bar(int row, double x, double y, double width, double height, int type, boolean shared) {
	}

	/** A flag of a marker. */
	record Flag(Marker marker, double x, double y, double width, double height) {
	}

	/** An entry of the legend. */
	record Entry(int type, double x, double y, double width, double height) {
	}

	/** An arrow, from its start to its end. */
	record Arrow(int row, double x1, double y1, double x2, double y2) {
	}

	final GanttModel model;
	final GanttRows rows;
	final GanttOptions o;
	final GanttSource source;
	final Palette palette;
	final double f;
	final List<Shape> shapes = new ArrayList<>();
	final BitSet wanted = new BitSet();
	final List<Bar> bars = new ArrayList<>();
	final List<Flag> flags = new ArrayList<>();
	final List<Entry> entries = new ArrayList<>();
	final List<Arrow> arrows = new ArrayList<>();
	int[] barFrom;
	int linksThere;
	boolean linksNotDrawn;
	double plotX;
	double plotY;
	double plotWidth;
	double plotHeight;
	PlotMargins own;
	double mapY;
	double mapHeight;
	double labelX;
	double flagY;
	double flagHeight;
	/** Behind the last row that is seen. */
	int end;
	boolean marked;

	GanttPlot(GanttModel model, GanttRows rows, GanttOptions options) {
		this.model = model;
		this.rows = rows;
		this.o = options;
		this.source = model.source();
		this.palette = options.palette;
		this.f = options.fontSize;
		for (int slot = 0; slot < source.slots(); slot++) {
			wanted.set(slot, !o.hiddenTypes.get(source.slotType(slot)));
		}
	}

	static double indent(int level, double rowHeight) {
		return Math.min(level, 12) * Math.min(12, rowHeight * 0.7);
	}

	/** Width of labels that suits rows: that of the longest, at most 30 % of the picture. */
	static double labelWidth(GanttRows rows, GanttOptions o) {
		double most = 5 * o.fontSize;
		double limit = Math.max(most, 0.3 * o.width);
		for (int row = 0; row < Math.min(rows.count(), MEASURED) && most < limit; row++) {
			most = Math.max(most, indent(rows.level(row), o.rowHeight) + 1.2 * o.fontSize
					+ o.meter.width(rows.label(row), labelFont(o), false));
		}
		return Math.min(limit, most);
	}

	static double labelFont(GanttOptions o) {
		return Math.min(o.fontSize, o.rowHeight * 0.75);
	}

	final double x(long ns) {
		return plotX + plotWidth * ((double) (ns - o.fromNs) / (o.toNs - o.fromNs));
	}

	final double clampX(long ns) {
		return Math.max(plotX, Math.min(plotX + plotWidth, x(ns)));
	}

	final double y(int row) {
		return plotY + (row - o.firstRow) * o.rowHeight;
	}

	final double mapX(long ns) {
		double t = (double) (ns - source.info().startNs()) / source.info().durationNs();
		return plotX + plotWidth * Math.max(0, Math.min(1, t));
	}
}
