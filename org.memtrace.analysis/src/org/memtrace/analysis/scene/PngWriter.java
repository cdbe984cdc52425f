// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.GraphicsEnvironment;
import java.awt.RenderingHints;
import java.awt.Shape;
import java.awt.geom.AffineTransform;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;

import javax.imageio.ImageIO;

/** Paints a scene with Java2D, without a display. */
public final class PngWriter {
	private PngWriter() {
	}

	/**
	 * Writes a PNG.
	 *
	 * @param scale pixels per pixel of the scene, such as 2 for a sharp print
	 * @throws IOException also when the machine has no fonts, which Java needs to draw text
	 */
	public static void write(Scene scene, double scale, OutputStream out) throws IOException {
		System.setProperty("java.awt.headless", System.getProperty("java.awt.headless", "true"));
		if (!ImageIO.write(paint(scene, scale), "png", out)) {
			throw new IOException("this Java has no PNG writer");
		}
	}

	/** Paints into an image. */
	public static BufferedImage paint(Scene scene, double scale) throws IOException {
		try {
			BufferedImage image = new BufferedImage((int) Math.ceil(scene.width() * scale),
					(int) Math.ceil(scene.height() * scale), BufferedImage.TYPE_INT_RGB);
			Graphics2D g = image.createGraphics();
			g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
			g.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
			g.setRenderingHint(RenderingHints.KEY_FRACTIONALMETRICS, RenderingHints.VALUE_FRACTIONALMETRICS_ON);
			g.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
			g.setColor(new Color(scene.background()));
			g.fillRect(0, 0, image.getWidth(), image.getHeight());
			g.scale(scale, scale);
			String family = family();
			for (org.memtrace.analysis.scene.Shape s : scene.shapes()) {
				shape(g, s, family);
			}
			g.dispose();
			return image;
		} catch (UnsatisfiedLinkError | NoClassDefFoundError | InternalError e) {
			throw new IOException("Java cannot draw text here, install a font such as fonts-dejavu-core or write SVG ("
					+ e.getMessage() + ")", e);
		}
	}

	private static String family() {
		for (String name : GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames()) {
			if (name.equals("DejaVu Sans")) {
				return name;
			}
		}
		return Font.SANS_SERIF;
	}

	private static void shape(Graphics2D g, org.memtrace.analysis.scene.Shape shape, String family) {
		switch (shape) {
		case org.memtrace.analysis.scene.Shape.Rect r -> {
			if (r.fill() != 0) {
				g.setColor(new Color(r.fill(), true));
				g.fill(new Rectangle2D.Double(r.x(), r.y(), r.width(), r.height()));
			}
			if (r.stroke() != 0) {
				g.setColor(new Color(r.stroke(), true));
				g.setStroke(new BasicStroke(1));
				g.draw(new Rectangle2D.Double(r.x() + 0.5, r.y() + 0.5, Math.max(0, r.width() - 1),
						Math.max(0, r.height() - 1)));
			}
		}
		case org.memtrace.analysis.scene.Shape.Mosaic m -> {
			g.setColor(new Color(m.ground(), true));
			g.fill(new Rectangle2D.Double(m.x(), m.y(), m.width(), m.height()));
			m.squares((x0, y0, x1, y1, color) -> {
				g.setColor(new Color(color, true));
				g.fill(new Rectangle2D.Double(x0, y0, x1 - x0, y1 - y0));
			});
		}
		case org.memtrace.analysis.scene.Shape.Hatch h -> hatch(g, h);
		case org.memtrace.analysis.scene.Shape.Line l -> {
			g.setColor(new Color(l.color(), true));
			g.setStroke(l.dashed()
					? new BasicStroke((float) l.width(), BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10,
							new float[] {3, 3}, 0)
					: new BasicStroke((float) l.width(), BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER));
			g.draw(new Line2D.Double(l.x1(), l.y1(), l.x2(), l.y2()));
		}
		case org.memtrace.analysis.scene.Shape.Polygon p -> {
			Path2D path = new Path2D.Double();
			path.moveTo(p.points()[0], p.points()[1]);
			for (int i = 2; i < p.points().length; i += 2) {
				path.lineTo(p.points()[i], p.points()[i + 1]);
			}
			path.closePath();
			if (p.fill() != 0) {
				g.setColor(new Color(p.fill(), true));
				g.fill(path);
			}
			if (p.stroke() != 0) {
				g.setColor(new Color(p.stroke(), true));
				g.setStroke(new BasicStroke(1, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND));
				g.draw(path);
			}
		}
		case org.memtrace.analysis.scene.Shape.Text t -> text(g, t, family);
		}
	}

	private static void hatch(Graphics2D g, org.memtrace.analysis.scene.Shape.Hatch h) {
		Shape clip = g.getClip();
		g.clip(new Rectangle2D.Double(h.x(), h.y(), h.width(), h.height()));
		g.setColor(new Color(h.color(), true));
		g.setStroke(new BasicStroke((float) org.memtrace.analysis.scene.Shape.Hatch.LINE_WIDTH));
		double size = h.width() + h.height();
		int back = h.backslashPeriod();
		if (back > 0) {
			for (double d = back * Math.floor((h.y() - h.x() - h.width()) / back); d <= h.y() + h.height() - h.x(); d += back) {
				g.draw(new Line2D.Double(h.x(), h.x() + d, h.x() + size, h.x() + size + d));
			}
		}
		int period = h.slashPeriod();
		if (period > 0) {
			for (double d = period * Math.floor((h.x() + h.y()) / period) - period; d <= h.x() + h.y() + size; d += period) {
				for (int offset : h.slashOffsets()) {
					g.draw(new Line2D.Double(h.x(), d + offset - h.x(), h.x() + size, d + offset - h.x() - size));
				}
			}
		}
		g.setClip(clip);
	}

	private static void text(Graphics2D g, org.memtrace.analysis.scene.Shape.Text t, String family) {
		g.setColor(new Color(t.color(), true));
		Font font = new Font(family, t.bold() ? Font.BOLD : Font.PLAIN, 1).deriveFont((float) t.size());
		g.setFont(font);
		double width = t.anchor() == org.memtrace.analysis.scene.Shape.Anchor.START ? 0
				: font.getStringBounds(t.text(), g.getFontRenderContext()).getWidth();
		double shift = t.anchor() == org.memtrace.analysis.scene.Shape.Anchor.END ? width
				: t.anchor() == org.memtrace.analysis.scene.Shape.Anchor.MIDDLE ? width / 2 : 0;
		if (t.vertical()) {
			AffineTransform saved = g.getTransform();
			g.rotate(-Math.PI / 2, t.x(), t.y());
			g.drawString(t.text(), (float) (t.x() - shift), (float) t.y());
			g.setTransform(saved);
		} else {
			g.drawString(t.text(), (float) (t.x() - shift), (float) t.y());
		}
	}
}
