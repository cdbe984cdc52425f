// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.awt.font.GlyphVector;
import java.awt.geom.AffineTransform;
import java.awt.geom.PathIterator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;

import org.apache.fontbox.ttf.CmapLookup;
import org.apache.fontbox.ttf.TTFParser;
import org.apache.fontbox.ttf.TrueTypeFont;
import org.apache.pdfbox.cos.COSDictionary;
import org.apache.pdfbox.cos.COSName;
import org.apache.pdfbox.io.RandomAccessReadBuffer;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.common.PDRectangle;
import org.apache.pdfbox.pdmodel.documentinterchange.markedcontent.PDPropertyList;
import org.apache.pdfbox.pdmodel.font.PDType0Font;
import org.apache.pdfbox.pdmodel.graphics.state.PDExtendedGraphicsState;
import org.apache.pdfbox.pdmodel.graphics.state.RenderingMode;
import org.apache.pdfbox.util.Matrix;

/**
 * Writes a scene as PDF by PDFBox, one page of its size at 96 pixels per inch: the same bytes for the same scene. Text is text, in
 * Liberation Sans (PDFBox has it; the widths are those of Helvetica), of which the glyphs that occur are embedded; bold is the same with
 * thicker strokes. A text with characters that it does not have is drawn as outlines of an installed font, marked with its characters
 * (ActualText) for readers that use this for searching and copying.
 */
public final class PdfWriter implements AutoCloseable {
	private static final float POINTS_PER_PIXEL = 0.75f;
	private static final String FONT = "/org/apache/pdfbox/resources/ttf/LiberationSans-Regular.ttf";
	/** Thickness of the stroke around a bold glyph, per unit of the font's size. */
	private static final float BOLD_STROKE = 0.035f;

	private final Scene scene;
	private final PDDocument document = new PDDocument();
	private final PDType0Font font;
	private final CmapLookup characters;
	private PDPageContentStream page;
	private int color = -1;
	private int strokeColor = -1;
	private int alpha = 255;
	private double lineWidth = -1;
	private boolean dashed;
	private final Map<Integer, PDExtendedGraphicsState> alphas = new HashMap<>();
	/** Characters that no installed font has. */
	private final TreeSet<Integer> missing = new TreeSet<>();

	private PdfWriter(Scene scene) throws IOException {
		this.scene = scene;
		try (InputStream in = PDType0Font.class.getResourceAsStream(FONT)) {
			if (in == null) {
				throw new IOException("the font of PDF files is not there: " + FONT);
			}
			TrueTypeFont glyphs = new TTFParser().parse(new RandomAccessReadBuffer(in));
			font = PDType0Font.load(document, glyphs, true);
			characters = glyphs.getUnicodeCmapLookup();
		}
	}

	@Override
	public void close() throws IOException {
		document.close();
	}

	/**
	 * Writes one picture.
	 *
	 * @param title title of the document
	 * @return the characters that could not be drawn because no installed font has them, each once; normally empty
	 */
	public static String write(Scene scene, String title, OutputStream out) throws IOException {
		try (PdfWriter w = new PdfWriter(scene)) {
			w.document.setDocumentId(0L);	// else the file would depend on the time
			w.document.getDocumentInformation().setTitle(title);
			w.document.getDocumentInformation().setProducer("memtrace");
			PDPage sheet = new PDPage(new PDRectangle(scene.width() * POINTS_PER_PIXEL, scene.height() * POINTS_PER_PIXEL));
			w.document.addPage(sheet);
			try (PDPageContentStream page = new PDPageContentStream(w.document, sheet)) {
				w.page = page;
				w.paint();
			}
			w.document.save(out);
			StringBuilder missing = new StringBuilder();
			w.missing.forEach(missing::appendCodePoint);
			return missing.toString();
		}
	}

