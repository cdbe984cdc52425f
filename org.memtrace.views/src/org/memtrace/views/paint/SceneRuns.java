// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Device;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.PaletteData;
import org.eclipse.swt.widgets.Display;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;

/**
 * The long runs of opaque rectangles in a scene, each as one image: one by one the window system takes some microseconds for each.
 * Where {@link #canBeMadeByJobs} they are made by the thread that makes the scene, and the display thread has only to draw them.
 */
public final class SceneRuns {
	/** So many rectangles in a run are not painted one by one. */
	private static final int MANY = 2_000;

	/** Rectangles from {@code begin} until before {@code end}. */
	private record Run(int begin, int end, Image image, int x, int y, int width, int height) {
	}

	private final List<Run> runs = new ArrayList<>();
	private boolean disposed;

	/** Any thread, where {@link #canBeMadeByJobs}; otherwise the display thread. To be disposed. */
	public SceneRuns(Device device, Scene scene) {
		List<Shape> shapes = scene.shapes();
		for (int begin = 0; begin < shapes.size(); begin++) {
			int end = begin;
			double count = 0;
			while (end < shapes.size() && isOpaque(shapes.get(end))) {
				count += shapes.get(end) instanceof Shape.Mosaic m ? 1 + m.width() * m.height() / (m.cell() * m.cell()) / 2 : 1;
				end++;
			}
			if (count >= MANY) {
				add(device, scene, begin, end);
			}
			begin = end;
		}
	}

	/** Whether nothing of what is below it is seen. */
	private static boolean isOpaque(Shape shape) {
		return shape instanceof Shape.Mosaic || shape instanceof Shape.Rect r && r.fill() >>> 24 == 0xff && r.stroke() == 0;
	}

	/** The rectangle of an opaque shape in its first colour. */
	private static Shape.Rect ground(Shape shape) {
		return shape instanceof Shape.Mosaic m ? new Shape.Rect(m.x(), m.y(), m.width(), m.height(), m.ground(), 0) : (Shape.Rect) shape;
	}

	/** Whether jobs may make images: on GTK they are memory of the program, unless they must be scaled. Display thread. */
	public static boolean canBeMadeByJobs(Display display) {
		return Pixels.IS_GTK && Pixels.zoom(display) == 100;
	}

	/** A number as a painter rounds it. */
	static int round(double v) {
		return (int) Math.round(v);
	}

	private void add(Device device, Scene scene, int begin, int end) {
		int x0 = scene.width();
		int y0 = scene.height();
		int x1 = 0;
		int y1 = 0;
		for (Shape shape : scene.shapes().subList(begin, end)) {
			Shape.Rect r = ground(shape);
			x0 = Math.min(x0, round(r.x()));
			y0 = Math.min(y0, round(r.y()));
			x1 = Math.max(x1, right(r));
			y1 = Math.max(y1, bottom(r));
		}
		x0 = Math.max(0, x0);
		y0 = Math.max(0, y0);
		int width = Math.min(scene.width(), x1) - x0;
		int height = Math.min(scene.height(), y1) - y0;
		if (width <= 0 || height <= 0) {
			return;
		}
		int[] pixels = new int[width * height];
		for (Shape shape : scene.shapes().subList(begin, end)) {
			fill(pixels, ground(shape), x0, y0, width, height);
			if (shape instanceof Shape.Mosaic m) {
				int left = x0;
				int top = y0;
				m.squares((a, b, c, d, color) -> fill(pixels, new Shape.Rect(a, b, c - a, d - b, color, 0), left, top, width, height));
			}
		}
		runs.add(new Run(begin, end, new Image(device, data(pixels, width, height)), x0, y0, width, height));
	}

	private static void fill(int[] pixels, Shape.Rect r, int x0, int y0, int width, int height) {
		int left = Math.max(0, round(r.x()) - x0);
		int right = Math.min(width, right(r) - x0);
		int bottom = Math.min(height, bottom(r) - y0);
		for (int row = Math.max(0, round(r.y()) - y0); row < bottom && left < right; row++) {
			Arrays.fill(pixels, row * width + left, row * width + right, r.fill());
		}
	}

	private static int right(Shape.Rect r) {
		return Math.max(round(r.x()) + 1, round(r.x() + r.width()));
	}

	private static int bottom(Shape.Rect r) {
		return Math.max(round(r.y()) + 1, round(r.y() + r.height()));
	}

	/** @param pixels ARGB, each opaque or 0 */
	private static ImageData data(int[] pixels, int width, int height) {
		ImageData data = new ImageData(width, height, 32, new PaletteData(0xff0000, 0xff00, 0xff));
		ByteBuffer.wrap(data.data).asIntBuffer().put(pixels);
		data.alphaData = new byte[pixels.length];
		for (int i = 0; i < pixels.length; i++) {
			data.alphaData[i] = (byte) (pixels[i] >>> 24);
		}
		return data;
	}

	/** Draws the run that begins with a shape; returns the first shape after it, the same when none begins there. */
	int draw(GC gc, int shape) {
		for (Run run : runs) {
			if (run.begin == shape) {
				gc.setAlpha(255);
				if (gc.getDevice() instanceof Display display && canBeMadeByJobs(display)) {
					Pixels.draw(gc, run.image, 0, 0, run.width, run.height, run.x, run.y, run.width, run.height);
				} else {
					gc.setInterpolation(SWT.NONE);
					gc.drawImage(run.image, run.x, run.y);
					gc.setInterpolation(SWT.DEFAULT);
				}
				return run.end;
			}
		}
		return shape;
	}

	boolean isDisposed() {
		return disposed;
	}

	/** Display thread. */
	public void dispose() {
		disposed = true;
		runs.forEach(r -> r.image.dispose());
		runs.clear();
	}
}
