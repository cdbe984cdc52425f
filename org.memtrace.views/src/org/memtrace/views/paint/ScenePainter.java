// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Device;
import org.eclipse.swt.graphics.Font;
import org.eclipse.swt.graphics.FontData;
import org.eclipse.swt.graphics.FontMetrics;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.Path;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.graphics.Transform;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.views.session.Session;

/**
 * Paints a {@link Scene} with SWT. Edges are rounded to whole pixels so that neighbouring blocks meet without gap or seam;
 * on displays with a zoom the image has the pixels of the display. Display thread.
 */
public final class ScenePainter implements AutoCloseable {
	private final GC gc;
	private final Map<Long, Font> fonts = new HashMap<>();
	private final Map<Integer, Color> colors = new HashMap<>();

	private ScenePainter(GC gc) {
		this.gc = gc;
		gc.setAntialias(SWT.ON);
		gc.setTextAntialias(SWT.ON);
	}

	/** The scene as an image; the caller disposes it. */
	public static Image image(Device device, Scene scene) {
		return image(device, scene, null);
	}

	/** @param runs those of the scene; null when they were not made before */
	static Image image(Device device, Scene scene, SceneRuns runs) {
		if (device instanceof Display display && Pixels.zoom(display) == 100) {
			// the same pixels: with a drawer SWT copies them through memory, which takes 7 ms for a picture instead of less than one
			Image image = new Image(device, scene.width(), scene.height());
			GC gc = new GC(image);
			try {
				paint(scene, gc, runs);
			} finally {
				gc.dispose();
			}
			return image;
		}
		return new Image(device, (gc, width, height) -> paint(scene, gc, runs), scene.width(), scene.height());
	}

	/** Paints into a GC whose origin is that of the scene. */
	public static void paint(Scene scene, GC gc) {
		paint(scene, gc, null);
	}

	/** @param made runs of the scene; null, or disposed, when they must be made now */
	static void paint(Scene scene, GC gc, SceneRuns made) {
		boolean own = made == null || made.isDisposed();
		SceneRuns runs = own ? new SceneRuns(gc.getDevice(), scene) : made;
		try (ScenePainter painter = new ScenePainter(gc)) {
			painter.rect(new Shape.Rect(0, 0, scene.width(), scene.height(), scene.background(), 0));
			List<Shape> shapes = scene.shapes();
			for (int i = 0; i < shapes.size();) {
				int end = runs.draw(gc, i);
				if (end == i) {
					painter.shape(shapes.get(end++));
				}
				i = end;
			}
		} finally {
			if (own) {
				runs.dispose();
			}
		}
	}

	/** The palette of the session that suits the theme of a control: that with a background as light as the control's. */
	public static Palette palette(Control control) {
		boolean dark = isDark(control);
		if (!PlatformUI.isWorkbenchRunning()) {
			return dark ? Palette.DARK : Palette.LIGHT;
		}
		return PlatformUI.getWorkbench().getService(Session.class).colours().palette(dark);
	}

	/** The palette of the session for what is saved: light. Any thread. */
	public static Palette paper() {
		return PlatformUI.isWorkbenchRunning() ? PlatformUI.getWorkbench().getService(Session.class).colours().palette(false)
				: Palette.LIGHT;
	}

	/** Whether a control is in a dark theme. */
	public static boolean isDark(Control control) {
		RGB c = control.getDisplay().getSystemColor(SWT.COLOR_LIST_BACKGROUND).getRGB();
		return 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue < 110;
	}

	/** Colour of a text that must not be overlooked, in the theme of a control. */
	public static Color warning(Control control) {
		return color(palette(control).lossCurve());
	}

	/** An opaque colour of a palette. */
	public static Color color(int argb) {
		return new Color(argb >> 16 & 0xff, argb >> 8 & 0xff, argb & 0xff);
	}

	private void shape(Shape shape) {
		switch (shape) {
		case Shape.Rect r -> rect(r);
		case Shape.Mosaic m -> {
			rect(new Shape.Rect(m.x(), m.y(), m.width(), m.height(), m.ground(), 0));
			m.squares((x0, y0, x1, y1, color) -> rect(new Shape.Rect(x0, y0, x1 - x0, y1 - y0, color, 0)));
		}
		case Shape.Hatch h -> hatch(h);
		case Shape.Line l -> line(l);
		case Shape.Polygon p -> polygon(p);
		case Shape.Text t -> text(t);
		}
	}

	private void rect(Shape.Rect r) {
		int x = round(r.x());
		int y = round(r.y());
		int width = Math.max(1, round(r.x() + r.width()) - x);
		int height = Math.max(1, round(r.y() + r.height()) - y);
		if (r.fill() != 0) {
			gc.setAlpha(r.fill() >>> 24);
			gc.setBackground(cached(r.fill()));
			gc.fillRectangle(x, y, width, height);
		}
		if (r.stroke() != 0) {
			gc.setAlpha(r.stroke() >>> 24);
			gc.setForeground(cached(r.stroke()));
			gc.setLineWidth(1);
			gc.setLineStyle(SWT.LINE_SOLID);
			gc.drawRectangle(x, y, width - 1, height - 1);
		}
	}

