// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.awt.font.GlyphVector;
import java.awt.geom.AffineTransform;
import java.awt.geom.PathIterator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.zip.DeflaterOutputStream;

/**
 * Writes a scene as PDF 1.4, one page of its size at 96 pixels per inch: the same bytes for the same scene. Text is text, in
 * Helvetica, which every reader has; its characters are those of Windows-1252. A text with others is drawn as outlines of an
 * installed font, marked with its characters (ActualText) for readers that use this for searching and copying. (Five shapes
 * are less code than the adapter to a PDF library would be.) Source: ISO 32000-1.
 */
public final class PdfWriter {
	private static final Charset ENCODING = Charset.forName("windows-1252");
	private static final double POINTS_PER_PIXEL = 0.75;
	/** Advance widths of the characters 32..255 in thousandths of the font size: Adobe's metrics of Helvetica. */
	private static final int[] PLAIN = {
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
		556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
		722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
		556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
		260, 334, 584, 350, 556, 350, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350, 350, 222, 222,
		333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 350, 500, 667, 278, 333, 556, 556, 556, 556, 260, 556, 333, 737,
		370, 556, 584, 333, 737, 333, 400, 584, 333, 333, 333, 556, 537, 278, 333, 333, 365, 556, 834, 834, 834, 611, 667,
		667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778, 778, 584,
		778, 722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278, 278, 278,
		278, 556, 556, 556, 556, 556, 556, 556, 584, 611, 556, 556, 556, 556, 500, 556, 500};
	private static final int[] BOLD = {
		278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
		556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
		722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
		556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
		280, 389, 584, 350, 556, 350, 278, 556, 500, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350, 350, 278, 278,
		500, 500, 350, 556, 1000, 333, 1000, 556, 333, 944, 350, 500, 667, 278, 333, 556, 556, 556, 556, 280, 556, 333, 737,
		370, 556, 584, 333, 737, 333, 400, 584, 333, 333, 333, 611, 556, 278, 333, 333, 365, 556, 834, 834, 834, 611, 722,
		722, 722, 722, 722, 722, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778, 778, 584,
		778, 722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 556, 556, 556, 556, 556, 278, 278, 278,
		278, 611, 611, 611, 611, 611, 611, 611, 584, 611, 611, 611, 611, 611, 556, 611, 556};

	private final Scene scene;
	private final StringBuilder content = new StringBuilder();
	private int color = -1;
	private int strokeColor = -1;
	private int alpha = 255;
	private double lineWidth = -1;
	private boolean dashed;
	private final TreeSet<Integer> alphas = new TreeSet<>();
	/** Characters that no installed font has. */
	private final TreeSet<Integer> missing = new TreeSet<>();

	private PdfWriter(Scene scene) {
		this.scene = scene;
	}

	/**
	 * Writes one picture.
	 *
	 * @param title title of the document
	 * @return the characters that could not be drawn because no installed font has them, each once; normally empty
	 */
	public static String write(Scene scene, String title, OutputStream out) throws IOException {
		PdfWriter w = new PdfWriter(scene);
		w.paint();
		w.document(title, out);
		StringBuilder missing = new StringBuilder();
		w.missing.forEach(missing::appendCodePoint);
		return missing.toString();
	}

	/** Width of a text as it is drawn, in pixels. */
	static double width(String text, double size, boolean bold) {
		int sum = 0;
		for (byte b : text.getBytes(ENCODING)) {
			int c = (b & 0xff) - 32;
			sum += c < 0 ? 0 : (bold ? BOLD : PLAIN)[c];
		}
		return sum * size / 1000;
	}