	private void paint() throws IOException {
		// pixels, y down
		page.transform(new Matrix(POINTS_PER_PIXEL, 0, 0, -POINTS_PER_PIXEL, 0, scene.height() * POINTS_PER_PIXEL));
		colors(scene.background() | 0xff000000, false);
		rectangle(0, 0, scene.width(), scene.height());
		page.fill();
		for (Shape s : scene.shapes()) {
			switch (s) {
			case Shape.Rect r -> {
				if (r.fill() != 0) {
					colors(r.fill(), false);
					rectangle(r.x(), r.y(), r.width(), r.height());
					page.fill();
				}
				if (r.stroke() != 0) {
					stroke(r.stroke(), 1, false);
					rectangle(r.x() + 0.5, r.y() + 0.5, Math.max(0, r.width() - 1), Math.max(0, r.height() - 1));
					page.stroke();
				}
			}
			case Shape.Line l -> {
				stroke(l.color(), l.width(), l.dashed());
				line(l.x1(), l.y1(), l.x2(), l.y2());
				page.stroke();
			}
			case Shape.Mosaic m -> mosaic(m);
			case Shape.Hatch h -> hatch(h);
			case Shape.Polygon p -> {
				if (p.fill() != 0) {
					colors(p.fill(), false);
					path(p.points());
					page.fillEvenOdd();
				}
				if (p.stroke() != 0) {
					stroke(p.stroke(), 1, false);
					path(p.points());
					page.closeAndStroke();
				}
			}
			case Shape.Text t -> text(t);
			}
		}
	}

	private void mosaic(Shape.Mosaic m) throws IOException {
		colors(m.ground(), false);
		rectangle(m.x(), m.y(), m.width(), m.height());
		page.fill();
		for (int color : new LinkedHashSet<>(m.colors())) {
			if (color != m.ground()) {
				colors(color, false);
				IOException[] failed = { null };
				m.squares((x0, y0, x1, y1, c) -> {
					if (c == color) {
						try {
							rectangle(x0, y0, x1 - x0, y1 - y0);
						} catch (IOException e) {
							failed[0] = e;
						}
					}
				});
				if (failed[0] != null) {
					throw failed[0];
				}
				page.fill();
			}
		}
	}

	private void rectangle(double x, double y, double width, double height) throws IOException {
		page.addRect((float) x, (float) y, (float) width, (float) height);
	}

	private void line(double x1, double y1, double x2, double y2) throws IOException {
		page.moveTo((float) x1, (float) y1);
		page.lineTo((float) x2, (float) y2);
	}

	private void path(double[] points) throws IOException {
		page.moveTo((float) points[0], (float) points[1]);
		for (int i = 2; i < points.length; i += 2) {
			page.lineTo((float) points[i], (float) points[i + 1]);
		}
	}

	private void colors(int argb, boolean forStroke) throws IOException {
		int a = argb >>> 24;
		if (a != alpha) {
			alpha = a;
			PDExtendedGraphicsState state = alphas.get(a);
			if (state == null) {
				state = new PDExtendedGraphicsState();
				state.setNonStrokingAlphaConstant(a / 255f);
				state.setStrokingAlphaConstant(a / 255f);
				alphas.put(a, state);
			}
			page.setGraphicsStateParameters(state);
		}
		int rgb = argb & 0xffffff;
		if ((forStroke ? strokeColor : color) != rgb) {
			float red = (rgb >> 16) / 255f;
			float green = (rgb >> 8 & 0xff) / 255f;
			float blue = (rgb & 0xff) / 255f;
			if (forStroke) {
				strokeColor = rgb;
				page.setStrokingColor(red, green, blue);
			} else {
				color = rgb;
				page.setNonStrokingColor(red, green, blue);
			}
		}
	}

	private void stroke(int argb, double width, boolean dash) throws IOException {
		colors(argb, true);
		if (width != lineWidth) {
			page.setLineWidth((float) width);
			lineWidth = width;
		}
		if (dash != dashed) {
			page.setLineDashPattern(dash ? new float[] {3, 3} : new float[0], 0);
			dashed = dash;
		}
	}

	/** The lines that cross the rectangle, clipped to it. */
	private void hatch(Shape.Hatch h) throws IOException {
		stroke(h.color(), Shape.Hatch.LINE_WIDTH, false);
		page.saveGraphicsState();
		rectangle(h.x(), h.y(), h.width(), h.height());
		page.clip();
		double size = h.width() + h.height();
		int back = h.backslashPeriod();
		if (back > 0) {
			for (double d = back * Math.floor((h.y() - h.x() - h.width()) / back); d <= h.y() + h.height() - h.x(); d += back) {
				line(h.x(), h.x() + d, h.x() + size, h.x() + size + d);
			}
		}
		int period = h.slashPeriod();
		if (period > 0) {
			for (double d = period * Math.floor((h.x() + h.y()) / period) - period; d <= h.x() + h.y() + size; d += period) {
				for (int offset : h.slashOffsets()) {
					line(h.x(), d + offset - h.x(), h.x() + size, d + offset - h.x() - size);
				}
			}
		}
		page.stroke();
		page.restoreGraphicsState();
	}

