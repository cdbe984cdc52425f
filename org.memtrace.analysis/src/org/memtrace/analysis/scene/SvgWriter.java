// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes a scene as SVG 1.1: plain shapes and text, no script, the same bytes for the same scene. */
public final class SvgWriter {
	private SvgWriter() {
	}

	/**
	 * Writes one picture.
	 *
	 * @param title for screen readers and the window of a viewer
	 */
	public static void write(Scene scene, String title, Appendable out) throws IOException {
		out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
		out.append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + scene.width() + "\" height=\"" + scene.height()
				+ "\" viewBox=\"0 0 " + scene.width() + " " + scene.height()
				+ "\" font-family=\"'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, sans-serif\">\n");
		out.append("<title>" + escape(title) + "</title>\n");
		EnumSet<Shape.HatchStyle> hatches = EnumSet.noneOf(Shape.HatchStyle.class);
		int color = 0;
		Map<List<Integer>, String> mosaics = new LinkedHashMap<>();
		for (Shape s : scene.shapes()) {
			if (s instanceof Shape.Mosaic m) {
				mosaics.computeIfAbsent(key(m), k -> "m" + mosaics.size());
			}
			if (s instanceof Shape.Hatch h) {
				hatches.add(h.style());
				color = h.color();
			}
		}
		if (!hatches.isEmpty() || !mosaics.isEmpty()) {
			out.append("<defs>\n");
			for (var e : mosaics.entrySet()) {
				pattern(e.getValue(), e.getKey(), out);
			}
			for (Shape.HatchStyle style : hatches) {
				pattern(style, color, out);
			}
			out.append("</defs>\n");
		}
		out.append("<rect width=\"100%\" height=\"100%\" fill=\"" + rgb(scene.background()) + "\"/>\n");
		for (Shape s : scene.shapes()) {
			if (s instanceof Shape.Mosaic m) {
				// patterns begin where the shape does
				double left = Math.floor(m.x());
				double top = Math.floor(m.y());
				out.append("<rect x=\"" + n(m.x() - left) + "\" y=\"" + n(m.y() - top) + "\" width=\"" + n(m.width()) + "\" height=\"" + n(m.height())
						+ "\" fill=\"url(#" + mosaics.get(key(m)) + ")\" transform=\"translate(" + n(left) + " " + n(top) + ")\"/>\n");
			} else {
				shape(s, out);
			}
		}
		out.append("</svg>\n");
	}

	/** What the pattern of a mosaic depends on: side of the squares and colours. */
	private static List<Integer> key(Shape.Mosaic m) {
		List<Integer> key = new ArrayList<>(m.colors());
		key.add(m.cell());
		return key;
	}

	private static String id(Shape.HatchStyle style) {
		return switch (style) {
		case IN_SPACE -> "space";
		case IN_TIME_TOO -> "time";
		case NOT_KNOWN_READ -> "notknownread";
		case NOT_KNOWN_WRITE -> "notknownwrite";
		};
	}

	/** Lines that go on in the neighbouring tiles. */
	private static void pattern(Shape.HatchStyle style, int color, Appendable out) throws IOException {
		Shape.Hatch any = new Shape.Hatch(0, 0, 1, 1, style, color);
		int size = Math.max(any.backslashPeriod(), any.slashPeriod());
		StringBuilder path = new StringBuilder();
		for (int c = -size; c <= 2 * size && any.slashPeriod() > 0; c += size) {
			for (int offset : any.slashOffsets()) {
				path.append("M-2,").append(c + offset + 2).append(" L").append(c + offset + 2).append(",-2 ");
			}
		}
		if (any.backslashPeriod() > 0) {
			path.append("M-2,-2 L" + (size + 2) + "," + (size + 2) + " M-2," + (size - 2) + " L2," + (size + 2) + " M" + (size - 2) + ",-2 L"
					+ (size + 2) + ",2");
		}
		out.append("<pattern id=\"" + id(style) + "\" width=\"" + size + "\" height=\"" + size
				+ "\" patternUnits=\"userSpaceOnUse\"><path d=\"" + path.toString().trim() + "\" stroke-width=\""
				+ Shape.Hatch.LINE_WIDTH + "\"" + stroke(color) + "/></pattern>\n");
	}

	private static void pattern(String id, List<Integer> key, Appendable out) throws IOException {
		int cell = key.get(Shape.Mosaic.EIGHTHS);
		int size = cell * Shape.Mosaic.EIGHTHS;
		Shape.Mosaic tile = new Shape.Mosaic(0, 0, size, size, key.subList(0, Shape.Mosaic.EIGHTHS));
		Map<Integer, StringBuilder> paths = new LinkedHashMap<>();
		for (int row = 0; row < Shape.Mosaic.EIGHTHS; row++) {
			for (int column = 0; column < Shape.Mosaic.EIGHTHS; column++) {
				int color = tile.color(column, row);
				if (color != tile.ground()) {
					paths.computeIfAbsent(color, c -> new StringBuilder()).append("M").append(column * cell).append(' ').append(row * cell)
							.append("h").append(cell).append("v").append(cell).append("h-").append(cell).append("z");
				}
			}
		}
		out.append("<pattern id=\"" + id + "\" width=\"" + size + "\" height=\"" + size + "\" patternUnits=\"userSpaceOnUse\"><rect width=\""
				+ size + "\" height=\"" + size + "\"" + fill(tile.ground()) + "/>");
		for (var p : paths.entrySet()) {
			out.append("<path" + fill(p.getKey()) + " d=\"" + p.getValue() + "\"/>");
		}
		out.append("</pattern>\n");
	}

	private static void shape(Shape s, Appendable out) throws IOException {
		switch (s) {
		case Shape.Mosaic m -> throw new IllegalArgumentException("a mosaic needs its pattern");
		case Shape.Rect r -> {
			double inset = r.stroke() == 0 ? 0 : 0.5;
			out.append("<rect x=\"" + n(r.x() + inset) + "\" y=\"" + n(r.y() + inset) + "\" width=\""
					+ n(Math.max(0, r.width() - 2 * inset)) + "\" height=\"" + n(Math.max(0, r.height() - 2 * inset)) + "\""
					+ (r.fill() == 0 ? " fill=\"none\"" : fill(r.fill())) + (r.stroke() == 0 ? "" : stroke(r.stroke()))
					+ "/>\n");
		}
		case Shape.Hatch h -> out.append("<rect x=\"" + n(h.x()) + "\" y=\"" + n(h.y()) + "\" width=\"" + n(h.width())
				+ "\" height=\"" + n(h.height()) + "\" fill=\"url(#"
				+ id(h.style()) + ")\"/>\n");
		case Shape.Line l -> out.append("<line x1=\"" + n(l.x1()) + "\" y1=\"" + n(l.y1()) + "\" x2=\"" + n(l.x2())
				+ "\" y2=\"" + n(l.y2()) + "\"" + stroke(l.color())
				+ (l.width() == 1 ? "" : " stroke-width=\"" + n(l.width()) + "\"")
				+ (l.dashed() ? " stroke-dasharray=\"3 3\"" : "") + "/>\n");
		case Shape.Polygon p -> {
			out.append("<polygon points=\"");
			for (int i = 0; i < p.points().length; i += 2) {
				out.append((i == 0 ? "" : " ") + n(p.points()[i]) + "," + n(p.points()[i + 1]));
			}
			out.append("\"" + (p.fill() == 0 ? " fill=\"none\"" : fill(p.fill()))
					+ (p.stroke() == 0 ? "" : stroke(p.stroke()) + " stroke-linejoin=\"round\"") + "/>\n");
		}
		case Shape.Text t -> out.append("<text x=\"" + n(t.x()) + "\" y=\"" + n(t.y()) + "\" font-size=\"" + n(t.size())
				+ "\"" + (t.bold() ? " font-weight=\"bold\"" : "") + fill(t.color())
				+ (t.anchor() == Shape.Anchor.START ? ""
						: " text-anchor=\"" + t.anchor().name().toLowerCase(Locale.ROOT) + "\"")
				+ (t.vertical() ? " transform=\"rotate(-90 " + n(t.x()) + " " + n(t.y()) + ")\"" : "") + ">"
				+ escape(t.text()) + "</text>\n");
		}
	}

	/** At most two decimals. */
	private static String n(double v) {
		long hundredths = Math.round(v * 100);
		String sign = hundredths < 0 ? "-" : "";
		long a = Math.abs(hundredths);
		if (a % 100 == 0) {
			return sign + a / 100;
		}
		String fraction = a % 10 == 0 ? "" + a % 100 / 10 : (a % 100 < 10 ? "0" : "") + a % 100;
		return sign + a / 100 + "." + fraction;
	}

	private static String rgb(int argb) {
		return String.format(Locale.ROOT, "#%06x", argb & 0xffffff);
	}

	private static String fill(int argb) {
		return " fill=\"" + rgb(argb) + "\"" + opacity("fill", argb);
	}

	private static String stroke(int argb) {
		return " stroke=\"" + rgb(argb) + "\"" + opacity("stroke", argb);
	}

	private static String opacity(String what, int argb) {
		int alpha = argb >>> 24;
		return alpha == 255 ? "" : " " + what + "-opacity=\"" + n(alpha / 255.0) + "\"";
	}

	/** Text of elements: the three special characters, and no control characters, which XML cannot hold. */
	private static String escape(String s) {
		StringBuilder b = new StringBuilder(s.length());
		for (int i = 0; i < s.length(); i++) {
			char c = s.charAt(i);
			switch (c) {
			case '<' -> b.append("&lt;");
			case '>' -> b.append("&gt;");
			case '&' -> b.append("&amp;");
			default -> b.append(c < 32 || c >= 0xfffe || Character.isSurrogate(c) ? '\ufffd' : c);
			}
		}
		return b.toString();
	}
}