	private void paint() {
		// pixels, y down
		content.append(n(POINTS_PER_PIXEL)).append(" 0 0 ").append(n(-POINTS_PER_PIXEL)).append(" 0 ")
				.append(n(scene.height() * POINTS_PER_PIXEL)).append(" cm\n");
		colors(scene.background() | 0xff000000, false);
		rectangle(0, 0, scene.width(), scene.height());
		content.append("f\n");
		for (Shape s : scene.shapes()) {
			switch (s) {
			case Shape.Rect r -> {
				if (r.fill() != 0) {
					colors(r.fill(), false);
					rectangle(r.x(), r.y(), r.width(), r.height());
					content.append("f\n");
				}
				if (r.stroke() != 0) {
					stroke(r.stroke(), 1, false);
					rectangle(r.x() + 0.5, r.y() + 0.5, Math.max(0, r.width() - 1), Math.max(0, r.height() - 1));
					content.append("S\n");
				}
			}
			case Shape.Line l -> {
				stroke(l.color(), l.width(), l.dashed());
				line(l.x1(), l.y1(), l.x2(), l.y2());
				content.append("S\n");
			}
			case Shape.Mosaic m -> {
				colors(m.ground(), false);
				rectangle(m.x(), m.y(), m.width(), m.height());
				content.append("f\n");
				for (int color : new LinkedHashSet<>(m.colors())) {
					if (color != m.ground()) {
						colors(color, false);
						m.squares((x0, y0, x1, y1, c) -> {
							if (c == color) {
								rectangle(x0, y0, x1 - x0, y1 - y0);
							}
						});
						content.append("f\n");
					}
				}
			}
			case Shape.Hatch h -> hatch(h);
			case Shape.Polygon p -> {
				if (p.fill() != 0) {
					colors(p.fill(), false);
					path(p.points());
					content.append("f*\n");
				}
				if (p.stroke() != 0) {
					stroke(p.stroke(), 1, false);
					path(p.points());
					content.append("s\n");
				}
			}
			case Shape.Text t -> text(t);
			}
		}
	}

	private void rectangle(double x, double y, double width, double height) {
		content.append(n(x)).append(' ').append(n(y)).append(' ').append(n(width)).append(' ').append(n(height))
				.append(" re ");
	}

	private void line(double x1, double y1, double x2, double y2) {
		content.append(n(x1)).append(' ').append(n(y1)).append(" m ").append(n(x2)).append(' ').append(n(y2)).append(" l ");
	}

	private void path(double[] points) {
		for (int i = 0; i < points.length; i += 2) {
			content.append(n(points[i])).append(' ').append(n(points[i + 1])).append(i == 0 ? " m " : " l ");
		}
	}

	private void colors(int argb, boolean forStroke) {
		int a = argb >>> 24;
		if (a != alpha) {
			alpha = a;
			alphas.add(a);
			content.append("/A").append(a).append(" gs\n");
		}
		int rgb = argb & 0xffffff;
		if ((forStroke ? strokeColor : color) != rgb) {
			content.append(n((rgb >> 16) / 255.0)).append(' ').append(n((rgb >> 8 & 0xff) / 255.0)).append(' ')
					.append(n((rgb & 0xff) / 255.0)).append(forStroke ? " RG\n" : " rg\n");
			if (forStroke) {
				strokeColor = rgb;
			} else {
				color = rgb;
			}
		}
	}

	private void stroke(int argb, double width, boolean dash) {
		colors(argb, true);
		if (width != lineWidth) {
			content.append(n(width)).append(" w\n");
			lineWidth = width;
		}
		if (dash != dashed) {
			content.append(dash ? "[3 3] 0 d\n" : "[] 0 d\n");
			dashed = dash;
		}
	}

	/** The lines that cross the rectangle, clipped to it. */
	private void hatch(Shape.Hatch h) {
		stroke(h.color(), Shape.Hatch.LINE_WIDTH, false);
		content.append("q ");
		rectangle(h.x(), h.y(), h.width(), h.height());
		content.append("W n\n");
		double size = h.width() + h.height();
		if (h.style() == Shape.HatchStyle.IN_SPACE) {
			int period = Shape.Hatch.LINE_PERIOD;
			for (double d = period * Math.floor((h.y() - h.x() - h.width()) / period); d <= h.y() + h.height()
					- h.x(); d += period) {
				line(h.x(), h.x() + d, h.x() + size, h.x() + size + d);
			}
		} else {
			int period = Shape.Hatch.GROUP_PERIOD;
			for (double d = period * Math.floor((h.x() + h.y()) / period) - period; d <= h.x() + h.y() + size; d += period) {
				for (int offset : Shape.Hatch.GROUP_OFFSETS) {
					line(h.x(), d + offset - h.x(), h.x() + size, d + offset - h.x() - size);
				}
			}
		}
		content.append("S Q\n");
	}

