// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import java.util.Objects;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;

/** A canvas that shows a scene, made for its size and painted from an image until it is another one. */
public abstract class SceneCanvas extends Canvas {
	/** Height of the font of scenes: that of the system, in pixels. */
	private final double fontSize;
	private SceneImage image;
	private Point imageSize;

	protected SceneCanvas(Composite parent) {
		this(parent, SWT.NONE);
	}

	/** @param style besides what every such canvas has */
	protected SceneCanvas(Composite parent, int style) {
		super(parent, style | SWT.DOUBLE_BUFFERED | SWT.NO_BACKGROUND);
		fontSize = Math.max(9, getDisplay().getSystemFont().getFontData()[0].getHeight() * getDisplay().getDPI().y / 72.0);
		addListener(SWT.Paint, e -> paint(e.gc));
		addListener(SWT.Resize, e -> sceneChanged());
		addListener(SWT.Dispose, e -> drop());
	}

	/** Makes the scene; called when it is painted first. */
	protected abstract Scene scene(int width, int height, Palette palette, TextMeter meter, double size);

	/** Paints over the scene what changes with the mouse. */
	protected void paintOver(GC gc, Palette palette) {
	}

	/** What stands at a point of the picture. */
	@FunctionalInterface
	protected interface Told {
		/** Lines for a person; empty where there is nothing. */
		String at(int x, int y);
	}

	/** Resting the pointer tells what is there. */
	protected final void tellsAtPointer(Told told) {
		addListener(SWT.MouseMove, e -> {
			String text = told.at(e.x, e.y);
			String tip = text.isEmpty() ? null : text.replace("&", "&&");
			if (!Objects.equals(tip, getToolTipText())) {
				setToolTipText(tip);
			}
		});
	}

	protected final void canHaveFocus() {
		// with a listener for keys a canvas can have the focus
		addListener(SWT.KeyDown, e -> {
		});
		addListener(SWT.Traverse, e -> e.doit = true);
	}

	protected final double fontSize() {
		return fontSize;
	}

	/** The scene is another one. */
	public final void sceneChanged() {
		drop();
		redraw();
	}

	private void drop() {
		if (image != null) {
			image.dispose();
			image = null;
		}
	}

	private void paint(GC gc) {
		Point size = getSize();
		if (size.x < 1 || size.y < 1) {
			return;
		}
		Palette palette = ScenePainter.palette(this);
		if (image == null || !size.equals(imageSize)) {
			drop();
			image = new SceneImage(this, scene(size.x, size.y, palette, TextMeter.DEFAULT, fontSize));
			imageSize = size;
		}
		gc.setBackground(ScenePainter.color(palette.background()));
		gc.fillRectangle(0, 0, size.x, size.y); // the scene may be of another size until there is a new one
		image.draw(gc);
		paintOver(gc, palette);
	}
}