	private void text(Shape.Text t) throws IOException {
		String text = t.text().codePoints().map(c -> c < ' ' ? '?' : c)
				.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
		if (text.codePoints().anyMatch(c -> characters.getGlyphId(c) == 0)) {
			outlines(t);
			return;
		}
		colors(t.color(), false);
		double width = font.getStringWidth(text) * t.size() / 1000;
		double shift = t.anchor() == Shape.Anchor.START ? 0 : t.anchor() == Shape.Anchor.END ? width : width / 2;
		float x = (float) (t.vertical() ? t.x() : t.x() - shift);
		float y = (float) (t.vertical() ? t.y() + shift : t.y());
		if (t.bold()) {
			stroke(t.color(), t.size() * BOLD_STROKE, false);
		}
		page.beginText();
		page.setRenderingMode(t.bold() ? RenderingMode.FILL_STROKE : RenderingMode.FILL);
		page.setFont(font, (float) t.size());
		page.setTextMatrix(t.vertical() ? new Matrix(0, -1, -1, 0, x, y) : new Matrix(1, 0, 0, -1, x, y));
		page.showText(text);
		page.endText();
	}

	/** Draws a text as outlines; nothing when there is no font at all. */
	private void outlines(Shape.Text t) throws IOException {
		try {
			Font installed = new Font(Font.SANS_SERIF, t.bold() ? Font.BOLD : Font.PLAIN, 1).deriveFont((float) t.size());
			GlyphVector glyphs = installed.createGlyphVector(new FontRenderContext(null, true, true), t.text());
			t.text().codePoints().filter(c -> !installed.canDisplay(c)).forEach(missing::add);
			double width = glyphs.getLogicalBounds().getWidth();
			double shift = t.anchor() == Shape.Anchor.START ? 0 : t.anchor() == Shape.Anchor.END ? width : width / 2;
			AffineTransform place = AffineTransform.getTranslateInstance(t.x(), t.y());
			if (t.vertical()) {
				place.rotate(-Math.PI / 2);
			}
			place.translate(-shift, 0);
			COSDictionary said = new COSDictionary();
			said.setString(COSName.ACTUAL_TEXT, t.text());
			colors(t.color(), false);
			page.beginMarkedContent(COSName.getPDFName("Span"), PDPropertyList.create(said));
			outline(glyphs.getOutline().getPathIterator(place));
			page.endMarkedContent();
		} catch (UnsatisfiedLinkError | NoClassDefFoundError | InternalError e) {
			t.text().codePoints().filter(c -> characters.getGlyphId(c) == 0).forEach(missing::add);
		}
	}

	private void outline(PathIterator path) throws IOException {
		float[] c = new float[6];
		float x = 0;
		float y = 0;
		boolean some = false;
		for (; !path.isDone(); path.next()) {
			some = true;
			int type = path.currentSegment(c);
			switch (type) {
			case PathIterator.SEG_MOVETO -> page.moveTo(c[0], c[1]);
			case PathIterator.SEG_LINETO -> page.lineTo(c[0], c[1]);
			case PathIterator.SEG_CUBICTO -> page.curveTo(c[0], c[1], c[2], c[3], c[4], c[5]);
			case PathIterator.SEG_QUADTO -> page.curveTo(x + 2 * (c[0] - x) / 3, y + 2 * (c[1] - y) / 3, c[2] + 2 * (c[0] - c[2]) / 3,
					c[3] + 2 * (c[1] - c[3]) / 3, c[2], c[3]);
			default -> page.closePath();
			}
			if (type != PathIterator.SEG_CLOSE) {
				int last = type == PathIterator.SEG_CUBICTO ? 4 : type == PathIterator.SEG_QUADTO ? 2 : 0;
				x = c[last];
				y = c[last + 1];
			}
		}
		if (some) {
			page.fill();
		}
	}
}
