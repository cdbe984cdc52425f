// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.answer;

import java.util.LinkedHashMap;
import java.util.Map;

import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.text.JsonText;

/**
 * A scene as JSON of few letters, for a canvas: {@code w}, {@code h}, {@code bg}; {@code colors}, ARGB numbers; {@code texts}; and
 * {@code ops}, all shapes in order as whole numbers. Coordinates are tenths of a pixel. A shape is its number below, then:
 * <pre>
 * 0 rectangle  left top right bottom fill stroke
 * 1 hatch      left top right bottom style(0 space, 1 time) color
 * 2 mosaic     left top right bottom cell color*8
 * 3 line       x1 y1 x2 y2 color width*10 dashed
 * 4 polygon    n (x y)*n fill stroke
 * 5 text       x y text size*10 bold color anchor(0 start, 1 middle, 2 end) vertical
 * </pre>
 * Colours are indices into {@code colors}, -1 is none.
 */
final class SceneNumbers {
	private final Map<Integer, Integer> colors = new LinkedHashMap<>();
	private final Map<String, Integer> texts = new LinkedHashMap<>();
	private final StringBuilder ops = new StringBuilder();

	private SceneNumbers() {
	}

	/** The JSON of a scene. */
	static String json(Scene scene) {
		SceneNumbers n = new SceneNumbers();
		int background = n.color(scene.background());
		scene.shapes().forEach(n::shape);
		return "{\"w\":" + scene.width() + ",\"h\":" + scene.height() + ",\"bg\":" + background + ",\"colors\":"
				+ JsonText.LINE.toJson(n.colors.keySet().stream().map(Integer::toUnsignedLong).toList()) + ",\"texts\":"
				+ JsonText.LINE.toJson(n.texts.keySet()) + ",\"ops\":[" + n.ops + "]}";
	}

	private void shape(Shape shape) {
		switch (shape) {
		case Shape.Rect r -> {
			box(0, r.x(), r.y(), r.width(), r.height());
			number(color(r.fill()));
			number(color(r.stroke()));
		}
		case Shape.Hatch h -> {
			box(1, h.x(), h.y(), h.width(), h.height());
			number(h.style().ordinal());
			number(color(h.color()));
		}
		case Shape.Mosaic m -> {
			box(2, m.x(), m.y(), m.width(), m.height());
			number(m.cell());
			m.colors().forEach(c -> number(color(c)));
		}
		case Shape.Line l -> {
			number(3);
			place(l.x1());
			place(l.y1());
			place(l.x2());
			place(l.y2());
			number(color(l.color()));
			place(l.width());
			number(l.dashed() ? 1 : 0);
		}
		case Shape.Polygon p -> {
			number(4);
			number(p.points().length / 2);
			for (double v : p.points()) {
				place(v);
			}
			number(color(p.fill()));
			number(color(p.stroke()));
		}
		case Shape.Text t -> {
			number(5);
			place(t.x());
			place(t.y());
			number(texts.computeIfAbsent(t.text(), k -> texts.size()));
			place(t.size());
			number(t.bold() ? 1 : 0);
			number(color(t.color()));
			number(t.anchor().ordinal());
			number(t.vertical() ? 1 : 0);
		}
		}
	}

	/** Edges and no sizes: what meets in the scene meets after rounding, too. */
	private void box(int kind, double x, double y, double width, double height) {
		number(kind);
		place(x);
		place(y);
		place(x + width);
		place(y + height);
	}

	private int color(int argb) {
		return argb == 0 ? -1 : colors.computeIfAbsent(argb, k -> colors.size());
	}

	private void place(double pixels) {
		number((int) Math.round(10 * pixels));
	}

	private void number(int n) {
		ops.append(ops.isEmpty() ? "" : ",").append(n);
	}
}
