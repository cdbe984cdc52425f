// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.paint;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.Pattern;
import org.eclipse.swt.graphics.Transform;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Shell;

/** What SWT does otherwise on GTK than elsewhere with the pixels of images and displays. Display thread. */
final class Pixels {
	static final boolean IS_GTK = "gtk".equals(SWT.getPlatform());

	private Pixels() {
	}

	/**
	 * Zoom of a display, in percent. On GTK a monitor would be asked for it, which waits until the window system has done all that it
	 * was told to do before; a window knows it.
	 */
	static int zoom(Display display) {
		Shell[] shells = IS_GTK ? display.getShells() : new Shell[0];
		return shells.length > 0 ? shells[0].getZoom() : display.getPrimaryMonitor().getZoom();
	}

	/**
	 * Draws a part of an image, with all of the alpha of a GC that has no pattern. When it draws an image, SWT 3.135 for GTK reads all
	 * of it back from the window system, for nothing but its size, and that takes longer than all the rest; not so when the image is
	 * the pattern of a rectangle.
	 */
	static void draw(GC gc, Image image, int x, int y, int fromWidth, int fromHeight, int toX, int toY, int toWidth, int toHeight) {
		if (fromWidth <= 0 || fromHeight <= 0 || toWidth <= 0 || toHeight <= 0) {
			return;
		}
		if (!IS_GTK) {
			gc.drawImage(image, x, y, fromWidth, fromHeight, toX, toY, toWidth, toHeight);
			return;
		}
		Transform before = new Transform(gc.getDevice());
		gc.getTransform(before);
		boolean moved = x != toX || y != toY || fromWidth != toWidth || fromHeight != toHeight;
		if (moved) {
			Transform there = new Transform(gc.getDevice());
			gc.getTransform(there);
			there.translate(toX, toY);
			there.scale((float) toWidth / fromWidth, (float) toHeight / fromHeight);
			there.translate(-x, -y);
			gc.setTransform(there);
			there.dispose();
		}
		Pattern pattern = new Pattern(gc.getDevice(), image);
		gc.setBackgroundPattern(pattern);
		gc.fillRectangle(x, y, fromWidth, fromHeight);
		gc.setBackgroundPattern(null);
		pattern.dispose();
		if (moved) {
			gc.setTransform(before.isIdentity() ? null : before);
		}
		before.dispose();
	}
}
