// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.Transform;
import org.eclipse.swt.widgets.Control;
import org.memtrace.analysis.Scene;

/**
 * A scene as an image with the pixels of the display. On GTK an image that was painted has one pixel per unit of the layout,
 * and is blurred where a unit has several; here it is larger by that factor, and made small again when it is drawn. Display thread.
 */
public final class SceneImage {
	private final Image image;
	private final int factor;
	private final int width;
	private final int height;

	/** Paints the scene for the display on which a control is. */
	public SceneImage(Control control, Scene scene) {
		this(control, scene, "gtk".equals(SWT.getPlatform()) ? Math.max(1, Math.round(control.getMonitor().getZoom() / 100f)) : 1);
	}

	/** @param factor pixels per unit, when the toolkit does not see to it */
	SceneImage(Control control, Scene scene, int factor) {
		this.factor = factor;
		width = scene.width();
		height = scene.height();
		if (factor == 1) {
			image = ScenePainter.image(control.getDisplay(), scene);
			return;
		}
		image = new Image(control.getDisplay(), Math.max(1, width * factor), Math.max(1, height * factor));
		GC gc = new GC(image);
		Transform larger = new Transform(control.getDisplay());
		larger.scale(factor, factor);
		gc.setTransform(larger);
		ScenePainter.paint(scene, gc);
		gc.setTransform(null);
		larger.dispose();
		gc.dispose();
	}

	/** Draws all of it at the origin. */
	public void draw(GC gc) {
		if (factor == 1) {
			gc.drawImage(image, 0, 0);
		} else {
			draw(gc, 0, 0, width, height, 0, 0, width, height);
		}
	}

	/** Draws a part, as {@link GC#drawImage(Image, int, int, int, int, int, int, int, int)} does, in units of the scene. */
	public void draw(GC gc, int x, int y, int fromWidth, int fromHeight, int toX, int toY, int toWidth, int toHeight) {
		gc.drawImage(image, x * factor, y * factor, fromWidth * factor, fromHeight * factor, toX, toY, toWidth, toHeight);
	}

	/** The pixels. */
	Image image() {
		return image;
	}

	public void dispose() {
		image.dispose();
	}
}