	private void hatch(Shape.Hatch h) {
		int x0 = round(h.x());
		int y0 = round(h.y());
		int x1 = round(h.x() + h.width());
		int y1 = round(h.y() + h.height());
		Rectangle before = gc.getClipping();
		gc.setClipping(new Rectangle(x0, y0, x1 - x0, y1 - y0).intersection(before));
		gc.setAlpha(h.color() >>> 24);
		gc.setForeground(cached(h.color()));
		gc.setLineStyle(SWT.LINE_SOLID);
		gc.setLineWidth(1);
		int size = x1 - x0 + y1 - y0;
		// the pattern is aligned to the picture, so that neighbours look like one surface
		int back = h.backslashPeriod();
		for (int d = back == 0 ? 0 : back * Math.floorDiv(y0 - x1, back); back > 0 && d <= y1 - x0; d += back) {
			gc.drawLine(x0, x0 + d, x0 + size, x0 + size + d);
		}
		int period = h.slashPeriod();
		for (int d = period == 0 ? 0 : period * (Math.floorDiv(x0 + y0, period) - 1); period > 0 && d <= x0 + y0 + size; d += period) {
			for (int offset : h.slashOffsets()) {
				gc.drawLine(x0, d + offset - x0, x0 + size, d + offset - x0 - size);
			}
		}
		gc.setClipping(before);
	}

	private void polygon(Shape.Polygon p) {
		if (!isRectilinear(p.points())) {
			curved(p);
			return;
		}
		int[] points = new int[p.points().length];
		for (int i = 0; i < points.length; i++) {
			points[i] = round(p.points()[i]);
		}
		fillAndStroke(p, () -> gc.fillPolygon(points), () -> gc.drawPolygon(points));
	}

	private void fillAndStroke(Shape.Polygon p, Runnable fill, Runnable draw) {
		if (p.fill() != 0) {
			gc.setAlpha(p.fill() >>> 24);
			gc.setBackground(cached(p.fill()));
			fill.run();
		}
		if (p.stroke() != 0) {
			gc.setAlpha(p.stroke() >>> 24);
			gc.setForeground(cached(p.stroke()));
			gc.setLineWidth(1);
			gc.setLineStyle(SWT.LINE_SOLID);
			draw.run();
		}
	}

	/** Whether all edges are upright or level: those are rounded to whole pixels, so that areas meet without a seam. */
	private static boolean isRectilinear(double[] p) {
		for (int i = 0; i < p.length; i += 2) {
			int next = (i + 2) % p.length;
			if (p[i] != p[next] && p[i + 1] != p[next + 1]) {
				return false;
			}
		}
		return true;
	}

	/** Other edges would get corners by rounding. */
	private void curved(Shape.Polygon p) {
		Path path = new Path(gc.getDevice());
		path.moveTo((float) p.points()[0], (float) p.points()[1]);
		for (int i = 2; i < p.points().length; i += 2) {
			path.lineTo((float) p.points()[i], (float) p.points()[i + 1]);
		}
		path.close();
		fillAndStroke(p, () -> gc.fillPath(path), () -> gc.drawPath(path));
		path.dispose();
	}

	private void line(Shape.Line l) {
		gc.setAlpha(l.color() >>> 24);
		gc.setForeground(cached(l.color()));
		gc.setLineWidth(Math.max(1, round(l.width())));
		gc.setLineStyle(l.dashed() ? SWT.LINE_DASH : SWT.LINE_SOLID);
		gc.drawLine(round(l.x1()), round(l.y1()), round(l.x2()), round(l.y2()));
	}

	private void text(Shape.Text t) {
		gc.setAlpha(t.color() >>> 24);
		gc.setForeground(cached(t.color()));
		gc.setFont(font(t.size(), t.bold()));
		int width = gc.textExtent(t.text(), SWT.DRAW_TRANSPARENT).x;
		int shift = switch (t.anchor()) {
		case START -> 0;
		case MIDDLE -> width / 2;
		case END -> width;
		};
		FontMetrics metrics = gc.getFontMetrics();
		int up = metrics.getAscent() + metrics.getLeading();
		if (t.vertical()) {
			Transform before = new Transform(gc.getDevice());
			gc.getTransform(before);
			Transform turned = new Transform(gc.getDevice());
			gc.getTransform(turned);
			turned.translate(round(t.x()), round(t.y()));
			turned.rotate(-90);
			gc.setTransform(turned);
			gc.drawText(t.text(), -shift, -up, true);
			gc.setTransform(before);
			turned.dispose();
			before.dispose();
		} else {
			gc.drawText(t.text(), round(t.x()) - shift, round(t.y()) - up, true);
		}
	}

	private static int round(double v) {
		return SceneRuns.round(v);
	}

	private Color cached(int argb) {
		return colors.computeIfAbsent(argb & 0xffffff, ScenePainter::color);
	}

	/** @param size height in pixels at scale 1; SWT wants points */
	private Font font(double size, boolean bold) {
		int points = Math.max(5, round(size * 72 / gc.getDevice().getDPI().y));
		return fonts.computeIfAbsent(points * 2L + (bold ? 1 : 0), k -> {
			FontData base = gc.getDevice().getSystemFont().getFontData()[0];
			return new Font(gc.getDevice(), new FontData(base.getName(), points, bold ? SWT.BOLD : SWT.NORMAL));
		});
	}

	@Override
	public void close() {
		gc.setAlpha(255);
		fonts.values().forEach(Font::dispose);
	}
}
