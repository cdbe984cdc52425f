// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import org.memtrace.analysis.scene.Shape;

/** Markers of a Gantt chart: intervals behind the bars, borders above them, flags above the rows. */
final class GanttMarks {
	private final GanttPlot p;

	GanttMarks(GanttPlot plot) {
		p = plot;
	}

	/** Intervals lie behind the bars. */
	void intervals() {
		for (Marker m : p.o.markers) {
			if (!m.hasTime() || m.isInstant() || m.bookmark() || m.toNs() <= p.o.fromNs || m.fromNs() >= p.o.toNs) {
				continue;
			}
			double x1 = p.clampX(m.fromNs());
			double x2 = p.clampX(m.toNs());
			double[] span = span(m);
			if (span != null) {
				p.shapes.add(new Shape.Rect(x1, span[0], Math.max(1, x2 - x1), span[1], m.argb() & 0xffffff | 0x30000000, 0));
			}
		}
	}

	/** Upper edge and height of the rows of a marker; null when they are not visible. */
	private double[] span(Marker m) {
		if (m.producer() == Marker.NO_PRODUCER) {
			return new double[] {p.plotY, p.plotHeight};
		}
		for (int row = p.o.firstRow; row < p.end; row++) {
			if (p.rows.producer(row) == m.producer()) {
				return new double[] {p.y(row), Math.min(p.o.rowHeight, p.plotY + p.plotHeight - p.y(row))};
			}
		}
		return null;
	}

	/** Borders of markers lie above the bars. */
	void poles() {
		for (Marker m : p.o.markers) {
			double[] span = m.hasTime() && !m.bookmark() ? span(m) : null;
			if (span != null) {
				pole(m, m.fromNs(), span);
				if (!m.isInstant()) {
					pole(m, m.toNs(), span);
				}
			}
		}
	}

	private void pole(Marker m, long ns, double[] span) {
		if (ns >= p.o.fromNs && ns <= p.o.toNs) {
			double x = Math.rint(p.clampX(ns)) + 0.5;
			p.shapes.add(new Shape.Line(x, span[0], x, span[0] + span[1], m.argb(), 1, m.producer() == Marker.NO_PRODUCER));
		}
	}

	void flags() {
		double size = 0.85 * p.f;
		double free = p.plotX;
		for (Marker m : Markers.sorted(p.o.markers)) {
			if (!m.hasTime()) {
				continue;
			}
			if (p.o.minimap) {
				double x = p.mapX(m.fromNs());
				p.shapes.add(new Shape.Rect(x - 1, p.mapY, 2, 4, m.argb(), 0));
			}
			if (m.toNs() < p.o.fromNs || m.fromNs() > p.o.toNs) {
				continue;
			}
			double x = p.clampX(m.fromNs());
			double base = p.flagY + p.flagHeight;
			if (!m.isInstant() && !m.bookmark()) {
				double x2 = Math.max(x + 2, p.clampX(m.toNs()));
				p.shapes.add(new Shape.Rect(x, base - 3, x2 - x, 3, m.argb(), 0));
			}
			boolean out = m.fromNs() < p.o.fromNs;
			double mast = Math.rint(x) + 0.5;
			double textX = x + (out ? 2 : 11);
			if (!out) {
				p.shapes.add(new Shape.Line(mast, p.flagY + 2, mast, base, m.argb(), 1, false));
				p.shapes.add(new Shape.Polygon(new double[] {mast, p.flagY + 2, mast + 8, p.flagY + 5, mast, p.flagY + 9},
						m.bookmark() ? p.palette.background() : m.argb(), m.argb()));
			}
			String text = textX < free ? "" : p.o.meter.fit(m.name(), size, false, Math.min(14 * p.f, p.plotX + p.plotWidth - textX));
			double width = (out ? 2 : 11) + (text.isEmpty() ? 0 : p.o.meter.width(text, size, false));
			if (!text.isEmpty()) {
				p.shapes.add(new Shape.Text(textX, p.flagY + 0.78 * p.f, text, size, false, p.palette.text(), Shape.Anchor.START, false));
				free = textX + p.o.meter.width(text, size, false) + 0.6 * p.f;
			}
			p.flags.add(new GanttPlot.Flag(m, x - 3, p.flagY, width + 5, p.flagHeight));
		}
	}
}