	private void text(Shape.Text t) {
		colors(t.color(), false);
		if (!ENCODING.newEncoder().canEncode(t.text()) && outlines(t)) {
			return;
		}
		double width = width(t.text(), t.size(), t.bold());
		double shift = t.anchor() == Shape.Anchor.START ? 0 : t.anchor() == Shape.Anchor.END ? width : width / 2;
		double x = t.vertical() ? t.x() : t.x() - shift;
		double y = t.vertical() ? t.y() + shift : t.y();
		content.append("BT /").append(t.bold() ? "B" : "F").append(' ').append(n(t.size())).append(" Tf ")
				.append(t.vertical() ? "0 -1 -1 0 " : "1 0 0 -1 ").append(n(x)).append(' ').append(n(y)).append(" Tm ")
				.append(string(t.text())).append(" Tj ET\n");
	}

	/** Draws a text as outlines; false when there is no font at all. */
	private boolean outlines(Shape.Text t) {
		try {
			Font font = new Font(Font.SANS_SERIF, t.bold() ? Font.BOLD : Font.PLAIN, 1).deriveFont((float) t.size());
			GlyphVector glyphs = font.createGlyphVector(new FontRenderContext(null, true, true), t.text());
			t.text().codePoints().filter(c -> !font.canDisplay(c)).forEach(missing::add);
			double width = glyphs.getLogicalBounds().getWidth();
			double shift = t.anchor() == Shape.Anchor.START ? 0 : t.anchor() == Shape.Anchor.END ? width : width / 2;
			AffineTransform place = AffineTransform.getTranslateInstance(t.x(), t.y());
			if (t.vertical()) {
				place.rotate(-Math.PI / 2);
			}
			place.translate(-shift, 0);
			content.append("/Span <</ActualText ").append(utf16(t.text())).append(">> BDC\n");
			outline(glyphs.getOutline().getPathIterator(place));
			content.append("EMC\n");
			return true;
		} catch (UnsatisfiedLinkError | NoClassDefFoundError | InternalError e) {
			t.text().codePoints().filter(c -> !ENCODING.newEncoder().canEncode(Character.toString(c))).forEach(missing::add);
			return false;
		}
	}

	private void outline(PathIterator path) {
		double[] c = new double[6];
		double x = 0;
		double y = 0;
		boolean some = false;
		for (; !path.isDone(); path.next()) {
			some = true;
			switch (path.currentSegment(c)) {
			case PathIterator.SEG_MOVETO -> curve("m", c, 2);
			case PathIterator.SEG_LINETO -> curve("l", c, 2);
			case PathIterator.SEG_CUBICTO -> curve("c", c, 6);
			case PathIterator.SEG_QUADTO -> curve("c", new double[] {x + 2 * (c[0] - x) / 3, y + 2 * (c[1] - y) / 3,
				c[2] + 2 * (c[0] - c[2]) / 3, c[3] + 2 * (c[1] - c[3]) / 3, c[2], c[3]}, 6);
			default -> content.append("h ");
			}
			int type = path.currentSegment(c);
			if (type != PathIterator.SEG_CLOSE) {
				int last = type == PathIterator.SEG_CUBICTO ? 4 : type == PathIterator.SEG_QUADTO ? 2 : 0;
				x = c[last];
				y = c[last + 1];
			}
		}
		if (some) {
			content.append("f\n");
		}
	}

	private void curve(String operator, double[] c, int count) {
		for (int i = 0; i < count; i++) {
			content.append(n(c[i])).append(' ');
		}
		content.append(operator).append(' ');
	}

