// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.scene.Shape;

/** The arrows of a Gantt chart. */
final class GanttLinks {
	private final GanttPlot p;

	GanttLinks(GanttPlot plot) {
		p = plot;
	}

	void draw() {
		int[] all = p.source.linkRows();
		if (!p.o.links || all.length == 0) {
			return;
		}
		if (p.rows.request().grouping() != Grouping.PRODUCER) {
			p.linksNotDrawn = true; // it is not known where on the other side they end
			return;
		}
		int[] rowOf = p.rows.rowByProducer();
		int[] owner = p.model.linkOwners();
		long longest = p.model.longestLink();
		int low = 0;
		int high = all.length;
		while (low < high) {
			int mid = (low + high) >>> 1;
			if (p.source.start(all[mid]) >= p.o.fromNs - longest) {
				high = mid;
			} else {
				low = mid + 1;
			}
		}
		int[] there = new int[256];
		for (int i = low; i < all.length && p.source.start(all[i]) < p.o.toNs; i++) {
			int type = p.source.linkType(all[i]);
			int a = rowOf[owner[i]];
			int target = p.source.linkEnd(all[i]);
			int b = target < 0 ? -1 : rowOf[target];
			if (p.source.end(all[i]) >= p.o.fromNs && !p.o.hiddenTypes.get(type) && a >= 0 && b >= 0
					&& Math.max(a, b) >= p.o.firstRow && Math.min(a, b) < p.end) {
				if (p.linksThere == there.length) {
					there = java.util.Arrays.copyOf(there, 2 * p.linksThere);
				}
				there[p.linksThere++] = i;
			}
		}
		int step = Math.max(1, (p.linksThere + GanttModel.MAX_ARROWS - 1) / GanttModel.MAX_ARROWS);
		for (int k = 0; k < p.linksThere; k += step) {
			int i = there[k];
			arrow(all[i], rowOf[owner[i]], rowOf[p.source.linkEnd(all[i])]);
		}
	}

	private void arrow(int link, int rowFrom, int rowTo) {
		double[] line = {p.x(p.source.start(link)), p.y(rowFrom) + p.o.rowHeight / 2, p.x(p.source.end(link)), p.y(rowTo) + p.o.rowHeight / 2};
		double tipX = line[2];
		double tipY = line[3];
		if (!clip(line, p.plotX, p.plotY, p.plotX + p.plotWidth, p.plotY + p.plotHeight)) {
			return;
		}
		int color = Palette.mix(p.o.color(p.source.types().get(p.source.linkType(link))), p.palette.text(), 0.25);
		p.shapes.add(new Shape.Line(line[0], line[1], line[2], line[3], color, 1, false));
		if (line[2] == tipX && line[3] == tipY) {
			double length = Math.hypot(line[2] - line[0], line[3] - line[1]);
			double ux = length == 0 ? 1 : (line[2] - line[0]) / length;
			double uy = length == 0 ? 0 : (line[3] - line[1]) / length;
			double s = Math.min(7, p.o.rowHeight * 0.45);
			p.shapes.add(new Shape.Polygon(new double[] {tipX, tipY, tipX - s * ux - s * 0.45 * uy, tipY - s * uy + s * 0.45 * ux,
				tipX - s * ux + s * 0.45 * uy, tipY - s * uy - s * 0.45 * ux}, color, 0));
		}
		p.arrows.add(new GanttPlot.Arrow(link, line[0], line[1], line[2], line[3]));
	}

	/** Cuts a line to a rectangle (Liang and Barsky); false when nothing is left. */
	static boolean clip(double[] line, double left, double top, double right, double bottom) {
		double dx = line[2] - line[0];
		double dy = line[3] - line[1];
		double[] p = {-dx, dx, -dy, dy};
		double[] q = {line[0] - left, right - line[0], line[1] - top, bottom - line[1]};
		double from = 0;
		double to = 1;
		for (int i = 0; i < 4; i++) {
			if (p[i] == 0) {
				if (q[i] < 0) {
					return false;
				}
			} else if (p[i] < 0) {
				from = Math.max(from, q[i] / p[i]);
			} else {
				to = Math.min(to, q[i] / p[i]);
			}
		}
		if (from > to) {
			return false;
		}
		double x = line[0];
		double y = line[1];
		if (to < 1) {
			line[2] = x + to * dx;
			line[3] = y + to * dy;
		}
		if (from > 0) {
			line[0] = x + from * dx;
			line[1] = y + from * dy;
		}
		return true;
	}
}
