// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.Transform;
import org.eclipse.swt.widgets.Control;
import org.memtrace.analysis.scene.Scene;

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
		this(control, scene, null);
	}

	/** @param runs those of the scene; null when they were not made before. Not disposed */
	public SceneImage(Control control, Scene scene, SceneRuns runs) {
		this(control, scene, runs, Pixels.IS_GTK ? Math.max(1, Math.round(Pixels.zoom(control.getDisplay()) / 100f)) : 1);
	}

	/** @param factor pixels per unit, when the toolkit does not see to it */
	SceneImage(Control control, Scene scene, SceneRuns runs, int factor) {
		this.factor = factor;
		width = scene.width();
		height = scene.height();
		if (factor == 1) {
			image = ScenePainter.image(control.getDisplay(), scene, runs);
			return;
		}
		image = new Image(control.getDisplay(), Math.max(1, width * factor), Math.max(1, height * factor));
		GC gc = new GC(image);
		Transform larger = new Transform(control.getDisplay());
		larger.scale(factor, factor);
		gc.setTransform(larger);
		ScenePainter.paint(scene, gc, runs);
		gc.setTransform(null);
		larger.dispose();
		gc.dispose();
	}

	/** Draws all of it at the origin. */
	public void draw(GC gc) {
		draw(gc, 0, 0, width, height, 0, 0, width, height);
	}

	/** Draws a part, as {@link GC#drawImage(Image, int, int, int, int, int, int, int, int)} does, in units of the scene. */
	public void draw(GC gc, int x, int y, int fromWidth, int fromHeight, int toX, int toY, int toWidth, int toHeight) {
		Pixels.draw(gc, image, x * factor, y * factor, fromWidth * factor, fromHeight * factor, toX, toY, toWidth, toHeight);
	}

	/** The pixels. */
	Image image() {
		return image;
	}

	public void dispose() {
		image.dispose();
	}
}
