// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayList;
import java.util.List;

import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.Units;

/** What the colours of a Gantt chart stand for, and what it does not show. */
final class GanttLegend {
	private final GanttPlot p;

	GanttLegend(GanttPlot plot) {
		p = plot;
	}

	void draw(double pad, double baseline) {
		double size = 0.92 * p.f;
		List<String> notes = new ArrayList<>();
		if (p.linksNotDrawn) {
			notes.add("links: with rows of producers");
		}
		if (p.linksThere > p.arrows.size()) {
			notes.add(Units.percent(100.0 * p.arrows.size() / p.linksThere) + " of links shown");
		}
		if (p.marked) {
			notes.add("line below: several in a pixel");
		}
		notes.add(p.o.sameScale ? "strong: much per time and page" : "strong: much per time, for the row");
		String note = String.join("  ·  ", notes);
		double end1 = p.o.width - pad;
		double noteWidth = p.o.meter.width(note, size, false) + 2 * p.f;
		if (noteWidth > 0.55 * p.o.width) {
			note = p.o.meter.fit(note, size, false, 0.45 * p.o.width);
			noteWidth = p.o.meter.width(note, size, false) + 2 * p.f;
		}
		double x = p.labelX;
		int missing = 0;
		for (int t = 0; t < p.source.types().size(); t++) {
			GanttType type = p.source.types().get(t);
			String name = type.displayName();
			double w = 1.3 * p.f + p.o.meter.width(name, size, false);
			boolean last = t + 1 == p.source.types().size();
			if (missing > 0 || x + w + (last ? 0 : 5 * p.f) > end1 - noteWidth) {
				missing++;
				continue;
			}
			boolean hidden = p.o.hiddenTypes.get(t);
			double top = baseline - 0.82 * p.f;
			sample(type, x, baseline, hidden);
			p.shapes.add(new Shape.Text(x + 1.3 * p.f, baseline, name, size, false, hidden ? p.palette.mutedText() : p.palette.text(),
					Shape.Anchor.START, false));
			if (hidden) {
				p.shapes.add(new Shape.Line(x + 1.3 * p.f, baseline - 0.3 * p.f, x + w, baseline - 0.3 * p.f, p.palette.mutedText(), 1, false));
			}
			p.entries.add(new GanttPlot.Entry(t, x - 2, top - 3, w + 4, 0.95 * p.f + 6));
			x += w + 1.4 * p.f;
		}
		if (missing > 0) {
			p.shapes.add(new Shape.Text(x, baseline, "+ " + missing + " more", size, false, p.palette.mutedText(),
					Shape.Anchor.START, false));
		}
		p.shapes.add(new Shape.Text(end1, baseline, note, size, false, p.palette.mutedText(), Shape.Anchor.END, false));
	}

	/** What records of a type look like. */
	private void sample(GanttType type, double x, double baseline, boolean hidden) {
		int color = p.o.color(type);
		double box = 0.95 * p.f;
		double top = baseline - 0.82 * p.f;
		switch (type.kind()) {
		case LINK -> {
			p.shapes.add(new Shape.Line(x, top + box / 2, x + box * 0.6, top + box / 2, hidden ? p.palette.axis() : color, 1.5,
					false));
			p.shapes.add(new Shape.Polygon(new double[] {x + box, top + box / 2, x + box * 0.5, top + box * 0.15, x + box * 0.5,
				top + box * 0.85}, hidden ? 0 : color, hidden ? p.palette.axis() : 0));
		}
		case PUNCTUAL -> {
			p.shapes.add(new Shape.Rect(x + box / 2 - 1, top, 2, box, hidden ? p.palette.separator() : color, 0));
			p.shapes.add(new Shape.Polygon(new double[] {x + box / 2 - 4, top, x + box / 2 + 4, top, x + box / 2, top + 5},
					hidden ? 0 : color, hidden ? p.palette.axis() : 0));
		}
		default -> p.shapes.add(new Shape.Rect(x, top, box, box, hidden ? 0 : color, hidden ? p.palette.axis() : 0));
		}
	}
}
