// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

import org.memtrace.analysis.colour.Palette;

/** A picture with a line above it that says of what it is, and one for what must not be overlooked. */
public final class TitledScene {
	private TitledScene() {
	}

	/**
	 * Draws.
	 *
	 * @param warning such as losses of the recorder; empty for none
	 * @param inner draws the picture itself in a width and height
	 */
	public static Scene build(String title, String warning, int width, int height, Palette palette, TextMeter meter, double fontSize,
			BiFunction<Integer, Integer, Scene> inner) {
		double f = fontSize;
		int above = (int) Math.ceil((warning.isEmpty() ? 2.4 : 3.9) * f);
		List<Shape> shapes = new ArrayList<>();
		shapes.add(new Shape.Text(1.2 * f, 1.7 * f, meter.fitMiddle(title, 1.2 * f, true, width - 2.4 * f), 1.2 * f, true, palette.text(),
				Shape.Anchor.START, false));
		if (!warning.isEmpty()) {
			shapes.add(new Shape.Text(1.2 * f, 3.3 * f, meter.fit(warning, f, true, width - 2.4 * f), f, true, palette.warning(),
					Shape.Anchor.START, false));
		}
		for (Shape s : inner.apply(width, Math.max(1, height - above)).shapes()) {
			shapes.add(moved(s, above));
		}
		return new Scene(width, height, palette.background(), shapes);
	}

	private static Shape moved(Shape shape, double by) {
		return switch (shape) {
		case Shape.Rect r -> new Shape.Rect(r.x(), r.y() + by, r.width(), r.height(), r.fill(), r.stroke());
		case Shape.Mosaic m -> new Shape.Mosaic(m.x(), m.y() + by, m.width(), m.height(), m.colors());
		case Shape.Hatch h -> new Shape.Hatch(h.x(), h.y() + by, h.width(), h.height(), h.style(), h.color());
		case Shape.Line l -> new Shape.Line(l.x1(), l.y1() + by, l.x2(), l.y2() + by, l.color(), l.width(), l.dashed());
		case Shape.Text t -> new Shape.Text(t.x(), t.y() + by, t.text(), t.size(), t.bold(), t.color(), t.anchor(), t.vertical());
		case Shape.Polygon p -> {
			double[] points = p.points().clone();
			for (int i = 1; i < points.length; i += 2) {
				points[i] += by;
			}
			yield new Shape.Polygon(points, p.fill(), p.stroke());
		}
		};
	}
}