	private static String utf16(String text) {
		StringBuilder b = new StringBuilder("<feff");
		for (int i = 0; i < text.length(); i++) {
			b.append(String.format(Locale.ROOT, "%04x", (int) text.charAt(i)));
		}
		return b.append('>').toString();
	}

	/** A string of the font's encoding in hexadecimal. */
	private static String string(String text) {
		StringBuilder b = new StringBuilder("<");
		for (byte c : text.getBytes(ENCODING)) {
			b.append(String.format(Locale.ROOT, "%02x", (c & 0xff) < 32 ? '?' : c & 0xff));
		}
		return b.append('>').toString();
	}

	private void document(String title, OutputStream out) throws IOException {
		List<byte[]> objects = new ArrayList<>();
		StringBuilder states = new StringBuilder();
		for (int a : alphas) {
			states.append("/A").append(a).append(" <</ca ").append(n(a / 255.0)).append(" /CA ").append(n(a / 255.0)).append(">> ");
		}
		objects.add(ascii("<</Type /Catalog /Pages 2 0 R>>"));
		objects.add(ascii("<</Type /Pages /Kids [3 0 R] /Count 1>>"));
		objects.add(ascii("<</Type /Page /Parent 2 0 R /MediaBox [0 0 " + n(scene.width() * POINTS_PER_PIXEL) + " "
				+ n(scene.height() * POINTS_PER_PIXEL) + "] /Contents 4 0 R /Resources <</Font <</F 5 0 R /B 6 0 R>> /ExtGState <<"
				+ states + ">>>>>>"));
		ByteArrayOutputStream packed = new ByteArrayOutputStream();
		try (DeflaterOutputStream deflater = new DeflaterOutputStream(packed)) {
			deflater.write(ascii(content.toString()));
		}
		ByteArrayOutputStream stream = new ByteArrayOutputStream();
		stream.write(ascii("<</Length " + packed.size() + " /Filter /FlateDecode>>\nstream\n"));
		packed.writeTo(stream);
		stream.write(ascii("\nendstream"));
		objects.add(stream.toByteArray());
		for (String font : new String[] {"Helvetica", "Helvetica-Bold"}) {
			objects.add(ascii("<</Type /Font /Subtype /Type1 /BaseFont /" + font + " /Encoding /WinAnsiEncoding>>"));
		}
		objects.add(ascii("<</Title " + utf16(title) + " /Producer (memtrace)>>"));
		ByteArrayOutputStream file = new ByteArrayOutputStream();
		// the second line tells programs that the file is binary
		file.write("%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n".getBytes(StandardCharsets.ISO_8859_1));
		StringBuilder table = new StringBuilder("0000000000 65535 f \n");
		for (int i = 0; i < objects.size(); i++) {
			table.append(String.format(Locale.ROOT, "%010d 00000 n \n", file.size()));
			file.write(ascii((i + 1) + " 0 obj\n"));
			file.write(objects.get(i));
			file.write(ascii("\nendobj\n"));
		}
		int start = file.size();
		file.write(ascii("xref\n0 " + (objects.size() + 1) + "\n" + table + "trailer\n<</Size " + (objects.size() + 1)
				+ " /Root 1 0 R /Info " + objects.size() + " 0 R>>\nstartxref\n" + start + "\n%%EOF\n"));
		file.writeTo(out);
	}

	private static byte[] ascii(String s) {
		return s.getBytes(StandardCharsets.US_ASCII);
	}

	/** At most three decimals, never an exponent. */
	private static String n(double v) {
		long thousandths = Math.round(v * 1000);
		if (thousandths % 1000 == 0) {
			return Long.toString(thousandths / 1000);
		}
		String s = String.format(Locale.ROOT, "%03d", Math.abs(thousandths % 1000)).replaceFirst("0+$", "");
		return (thousandths < 0 ? "-" : "") + Math.abs(thousandths) / 1000 + "." + s;
	}
}
